//! A tool that asks before it buys, and a person who says no: the model is told that it was declined, and never why.
//!
//! ```text
//! cargo run -p sayso-agent --example purchase
//! ```

mod scripted;

use std::error::Error;

use sayso_agent::{AgentEvent, Client, Endpoint, JsonSchema, NativeTool, Style, Toolkit};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Request, ToolResult};
use scripted::{Scripted, calls, says};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "sayso_agent::schemars")]
struct Purchase {
    /// What to buy.
    item: String,
}

fn purchase() -> NativeTool {
    NativeTool::typed(
        "approve_purchase",
        "Buys an item once it is approved",
        async |order: Purchase, context| {
            match context.answer {
                // Only an ok brings the call back, exactly once.
                Some(_) => ToolResult::ok(format!("bought {}", order.item)),
                None => {
                    let prompt = format!("Approve purchase of {}?", order.item);
                    ToolResult::pending(&Request::new("", Kind::Approval, prompt))
                }
            }
        },
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = Scripted::new(vec![
        calls("approve_purchase", &json!({ "item": "gpu" })),
        says("The purchase was declined."),
    ])
    .await?;
    let endpoint = Endpoint {
        base_url: model.base_url.clone(),
        style: Style::OpenAi,
        model: "gpt-4o-mini".to_owned(),
        key: Some("test-key".to_owned().into()),
    };
    let client = Client::new(endpoint).wait_for(async |request: Request| {
        println!("asked: {}", request.prompt);
        Ok::<_, std::io::Error>(Answer::declined(request.id, "manager rejected: over budget"))
    });

    let mut run = client.stream("buy a gpu", &Toolkit::new().with(purchase()));
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Text { text, .. } => println!("model: {text}"),
            AgentEvent::Call { name, arguments, .. } => println!("calls: {name} {arguments}"),
            AgentEvent::Pending { request, .. } => println!("waits: {}", request.prompt),
            AgentEvent::Result { output, .. } => println!("result: {output}"),
            AgentEvent::Restarted { .. } | AgentEvent::Usage { .. } | AgentEvent::Done(_) => {}
        }
    }
    let result = run.result().await;
    assert_eq!(result.status, Status::Done);
    assert_eq!(result.tool_calls[0].output, "declined/expired: Approve purchase of gpu?");
    println!("{}: {}", result.status.as_str(), result.text);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
