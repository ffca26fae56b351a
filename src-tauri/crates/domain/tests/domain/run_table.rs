use sayso_domain::ToolResult;
use sayso_domain::run::{CallState, Event, Limit, Run, RunMode};

use crate::script::{check, check_within, results};
use crate::world::World;

#[test]
fn contract_28_a_run_without_calls_is_done() {
    check(&[("told hi", "user:hi model | running"), ("reply", "assistant:1 | done")]);
}

#[test]
fn contract_28_a_run_whose_model_fails_ends_with_an_error() {
    check(&[
        ("told hi", "user:hi model | running"),
        ("fail", "| error"),
        ("reply allow", "| error"),
        ("told again", "user:again model | running"),
        ("reply", "assistant:1 | done"),
    ]);
}

#[test]
fn contract_08_refusal_becomes_exact_error() {
    let run = check(&[
        ("told buy", "user:buy model | running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("no r1", "model | running"),
    ]);
    assert_eq!(results(&run), ["error: declined/expired: Run tool0?"]);
    check(&[
        ("told buy", "user:buy model | running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("no r1", "model | running"),
        ("reply", "assistant:2 | done"),
    ]);
}

#[test]
fn contract_10_an_approved_call_runs_once() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("ok r1", "approved:0 | running"),
        ("ok r1", "| running"),
        ("no r1", "| running"),
        ("done 0", "model | running"),
        ("done 0", "| running"),
        ("ok r1", "| running"),
    ]);
    assert_eq!(results(&run), ["output 0"]);
}

#[test]
fn contract_10_a_suspended_call_is_retried_once_with_the_answer() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("ok r1", "retry:0 | running"),
        ("done 0", "model | running"),
    ]);
    assert_eq!(results(&run), ["output 0"]);
}

#[test]
fn contract_08_a_refused_suspension_echoes_the_tools_own_prompt() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("no r1", "model | running"),
    ]);
    assert_eq!(results(&run), ["error: declined/expired: Tool0 asks?"]);
}

/// Our gate first, then the tool's own request; the gate is not asked again for the retry.
#[test]
fn a_gated_call_may_still_ask_for_itself() {
    check(&[
        ("told go", "user:go model | running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("ok r1", "approved:0 | running"),
        ("suspend 0", "ask:0:r2 | pending"),
        ("ok r1", "| pending"),
        ("ok r2", "retry:0 | running"),
        ("done 0", "model | running"),
    ]);
}

#[test]
fn contract_11_a_retry_that_suspends_again_is_unresolved() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("ok r1", "retry:0 | running"),
        ("suspend 0", "model | running"),
    ]);
    assert_eq!(results(&run), ["error: unresolved: Tool0 asks?"]);
}

#[test]
fn contract_11_a_retry_whose_file_changed_is_unresolved_too() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("ok r1", "retry:0 | running"),
        ("stale 0", "model | running"),
    ]);
    assert_eq!(results(&run), ["error: unresolved: Tool0 asks?"]);
}

#[test]
fn contract_05_a_suspension_that_cannot_be_used_is_a_plain_error() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("broken 0", "model | running"),
    ]);
    assert_eq!(results(&run), ["error: The tool asked for a person, but what it asked cannot be used."]);
}

#[test]
fn contract_15_answers_come_in_any_order_and_results_stay_in_call_order() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply ask allow ask reject", "assistant:1 ask:0:r1 run:1 ask:2:r2 | running"),
        ("done 1", "| pending"),
        ("ok r2", "approved:2 | running"),
        ("done 2", "| pending"),
        ("no r1", "model | running"),
    ]);
    assert_eq!(
        results(&run),
        ["error: declined/expired: Run tool0?", "output 1", "output 2", "error: Unknown tool: tool3"]
    );
}

#[test]
fn contract_17_a_suspended_turn_keeps_every_real_result() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow allow allow", "assistant:1 run:0 run:1 run:2 | running"),
        ("done 0", "| running"),
        ("suspend 1", "ask:1:r1 | running"),
        ("err 2", "| pending"),
    ]);
    assert_eq!(results(&run), ["output 0", "suspended", "error: it broke"]);
}

