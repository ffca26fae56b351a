use std::time::Duration;

use rusqlite::Connection;
use tokio::task::JoinSet;

use super::world::Place;
use crate::{Store, StoreError, Tx, settings};

fn put(tx: &Tx<'_>, name: &str) -> Result<(), StoreError> {
    settings::put(tx, name, "1")
}

async fn is_there(store: &Store, name: &'static str) -> bool {
    store.read(move |reader| settings::get(reader, name)).await.unwrap().is_some()
}

type Work<T> = Box<dyn FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send>;

/// Closures that wait together, because the writer is kept busy until all were handed over.
async fn together<T: Send + 'static>(store: &Store, closures: Vec<Work<T>>) -> Vec<Result<T, StoreError>> {
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let mut tasks = JoinSet::new();
    let busy = store.clone();
    tasks.spawn(async move {
        // It may share their commit, and its failure with it.
        let _ = busy
            .write(move |_| {
                let _ = wait.recv();
                Ok(())
            })
            .await;
        None
    });
    tokio::task::yield_now().await;
    for (index, closure) in closures.into_iter().enumerate() {
        let store = store.clone();
        tasks.spawn(async move { Some((index, store.write(closure).await)) });
    }
    // On one thread, each task has handed its closure over once it yielded.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    let mut results: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[tokio::test]
async fn what_was_answered_is_in_the_file() {
    let place = Place::new();
    place.store.write(|tx| put(tx, "kept")).await.unwrap();
    let other = Connection::open(place.db()).unwrap();
    let count: u32 = other.query_row("SELECT count(*) FROM settings", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}

#[tokio::test]
async fn a_thousand_writers_at_once_all_commit() {
    let place = Place::new();
    let mut tasks = JoinSet::new();
    for n in 0..1000 {
        let store = place.store.clone();
        tasks.spawn(async move { store.write(move |tx| put(tx, &format!("n{n}"))).await });
    }
    assert!(tasks.join_all().await.into_iter().all(|result| result.is_ok()));
    let count = place
        .store
        .read(|reader| reader.row("SELECT count(*) FROM settings", [], |row| Ok(row.get::<_, u32>(0)?)));
    assert_eq!(count.await.unwrap(), Some(1000));
}

#[tokio::test]
async fn a_closure_that_fails_or_panics_takes_back_its_own_writes_alone() {
    let place = Place::new();
    let results = together::<()>(
        &place.store,
        vec![
            Box::new(|tx| put(tx, "before")),
            Box::new(|tx| put(tx, "failed").and(Err(StoreError::Refused("no".to_owned())))),
            Box::new(|tx| {
                put(tx, "panicked")?;
                std::panic::resume_unwind(Box::new("a panic"))
            }),
            Box::new(|tx| put(tx, "after")),
        ],
    )
    .await;
    let refused = Err(StoreError::Refused("no".to_owned()));
    assert_eq!(results, [Ok(()), refused, Err(StoreError::Panicked), Ok(())]);
    assert!(is_there(&place.store, "before").await && is_there(&place.store, "after").await);
    assert!(!is_there(&place.store, "failed").await && !is_there(&place.store, "panicked").await);
}

#[tokio::test]
async fn a_commit_that_fails_fails_for_all_who_share_it_and_the_store_goes_on() {
    let place = Place::new();
    let results = together::<()>(
        &place.store,
        vec![
            Box::new(|tx| put(tx, "innocent")),
            Box::new(|tx| {
                tx.batch("PRAGMA defer_foreign_keys = ON")?;
                tx.run("INSERT INTO messages VALUES ('no such run', 1, 'user', NULL, 'hi', 0)", [])?;
                Ok(())
            }),
        ],
    )
    .await;
    assert!(results.iter().all(|result| matches!(result, Err(StoreError::Sql(_)))), "{results:?}");
    assert!(!is_there(&place.store, "innocent").await);
    place.store.write(|tx| put(tx, "later")).await.unwrap();
    assert!(is_there(&place.store, "later").await);
}

#[tokio::test]
async fn on_a_full_disk_nothing_changes_and_it_works_again_once_there_is_room() {
    let place = Place::new();
    let pages = place.store.write(|tx| {
        put(tx, "kept")?;
        let pages = tx.row("PRAGMA page_count", [], |row| Ok(row.get::<_, u32>(0)?))?.unwrap();
        tx.row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
        Ok(pages)
    });
    assert!(pages.await.unwrap() > 1);
    let big = || "x".repeat(1 << 20);
    let results = together::<()>(
        &place.store,
        vec![
            Box::new(move |tx| settings::put(tx, "big", &big())),
            Box::new(move |tx| settings::put(tx, "bigger", &big())),
        ],
    )
    .await;
    assert_eq!(results, [Err(StoreError::Full), Err(StoreError::Full)]);
    assert!(is_there(&place.store, "kept").await);
    assert!(!is_there(&place.store, "big").await && !is_there(&place.store, "bigger").await);

    let room = |tx: &Tx<'_>| tx.row("PRAGMA max_page_count = 1000000", [], |_| Ok(())).map(|_| ());
    place.store.write(room).await.unwrap();
    place.store.write(move |tx| settings::put(tx, "big", &big())).await.unwrap();
    assert!(is_there(&place.store, "big").await);
}

#[tokio::test]
async fn while_another_process_holds_the_database_a_write_says_so_and_works_later() {
    let place = Place::new();
    let other = Connection::open(place.db()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(place.store.write(|tx| put(tx, "kept")).await, Err(StoreError::Locked));
    assert!(begun.elapsed() < Duration::from_secs(10));
    other.execute_batch("ROLLBACK").unwrap();
    place.store.write(|tx| put(tx, "kept")).await.unwrap();
}

#[tokio::test]
async fn a_panic_of_a_reader_is_an_error_and_readers_go_on() {
    let place = Place::new();
    let panicked: Result<(), _> = place.store.read(|_| std::panic::resume_unwind(Box::new("a panic"))).await;
    assert_eq!(panicked, Err(StoreError::Panicked));
    assert!(!is_there(&place.store, "anything").await);
}

#[tokio::test]
async fn a_reader_cannot_write_and_sees_one_moment() {
    let place = Place::new();
    let store = place.store.clone();
    let (before, after) = tokio::task::spawn_blocking(move || {
        let conn = crate::open::reader(store.path()).unwrap();
        crate::readers::in_one_moment(&conn, |reader| {
            assert!(reader.batch("DELETE FROM settings").is_err());
            let before = settings::get(reader, "new")?;
            let handle = tokio::runtime::Handle::current();
            handle.block_on(store.write(|tx| put(tx, "new")))?;
            Ok((before, settings::get(reader, "new")?))
        })
    })
    .await
    .unwrap()
    .unwrap();
    assert_eq!((before, after), (None, None));
    assert!(is_there(&place.store, "new").await);
}

#[tokio::test]
async fn closing_commits_what_waits_and_leaves_one_file() {
    let place = Place::new();
    let waiting = place.store.clone();
    let (written, closed) = tokio::join!(waiting.write(|tx| put(tx, "kept")), place.store.clone().close());
    written.unwrap();
    closed.unwrap();
    assert_eq!(waiting.write(|tx| put(tx, "late")).await, Err(StoreError::Closed));
    assert_eq!(waiting.read(|reader| settings::get(reader, "kept")).await, Err(StoreError::Closed));
    assert_eq!(place.files(), ["sayso.db"]);
    let again = Store::open(&place.db()).unwrap();
    assert!(is_there(&again, "kept").await && !is_there(&again, "late").await);
}
