//! Any interleaving of events, likely or not: [`World::apply`] checks each step.

use proptest::prelude::*;
use proptest::sample::Index;
use sayso_domain::run::{Event, Limit, SlotId, Status};
use sayso_domain::{Answer, ToolResult};
use serde_json::json;

use crate::world::{World, no};

#[derive(Clone, Debug)]
enum Op {
    Told,
    Reply(Vec<&'static str>),
    Fail,
    Limit,
    /// Of any request ever asked, settled or not.
    Settle(Index, Said),
    /// Of any call of this turn or the one before.
    Tool(Index, bool, End),
    Stop,
    Recover(u8),
}

#[derive(Clone, Copy, Debug)]
enum Said {
    Yes,
    Edited,
    No,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Done,
    Error,
    Suspend,
    Broken,
    Stale,
}

fn op() -> impl Strategy<Value = Op> {
    let verdict = prop::sample::select(vec!["allow", "allow", "ask", "ask", "ask", "reject"]);
    let end =
        prop::sample::select(vec![End::Done, End::Done, End::Error, End::Suspend, End::Broken, End::Stale]);
    let old = prop::bool::weighted(0.1);
    let said = prop::sample::select(vec![Said::Yes, Said::Edited, Said::No]);
    prop_oneof![
        2 => Just(Op::Told),
        4 => prop::collection::vec(verdict, 0..5).prop_map(Op::Reply),
        1 => Just(Op::Fail),
        1 => Just(Op::Limit),
        8 => (any::<Index>(), said).prop_map(|(at, said)| Op::Settle(at, said)),
        8 => (any::<Index>(), old, end).prop_map(|(at, old, end)| Op::Tool(at, old, end)),
        1 => Just(Op::Stop),
        2 => any::<u8>().prop_map(Op::Recover),
    ]
}

fn play(world: &mut World, op: &Op, words: usize) {
    let event = match op {
        Op::Told => Event::Told(format!("word {words}")),
        Op::Reply(verdicts) => world.reply(verdicts),
        Op::Fail => Event::ModelFailed("no".to_owned()),
        Op::Limit => Event::LimitReached(Limit::Tokens),
        Op::Settle(at, said) => {
            if world.asked.is_empty() {
                return;
            }
            let request = world.asked[at.index(world.asked.len())];
            let id = format!("r{}", request.uuid().as_u128());
            let answer = match said {
                Said::Yes => Answer::ok_with(id, json!({"n": 1})),
                Said::Edited => Answer::ok_with(id, json!({"arguments": {"n": words}})),
                Said::No => no(&id),
            };
            Event::Settled { request, answer }
        }
        Op::Tool(at, old, end) => {
            let turn = if *old { world.run.turn.saturating_sub(1) } else { world.run.turn };
            let slot = SlotId { turn, index: at.index(world.run.slots.len().max(1)) as u32 };
            match end {
                End::Done => Event::Finished { slot, result: ToolResult::ok("fine"), asked: None },
                End::Error => Event::Finished { slot, result: ToolResult::error("broke"), asked: None },
                End::Suspend => world.suspend(slot),
                End::Broken => {
                    let result = ToolResult::pending(&world.ask("?").shown.request);
                    Event::Finished { slot, result, asked: None }
                }
                End::Stale => Event::Stale { slot, asked: Box::new(world.ask("Changed?")) },
            }
        }
        Op::Stop => Event::Stopped,
        Op::Recover(which) => {
            // Some that run, some that don't, some that don't exist.
            let slots = (0..6).filter(|at| which >> at & 1 == 1);
            let slots: Vec<_> = slots.map(|index| SlotId { turn: world.run.turn, index }).collect();
            let unknown = slots.into_iter().map(|slot| (slot, world.ask("Again?"))).collect();
            Event::Recovered { unknown }
        }
    };
    world.apply(event);
}

/// Answers and finishes everything until the run has ended.
fn bring_to_an_end(world: &mut World) {
    for _ in 0..1000 {
        match &world.run.status {
            Status::Done | Status::Incomplete(_) | Status::Interrupted | Status::Error(_) => return,
            Status::Running | Status::Pending => {}
        }
        let waiting: Vec<_> = world.run.requests().collect();
        let slots: Vec<_> = world.run.slots.iter().map(|slot| slot.id).collect();
        for request in waiting {
            let id = format!("r{}", request.uuid().as_u128());
            world.apply(Event::Settled { request, answer: Answer::ok(id) });
        }
        for slot in slots {
            world.apply(Event::Finished { slot, result: ToolResult::ok("fine"), asked: None });
        }
        let reply = world.reply(&[]);
        world.apply(reply);
    }
    panic!("it never ends: {:?}", world.run);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_of_events_keeps_a_run_sound(
        max_turns in 1u32..5, ops in prop::collection::vec(op(), 0..60),
    ) {
        let mut world = World::new(max_turns);
        world.apply(Event::Told("task".to_owned()));
        for (words, op) in ops.iter().enumerate() {
            play(&mut world, op, words);
        }
        bring_to_an_end(&mut world);
    }
}
