use sayso_domain::RequestKey;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Runtime, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

use crate::place;

/// The one window's label.
pub(crate) const MAIN: &str = "main";

/// What the window shows when it comes up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// What it showed before; a new one shows the inbox.
    AsItIs,
    /// The inbox.
    Inbox,
    /// One request. It is only selected: nothing is ever decided from outside the window.
    Request(RequestKey),
    /// One request as it was decided.
    History(RequestKey),
    /// A new run of this agent, to be described.
    NewRun(String),
    /// What it showed before, with the question whether to quit although runs are at work.
    Quit,
}

impl Page {
    /// The fragment of the UI's address. It holds nothing that a script could take for its own.
    fn fragment(&self) -> String {
        match self {
            Self::AsItIs | Self::Inbox => "#/inbox".to_owned(),
            Self::Request(key) => format!("#/inbox/{key}"),
            Self::History(key) => format!("#/history/{key}"),
            Self::NewRun(agent) => format!("#/new-run/{}", escaped(agent)),
            Self::Quit => "#/quit".to_owned(),
        }
    }
}

fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

/// Opens the window, or brings it to the front, because a person asked for it. Can be called from any thread. The window
/// never comes up by itself.
pub(crate) fn show<R: Runtime>(app: &AppHandle<R>, page: Page) {
    let on_main = app.clone();
    let shown = app.run_on_main_thread(move || {
        let shown = match on_main.get_webview_window(MAIN) {
            Some(window) => bring_up(&window, &page),
            None => create(&on_main, &page).map(|_| ()),
        };
        if let Err(error) = shown {
            tracing::error!("the window cannot be shown: {error}");
        }
    });
    if let Err(error) = shown {
        tracing::error!("the window cannot be shown: {error}");
    }
}

/// Whether the window is there.
pub(crate) fn is_open<R: Runtime>(app: &AppHandle<R>) -> bool {
    app.get_webview_window(MAIN).is_some()
}

fn bring_up<R: Runtime>(window: &WebviewWindow<R>, page: &Page) -> tauri::Result<()> {
    match page {
        Page::AsItIs => {}
        Page::NewRun(_) | Page::Quit => {
            window.eval(format!("window.location.hash = '{}'", page.fragment()))?;
        }
        Page::Inbox | Page::Request(_) | Page::History(_) => {
            // By way of no page, so that the guard is armed anew even if this request is on show.
            window
                .eval(format!("window.location.hash = ''; window.location.hash = '{}'", page.fragment()))?;
        }
    }
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// Makes the window. Only on the main thread.
pub(crate) fn create<R: Runtime>(app: &AppHandle<R>, page: &Page) -> tauri::Result<WebviewWindow<R>> {
    let address = format!("index.html{}", page.fragment());
    let builder = WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App(address.into())).title("Sayso");
    place::apply(app, builder)
        .min_inner_size(f64::from(place::LEAST.0), f64::from(place::LEAST.1))
        // Text from outside is never a page: nothing but the UI itself is ever loaded, and nothing opens beside it.
        .on_navigation(|url| is_ours(url.as_str()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()
}

fn is_ours(url: &str) -> bool {
    ["tauri://localhost", "http://tauri.localhost"].iter().any(|ours| {
        url.strip_prefix(ours).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ui_is_ever_loaded() {
        for ours in
            ["tauri://localhost", "tauri://localhost/index.html#/inbox", "http://tauri.localhost/a.js"]
        {
            assert!(is_ours(ours), "{ours}");
        }
        for other in [
            "https://example.org/",
            "http://tauri.localhost.example.org/",
            "file:///etc/passwd",
            "about:blank",
        ] {
            assert!(!is_ours(other), "{other}");
        }
    }

    #[test]
    fn a_request_has_a_page_of_its_own() {
        let key = "0198c0de-0000-7000-8000-000000000001";
        assert_eq!(Page::Request(key.parse().unwrap()).fragment(), format!("#/inbox/{key}"));
        assert_eq!(Page::History(key.parse().unwrap()).fragment(), format!("#/history/{key}"));
        assert_eq!(Page::AsItIs.fragment(), "#/inbox");
        assert_eq!(Page::NewRun("a'); b/ü".to_owned()).fragment(), "#/new-run/a%27%29%3B%20b%2F%C3%BC");
    }
}
