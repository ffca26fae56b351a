//! What the desktop app does beside its window: notifications, the tray, habits. It runs in the background on a private
//! bus with services of the test's own; senders ask, and nobody looks at a page.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod habits;
mod held;
mod notices;
mod services;
mod stage;
mod tray;
mod window;
