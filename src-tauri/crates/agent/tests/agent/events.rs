//! What is shown of a run (contract 34).

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use sayso_agent::{AgentEvent, Watch};
use sayso_domain::Answer;
use sayso_domain::run::Status;

use crate::resume::{client, server, stored, toolkit};
use crate::support::{MODES, Reply, Server};

/// An event in words; pieces of text are joined.
fn words(events: &[AgentEvent]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for event in events {
        let word = match event {
            AgentEvent::Text { text, .. } => {
                match words.last_mut().filter(|last| last.starts_with("text ")) {
                    Some(last) => {
                        last.push_str(text);
                        continue;
                    }
                    None => format!("text {text}"),
                }
            }
            AgentEvent::Restarted { turn } => format!("restarted {turn}"),
            AgentEvent::Call { name, arguments, .. } => format!("call {name} {arguments}"),
            AgentEvent::Pending { request, .. } => format!("pending {}", request.prompt),
            AgentEvent::Result { output, is_error, .. } => format!("result {output} {is_error}"),
            AgentEvent::Usage { usage, total, .. } => format!("usage {} {}", usage.total(), total.total()),
            AgentEvent::Done(status) => format!("done {}", status.as_str()),
        };
        words.push(word);
    }
    words
}

async fn scripted(style: sayso_agent::Style) -> Server {
    let calls = [("c0", "ask", r#"{"n":0}"#), ("p0", "nobody", "{}")];
    Server::replies(style, vec![Reply::turn(style, "let me see", &calls), Reply::text(style, "all done")])
        .await
}

#[tokio::test]
async fn contract_34_a_stream_shows_text_calls_pending_results_usage_and_the_end() {
    for (style, stream) in MODES {
        for yes in [true, false] {
            let server = scripted(style).await;
            let log: Arc<Mutex<Vec<String>>> = Arc::default();
            let asked = Arc::clone(&log);
            let client = client(&server, stream).wait_for(move |request| {
                asked.lock().unwrap().push("waited for".to_owned());
                async move {
                    Ok::<_, Infallible>(match yes {
                        true => Answer::ok(request.id),
                        false => Answer::declined(request.id, "over budget"),
                    })
                }
            });
            let mut run = client.stream("go", &toolkit().0);
            let mut events = Vec::new();
            while let Some(event) = run.next().await {
                if matches!(event, AgentEvent::Pending { .. }) {
                    assert!(!event.is_error(), "a suspension is no error");
                    assert_eq!(log.lock().unwrap().len(), 0, "it is shown before anybody waits");
                }
                events.push(event);
            }
            let mut expected = vec![
                "text let me see",
                r#"call ask {"n":0}"#,
                "call nobody {}",
                "usage 15 15",
                "result Unknown tool: nobody true",
                "pending Do 0?",
                "result ask 0 false",
                "text all done",
                "usage 15 30",
                "done done",
            ];
            if !yes {
                // A refusal brings no second event of its call.
                expected.retain(|word| *word != "result ask 0 false");
            }
            assert_eq!(words(&events), expected, "{style:?} {stream} {yes}");
            let pieces = events.iter().filter(|event| matches!(event, AgentEvent::Text { .. })).count();
            assert_eq!(pieces > 2, stream, "in pieces only from a model that streams");
            let result = run.result().await;
            assert_eq!((result.status, result.text.as_str()), (Status::Done, "all done"));
        }
    }
}

#[tokio::test]
async fn contract_34_a_halt_is_shown_and_so_is_what_comes_of_a_resume() {
    for (style, stream) in MODES {
        let server = server(style, 1).await;
        let client = client(&server, stream);
        let (tools, _) = toolkit();
        let mut run = client.stream("go", &tools);
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
        }
        assert_eq!(words(&events).last().map(String::as_str), Some("done pending"));
        assert!(events.iter().all(|event| !event.is_error()));
        let halted = run.result().await;
        let answer = Answer::ok(halted.pending[0].id.clone());
        let mut run = client.resume_stream(stored(&halted), [answer], &tools).await.unwrap();
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
        }
        assert_eq!(words(&events), ["result ask 0 false", "text end", "usage 15 30", "done done"]);
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_ends_its_run() {
    let server = Server::script(sayso_agent::Style::OpenAi, |_, _| Reply::Silence).await;
    let run = client(&server, true).stream("go", &toolkit().0);
    tokio::select! {
        result = run.result() => panic!("{result:?}"),
        () = crate::support::until("the model is asked", || server.captured().len() == 1) => {}
    }
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(server.captured().len(), 1, "nobody asks again");
}

#[tokio::test]
async fn a_watch_that_panics_changes_nothing() {
    for (style, stream) in MODES {
        let server = scripted(style).await;
        let client = client(&server, stream)
            .watch(Watch::new(|_, event| panic!("on purpose: {event:?}")))
            .wait_for(|request| async move { Ok::<_, Infallible>(Answer::ok(request.id)) });
        let result = client.run("go", &toolkit().0).await;
        assert_eq!((result.status, result.text.as_str()), (Status::Done, "all done"));
    }
}

/// On several threads, and with somebody who takes their time to show it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contract_34_a_request_is_shown_before_anybody_waits_for_it() {
    for (style, stream) in MODES {
        let server = server(style, 1).await;
        let log: Arc<Mutex<Vec<&str>>> = Arc::default();
        let (shown, asked) = (Arc::clone(&log), Arc::clone(&log));
        let client = client(&server, stream)
            .watch(Watch::new(move |_, event| {
                if matches!(event, AgentEvent::Pending { .. }) {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    shown.lock().unwrap().push("shown");
                }
            }))
            .wait_for(move |request| {
                asked.lock().unwrap().push("waited for");
                async move { Ok::<_, Infallible>(Answer::ok(request.id)) }
            });
        client.run("go", &toolkit().0).await;
        assert_eq!(*log.lock().unwrap(), ["shown", "waited for"]);
    }
}
