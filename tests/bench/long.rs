use std::time::Duration;

use axum::body::Bytes;
use sayso_agent::{Client, NativeTool, Toolkit};
use sayso_domain::ToolResult;
use sayso_domain::run::Status;
use serde_json::{Value, json};

use crate::inline::endpoint;
use crate::model::{self, Model};
use crate::office::Office;
use crate::table::{Aim, Table, median, ratio, shown, timed};

const CALLS: usize = 1000;
/// Looked at before each of these many calls.
const AT: [usize; 3] = [100, 500, 1000];
const WINDOW: usize = 40;
const ROUNDS: usize = 3;
const OUTPUT: &str =
    "src/main.rs (5120)\nsrc/lib.rs (20480)\nCargo.toml (830)\nREADME.md (4096)\ntests/all.rs (9216)\n";

/// How much longer a call takes after a thousand others than after a hundred, against how much longer its request takes
/// to write and send.
pub(crate) async fn measure(table: &mut Table) {
    let model = Model::start(|before, _| match before < CALLS {
        true => model::calls(&format!("call_{before}"), "list_files", "{}"),
        false => model::says("That is all."),
    })
    .await;
    let schema = json!({ "type": "object", "properties": {} });
    let tool = NativeTool::new("list_files", "Lists the files", schema, async |_, _| ToolResult::ok(OUTPUT));
    let toolkit = Toolkit::new().with(tool);
    let client = Client::new(endpoint(&model.base_url)).max_turns(CALLS as u32 + 1);
    let mut library = Growth::default();
    for _ in 0..ROUNDS {
        model.record();
        assert_eq!(client.run("list the files", &toolkit).await.status, Status::Done);
        library.add(&model).await;
    }
    library.tell("library", table);

    let mut office = Office::open(&model.base_url, "allow", CALLS as u32 + 1).await;
    let mut app = Growth::default();
    for _ in 0..ROUNDS {
        model.record();
        let run = office.start().await;
        office.done(&run).await;
        app.add(&model).await;
    }
    office.host.shutdown().await;
    app.tell("app", table);
}

/// What a call takes at each length, from one request to the next, and what writing and sending its request takes.
#[derive(Default)]
struct Growth {
    calls: [Vec<Duration>; AT.len()],
    floors: [Vec<Duration>; AT.len()],
}

impl Growth {
    async fn add(&mut self, model: &Model) {
        let asked = model.recorded();
        assert_eq!(asked.len(), CALLS + 1);
        for (at, length) in AT.into_iter().enumerate() {
            let window = &asked[length - WINDOW..=length];
            self.calls[at].extend(window.windows(2).map(|pair| pair[1].0 - pair[0].0));
            for (_, body) in &window[1..] {
                self.floors[at].push(floor(model, body).await);
            }
        }
    }

    fn tell(mut self, who: &str, table: &mut Table) {
        let calls = self.calls.each_mut().map(|times| median(times));
        let floors = self.floors.each_mut().map(|times| median(times));
        for (at, length) in AT.into_iter().enumerate() {
            let what = format!("{who}: a call after {length} others / its request alone");
            table.only(&what, shown(calls[at]), shown(floors[at]), ratio(calls[at], floors[at]));
        }
        let grown = |times: [Duration; AT.len()]| times[AT.len() - 1].saturating_sub(times[0]);
        let (call, floor) = (grown(calls), grown(floors));
        let what =
            format!("{who}: what a call takes longer after {CALLS} than after {} / its request alone", AT[0]);
        table.row(&what, shown(call), shown(floor), ratio(call, floor), Aim::AtMost(1.5));
    }
}

/// Writing a request that is there as a value, and one bare round trip with it.
async fn floor(model: &Model, body: &Bytes) -> Duration {
    let body: Value = serde_json::from_slice(body).unwrap();
    let (time, ()) = timed(async { model.post(body.to_string()).await }).await;
    time
}
