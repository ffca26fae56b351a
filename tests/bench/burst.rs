use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sayso_domain::{Kind, Request, RequestKey, Shown, SourceId, Time};
use sayso_inbox::Inbox;
use sayso_store::Store;
use sayso_store::requests::{NewRequest, Purpose};
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::disk::{self, Bare};
use crate::table::{Aim, Table, median, ratio, shown, timed};

const REQUESTS: usize = 1000;
const ROUNDS: usize = 7;

/// A thousand requests asked at once, against a commit each.
pub(crate) async fn measure(table: &mut Table) {
    let folder = disk::folder();
    let database = folder.path().join("sayso.db");
    let store = Store::open(&database).unwrap();
    let inbox = Inbox::new(store.clone(), now);
    let source = store
        .write(|tx| sayso_store::sources::ensure(tx, "sender", "bench", now(), SourceId::new(Uuid::now_v7())))
        .await
        .unwrap();
    let bare = Bare::open();

    let (mut together, mut alone, mut bares, mut used) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let before = disk::commits(&database);
        let at_once = at_once(&inbox, source).await;
        let commits = disk::commits(&database) - before;
        let requests: Vec<_> = (0..REQUESTS).map(|_| request(source)).collect();
        let (one_by_one, ()) = timed(async {
            for request in requests {
                inbox.ask(request).await.unwrap();
            }
        })
        .await;
        let (bare, ()) = timed(async { (0..REQUESTS).for_each(|_| bare.commit()) }).await;
        // The first round warms up.
        if round > 0 {
            together.push(at_once);
            alone.push(one_by_one);
            bares.push(bare);
            used.push(commits);
        }
    }
    used.sort_unstable();
    let (together, alone, bare) = (median(&mut together), median(&mut alone), median(&mut bares));
    let what = format!("{REQUESTS} requests asked one by one, a commit each / asked at once");
    table.row(&what, shown(alone), shown(together), ratio(alone, together), Aim::AtLeast(10.0));
    table.note(format!(
        "{REQUESTS} requests at once took {} commits; {REQUESTS} bare commits of one row each take {}, so the gain is bounded \
         by what a sync costs here.",
        used[used.len() / 2],
        shown(bare),
    ));
}

async fn at_once(inbox: &Inbox, source: SourceId) -> Duration {
    let requests: Vec<_> = (0..REQUESTS).map(|_| request(source)).collect();
    let (time, ()) = timed(async {
        let mut callers = JoinSet::new();
        for request in requests {
            let inbox = inbox.clone();
            callers.spawn(async move { inbox.ask(request).await.unwrap() });
        }
        callers.join_all().await;
    })
    .await;
    time
}

fn request(source: SourceId) -> NewRequest {
    let key = RequestKey::new(Uuid::now_v7());
    let mut wire = Request::new(key.to_string(), Kind::Approval, "Push release tag to origin?");
    wire.data =
        Some(serde_json::json!({ "tool": "shell", "arguments": { "command": "git push origin v2.4.0" } }));
    NewRequest {
        key,
        source,
        run: None,
        slot: None,
        purpose: Purpose::Tool,
        shown: Shown::new(wire, "bench"),
        received_at: now(),
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap())
}
