//! A display of the test's own: Xvfb with a small window manager, and a look at its pixels.

use crate::process::OwnedChild;
use crate::wait;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The screen's size in pixels.
pub const SIZE: (u32, u32) = (1280, 800);

/// An X display nobody looks at. It ends with the value.
#[derive(Debug)]
pub struct Display {
    // Dropped in this order: the manager goes before the server it talks to.
    manager: Option<OwnedChild>,
    _server: OwnedChild,
    name: String,
    folder: TempDir,
}

impl Display {
    /// Starts a server on a free number and a window manager on it.
    pub async fn start() -> Self {
        let mut display = Self::bare();
        let mut command = Command::new("openbox");
        command.arg("--sm-disable").env("DISPLAY", &display.name).env("HOME", display.folder.path());
        command.env_remove("DBUS_SESSION_BUS_ADDRESS").stdout(Stdio::null()).stderr(Stdio::null());
        display.manager = Some(OwnedChild::start(&mut command));
        wait::wait_until("the window manager is there", wait::SOON, async || {
            display.wmctrl(&["-m"]).is_some()
        })
        .await;
        display
    }

    /// Starts a server alone: windows stand undecorated in the corner, and all that is drawn is theirs.
    pub fn bare() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let screen = format!("{}x{}x24", SIZE.0, SIZE.1);
        let mut command = Command::new("Xvfb");
        // The server picks a free number itself and says it on its standard output.
        command.args(["-displayfd", "1", "-screen", "0", &screen, "-fbdir"]).arg(folder.path());
        command.args(["-nolisten", "tcp", "-noreset", "-nocursor"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = OwnedChild::start(&mut command);
        let number = server.read_line(Duration::from_secs(20), |line| line.trim().parse::<u32>().ok());
        Self { manager: None, _server: server, name: format!(":{number}"), folder }
    }

    /// The value for `DISPLAY`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The titles of the windows that are open.
    pub fn windows(&self) -> Vec<String> {
        let listed = self.wmctrl(&["-l"]).unwrap_or_default();
        // window id, desktop, host, title
        let titles = listed.lines().map(|line| {
            let mut rest = line;
            for _ in 0..3 {
                rest = rest.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
            }
            rest.to_owned()
        });
        titles.collect()
    }

    /// Closes the window whose title contains `title`, the way its close button does.
    pub fn close_window(&self, title: &str) {
        assert!(self.wmctrl(&["-c", title]).is_some(), "no window {title:?} among {:?}", self.windows());
    }

    /// Moves the window whose title contains `title` and gives it a size.
    pub fn place_window(&self, title: &str, (x, y, width, height): (i32, i32, u32, u32)) {
        let place = format!("0,{x},{y},{width},{height}");
        assert!(
            self.wmctrl(&["-r", title, "-e", &place]).is_some(),
            "no window {title:?} among {:?}",
            self.windows()
        );
    }

    /// Where the window whose title contains `title` is, and how large.
    pub fn window_place(&self, title: &str) -> Option<(i32, i32, u32, u32)> {
        let listed = self.wmctrl(&["-lG"])?;
        let line = listed.lines().find(|line| line.contains(title))?;
        // window id, desktop, x, y, width, height, host, title
        let mut fields = line.split_whitespace().skip(2);
        let mut next = || fields.next()?.parse::<i32>().ok();
        Some((next()?, next()?, next()?.unsigned_abs(), next()?.unsigned_abs()))
    }

    /// What the whole screen shows now.
    pub fn picture(&self) -> Picture {
        let file = self.folder.path().join("Xvfb_screen0");
        Picture::from_xwd(&fs::read(file).expect("the screen's memory can be read"))
    }

    fn wmctrl(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("wmctrl");
        command.args(arguments).env("DISPLAY", &self.name).stderr(Stdio::null());
        let output = command.output().expect("wmctrl is installed");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// What a screen showed at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Row after row, four bytes a pixel: blue, green, red and one unused.
    pixels: Vec<u8>,
}

impl Picture {
    /// Reads the X window dump that Xvfb keeps its screen in.
    fn from_xwd(dump: &[u8]) -> Self {
        let word = |index: usize| {
            let bytes: [u8; 4] = dump[index * 4..index * 4 + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let (header, width, height) = (word(0), word(4), word(5));
        let (bits, row, colours) = (word(11), word(12), word(19));
        assert_eq!((bits, row), (32, width * 4), "a screen of depth 24 keeps 32 bits a pixel");
        // After the header stands a table of colours, twelve bytes each.
        let start = header + colours * 12;
        Self { width, height, pixels: dump[start..start + row * height].to_vec() }
    }

    /// How many colours it has, counted up to `limit`: an empty window has very few.
    pub fn colours(&self, limit: usize) -> usize {
        let mut seen = std::collections::HashSet::new();
        for row in self.pixels.chunks_exact(self.width * 4) {
            // A row of one colour equals itself moved by a pixel; most rows are, and this looks at them at once.
            let uniform = row[4..] == row[..row.len() - 4];
            for pixel in row.chunks_exact(4).take(if uniform { 1 } else { self.width }) {
                if seen.insert(&pixel[..3]) && seen.len() >= limit {
                    return limit;
                }
            }
        }
        seen.len()
    }

    /// Writes it as PNG, for a person to look at.
    pub fn save(&self, file: &Path) -> PathBuf {
        let output = fs::File::create(file).expect("the picture can be written");
        let (width, height) = (u32::try_from(self.width).unwrap(), u32::try_from(self.height).unwrap());
        let rgb: Vec<u8> =
            self.pixels.chunks_exact(4).flat_map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        let mut encoder = png::Encoder::new(output, width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a PNG header");
        writer.write_image_data(&rgb).expect("the picture's rows");
        file.to_owned()
    }
}
