use sayso_domain::text::{cut, visible_line};
use sayso_domain::{Kind, RequestKey, Time};
use sayso_host::dto::{RequestDetail, Risk};
use serde_json::Value;

const SOURCE: usize = 60;
const PROMPT: usize = 240;
const SUMMARY: usize = 160;
/// How much a place outside of the window surely shows. What is longer is decided in the window.
const WHOLE: usize = 300;
const WHOLE_LINES: usize = 6;

/// What is said of a request outside of the window: who asks, and for what. Never an answer, and never the words of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glance {
    pub(crate) key: RequestKey,
    /// Of the whole of what was asked; a decision echoes it.
    pub(crate) digest: String,
    /// Who asks.
    pub(crate) source: String,
    /// For what, on lines of their own, with what would hide made visible.
    pub(crate) lines: Vec<String>,
    /// The same in a few words.
    brief: String,
    pub(crate) offer: Offer,
    pub(crate) expires_at: Option<Time>,
}

/// What may be decided outside of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Nothing: it needs care, data or a choice.
    Nothing,
    /// A no: not all of what a yes would be to is said here.
    Deny,
    /// A yes or a no: all of it is said here.
    ApproveAndDeny,
}

impl Glance {
    /// None if its key cannot be read.
    pub(crate) fn of(detail: &RequestDetail) -> Option<Self> {
        let item = &detail.item;
        let all = all_lines(detail);
        let is_whole = all.len() <= WHOLE_LINES
            && all.iter().map(|line| line.chars().count()).sum::<usize>() <= WHOLE
            && item.source.chars().count() <= SOURCE
            // A difference is read in the window.
            && detail.diff.is_none();
        let is_permission = Kind::from(item.kind.as_str()).is_permission();
        let offer = if item.risk == Risk::High || !is_permission || !detail.choices.is_empty() {
            Offer::Nothing
        } else if is_whole {
            Offer::ApproveAndDeny
        } else {
            Offer::Deny
        };
        let some = some_lines(detail);
        // What would run says most; of a question it is the question itself.
        let brief = if is_permission { some.last() } else { some.first() };
        Some(Self {
            brief: brief.cloned().unwrap_or_default(),
            key: item.key.parse().ok()?,
            digest: item.digest.clone(),
            source: one_line(&item.source, SOURCE),
            lines: if is_whole { all } else { some },
            offer,
            expires_at: item.expires_at.as_deref().and_then(|at| at.parse().ok()),
        })
    }

    /// It in one short line.
    pub(crate) fn label(&self, longest: usize) -> String {
        cut(&format!("{}: {}", self.source, self.brief), longest)
    }
}

/// Everything that is decided, whole.
fn all_lines(detail: &RequestDetail) -> Vec<String> {
    let prompt = visible_line(detail.prompt.trim());
    let mut lines = vec![prompt.clone()];
    // Nothing is said twice.
    let mut say = |line: String| {
        if !prompt.contains(&line) && !lines.contains(&line) {
            lines.push(line);
        }
    };
    if let Some(arguments) = &detail.arguments {
        say(what_runs(arguments));
    }
    detail.data.iter().chain(&detail.url).for_each(|text| say(visible_line(text)));
    if let Some(tool) = &detail.item.tool {
        say(visible_line(tool));
    }
    if let Some(folder) = &detail.folder {
        say(visible_line(&format!("in {folder}")));
    }
    detail.notes.iter().for_each(|note| say(visible_line(note)));
    lines
}

/// The one argument where there is but one, of those that speak for themselves; else all of them as they came.
fn what_runs(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let single = value.as_object().filter(|object| object.len() == 1).and_then(|object| object.iter().next());
    match single {
        Some((name, Value::String(text))) if matches!(name.as_str(), "command" | "url") => visible_line(text),
        Some(_) | None => visible_line(arguments.trim()),
    }
}

/// What is too long to be said whole.
fn some_lines(detail: &RequestDetail) -> Vec<String> {
    let (prompt, summary) = (one_line(&detail.prompt, PROMPT), one_line(&detail.item.summary, SUMMARY));
    if summary.is_empty() || prompt.contains(&summary) { vec![prompt] } else { vec![prompt, summary] }
}

/// Text from outside on one line, with what would hide made visible and what is left out marked.
fn one_line(text: &str, max: usize) -> String {
    visible_line(&cut(text.trim(), max))
}

#[cfg(test)]
pub(crate) mod tests {
    use sayso_host::dto::{RequestChoice, RequestItem};

    use super::*;

