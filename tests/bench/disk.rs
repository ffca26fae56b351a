use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Mutex;

use rusqlite::Connection;
use tempfile::TempDir;

/// A folder beside the build, so that it is on a disk and not in memory.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// A database with nothing of ours around it: the floor of what is durable.
pub(crate) struct Bare {
    conn: Mutex<Connection>,
    _folder: TempDir,
}

impl Bare {
    pub(crate) fn open() -> Self {
        let folder = folder();
        let conn = Connection::open(folder.path().join("bare.db")).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        conn.pragma_update(None, "synchronous", "FULL").unwrap();
        conn.execute_batch("CREATE TABLE rows (id INTEGER PRIMARY KEY, content TEXT NOT NULL) STRICT")
            .unwrap();
        Self { conn: Mutex::new(conn), _folder: folder }
    }

    /// One commit of one row, on the disk when this returns.
    pub(crate) fn commit(&self) {
        let conn = self.conn.lock().unwrap();
        let mut insert = conn.prepare_cached("INSERT INTO rows (content) VALUES (?1)").unwrap();
        insert.execute([ROW]).unwrap();
    }
}

const ROW: &str = "a row of some two hundred bytes, which is about what the smallest of Sayso's steps stores; it says \
                   nothing, but it is there, and when the commit has returned it is on the disk, come what may, as it \
                   has to be.";

/// How many commits a database in WAL mode has seen, from any connection: the change counter of the log's index, which
/// every commit raises by one.
pub(crate) fn commits(database: &Path) -> u32 {
    let index = File::open(format!("{}-shm", database.display())).unwrap();
    let mut counter = [0; 4];
    index.read_exact_at(&mut counter, 8).unwrap();
    u32::from_ne_bytes(counter)
}
