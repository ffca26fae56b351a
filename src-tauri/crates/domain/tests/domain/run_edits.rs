//! Calls that a person edited before approving them (contract 12), as tables like those of `run_table`.

use crate::script::{check, results};

const TOLD: &str = "A person edited this call before approving it. These arguments took the place of yours: ";

/// `r2` is the first request that may be edited (every other one may).
#[test]
fn contract_12_an_edited_call_says_so_to_the_model_whatever_becomes_of_it() {
    let asked = [
        ("told go", "user:go model | running"),
        ("reply ask ask", "assistant:1 ask:0:r1 ask:1:r2 | pending"),
        ("no r1", "| pending"),
        ("edit r2 {\"n\":2}", "approved:1 | running"),
    ];
    let ended = |rows: &[(&str, &str)]| results(&check(&[&asked[..], rows].concat())).remove(1);
    let told = format!("{TOLD}{{\"n\":2}}\n");
    assert_eq!(ended(&[("done 1", "model | running")]), format!("{told}output 1"));
    assert_eq!(ended(&[("err 1", "model | running")]), format!("error: {told}it broke"));
    assert!(ended(&[("stop", "kill:1 | interrupted")]).starts_with(&format!("error: {told}Stopped")));
    let unknown = [("recover 1", "ask:1:r3 | pending"), ("no r3", "model | running")];
    assert!(ended(&unknown).starts_with(&format!("error: {told}The outcome of this call is unknown")));
    let again = [
        ("recover 1", "ask:1:r3 | pending"),
        ("ok r3", "approved:1 | running"),
        ("done 1", "model | running"),
    ];
    assert_eq!(ended(&again), format!("{told}output 1"));
    let retried =
        [("suspend 1", "ask:1:r3 | pending"), ("ok r3", "retry:1 | running"), ("done 1", "model | running")];
    assert_eq!(ended(&retried), format!("{told}output 1"));
    // What the contract fixes to the letter stays so.
    let refused = [("suspend 1", "ask:1:r3 | pending"), ("no r3", "model | running")];
    assert_eq!(ended(&refused), "error: declined/expired: Tool1 asks?");
}

#[test]
fn contract_12_an_edit_is_kept_when_the_call_is_asked_about_again() {
    let asked = [
        ("told go", "user:go model | running"),
        ("reply allow ask", "assistant:1 run:0 ask:1:r1 | running"),
        ("done 0", "| pending"),
        // It may not be edited, so these count for nothing.
        ("edit r1 {\"n\":7}", "approved:1 | running"),
        ("stale 1", "ask:1:r2 | pending"),
        ("edit r2 {\"n\":2}", "approved:1 | running"),
        ("stale 1", "ask:1:r3 | pending"),
        ("ok r3", "approved:1 | running"),
    ];
    let run = check(&asked);
    assert_eq!(run.slots[1].effective_arguments(), r#"{"n":2}"#);
    // Edited back to what the model wrote, it is no longer edited.
    let back = [
        ("stale 1", "ask:1:r4 | pending"),
        ("edit r4 {\"n\":9007199254740993}", "approved:1 | running"),
        ("done 1", "model | running"),
    ];
    let run = check(&[&asked[..], &back].concat());
    assert_eq!(results(&run)[1], "output 1");
}
