use serde_json::json;

use crate::disk::Bare;
use crate::model::{self, Model};
use crate::office::Office;
use crate::table::{Aim, Table, median, ratio, shown, timed};

const WARM: usize = 30;
const SAMPLES: usize = 300;

/// The commits that a cycle cannot do without, each with what must not happen before it.
const COMMITS: [(&str, &str); 6] = [
    ("the run and its task", "whoever is told its id finds it, also after a crash"),
    ("the model's message, its call and the request", "nobody is told of a request that a crash could lose"),
    (
        "the verdict, the settlement, its ledger entry and the delivery",
        "nothing acts on a decision that is not kept",
    ),
    ("the answer is taken and the call is at work", "a tool never starts twice on one approval"),
    ("the result and its ledger entry", "a model that fails then loses no effect"),
    ("the model's last message, the run's end and its ledger entry", "whoever sees it done finds it so"),
];

/// A run of the app that asks once, from its start to its end, against two bare round trips and as many bare commits as
/// the design requires.
pub(crate) async fn measure(table: &mut Table) {
    let model = Model::start(|_, body| match model::has_result(body) {
        true => model::says("It is empty."),
        false => model::calls("call_1", "list_files", "{}"),
    })
    .await;
    let mut office = Office::open(&model.base_url, "ask", 10).await;
    let bare = Bare::open();
    cycle(&mut office).await;
    model.record();
    let before = office.commits();
    cycle(&mut office).await;
    let counted = office.commits() - before;
    let bodies: Vec<_> = model.recorded().into_iter().map(|(_, body)| body).collect();
    assert_eq!(bodies.len(), 2, "a cycle is two model calls");

    let (mut cycles, mut floors, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for sample in 0..WARM + SAMPLES {
        let (cycle, ()) = timed(cycle(&mut office)).await;
        let (floor, commit) = timed(async {
            for body in &bodies {
                model.post(body.clone()).await;
            }
            let (commit, ()) = timed(async { COMMITS.iter().for_each(|_| bare.commit()) }).await;
            commit / COMMITS.len() as u32
        })
        .await;
        if sample >= WARM {
            cycles.push(cycle);
            floors.push(floor);
            commits.push(commit);
        }
    }
    office.host.shutdown().await;
    let (cycle, floor, commit) = (median(&mut cycles), median(&mut floors), median(&mut commits));
    let what = format!(
        "app: ask, decide, resume, durably / two bare round trips and {} bare commits",
        COMMITS.len()
    );
    table.row(&what, shown(cycle), shown(floor), ratio(cycle, floor), Aim::AtMost(1.5));
    let times = f64::from(counted) / COMMITS.len() as f64;
    let what = "app: commits in such a cycle / those that the design requires";
    table.row(what, counted, COMMITS.len(), times, Aim::AtMost(1.0));
    table.note(format!("A bare commit with its sync takes {} here. The commits of a cycle:", shown(commit)));
    for (number, (commit, because)) in (1..).zip(COMMITS) {
        table.note(format!("Commit {number}, {commit}: {because}."));
    }
}

async fn cycle(office: &mut Office) {
    let run = office.start().await;
    let key = office.asked().await;
    office.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    // The settlement is told under the same topic.
    office.asked().await;
    office.done(&run).await;
}
