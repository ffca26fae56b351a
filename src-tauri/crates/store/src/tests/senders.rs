//! Senders' tables.

use sayso_domain::{Kind, Request, Shown, SourceId};

use super::world::*;
use crate::requests::{self, NewRequest, Purpose};
use crate::senders::{self, SenderRow};
use crate::{StoreError, Tx, deliveries, request_events, settlements, sources};

fn sender(tx: &Tx<'_>, n: u64, callback_url: Option<&str>) -> Result<SourceId, StoreError> {
    let source = sources::ensure(tx, "sender", &format!("bot {n}"), at(0), source_id(10 + n))?;
    let row = SenderRow {
        source,
        name: format!("bot {n}"),
        token_hash: [u8::try_from(n).unwrap(); 32],
        initials: "B".to_owned(),
        colour: "blue".to_owned(),
        max_open: 10,
        per_minute: 10,
        may_edit: false,
        own_choices: false,
        callback_url: callback_url.map(str::to_owned),
        signing_key: callback_url.map(|_| "keyring:bot".to_owned()),
        created_at: at(0),
        token_at: at(0),
        last_seen_at: None,
        revoked_at: None,
    };
    senders::put(tx, &row)?;
    Ok(source)
}

fn ask(tx: &Tx<'_>, source: SourceId, n: u64) -> Result<(), StoreError> {
    let request = Request::new(key(n).to_string(), Kind::Approval, "Go?");
    let shown = Shown::new(request, "bot");
    let new = NewRequest {
        key: key(n),
        source,
        run: None,
        slot: None,
        purpose: Purpose::Tool,
        shown,
        received_at: at(1),
    };
    requests::insert(tx, &new)
}

#[tokio::test]
async fn an_answer_that_is_fetched_is_never_due_and_one_with_a_callback_is() {
    let place = Place::new();
    let due = place.store.write(|tx| {
        for (n, callback) in [(1, None), (2, Some("https://example.com/hook"))] {
            let source = sender(tx, n, callback)?;
            ask(tx, source, n)?;
            assert!(settlements::settle(tx, key(n), &yes(n), sayso_domain::DecidedBy::Person, None)?);
            deliveries::insert(tx, key(n), &yes(n).delivered(), at(2))?;
            assert_eq!(deliveries::waiting_of_source(tx, source)?, [key(n)]);
        }
        assert_eq!(deliveries::next_due(tx, at(1))?, Some(at(2)));
        let due = deliveries::due(tx, at(1_000_000))?;
        assert!(deliveries::delivered(tx, key(2), at(3))?);
        assert_eq!(deliveries::next_due(tx, at(1))?, None);
        assert!(deliveries::delivered(tx, key(1), at(3))?);
        Ok(due)
    });
    let due: Vec<_> = due.await.unwrap().into_iter().map(|row| row.request).collect();
    assert_eq!(due, [key(2)]);
}

#[tokio::test]
async fn events_are_numbered_per_source_and_a_runs_requests_have_none() {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let (one, other) = (sender(tx, 1, None)?, sender(tx, 2, None)?);
            ask(tx, one, 1)?;
            ask(tx, other, 2)?;
            ask(tx, one, 3)?;
            let agent = agent(tx)?;
            requests::insert(tx, &request(agent, 4))?;
            let seqs = |source, after| -> Result<Vec<_>, StoreError> {
                Ok(request_events::after(tx, source, after, 100)?.into_iter().map(|row| row.seq).collect())
            };
            assert_eq!((seqs(one, 0)?, seqs(other, 0)?, seqs(agent, 0)?), (vec![1, 2], vec![1], vec![]));
            assert_eq!((seqs(one, 1)?, request_events::newest(tx, one)?), (vec![2], 2));
            Ok(())
        })
        .await
        .unwrap();
}

/// However many wait, what a sender's call reads is found by an index.
#[tokio::test]
async fn no_call_of_a_sender_reads_through_all_requests() {
    let place = Place::new();
    let plans = place.store.read(|reader| {
        let mut plans = Vec::new();
        for sql in [
            "SELECT * FROM requests WHERE source = 'a' AND id = 'b' AND run IS NULL",
            "SELECT count(*) FROM requests WHERE source = 'a' AND state = 'pending' AND run IS NULL",
            "SELECT coalesce(max(seq), 0) FROM request_events WHERE source = 'a'",
            "SELECT seq FROM request_events WHERE source = 'a' AND seq > 5 ORDER BY seq LIMIT 5",
            "SELECT request FROM deliveries WHERE state = 'waiting' AND next_at <= 5 ORDER BY next_at, request",
            "SELECT * FROM senders WHERE token_hash = x'00'",
        ] {
            plans.extend(reader.rows(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| {
                Ok((sql, row.get::<_, String>("detail")?))
            })?);
        }
        Ok(plans)
    });
    for (sql, plan) in plans.await.unwrap() {
        assert!(!plan.starts_with("SCAN"), "{sql}: {plan}");
    }
}

#[tokio::test]
async fn what_is_held_is_due_to_nobody_until_it_is_claimed() {
    let place = Place::new();
    let done = place.store.write(|tx| {
        let source = sender(tx, 1, Some("https://example.com/hook"))?;
        ask(tx, source, 1)?;
        assert!(settlements::settle(tx, key(1), &yes(1), sayso_domain::DecidedBy::Person, None)?);
        deliveries::insert_held(tx, key(1), &yes(1).delivered(), at(5))?;
        for seconds in [4, 5, 1_000_000] {
            assert!(deliveries::due(tx, at(seconds))?.is_empty(), "not claimed");
            assert!(deliveries::due_of_source(tx, source, at(seconds))?.is_empty(), "not claimed");
        }
        assert_eq!(deliveries::next_due(tx, at(1))?, Some(at(5)));
        assert!(deliveries::claim_due(tx, at(4))?.is_empty());
        assert_eq!(deliveries::claim_due(tx, at(5))?, [key(1)]);
        assert!(!deliveries::revoke(tx, key(1))?, "it can leave, so nobody takes it back");
        assert_eq!(deliveries::due_of_source(tx, source, at(5))?.len(), 1);
        Ok(())
    });
    done.await.unwrap();
}
