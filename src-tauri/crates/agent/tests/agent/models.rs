//! What models and what stands in their place may send.

use std::time::Duration;

use sayso_agent::{
    CallResult, Endpoint, Entry, Model, ModelError, ModelOptions, Style, ToolSpec, message_text,
};
use sayso_domain::run::Usage;
use serde_json::json;

use crate::support::{BOTH, KEY, Reply, Server, quick};

/// Whether an error is the one that is expected.
type IsRight = fn(&ModelError) -> bool;

fn transcript() -> Vec<Entry> {
    vec![Entry::User("go".to_owned())]
}

async fn error(style: Style, reply: Reply) -> ModelError {
    let server = Server::script(style, move |_, _| reply.clone()).await;
    let model =
        Model::new(server.endpoint(), ModelOptions { timeout: Duration::from_millis(300), ..quick() });
    let error = model.complete(None, &transcript(), &[]).await.expect_err("no answer");
    for text in [error.to_string(), format!("{error:?}"), format!("{model:?}")] {
        assert!(!text.contains(KEY), "the key shows: {text}");
    }
    let text = error.to_string();
    assert!(text.contains("Nothing more was run") && text.ends_with("to go on."), "{text}");
    error
}

#[tokio::test]
async fn bad_answers_become_errors_that_say_what_to_do() {
    for style in BOTH {
        let echo =
            json!({ "error": { "message": format!("Incorrect API key provided: {KEY}.") } }).to_string();
        let cases: Vec<(&str, Reply, IsRight)> = vec![
            ("broken JSON", Reply::body(r#"{"choices": ["#), |e| matches!(e, ModelError::BrokenJson { .. })),
            ("not JSON", Reply::body("ok"), |e| matches!(e, ModelError::BrokenJson { .. })),
            ("HTML", Reply::status(200, "content-type: text/html\r\n", "<!doctype html><p>hi"), |e| {
                matches!(e, ModelError::Html { .. })
            }),
            ("nothing", Reply::body(""), |e| matches!(e, ModelError::Empty { .. })),
            ("no choices", Reply::body(r#"{"choices":[]}"#), |e| matches!(e, ModelError::NoMessage { .. })),
            ("a list", Reply::body("[]"), |e| matches!(e, ModelError::NoMessage { .. })),
            ("null message", Reply::body(r#"{"choices":[{"message":null}]}"#), |e| {
                matches!(e, ModelError::NoMessage { .. })
            }),
            ("an error with 200", Reply::body(r#"{"error":{"message":"no credit"}}"#), |e| {
                matches!(e, ModelError::NoMessage { .. }) && e.to_string().contains(": no credit")
            }),
            ("500s", Reply::status(500, "", "{}"), |e| matches!(e, ModelError::Failed { status: 500, .. })),
            ("503 with words", Reply::status(503, "", r#"{"error":"loading model"}"#), |e| {
                e.to_string().contains(": loading model")
            }),
            ("429s", Reply::status(429, "", "{}"), |e| matches!(e, ModelError::RateLimited { .. })),
            ("401", Reply::status(401, "", &echo), |e| {
                matches!(e, ModelError::KeyRefused { status: 401, .. }) && e.to_string().contains("[key]")
            }),
            ("403", Reply::status(403, "", ""), |e| matches!(e, ModelError::KeyRefused { status: 403, .. })),
            ("404", Reply::status(404, "", ""), |e| {
                matches!(e, ModelError::NotFound { .. }) && e.to_string().contains("test-model")
            }),
            ("400", Reply::status(400, "", "{}"), |e| matches!(e, ModelError::Rejected { status: 400, .. })),
            (
                "a redirect",
                Reply::status(302, "location: https://u:p@elsewhere.example/x?k=1\r\n", ""),
                |e| matches!(e, ModelError::Redirected { to, .. } if to == "https://elsewhere.example/x"),
            ),
            ("a dropped connection", Reply::Dropped, |e| matches!(e, ModelError::Dropped { .. })),
            ("half an answer", Reply::Half("{".to_owned()), |e| matches!(e, ModelError::Dropped { .. })),
            ("silence", Reply::Silence, |e| matches!(e, ModelError::Timeout { .. })),
        ];
        for (name, reply, is_right) in cases {
            let error = error(style, reply).await;
            assert!(is_right(&error), "{name}: {error:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_not_read() {
    let server = Server::replies(Style::OpenAi, vec![Reply::body(&"x".repeat(4000))]).await;
    let model = Model::new(server.endpoint(), ModelOptions { max_answer: 1000, ..quick() });
    let error = model.complete(None, &transcript(), &[]).await.unwrap_err();
    assert!(matches!(error, ModelError::TooLarge { limit: 1000, .. }), "{error:?}");
}

#[tokio::test]
async fn a_place_where_nobody_listens_is_unreachable() {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let endpoint = |base_url: String| Endpoint {
        base_url,
        style: Style::OpenAi,
        model: "m".to_owned(),
        key: Some(KEY.to_owned().into()),
    };
    let model = Model::new(endpoint(format!("http://user:{KEY}@{free}/v1?key={KEY}")), quick());
    let error = model.complete(None, &transcript(), &[]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(!format!("{error} {error:?} {model:?}").contains(KEY), "{error}");
    for base_url in ["", "localhost:1", "ftp://h/"] {
        let model = Model::new(endpoint(base_url.to_owned()), quick());
        assert_eq!(model.complete(None, &transcript(), &[]).await.unwrap_err(), ModelError::BadUrl);
    }
}

#[tokio::test]
async fn the_request_is_what_each_style_expects() {
    let spec =
        ToolSpec { name: "t".to_owned(), description: "d".to_owned(), schema: json!({ "type": "object" }) };
    for style in BOTH {
        let server = Server::replies(style, vec![Reply::text(style, "hello")]).await;
        let model = Model::new(server.endpoint(), quick());
        let reply =
            model.complete(Some("be brief"), &transcript(), std::slice::from_ref(&spec)).await.unwrap();
        assert_eq!(reply.text, "hello");
        assert_eq!(message_text(style, &reply.message), "hello");
        assert_eq!(reply.usage, Usage { input_tokens: 10, output_tokens: 5 });
        let captured = server.captured().remove(0);
        let headers = captured.headers.to_ascii_lowercase();
        assert_eq!(captured.json["stream"], false);
        assert_eq!(captured.json["model"], "test-model");
        match style {
            Style::OpenAi => {
                assert_eq!(captured.path, "/v1/chat/completions");
                assert!(headers.contains(&format!("authorization: bearer {KEY}")));
                assert_eq!(captured.json["messages"][0], json!({ "role": "system", "content": "be brief" }));
                assert_eq!(captured.json["messages"][1], json!({ "role": "user", "content": "go" }));
                assert_eq!(captured.json["tools"][0]["function"]["parameters"], spec.schema);
            }
            Style::Anthropic => {
                assert_eq!(captured.path, "/v1/messages");
                assert!(headers.contains(&format!("x-api-key: {KEY}")) && !headers.contains("authorization"));
                assert!(headers.contains("anthropic-version: "));
                assert_eq!(captured.json["system"], "be brief");
                assert!(captured.json["max_tokens"].is_number());
                assert_eq!(captured.json["tools"][0]["input_schema"], spec.schema);
            }
        }
    }
}

#[tokio::test]
async fn without_tools_or_key_neither_is_sent() {
    for style in BOTH {
        let server = Server::replies(style, vec![Reply::text(style, "hello")]).await;
        let model = Model::new(Endpoint { key: None, ..server.endpoint() }, quick());
        model.complete(None, &transcript(), &[]).await.unwrap();
        let captured = server.captured().remove(0);
        assert!(captured.json.get("tools").is_none() && captured.json.get("system").is_none());
        let headers = captured.headers.to_ascii_lowercase();
        assert!(!headers.contains("authorization") && !headers.contains("x-api-key"));
    }
}

#[tokio::test]
async fn quirks_of_local_servers_are_understood() {
    let message = json!({ "content": null, "tool_calls": [
        { "function": { "name": "t", "arguments": { "n": 1, "a": [2] } } },
        { "id": "", "function": { "name": "t", "arguments": null } },
        { "id": "x", "type": "function", "function": { "name": "t" } }
    ] });
    let answer =
        Reply::json(&json!({ "choices": [{ "message": message }], "usage": { "prompt_tokens": 3.0 } }));
    let server = Server::replies(Style::OpenAi, vec![answer, Reply::text(Style::OpenAi, "end")]).await;
    let model = Model::new(server.endpoint(), quick());
    let reply = model.complete(None, &transcript(), &[]).await.unwrap();
    let arguments: Vec<_> = reply.calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"n":1,"a":[2]}"#, "", ""]);
    assert!(reply.calls[0].call_id.starts_with("call_") && reply.calls[0].call_id != reply.calls[1].call_id);
    assert_eq!(reply.usage.input_tokens, 3);
    assert_eq!(reply.text, "");

    let results = reply.calls.iter().map(|call| CallResult {
        call_id: call.call_id.clone(),
        output: "r".to_owned(),
        is_error: false,
    });
    let said = Entry::Assistant { message: reply.message.clone(), results: results.collect() };
    model.complete(None, &[Entry::User("go".to_owned()), said], &[]).await.unwrap();
    assert_eq!(server.last_results().len(), 3, "each made-up id has its result");
    assert_eq!(server.captured()[1].json["messages"][1]["role"], "assistant");
}

#[tokio::test]
async fn users_words_stand_after_the_results_and_roles_alternate() {
    for style in BOTH {
        let server = Server::replies(
            style,
            vec![
                Reply::calls(style, &[("c1", "t", "{}")]),
                Reply::text(style, ""),
                Reply::text(style, "end"),
            ],
        )
        .await;
        let model = Model::new(server.endpoint(), quick());
        let first = model.complete(None, &transcript(), &[]).await.unwrap();
        let result = CallResult { call_id: "c1".to_owned(), output: String::new(), is_error: false };
        let silent = model.complete(None, &transcript(), &[]).await.unwrap();
        assert_eq!(silent.text, "");
        let entries = [
            Entry::User("go".to_owned()),
            Entry::Assistant { message: first.message, results: vec![result] },
            Entry::User("also".to_owned()),
            Entry::Assistant { message: silent.message, results: Vec::new() },
            Entry::User("well?".to_owned()),
        ];
        model.complete(None, &entries, &[]).await.unwrap();
        server.bodies();
        let messages = server.captured()[2].json["messages"].as_array().unwrap().clone();
        let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
        match style {
            Style::OpenAi => assert_eq!(roles, ["user", "assistant", "tool", "user", "user"]),
            Style::Anthropic => {
                assert_eq!(roles, ["user", "assistant", "user"]);
                let kinds: Vec<_> = messages[2]["content"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|block| block["type"].clone())
                    .collect();
                assert_eq!(kinds, ["tool_result", "text", "text"]);
            }
        }
    }
}

#[tokio::test]
async fn a_result_that_a_journal_lost_is_made_up_as_an_error() {
    for style in BOTH {
        let replies =
            vec![Reply::calls(style, &[("c1", "t", "{}"), ("c2", "t", "{}")]), Reply::text(style, "end")];
        let server = Server::replies(style, replies).await;
        let model = Model::new(server.endpoint(), quick());
        let message = model.complete(None, &transcript(), &[]).await.unwrap().message;
        let entries = [Entry::User("go".to_owned()), Entry::Assistant { message, results: Vec::new() }];
        model.complete(None, &entries, &[]).await.unwrap();
        assert_eq!(server.last_results().len(), 2);
    }
}
