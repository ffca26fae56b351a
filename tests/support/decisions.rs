//! Decisions of a few years, made up from a seed: what agents and scripts ask, in several scripts, with commands, paths,
//! refunds and reasons. They are written through the store's own code, many in a commit. Each can be made again from its
//! number alone, so that a plain look over all of them says what History must find.

use sayso_domain::risk::RiskLevel;
use sayso_domain::run::{Run, SlotId, Status};
use sayso_domain::{
    Answer, Cause, DecidedBy, Kind, Outcome, Request, RequestKey, RunId, Settlement, Shown, SourceId,
    Surface, Time,
};
use sayso_store::ledger::{self, Entry, EntryType};
use sayso_store::requests::{self, NewRequest, Purpose};
use sayso_store::runs::{self, RunRow};
use sayso_store::{Store, StoreError, Tx, deliveries, settlements, sources, verdicts};
use serde_json::{Value, json};
use uuid::Uuid;

/// So many are written in one commit.
const AT_ONCE: u64 = 2000;
/// 2024-01-01.
const BEGIN: i64 = 1_704_067_200_000;
/// Between two decisions, on average, in milliseconds.
const BETWEEN: i64 = 60_000;
/// So many decisions are of one run.
const OF_A_RUN: u64 = 5;

const SOURCES: [(&str, &str); 8] = [
    ("agent", "release-bot"),
    ("agent", "deploy-bot"),
    ("agent", "research"),
    ("sender", "invoice-bot"),
    ("sender", "mail-agent"),
    ("sender", "経理ボット"),
    ("sender", "Équipe Café"),
    ("local", "this computer"),
];

const COMMANDS: [(&str, RiskLevel); 12] = [
    ("git push origin v{n}", RiskLevel::Medium),
    ("git push --force origin feature/{word}", RiskLevel::High),
    ("rm -rf target/{word}", RiskLevel::High),
    ("cargo test --workspace --test {word}", RiskLevel::Low),
    ("npm run build -- --mode {word}", RiskLevel::Low),
    ("rg -n \"{word}\" src/main.rs", RiskLevel::Low),
    ("docker compose up -d {word}", RiskLevel::Medium),
    ("kubectl scale deploy/{word} --replicas={n}", RiskLevel::Medium),
    ("tar -xvf backup-{n}.tar.gz", RiskLevel::Low),
    ("psql -c 'delete from {word} where id = {n}'", RiskLevel::High),
    ("scp report-{n}.pdf ops@{word}.example.com:", RiskLevel::Medium),
    ("sed -i 's/{word}/{n}/' docs/{word}.md", RiskLevel::Low),
];

const PROMPTS: [&str; 10] = [
    "Refund {n}.00 € to customer {n}?",
    "Send the reply about {word} to 3 recipients?",
    "请批准退款 {n} 元给客户{n}。",
    "明日の会議で{word}の見積もり{n}件を東京支社に送ってもよろしいですか。",
    "고객 {n}에게 환불을 승인하시겠습니까?",
    "Разрешить удаление заказа {n}?",
    "هل توافق على استرداد المبلغ {n}؟",
    "Réserver une table au Café Noël pour {n} personnes ?",
    "क्या ग्राहक {n} को पैसे वापस करें?",
    "Zahlung über {n},00 € an die Müller & Söhne GmbH freigeben?",
];

const REASONS: [&str; 7] = [
    "over the refund limit",
    "not on a Friday",
    "ask {word} first",
    "予算を超えています",
    "trop cher, déjà payé",
    "wrong folder: it is /srv/{word}/{n}",
    "100% sure this is a duplicate of {n}",
];

const WORDS: [&str; 20] = [
    "orchard", "billing", "ledger", "harbour", "lantern", "meadow", "copper", "signal", "violet", "granite",
    "falcon", "juniper", "atlas", "ember", "quartz", "willow", "saffron", "tundra", "walnut", "zephyr",
];

/// A decision, made up.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "they are the fields of a decision")]
pub struct Made {
    pub n: u64,
    pub source: usize,
    pub kind: Kind,
    pub tool: Option<&'static str>,
    pub prompt: String,
    pub command: Option<String>,
    pub edited: Option<String>,
    pub folder: Option<String>,
    pub risk: RiskLevel,
    pub outcome: Outcome,
    pub by: DecidedBy,
    pub surface: Option<Surface>,
    pub reason: Option<String>,
    pub output: Option<String>,
    pub received_at: Time,
    pub at: Time,
}

/// Numbers of one decision.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % limit
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len() as u64) as usize]
    }

    fn fill(&mut self, text: &str) -> String {
        let mut text = text.replacen("{word}", self.of(&WORDS), 1);
        while text.contains('{') {
            let number = self.below(5000).to_string();
            text = text.replacen("{n}", &number, 1).replacen("{word}", self.of(&WORDS), 1);
        }
        text
    }
}

