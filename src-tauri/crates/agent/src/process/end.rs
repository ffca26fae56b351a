use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::MARK;

/// How long to go on ending processes; only one that the system holds takes this long.
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// The processes of a call: its shell, its process group, their descendants, and all that carry its mark.
#[derive(Clone, Debug)]
pub(super) struct Family {
    root: Option<i32>,
    mark: Vec<u8>,
}

impl Family {
    pub(super) fn new(root: Option<u32>, mark: &str) -> Self {
        let mark = format!("{MARK}={mark}\0").into_bytes();
        Self { root: root.and_then(|root| i32::try_from(root).ok()), mark }
    }

    /// Ends all of them, without holding up other tasks.
    pub(super) async fn end(&self) {
        let family = self.clone();
        let _ = tokio::task::spawn_blocking(move || end(&family)).await;
    }
}

/// Ends the processes that a host which is gone left behind: all whose mark begins with `marker_prefix`, such as the id of
/// a run. Returns how many. It blocks, for milliseconds as a rule. An empty prefix ends nothing.
pub fn kill_marked(marker_prefix: &str) -> usize {
    if marker_prefix.is_empty() {
        return 0;
    }
    end(&Family { root: None, mark: format!("{MARK}={marker_prefix}").into_bytes() })
}

/// Ends a family: first all of it is halted, parents before children, and only then killed. A shell whose child dies before
/// it would otherwise go on with the rest of its line. Again and again until none is left, since a process may fork
/// while the others are being halted.
pub(super) fn end(family: &Family) -> usize {
    let started = Instant::now();
    let mut known: HashSet<Process> = HashSet::new();
    loop {
        let left = members(family, &known);
        if left.is_empty() || started.elapsed() > LIMIT {
            return known.len();
        }
        let fresh: Vec<_> = left.iter().filter(|process| !known.contains(process)).collect();
        if fresh.is_empty() {
            left.iter().for_each(|process| signal(process, Signal::KILL));
            std::thread::sleep(PAUSE);
        } else {
            fresh.iter().for_each(|process| signal(process, Signal::STOP));
            known.extend(fresh);
        }
    }
}

/// A process, told apart from a later one with the same number by when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Process {
    started: u64,
    pid: i32,
}

struct Stat {
    process: Process,
    parent: i32,
    group: i32,
    is_dead: bool,
}

/// The processes of a family that are still there, oldest first. Who was known stays one when its parent is gone.
fn members(family: &Family, known: &HashSet<Process>) -> Vec<Process> {
    let all = processes();
    let own = i32::try_from(std::process::id()).ok();
    let mut found: HashSet<i32> = all
        .iter()
        .filter(|stat| {
            known.contains(&stat.process)
                || family.root.is_some_and(|root| stat.process.pid == root || stat.group == root)
                || carries(stat.process.pid, &family.mark)
        })
        .map(|stat| stat.process.pid)
        .collect();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for stat in &all {
        children.entry(stat.parent).or_default().push(stat.process.pid);
    }
    let mut open: Vec<_> = found.iter().copied().collect();
    while let Some(parent) = open.pop() {
        let more = children.get(&parent).into_iter().flatten().copied();
        open.extend(more.filter(|child| found.insert(*child)));
    }
    let is_left =
        |stat: &&Stat| found.contains(&stat.process.pid) && !stat.is_dead && Some(stat.process.pid) != own;
    let mut left: Vec<_> = all.iter().filter(is_left).map(|stat| stat.process).collect();
    left.sort_unstable();
    left
}

fn processes() -> Vec<Stat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

fn stat(pid: i32) -> Option<Stat> {
    let text = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may hold anything, parentheses included.
    let after = text.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> = str::from_utf8(&text[after..]).ok()?.split_ascii_whitespace().collect();
    Some(Stat {
        process: Process { pid, started: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X"),
    })
}

fn carries(pid: i32, mark: &[u8]) -> bool {
    // Of other users' processes it cannot be read, and they cannot be ended either.
    let Ok(environment) = std::fs::read(format!("/proc/{pid}/environ")) else { return false };
    let starts = |at: usize| at == 0 || environment[at - 1] == 0;
    environment.windows(mark.len()).enumerate().any(|(at, window)| window == mark && starts(at))
}

fn signal(process: &Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // Once the handle is open the number cannot pass to another process; it may have before.
        Ok(handle) => {
            if stat(process.pid).is_some_and(|stat| stat.process == *process) {
                let _ = pidfd_send_signal(&handle, signal);
            }
        }
        Err(rustix::io::Errno::SRCH) => {}
        Err(_) => {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}
