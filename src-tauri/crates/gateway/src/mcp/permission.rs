//! `permission_prompt`: what coding agents call before they run a tool of their own. Everything that is no yes is a deny.

use std::fmt::Write as _;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock};
use sayso_domain::{Answer, Kind, Request, sha256, text};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::asking::{Ended, put_and_wait, take_back};
use super::call::Call;
use super::failed::{Failed, Why};
use super::outcome::TAKEN_BACK;
use super::waiters::Waiters;
use super::way::Standing;

/// How much of what a tool is to do its prompt repeats; all of it is shown beside it.
const LONGEST: usize = 200;
/// How often one id may be used for one call after another.
const TURNS: u32 = 1000;
/// What names a call best, in this order.
const TELLING: [&str; 5] = ["command", "file_path", "path", "url", "pattern"];

/// What an agent wants to run. What else it sends along is not looked at.
#[derive(Deserialize)]
pub(super) struct Permission {
    tool_name: String,
    input: Map<String, Value>,
    tool_use_id: Option<String>,
}

/// Asks once for all calls that name the same use of a tool while it waits.
pub(super) async fn ask(
    call: &Call,
    waiters: &Waiters,
    permission: Permission,
    beat: Duration,
) -> CallToolResult {
    if permission.tool_name.trim().is_empty() {
        return deny("`tool_name` is empty. Nobody was asked.");
    }
    let request = permission.request();
    let ended = match &permission.tool_use_id {
        None => super::asking::ask(call, &request, beat).await,
        Some(tool_use) => ask_once(call, waiters, Use { tool_use, request: request.clone() }, beat).await,
    };
    match ended {
        Ended::Answered(answer) if answer.is_ok() => allow(permission.input, &answer),
        Ended::Answered(_) => deny(&format!("declined/expired: {}", request.prompt)),
        Ended::NotAsked(failed) if failed.why == Why::OtherContent => deny(
            "Another call with the same `tool_use_id` waits for the person, and asks for something else. Nobody was asked \
             again. Give each call an id of its own.",
        ),
        Ended::NotAsked(failed) | Ended::Failed(failed) => deny(&failed.text),
        Ended::Gone => deny(TAKEN_BACK),
    }
}

/// `{"behavior":"deny","message"}`.
pub(super) fn deny(message: &str) -> CallToolResult {
    said(&json!({ "behavior": "deny", "message": message }))
}

/// One use of a tool, by the agent's own name for it.
struct Use<'a> {
    tool_use: &'a str,
    request: Request,
}

/// While a request waits under an id, the same call joins it and another one is refused. Agents use ids again (contract
/// 16): once its answer was used, the next call under it asks anew.
async fn ask_once(call: &Call, waiters: &Waiters, mut used: Use<'_>, beat: Duration) -> Ended {
    let way = &call.caller.way;
    for turn in 1..=TURNS {
        used.request.id = id(&call.caller.scope, used.tool_use, turn);
        let request = &used.request;
        let Some(waiter) = waiters.join(&request.id) else { continue };
        match way.standing(&request.id).await {
            Ok(Standing::Free) => {}
            Ok(Standing::Used) => continue,
            Err(failed) => return Ended::NotAsked(failed),
        }
        let ended = put_and_wait(call, request, beat).await;
        match &ended {
            Ended::Answered(answer) => {
                waiter.share(answer);
                if !way.acknowledge(&request.id).await {
                    waiter.mark_used();
                }
            }
            Ended::Failed(failed) if failed.why == Why::Acknowledged => match waiter.shared() {
                Some(answer) => return Ended::Answered(answer),
                // It was used before this call came.
                None => continue,
            },
            Ended::NotAsked(_) => {}
            Ended::Failed(_) | Ended::Gone => {
                if waiter.leave() {
                    take_back(call, &request.id).await;
                }
            }
        }
        return ended;
    }
    let message = "This `tool_use_id` was used too often. Nobody was asked. Give each call an id of its own.";
    Ended::NotAsked(Failed::new(message))
}

