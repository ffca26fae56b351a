//! Tools whose arguments are a type.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sayso_agent::{NativeTool, Tool as _, Toolkit, schemars};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Policy, Request, ToolResult};
use serde::Deserialize;
use serde_json::json;

use crate::resume::{client, stored};
use crate::support::{MODES, Reply, Server};

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(crate = "sayso_agent::schemars")]
struct Purchase {
    /// What to buy.
    item: String,
    count: Option<u64>,
    priority: Priority,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "sayso_agent::schemars")]
#[serde(rename_all = "lowercase")]
enum Priority {
    Low,
    High,
}

fn purchase(policy: Policy) -> (NativeTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = NativeTool::typed("purchase", "Buys", move |order: Purchase, context| {
        count.fetch_add(1, Ordering::SeqCst);
        async move {
            let Purchase { item, count, priority } = order;
            match context.answer {
                Some(_) => ToolResult::ok(format!("{count:?} {item} {priority:?}")),
                None => ToolResult::pending(&Request::new("", Kind::Approval, format!("Buy {item}?"))),
            }
        }
    });
    (tool.policy(policy), runs)
}

#[test]
fn the_model_is_told_the_types_schema_in_one_piece() {
    let expected = json!({
        "type": "object",
        "properties": {
            "item": { "description": "What to buy.", "type": "string" },
            "count": { "type": ["integer", "null"], "format": "uint64", "minimum": 0 },
            "priority": { "type": "string", "enum": ["low", "high"] }
        },
        "required": ["item", "priority"]
    });
    assert_eq!(purchase(Policy::Allow).0.spec().schema, expected);
}

#[tokio::test]
async fn arguments_reach_the_tool_as_its_type_and_those_that_do_not_fit_ask_nobody() {
    for (style, stream) in MODES {
        for policy in [Policy::Allow, Policy::Ask] {
            let calls = [
                ("c1", "purchase", r#"{"item":"gpu","count":9007199254740993,"priority":"high"}"#),
                ("c2", "purchase", r#"{"item":"gpu","priority":"never"}"#),
                ("c3", "purchase", r#"{"priority":"low"}"#),
            ];
            let server =
                Server::replies(style, vec![Reply::calls(style, &calls), Reply::text(style, "end")]).await;
            let (tool, runs) = purchase(policy);
            let tools = Toolkit::new().with(tool);
            let client = client(&server, stream);
            let mut result = client.run("go", &tools).await;
            assert_eq!(result.pending.len(), 1);
            while result.status == Status::Pending {
                let answer = Answer::ok(result.pending[0].id.clone());
                result = client.resume(stored(&result), [answer], &tools).await.unwrap();
            }
            assert_eq!(runs.load(Ordering::SeqCst), 2, "once to ask, once with the answer");
            let results = server.last_results();
            assert_eq!(results[0].1, "Some(9007199254740993) gpu High");
            assert!(
                results[1].1.contains("unknown variant `never`") && results[1].1.contains("Nothing was run")
            );
            assert!(results[2].1.contains("missing field `item`"));
        }
    }
}
