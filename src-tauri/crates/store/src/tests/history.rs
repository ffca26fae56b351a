use super::world::{Place, agent, at, cancelled, decided, key, no, run_end, run_id, yes};
use crate::history::{self, HistoryCursor, HistoryQuery};
use crate::ledger;

async fn filled() -> Place {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            for n in 1..=30 {
                let settlement = match n % 3 {
                    0 => no(n, if n == 9 { "over 100% of the_budget" } else { "no" }),
                    1 => yes(n),
                    _ => cancelled(n),
                };
                decided(tx, source, n, &settlement)?;
            }
            run_end(tx)
        })
        .await
        .unwrap();
    place
}

async fn keys(place: &Place, query: HistoryQuery) -> Vec<u64> {
    let rows = place.store.read(move |reader| history::list(reader, &query)).await.unwrap();
    rows.iter().map(|row| row.request.key.uuid().as_u64_pair().1 & 0xffff).collect()
}

#[tokio::test]
async fn filters_combine_and_the_newest_is_first() {
    let place = filled().await;
    let all = HistoryQuery::default();
    assert_eq!(keys(&place, all.clone()).await, (1..=30).rev().collect::<Vec<_>>());
    let outcome = |name: &str| HistoryQuery { outcome: Some(name.to_owned()), ..all.clone() };
    assert_eq!(keys(&place, outcome("declined")).await.len(), 10);
    let recent = HistoryQuery { since: Some(at(125)), ..outcome("declined") };
    assert_eq!(keys(&place, recent).await, [30, 27]);
    assert_eq!(keys(&place, HistoryQuery { run: Some(run_id(2)), ..all.clone() }).await, Vec::<u64>::new());
    assert_eq!(
        keys(&place, HistoryQuery { source: Some("deploy-bot".to_owned()), ..all.clone() }).await.len(),
        30
    );
    assert!(keys(&place, HistoryQuery { source: Some("deploy".to_owned()), ..all.clone() }).await.is_empty());
}

#[tokio::test]
async fn text_is_found_as_it_is_in_prompt_arguments_and_reason() {
    let place = filled().await;
    let find =
        |text: &str| keys(&place, HistoryQuery { text: Some(text.to_owned()), ..HistoryQuery::default() });
    assert_eq!(find("command 17").await, [17]);
    assert_eq!(find("\"make step21\"").await, [21]);
    assert_eq!(find("100% OF the_").await, [9]);
    assert_eq!(find("%").await, [9]);
    assert_eq!(find("_").await, [9]);
    assert!(find("\\").await.is_empty());
    assert!(find("'; DROP TABLE requests --").await.is_empty());
    assert_eq!(find("").await.len(), 30);
}

#[tokio::test]
async fn pages_hold_every_decision_once_while_new_ones_come_in() {
    let place = filled().await;
    let mut found = Vec::new();
    let mut after = None;
    let mut next = 31;
    loop {
        let query = HistoryQuery { after, limit: Some(7), ..HistoryQuery::default() };
        let page = place.store.read(move |reader| history::list(reader, &query)).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.cursor.to_string().parse::<HistoryCursor>().unwrap());
        found.extend(page.iter().map(|row| row.request.key));
        place
            .store
            .write(move |tx| {
                let source =
                    crate::sources::ensure(tx, "agent", "deploy-bot", at(0), super::world::source_id(9))?;
                decided(tx, source, next, &yes(next))
            })
            .await
            .unwrap();
        next += 1;
    }
    assert_eq!(found, (1..=30).rev().map(key).collect::<Vec<_>>());
}

#[test]
fn a_cursor_that_is_none_is_refused() {
    for text in
        ["", "-", "é-", "12-", "1.5", "99999999999999999999", "x-0198c0de-0000-7000-8000-000000000001"]
    {
        assert!(text.parse::<HistoryCursor>().is_err(), "{text}");
    }
    assert_eq!("12".parse::<HistoryCursor>().unwrap().to_string(), "12");
}

#[tokio::test]
async fn a_decision_comes_with_what_came_of_it() {
    let place = filled().await;
    let read =
        place.store.read(|reader| Ok((history::get(reader, key(9))?, ledger::of_request(reader, key(9))?)));
    let (row, entries) = read.await.unwrap();
    assert_eq!(row.unwrap().settled.reason.as_deref(), Some("over 100% of the_budget"));
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["decision", "delivery", "effect", "run_end"]);
    assert_eq!(entries[0].field("reason"), Some("over 100% of the_budget"));
    assert_eq!(entries[0].field("answer"), Some(format!(r#"{{"id":"{}","ok":false}}"#, key(9)).as_str()));
    assert_eq!(entries[1].field("decision"), Some(entries[0].seq.to_string().as_str()));
    assert!(place.store.read(|reader| history::get(reader, key(99))).await.unwrap().is_none());
}
