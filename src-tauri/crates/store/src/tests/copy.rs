use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::world::Place;
use crate::open::wal_of;
use crate::{OpenError, Store, StoreError, Tx, settings};

/// Two rows that every commit changes together.
fn both(tx: &Tx<'_>, value: u32) -> Result<(), StoreError> {
    settings::put(tx, "one", &value.to_string())?;
    // Enough to make the log long, so that it is begun anew from time to time.
    settings::put(tx, &format!("filling{}", value % 50), &"x".repeat(20_000))?;
    settings::put(tx, "two", &value.to_string())
}

fn read(copy: &crate::StoreCopy) -> (Option<String>, Option<String>) {
    copy.read(|reader| Ok((settings::get(reader, "one")?, settings::get(reader, "two")?))).unwrap()
}

#[tokio::test]
async fn a_copy_holds_all_that_is_committed_while_the_original_is_in_use() {
    let place = Place::new();
    place.store.write(|tx| both(tx, 7)).await.unwrap();
    let before = place.files();
    let copy = Store::open_copy(&place.db()).unwrap();
    assert_eq!(read(&copy), (Some("7".to_owned()), Some("7".to_owned())));
    assert_eq!(place.files(), before);
}

#[tokio::test]
async fn a_copy_of_a_killed_processs_file_holds_its_log_and_leaves_nothing_beside_it() {
    let place = Place::new();
    place.store.write(|tx| both(tx, 7)).await.unwrap();
    let killed = tempfile::tempdir().unwrap();
    let db = killed.path().join("sayso.db");
    fs::copy(place.db(), &db).unwrap();
    fs::copy(wal_of(&place.db()), wal_of(&db)).unwrap();
    for file in [db.clone(), wal_of(&db)] {
        fs::set_permissions(file, fs::Permissions::from_mode(0o400)).unwrap();
    }
    let bytes = (fs::read(&db).unwrap(), fs::read(wal_of(&db)).unwrap());
    assert_eq!(read(&Store::open_copy(&db).unwrap()).0.as_deref(), Some("7"));
    assert_eq!((fs::read(&db).unwrap(), fs::read(wal_of(&db)).unwrap()), bytes);
    assert_eq!(fs::read_dir(killed.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn a_copy_of_a_closed_file_leaves_no_log_beside_it() {
    let place = Place::new();
    place.store.write(|tx| both(tx, 7)).await.unwrap();
    place.store.clone().close().await.unwrap();
    assert_eq!(read(&Store::open_copy(&place.db()).unwrap()).1.as_deref(), Some("7"));
    assert_eq!(place.files(), ["sayso.db"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_made_while_a_writer_is_at_work_are_whole_and_never_older_than_their_beginning() {
    let place = Place::new();
    place.store.write(|tx| both(tx, 0)).await.unwrap();
    let done = Arc::new(AtomicU32::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let (store, written, stopped) = (place.store.clone(), done.clone(), stop.clone());
    let writer = async move {
        let mut value = 0;
        while !stopped.load(Ordering::Relaxed) {
            value += 1;
            store.write(move |tx| both(tx, value)).await.unwrap();
            written.store(value, Ordering::Relaxed);
        }
    };
    let db = place.db();
    let reader = tokio::task::spawn_blocking(move || {
        for _ in 0..20 {
            let at_least = done.load(Ordering::Relaxed);
            let (one, two) = read(&Store::open_copy(&db).unwrap_or_else(|error| panic!("{error}")));
            assert_eq!(one, two);
            let value: u32 = one.unwrap().parse().unwrap();
            assert!(value >= at_least, "{value} is older than {at_least}");
        }
        stop.store(true, Ordering::Relaxed);
    });
    let (_, read) = tokio::join!(writer, reader);
    read.unwrap();
}

#[test]
fn a_copy_of_nothing_or_of_a_damaged_file_names_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("sayso.db");
    let error = Store::open_copy(&db).err().unwrap();
    assert!(matches!(&error, OpenError::Io { path, .. } if *path == db), "{error}");
    fs::write(&db, "no database at all, but long enough to be one").unwrap();
    let error = Store::open_copy(&db).err().unwrap();
    let backups = folder.path().join("backups");
    let named = matches!(&error, OpenError::Damaged { path, backups: b, .. } if *path == db && *b == backups);
    assert!(named, "{error}");
}
