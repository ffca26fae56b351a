//! What somebody with the file in their hands can do to the ledger, and how it is named.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rusqlite::Connection;
use rusqlite::types::Value as Cell;

use super::world::{agent, cancelled, decided, no, run_end, yes};
use crate::conn::{Conn, Tx};
use crate::ledger::{Problem, Verification, verify};

/// A ledger in a file, on a connection that may do anything.
struct Victim {
    conn: Conn,
    _folder: tempfile::TempDir,
}

impl Victim {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let conn = crate::open::writer(&folder.path().join("sayso.db")).unwrap();
        conn.batch("BEGIN").unwrap();
        let tx = Tx::new(&conn);
        let source = agent(&tx).unwrap();
        decided(&tx, source, 1, &yes(1)).unwrap();
        decided(&tx, source, 2, &no(2, "over budget")).unwrap();
        decided(&tx, source, 3, &cancelled(3)).unwrap();
        run_end(&tx).unwrap();
        conn.batch("COMMIT; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").unwrap();
        assert!(verify(&conn).unwrap().ok);
        Self { conn, _folder: folder }
    }

    fn raw(&self) -> &Connection {
        self.conn.raw()
    }

    /// What is found after some statements, which are then taken back. None if they change nothing.
    fn after(&self, tamper: impl FnOnce(&Connection) -> rusqlite::Result<usize>) -> Option<Verification> {
        self.conn.batch("SAVEPOINT tamper").unwrap();
        let changed = tamper(self.raw()).unwrap_or(0);
        let found = (changed > 0).then(|| verify(&self.conn).unwrap());
        self.conn.batch("ROLLBACK TO tamper; RELEASE tamper").unwrap();
        found
    }

    fn check(&self, sql: &str, problem: Problem, entry: u64) {
        let found = self.after(|raw| raw.execute_batch(sql).map(|()| 1));
        let found = found.unwrap();
        assert_eq!((found.ok, found.problem, found.entry), (false, Some(problem), Some(entry)), "{sql}");
    }

    /// Every cell of some tables: table, rowid-like condition, column, value.
    fn cells(&self, tables: &[(&'static str, &[&'static str])]) -> Vec<(String, Cell)> {
        let mut cells = Vec::new();
        for (table, keys) in tables {
            let mut statement = self.raw().prepare(&format!("SELECT * FROM {table}")).unwrap();
            let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let place: Vec<_> = keys
                    .iter()
                    .map(|key| match row.get::<_, Cell>(*key).unwrap() {
                        Cell::Text(text) => format!("{key} = '{text}'"),
                        Cell::Integer(number) => format!("{key} = {number}"),
                        Cell::Null | Cell::Real(_) | Cell::Blob(_) => panic!("{key} is no key"),
                    })
                    .collect();
                for name in &names {
                    let cell: Cell = row.get(name.as_str()).unwrap();
                    let set = format!("UPDATE {table} SET {name} = ?1 WHERE {}", place.join(" AND "));
                    cells.push((set, cell));
                }
            }
        }
        cells
    }
}

const LEDGER: &[(&str, &[&str])] = &[
    ("chains", &["chain_id"]),
    ("ledger", &["chain_id", "seq"]),
    ("ledger_fields", &["chain_id", "seq", "name"]),
];

/// The cell with one bit of one byte changed; text may stop being UTF-8.
fn flipped(cell: &Cell, byte: usize, bit: u32) -> Option<(Vec<u8>, bool)> {
    let (mut bytes, is_text) = match cell {
        Cell::Text(text) => (text.clone().into_bytes(), true),
        Cell::Blob(bytes) => (bytes.clone(), false),
        Cell::Null | Cell::Integer(_) | Cell::Real(_) => return None,
    };
    let index = byte.checked_rem(bytes.len())?;
    bytes[index] ^= 1 << bit;
    Some((bytes, is_text))
}

