use std::collections::HashMap;

use tauri::menu::{Menu, MenuItem, PredefinedMenuItem, Submenu};
use tauri::{AppHandle, Runtime};

use super::{Model, Pause, Press};
use crate::glance::{Glance, Offer};
use crate::token::token;
use crate::window::Page;

/// How long a request's own line is.
const LABEL: usize = 60;
/// How long the lines are on which a request says all that is decided.
const WIDTH: usize = 72;

/// A menu in the making, and what its entries mean.
struct Making<'a, R: Runtime> {
    app: &'a AppHandle<R>,
    presses: HashMap<String, Press>,
}

/// The menu for this, and what its entries mean by their names. Only on the main thread.
pub(super) fn build<R: Runtime>(
    app: &AppHandle<R>,
    model: &Model,
) -> tauri::Result<(Menu<R>, HashMap<String, Press>)> {
    let mut making = Making { app, presses: HashMap::new() };
    let menu = Menu::new(app)?;
    menu.append(&making.entry(&waiting_label(model.waiting), Press::Show(Page::Inbox))?)?;
    for glance in &model.newest {
        menu.append(&making.request(glance)?)?;
    }
    menu.append(&PredefinedMenuItem::separator(app)?)?;
    if let Some(why) = &model.held {
        menu.append(&making.words(&format!("Notifications: {why}"))?)?;
    }
    if model.is_paused {
        menu.append(&making.entry("Resume notifications", Press::Pause(Pause::Over))?)?;
    } else {
        let pause = Submenu::new(app, "Pause notifications", true)?;
        pause.append(&making.entry("For an hour", Press::Pause(Pause::Hour))?)?;
        pause.append(&making.entry("Until tomorrow", Press::Pause(Pause::Tomorrow))?)?;
        menu.append(&pause)?;
    }
    if !model.agents.is_empty() {
        let start = Submenu::new(app, "Start a run", true)?;
        for agent in &model.agents {
            let label = sayso_domain::text::visible_line(agent);
            start.append(&making.entry(&label, Press::Show(Page::NewRun(agent.clone())))?)?;
        }
        menu.append(&start)?;
    }
    menu.append(&PredefinedMenuItem::separator(app)?)?;
    menu.append(&making.entry("Open Sayso", Press::Show(Page::AsItIs))?)?;
    menu.append(&making.entry("Quit", Press::Quit)?)?;
    Ok((menu, making.presses))
}

impl<R: Runtime> Making<'_, R> {
    /// One request: all that is decided, where it is said here, and what may be done about it.
    fn request(&mut self, glance: &Glance) -> tauri::Result<Submenu<R>> {
        let menu = Submenu::new(self.app, literally(&glance.label(LABEL)), true)?;
        for line in glance.lines.iter().flat_map(|line| pieces(line)) {
            menu.append(&self.words(&line)?)?;
        }
        menu.append(&PredefinedMenuItem::separator(self.app)?)?;
        let decide = |ok| Press::Decide { key: glance.key, ok, digest: glance.digest.clone() };
        match glance.offer {
            Offer::ApproveAndDeny => {
                menu.append(&self.entry("Approve", decide(true))?)?;
                menu.append(&self.entry("Deny", decide(false))?)?;
            }
            Offer::Deny | Offer::Nothing => menu.append(&self.entry("Deny", decide(false))?)?,
        }
        menu.append(&self.entry("Open", Press::Show(Page::Request(glance.key)))?)?;
        Ok(menu)
    }

    fn entry(&mut self, label: &str, press: Press) -> tauri::Result<MenuItem<R>> {
        let id = token();
        let item = MenuItem::with_id(self.app, id.clone(), literally(label), true, None::<&str>)?;
        self.presses.insert(id, press);
        Ok(item)
    }

    /// A line to read, not to press.
    fn words(&self, text: &str) -> tauri::Result<MenuItem<R>> {
        MenuItem::new(self.app, literally(text), false, None::<&str>)
    }
}

pub(super) fn waiting_label(count: u32) -> String {
    if count == 0 { "Nothing waiting".to_owned() } else { format!("{count} waiting") }
}

/// In a label `&` would mark the letter that Alt reaches, and vanish.
fn literally(text: &str) -> String {
    text.replace('&', "&&")
}

/// A long line on several, whole.
fn pieces(line: &str) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    chars.chunks(WIDTH).map(|piece| piece.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_whole_and_an_ampersand_stays() {
        let line = "rm a && rm b; ".repeat(20);
        assert_eq!(pieces(&line).concat(), line);
        assert!(pieces(&line).iter().all(|piece| piece.chars().count() <= WIDTH));
        assert_eq!(literally("a && b & c"), "a &&&& b && c");
        assert_eq!(
            [waiting_label(0), waiting_label(1), waiting_label(7)],
            ["Nothing waiting", "1 waiting", "7 waiting"]
        );
    }
}
