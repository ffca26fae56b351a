use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _, Monitor, Runtime, WebviewWindow, WebviewWindowBuilder};

use crate::start::Start;
use crate::window::MAIN;

/// The smallest window, in logical pixels.
pub(crate) const LEAST: (u32, u32) = (720, 480);
const USUAL: (u32, u32) = (1180, 760);
/// So much of the window's top must be on a screen, so that it can be moved.
const GRIP: (i32, i32) = (120, 24);

/// Where the window is and how large, in logical pixels; kept in the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    maximized: bool,
}

/// A screen, in logical pixels.
#[derive(Clone, Copy, Debug)]
struct Screen {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
}

/// Gives a new window the place of the last one. Where that is on no screen any more, the desktop chooses.
pub(crate) fn apply<'a, R: Runtime, M: tauri::Manager<R>>(
    app: &AppHandle<R>,
    builder: WebviewWindowBuilder<'a, R, M>,
) -> WebviewWindowBuilder<'a, R, M> {
    let Some(place) = read(&file(app)) else {
        return builder.inner_size(f64::from(USUAL.0), f64::from(USUAL.1));
    };
    let screens: Vec<_> = app.available_monitors().unwrap_or_default().iter().map(Screen::of).collect();
    let (width, height) = place.size_on(&screens);
    let builder = builder.inner_size(f64::from(width), f64::from(height)).maximized(place.maximized);
    if place.is_on(&screens) { builder.position(f64::from(place.x), f64::from(place.y)) } else { builder }
}

/// Keeps where the window is now, for the next one.
pub(crate) fn keep<R: Runtime>(app: &AppHandle<R>) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    let file = file(app);
    let kept = match now(&window, read(&file)) {
        Ok(Some(place)) => write(&file, place).map_err(|error| error.to_string()),
        Ok(None) => Ok(()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = kept {
        tracing::info!("where the window is cannot be kept: {error}");
    }
}

fn now<R: Runtime>(window: &WebviewWindow<R>, before: Option<Place>) -> tauri::Result<Option<Place>> {
    if window.is_minimized()? {
        return Ok(None);
    }
    if window.is_maximized()? {
        // How large it is otherwise stays as it was.
        let (width, height) = USUAL;
        let otherwise = before.unwrap_or(Place { x: 0, y: 0, width, height, maximized: true });
        return Ok(Some(Place { maximized: true, ..otherwise }));
    }
    let scale = window.scale_factor()?;
    let (at, size) = (window.outer_position()?.to_logical(scale), window.inner_size()?.to_logical(scale));
    Ok(Some(Place { x: at.x, y: at.y, width: size.width, height: size.height, maximized: false }))
}

fn file<R: Runtime>(app: &AppHandle<R>) -> PathBuf {
    app.state::<Start>().data_dir().join("window.json")
}

fn read(file: &Path) -> Option<Place> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn write(file: &Path, place: Place) -> io::Result<()> {
    if read(file) == Some(place) {
        return Ok(());
    }
    let new = file.with_extension("new");
    std::fs::write(&new, serde_json::to_vec(&place)?)?;
    std::fs::rename(new, file)
}

impl Place {
    fn is_on(&self, screens: &[Screen]) -> bool {
        let overlap = |from: i32, length: u32, start: i32, extent: u32| {
            let end = |from: i32, length: u32| i64::from(from) + i64::from(length);
            end(from, length).min(end(start, extent)) - i64::from(from.max(start))
        };
        screens.iter().any(|screen| {
            overlap(self.x, self.width, screen.x, screen.width) >= i64::from(GRIP.0)
                && overlap(self.y, GRIP.1.unsigned_abs(), screen.y, screen.height) >= i64::from(GRIP.1)
        })
    }

    /// No larger than the largest screen, where one is known.
    fn size_on(&self, screens: &[Screen]) -> (u32, u32) {
        let most = |of: fn(&Screen) -> u32| screens.iter().map(of).max().unwrap_or(u32::MAX);
        let fit = |length: u32, least: u32, most: u32| length.min(most).max(least);
        (
            fit(self.width, LEAST.0, most(|screen| screen.width)),
            fit(self.height, LEAST.1, most(|screen| screen.height)),
        )
    }
}

impl Screen {
    fn of(monitor: &Monitor) -> Self {
        let scale = monitor.scale_factor();
        let (at, size) = (monitor.position().to_logical(scale), monitor.size().to_logical(scale));
        Self { x: at.x, y: at.y, width: size.width, height: size.height }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREENS: [Screen; 2] = [
        Screen { x: 0, y: 0, width: 1920, height: 1080 },
        Screen { x: 1920, y: 200, width: 1280, height: 800 },
    ];

    #[test]
    fn a_place_off_every_screen_is_not_used() {
        let check = |x, y, expected| {
            let place = Place { x, y, width: 1180, height: 760, maximized: false };
            assert_eq!(place.is_on(&SCREENS), expected, "{x} {y}");
        };
        check(0, 0, true);
        check(-1060, 0, true);
        check(-1061, 0, false);
        check(100, 1056, true);
        check(100, 1057, false);
        check(100, -1, false);
        check(2500, 100, false);
        check(2500, 300, true);
        check(i32::MAX, i32::MIN, false);
        assert!(!Place { x: 0, y: 0, width: 1, height: 1, maximized: false }.is_on(&[]));
    }

    #[test]
    fn a_window_is_never_larger_than_a_screen_nor_smaller_than_it_can_be() {
        let size = |width, height| Place { x: 0, y: 0, width, height, maximized: false }.size_on(&SCREENS);
        assert_eq!([size(1180, 760), size(9000, 9000), size(1, 1)], [(1180, 760), (1920, 1080), LEAST]);
    }

    #[test]
    fn what_was_kept_is_read_and_what_is_broken_is_no_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("window.json");
        assert_eq!(read(&file), None);
        let place = Place { x: -7, y: 40, width: 800, height: 600, maximized: true };
        write(&file, place).unwrap();
        assert_eq!(read(&file), Some(place));
        std::fs::write(&file, "{").unwrap();
        assert_eq!(read(&file), None);
    }
}