/// Changes one cell; says how many rows that changed.
fn change(raw: &Connection, set: &str, cell: &Cell, byte: usize, bit: u32) -> rusqlite::Result<usize> {
    match (cell, flipped(cell, byte, bit)) {
        (Cell::Integer(number), _) => raw.execute(set, [number ^ (1 << (byte % 40))]),
        (_, Some((bytes, true))) => raw.execute(&set.replace("?1", "CAST(?1 AS TEXT)"), [bytes]),
        (_, Some((bytes, false))) => raw.execute(set, [bytes]),
        (_, None) => raw.execute(set, ["1"]),
    }
}

#[test]
fn any_changed_byte_in_any_column_of_any_entry_is_found() {
    let victim = Victim::new();
    let cells = victim.cells(LEDGER);
    assert!(cells.len() > 300);
    let mut tried = 0;
    for (set, cell) in &cells {
        for (byte, bit) in [(0, 0), (usize::MAX / 2, 5)] {
            if let Some(found) = victim.after(|raw| change(raw, set, cell, byte, bit)) {
                assert!(!found.ok && found.problem.is_some(), "{set}: {cell:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > cells.len(), "{tried} of {}", cells.len());
    // Any byte, any bit.
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let anything = (0..cells.len(), any::<usize>(), 0u32..8);
    runner
        .run(&anything, |(index, byte, bit)| {
            let (set, cell) = &cells[index];
            if let Some(found) = victim.after(|raw| change(raw, set, cell, byte, bit)) {
                prop_assert!(!found.ok, "{}: {:?} byte {} bit {}", set, cell, byte, bit);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_changed_content_names_its_entry() {
    let victim = Victim::new();
    for seq in 1..=10 {
        for column in ["content = content || '.'", "salt = randomblob(32)", "digest = randomblob(32)"] {
            let sql = format!(
                "UPDATE ledger_fields SET {column} WHERE (seq, name) = (SELECT seq, max(name) FROM ledger_fields WHERE seq = {seq})"
            );
            victim.check(&sql, Problem::Changed, seq);
        }
        for column in
            ["at = at + 1", "v = 2", "hash = randomblob(32)", "prev = randomblob(32)", "run_id = 'x'"]
        {
            victim.check(&format!("UPDATE ledger SET {column} WHERE seq = {seq}"), Problem::Changed, seq);
        }
        victim.check(
            &format!("UPDATE ledger_fields SET salt = NULL, content = NULL WHERE seq = {seq}"),
            Problem::Changed,
            seq,
        );
        victim.check(&format!("DELETE FROM ledger_fields WHERE seq = {seq}"), Problem::Changed, seq);
    }
    let shifted = "UPDATE ledger_fields SET salt = CAST(salt || substr(content, 1, 1) AS BLOB), content = substr(content, 2) \
                   WHERE seq = 1 AND name = 'prompt'";
    victim.check(shifted, Problem::Changed, 1);
}

#[test]
fn a_removed_entry_is_found_and_named() {
    let victim = Victim::new();
    for seq in 1..10 {
        let delete =
            format!("DELETE FROM ledger WHERE seq = {seq}; DELETE FROM ledger_fields WHERE seq = {seq};");
        victim.check(&delete, Problem::Removed, seq);
        // With the rest moved up, and the head with it.
        let closed = format!(
            "{delete}
             UPDATE ledger SET seq = -seq WHERE seq > {seq}; UPDATE ledger SET seq = -seq - 1 WHERE seq < 0;
             UPDATE ledger_fields SET seq = -seq WHERE seq > {seq}; UPDATE ledger_fields SET seq = -seq - 1 WHERE seq < 0;
             UPDATE chains SET head_seq = head_seq - 1;"
        );
        victim.check(&closed, Problem::Removed, seq);
    }
}

#[test]
fn a_ledger_that_was_cut_off_is_found_and_named() {
    let victim = Victim::new();
    for seq in 1..=10 {
        let cut =
            format!("DELETE FROM ledger WHERE seq >= {seq}; DELETE FROM ledger_fields WHERE seq >= {seq};");
        victim.check(&cut, Problem::Truncated, seq);
    }
}

#[test]
fn an_inserted_entry_is_found_and_named() {
    let victim = Victim::new();
    let forge = |seq: u64, prev: &str| {
        format!(
            "INSERT INTO ledger SELECT chain_id, {seq}, 1, 'run_end', 5, NULL, NULL, {prev}, randomblob(32) FROM chains;"
        )
    };
    for seq in 1..=10 {
        let shift = format!(
            "UPDATE ledger SET seq = -seq WHERE seq >= {seq}; UPDATE ledger SET seq = 1 - seq WHERE seq < 0;
             UPDATE ledger_fields SET seq = -seq WHERE seq >= {seq}; UPDATE ledger_fields SET seq = 1 - seq WHERE seq < 0;
             UPDATE chains SET head_seq = head_seq + 1;"
        );
        let prev = format!("(SELECT prev FROM ledger WHERE seq = {})", seq + 1);
        victim.check(&format!("{shift}{}", forge(seq, &prev)), Problem::Inserted, seq);
        victim.check(&format!("{shift}{}", forge(seq, "randomblob(32)")), Problem::Inserted, seq);
    }
    victim.check(&forge(11, "(SELECT head_hash FROM chains)"), Problem::Inserted, 11);
    victim.check(&forge(99, "(SELECT head_hash FROM chains)"), Problem::Inserted, 99);
    let stray = "INSERT INTO ledger_fields SELECT chain_id, 50, 'reason', randomblob(32), randomblob(32), 'x' FROM chains";
    victim.check(stray, Problem::Inserted, 50);
}

/// With a right hash of its own, as somebody who knows the format would write it.
#[test]
fn an_inserted_entry_that_is_sealed_is_found_and_named() {
    let victim = Victim::new();
    for seq in 1..=10i64 {
        let found = victim.after(|raw| {
            raw.execute_batch(&format!(
                "UPDATE ledger SET seq = -seq WHERE seq >= {seq}; UPDATE ledger SET seq = 1 - seq WHERE seq < 0;
                 UPDATE ledger_fields SET seq = -seq WHERE seq >= {seq}; UPDATE ledger_fields SET seq = 1 - seq WHERE seq < 0;
                 UPDATE chains SET head_seq = head_seq + 1;"
            ))?;
            let (chain, prev): (String, Vec<u8>) = raw.query_row(
                "SELECT chain_id, prev FROM ledger WHERE seq = ?1",
                [seq + 1],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let hex: String = prev.iter().map(|byte| format!("{byte:02x}")).collect();
            let json = format!(
                r#"{{"at":5,"chain":"{chain}","fields":{{}},"prev":"{hex}","seq":{seq},"type":"run_end","v":1}}"#
            );
            raw.execute(
                "INSERT INTO ledger VALUES (?1, ?2, 1, 'run_end', 5, NULL, NULL, ?3, ?4)",
                rusqlite::params![chain, seq, prev, sayso_domain::sha256(json.as_bytes())],
            )
        });
        let found = found.unwrap();
        assert_eq!((found.problem, found.entry), (Some(Problem::Inserted), Some(seq as u64)));
    }
}

#[test]
fn swapped_entries_are_found_and_the_first_is_named() {
    let victim = Victim::new();
    for (first, second) in [(1, 2), (2, 9), (4, 5), (9, 10)] {
        let swap = |table: &str| {
            format!(
                "UPDATE {table} SET seq = -1 WHERE seq = {first}; UPDATE {table} SET seq = {first} WHERE seq = {second};
                 UPDATE {table} SET seq = {second} WHERE seq = -1;"
            )
        };
        let both = format!("{}{}", swap("ledger"), swap("ledger_fields"));
        let found = victim.after(|raw| raw.execute_batch(&both).map(|()| 1)).unwrap();
        assert_eq!((found.ok, found.entry), (false, Some(first)), "{found:?}");
        let found = victim.after(|raw| raw.execute_batch(&swap("ledger_fields")).map(|()| 1)).unwrap();
        assert_eq!((found.problem, found.entry), (Some(Problem::Changed), Some(first)));
    }
}

#[test]
fn what_history_shows_cannot_differ_from_the_ledger() {
    let victim = Victim::new();
    // Of what is shown, the columns that only help to find rows or to notify are left out.
    for (table, column) in [
        ("settlements", "outcome = 'approved'"),
        ("settlements", "reason = 'because'"),
        ("settlements", "reason = NULL"),
        ("settlements", "answer = json_set(answer, '$.data', 1)"),
        ("settlements", "decided_by = 'rule'"),
        ("settlements", "surface = 'cli'"),
        ("settlements", "at = at + 1"),
        ("settlements", "edited_arguments = '{}'"),
        ("requests", "shown = replace(shown, 'make', 'fake')"),
        ("requests", "digest = randomblob(32)"),
        ("requests", "state = 'pending'"),
        ("requests", "received_at = received_at + 1"),
        ("requests", "run = NULL"),
        ("requests", "turn = 7"),
        ("requests", "purpose = 'tool'"),
        ("sources", "kind = 'sender'"),
        ("decisions", "at = at - 1"),
        ("decisions", "outcome = 'approved'"),
        ("decisions", "source = 'another'"),
        ("decisions", "kind = 'question'"),
        ("decisions", "decided_by = 'rule'"),
        ("decisions", "surface = NULL"),
        ("decisions", "tool = 'reader'"),
        ("decisions", "risk = 'high'"),
    ] {
        let place = match table {
            "settlements" | "decisions" => format!("WHERE request = '{}'", super::world::key(2)),
            "requests" => format!("WHERE key = '{}'", super::world::key(2)),
            _ => String::new(),
        };
        let entry = if table == "sources" { 1 } else { 4 };
        victim.check(&format!("UPDATE {table} SET {column} {place}"), Problem::Changed, entry);
    }
    for table in ["settlements", "decisions"] {
        let sql = format!("DELETE FROM {table} WHERE request = '{}'", super::world::key(2));
        victim.check(&sql, Problem::Removed, 4);
    }
    let invented = "INSERT INTO requests SELECT 'other', source, 'other', run, turn, idx, purpose, kind, tool, shown, digest,
                        choices, state, cause, received_at, expires_at, snoozed_until FROM requests LIMIT 1;
                    INSERT INTO settlements SELECT 'other', outcome, cause, answer, reason, edited_arguments, decided_by,
                        surface, at FROM settlements LIMIT 1";
    let found = victim.after(|raw| raw.execute_batch(invented).map(|()| 1)).unwrap();
    assert_eq!(found.problem, Some(Problem::Inserted));
    let listed = "INSERT INTO decisions (request, at, latest, waited, outcome, source, kind, decided_by)
                  SELECT 'other', at, latest, waited, outcome, source, kind, decided_by FROM decisions LIMIT 1";
    let found = victim.after(|raw| raw.execute_batch(listed).map(|()| 1)).unwrap();
    assert_eq!(found.problem, Some(Problem::Inserted));
}

#[test]
fn a_ledger_without_its_head_or_with_another_chains_entries_is_found() {
    let victim = Victim::new();
    for sql in [
        "DELETE FROM chains",
        "UPDATE chains SET head_seq = 9",
        "UPDATE chains SET head_hash = randomblob(32)",
        "INSERT INTO chains VALUES ('other', 0, randomblob(32))",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'other'",
        "DELETE FROM ledger; DELETE FROM ledger_fields; DELETE FROM chains",
    ] {
        let found = victim.after(|raw| raw.execute_batch(sql).map(|()| 1)).unwrap();
        assert!(!found.ok, "{sql}");
    }
}
