use proptest::prelude::*;
use sayso_domain::RequestState::{Pending, Settled};
use sayso_domain::{
    Act, Answer, Cause, Digest, Kind, Misfit, Outcome, Refused, Request, Settlement, Shown, Time, check_edit,
    settle,
};
use serde_json::{Value, json};

const DEADLINE: i64 = 60_000;

fn request(kind: Kind) -> Request {
    Request { expires_at: Some(Time::from_millis(DEADLINE)), ..Request::new("r", kind, "P") }
}

fn as_shown(request: Request) -> Shown {
    Shown::new(request, "agent")
}

fn shown() -> Digest {
    Digest::of("as shown")
}

fn answer(answer: Answer) -> Act {
    Act::Answer { answer, digest: Some(shown()) }
}

/// `act` at `now` ms on a pending request, as `outcome/class` or the refusal.
fn check(kind: Kind, act: &Act, now: i64, expected: &str) {
    let result = settle(&as_shown(request(kind)), Pending, &shown(), act, Time::from_millis(now));
    let said = match &result {
        Ok(Settlement { outcome, .. }) => {
            format!("{outcome}/{}", outcome.class().map_or("ok", sayso_domain::Class::as_str))
        }
        Err(refused) => format!("{refused:?}"),
    };
    assert_eq!(said, expected, "{act:?} at {now}");
}

#[test]
fn contract_12_and_13_what_an_act_does() {
    let ok = answer(Answer::ok("r"));
    let no = answer(Answer::declined("r", "over budget"));
    check(Kind::Approval, &ok, 0, "approved/ok");
    check(Kind::Input, &ok, 0, "answered/ok");
    check(Kind::Question, &ok, 0, "answered/ok");
    check(Kind::Authorization, &ok, 0, "approved/ok");
    check(Kind::Other("x".to_owned()), &ok, 0, "approved/ok");
    check(Kind::Approval, &no, 0, "declined/declined");
    check(Kind::Question, &no, 0, "declined/declined");

    check(Kind::Approval, &ok, DEADLINE - 1, "approved/ok");
    check(Kind::Approval, &ok, DEADLINE, "TooLate");
    check(Kind::Approval, &no, DEADLINE, "TooLate");
    check(Kind::Approval, &ok, DEADLINE + 1, "TooLate");
    check(Kind::Approval, &Act::Expire, DEADLINE - 1, "NotDue");
    check(Kind::Approval, &Act::Expire, DEADLINE, "expired/expired");

    check(Kind::Approval, &answer(Answer::ok("r2")), 0, "WrongId");
    check(Kind::Approval, &answer(Answer::ok("")), 0, "WrongId");
    let other = Act::Answer { answer: Answer::ok("r"), digest: Some(Digest::of("something else")) };
    check(Kind::Approval, &other, 0, "WrongDigest");
    let unbound = Act::Answer { answer: Answer::ok("r"), digest: None };
    check(Kind::Approval, &unbound, 0, "approved/ok");

    for cause in
        [Cause::Dismissed, Cause::CallerGone, Cause::AnsweredElsewhere, Cause::RunStopped, Cause::Revoked]
    {
        check(Kind::Approval, &Act::Cancel(cause), 0, "cancelled/cancelled");
    }
}

/// A call whose arguments may be changed, if there is a schema.
fn call(kind: Kind, arguments: &str, editable: Option<Value>) -> Shown {
    Shown { arguments: Some(arguments.to_owned()), editable, ..as_shown(request(kind)) }
}

/// What a yes with these arguments, as text, makes of a call: `as shown`, the edited text, or the refusal.
fn edit(shown: &Shown, given: &str) -> String {
    let given: Value = serde_json::from_str(given).unwrap();
    let act = answer(Answer::ok_with("r", json!({ "arguments": given })));
    match settle(shown, Pending, &self::shown(), &act, Time::from_millis(0)) {
        Ok(settlement) => settlement.edited.unwrap_or_else(|| "as shown".to_owned()),
        Err(refused) => format!("{refused:?}"),
    }
}

