use sayso_domain::RequestKey;
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Runtime, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

/// The one window's label.
pub(crate) const MAIN: &str = "main";

/// What the window shows when it comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    /// What it showed before; a new one shows the inbox.
    AsItIs,
    /// The inbox.
    Inbox,
    /// One request. It is only selected: nothing is ever decided from outside the window.
    Request(RequestKey),
}

impl Page {
    /// The fragment of the UI's address. A key is a UUID, so it needs no escaping.
    fn fragment(self) -> String {
        match self {
            Self::AsItIs | Self::Inbox => "#/inbox".to_owned(),
            Self::Request(key) => format!("#/inbox/{key}"),
        }
    }
}

/// Opens the window, or brings it to the front, because a person asked for it. Can be called from any thread. The window
/// never comes up by itself.
pub(crate) fn show<R: Runtime>(app: &AppHandle<R>, page: Page) {
    let on_main = app.clone();
    let shown = app.run_on_main_thread(move || {
        let shown = match on_main.get_webview_window(MAIN) {
            Some(window) => bring_up(&window, page),
            None => create(&on_main, page).map(|_| ()),
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

fn bring_up<R: Runtime>(window: &WebviewWindow<R>, page: Page) -> tauri::Result<()> {
    match page {
        Page::AsItIs => {}
        Page::Inbox | Page::Request(_) => {
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
pub(crate) fn create<R: Runtime>(app: &AppHandle<R>, page: Page) -> tauri::Result<WebviewWindow<R>> {
    let address = format!("index.html{}", page.fragment());
    WebviewWindowBuilder::new(app, MAIN, WebviewUrl::App(address.into()))
        .title("Sayso")
        .inner_size(1180.0, 760.0)
        .min_inner_size(720.0, 480.0)
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
        assert_eq!(Page::AsItIs.fragment(), "#/inbox");
    }
}