    /// An approval with nothing but a prompt.
    pub(crate) fn approval(prompt: &str) -> RequestDetail {
        RequestDetail {
            request: String::new(),
            item: RequestItem {
                key: "0198c0de-0000-7000-8000-000000000001".to_owned(),
                kind: "approval".to_owned(),
                prompt: prompt.to_owned(),
                summary: String::new(),
                source: "demo".to_owned(),
                run: None,
                tool: None,
                state: "pending".to_owned(),
                received_at: String::new(),
                expires_at: None,
                group: String::new(),
                plain: true,
                request: None,
                digest: "d".to_owned(),
                risk: Risk::Low,
                snoozed_until: None,
            },
            prompt: prompt.to_owned(),
            arguments: None,
            editable: None,
            choices: Vec::new(),
            data: None,
            url: None,
            folder: None,
            diff: None,
            notes: Vec::new(),
            marks: Vec::new(),
            trail: Vec::new(),
            decision: None,
        }
    }

    fn of(change: impl FnOnce(&mut RequestDetail)) -> Glance {
        let mut detail = approval("Run a command?");
        change(&mut detail);
        Glance::of(&detail).unwrap()
    }

    #[test]
    fn it_says_all_that_is_decided_and_nothing_twice() {
        let glance = of(|detail| {
            detail.item.tool = Some("shell".to_owned());
            detail.item.summary = "rm -r build".to_owned();
            detail.arguments = Some(r#"{"command":"rm -r build"}"#.to_owned());
            detail.folder = Some("/work".to_owned());
            detail.notes = vec!["Deletes a folder.".to_owned()];
        });
        assert_eq!(glance.lines, ["Run a command?", "rm -r build", "shell", "in /work", "Deletes a folder."]);
        assert_eq!(glance.offer, Offer::ApproveAndDeny);
        assert_eq!(glance.label(30), "demo: rm -r build");
        let question = of(|detail| {
            detail.item.kind = "question".to_owned();
            detail.item.summary = "Red, Blue".to_owned();
        });
        assert_eq!(question.label(30), "demo: Run a command?");
        let glance = of(|detail| {
            detail.prompt = "Run rm -r build?".to_owned();
            detail.arguments = Some(r#"{"command":"rm -r build"}"#.to_owned());
        });
        assert_eq!(glance.lines, ["Run rm -r build?"]);
        let glance = of(|detail| {
            detail.arguments = Some(r#"{"command":"make","timeout_seconds":9}"#.to_owned());
        });
        assert_eq!(glance.lines[1], r#"{"command":"make","timeout_seconds":9}"#, "every argument is decided");
    }

    #[test]
    fn what_is_not_said_whole_cannot_be_approved_there() {
        let long = |length: usize| format!(r#"{{"command":"{}"}}"#, "x".repeat(length));
        let offer = |length| of(|detail| detail.arguments = Some(long(length))).offer;
        assert_eq!((offer(250), offer(300)), (Offer::ApproveAndDeny, Offer::Deny));
        assert_eq!(of(|detail| detail.diff = Some("-a\n+b".to_owned())).offer, Offer::Deny);
        assert_eq!(of(|detail| detail.notes = (0..6).map(|n| n.to_string()).collect()).offer, Offer::Deny);
        assert_eq!(of(|detail| detail.data = Some("9".repeat(400))).offer, Offer::Deny);
        assert_eq!(of(|detail| detail.item.source = "n".repeat(61)).offer, Offer::Deny);
        let glance = of(|detail| detail.prompt = "x".repeat(1_000_000));
        assert!(glance.lines[0].ends_with("… (999760 more characters)"), "{:?}", glance.lines);
        assert_eq!(glance.offer, Offer::Deny);
    }

    #[test]
    fn what_needs_care_data_or_a_choice_is_decided_in_the_window() {
        assert_eq!(of(|detail| detail.item.risk = Risk::High).offer, Offer::Nothing);
        assert_eq!(of(|detail| detail.item.risk = Risk::Medium).offer, Offer::ApproveAndDeny);
        for kind in ["input", "question", "authorization", "something_else"] {
            assert_eq!(of(|detail| detail.item.kind = kind.to_owned()).offer, Offer::Nothing, "{kind}");
        }
        let choice =
            RequestChoice { id: "a".to_owned(), label: "A".to_owned(), effect: "approve".to_owned() };
        assert_eq!(of(|detail| detail.choices = vec![choice]).offer, Offer::Nothing);
    }

    #[test]
    fn what_hides_is_shown() {
        let glance = of(|detail| {
            detail.item.source = "a\u{202e}b".to_owned();
            detail.prompt = "one\ntwo\u{200b}".to_owned();
        });
        assert_eq!((glance.source.as_str(), glance.lines[0].as_str()), ("a‹U+202E›b", "one⏎two‹U+200B›"));
    }
}