/// The same for the same use of a tool, also after a restart of the host, so that nothing is asked twice.
fn id(scope: &str, tool_use: &str, turn: u32) -> String {
    let hash = sha256(format!("{scope}\n{tool_use}").as_bytes());
    let short = hash.iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    format!("permission-{short}-{turn}")
}

impl Permission {
    fn request(&self) -> Request {
        let told = TELLING.iter().find_map(|name| self.input.get(*name)?.as_str());
        let prompt = match told {
            Some(told) => format!("Allow {}: {}", self.tool_name, text::cut(told, LONGEST)),
            None => format!("Allow {}?", self.tool_name),
        };
        let mut request = Request::new(Uuid::now_v7().to_string(), Kind::ToolCall, prompt);
        request.data = Some(json!({ "tool": self.tool_name, "arguments": self.input }));
        // The agent takes what a person makes of it; whether the person may edit is for the sender's set-up to say.
        request.extra.insert("editable".to_owned(), json!("if_allowed"));
        request
    }
}

/// With the input as it was shown, or as the person edited it.
fn allow(input: Map<String, Value>, answer: &Answer) -> CallToolResult {
    let edited = answer.data().and_then(|data| data.get("arguments"));
    match edited {
        None => said(&json!({ "behavior": "allow", "updatedInput": input })),
        Some(Value::Object(edited)) => said(&json!({ "behavior": "allow", "updatedInput": edited })),
        Some(_) => deny("What the person made of the input is no object. It was not taken for a yes."),
    }
}

fn said(behavior: &Value) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(behavior.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission(json: &str) -> Permission {
        serde_json::from_str(json).unwrap()
    }

    fn text(result: &CallToolResult) -> String {
        let content = serde_json::to_value(&result.content).unwrap();
        assert_eq!(content.as_array().unwrap().len(), 1);
        content[0]["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_prompt_says_what_will_run_and_the_data_all_of_it() {
        let check = |json: &str, expected: &str| {
            assert_eq!(permission(json).request().prompt, expected);
        };
        check(r#"{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}"#, "Allow Bash: ls");
        check(r#"{"tool_name":"Write","input":{"content":"x","file_path":"a.txt"}}"#, "Allow Write: a.txt");
        check(r#"{"tool_name":"Odd","input":{"command":["ls"]}}"#, "Allow Odd?");
        let long = format!(r#"{{"tool_name":"Bash","input":{{"command":"{}"}}}}"#, "x".repeat(300));
        let prompt = permission(&long).request().prompt;
        assert!(prompt.contains("100 more characters"), "{prompt}");
    }

    #[test]
    fn a_yes_gives_the_input_digit_for_digit_or_what_the_person_made_of_it() {
        let input = r#"{"z":1.10,"a":9007199254740993,"b":{"y":1e-7}}"#;
        let input: Map<String, Value> = serde_json::from_str(input).unwrap();
        assert_eq!(
            text(&allow(input.clone(), &Answer::ok("r1"))),
            r#"{"behavior":"allow","updatedInput":{"z":1.10,"a":9007199254740993,"b":{"y":1e-7}}}"#
        );
        let edited = Answer::ok_with("r1", json!({ "arguments": { "z": 2 } }));
        assert_eq!(text(&allow(input.clone(), &edited)), r#"{"behavior":"allow","updatedInput":{"z":2}}"#);
        let odd = Answer::ok_with("r1", json!({ "arguments": "ls" }));
        assert!(text(&allow(input, &odd)).contains(r#""behavior":"deny""#));
    }

    #[test]
    fn an_id_is_of_one_caller_one_use_and_one_turn() {
        let one = id("a", "t", 1);
        assert_eq!(one, id("a", "t", 1));
        let others = [id("b", "t", 1), id("a", "u", 1), id("a", "t", 2)];
        assert!(others.iter().all(|other| *other != one));
        assert!(id("a", &"x".repeat(100_000), 1000).len() < 200);
    }
}
