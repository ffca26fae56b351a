use sayso_domain::{
    Answer, Cause, DecidedBy, Digest, Kind, Outcome, Request, RequestKey, RequestState, Surface,
};
use sayso_inbox::{DecideError, InboxEvent, Verdict};
use sayso_store::{requests, settlements, verdicts};
use serde_json::{Value, json};
use uuid::Uuid;

use super::world::{World, approval, at, verdict, with_data};

#[tokio::test]
async fn an_approval_is_one_commit_with_its_verdict_ledger_entry_and_delivery() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    world.wait_until(60);
    let decided = world.inbox.decide(key, world.yes(key, None).await).await.unwrap();
    assert_eq!((decided.settlement.outcome, decided.settlement.at), (Outcome::Approved, at(60)));
    assert_eq!((decided.by, decided.surface), (DecidedBy::Person, Some(Surface::Window)));
    assert_eq!(decided.run, Some(world.run));
    assert_eq!(world.event(), Some(InboxEvent::Settled(key, Outcome::Approved)));
    assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Approved));
    let verdicts = world.store.read(move |reader| verdicts::of_request(reader, key)).await.unwrap();
    assert_eq!(verdicts.len(), 1);
    assert_eq!(world.entries(key).await.len(), 1);
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!((due.len(), due[0].key, due[0].answer.is_ok()), (1, key, true));
}

#[tokio::test]
async fn contract_09_a_reason_is_in_history_and_leaves_with_nobody() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    let decided = world.inbox.decide(key, world.no(key, "over budget").await).await.unwrap();
    assert_eq!(decided.settlement.answer.reason(), Some("over budget"));
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!(
        serde_json::to_value(&due[0].answer).unwrap(),
        json!({"id": world.id(key).await, "ok": false, "reason": "declined"})
    );
    assert_eq!(due[0].class.map(|class| class.as_str()), Some("declined"));
    let inbox = world.inbox.clone();
    assert!(world.store.write(move |tx| inbox.delivered_in(tx, key)).await.unwrap());
    let entries = world.entries(key).await;
    assert_eq!(entries[0].field("reason"), Some("over budget"));
    assert!(
        entries
            .iter()
            .skip(1)
            .flat_map(|entry| &entry.fields)
            .all(|(_, content)| { !content.as_deref().unwrap_or_default().contains("over budget") })
    );
    let settled = world.store.read(move |reader| settlements::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(settled.reason.as_deref(), Some("over budget"));
}

#[tokio::test]
async fn contract_12_an_answer_for_another_id_or_digest_changes_nothing() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    let wrong_id = verdict(Answer::ok("other"));
    assert_eq!(world.inbox.decide(key, wrong_id).await, Err(DecideError::WrongId));
    let other = Verdict { digest: Some(Digest::of("{}")), ..world.yes(key, None).await };
    assert_eq!(world.inbox.decide(key, other).await, Err(DecideError::WrongDigest));
    assert_eq!((world.state(key).await, world.entry_count().await), (RequestState::Pending, 0));
    assert_eq!(world.event(), None);

    let stored = world.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap();
    let right = Verdict { digest: Some(stored.digest), ..world.yes(key, None).await };
    world.inbox.decide(key, right).await.unwrap();
}

#[tokio::test]
async fn contract_12_nobody_edits_what_was_not_declared_editable() {
    let mut world = World::new().await;
    let own = world.ask_gate(0).await;
    let sent = world.ask(approval("r")).await;
    for key in [own, sent] {
        for arguments in [json!({"command": "rm -rf /"}), json!({"command": "make"})] {
            let edited = world.edited(key, &arguments.to_string()).await;
            assert_eq!(world.inbox.decide(key, edited).await, Err(DecideError::NotEditable));
        }
        assert_eq!((world.state(key).await, world.entry_count().await), (RequestState::Pending, 0));
    }
}

#[tokio::test]
async fn whoever_comes_second_is_told_who_was_first_where_and_when() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    world.wait_until(30);
    let first = Verdict { surface: Surface::Cli, ..world.no(key, "no").await };
    world.inbox.decide(key, first).await.unwrap();
    let error = world.inbox.decide(key, world.yes(key, None).await).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "This request was already declined by a person on the command line at 2026-01-01T12:00:30.000Z. Nothing was \
         changed."
    );
    let DecideError::AlreadyDecided(decided) = error else { panic!("{error}") };
    assert_eq!((decided.surface, decided.settlement.at), (Some(Surface::Cli), at(30)));
    assert_eq!(world.entry_count().await, 1);
}

#[tokio::test]
async fn a_request_that_is_not_there_is_not_found() {
    let world = World::new().await;
    let nobody = RequestKey::new(Uuid::now_v7());
    let error = world.inbox.decide(nobody, verdict(Answer::ok("r"))).await.unwrap_err();
    assert_eq!(error, DecideError::NotFound(nobody));
}

/// Asks, answers with `data`, and says how that ended: the outcome, or `invalid`.
async fn answer(request: Request, data: Option<Value>) -> String {
    let mut world = World::new().await;
    let key = world.ask(request).await;
    match world.inbox.decide(key, world.yes(key, data).await).await {
        Ok(decided) => decided.settlement.outcome.to_string(),
        Err(DecideError::InvalidData(why)) => {
            assert_eq!(world.state(key).await, RequestState::Pending);
            // A no needs no data.
            world.inbox.decide(key, world.no(key, "no").await).await.unwrap();
            format!("invalid: {why}")
        }
        Err(error) => panic!("{error}"),
    }
}

