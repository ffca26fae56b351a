use std::path::PathBuf;

use sayso_host::Host;
use tokio::sync::watch;

use crate::autostart::{Autostart, Occasion};
use crate::pulse::Pulse;
use crate::shortcut::Shortcut;

/// Does what Settings say beside the window: starting with the session, and the shortcut.
pub(crate) async fn follow(host: Host, mut pulse: watch::Receiver<Pulse>, data_dir: Option<PathBuf>) {
    let autostart = std::env::current_exe().map(|program| Autostart::new(program, data_dir.as_deref()));
    let mut shortcut = Shortcut::default();
    let (mut starts, mut key) = (None, None);
    loop {
        let settings = pulse.borrow_and_update().settings.clone();
        if starts != Some(settings.autostart) {
            let occasion = if starts.is_none() { Occasion::Start } else { Occasion::Wish };
            starts = Some(settings.autostart);
            if let Ok(autostart) = &autostart {
                host.set_autostart(autostart.apply(settings.autostart, occasion));
            }
        }
        if key.as_ref() != Some(&settings.global_shortcut) {
            host.set_global_shortcut(shortcut.apply(settings.global_shortcut.as_deref()));
            key = Some(settings.global_shortcut);
        }
        if pulse.changed().await.is_err() {
            return;
        }
    }
}
