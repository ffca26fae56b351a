use sayso_agent::{Client, Endpoint, NativeTool, Style, Toolkit};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Request, ToolResult};
use serde_json::json;

use crate::model::{self, Model};
use crate::table::{Aim, Table, median, ratio, shown, timed};

const WARM: usize = 200;
const SAMPLES: usize = 2000;

/// A library run that asks its `wait_for` once, against two bare round trips with the same bytes.
pub(crate) async fn measure(table: &mut Table) {
    let model = Model::start(|_, body| match model::has_result(body) {
        true => model::says("It is bought."),
        false => model::calls("call_1", "purchase", r#"{"item":"gpu"}"#),
    })
    .await;
    let toolkit = Toolkit::new().with(purchase());
    let client = Client::new(endpoint(&model.base_url))
        .wait_for(async |request: Request| Ok::<_, std::io::Error>(Answer::ok(request.id)));
    model.record();
    cycle(&client, &toolkit).await;
    let bodies: Vec<_> = model.recorded().into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies.len(), 2, "a cycle is two model calls");

    let (mut cycles, mut floors) = (Vec::new(), Vec::new());
    for sample in 0..WARM + SAMPLES {
        let (cycle, ()) = timed(cycle(&client, &toolkit)).await;
        let (floor, ()) = timed(async {
            for body in &bodies {
                model.post(body.clone()).await;
            }
        })
        .await;
        if sample >= WARM {
            cycles.push(cycle);
            floors.push(floor);
        }
    }
    let (cycle, floor) = (median(&mut cycles), median(&mut floors));
    let what = "library: suspend, answer, resume / two bare round trips";
    table.row(what, shown(cycle), shown(floor), ratio(cycle, floor), Aim::AtMost(1.5));
}

async fn cycle(client: &Client, toolkit: &Toolkit) {
    let result = client.run("buy a gpu", toolkit).await;
    assert_eq!(result.status, Status::Done);
}

pub(crate) fn endpoint(base_url: &str) -> Endpoint {
    Endpoint { base_url: base_url.to_owned(), style: Style::OpenAi, model: "scripted".to_owned(), key: None }
}

fn purchase() -> NativeTool {
    let schema = json!({ "type": "object", "properties": { "item": { "type": "string" } } });
    NativeTool::new("purchase", "Buys an item", schema, async |arguments, context| {
        let item = arguments.value["item"].as_str().unwrap_or("nothing");
        match context.answer {
            Some(_) => ToolResult::ok(format!("bought {item}")),
            None => {
                ToolResult::pending(&Request::new("", Kind::Approval, format!("Approve purchase of {item}?")))
            }
        }
    })
}
