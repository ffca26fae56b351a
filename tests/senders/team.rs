//! A team of bots that ask for everything there is, a person who answers in the window and on the command line or lets
//! requests expire, and a host that is killed ten times meanwhile.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use reqwest::Method;
use rustix::process::Signal;
use sayso_domain::Time;
use sayso_tests::desktop::Desktop;
use sayso_tests::process::signal;
use sayso_tests::random::{Random, is_soak};
use sayso_tests::sayso::{Sayso, desktop_bin};
use sayso_tests::wait::SOON;
use sayso_tests::webdriver::Session;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::stage::{Bot, Person, Stage};

const BOTS: usize = 20;
const KILLS: usize = 10;
/// How many a bot asks at once, after its first.
const AT_ONCE: usize = 5;
/// What the person does in the window to the first request of some bots: which bot, and the button.
const CLICKS: [(usize, &str); 5] =
    [(0, "Approve"), (6, "Approve"), (12, "Deny"), (3, "I have signed in"), (9, "Decline")];
/// Left alone, a request expires after this.
const LEFT_ALONE: Duration = Duration::from_millis(1500);

/// One request of a bot.
#[derive(Clone, Copy)]
struct Task {
    bot: usize,
    number: usize,
}

/// What becomes of a task.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// A yes with data that names the task.
    Yes,
    No,
    Expires,
}

impl Task {
    fn id(self) -> String {
        // The same ids as every other bot's: they are each one's own.
        format!("r{}", self.number)
    }

    fn prompt(self) -> String {
        format!("Task {} of bot {}?", self.number, self.bot)
    }

    /// Of a prompt as it is listed.
    fn of_prompt(prompt: &str) -> Self {
        let mut numbers = prompt.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
        let (Some(number), Some(bot)) = (numbers.next(), numbers.next()) else {
            panic!("{prompt:?} is no task")
        };
        Self { bot, number }
    }

    fn fate(self) -> Fate {
        match (self.bot + self.number) % 6 {
            5 => Fate::Expires,
            _ if self.number > 0 && (self.bot + self.number) % 7 == 3 => Fate::No,
            _ => Fate::Yes,
        }
    }

    fn request(self) -> Value {
        let mut request = json!({ "id": self.id(), "prompt": self.prompt() });
        let more = match (self.bot + self.number) % 6 {
            0 => {
                json!({ "kind": "approval", "data": { "tool": "deploy", "arguments": { "bot": self.bot } } })
            }
            1 => json!({ "kind": "input" }),
            2 => json!({ "kind": "question", "data": { "questions": ["Which?"] } }),
            3 => json!({ "kind": "authorization", "url": "https://example.com/sign-in" }),
            4 => json!({ "kind": "deploy.review" }),
            _ => json!({ "kind": "approval", "expiresAt": moment(LEFT_ALONE) }),
        };
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    }
}

fn moment(from_now: Duration) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + from_now;
    Time::from_millis(i64::try_from(since.as_millis()).unwrap()).to_string()
}

/// Asks one task to its end; gives the answer.
async fn work(bot: &Bot, task: Task) -> Value {
    loop {
        let request = task.request();
        let asked = bot.call(Method::POST, "/v1/requests", Some(&request)).await;
        match asked.status().as_u16() {
            200 | 201 => break,
            // Its deadline passed while no host was there: nobody was asked.
            409 => {
                let problem: Value = asked.json().await.unwrap();
                assert_eq!(problem["code"], "expired", "{problem}");
            }
            other => panic!("{other} for {request}"),
        }
    }
    let answer = bot.answer(&task.id()).await;
    assert_eq!(answer["id"], task.id());
    if answer["ok"] == true && task.fate() == Fate::Expires {
        panic!("nobody answered {}, yet it is a yes", task.prompt());
    }
    if let Some(read) = answer["data"].get("read") {
        assert_eq!(read, &task.prompt(), "another's answer");
    }
    answer
}

