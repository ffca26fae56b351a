//! Who is at the other end of a connection, as far as the kernel says.

use std::path::PathBuf;

use sayso_host::Program;

/// The other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peer {
    /// A process of the owner's, at the Unix socket.
    Owner {
        /// Its number.
        pid: Option<i32>,
    },
    /// Whoever reaches the loopback port.
    Anybody,
}

/// What a process is, for a person to know it by. It may have ended, and its number may belong to another by now: it is
/// a hint, and gives no right.
pub(crate) fn program(pid: Option<i32>) -> Program {
    let Some(pid) = pid else { return Program::default() };
    let started_by = parent(pid).and_then(|parent| link(parent, "exe"));
    Program { pid: Some(pid), program: link(pid, "exe"), started_by, folder: link(pid, "cwd") }
}

fn link(pid: i32, name: &str) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/{name}")).ok()
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before the last parenthesis may hold anything.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_what_it_runs_and_where() {
        let own = i32::try_from(std::process::id()).unwrap();
        let found = program(Some(own));
        assert_eq!(found.pid, Some(own));
        assert_eq!(found.program, std::env::current_exe().ok());
        assert_eq!(found.folder, std::env::current_dir().ok());
        assert!(found.started_by.is_some());
        assert_eq!(program(None), Program::default());
    }
}
