//! Backups, restoring, pruning.

use std::fs;

use sayso_domain::run::{Run, Status};

use super::world::{Place, agent, at, decided, key, no, run_id, yes};
use crate::ledger::{self, EntryType};
use crate::prune::{self, DAY};
use crate::{OpenError, Progress, Store, StoreError, history, runs, settings};

async fn filled() -> Place {
    let place = Place::new();
    let write = place.store.write(|tx| {
        let source = agent(tx)?;
        decided(tx, source, 1, &yes(1))?;
        decided(tx, source, 2, &no(2, "over budget"))?;
        let mut run = Run::new(run_id(1), 10);
        (run.turn, run.status) = (1, Status::Done);
        runs::save(tx, &run, at(250))?;
        super::world::run_end(tx)
    });
    write.await.unwrap();
    place
}

async fn verified(place: &Place) -> ledger::Verification {
    place.store.read(|reader| ledger::verify(reader)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_while_writing_is_whole_and_of_one_moment() {
    let place = filled().await;
    let store = place.store.clone();
    let writes = async move {
        for value in 0..200u32 {
            let both = move |tx: &crate::Tx<'_>| {
                settings::put(tx, "one", &value.to_string())?;
                settings::put(tx, &format!("filling{}", value % 40), &"x".repeat(20_000))?;
                settings::put(tx, "two", &value.to_string())
            };
            store.write(both).await.unwrap();
        }
    };
    let folder = place.folder.path().join("backups");
    let backups = async {
        for number in 0..10 {
            let path = folder.join(format!("{number}.db"));
            place.store.back_up(&path, Progress::default()).await.unwrap();
            crate::check_backup(&path).unwrap();
            let copy = Store::open_copy(&path).unwrap();
            let read = |name: &'static str| copy.read(move |reader| settings::get(reader, name)).unwrap();
            assert_eq!(read("one"), read("two"));
        }
    };
    tokio::join!(writes, backups);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 10, "{names:?}");
}

#[tokio::test]
async fn a_backup_overwrites_nothing_and_one_that_is_stopped_leaves_nothing() {
    let place = filled().await;
    let path = place.folder.path().join("kept.db");
    fs::write(&path, "mine").unwrap();
    let refused = place.store.back_up(&path, Progress::default()).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let stopped = Progress::default();
    stopped.stop();
    let folder = place.folder.path().join("stopped");
    let refused = place.store.back_up(&folder.join("a.db"), stopped).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[tokio::test]
async fn a_restore_keeps_what_was_there_and_a_crash_leaves_one_whole_database() {
    let place = filled().await;
    let backup = place.folder.path().join("backups/a.db");
    place.store.back_up(&backup, Progress::default()).await.unwrap();
    place.store.write(|tx| settings::put(tx, "later", "1")).await.unwrap();
    crate::prepare_restore(&backup, &place.db()).unwrap();
    // Until it is opened anew, nothing has changed.
    assert_eq!(
        place.store.read(|reader| settings::get(reader, "later")).await.unwrap().as_deref(),
        Some("1")
    );
    // A host that was killed right there: its log is not in the file.
    let killed = tempfile::tempdir().unwrap();
    for file in fs::read_dir(place.folder.path()).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), killed.path().join(file.file_name())).unwrap();
        }
    }
    let store = Store::open(&killed.path().join("sayso.db")).unwrap();
    let read = store.read(|reader| {
        Ok((settings::get(reader, "later")?, crate::restored(reader)?, ledger::verify(reader)?.ok))
    });
    assert_eq!(read.await.unwrap(), (None, true, true));
    let kept: Vec<_> = fs::read_dir(killed.path().join("backups")).unwrap().collect();
    let copy = Store::open_copy(&kept[0].as_ref().unwrap().path()).unwrap();
    assert_eq!(copy.read(|reader| settings::get(reader, "later")).unwrap().as_deref(), Some("1"));
    store.write(crate::restored_is_seen_to).await.unwrap();
    assert!(!store.read(|reader| crate::restored(reader)).await.unwrap());
}

#[tokio::test]
async fn a_restore_cut_off_before_its_last_step_is_done_at_the_next_opening() {
    let place = filled().await;
    let backup = place.folder.path().join("backups/a.db");
    place.store.back_up(&backup, Progress::default()).await.unwrap();
    crate::prepare_restore(&backup, &place.db()).unwrap();
    let db = place.db();
    place.store.clone().close().await.unwrap();
    // As far as it can get: the present one is gone, the new one not there yet.
    fs::remove_file(&db).unwrap();
    let store = Store::open(&db).unwrap();
    assert!(store.read(|reader| ledger::verify(reader)).await.unwrap().ok);
    assert!(store.read(|reader| history::get(reader, key(1))).await.unwrap().is_some());
}

