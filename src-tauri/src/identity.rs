use std::path::{Path, PathBuf};

/// The name under which instances for one data folder find each other on the session bus. Another folder is another
/// inbox, so it is another instance.
pub(crate) fn bus_name(data_dir: &Path) -> String {
    format!("dev.sayso.desktop.d{}", short_hash(data_dir))
}

/// A folder of this user and this data folder alone that goes with the desktop session, where the desktop offers one. It is
/// made by whoever first puts something into it.
pub(crate) fn session_dir(data_dir: &Path) -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_absolute())?;
    Some(runtime.join(format!("sayso-{}", short_hash(data_dir))))
}

/// A short name for a data folder that holds however the folder is written, also before it exists.
fn short_hash(data_dir: &Path) -> String {
    let hash = sayso_domain::sha256(settled(data_dir).as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The path without links and dots, as far as it exists.
fn settled(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.ancestors()
        .find_map(|known| {
            let rest = path.strip_prefix(known).ok()?;
            let known = known.canonicalize().ok()?;
            Some(if rest.as_os_str().is_empty() { known } else { known.join(rest) })
        })
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_has_one_name_however_it_is_written() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("data/sayso");
        let before = bus_name(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(bus_name(&folder), before, "the folder came into being");
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert_eq!(bus_name(&link), before, "a link to it");
        assert_ne!(bus_name(&root.path().join("other")), before, "another folder");
    }
}
