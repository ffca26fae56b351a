//! Approve with edits (contract 12), as the inbox takes and keeps them.

use sayso_domain::{Digest, RequestState};
use sayso_inbox::{DecideError, Verdict};
use sayso_store::history::{self, HistoryQuery};
use sayso_store::{ledger, settlements};
use serde_json::json;

use super::world::World;

const EDITED: &str = r#"{"command":"make all","jobs":9007199254740993}"#;

#[tokio::test]
async fn contract_12_an_edit_is_in_the_decisions_commit_beside_what_was_shown() {
    let mut world = World::new().await;
    let key = world.ask_editable(0).await;
    world.inbox.decide(key, world.edited(key, EDITED).await).await.unwrap();
    let entries = world.entries(key).await;
    assert_eq!(entries[0].field("arguments"), Some(r#"{"command":"make"}"#));
    assert_eq!(entries[0].field("edited_arguments"), Some(EDITED));
    let settled = world.store.read(move |reader| settlements::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(settled.settlement.edited.as_deref(), Some(EDITED));
    // Whoever runs it gets what the person sent.
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!(due[0].answer.data().unwrap()["arguments"].to_string(), EDITED);
    // And it is found by what it became.
    let query = HistoryQuery { text: Some("make all".to_owned()), ..HistoryQuery::default() };
    let found = world.store.read(move |reader| history::list(reader, &query)).await.unwrap();
    assert_eq!(found.len(), 1);
}

#[tokio::test]
async fn contract_12_the_same_arguments_are_no_edit() {
    let mut world = World::new().await;
    let key = world.ask_editable(0).await;
    let same = Verdict { digest: None, ..world.edited(key, r#"{ "command" : "make" }"#).await };
    world.inbox.decide(key, same).await.unwrap();
    assert_eq!(world.entries(key).await[0].field("edited_arguments"), None);
}

#[tokio::test]
async fn contract_12_an_edit_must_fit_the_tools_schema_and_say_what_was_shown() {
    let mut world = World::new().await;
    let key = world.ask_editable(0).await;
    for (bad, named) in [
        (json!({}), "command"),
        (json!({"command": 7}), "`command`"),
        (json!({"command": "x", "jobs": 1.5}), "`jobs`"),
        (json!(["x"]), "object"),
        (json!(null), "object"),
    ] {
        let error = world.inbox.decide(key, world.edited(key, &bad.to_string()).await).await.unwrap_err();
        let DecideError::InvalidData(why) = &error else { panic!("{bad}: {error}") };
        assert!(why.contains(named), "{bad}: {why}");
    }
    let blind = Verdict { digest: None, ..world.edited(key, EDITED).await };
    assert_eq!(world.inbox.decide(key, blind).await, Err(DecideError::EditWithoutDigest));
    let other = Verdict { digest: Some(Digest::of("{}")), ..world.edited(key, EDITED).await };
    assert_eq!(world.inbox.decide(key, other).await, Err(DecideError::WrongDigest));
    assert_eq!((world.state(key).await, world.entry_count().await), (RequestState::Pending, 0));
    world.inbox.decide(key, world.edited(key, EDITED).await).await.unwrap();
    let again = world.inbox.decide(key, world.edited(key, EDITED).await).await.unwrap_err();
    assert!(matches!(again, DecideError::AlreadyDecided(_)), "{again}");
}

/// What a person made of the arguments cannot be changed afterwards, nor be taken away.
#[tokio::test]
async fn a_tampered_edit_is_found() {
    for change in [
        "UPDATE settlements SET edited_arguments = replace(edited_arguments, 'all', 'own')",
        "UPDATE settlements SET edited_arguments = NULL",
        "UPDATE settlements SET answer = replace(answer, 'make all', 'make own')",
        "UPDATE requests SET shown = replace(shown, '\"editable\"', '\"edible\"')",
        "UPDATE ledger_fields SET content = replace(content, 'all', 'own') WHERE name = 'edited_arguments'",
        "DELETE FROM ledger_fields WHERE name = 'edited_arguments'",
    ] {
        let mut world = World::new().await;
        let key = world.ask_editable(0).await;
        world.inbox.decide(key, world.edited(key, EDITED).await).await.unwrap();
        assert!(world.store.read(|reader| ledger::verify(reader)).await.unwrap().ok);
        world.change(change);
        let found = world.store.read(|reader| ledger::verify(reader)).await.unwrap();
        assert_eq!((found.ok, found.entry), (false, Some(1)), "{change}: {found:?}");
    }
}
