//! Where a path leads, as far as its text tells. Links are not followed: there is no IO here.

/// Stands for what cannot be known from the text, such as the value of a variable. No character means anything in this
/// place; a text that holds it already is called out as one that hides something.
pub(super) const UNSEEN: char = '\u{10fffd}';

/// Where a path leads, the less grave first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// `/dev/null` and the like.
    Nowhere,
    /// What can be built or fetched again, inside the folder.
    Rebuilt,
    /// In a folder for temporary files.
    Temporary,
    /// Inside the folder.
    Inside,
    /// The folder itself, or everything in it, or its history.
    Whole,
    /// Cannot be told.
    Unseen,
    /// Outside the folder.
    Outside,
    /// A part of the system, the whole home, a folder that holds ours.
    Vital,
    /// A disk.
    Disk,
}

/// Folders' names that tools make again.
const REBUILT: [&str; 26] = [
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "__pycache__",
    ".cache",
    "coverage",
    ".pytest_cache",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    "htmlcov",
    "tmp",
    "temp",
    ".gradle",
    "cmake-build-debug",
    ".eggs",
    "obj",
    "venv",
];

/// Parts of a system that a person does not work in.
const SYSTEM: [&str; 14] =
    ["bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var", "opt"];

/// The folders that a command may stand in: the agent's, and those that it changed to.
#[derive(Clone, Debug, Default)]
pub(super) struct Folders {
    /// The agent's folder, absolute, without a slash at its end; empty if unknown.
    own: String,
    /// Where the command may stand: as absolute paths, or relative to the agent's folder.
    stands: Vec<String>,
}

impl Folders {
    pub(super) fn new(own: Option<&str>) -> Self {
        let own = own.map(|own| own.trim_end_matches('/').to_owned()).unwrap_or_default();
        Self { own, stands: vec![".".to_owned()] }
    }

    /// It may stand there now, or did not get there.
    pub(super) fn may_change_to(&mut self, path: &str) {
        let there: Vec<_> = self.stands.iter().map(|stand| join(stand, path)).collect();
        for stand in there {
            // Few commands change their folder more than once; the first ones are enough to be careful.
            if self.stands.len() < 8 && !self.stands.contains(&stand) {
                self.stands.push(stand);
            }
        }
    }

    /// It stands there from now on.
    pub(super) fn change_to(&mut self, path: &str) {
        for stand in &mut self.stands {
            *stand = join(stand, path);
        }
        self.stands.dedup();
    }

    /// The gravest of where the path may lead.
    pub(super) fn place(&self, path: &str) -> Place {
        self.stands.iter().map(|stand| self.place_of(&join(stand, path))).max().unwrap_or(Place::Unseen)
    }

    fn place_of(&self, path: &str) -> Place {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.starts_with("~/") || path == "~" {
            return self.place_in_home(path);
        }
        if let Some(user) = path.strip_prefix('~') {
            return if user.contains('/') { Place::Outside } else { Place::Vital };
        }
        if path.starts_with(UNSEEN) {
            return match parts(path).iter().skip(1).all(|part| is_all(part)) {
                true => Place::Unseen,
                false if path.contains("..") => Place::Outside,
                false => Place::Unseen,
            };
        }
        let absolute = path.starts_with('/');
        let Some(inside) = self.inside(path) else {
            return if absolute { place_outside(path) } else { place_above(path) };
        };
        if inside.iter().all(|part| is_all(part)) || inside.first().is_some_and(|part| part == ".git") {
            return Place::Whole;
        }
        if inside.iter().any(|part| part.contains(UNSEEN)) {
            return Place::Unseen;
        }
        match inside.iter().any(|part| REBUILT.contains(&part.as_str())) {
            true => Place::Rebuilt,
            false => Place::Inside,
        }
    }

    /// The parts below the agent's folder, if the path leads there.
    fn inside(&self, path: &str) -> Option<Vec<String>> {
        let relative = match path.strip_prefix('/') {
            None => path,
            Some(_) if self.own.is_empty() => return None,
            Some(_) => path
                .strip_prefix(self.own.as_str())
                .filter(|rest| rest.is_empty() || rest.starts_with('/'))?,
        };
        let mut inside = Vec::new();
        for part in parts(relative) {
            match part {
                ".." => drop(inside.pop()?),
                part => inside.push(part.to_owned()),
            }
        }
        Some(inside)
    }

    fn place_in_home(&self, path: &str) -> Place {
        let inside = parts(path);
        let rest = &inside[1..];
        match rest {
            _ if rest.iter().all(|part| is_all(part) || *part == "..") => Place::Vital,
            [".cache", _, ..] => Place::Temporary,
            // Whether the folder lies in the home is not known from `~` alone, but its end may tell.
            [.., last]
                if !self.own.is_empty()
                    && rest.len() > 1
                    && self.own.ends_with(&format!("/{}", rest.join("/"))) =>
            {
                if REBUILT.contains(last) {
                    Place::Rebuilt
                } else {
                    Place::Whole
                }
            }
            _ => Place::Outside,
        }
    }
}

fn place_above(path: &str) -> Place {
    // Our folder's own parents.
    if parts(path).iter().all(|part| *part == ".." || is_all(part)) { Place::Vital } else { Place::Outside }
}

fn place_outside(path: &str) -> Place {
    let mut clean: Vec<&str> = Vec::new();
    for part in parts(path) {
        match part {
            ".." => drop(clean.pop()),
            part => clean.push(part),
        }
    }
    match clean.as_slice() {
        [] => Place::Vital,
        ["dev", "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr" | "tty"] => {
            Place::Nowhere
        }
        ["dev", "fd", ..] | ["proc", "self", "fd", ..] => Place::Nowhere,
        ["dev", "shm", _, ..] | ["tmp", _, ..] | ["var", "tmp", _, ..] => Place::Temporary,
        ["private", "tmp", _, ..] => Place::Temporary,
        ["tmp"] => Place::Outside,
        ["dev", ..] => Place::Disk,
        ["home" | "Users" | "mnt" | "media" | "Volumes"] => Place::Vital,
        ["home" | "Users", _] => Place::Vital,
        ["home" | "Users", _, rest @ ..] if rest.iter().all(|part| is_all(part)) => Place::Vital,
        [first, ..] if SYSTEM.contains(first) || is_all(first) || first.contains(['*', '?', '[']) => {
            Place::Vital
        }
        ["System" | "Library" | "Applications", ..] => Place::Vital,
        _ => Place::Outside,
    }
}

/// A path from where one stands.
fn join(stand: &str, path: &str) -> String {
    match path.starts_with(['/', '~']) || stand == "." || path.starts_with("file://") {
        true => path.to_owned(),
        // Something unseen at its front may be an absolute path: it stays in front.
        false if path.starts_with(UNSEEN) => path.to_owned(),
        false => format!("{stand}/{path}"),
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Whether a name means everything there.
fn is_all(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| matches!(c, '*' | '?' | '.' | UNSEEN)) && part != ".."
}
