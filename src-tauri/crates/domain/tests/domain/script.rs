//! Runs as tables: each row is an event and, in words, what it must bring about.

use sayso_domain::run::{CallState, Effect, Event, Limit, Message, Run, RunMode, SlotId, Status, Step};
use sayso_domain::{Answer, RequestKey, ToolResult};

use crate::world::{World, no};

/// Plays the rows and returns the run. An event is one of
///
/// `told TEXT`, `reply VERDICT…` (`allow`, `ask`, `reject`), `fail`, `limit`, `ok rN`, `edit rN ARGUMENTS`, `no rN`, `done N`, `err N`, `suspend N`,
/// `broken N` (a suspension that cannot be used), `stale N`, `stop`, `recover N…` (the calls whose effect may have
/// happened). Calls are named by index, of the current turn or as `N@TURN`; requests by their order, `r1` first.
///
/// What it brings about is messages, effects and the status: `user:hi model | running`.
pub(crate) fn check_within(max_turns: u32, rows: &[(&str, &str)]) -> Run {
    let mut world = World::new(max_turns);
    for (row, (event, expected)) in rows.iter().enumerate() {
        let event = parse(&mut world, event);
        let step = world.apply(event);
        assert_eq!(say(&world, &step), *expected, "row {row}: {:?}", rows[row].0);
    }
    world.run
}

pub(crate) fn check(rows: &[(&str, &str)]) -> Run {
    check_within(10, rows)
}

/// The results of the current turn, in call order.
pub(crate) fn results(run: &Run) -> Vec<String> {
    run.slots
        .iter()
        .map(|slot| {
            if let CallState::Finished(result) = &slot.state {
                let kind = if result.is_error { "error: " } else { "" };
                return format!("{kind}{}", result.output);
            }
            slot.state.as_str().to_owned()
        })
        .collect()
}

fn parse(world: &mut World, text: &str) -> Event {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    match verb {
        "told" => Event::Told(rest.to_owned()),
        "reply" => world.reply(&rest.split_whitespace().collect::<Vec<_>>()),
        "fail" => Event::ModelFailed("The model is not reachable.".to_owned()),
        "limit" => Event::LimitReached(Limit::Tokens),
        "ok" => {
            let (request, id) = request(world, rest);
            Event::Settled { request, answer: Answer::ok(id) }
        }
        "edit" => {
            let (name, arguments) = rest.split_once(' ').unwrap();
            let (request, id) = request(world, name);
            let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
            Event::Settled {
                request,
                answer: Answer::ok_with(id, serde_json::json!({ "arguments": arguments })),
            }
        }
        "no" => {
            let (request, id) = request(world, rest);
            Event::Settled { request, answer: no(&id) }
        }
        "done" => finished(world, rest, ToolResult::ok(format!("output {rest}"))),
        "err" => finished(world, rest, ToolResult::error("it broke")),
        "suspend" => {
            let slot = slot(world, rest);
            world.suspend(slot)
        }
        "broken" => {
            let result = ToolResult::pending(&world.ask("Where?").shown.request);
            finished(world, rest, result)
        }
        "stale" => {
            let slot = slot(world, rest);
            let asked = world.ask("Run it on the changed file?");
            Event::Stale { slot, asked: Box::new(asked) }
        }
        "stop" => Event::Stopped,
        "recover" => {
            let slots: Vec<_> = rest.split_whitespace().map(|name| slot(world, name)).collect();
            let unknown = slots.into_iter().map(|slot| (slot, world.ask("Run it again?"))).collect();
            Event::Recovered { unknown }
        }
        _ => panic!("no such event: {text}"),
    }
}

fn finished(world: &World, name: &str, result: ToolResult) -> Event {
    Event::Finished { slot: slot(world, name), result, asked: None }
}

fn slot(world: &World, name: &str) -> SlotId {
    let (index, turn) =
        name.split_once('@').map_or((name, world.run.turn), |(index, turn)| (index, turn.parse().unwrap()));
    SlotId { turn, index: index.parse().unwrap() }
}

fn request(world: &World, name: &str) -> (RequestKey, String) {
    let at: usize = name.trim_start_matches('r').parse().unwrap();
    (world.asked[at - 1], name.to_owned())
}

fn say(world: &World, step: &Step) -> String {
    let mut words = Vec::new();
    words.extend(step.messages.iter().map(|message| match message {
        Message::User(text) => format!("user:{text}"),
        Message::Assistant { turn, .. } => format!("assistant:{turn}"),
    }));
    let name =
        |key: &RequestKey| format!("r{}", world.asked.iter().position(|asked| asked == key).unwrap() + 1);
    words.extend(step.effects.iter().filter_map(|effect| match effect {
        Effect::CallModel => Some("model".to_owned()),
        Effect::RunTool { slot, mode } => Some(match mode {
            RunMode::Allowed => format!("run:{}", slot.index),
            RunMode::Approved { .. } => format!("approved:{}", slot.index),
            RunMode::Retry { .. } => format!("retry:{}", slot.index),
        }),
        Effect::Ask { slot, asked } => Some(format!("ask:{}:{}", slot.index, name(&asked.key))),
        Effect::Withdraw(key) => Some(format!("withdraw:{}", name(key))),
        Effect::KillTool(slot) => Some(format!("kill:{}", slot.index)),
        Effect::Finish(_) => None,
    }));
    let status = world.run.status.as_str();
    words.push(match &world.run.status {
        Status::Incomplete(limit) => format!("| {status} {}", limit.as_str()),
        Status::Running | Status::Pending | Status::Done | Status::Interrupted | Status::Error(_) => {
            format!("| {status}")
        }
    });
    words.join(" ")
}
