//! The demo agent: a scripted model that the app serves to itself over real loopback HTTP, so that the whole path works
//! with no key. It keeps no state: each reply follows from the transcript that it is sent.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::agent_config::DEMO_URL;
use crate::host::Host;

/// The name under which the demo agent stands in the list of agents.
pub(crate) const NAME: &str = "demo";
/// What the demo agent is asked to do.
pub(crate) const TASK: &str = "Show me how Sayso works: ask me something, write a file and run two commands.";

/// The time between two words, as a quick model takes it.
const PACE: Duration = Duration::from_millis(15);

/// Where the demo agent works: beside the data folder, since neither may contain the other.
pub(crate) fn folder(data_dir: &Path) -> PathBuf {
    let mut name = data_dir.file_name().unwrap_or_default().to_owned();
    name.push("-demo");
    data_dir.with_file_name(name)
}

/// The demo agent's set-up.
pub(crate) fn config(folder: &Path) -> String {
    json!({
        "name": NAME,
        "base_url": DEMO_URL,
        "style": "openai",
        "model": "scripted, no key needed",
        "api_key": null,
        "folder": folder,
        "system_prompt": "You show a person how Sayso works."
    })
    .to_string()
}

/// Serves the model on a free loopback port until the host ends; returns its base URL.
pub(crate) async fn serve(host: &Host) -> std::io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let app = Router::new().route("/v1/chat/completions", post(answer));
    let stop = host.stop_token().clone();
    host.spawn(async move {
        let served = axum::serve(listener, app).with_graceful_shutdown(stop.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::warn!(%error, "the demo model ended");
        }
    });
    Ok(url)
}

/// In pieces where it is asked for them, so that a person sees it write.
async fn answer(Json(body): Json<Value>) -> Response {
    let reply = reply(&body);
    if body["stream"] != true {
        return Json(reply).into_response();
    }
    let chunks = stream::unfold(chunks(&reply).into_iter(), async |mut chunks| {
        let chunk = chunks.next()?;
        tokio::time::sleep(PACE).await;
        Some((Ok::<_, Infallible>(chunk), chunks))
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::from_stream(chunks)).into_response()
}

/// A reply as the events of a stream: its text word by word, then each call whole.
fn chunks(reply: &Value) -> Vec<String> {
    let message = &reply["choices"][0]["message"];
    let words = message["content"].as_str().unwrap_or_default().split_inclusive(' ');
    let mut deltas: Vec<_> = words.map(|word| json!({ "content": word })).collect();
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut call = call.clone();
        call["index"] = index.into();
        deltas.push(json!({ "tool_calls": [call] }));
    }
    let choice =
        |delta: Value, finish: &Value| json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    let mut events: Vec<_> =
        deltas.into_iter().map(|delta| json!({ "choices": choice(delta, &Value::Null) })).collect();
    events.push(json!({ "choices": choice(json!({}), &reply["choices"][0]["finish_reason"]) }));
    events.push(json!({ "choices": [], "usage": reply["usage"] }));
    events
        .into_iter()
        .map(|event| format!("data: {event}\n\n"))
        .chain(["data: [DONE]\n\n".to_owned()])
        .collect()
}

fn reply(body: &Value) -> Value {
    let none = Vec::new();
    let messages = body["messages"].as_array().unwrap_or(&none);
    let results = results(messages);
    let (text, call) = next(&results);
    let calls = call.map(|(name, arguments)| {
        json!([{
            "id": format!("call_{}", messages.len()),
            "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() }
        }])
    });
    let finish = if calls.is_some() { "tool_calls" } else { "stop" };
    let mut message = json!({ "role": "assistant", "content": text });
    if let Some(calls) = calls {
        message["tool_calls"] = calls;
    }
    let input = body.to_string().len() / 4;
    json!({
        "id": "demo",
        "object": "chat.completion",
        "model": "demo",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": input, "completion_tokens": text.len() / 4, "total_tokens": input + text.len() / 4 }
    })
}

/// The tool results since the model's last word.
fn results(messages: &[Value]) -> Vec<&str> {
    let is_last_word =
        |message: &Value| message["role"] == "assistant" && message.get("tool_calls").is_none();
    let begin = messages.iter().rposition(is_last_word).map_or(0, |at| at + 1);
    messages[begin..]
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap_or_default())
        .collect()
}

