use std::collections::BTreeSet;
use std::path::Path;

use sayso_domain::text::{visible, visible_command};
use sayso_domain::{Kind, RequestKey, text};
use sayso_host::code;
use sayso_host::dto::{
    Decide, Decision, HistoryFilter, HistoryPage, InboxList, InboxPage, RequestDetail, RequestItem,
    RequestRef,
};
use serde_json::Value;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::{Out, Style};
use crate::questions::Questions;
use crate::way::Way;
use crate::when::{now, relative};
use crate::wire;

/// Arguments that a shell runs.
const COMMANDS: [&str; 4] = ["command", "cmd", "shell_command", "script"];
/// How much of what waits is asked for at once.
const LARGEST_PAGE: u32 = 1000;
/// The shortest beginning of a key or a run that is taken for the whole.
const SHORTEST: usize = 6;
/// How many of the last decisions the beginning of a key is compared with.
pub(crate) const DECIDED: u32 = 300;

pub(crate) async fn list(out: &Out, data_dir: &Path) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let items = waiting(&way, out.is_json()).await?;
    if out.is_json() {
        items.iter().try_for_each(|item| out.value(&wire::request(item)))?;
    } else if items.is_empty() {
        out.line("Nothing waits for you.")?;
    } else {
        let now = now();
        let row = |item: &RequestItem| {
            let deadline = item.expires_at.as_deref().map(|at| relative(at, now)).unwrap_or_default();
            let kind = item.tool.clone().unwrap_or_else(|| item.kind.clone());
            [
                item.key.clone(),
                item.source.clone(),
                kind,
                relative(&item.received_at, now),
                deadline,
                item.prompt.clone(),
            ]
        };
        let head = ["KEY", "FROM", "KIND", "ASKED", "EXPIRES", "PROMPT"];
        out.table(head, &items.iter().map(row).collect::<Vec<_>>())?;
    }
    Ok(Exit::Done)
}

/// All that waits, page by page; `whole` with the requests as they came.
pub(crate) async fn waiting(way: &Way, whole: bool) -> Result<Vec<RequestItem>, Failure> {
    let mut items = Vec::new();
    let mut after = None;
    loop {
        let params = InboxList { after, limit: Some(LARGEST_PAGE), whole };
        let page: InboxPage = way.call("inbox.list", params).await?;
        items.extend(page.items);
        after = page.next;
        if after.is_none() {
            return Ok(items);
        }
    }
}

pub(crate) async fn show(out: &Out, data_dir: &Path, key: &str) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let detail = detail(&way, key).await?;
    if out.is_json() {
        out.value(&wire::request_detail(&detail))?;
    } else {
        print_detail(out, &detail)?;
        out.field("digest", Some(&detail.item.digest))?;
        match &detail.decision {
            Some(decision) => print_decision(out, decision)?,
            None => print_how_to_decide(out, &detail)?,
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn accept(
    out: &Out,
    data_dir: &Path,
    key: &str,
    data: Option<String>,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    yes(out, &way, detail_for_yes(&way, key).await?.item, data).await
}

/// Data for a request that asks for some. It never says yes to what only wants a yes, such as a command.
pub(crate) async fn answer(out: &Out, data_dir: &Path, key: &str, data: String) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let item = detail_for_yes(&way, key).await?.item;
    if Kind::from(item.kind.as_str()).collects_data() {
        return yes(out, &way, item, Some(data)).await;
    }
    let message = format!(
        "This request asks for a yes or a no, and for no data. Nothing was decided. Use `sayso approve {key}` or \
         `sayso deny {key}`.",
        key = item.key
    );
    Err(Failure::new(Exit::Refused, code::INVALID_DATA, message))
}

async fn yes(out: &Out, way: &Way, item: RequestItem, data: Option<String>) -> Result<Exit, Failure> {
    let yes = Decide { key: item.key, ok: true, data, reason: None, digest: Some(item.digest) };
    decide(out, way, yes).await?;
    Ok(Exit::Done)
}

pub(crate) async fn deny(
    out: &Out,
    data_dir: &Path,
    key: &str,
    reason: Option<String>,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let item = detail(&way, key).await?.item;
    let no = Decide { key: item.key, ok: false, data: None, reason, digest: Some(item.digest) };
    decide(out, &way, no).await?;
    Ok(Exit::Done)
}

/// Sends a decision and prints what became of it.
pub(crate) async fn decide(out: &Out, way: &Way, decide: Decide) -> Result<(), Failure> {
    let decision: Decision = way.call("inbox.decide", decide).await?;
    if out.is_json() {
        out.value(&wire::decision(&decision))?;
        Ok(())
    } else {
        print_decision(out, &decision)
    }
}

/// A request by its key or the beginning of it.
pub(crate) async fn detail(way: &Way, key: &str) -> Result<RequestDetail, Failure> {
    let key = if key.parse::<RequestKey>().is_ok() {
        key.to_owned()
    } else {
        let items = waiting(way, false).await?;
        one_that_begins(key, items.into_iter().map(|item| item.key), "request", "sayso list")?
    };
    way.call("inbox.show", RequestRef { key }).await
}

/// A request to say yes to. The beginning of a key must fit no decided one either: who wrote it may have seen that one,
/// and what came in since then must not get its yes.
async fn detail_for_yes(way: &Way, key: &str) -> Result<RequestDetail, Failure> {
    if key.parse::<RequestKey>().is_ok() {
        return detail(way, key).await;
    }
    let waiting = waiting(way, false).await?;
    let filter = HistoryFilter { limit: Some(DECIDED), ..HistoryFilter::default() };
    let decided: HistoryPage = way.call("history.list", filter).await?;
    let keys: BTreeSet<_> = waiting
        .into_iter()
        .map(|item| item.key)
        .chain(decided.items.into_iter().map(|item| item.key))
        .collect();
    let key = one_that_begins(key, keys.into_iter(), "request", "sayso list")?;
    way.call("inbox.show", RequestRef { key }).await
}

/// The only id that begins with `text`.
pub(crate) fn one_that_begins(
    text: &str,
    ids: impl Iterator<Item = String>,
    what: &str,
    list: &str,
) -> Result<String, Failure> {
    let lower = text.to_ascii_lowercase();
    let found: Vec<_> = ids.filter(|id| text.len() >= SHORTEST && id.starts_with(&lower)).collect();
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => {
            let message = format!("There is no {what} `{}`. `{list}` shows them.", text::visible_line(text));
            Err(Failure::new(Exit::Gone, "not_found", message))
        }
        several => {
            let message = format!(
                "{} of them begin with `{lower}`. Nothing was changed. Write more of the {what}'s id: `{list}` shows it.",
                several.len()
            );
            Err(Failure::new(Exit::Gone, "ambiguous", message))
        }
    }
}

