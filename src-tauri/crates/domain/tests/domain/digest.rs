use proptest::prelude::*;
use sayso_domain::{Digest, Kind, Request, RunId, Shown};
use uuid::Uuid;

use crate::json::json;

fn shown(data: &str) -> Shown {
    let request = format!(r#"{{"id":"r","kind":"approval","prompt":"P","data":{data}}}"#);
    Shown {
        run: Some(RunId::new(Uuid::from_u128(1))),
        tool: Some("write_file".to_owned()),
        arguments: Some(r#"{"n": 9007199254740993}"#.to_owned()),
        folder: Some("/tmp/work".to_owned()),
        file_hash: Some("absent".to_owned()),
        diff: Some("+a\n".to_owned()),
        notes: vec!["writes a file".to_owned()],
        ..Shown::new(serde_json::from_str(&request).unwrap(), "helper")
    }
}

#[test]
fn a_digest_is_sha256_in_64_digits() {
    let digest = Digest::of("abc");
    let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(digest.to_string(), text);
    assert_eq!(text.parse(), Ok(digest));
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("\"{text}\""));
    for bad in
        ["", "ab", &text[1..], &format!("{text}0"), &text.replace("ba", "+a"), &text.replace("ba", "gé")]
    {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

/// What a decision is bound to: each part of what was shown changes the digest.
#[test]
fn contract_12_every_part_of_what_is_shown_is_in_the_digest() {
    let base = shown("{}");
    let with = |change: fn(&mut Shown)| {
        let mut other = base.clone();
        change(&mut other);
        other
    };
    let others = [
        with(|s| s.request.kind = Kind::Other("x".to_owned())),
        with(|s| s.request.id = "r2".to_owned()),
        with(|s| s.request.prompt.push(' ')),
        with(|s| s.request.url = Some("https://example.com".to_owned())),
        with(|s| s.request.data = None),
        with(|s| s.source.push('2')),
        with(|s| s.run = None),
        with(|s| s.tool = Some("shell".to_owned())),
        with(|s| s.arguments = Some(r#"{"n": 9007199254740992}"#.to_owned())),
        with(|s| s.folder = Some("/tmp".to_owned())),
        with(|s| s.file_hash = None),
        with(|s| s.diff = None),
        with(|s| s.notes.clear()),
        with(|s| {
            let deny = sayso_domain::Effect::Deny;
            s.choices =
                vec![sayso_domain::Choice { id: "a".to_owned(), label: "A".to_owned(), effect: deny }];
        }),
        with(|s| s.editable = Some(serde_json::json!({}))),
    ];
    for other in others {
        assert_ne!(Digest::of(&base.to_text()), Digest::of(&other.to_text()), "{other:?}");
    }
}

/// What was stored before anything could be edited keeps its digest.
#[test]
fn what_is_not_editable_is_written_as_ever() {
    let text = Shown::new(Request::new("r", Kind::Approval, "P"), "me").to_text();
    assert!(text.ends_with(r#""notes":[]}"#), "{text}");
    assert_eq!(serde_json::from_str::<Shown>(&text).unwrap().to_text(), text);
}

#[test]
fn what_is_shown_is_one_line_with_the_request_first() {
    let text = Shown::new(Request::new("r", Kind::Approval, "a\nb"), "me").to_text();
    assert!(
        text.starts_with(r#"{"request":{"id":"r","kind":"approval","prompt":"a\nb"},"source":"me","#),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1);
}

proptest! {
    #[test]
    fn contract_12_the_stored_text_reads_back_to_itself(data in json()) {
        let text = shown(&data).to_text();
        prop_assert!(text.contains(&data), "digits and order are kept");
        let back: Shown = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(back.to_text(), text);
    }
}
