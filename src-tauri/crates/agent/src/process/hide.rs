use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Keeps the memory and the environment of this process, where keys are, from other processes of the same user, the tools
/// that it starts among them. A host calls it before it reads a key. The price: no debugger can attach, and a crash leaves
/// no core file. The superuser can still look.
pub fn hide_memory() -> io::Result<()> {
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}