fn next(results: &[&str]) -> (String, Option<(&'static str, Value)>) {
    let denied = |at: usize| results.get(at).is_some_and(|result| result.starts_with("declined/expired: "));
    let greeting = greeting(results.first().copied().unwrap_or_default());
    match results.len() {
        0 => (
            "Let me begin with a question.".to_owned(),
            Some((
                "question",
                json!({ "questions": [{ "question": "Which greeting shall I write?", "options": ["Hello", "Good day"] }] }),
            )),
        ),
        1 => (
            if denied(0) {
                "You would rather not say, so I take a plain greeting.".to_owned()
            } else {
                format!("“{greeting}” it is. Next I would like to write a file.")
            },
            Some((
                "write_file",
                json!({ "path": "hello.txt", "content": format!("{greeting} from the Sayso demo.\n") }),
            )),
        ),
        2 if denied(1) => (
            "No file, then. May I look at what is in the folder instead?".to_owned(),
            Some(("shell", json!({ "command": "ls -la" }))),
        ),
        2 => (
            "The file is there. May I read it back with a command?".to_owned(),
            Some(("shell", json!({ "command": "cat hello.txt" }))),
        ),
        3 => (
            if denied(2) { "I leave that out." } else { "That worked." }.to_owned() + " One more command.",
            Some(("shell", json!({ "command": "date -u && uname -s" }))),
        ),
        _ => {
            let steps = ["the question", "the file", "the first command", "the second command"];
            let (no, yes): (Vec<_>, Vec<_>) = (0..steps.len()).partition(|step| denied(*step));
            let names = |of: Vec<usize>| of.iter().map(|step| steps[*step]).collect::<Vec<_>>().join(", ");
            let text = match (yes.is_empty(), no.is_empty()) {
                (_, true) => "You said yes to everything, so all of it was done.".to_owned(),
                (true, _) => "You said no to everything, so nothing was done. That is fine.".to_owned(),
                _ => format!("Done: {}. You said no to {}, so I left that out.", names(yes), names(no)),
            };
            (text + " Every decision is in History.", None)
        }
    }
}

/// The answer to the question, as the tool's output holds it: `{"answers":["Hello"]}`, or any text in it.
fn greeting(result: &str) -> String {
    fn first_text(value: &Value) -> Option<&str> {
        match value {
            Value::String(text) => Some(text),
            Value::Array(items) => items.iter().find_map(first_text),
            Value::Object(fields) => fields.values().find_map(first_text),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    let answer: Value = serde_json::from_str(result).unwrap_or_default();
    first_text(&answer).map(str::trim).filter(|text| !text.is_empty()).unwrap_or("Hello").to_owned()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn script(results: &[&str]) -> (String, Option<(&'static str, Value)>) {
        next(results)
    }

    #[test]
    fn asks_in_the_promised_order() {
        let tools: Vec<_> =
            (0..4).map(|done| script(&vec!["{\"answers\":[\"Hello\"]}"; done]).1.unwrap().0).collect();
        assert_eq!(tools, ["question", "write_file", "shell", "shell"]);
        assert!(script(&["{}"; 4]).1.is_none());
    }

    #[test]
    fn reacts_to_a_denial() {
        let (text, call) = script(&["{}", "declined/expired: Write hello.txt"]);
        assert!(text.contains("No file"));
        assert_eq!(call.unwrap().1["command"], "ls -la");
        let (text, _) = script(&["{}", "declined/expired: x", "ok", "ok"]);
        assert!(text.contains("You said no to the file"));
    }

    #[test]
    fn writes_the_greeting_that_was_chosen() {
        let (_, call) = script(&["{\"answers\":[\"Good day\"]}"]);
        assert_eq!(call.unwrap().1["content"], "Good day from the Sayso demo.\n");
    }

    #[test]
    fn begins_anew_after_its_last_word() {
        let messages = [
            json!({ "role": "user", "content": "go" }),
            json!({ "role": "assistant", "content": null, "tool_calls": [] }),
            json!({ "role": "tool", "content": "{}" }),
            json!({ "role": "assistant", "content": "Done." }),
            json!({ "role": "user", "content": "again" }),
        ];
        assert_eq!(results(&messages[..3]).len(), 1);
        assert!(results(&messages).is_empty());
    }
}
