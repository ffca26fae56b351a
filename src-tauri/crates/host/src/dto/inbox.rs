use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Risk, RiskMark};
use crate::RpcError;

/// A request that waits, as the list shows it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RequestItem {
    /// Its key.
    pub key: String,
    /// Its kind.
    pub kind: String,
    /// Its prompt: the beginning of it, with `…` where there is more.
    pub prompt: String,
    /// What will run, on one line: a command, a path, a url; the beginning of it, with `…` where there is more.
    pub summary: String,
    /// Who asks, as the person named it.
    pub source: String,
    /// The run that waits.
    pub run: Option<String>,
    /// The tool that will run.
    pub tool: Option<String>,
    /// `pending`, or the outcome.
    pub state: String,
    /// When it came.
    pub received_at: String,
    /// Its deadline.
    pub expires_at: Option<String>,
    /// SHA-256 of what is shown; a decision echoes it.
    pub digest: String,
    /// How much care the answer needs.
    pub risk: Risk,
    /// Until when it is put off.
    pub snoozed_until: Option<String>,
    /// Requests with the same text are identical: all that is shown is the same, but for id and times.
    pub group: String,
    /// Whether it wants a yes or a no and nothing more, so that it can be decided together with others.
    pub plain: bool,
    /// The request in its wire form, as JSON text; only where the list was asked for `whole` ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub request: Option<String>,
}

/// Which part of what waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(default)]
pub struct InboxList {
    /// What follows an earlier page: its `next`.
    #[ts(optional)]
    pub after: Option<String>,
    /// At most so many: 200 unless told, 1000 at most.
    #[ts(optional)]
    pub limit: Option<u32>,
    /// With the requests in their wire form.
    #[ts(optional, as = "Option<bool>")]
    pub whole: bool,
}

/// A part of what waits: expiring soonest first, then oldest.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct InboxPage {
    /// The requests, also those that are put off.
    pub items: Vec<RequestItem>,
    /// Where the next page begins; none after the last.
    pub next: Option<String>,
    /// How many wait.
    #[ts(type = "number")]
    pub total: u32,
    /// How many of them are put off.
    #[ts(type = "number")]
    pub snoozed: u32,
}

/// Which requests.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RequestKeys {
    /// Their keys, at most 1000.
    pub keys: Vec<String>,
}

/// Until when a request is put off.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Snooze {
    /// Its key.
    pub key: String,
    /// A moment in the future, not past its deadline, 30 days away at most; none wakes it.
    pub until: Option<String>,
}

/// What to tell of the requests that wait.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct InboxOutline {
    /// Only so many, the newest first, and none that the person put off; else all, the oldest first.
    #[serde(default)]
    #[ts(optional)]
    pub newest: Option<u32>,
}

/// That a request waits, for who announces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Waiting {
    /// Its key.
    pub key: String,
    /// Its deadline.
    pub expires_at: Option<String>,
    /// Until when the person put it off.
    pub snoozed_until: Option<String>,
}

/// A request with everything that a person needs to decide.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RequestDetail {
    /// As in the list.
    pub item: RequestItem,
    /// The whole prompt, as it came.
    pub prompt: String,
    /// The request in its wire form: JSON text.
    pub request: String,
    /// The arguments that the tool will get: JSON text as the model wrote it.
    pub arguments: Option<String>,
    /// Where the person may change the arguments and approve what they made of them: the JSON schema that these must fit, as
    /// JSON text. They are sent as `data: {"arguments": …}`, with the digest.
    pub editable: Option<String>,
    /// Choices that the sender brought, to be chosen from in place of a plain yes and no; none for most requests.
    pub choices: Vec<RequestChoice>,
    /// `data` of the request: JSON text.
    pub data: Option<String>,
    /// The page to go to.
    pub url: Option<String>,
    /// The folder in which it will run.
    pub folder: Option<String>,
    /// For a file edit, the unified diff.
    pub diff: Option<String>,
    /// Notes on the risk, in words.
    pub notes: Vec<String>,
    /// What the notes on the risk are about, the gravest first.
    pub marks: Vec<RiskMark>,
    /// The last steps that led here, oldest first.
    pub trail: Vec<TrailStep>,
    /// The decision, where there is one by now.
    pub decision: Option<Decision>,
}

/// A choice that a request's sender brought.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RequestChoice {
    /// The sender's own name for it. A decision says it as `data: {"choice": id}`.
    pub id: String,
    /// What its button says.
    pub label: String,
    /// `approve` or `deny`: a decision for it is an ok or not.
    pub effect: String,
}

/// One step that led to a request.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct TrailStep {
    /// `person`, `model`, `call` or `now`.
    pub kind: String,
    /// In words.
    pub text: String,
}

/// Which request.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RequestRef {
    /// Its key.
    pub key: String,
}

/// A person's decision, as a face sends it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Decide {
    /// The request's key.
    pub key: String,
    /// Yes or no.
    pub ok: bool,
    /// With a yes: what the person typed or chose, as JSON text. With a no: which of the request's own choices, where it has
    /// any; it stays in History.
    #[serde(default)]
    #[ts(optional)]
    pub data: Option<String>,
    /// With a no: the person's own words, kept in History alone.
    #[serde(default)]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The digest of what was shown to the person.
    #[serde(default)]
    #[ts(optional)]
    pub digest: Option<String>,
}

/// How a request was decided.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Decision {
    /// The request's key.
    pub key: String,
    /// `approved`, `answered`, `declined`, `cancelled` or `expired`.
    pub outcome: String,
    /// The answer in wire form, as JSON text; its reason is the person's own text.
    pub answer: String,
    /// `declined`, `cancelled` or `expired`; none when ok.
    pub class: Option<String>,
    /// `person`, `rule`, `deadline`, `source` or `stop`.
    pub decided_by: String,
    /// `window`, `notification`, `tray`, `cli` or `browser`.
    pub surface: Option<String>,
    /// When.
    pub decided_at: String,
    /// Until when it can be taken back, and its answer is held.
    pub undo_until: Option<String>,
}

/// One answer for several requests of one kind. A yes only where each is plain and of low risk, or all are identical and none
/// is of high risk; data only where all are identical.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct DecideMany {
    /// Which, at most 200.
    pub decisions: Vec<DecideOne>,
    /// As in [`Decide`].
    pub ok: bool,
    /// As in [`Decide`].
    #[serde(default)]
    #[ts(optional)]
    pub reason: Option<String>,
    /// As in [`Decide`].
    #[serde(default)]
    #[ts(optional)]
    pub data: Option<String>,
}

/// A request among several to decide.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct DecideOne {
    /// Its key.
    pub key: String,
    /// The digest of what was shown to the person.
    pub digest: String,
}

/// What became of each.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct DecidedMany {
    /// In the order in which they were named.
    pub results: Vec<DecidedOne>,
}

/// What became of one among several: a decision, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct DecidedOne {
    /// Its key.
    pub key: String,
    /// The decision.
    pub decision: Option<Decision>,
    /// Why it was not decided.
    pub error: Option<RpcError>,
}