/// Everything that a person needs to decide, nothing cut.
pub(crate) fn print_detail(out: &Out, detail: &RequestDetail) -> Result<(), Failure> {
    let (item, now) = (&detail.item, now());
    let prompt = visible(&detail.prompt);
    // Where it has several lines, each begins with a bar, so that none can pass for a line of ours.
    let bar = if prompt.contains('\n') { "│ " } else { "" };
    for line in prompt.split('\n') {
        out.line(&out.styled(Style::Strong, &format!("{bar}{line}")))?;
    }
    let since = |at: &String| format!("{} ({at})", relative(at, now));
    out.field("key", Some(&item.key))?;
    out.field("kind", Some(&item.kind))?;
    out.field("from", Some(&item.source))?;
    out.field("run", item.run.as_deref())?;
    out.field("asked", Some(&since(&item.received_at)))?;
    out.field("expires", item.expires_at.as_ref().map(since).as_deref())?;
    out.field("put off", item.snoozed_until.as_ref().map(since).as_deref())?;
    out.field("tool", item.tool.as_deref())?;
    out.field("folder", detail.folder.as_deref())?;
    out.field("opens", detail.url.as_deref())?;
    match Questions::of(detail) {
        Some(questions) => print_questions(out, &questions)?,
        None => print_what_runs(out, detail)?,
    }
    if let Some(diff) = &detail.diff {
        out.block("diff", diff.strip_suffix('\n').unwrap_or(diff))?;
    }
    if !detail.notes.is_empty() {
        out.block("notes", &detail.notes.join("\n"))?;
    }
    if !detail.trail.is_empty() {
        let step = |step: &sayso_host::dto::TrailStep| {
            format!("{:<7} {}", step.kind, text::visible_line(&step.text))
        };
        out.block("what led here", &detail.trail.iter().map(step).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(())
}

fn print_questions(out: &Out, questions: &Questions) -> Result<(), Failure> {
    for question in &questions.0 {
        out.block("question", &question.text)?;
        let options = question.options.iter().enumerate();
        options.map(|(at, option)| (at + 1, option)).try_for_each(|(number, option)| {
            out.line(&format!("    {number}  {}", text::visible_line(option)))
        })?;
    }
    Ok(())
}

fn print_what_runs(out: &Out, detail: &RequestDetail) -> Result<(), Failure> {
    if let Some(arguments) = &detail.arguments {
        print_json(out, "arguments", arguments)?;
    }
    let Some(data) = &detail.data else { return Ok(()) };
    match rest_of_data(detail, wire::json_of(data)) {
        Some(rest) => print_json(out, "data", &rest),
        None => Ok(()),
    }
}

/// What the data says that is not shown otherwise: it may say once more which call it is about, what may be made of it and
/// what can be chosen.
fn rest_of_data(detail: &RequestDetail, data: Value) -> Option<String> {
    let Value::Object(mut fields) = data else { return Some(data.to_string()) };
    let arguments = detail.arguments.as_deref().map(wire::json_of);
    if arguments.is_some() && fields.get("arguments") == arguments.as_ref() {
        fields.shift_remove("arguments");
        if fields.get("tool").and_then(Value::as_str) == detail.item.tool.as_deref() {
            fields.shift_remove("tool");
        }
    }
    if detail.editable.is_some() && detail.editable == fields.get("argumentsSchema").map(ToString::to_string)
    {
        fields.shift_remove("argumentsSchema");
    }
    if !detail.choices.is_empty() {
        fields.shift_remove("choices");
    }
    (!fields.is_empty()).then(|| Value::Object(fields).to_string())
}

/// An object as one block a key, texts as they are, so that a command or a file's content reads as it will run; all else
/// as it came.
fn print_json(out: &Out, name: &str, json: &str) -> Result<(), Failure> {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::Object(fields)) if !fields.is_empty() => {
            for (key, value) in &fields {
                let shown = match value.as_str() {
                    // There a single letter is another program.
                    Some(command) if COMMANDS.contains(&key.as_str()) => visible_command(command),
                    Some(text) => text.to_owned(),
                    None => value.to_string(),
                };
                out.block(&text::visible_line(&format!("{name}: {key}")), &shown)?;
            }
        }
        _ => out.block(name, json)?,
    }
    Ok(())
}