fn form(kind: Kind) -> Request {
    let schema = json!({
        "type": "object",
        "properties": {
            "size": {"type": "integer", "minimum": 1},
            "mail": {"type": "string", "format": "email"},
            "stage": {"enum": ["test", "production"]}
        },
        "required": ["size"],
        "additionalProperties": false
    });
    with_data("r", kind, json!({"schema": schema}))
}

#[tokio::test]
async fn contract_30_data_must_fit_the_schema_before_a_yes_is_accepted() {
    for good in [
        json!({"size": 1}),
        json!({"size": 9_007_199_254_740_993_i64, "stage": "test", "mail": "a@b.example"}),
    ] {
        assert_eq!(answer(form(Kind::Input), Some(good)).await, "answered");
    }
    for (bad, named) in [
        (json!({}), "size"),
        (json!({"size": 0}), "`size`"),
        (json!({"size": "1"}), "`size`"),
        (json!({"size": 1, "stage": "moon"}), "`stage`"),
        (json!({"size": 1, "mail": "nobody"}), "`mail`"),
        (json!({"size": 1, "more": true}), "more"),
        (json!([1]), "object"),
    ] {
        let told = answer(form(Kind::Input), Some(bad.clone())).await;
        assert!(told.starts_with("invalid: ") && told.contains(named), "{bad}: {told}");
    }
    assert!(answer(form(Kind::Input), None).await.starts_with("invalid: "));
    assert_eq!(answer(form(Kind::from("deploy")), Some(json!({"size": 1}))).await, "approved");
    assert!(answer(form(Kind::from("deploy")), None).await.starts_with("invalid: "));
    assert_eq!(answer(form(Kind::Approval), None).await, "approved");
    assert_eq!(answer(with_data("r", Kind::Input, json!({})), Some(json!("any text"))).await, "answered");
}

#[tokio::test]
async fn a_question_takes_its_options_and_free_text() {
    let questions = || {
        let asked =
            json!([{"question": "Where?", "options": ["a", "b"]}, {"question": "Which?", "multiple": true}]);
        with_data("r", Kind::Question, json!({"questions": asked}))
    };
    for good in [
        Some(json!({"answers": ["a", ["x", "y"]]})),
        Some(json!({"answers": ["somewhere else", "one"]})),
        Some(json!({"answers": ["a"]})),
        Some(json!({"Where?": "a"})),
        None,
    ] {
        assert_eq!(answer(questions(), good.clone()).await, "answered", "{good:?}");
    }
    for bad in [json!({"answers": "a"}), json!({"answers": [1]}), json!({"answers": ["a", "b", "c"]})] {
        assert!(answer(questions(), Some(bad.clone())).await.starts_with("invalid: "), "{bad}");
    }
}

#[tokio::test]
async fn contract_04_the_digits_of_an_answer_survive() {
    let mut world = World::new().await;
    let key = world.ask(with_data("r", Kind::Input, json!({}))).await;
    let data: Value = serde_json::from_str(r#"{"z":1,"n":9007199254740993,"a":1.10}"#).unwrap();
    world.inbox.decide(key, world.yes(key, Some(data)).await).await.unwrap();
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!(due[0].answer.data().unwrap().to_string(), r#"{"z":1,"n":9007199254740993,"a":1.10}"#);
    assert!(world.entries(key).await[0].field("answer").unwrap().contains("9007199254740993"));
}

#[tokio::test]
async fn what_became_pointless_is_cancelled_once_and_its_asker_is_told() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    assert!(world.inbox.cancel(key, Cause::CallerGone, DecidedBy::Source).await.unwrap());
    assert!(!world.inbox.cancel(key, Cause::Dismissed, DecidedBy::Person).await.unwrap());
    assert_eq!(world.event(), Some(InboxEvent::Settled(key, Outcome::Cancelled(Cause::CallerGone))));
    assert_eq!(world.event(), None);
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!(due[0].class.map(|class| class.as_str()), Some("cancelled"));
    let error = world.inbox.decide(key, world.yes(key, None).await).await.unwrap_err();
    assert!(matches!(error, DecideError::AlreadyDecided(_)), "{error}");
    let nobody = RequestKey::new(Uuid::now_v7());
    assert!(!world.inbox.cancel(nobody, Cause::Dismissed, DecidedBy::Person).await.unwrap());
}

#[tokio::test]
async fn a_stopped_runs_request_has_nobody_left_to_deliver_to() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    let inbox = world.inbox.clone();
    let stop = move |tx: &sayso_store::Tx<'_>| inbox.cancel_in(tx, key, Cause::RunStopped, DecidedBy::Stop);
    assert!(world.store.write(stop).await.unwrap());
    assert!(world.inbox.deliveries_due().await.unwrap().is_empty());
    let entries = world.entries(key).await;
    assert_eq!(entries[0].field("decided_by"), Some("stop"));
    assert_eq!(entries[0].field("cause"), Some("run_stopped"));
}
