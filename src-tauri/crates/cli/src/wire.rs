//! What `--json` prints, as docs/interfaces.md promises it.

use sayso_host::dto::{
    AgentItem, CallItem, Decision, HistoryItem, RequestDetail, RequestItem, RunDetail, RunItem, Verification,
};
use serde_json::{Value, json};

/// JSON that crosses from the host as text; text that is no JSON stays text.
pub(crate) fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

pub(crate) fn request(item: &RequestItem) -> Value {
    json!({
        "key": item.key,
        "request": item.request.as_deref().map_or(Value::Null, json_of),
        "source": item.source,
        "run": item.run,
        "state": item.state,
        "received_at": item.received_at,
    })
}

pub(crate) fn request_detail(detail: &RequestDetail) -> Value {
    let mut value = request(&detail.item);
    value["request"] = json_of(&detail.request);
    value["digest"] = json!(detail.item.digest);
    value["tool"] = json!(detail.item.tool);
    value["arguments"] = detail.arguments.as_deref().map_or(Value::Null, json_of);
    value["editable"] = detail.editable.as_deref().map_or(Value::Null, json_of);
    value["choices"] = json!(detail.choices);
    value["folder"] = json!(detail.folder);
    value["diff"] = json!(detail.diff);
    value["notes"] = json!(detail.notes);
    value["trail"] = json!(detail.trail);
    value["snoozed_until"] = json!(detail.item.snoozed_until);
    value["decision"] = detail.decision.as_ref().map_or(Value::Null, decision);
    value
}

pub(crate) fn decision(decision: &Decision) -> Value {
    json!({
        "key": decision.key,
        "outcome": decision.outcome,
        "answer": json_of(&decision.answer),
        "class": decision.class,
        "decided_by": decision.decided_by,
        "surface": decision.surface,
        "decided_at": decision.decided_at,
    })
}

pub(crate) fn run(item: &RunItem) -> Value {
    let mut value = json!({
        "run": item.run,
        "agent": item.agent,
        "status": item.status,
        "turns": item.turns,
        "usage": item.usage,
    });
    if let Some(detail) = &item.detail {
        value["detail"] = json!(detail);
    }
    value
}

pub(crate) fn run_detail(detail: &RunDetail) -> Value {
    let mut value = run(&detail.item);
    value["messages"] = json!(detail.messages);
    value["calls"] = detail.calls.iter().map(call).collect();
    if !detail.servers.is_empty() {
        value["servers"] = json!(detail.servers);
    }
    value
}

fn call(call: &CallItem) -> Value {
    let mut value = json!(call);
    value["arguments"] = json_of(&call.arguments);
    value["edited"] = call.edited.as_deref().map_or(Value::Null, json_of);
    value
}

pub(crate) fn run_end(detail: &RunDetail) -> Value {
    json!({ "run": detail.item.run, "status": detail.item.status, "text": last_words(detail) })
}

/// What the model said last.
pub(crate) fn last_words(detail: &RunDetail) -> &str {
    let said = detail.messages.iter().rev().find(|message| message.role == "assistant");
    said.map(|message| message.text.as_str()).unwrap_or_default()
}

pub(crate) fn agent(item: &AgentItem) -> Value {
    json!({
        "name": item.name,
        "base_url": item.base_url,
        "style": item.style,
        "model": item.model,
        "folder": item.folder,
        "problem": item.problem,
        "servers": item.servers,
        "config": json_of(&item.config),
    })
}

pub(crate) fn history(item: &HistoryItem) -> Value {
    json!({
        "key": item.key,
        "request": json_of(&item.request),
        "answer": json_of(&item.answer),
        "outcome": item.outcome,
        "class": item.class,
        "edited": item.edited,
        "decided_by": item.decided_by,
        "surface": item.surface,
        "source": item.source,
        "run": item.run,
        "received_at": item.received_at,
        "decided_at": item.decided_at,
    })
}

pub(crate) fn verification(verified: &Verification) -> Value {
    json!(verified)
}