#[test]
fn contract_12_only_what_is_editable_is_edited_and_the_same_arguments_are_no_edit() {
    let editable = call(Kind::Approval, r#"{"n": 1.10, "a": "x"}"#, Some(json!({})));
    assert_eq!(edit(&editable, r#"{"a":"x","n":1.10}"#), "as shown");
    assert_eq!(edit(&editable, r#"{"n":1.1,"a":"x"}"#), r#"{"n":1.1,"a":"x"}"#);
    assert_eq!(edit(&editable, r#"{"n":9007199254740993}"#), r#"{"n":9007199254740993}"#);
    assert_eq!(edit(&call(Kind::Approval, " ", Some(json!({}))), "{}"), "as shown");
    for kind in [Kind::Approval, Kind::ToolCall] {
        assert_eq!(edit(&call(kind.clone(), "{}", None), r#"{"n":1}"#), "NotEditable");
        assert_eq!(edit(&call(kind, "{}", None), "{}"), "NotEditable");
    }
    // With other kinds it is what the person typed, whatever it is called.
    assert_eq!(edit(&call(Kind::Input, "{}", None), r#"{"n":1}"#), "as shown");
    // A no changes nothing, whatever it carries.
    let no: Answer =
        serde_json::from_value(json!({"id": "r", "ok": false, "data": {"arguments": {}}})).unwrap();
    let settlement =
        settle(&call(Kind::Approval, "{}", None), Pending, &shown(), &answer(no), Time::from_millis(0));
    assert_eq!(settlement.unwrap().edited, None);
}

#[test]
fn contract_12_edited_arguments_must_fit_the_schema() {
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let shown = call(Kind::Approval, r#"{"n":1}"#, Some(schema));
    let check = |given: Value| check_edit(&shown, &Answer::ok_with("r", json!({ "arguments": given })));
    assert_eq!(check(json!({ "n": 2 })), Ok(()));
    for (bad, named) in
        [(json!({ "n": "2" }), "`n`"), (json!({}), "n"), (json!([]), "object"), (json!(null), "object")]
    {
        let Err(Misfit::Data(why)) = check(bad) else { panic!("it fits") };
        assert!(why.contains(named), "{why}");
    }
    let broken = call(Kind::Approval, "{}", Some(json!({ "type": 7 })));
    let error = check_edit(&broken, &Answer::ok_with("r", json!({ "arguments": {} }))).unwrap_err();
    assert!(matches!(error, Misfit::Schema(_)), "{error}");
}

#[test]
fn contract_07_a_yes_with_a_reason_is_a_yes() {
    let yes: Answer = serde_json::from_value(json!({"id": "r", "ok": true, "reason": "declined"})).unwrap();
    check(Kind::Approval, &answer(yes), 0, "approved/ok");
}

#[test]
fn contract_13_without_a_deadline_nothing_expires() {
    let request = Request::new("r", Kind::Approval, "P");
    let end = Time::from_millis(i64::MAX);
    assert_eq!(
        settle(&as_shown(request.clone()), Pending, &shown(), &Act::Expire, end),
        Err(Refused::NotDue)
    );
    assert!(settle(&as_shown(request.clone()), Pending, &shown(), &answer(Answer::ok("r")), end).is_ok());
}

#[test]
fn contract_09_history_keeps_the_reason_and_delivery_does_not() {
    let act = answer(Answer::declined("r", "manager rejected: over budget"));
    let settlement =
        settle(&as_shown(request(Kind::Approval)), Pending, &shown(), &act, Time::from_millis(0)).unwrap();
    assert_eq!(settlement.answer.reason(), Some("manager rejected: over budget"));
    assert_eq!(settlement.delivered(), Answer::declined("r", "declined"));
}

#[test]
fn outcomes_and_causes_read_back_from_their_names() {
    let causes = ["dismissed", "caller_gone", "answered_elsewhere", "run_stopped", "revoked"];
    let cancelled = causes.map(|cause| Outcome::Cancelled(Cause::from_name(cause).unwrap()));
    let others = [Outcome::Approved, Outcome::Answered, Outcome::Declined, Outcome::Expired];
    for outcome in cancelled.into_iter().chain(others) {
        let cause = outcome.cause().map(Cause::as_str);
        assert_eq!(Outcome::from_names(outcome.as_str(), cause), Some(outcome));
    }
    for (outcome, cause) in
        [("approved", Some("dismissed")), ("cancelled", None), ("cancelled", Some("x")), ("yes", None)]
    {
        assert_eq!(Outcome::from_names(outcome, cause), None);
    }
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Approved,
        Outcome::Answered,
        Outcome::Declined,
        Outcome::Expired,
        Outcome::Cancelled(Cause::Dismissed),
        Outcome::Cancelled(Cause::RunStopped),
    ])
}

fn any_act() -> impl Strategy<Value = Act> {
    let digest = prop::sample::select(vec![None, Some(shown()), Some(Digest::of("x"))]);
    let id = prop::sample::select(vec!["r", "R", "r "]);
    prop_oneof![
        (id, any::<bool>(), ".{0,12}", digest).prop_map(|(id, ok, words, digest)| {
            let answer =
                if ok { Answer::ok_with(id, json!(words)) } else { Answer::declined(id, words.as_str()) };
            Act::Answer { answer, digest }
        }),
        Just(Act::Cancel(Cause::CallerGone)),
        Just(Act::Cancel(Cause::RunStopped)),
        Just(Act::Expire),
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![
        Kind::Approval,
        Kind::Input,
        Kind::Question,
        Kind::Authorization,
        Kind::ToolCall,
    ])
}

proptest! {
    #[test]
    fn contract_12_a_settled_request_never_settles_again(
        kind in any_kind(), outcome in any_outcome(), act in any_act(), now in 0..2 * DEADLINE,
    ) {
        let again = settle(&as_shown(request(kind)), Settled(outcome), &shown(), &act, Time::from_millis(now));
        prop_assert_eq!(again, Err(Refused::AlreadySettled(outcome)));
    }

    #[test]
    fn contract_13_a_yes_needs_a_yes_in_time_for_what_was_shown(
        kind in any_kind(), act in any_act(), now in prop_oneof![0..2 * DEADLINE, DEADLINE - 2..DEADLINE + 2],
    ) {
        let request = request(kind);
        let Ok(settlement) = settle(&as_shown(request.clone()), Pending, &shown(), &act, Time::from_millis(now)) else {
            return Ok(());
        };
        prop_assert_eq!(settlement.answer.id(), "r");
        prop_assert_eq!(settlement.answer.is_ok(), settlement.outcome.class().is_none());
        if settlement.answer.is_ok() {
            prop_assert!(now < DEADLINE);
            let Act::Answer { answer, digest } = &act else {
                return Err(TestCaseError::fail("only a person's answer is a yes"));
            };
            prop_assert!(answer.is_ok() && digest.is_none_or(|digest| digest == shown()));
        } else {
            let class = settlement.outcome.class().unwrap().as_str();
            prop_assert_eq!(settlement.delivered(), Answer::declined("r", class), "nothing but the class leaves");
        }
    }
}
