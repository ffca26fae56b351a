use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::Connection;

use super::world::Place;
use crate::migrate::{MIGRATIONS, Migration, version};
use crate::open::{wal_of, writer_at};
use crate::{OpenError, Store, settings};

/// How opening a file ends, in a word.
fn check(path: &Path, expected: &str) -> String {
    let before = fs::read(path).unwrap_or_default();
    let error = Store::open(path).err().unwrap();
    let word = match &error {
        OpenError::Locked { .. } => "locked",
        OpenError::Newer { .. } => "newer",
        OpenError::Damaged { .. } => "damaged",
        OpenError::Full { .. } => "full",
        OpenError::Io { .. } => "io",
    };
    assert_eq!(word, expected, "{error}");
    assert_eq!(fs::read(path).unwrap_or_default(), before, "the file was left as it was");
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    text
}

async fn filled() -> Place {
    let place = Place::new();
    let fill = place
        .store
        .write(|tx| (0..200).try_for_each(|n| settings::put(tx, &format!("name{n}"), &"value ".repeat(50))));
    fill.await.unwrap();
    place.store.clone().close().await.unwrap();
    place
}

#[test]
fn a_new_file_is_ours_and_syncs_every_commit() {
    let folder = tempfile::tempdir().unwrap();
    let conn = crate::open::writer(&folder.path().join("sayso.db")).unwrap();
    let pragma = |name: &str| -> String {
        conn.raw()
            .pragma_query_value(None, name, |row| Ok(row.get_ref(0)?.as_str().map(str::to_owned).ok()))
            .unwrap()
            .unwrap_or_else(|| {
                conn.raw().pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap().to_string()
            })
    };
    assert_eq!(pragma("journal_mode"), "wal");
    assert_eq!(pragma("synchronous"), "2");
    assert_eq!(pragma("foreign_keys"), "1");
    assert_eq!(pragma("user_version"), version(MIGRATIONS).to_string());
    assert_eq!(pragma("application_id"), "1398887279");
    assert!(!folder.path().join("backups").exists());
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let place = filled().await;
    Connection::open(place.db()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let text = check(&place.db(), "newer");
    assert!(text.contains("99") && text.contains("Install"), "{text}");
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_left_alone() {
    let place = filled().await;
    let whole = fs::read(place.db()).unwrap();
    let backups = place.folder.path().join("backups");
    let damage = |bytes: &[u8]| {
        fs::write(place.db(), bytes).unwrap();
        let text = check(&place.db(), "damaged");
        assert!(text.contains(backups.to_str().unwrap()), "{text}");
    };
    damage(b"This is a letter to my bank, and it is longer than a header.");
    damage(&whole[..8]);
    damage(&whole[..4096 + 100]);
    let mut torn = whole.clone();
    torn[4096..whole.len() - 4096].fill(0x5a);
    damage(&torn);
    fs::write(place.db(), &whole).unwrap();
    Store::open(&place.db()).unwrap();
}

/// SQLite would take the empty file for a new database and throw the log away.
#[tokio::test]
async fn a_log_whose_file_is_gone_or_empty_is_kept() {
    let place = Place::new();
    place.store.write(|tx| settings::put(tx, "kept", "1")).await.unwrap();
    let other = tempfile::tempdir().unwrap();
    let db = other.path().join("sayso.db");
    let log = fs::read(wal_of(&place.db())).unwrap();
    fs::write(wal_of(&db), &log).unwrap();
    check(&db, "damaged");
    fs::write(&db, b"").unwrap();
    check(&db, "damaged");
    assert_eq!(fs::read(wal_of(&db)).unwrap(), log);
}

#[test]
fn a_database_of_another_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    let text = check(&path, "damaged");
    assert!(text.contains("another program"), "{text}");
}

#[tokio::test]
async fn a_database_that_another_process_holds_is_refused() {
    let place = filled().await;
    let other = Connection::open(place.db()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = Store::open(&place.db()).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    other
        .execute_batch("ROLLBACK; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM settings")
        .unwrap();
    let error = Store::open(&place.db()).err().unwrap();
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    drop(other);
    Store::open(&place.db()).unwrap();
}

#[test]
fn a_folder_that_cannot_be_written_or_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    check(&folder.path().join("no such folder/sayso.db"), "io");
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write anywhere.
    if fs::write(closed.join("probe"), b"").is_err() {
        check(&closed.join("sayso.db"), "io");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}

const NEXT: Migration = &["ALTER TABLE settings ADD COLUMN note TEXT;"];
const BROKEN: Migration = &["ALTER TABLE settings ADD COLUMN note TEXT;", "NONSENSE;"];

/// All that there are, and one more.
fn and(next: Migration) -> Vec<Migration> {
    MIGRATIONS.iter().copied().chain([next]).collect()
}

#[tokio::test]
async fn an_older_file_is_backed_up_then_migrated() {
    let place = Place::new();
    place.store.write(|tx| settings::put(tx, "kept", "1")).await.unwrap();
    // Not closed: what is only in the log must be in the backup too.
    let copied = tempfile::tempdir().unwrap();
    let db = copied.path().join("sayso.db");
    fs::copy(place.db(), &db).unwrap();
    fs::copy(wal_of(&place.db()), wal_of(&db)).unwrap();

    let known = version(MIGRATIONS);
    let error = writer_at(&db, &and(BROKEN)).err().unwrap();
    assert!(error.to_string().contains("NONSENSE"), "{error}");
    let migrated = writer_at(&db, &and(NEXT)).unwrap();
    let version: u32 = migrated.raw().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, known + 1);
    assert_eq!(settings::get(&migrated, "kept").unwrap().as_deref(), Some("1"));
    drop(migrated);

    let backups: Vec<_> = fs::read_dir(copied.path().join("backups")).unwrap().collect();
    assert!(!backups.is_empty());
    for backup in backups {
        let path = backup.unwrap().path();
        assert!(path.to_str().unwrap().contains(&format!("format{known}-")), "{path:?}");
        let conn = writer_at(&path, MIGRATIONS).unwrap();
        assert_eq!(settings::get(&conn, "kept").unwrap().as_deref(), Some("1"));
    }
    let error = Store::open(&db).err().unwrap();
    assert!(
        matches!(error, OpenError::Newer { found, known: ours, .. } if (found, ours) == (known + 1, known))
    );
}

#[tokio::test]
async fn what_a_killed_process_had_committed_is_there() {
    let place = Place::new();
    place.store.write(|tx| settings::put(tx, "kept", "1")).await.unwrap();
    let killed = tempfile::tempdir().unwrap();
    let db = killed.path().join("sayso.db");
    fs::copy(place.db(), &db).unwrap();
    fs::copy(wal_of(&place.db()), wal_of(&db)).unwrap();
    // A write that was cut off.
    let mut log = fs::OpenOptions::new().write(true).open(wal_of(&db)).unwrap();
    log.seek(SeekFrom::End(0)).unwrap();
    log.write_all(&[7; 1000]).unwrap();
    drop(log);
    let store = Store::open(&db).unwrap();
    let kept = store.read(|reader| settings::get(reader, "kept")).await.unwrap();
    assert_eq!(kept.as_deref(), Some("1"));
}

#[tokio::test]
async fn the_file_and_its_log_are_for_their_owner_alone() {
    let place = Place::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for make_it_open in [false, true] {
        if make_it_open {
            fs::set_permissions(place.db(), fs::Permissions::from_mode(0o644)).unwrap();
        }
        let store = Store::open(&place.db()).unwrap();
        store.write(|tx| settings::put(tx, "a", "1")).await.unwrap();
        assert_eq!((mode(&place.db()), mode(&wal_of(&place.db()))), (0o600, 0o600));
        store.close().await.unwrap();
    }
}

/// Older files know nothing of answers that are held.
#[test]
fn an_answer_of_an_older_file_can_leave_and_not_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("sayso.db");
    let older = writer_at(&db, &MIGRATIONS[..2]).unwrap();
    older
        .batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO deliveries (request, answer, state, deliver_after, next_at) VALUES ('k', '{}', 'waiting', 5, 9);",
        )
        .unwrap();
    drop(older);
    let now = writer_at(&db, MIGRATIONS).unwrap();
    let claimed = now.row("SELECT claimed_at FROM deliveries", [], |row| Ok(row.get::<_, Option<i64>>(0)?));
    assert_eq!(claimed.unwrap(), Some(Some(5)));
}