impl Made {
    /// The decision of a number, from 0.
    pub fn of(seed: u64, n: u64) -> Self {
        let mut dice = Dice(seed ^ n.wrapping_mul(0xd6e8_feb8_6659_fd93));
        // A run has one agent.
        let mut of_run = Dice(seed ^ (n / OF_A_RUN).wrapping_mul(0xa076_1d64_78bd_642f));
        let source = match of_run.below(10) {
            at @ 0..=7 => at as usize,
            _ => 0,
        };
        let is_agent = SOURCES[source].0 == "agent";
        let at = BEGIN + n as i64 * BETWEEN + dice.below(BETWEEN as u64) as i64;
        let mut waited = 1000 + dice.below(90_000) as i64;
        if dice.below(20) == 0 {
            waited *= 400;
        }
        let (template, mut risk) = COMMANDS[dice.below(COMMANDS.len() as u64) as usize];
        let command = is_agent.then(|| dice.fill(template));
        let prompt = match &command {
            Some(_) => format!("Run a command in {}?", dice.of(&WORDS)),
            None => {
                let template = PROMPTS[dice.below(PROMPTS.len() as u64) as usize];
                risk = if template.contains('€') { RiskLevel::Medium } else { RiskLevel::Low };
                dice.fill(template)
            }
        };
        let (outcome, by) = match dice.below(100) {
            0..70 => (Outcome::Approved, DecidedBy::Person),
            70..88 => (Outcome::Declined, DecidedBy::Person),
            88..94 => (Outcome::Expired, DecidedBy::Deadline),
            94..98 => (Outcome::Cancelled(Cause::CallerGone), DecidedBy::Source),
            _ => (Outcome::Cancelled(Cause::RunStopped), DecidedBy::Stop),
        };
        let by_person = by == DecidedBy::Person;
        let surface = by_person.then(|| match dice.below(20) {
            0..10 => Surface::Window,
            10..15 => Surface::Notification,
            15..17 => Surface::Browser,
            17..19 => Surface::Cli,
            _ => Surface::Tray,
        });
        let is_edited = outcome == Outcome::Approved && command.is_some() && dice.below(20) == 0;
        let output = (outcome == Outcome::Approved && command.is_some() && dice.below(2) == 0)
            .then(|| dice.fill("{n} files were changed in {word}, {n} lines were added\nDone in {n} ms"));
        Self {
            n,
            source,
            kind: if command.is_some() { Kind::ToolCall } else { Kind::Approval },
            tool: command.is_some().then_some("shell"),
            prompt,
            edited: command.as_ref().filter(|_| is_edited).map(|command| format!("{command} --dry-run")),
            folder: is_agent.then(|| format!("/home/ada/src/{}", of_run.of(&WORDS))),
            command,
            risk,
            outcome,
            by,
            surface,
            reason: (outcome == Outcome::Declined && dice.below(3) > 0).then(|| {
                let template = REASONS[dice.below(REASONS.len() as u64) as usize];
                dice.fill(template)
            }),
            output,
            received_at: Time::from_millis(at - waited),
            at: Time::from_millis(at),
        }
    }

    /// The request's key.
    pub fn key(&self) -> RequestKey {
        RequestKey::new(id(self.received_at, 0x8000_0000_0000_0000 | self.n))
    }

    /// The run, where an agent asked.
    pub fn run(&self) -> Option<RunId> {
        let number = 0x9000_0000_0000_0000 | (self.n / OF_A_RUN);
        (SOURCES[self.source].0 == "agent").then(|| RunId::new(id(Time::from_millis(BEGIN), number)))
    }

