//! A screen saver of the test's own on a private bus, which says whether the screen is locked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::bus::PrivateBus;

const NAME: &str = "org.freedesktop.ScreenSaver";
const PATH: &str = "/org/freedesktop/ScreenSaver";

/// The running saver. It leaves the bus when dropped.
#[derive(Debug)]
pub struct ScreenSaver {
    connection: zbus::Connection,
    is_locked: Arc<AtomicBool>,
}

impl ScreenSaver {
    /// Takes the name on `bus`; the screen is not locked.
    pub async fn start(bus: &PrivateBus) -> Self {
        let is_locked = Arc::<AtomicBool>::default();
        let connection = bus.connect().await;
        let saver = Saver { is_locked: Arc::clone(&is_locked) };
        connection.object_server().at(PATH, saver).await.expect("the saver can be served");
        connection.request_name(NAME).await.expect("no other saver is on a private bus");
        Self { connection, is_locked }
    }

    /// Locks or unlocks the screen, and says so.
    pub async fn set(&self, is_locked: bool) {
        self.is_locked.store(is_locked, Ordering::SeqCst);
        Self::say(&self.connection, is_locked).await;
    }

    /// Any program can claim that the screen is unlocked: says so from a connection of its own.
    pub async fn forge(bus: &PrivateBus, is_locked: bool) {
        Self::say(&bus.connect().await, is_locked).await;
    }

    async fn say(connection: &zbus::Connection, is_locked: bool) {
        let said = connection.emit_signal(None::<&str>, PATH, NAME, "ActiveChanged", &is_locked).await;
        said.expect("the signal can be sent");
    }
}

struct Saver {
    is_locked: Arc<AtomicBool>,
}

#[zbus::interface(name = "org.freedesktop.ScreenSaver")]
impl Saver {
    async fn get_active(&self) -> bool {
        self.is_locked.load(Ordering::SeqCst)
    }
}
