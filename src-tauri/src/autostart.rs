use std::io;
use std::path::{Path, PathBuf};

use sayso_host::dto::Health;

use crate::identity;

/// The entry by which the desktop starts the app in the background with the session.
pub(crate) struct Autostart {
    /// None where there is no home to put it into.
    file: Option<PathBuf>,
    /// The program and what it is told.
    command: Vec<PathBuf>,
}

/// Why it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// The app has started: what the desktop's own tools switched off stays off.
    Start,
    /// The person changed it in Settings.
    Wish,
}

impl Autostart {
    /// For this program, with a data folder where it is not the usual one.
    pub(crate) fn new(program: PathBuf, data_dir: Option<&Path>) -> Self {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        Self::within(config, program, data_dir)
    }

    fn within(config: Option<PathBuf>, program: PathBuf, data_dir: Option<&Path>) -> Self {
        let mut command = vec![program, "--background".into()];
        let name = match data_dir {
            None => "sayso-desktop".to_owned(),
            Some(dir) => {
                command.extend([
                    "--data-dir".into(),
                    std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()),
                ]);
                identity::bus_name(dir)
            }
        };
        Self { file: config.map(|config| config.join("autostart").join(format!("{name}.desktop"))), command }
    }

    /// Makes it so, and says whether it is.
    pub(crate) fn apply(&self, wanted: bool, occasion: Occasion) -> Health {
        let outcome = match (&self.file, wanted) {
            (Some(file), true) => self.enter(file, occasion),
            (Some(file), false) => leave(file),
            (None, true) => Err("there is no home folder to put the entry into".to_owned()),
            (None, false) => Ok(()),
        };
        let message = match outcome {
            Ok(()) => String::new(),
            Err(why) => format!(
                "Starting with the session could not be changed: {why}. Sayso works as before. Change it in the \
                 desktop's own settings for programs that start with the session."
            ),
        };
        Health { ok: message.is_empty(), message }
    }

    fn enter(&self, file: &Path, occasion: Occasion) -> Result<(), String> {
        let wanted = self.entry()?;
        let there = std::fs::read_to_string(file).unwrap_or_default();
        if occasion == Occasion::Start && is_switched_off(&there) {
            return Err("the desktop's own settings switched it off".to_owned());
        }
        if there == wanted { Ok(()) } else { write(file, &wanted).map_err(|error| error.to_string()) }
    }

    fn entry(&self) -> Result<String, String> {
        let words: Result<Vec<_>, _> = self.command.iter().map(|word| quoted(word)).collect();
        let command = words?.join(" ");
        Ok(format!(
            "[Desktop Entry]\nType=Application\nName=Sayso\nComment=The approval inbox for AI agents\n\
             Exec={command}\nIcon=sayso-desktop\nTerminal=false\nX-GNOME-Autostart-enabled=true\n"
        ))
    }
}

fn leave(file: &Path) -> Result<(), String> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn is_switched_off(entry: &str) -> bool {
    entry.lines().any(|line| {
        let line: String = line.split_whitespace().collect();
        ["Hidden=true", "X-GNOME-Autostart-enabled=false"].iter().any(|off| line.eq_ignore_ascii_case(off))
    })
}

/// A word of a command as the desktop entry specification has it: quoted, and then escaped as any text of an entry.
fn quoted(word: &Path) -> Result<String, String> {
    let text = word.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or("the path of the program or of the data folder cannot be written into an entry")?;
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte)) {
        return Ok(text.to_owned());
    }
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '\\' => quoted.push_str(r"\\\\"),
            '"' | '`' | '$' => quoted.extend([r"\\", &c.to_string()]),
            '%' => quoted.push_str("%%"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

fn write(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let new = file.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn autostart(config: &Path) -> Autostart {
        Autostart::within(Some(config.to_owned()), "/opt/say so/sayso-desktop".into(), None)
    }

    #[test]
    fn the_entry_is_there_when_wanted_and_gone_when_not() {
        let config = tempfile::tempdir().unwrap();
        let file = config.path().join("autostart/sayso-desktop.desktop");
        let autostart = autostart(config.path());
        assert!(autostart.apply(false, Occasion::Start).ok && !file.exists());
        assert!(autostart.apply(true, Occasion::Wish).ok);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("\nExec=\"/opt/say so/sayso-desktop\" --background\n"), "{text}");
        assert!(autostart.apply(true, Occasion::Start).ok);
        assert!(autostart.apply(false, Occasion::Wish).ok && !file.exists());
    }

    #[test]
    fn what_the_desktop_switched_off_stays_off_until_the_person_wishes_otherwise() {
        let config = tempfile::tempdir().unwrap();
        let file = config.path().join("autostart/sayso-desktop.desktop");
        let autostart = autostart(config.path());
        assert!(autostart.apply(true, Occasion::Wish).ok);
        for off in ["Hidden=true", "X-GNOME-Autostart-enabled = false"] {
            std::fs::write(&file, format!("[Desktop Entry]\n{off}\n")).unwrap();
            let health = autostart.apply(true, Occasion::Start);
            assert!(!health.ok && health.message.contains("switched it off"), "{health:?}");
            assert!(std::fs::read_to_string(&file).unwrap().contains(off));
        }
        assert!(autostart.apply(true, Occasion::Wish).ok);
        assert!(!is_switched_off(&std::fs::read_to_string(&file).unwrap()));
    }

    #[test]
    fn another_data_folder_has_an_entry_of_its_own_and_no_path_says_more_than_itself() {
        let config = tempfile::tempdir().unwrap();
        let odd = config.path().join(r#"a "b" $(c) `d` 100% \e"#);
        let autostart = Autostart::within(Some(config.path().to_owned()), "/bin/sayso".into(), Some(&odd));
        assert!(autostart.apply(true, Occasion::Wish).ok);
        let files: Vec<_> = std::fs::read_dir(config.path().join("autostart")).unwrap().flatten().collect();
        assert_eq!(files.len(), 1);
        assert_ne!(files[0].file_name(), "sayso-desktop.desktop");
        let text = std::fs::read_to_string(files[0].path()).unwrap();
        let expected = r#"a \\"b\\" \\$(c) \\`d\\` 100%% \\\\e""#;
        assert!(text.contains(expected), "{text}");
        let broken = Autostart::within(Some(config.path().to_owned()), "/bin/say\nso".into(), None);
        assert!(!broken.apply(true, Occasion::Wish).ok);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_said() {
        let config = tempfile::tempdir().unwrap();
        std::fs::write(config.path().join("autostart"), "in the way").unwrap();
        let health = autostart(config.path()).apply(true, Occasion::Wish);
        assert!(!health.ok && health.message.contains("works as before"), "{health:?}");
    }
}