    /// The source's name.
    pub fn source_name(&self) -> &'static str {
        SOURCES[self.source].1
    }

    /// Everything that a search looks through, on lines.
    pub fn texts(&self) -> Vec<String> {
        let command = |command: &String| format!("command: {command}");
        let names = [Some(self.source_name()), self.tool, self.folder.as_deref()];
        let data = self.command.is_none().then(|| format!("customer: {}", self.n));
        let texts = [
            Some(self.prompt.clone()),
            self.command.as_ref().map(command).or(data),
            self.edited.as_ref().map(command),
            self.reason.clone(),
            self.output.clone(),
            Some(names.into_iter().flatten().collect::<Vec<_>>().join("\n")),
        ];
        texts.into_iter().flatten().collect()
    }

    fn arguments(command: &str) -> Value {
        json!({ "command": command })
    }

    fn shown(&self) -> Shown {
        let mut wire = Request::new(self.key().to_string(), self.kind.clone(), self.prompt.clone());
        wire.data = Some(match &self.command {
            Some(command) => json!({ "tool": "shell", "arguments": Self::arguments(command) }),
            None => json!({ "customer": self.n }),
        });
        let mut shown = Shown::new(wire, self.source_name());
        shown.run = self.run();
        shown.tool = self.tool.map(str::to_owned);
        shown.arguments = self.command.as_ref().map(|command| Self::arguments(command).to_string());
        shown.folder = self.folder.clone();
        shown
    }

    fn settlement(&self) -> Settlement {
        let id = self.key().to_string();
        let answer = match (self.outcome, &self.edited) {
            (Outcome::Approved | Outcome::Answered, Some(edited)) => {
                Answer::ok_with(id, json!({ "arguments": Self::arguments(edited) }))
            }
            (Outcome::Approved | Outcome::Answered, None) => Answer::ok(id),
            (Outcome::Declined, _) => Answer::declined(id, self.reason.as_deref().unwrap_or("declined")),
            (Outcome::Expired, _) => Answer::declined(id, "expired"),
            (Outcome::Cancelled(_), _) => Answer::declined(id, "cancelled"),
        };
        let edited = self.edited.as_ref().map(|edited| Self::arguments(edited).to_string());
        Settlement { outcome: self.outcome, answer, edited, at: self.at }
    }

    /// Asks.
    fn ask(&self, tx: &Tx<'_>, sources: &[SourceId]) -> Result<(), StoreError> {
        let (key, run, source) = (self.key(), self.run(), sources[self.source]);
        if let Some(id) = run.filter(|_| self.n.is_multiple_of(OF_A_RUN)) {
            runs::insert(tx, &self.run_row(id, source))?;
        }
        let slot = run.map(|_| SlotId { turn: (self.n % OF_A_RUN) as u32, index: 0 });
        let (shown, received_at) = (self.shown(), self.received_at);
        requests::insert(
            tx,
            &NewRequest { key, source, run, slot, purpose: Purpose::Tool, shown, received_at },
        )
    }

    /// Decides and delivers.
    fn settle(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        let (key, settlement) = (self.key(), self.settlement());
        settlements::settle(tx, key, &settlement, self.by, self.surface)?;
        if self.by == DecidedBy::Person {
            verdicts::insert(tx, key, self.by, self.surface, &settlement.answer, self.at)?;
        }
        deliveries::insert(tx, key, &settlement.delivered(), self.at)?;
        deliveries::delivered(tx, key, self.at)?;
        Ok(())
    }

    /// Writes the decision and what came of it into the record.
    fn record(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        let (key, run) = (self.key(), self.run());
        let decision = ledger::append_decision(tx, key, self.risk)?.seq.to_string();
        let about = |kind, mut fields: Vec<(&'static str, String)>| {
            fields.push(("decision", decision.clone()));
            Entry { kind, at: self.at, request: Some(key), run, fields }
        };
        ledger::append(tx, &about(EntryType::Delivery, vec![("state", "delivered".to_owned())]))?;
        if let Some(output) = &self.output {
            let fields = vec![("output", output.clone()), ("is_error", "false".to_owned())];
            ledger::append(tx, &about(EntryType::Effect, fields))?;
        }
        Ok(())
    }

    fn run_row(&self, id: RunId, source: SourceId) -> RunRow {
        let mut run = Run::new(id, 50);
        run.status = Status::Done;
        run.turn = OF_A_RUN as u32;
        let agent = self.source_name().to_owned();
        let (created_at, updated_at) = (self.received_at, self.at);
        let (task, config) = (format!("Look after {}", self.prompt), "{}".to_owned());
        RunRow { id, source, agent, task, config, run, created_at, updated_at }
    }
}

/// Of version 7.
fn id(at: Time, rest: u64) -> Uuid {
    Uuid::from_u64_pair(((at.as_millis() as u64) << 16) | 0x7000, rest)
}

/// Writes the decisions of these numbers.
pub async fn write(store: &Store, seed: u64, from: u64, to: u64) -> Result<(), StoreError> {
    let mut begin = from;
    while begin < to {
        let end = (begin + AT_ONCE).min(to);
        store
            .write(move |tx| {
                let mut ids = Vec::new();
                for (n, (kind, name)) in (0..).zip(SOURCES) {
                    let new = SourceId::new(id(Time::from_millis(BEGIN), 0xa000_0000_0000_0000 | n));
                    ids.push(sources::ensure(tx, kind, name, Time::from_millis(BEGIN), new)?);
                }
                let made: Vec<_> = (begin..end).map(|n| Made::of(seed, n)).collect();
                // One thing after another for all of them: what is written in one go is written fast.
                made.iter().try_for_each(|made| made.ask(tx, &ids))?;
                made.iter().try_for_each(|made| made.settle(tx))?;
                made.iter().try_for_each(|made| made.record(tx))
            })
            .await?;
        begin = end;
    }
    Ok(())
}
