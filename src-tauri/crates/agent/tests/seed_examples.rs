//! The three examples of the contract's page on `Answer.Declined`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use std::convert::Infallible;

use sayso_agent::{Client, NativeTool, Style, Toolkit};
use sayso_domain::run::Status;
use sayso_domain::{Answer, ElicitAction, Kind, Request, ToolResult};
use serde_json::json;
use support::{BOTH, Reply, Server, quick};

#[test]
fn seed_1_the_default_reason() {
    let explicit = Answer::declined("req-1", "declined");
    assert!(!explicit.is_ok());
    assert_eq!(explicit.reason(), Some("declined"));

    let default = Answer::declined("req-2", None);
    assert!(!default.is_ok(), "ok is false whatever the reason");
    assert_eq!(default.reason(), Some("declined"));
    assert_eq!(Answer::declined("req-2", "").reason(), Some("declined"));
}

fn approve_purchase() -> NativeTool {
    let schema = json!({ "type": "object", "properties": { "item": { "type": "string" } } });
    NativeTool::new("approve_purchase", "Requests spend approval", schema, async |arguments, context| {
        if context.answer.is_some() {
            return ToolResult::ok("bought");
        }
        let item = arguments.value["item"].as_str().unwrap_or_default();
        ToolResult::pending(&Request::new("", Kind::Approval, format!("Approve purchase of {item}?")))
    })
}

async fn declined_purchase(style: Style, reason: Option<&'static str>) {
    let server = Server::replies(
        style,
        vec![
            Reply::calls(style, &[("call_1", "approve_purchase", r#"{"item":"gpu"}"#)]),
            Reply::text(style, "The purchase was declined."),
        ],
    )
    .await;
    let client = Client::new(server.endpoint())
        .options(quick())
        .wait_for(move |request| async move { Ok::<_, Infallible>(Answer::declined(request.id, reason)) });

    let result = client.run("buy a gpu", &Toolkit::new().with(approve_purchase())).await;

    assert_eq!(result.status, Status::Done);
    assert_eq!(result.text, "The purchase was declined.");
    assert_eq!(result.tool_calls.len(), 1);
    assert!(result.tool_calls[0].is_error, "the result carries the decline");
    assert_eq!(result.tool_calls[0].output, "declined/expired: Approve purchase of gpu?");
    assert!(result.pending.is_empty());

    let bodies = server.bodies();
    assert_eq!(bodies.len(), 2);
    assert!(!bodies[0].contains("declined"));
    assert!(bodies[1].contains("declined/expired: Approve purchase of gpu?"));
    let rest = bodies[1].replace("declined/expired: Approve purchase of gpu?", "");
    assert!(!rest.contains("declined"), "no reason, not even the default one: {rest}");
    if let Some(reason) = reason {
        assert!(!bodies.join("\n").contains(reason), "the reason reached the model");
    }
    let (_, content, is_error) = server.last_results().remove(0);
    assert_eq!(content, "declined/expired: Approve purchase of gpu?");
    assert_eq!(is_error, (style == Style::Anthropic).then_some(true));
}

#[tokio::test]
async fn seed_2_a_declined_purchase_feeds_back_an_error_and_the_run_ends_done() {
    for style in BOTH {
        declined_purchase(style, None).await;
        declined_purchase(style, Some("manager rejected: over budget")).await;
    }
}

#[test]
fn seed_3_custom_reasons_are_advisory_and_map_to_elicitation() {
    for (answer, action) in [
        (Answer::declined("req-3", "expired"), "cancel"),
        (Answer::declined("req-4", "cancelled"), "cancel"),
        (Answer::declined("req-5", "manager rejected: over budget"), "cancel"),
        (Answer::declined("req-6", None), "decline"),
        (Answer::ok("req-7"), "accept"),
    ] {
        assert_eq!(answer.is_ok(), action == "accept", "only ok decides");
        assert_eq!(ElicitAction::of_answer(&answer).as_str(), action);
    }
}
