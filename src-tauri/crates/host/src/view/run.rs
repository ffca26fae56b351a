use std::collections::HashMap;

use sayso_agent::{Style, message_text};
use sayso_domain::RequestKey;
use sayso_domain::run::Status;
use sayso_store::calls::CallRow;
use sayso_store::history::HistoryRow;
use sayso_store::messages::MessageRow;
use sayso_store::runs::RunRow;

use super::edits::Edits;
use super::summary;
use crate::agent_config::AgentConfig;
use crate::dto::{CallItem, LiveText, RunDetail, RunItem, ServerReport, TranscriptItem, UsageItem};

/// `waiting` is how many of its requests wait.
pub(crate) fn item(row: &RunRow, waiting: u32) -> RunItem {
    RunItem {
        run: row.id.to_string(),
        agent: row.agent.clone(),
        title: summary::title(&row.task),
        status: row.run.status.as_str().to_owned(),
        detail: match &row.run.status {
            Status::Incomplete(limit) => Some(limit.as_str().to_owned()),
            Status::Error(why) => Some(why.clone()),
            Status::Running | Status::Pending | Status::Done | Status::Interrupted => None,
        },
        turns: row.run.turn,
        usage: UsageItem {
            input_tokens: row.run.usage.input_tokens,
            output_tokens: row.run.usage.output_tokens,
        },
        started_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        waiting,
    }
}

/// How many requests of a run wait that came with its calls.
pub(crate) fn waiting(row: &RunRow) -> u32 {
    u32::try_from(row.run.requests().count()).unwrap_or(u32::MAX)
}

/// What is known of a run only while the host runs.
pub(crate) struct Now {
    /// MCP servers that cannot be used.
    pub(crate) servers: Vec<ServerReport>,
    /// What the model is writing.
    pub(crate) live: Option<LiveText>,
}

pub(crate) fn detail(
    row: &RunRow,
    messages: Vec<MessageRow>,
    calls: &[CallRow],
    decisions: &[HistoryRow],
    now: Now,
) -> RunDetail {
    let config = AgentConfig::parse(&row.config).ok();
    let max_tokens = config.as_ref().and_then(|config| config.max_tokens).map(u64::from);
    let style = config.as_ref().map_or(Style::OpenAi, |config| config.style);
    let edits = Edits::of(decisions);
    let decisions: HashMap<_, _> = decisions.iter().map(|row| (row.request.key, row)).collect();
    RunDetail {
        item: item(row, waiting(row)),
        task: row.task.clone(),
        model: config.as_ref().map(|config| config.model.clone()).unwrap_or_default(),
        folder: config.and_then(|config| config.folder).map(|folder| folder.display().to_string()),
        messages: messages.into_iter().map(|message| transcript_item(style, message)).collect(),
        calls: calls.iter().map(|call| call_item(call, &edits, &decisions)).collect(),
        queued: row.run.queued.clone(),
        servers: now.servers,
        // A turn that is committed is among the messages.
        live: now.live.filter(|live| live.turn > row.run.turn),
        max_turns: row.run.max_turns,
        max_tokens,
    }
}

fn transcript_item(style: Style, message: MessageRow) -> TranscriptItem {
    let text = match message.turn {
        None => message.content,
        Some(_) => serde_json::from_str(&message.content)
            .map(|content| message_text(style, &content))
            .unwrap_or(message.content),
    };
    TranscriptItem { role: message.role, text, turn: message.turn, at: message.at.to_string() }
}

fn call_item(call: &CallRow, edits: &Edits<'_>, decisions: &HashMap<RequestKey, &HistoryRow>) -> CallItem {
    let result = call.slot.result();
    let edited = edits.of_call(&call.slot);
    let decision = call.request.and_then(|key| decisions.get(&key)).map(|row| &row.settled);
    CallItem {
        turn: call.slot.id.turn,
        index: call.slot.id.index,
        tool: call.slot.name.clone(),
        arguments: call.slot.arguments.clone(),
        edited: edited.map(str::to_owned),
        summary: summary::of_arguments(edited.unwrap_or(&call.slot.arguments)),
        state: call.slot.state.as_str().to_owned(),
        output: result.map(|result| result.output.clone()),
        is_error: result.is_some_and(|result| result.is_error),
        request: call.request.map(|key| key.to_string()),
        outcome: decision.map(|settled| settled.settlement.outcome.to_string()),
        decided_by: decision.map(|settled| settled.by.as_str().to_owned()),
    }
}
