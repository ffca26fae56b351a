//! A small disk of a test's own, which can be full. Mounting it needs root.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk in memory, unmounted when dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one of `size`, such as `4m`, at `at`.
    pub fn mount(at: &Path, size: &str) -> Self {
        std::fs::create_dir_all(at).expect("a folder to mount it at");
        let options = format!("size={size},mode=0777");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "sayso-test"]).arg(at);
        assert!(
            mount.status().is_ok_and(|status| status.success()),
            "a small disk can be mounted (root is needed)"
        );
        Self(at.to_owned())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes until nothing fits any more.
    pub fn fill(&self) {
        let mut out = File::create(self.filler()).expect("a file to fill it with");
        for size in [65_536, 4096, 512, 1] {
            let block = vec![b'x'; size];
            while out.write_all(&block).is_ok() {}
        }
    }

    /// Takes away what filled it.
    pub fn make_room(&self) {
        std::fs::remove_file(self.filler()).expect("what filled it is there");
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