/// Answers what waits over and over, part of it with commands of its own. It goes on when the host is killed.
async fn decide_all(person: Person, sayso: Sayso, by_command: Arc<AtomicUsize>) {
    loop {
        let list = person.rpc("inbox.list", json!({})).await.unwrap_or_default();
        for item in list["items"].as_array().into_iter().flatten() {
            let task = Task::of_prompt(item["prompt"].as_str().unwrap());
            let (key, read) = (item["key"].as_str().unwrap(), json!({ "read": task.prompt() }).to_string());
            let is_ok = match task.fate() {
                Fate::Yes => true,
                Fate::No => false,
                Fate::Expires => continue,
            };
            if (task.bot + task.number) % 8 == 1 {
                let said = match is_ok {
                    true if item["kind"] == "input" || item["kind"] == "question" => {
                        sayso.run(&["answer", key, "--data", &read]).await
                    }
                    true => sayso.run(&["approve", key, "--data", &read]).await,
                    false => sayso.run(&["deny", key, "--reason", "my own words"]).await,
                };
                by_command.fetch_add(usize::from(said.code == 0), Ordering::SeqCst);
            } else {
                let decision = match is_ok {
                    true => json!({ "key": key, "digest": item["digest"], "ok": true, "data": read }),
                    false => {
                        json!({ "key": key, "digest": item["digest"], "ok": false, "reason": "my own words" })
                    }
                };
                person.rpc("inbox.decide", decision).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The host's address and process, as it wrote them down.
fn endpoint(data_dir: &Path) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(data_dir.join("endpoint.json")).ok()?;
    let endpoint: Value = serde_json::from_str(&text).ok()?;
    Some((endpoint["url"].as_str()?.to_owned(), u32::try_from(endpoint["pid"].as_u64()?).ok()?))
}

/// Presses `button` on the request with this prompt until it waits no more: a press within the guard's first moments
/// counts for nothing.
async fn click(page: &Session, person: &Person, prompt: &str, button: &str) {
    page.fill("Filter requests", prompt).await;
    page.press(prompt).await;
    wait_until(&format!("{button} decides {prompt}"), SOON, async || {
        let _ = tokio::time::timeout(Duration::from_secs(1), page.press(button)).await;
        let list = person.rpc("inbox.list", json!({})).await.expect("the app answers");
        list["items"].as_array().unwrap().iter().all(|item| item["prompt"] != prompt)
    })
    .await;
}

/// All that a bot was told, from its first event on.
async fn heard(bot: &Bot, count: usize) -> Vec<Value> {
    let url = format!("{}/v1/events", bot.url);
    let mut stream =
        bot.http.get(url).bearer_auth(&bot.token).header("last-event-id", "0").send().await.unwrap();
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        let piece = tokio::time::timeout(SOON, stream.chunk()).await.expect("all events come").unwrap();
        text.push_str(std::str::from_utf8(&piece.expect("the stream goes on")).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            let field =
                |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            if let (Some(kind), Some(data)) = (field("event: "), field("data: ")) {
                let data: Value = serde_json::from_str(&data).unwrap();
                events.push(json!([data["id"], kind]));
            }
            text = rest.to_owned();
        }
    }
    events
}

#[tokio::test]
#[ignore = "needs the built desktop app, and kills the host again and again: `make test` has it"]
async fn a_team_of_bots_gets_exactly_one_answer_each_from_window_command_line_and_expiry_across_ten_kills() {
    let each = if is_soak() { 100 } else { 10 };
    let mut random = Random::seeded();
    println!("SAYSO_SEED={}", random.seed);
    let stage = Stage::new();
    let data_dir = stage.sayso.data_dir().to_owned();
    let desktop = Desktop::start().await;
    let page =
        Session::window(&desktop, &desktop_bin(), &["--data-dir", &data_dir.to_string_lossy()], &[]).await;
    let (url, pid) = wait_value("the app has opened its doors", SOON, async || endpoint(&data_dir)).await;
    let person = stage.person(&url);
    let (answers, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut bots = JoinSet::new();
    let mut team = Vec::new();
    for number in 0..BOTS {
        let token = person.add_sender(&format!("bot {number}")).await;
        let bot = || Bot { http: stage.http.clone(), url: url.clone(), token: token.clone() };
        team.push(bot());
        let (bot, answers) = (bot(), Arc::clone(&answers));
        bots.spawn(async move {
            let mut got = BTreeMap::new();
            let tasks: Vec<_> = (0..each).map(|task| Task { bot: number, number: task }).collect();
            let (first, others) = tasks.split_at(1);
            for together in std::iter::once(first).chain(others.chunks(AT_ONCE)) {
                let asking = together.iter().map(async |task| {
                    let answer = work(&bot, *task).await;
                    answers.fetch_add(1, Ordering::SeqCst);
                    (task.id(), answer)
                });
                got.extend(join_all(asking).await);
            }
            (number, got)
        });
    }

    // In the window, some; then the app itself is killed, with what else was asked by then.
    for (bot, button) in CLICKS {
        click(&page, &person, &Task { bot, number: 0 }.prompt(), button).await;
    }
    page.shot("window-team").await;
    signal(pid, Signal::KILL);
    let lock = data_dir.join("lock");
    let is_free = async || std::fs::File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok());
    wait_until("the app is gone", SOON, is_free).await;
    drop((page, desktop));

    // Then without one.
    let mut host = stage.serve();
    assert_eq!(host.url, url, "the port is kept");
    let mut deciding = JoinSet::new();
    deciding.spawn(decide_all(stage.person(&url), stage.sayso.clone(), Arc::clone(&done)));
    let (all, limit) = (BOTS * each, Duration::from_secs(if is_soak() { 600 } else { 60 }));
    for kill in 1..KILLS {
        let enough = all * kill / KILLS;
        wait_until("the bots get on", limit, async || answers.load(Ordering::SeqCst) >= enough).await;
        tokio::time::sleep(Duration::from_millis(random.below(30))).await;
        host.kill();
        host = stage.serve();
        assert_eq!(host.url, url);
    }
    wait_until("all is answered", limit, async || answers.load(Ordering::SeqCst) == all).await;
    deciding.shutdown().await;
    let got: BTreeMap<_, _> = bots.join_all().await.into_iter().collect();
    assert!(person.rpc("inbox.list", json!({})).await.unwrap()["items"].as_array().unwrap().is_empty());

    // Each bot was told of each of its own requests three times, and of nothing else.
    for (number, bot) in team.iter().enumerate() {
        let mut told = heard(bot, 3 * each).await;
        let (last, seen) = (told.len(), told.clone());
        told.sort_by_key(Value::to_string);
        told.dedup();
        assert_eq!((last, told.len()), (3 * each, 3 * each), "bot {number}: {seen:?}");
        for task in 0..each {
            let place = |kind| seen.iter().position(|event| event == &json!([format!("r{task}"), kind]));
            let places = ["asked", "settled", "delivered"].map(place);
            assert!(
                places.iter().all(Option::is_some) && places.is_sorted(),
                "bot {number}, {task}: {seen:?}"
            );
        }
    }
    host.stop().await;

    // History has each once, as its bot was told it.
    let history = stage.sayso.json(&["history", "--all"]).await.exits(0).values();
    assert_eq!(history.len(), all, "each was asked and decided once");
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for item in &history {
        let task = Task::of_prompt(item["request"]["prompt"].as_str().unwrap());
        assert_eq!(item["source"], format!("bot {}", task.bot));
        let answer = &got[&task.bot][&task.id()];
        assert_eq!(answer["ok"], item["class"].is_null(), "{item} {answer}");
        assert_eq!(
            (answer.get("reason"), answer.get("data")),
            (item.get("class").filter(|c| !c.is_null()), item["answer"].get("data"))
        );
        assert!(!answer.to_string().contains("my own words"));
        let by = item["surface"].as_str().unwrap_or("nobody");
        *counts.entry(format!("{} by {by}", item["outcome"].as_str().unwrap())).or_default() += 1;
    }
    println!("{counts:?}, {} of them by commands", done.load(Ordering::SeqCst));
    let count =
        |part: &str| counts.iter().filter(|(name, _)| name.contains(part)).map(|(_, n)| n).sum::<usize>();
    assert!(count("by window") >= CLICKS.len(), "{counts:?}");
    let expiring = (0..BOTS).flat_map(|bot| (0..each).map(move |number| Task { bot, number }));
    assert_eq!(count("expired"), expiring.filter(|task| task.fate() == Fate::Expires).count());
    assert!(done.load(Ordering::SeqCst) > 0, "some were decided by commands");
    stage.sayso.run(&["history", "verify"]).await.exits(0);
}