#[tokio::test]
async fn a_damaged_foreign_or_newer_file_is_not_restored() {
    let place = filled().await;
    let backup = place.folder.path().join("backups/a.db");
    place.store.back_up(&backup, Progress::default()).await.unwrap();
    let bytes = fs::read(&backup).unwrap();
    let at = place.folder.path().join("bad.db");
    let check = |what: &str| {
        let error = crate::prepare_restore(&at, &place.db()).unwrap_err();
        assert!(!place.folder.path().join("sayso.restore.db").exists(), "{what}: {error}");
        error
    };
    fs::write(&at, "no database").unwrap();
    assert!(matches!(check("text"), OpenError::Damaged { .. }));
    let mut broken = bytes.clone();
    let middle = broken.len() / 2;
    broken[middle..middle + 4096].fill(0xff);
    fs::write(&at, &broken).unwrap();
    assert!(matches!(check("a broken page"), OpenError::Damaged { .. }));
    fs::write(&at, &bytes).unwrap();
    let raw = rusqlite::Connection::open(&at).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(check("newer"), OpenError::Newer { found: 99, .. }));
    raw.pragma_update(None, "user_version", 1).unwrap();
    raw.execute("UPDATE chains SET head_seq = 3", []).unwrap();
    assert!(matches!(check("a ledger without its end"), OpenError::Damaged { .. }));
    fs::remove_file(&at).unwrap();
    assert!(matches!(check("nothing"), OpenError::Io { .. }));
}

#[tokio::test]
async fn what_is_pruned_is_gone_whole_and_the_chain_still_verifies() {
    let place = filled().await;
    let before = verified(&place).await;
    let midnight = prune::midnight(at(0)).plus_millis(DAY);
    let days = place.store.read(move |reader| prune::days(reader, midnight)).await.unwrap();
    assert_eq!(days, [(midnight, 2)]);
    let pruned = place.store.write(move |tx| prune::prune(tx, midnight, midnight)).await.unwrap();
    assert_eq!((pruned.decisions, pruned.runs, pruned.entries), (2, 1, before.entries));
    let found = verified(&place).await;
    assert!(found.ok && found.entries == 1, "{found:?}");
    let read = place.store.read(|reader| {
        Ok((history::get(reader, key(1))?, runs::get(reader, run_id(1))?, prune::count(reader)?))
    });
    assert_eq!(read.await.unwrap(), (None, None, (0, None)));
    // A second prune has nothing to do; new decisions go on from there.
    let nothing = place.store.write(move |tx| prune::prune(tx, midnight, midnight)).await.unwrap();
    assert_eq!(nothing, prune::Pruned::default());
    // The head from before the prune is the one that it names.
    let noted = place
        .store
        .read(move |reader| ledger::verify_up_to(reader, before.head, &Progress::default()))
        .await
        .unwrap();
    assert!(noted.ok);
    // What says that it was pruned cannot be taken for anything else.
    let conn = crate::conn::Conn::new(rusqlite::Connection::open(place.db()).unwrap());
    conn.batch("PRAGMA foreign_keys = OFF").unwrap();
    for sql in [
        "UPDATE ledger_fields SET content = '6' WHERE name = 'last'",
        "DELETE FROM ledger_fields; DELETE FROM ledger",
        "UPDATE ledger_fields SET salt = NULL, content = NULL WHERE name = 'summary'",
    ] {
        conn.batch(&format!("BEGIN; {sql}")).unwrap();
        assert!(!ledger::verify(&conn).unwrap().ok, "{sql}");
        conn.batch("ROLLBACK").unwrap();
        assert!(ledger::verify(&conn).unwrap().ok);
    }
}

#[tokio::test]
async fn prunes_follow_on_prunes_and_leave_what_is_still_needed() {
    let place = Place::new();
    let day = |n: i64| prune::midnight(at(0)).plus_millis(n * DAY);
    let write = place.store.write(move |tx| {
        let source = agent(tx)?;
        for n in 1..=4u64 {
            let mut settlement = yes(n);
            settlement.at = day(n as i64).plus_millis(1000);
            super::world::decided_at(tx, source, n, &settlement, n != 2)?;
        }
        let mut run = Run::new(run_id(1), 10);
        (run.turn, run.status) = (1, Status::Done);
        runs::save(tx, &run, day(1))
    });
    write.await.unwrap();
    let mut left = Vec::new();
    for n in 2..=6 {
        let (before, now) = (day(n), day(n + 10));
        place.store.write(move |tx| prune::prune(tx, before, now)).await.unwrap();
        let found = verified(&place).await;
        assert!(found.ok, "day {n}: {found:?}");
        left.push(place.store.read(|reader| Ok(prune::count(reader)?.0)).await.unwrap());
    }
    // The second was never taken by whoever asked, and stays.
    assert_eq!(left, [3, 3, 2, 1, 1]);
    // Prune entries go with age as well; what holds the chain together stays.
    place
        .store
        .write(move |tx| {
            let mut late = yes(9);
            late.at = day(30);
            let source = crate::requests::get(tx, key(2))?.unwrap().source;
            super::world::decided_at(tx, source, 9, &late, true)
        })
        .await
        .unwrap();
    place.store.write(move |tx| prune::prune(tx, day(40), day(50))).await.unwrap();
    let entries = place.store.read(|reader| {
        let conn: &crate::Conn = reader;
        conn.rows("SELECT type FROM ledger ORDER BY seq", [], |row| Ok(row.get::<_, String>(0)?))
    });
    let entries = entries.await.unwrap();
    let prunes = entries.iter().filter(|kind| *kind == EntryType::Prune.as_str()).count();
    assert_eq!(prunes, 2, "{entries:?}");
    assert!(verified(&place).await.ok);
}