fn print_how_to_decide(out: &Out, detail: &RequestDetail) -> Result<(), Failure> {
    let key = &detail.item.key;
    if !detail.choices.is_empty() {
        return print_how_to_choose(out, detail);
    }
    let yes = match detail.item.kind.as_str() {
        "question" => format!("sayso answer {key} --data '{{\"answers\":[\"…\"]}}'"),
        "input" => format!("sayso answer {key} --data JSON"),
        _ => format!("sayso approve {key}"),
    };
    out.line(&format!("\nTo decide: {yes}\n       or: sayso deny {key} --reason TEXT"))?;
    print_how_to_edit(out, detail)
}

/// Each choice with the command that makes it.
fn print_how_to_choose(out: &Out, detail: &RequestDetail) -> Result<(), Failure> {
    let key = &detail.item.key;
    out.line("\nTo decide, choose one:")?;
    for choice in &detail.choices {
        let (label, id) = (text::visible_line(&choice.label), serde_json::Value::from(choice.id.as_str()));
        let how = match choice.effect.as_str() {
            "approve" => format!("sayso approve {key} --data {}", quoted(&format!("{{\"choice\":{id}}}"))),
            _ => format!("sayso deny {key}"),
        };
        out.line(&format!("  {} {label}: {how}", if choice.effect == "approve" { "yes" } else { "no " }))?;
    }
    print_how_to_edit(out, detail)
}

/// A word for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn print_how_to_edit(out: &Out, detail: &RequestDetail) -> Result<(), Failure> {
    let key = &detail.item.key;
    if detail.editable.is_some() {
        out.line(&format!(
            "  to edit: sayso approve {key} --data '{{\"arguments\":{{…}}}}' runs these arguments instead, all of them"
        ))?;
    }
    Ok(())
}

fn print_decision(out: &Out, decision: &Decision) -> Result<(), Failure> {
    let mut line = format!("{} by {}", capital(&decision.outcome), decision.decided_by);
    if let Some(surface) = &decision.surface {
        line += &format!(" ({surface})");
    }
    line += &format!(", {}", relative(&decision.decided_at, now()));
    out.line(&out.styled(Style::Strong, &line))?;
    let answer = wire::json_of(&decision.answer);
    if let Some(data) = answer.get("data") {
        print_json(out, "data", &data.to_string())?;
    }
    if decision.class.as_deref() == Some("declined") {
        // The word that stands for no reason is none.
        let reason = answer.get("reason").and_then(Value::as_str).filter(|reason| *reason != "declined");
        out.field("reason", reason)?;
    }
    Ok(())
}

pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_stands_for_it_where_it_is_the_only_one() {
        let check = |text: &str, expected: &str| {
            let ids = ["0198aa11-1", "0198aa22-2"].map(str::to_owned);
            let said = match one_that_begins(text, ids.into_iter(), "request", "sayso list") {
                Ok(id) => id,
                Err(Failure::Told { exit, message, .. }) => format!("{exit:?} {message}"),
                Err(Failure::ReaderGone) => String::new(),
            };
            assert!(said.contains(expected), "{text}: {said}");
        };
        check("0198aa11", "0198aa11-1");
        check("0198AA2", "0198aa22-2");
        check("0198aa", "Gone 2 of them");
        check("0198a", "Gone There is no request");
        check("ffffff", "Gone There is no request");
    }
}
