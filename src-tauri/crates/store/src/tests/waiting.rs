use sayso_domain::{DecidedBy, RequestKey};

use super::world::{Place, agent, at, key, request, yes};
use crate::waiting::{self, WaitingPlace};
use crate::{requests, settlements};

/// As many requests, some with deadlines, several of one moment.
async fn filled(count: u64) -> Place {
    let place = Place::new();
    let write = place.store.write(move |tx| {
        let source = agent(tx)?;
        for n in 0..count {
            let mut new = request(source, n);
            new.received_at = at((n / 3) as i64);
            new.shown.request.expires_at = n.is_multiple_of(4).then(|| at(1000 - (n / 8) as i64));
            requests::insert(tx, &new)?;
        }
        Ok(())
    });
    write.await.unwrap();
    place
}

async fn pages(place: &Place, limit: u32) -> Vec<RequestKey> {
    let mut keys = Vec::new();
    let mut after: Option<WaitingPlace> = None;
    loop {
        let page = place.store.read(move |reader| waiting::page(reader, after, limit)).await.unwrap();
        let Some(last) = page.last() else { return keys };
        after = Some(last.place.to_string().parse().unwrap());
        keys.extend(page.iter().map(|row| row.place.key));
    }
}

#[tokio::test]
async fn pages_of_any_size_make_the_whole_list_in_its_order() {
    let place = filled(50).await;
    let whole = pages(&place, 1000).await;
    assert_eq!(whole.len(), 50);
    let read = place.store.read(move |reader| waiting::page(reader, None, 1000)).await.unwrap();
    let order: Vec<_> = read
        .iter()
        .map(|row| {
            (row.place.expires_at.is_none(), row.place.expires_at, row.place.received_at, row.place.key)
        })
        .collect();
    assert!(order.is_sorted(), "expiring soonest first, then oldest");
    for limit in [1, 2, 7, 50] {
        assert_eq!(pages(&place, limit).await, whole, "{limit} a page");
    }
}

#[tokio::test]
async fn a_page_stays_in_its_place_while_requests_come_and_go() {
    let place = filled(12).await;
    let whole = pages(&place, 1000).await;
    let first = place.store.read(move |reader| waiting::page(reader, None, 4)).await.unwrap();
    let last = first[3].place;
    let gone = whole[1];
    let write = place.store.write(move |tx| {
        let settlement = sayso_domain::Settlement { ..yes(1) };
        assert!(settlements::settle(tx, gone, &settlement, DecidedBy::Person, None)?);
        assert!(settlements::settle(tx, last.key, &settlement, DecidedBy::Person, None)?);
        Ok(())
    });
    write.await.unwrap();
    let second = place.store.read(move |reader| waiting::page(reader, Some(last), 100)).await.unwrap();
    let second: Vec<_> = second.iter().map(|row| row.place.key).collect();
    assert_eq!(second, whole[4..]);
    let kept = whole[0];
    let both = place.store.read(move |reader| waiting::of_keys(reader, &[gone, kept])).await.unwrap();
    assert_eq!(both.iter().map(|row| row.place.key).collect::<Vec<_>>(), [kept]);
}

/// However long the prompts and whatever the place, so that the last page costs what the first does.
#[tokio::test]
async fn a_page_is_read_from_the_index_alone() {
    let place = filled(3).await;
    let plan = place.store.read(|reader| {
        let plan = |after: &str| {
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT key, expires_at, received_at, snoozed_until FROM requests
                 WHERE state = 'pending' {after}
                 ORDER BY coalesce(expires_at, 9223372036854775807), received_at, key LIMIT 10"
            );
            reader.rows(&sql, [], |row| Ok(row.get::<_, String>("detail")?))
        };
        Ok([
            plan("")?,
            plan("AND (coalesce(expires_at, 9223372036854775807), received_at, key) > (1, 2, '3')")?,
        ])
    });
    for steps in plan.await.unwrap() {
        assert_eq!(steps.len(), 1, "nothing is sorted: {steps:?}");
        assert!(steps[0].contains("COVERING INDEX requests_waiting"), "{steps:?}");
    }
}

#[test]
fn a_place_reads_back_and_other_texts_are_none() {
    for expires_at in [None, Some(at(7))] {
        let place = WaitingPlace { expires_at, received_at: at(3), key: key(1) };
        assert_eq!(place.to_string().parse(), Ok(place));
    }
    for text in ["", ".", "..", "1.2", "1.2.x", "x.2.0198c0de-0000-7000-8000-000000000001", ".2.3.4"] {
        assert!(text.parse::<WaitingPlace>().is_err(), "{text}");
    }
}