#[test]
fn contract_17_words_while_a_call_waits_go_with_the_next_turn() {
    check(&[
        ("told go", "user:go model | running"),
        ("told early", "| running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("told later", "| pending"),
        ("no r1", "user:early user:later model | running"),
        ("told last", "| running"),
        ("reply", "assistant:2 user:last model | running"),
        ("reply", "assistant:3 | done"),
    ]);
}

#[test]
fn words_in_the_queue_outlive_a_model_that_fails() {
    check(&[
        ("told go", "user:go model | running"),
        ("told more", "| running"),
        ("fail", "user:more | error"),
        ("told again", "user:again model | running"),
    ]);
}

#[test]
fn contract_18_resuming_runs_the_stored_call_without_the_model() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply ask allow", "assistant:1 ask:0:r1 run:1 | running"),
        ("done 1", "| pending"),
    ]);
    let mut resumed: Run = serde_json::from_str(&serde_json::to_string(&run).unwrap()).unwrap();
    assert_eq!(resumed.handle(Event::Recovered { unknown: Vec::new() }), Default::default());
    assert_eq!(resumed, run, "nothing runs again, nobody is asked again");
}

#[test]
fn contract_19_and_20_a_rejected_call_asks_nobody_and_runs_nothing() {
    let run =
        check(&[("told go", "user:go model | running"), ("reply reject", "assistant:1 model | running")]);
    assert_eq!(results(&run), ["error: Unknown tool: tool0"]);
}

#[test]
fn contract_22_max_turns_is_incomplete_and_keeps_the_last_results() {
    let rows = [
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("done 0", "model | running"),
        ("reply ask", "assistant:2 ask:0:r1 | pending"),
        ("ok r1", "approved:0 | running"),
        ("done 0", "| incomplete maxTurns"),
        ("reply", "| incomplete maxTurns"),
    ];
    assert_eq!(results(&check_within(2, &rows)), ["output 0"]);
}

#[test]
fn contract_22_the_last_turn_may_still_say_done() {
    check_within(
        2,
        &[
            ("told go", "user:go model | running"),
            ("reply reject", "assistant:1 model | running"),
            ("reply", "assistant:2 | done"),
        ],
    );
}

#[test]
fn contract_22_a_run_out_of_tokens_is_incomplete_and_says_so() {
    let rows = [
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("limit", "| running"),
        ("told more", "| running"),
        ("done 0", "user:more model | running"),
        ("limit", "| incomplete maxTokens"),
        ("limit", "| incomplete maxTokens"),
        ("told on", "user:on model | running"),
    ];
    assert_eq!(results(&check_within(10, &rows)), ["output 0"], "what was done is kept");
    assert_eq!(Limit::from_name("maxTokens"), Some(Limit::Tokens));
    assert_eq!(Limit::from_name(Limit::MaxTurns.as_str()), Some(Limit::MaxTurns));
    assert_eq!(Limit::from_name("time"), None);
}

#[test]
fn contract_22_a_word_from_the_person_starts_the_count_again() {
    check_within(
        1,
        &[
            ("told go", "user:go model | running"),
            ("reply reject", "assistant:1 | incomplete maxTurns"),
            ("told on", "user:on model | running"),
            ("told and on", "| running"),
            ("reply reject", "assistant:2 user:and on model | running"),
            ("reply reject", "assistant:3 | incomplete maxTurns"),
        ],
    );
}

#[test]
fn a_stopped_run_withdraws_ends_and_ignores_what_comes_late() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply ask allow allow", "assistant:1 ask:0:r1 run:1 run:2 | running"),
        ("suspend 2", "ask:2:r2 | running"),
        ("told more", "| running"),
        ("stop", "user:more withdraw:r1 kill:1 withdraw:r2 | interrupted"),
        ("ok r1", "| interrupted"),
        ("done 1", "| interrupted"),
        ("ok r2", "| interrupted"),
        ("stale 1", "| interrupted"),
        ("recover 1", "| interrupted"),
        ("stop", "| interrupted"),
    ]);
    assert_eq!(
        results(&run),
        [
            "error: declined/expired: Run tool0?",
            "error: Stopped by the person while it was running. It may have partly happened.",
            "error: declined/expired: Tool2 asks?",
        ]
    );
}

#[test]
fn a_stopped_run_goes_on_when_told_and_old_calls_stay_ended() {
    check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("stop", "kill:0 | interrupted"),
        ("told on", "user:on model | running"),
        ("done 0@1", "| running"),
        ("reply allow", "assistant:2 run:0 | running"),
        ("done 0@1", "| running"),
        ("done 0@2", "model | running"),
    ]);
}

#[test]
fn a_run_that_was_told_nothing_has_nothing_to_stop() {
    check(&[("stop", "| done"), ("reply allow", "| done"), ("fail", "| done"), ("recover", "| done")]);
}

