use global_hotkey::hotkey::HotKey;
use global_hotkey::{Error, GlobalHotKeyEvent, GlobalHotKeyManager, HotKeyState};
use sayso_host::dto::Health;

/// The shortcut that opens the inbox from anywhere. While there is one, a thread of its own listens for it.
#[derive(Default)]
pub(crate) struct Shortcut {
    held: Option<(GlobalHotKeyManager, HotKey)>,
}

impl Shortcut {
    /// Listens for this one and no other from now on, and says whether that works.
    pub(crate) fn apply(&mut self, wanted: Option<&str>) -> Option<Health> {
        if let Some((manager, key)) = self.held.take()
            && let Err(error) = manager.unregister(key)
        {
            tracing::info!("the old shortcut cannot be let go: {error}");
        }
        let outcome = self.listen(wanted?);
        let message = outcome.err().unwrap_or_default();
        Some(Health { ok: message.is_empty(), message })
    }

    fn listen(&mut self, wanted: &str) -> Result<(), String> {
        if is_wayland(|name| std::env::var(name).ok()) {
            return Err("On Wayland no app can listen for a key everywhere. Nothing else is affected. In the desktop's own \
                        keyboard settings, set a shortcut that runs sayso-desktop."
                .to_owned());
        }
        let failed = |error: Error| {
            if matches!(error, Error::AlreadyRegistered(_)) {
                format!(
                    "Another program has {wanted} already. Nothing else is affected. Choose another shortcut."
                )
            } else {
                format!(
                    "The desktop does not give {wanted} to Sayso: {error}. Nothing else is affected. Choose another \
                     shortcut."
                )
            }
        };
        let key: HotKey = wanted.parse().map_err(|error| {
            format!("{wanted} is no shortcut that the desktop knows: {error}. Choose another one.")
        })?;
        let manager = GlobalHotKeyManager::new().map_err(failed)?;
        manager.register(key).map_err(failed)?;
        self.held = Some((manager, key));
        Ok(())
    }
}

/// Does this whenever a shortcut is pressed, from now on.
pub(crate) fn on_press(what: impl Fn() + Send + Sync + 'static) {
    GlobalHotKeyEvent::set_event_handler(Some(move |event: GlobalHotKeyEvent| {
        if event.state() == HotKeyState::Pressed {
            what();
        }
    }));
}

fn is_wayland(variable: impl Fn(&str) -> Option<String>) -> bool {
    match variable("XDG_SESSION_TYPE").as_deref() {
        Some("x11") => false,
        Some("wayland") => true,
        Some(_) | None => variable("WAYLAND_DISPLAY").is_some_and(|display| !display.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wayland_session_is_known() {
        let check = |variables: &[(&str, &str)], expected| {
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(is_wayland(variable), expected, "{variables:?}");
        };
        check(&[], false);
        check(&[("XDG_SESSION_TYPE", "wayland")], true);
        check(&[("XDG_SESSION_TYPE", "x11"), ("WAYLAND_DISPLAY", "wayland-0")], false);
        check(&[("XDG_SESSION_TYPE", "tty"), ("WAYLAND_DISPLAY", "wayland-0")], true);
        check(&[("WAYLAND_DISPLAY", "")], false);
    }

    #[test]
    fn every_shortcut_that_settings_take_is_one_for_the_desktop() {
        for key in
            ["Ctrl+Alt+S", "Shift+Super+PageUp", "F12", "Ctrl+7", "Alt+Space", "Ctrl+Pause", "Super+Insert"]
        {
            assert!(key.parse::<HotKey>().is_ok(), "{key}");
        }
    }

    #[test]
    fn none_wanted_is_none_to_speak_of() {
        assert_eq!(Shortcut::default().apply(None), None);
    }
}