#[test]
fn after_a_crash_a_call_with_effects_is_asked_about_and_one_without_runs_again() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow ask allow", "assistant:1 run:0 ask:1:r1 run:2 | running"),
        ("ok r1", "approved:1 | running"),
        ("done 2", "| running"),
        ("recover 1", "run:0 ask:1:r2 | running"),
        ("done 0", "| pending"),
        ("ok r1", "| pending"),
        ("recover", "| pending"),
        ("no r2", "model | running"),
    ]);
    assert_eq!(results(&run)[0], "output 0");
    assert!(
        results(&run)[1].starts_with("error: The outcome of this call is unknown"),
        "{:?}",
        results(&run)
    );
}

#[test]
fn after_a_crash_a_yes_runs_it_again_as_it_was_started() {
    check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("ok r1", "retry:0 | running"),
        ("recover 0", "ask:0:r2 | pending"),
        ("ok r2", "retry:0 | running"),
        ("recover 0", "ask:0:r3 | pending"),
        ("ok r3", "retry:0 | running"),
        ("suspend 0", "model | running"),
    ]);
}

#[test]
fn after_a_crash_the_model_is_called_if_all_results_are_in() {
    check(&[
        ("told go", "user:go model | running"),
        ("recover", "model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("done 0", "model | running"),
        ("told more", "| running"),
        ("recover 0", "user:more model | running"),
        ("reply", "assistant:2 | done"),
    ]);
}

#[test]
fn a_file_that_changed_is_asked_about_again_and_bound_anew() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply ask", "assistant:1 ask:0:r1 | pending"),
        ("ok r1", "approved:0 | running"),
        ("stale 0", "ask:0:r2 | pending"),
        ("ok r1", "| pending"),
        ("ok r2", "approved:0 | running"),
    ]);
    let CallState::Running(RunMode::Approved { file_hash, .. }) = &run.slots[0].state else {
        panic!("{run:?}")
    };
    assert_eq!(file_hash.as_deref(), Some("hash2"), "the hash that was shown last");
}

/// A reply or a failure of an older model call, while the tools of this turn are at work.
#[test]
fn a_model_that_speaks_out_of_turn_is_not_heard() {
    check(&[
        ("told go", "user:go model | running"),
        ("reply allow", "assistant:1 run:0 | running"),
        ("reply allow", "| running"),
        ("fail", "| running"),
        ("suspend 0", "ask:0:r1 | pending"),
        ("reply", "| pending"),
        ("fail", "| pending"),
    ]);
}

#[test]
fn contract_21_the_models_message_is_kept_as_it_came() {
    let mut world = World::new(10);
    world.apply(Event::Told("go".to_owned()));
    let reply = world.reply(&["allow"]);
    let Event::Replied { message: sent, .. } = &reply else { panic!() };
    let sent = sent.clone();
    let step = world.apply(reply);
    let kept = sayso_domain::run::Message::Assistant { turn: 1, message: sent };
    assert_eq!(step.messages, [kept]);
    assert_eq!((world.run.usage.input_tokens, world.run.usage.output_tokens), (2, 1));
}

#[test]
fn contract_25_the_first_request_in_call_order_is_first() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow ask", "assistant:1 run:0 ask:1:r1 | running"),
        ("suspend 0", "ask:0:r2 | pending"),
    ]);
    let waiting: Vec<_> = run.requests().map(|key| key.uuid().as_u128()).collect();
    assert_eq!(waiting, [2, 1]);
}

#[test]
fn contract_16_calls_with_the_same_provider_id_stay_apart() {
    let run = check(&[
        ("told go", "user:go model | running"),
        ("reply allow allow", "assistant:1 run:0 run:1 | running"),
        ("done 1", "| running"),
    ]);
    assert_eq!(run.slots[0].call_id, run.slots[1].call_id);
    assert_eq!(results(&run), ["running", "output 1"]);
}

#[test]
fn contract_04_a_call_keeps_its_arguments_digit_for_digit() {
    let run =
        check(&[("told go", "user:go model | running"), ("reply allow", "assistant:1 run:0 | running")]);
    let text = serde_json::to_string(&run).unwrap();
    let back: Run = serde_json::from_str(&text).unwrap();
    assert_eq!(back.slots[0].arguments, r#"{"n":9007199254740993}"#);

    let mut result = ToolResult::ok("x");
    result.metadata.insert("n".to_owned(), serde_json::from_str("1.10").unwrap());
    let mut run = run;
    run.handle(Event::Finished { slot: run.slots[0].id, result, asked: None });
    assert!(serde_json::to_string(&run).unwrap().contains(r#""n":1.10"#));
}
