//! What must fail, and how.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HOST, ORIGIN};
use sayso_host::dto::Topic;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::stage::{SOON, Stage, approval, said};

async fn nothing_waits(stage: &Stage) {
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
}

/// Sends bytes as they are, and gives all that comes back.
async fn raw(stage: &Stage, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(stage.address()).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut said = Vec::new();
    tokio::time::timeout(SOON, stream.read_to_end(&mut said)).await.unwrap().unwrap();
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn a_page_in_a_browser_asks_nothing() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let post = || stage.request(Method::POST, &token, "/v1/requests").json(&approval("a"));
    for host in ["evil.example", "127.0.0.1", "127.0.0.1.evil.example"] {
        let refused = said(post().header(HOST, host).send().await.unwrap()).await;
        assert_eq!(refused.problem(), (403, "forbidden_host"), "{host}");
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        let refused = said(post().header(ORIGIN, origin).send().await.unwrap()).await;
        assert_eq!(refused.problem(), (403, "forbidden_origin"), "{origin}");
    }
    for path in ["/v1/requests", "/v1/requests/a/ack", "/v1/events"] {
        let preflight = stage.http.request(Method::OPTIONS, format!("{}{path}", stage.gateway.url()));
        let preflight = preflight.header("access-control-request-method", "POST").send().await.unwrap();
        assert!(
            preflight.headers().keys().all(|name| !name.as_str().starts_with("access-control")),
            "{path}"
        );
        assert_eq!(said(preflight).await.problem(), (405, "method_not_allowed"), "{path}");
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let form = stage.request(Method::POST, &token, "/v1/requests").header(CONTENT_TYPE, kind);
        let form = form.body(approval("a").to_string()).send().await.unwrap();
        assert_eq!(said(form).await.problem(), (415, "bad_request"), "{kind}");
    }
    nothing_waits(&stage).await;
    stage.close().await;
}

#[tokio::test]
async fn huge_and_deep_and_broken_bodies_are_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let send = async |body: String| {
        let request = stage.request(Method::POST, &token, "/v1/requests");
        said(request.header(CONTENT_TYPE, "application/json").body(body).send().await.unwrap()).await
    };
    let of_size = |size: usize| {
        let mut request = approval("a");
        request["data"] = json!("");
        let pad = size - request.to_string().len();
        request["data"] = json!("x".repeat(pad));
        request.to_string()
    };
    let largest = 1024 * 1024;
    assert_eq!(send(of_size(largest + 1)).await.problem(), (413, "too_large"));
    assert_eq!(send(of_size(5 * largest)).await.problem(), (413, "too_large"));
    for depth in [200, 100_000] {
        let deep = format!(
            r#"{{"id":"a","kind":"approval","prompt":"P","data":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        assert_eq!(send(deep).await.problem(), (400, "bad_request"), "{depth}");
    }
    for body in ["", "{", "\u{0}", "nonsense", r#"{"id":"a"} {}"#] {
        assert_eq!(send(body.to_owned()).await.problem(), (400, "bad_request"), "{body:?}");
    }
    for body in [
        json!([]),
        json!(null),
        json!("a"),
        json!({}),
        json!({ "id": "a" }),
        json!({ "id": 7, "kind": "approval", "prompt": "P" }),
    ] {
        assert_eq!(send(body.to_string()).await.problem(), (422, "bad_request"), "{body}");
    }
    nothing_waits(&stage).await;
    assert_eq!(send(of_size(largest)).await.status, 201);
    stage.close().await;
}

#[tokio::test]
async fn what_nobody_could_decide_is_refused_by_name() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let secret =
        json!({ "schema": { "type": "object", "properties": { "password": { "type": "string" } } } });
    let nested = json!({ "schema": { "type": "object", "properties": { "a": { "type": "object" } } } });
    for (change, code) in [
        (json!({ "url": "javascript:alert(1)" }), "bad_url"),
        (json!({ "url": "https://me:pass@example.com" }), "bad_url"),
        (json!({ "kind": "input", "data": secret }), "secret_field"),
        (json!({ "kind": "input", "data": nested }), "bad_schema"),
        (json!({ "expiresAt": "tomorrow" }), "bad_request"),
        (json!({ "kind": "" }), "bad_request"),
        (json!({ "kind": "app\nroval" }), "bad_request"),
        (json!({ "kind": "k".repeat(65) }), "bad_request"),
        (json!({ "prompt": " \n" }), "bad_request"),
    ] {
        let mut request = approval("a");
        request.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(stage.post(&token, &request).await.problem(), (422, code), "{change}");
    }
    let mut late = approval("a");
    late["expiresAt"] = json!("2020-01-01T00:00:00Z");
    assert_eq!(stage.post(&token, &late).await.problem(), (409, "expired"));
    nothing_waits(&stage).await;
    stage.close().await;
}

#[tokio::test]
async fn an_id_hides_nothing_and_leads_nowhere_else() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let long = "x".repeat(201);
    for id in ["", ".", "..", "a\u{0}b", "a\nb", "\t", "a\u{7f}", "a\u{85}b", "\u{1b}[2J", &long] {
        assert_eq!(stage.post(&token, &approval(id)).await.problem(), (422, "bad_id"), "{id:?}");
    }
    nothing_waits(&stage).await;
    let odd = [
        ("a/b", "a%2Fb"),
        ("../a", "..%2Fa"),
        ("a/answer", "a%2Fanswer"),
        ("a?wait=1#x", "a%3Fwait=1%23x"),
        ("%2e%2e", "%252e%252e"),
        ("a b+c", "a%20b+c"),
        ("Ünï-✓", "%C3%9Cn%C3%AF-%E2%9C%93"),
        ("' OR 1=1 --", "'%20OR%201=1%20--"),
        ("...", "..."),
        ("\u{202e}a", "%E2%80%AEa"),
    ];
    for (id, segment) in odd {
        let asked = stage.post(&token, &approval(id)).await;
        assert_eq!(asked.status, 201, "{id}");
        let address = stage.address();
        for (path, status) in [("", 200), ("/answer", 204)] {
            let head = format!(
                "GET /v1/requests/{segment}{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
            );
            let said = raw(&stage, head.as_bytes()).await;
            assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{id}: {said}");
        }
    }
    assert_eq!(
        stage.rpc("inbox.list", json!({ "whole": true })).await["items"].as_array().unwrap().len(),
        odd.len()
    );
    // Written by hand: a client would tidy these up.
    let other = stage.sender("other").await;
    stage.ask(&other, "secret").await;
    let address = stage.address();
    for path in [
        "/v1/requests/../requests/secret",
        "/v1/requests/%2e%2e/requests/secret",
        "/v1/requests/..%2frequests%2fsecret",
        "/v1//requests/secret",
        "/v1/requests//secret",
        "/v1/requests/secret/",
        "/v1/requests/secret%00",
        "/v1/requests/%ff",
        "/v1/requests/",
        "/v1/../rpc",
        "/V1/requests/secret",
    ] {
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        let said = raw(&stage, head.as_bytes()).await;
        let status = &said[9..12];
        let is_page = path.starts_with("/V1") && status == "200" && said.contains("text/html");
        assert!(matches!(status, "400" | "404" | "405") || is_page, "{path}: {said}");
        assert!(!said.contains("Deploy secret"), "{path}: {said}");
    }
    stage.close().await;
}

#[tokio::test]
async fn a_body_that_drips_is_cut_off_and_holds_nobody_up() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let address = stage.address();
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    );
    let slow = raw(&stage, head.as_bytes());
    let meanwhile = async {
        stage.ask(&token, "a").await;
        stage.yes("a").await;
    };
    let (said, ()) = tokio::join!(slow, meanwhile);
    assert!(said.starts_with("HTTP/1.1 408") && said.contains("too_slow"), "{said}");
    nothing_waits(&stage).await;
    stage.close().await;
}

/// Goes on sending a piece again and again for as long as it is let, and gives what came back by then.
async fn goes_on(stage: &Stage, head: &str, piece: &[u8], pause: Duration) -> String {
    let (mut from, mut to) = TcpStream::connect(stage.address()).await.unwrap().into_split();
    to.write_all(head.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let sending = async {
        while to.write_all(piece).await.is_ok() {
            tokio::time::sleep(pause).await;
        }
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut part = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut part).await {
            said.extend_from_slice(&part[..count]);
        }
    };
    let ended = async {
        tokio::select! {
            () = sending => {}
            () = reading => {}
        }
    };
    tokio::time::timeout(SOON * 2, ended).await.expect("it is cut off");
    String::from_utf8(said).unwrap()
}

#[tokio::test]
async fn what_never_ends_is_cut_off_however_it_is_sent() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let address = stage.address();
    let start = format!(
        "POST /v1/requests HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    );
    let told = format!("{start}Content-Length: 1000\r\n\r\n{{");
    let pieces = format!("{start}Transfer-Encoding: chunked\r\n\r\n");
    let large = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
    let often = Duration::from_millis(200);
    let (drips, small, huge, head) = tokio::join!(
        goes_on(&stage, &told, b" ", often),
        goes_on(&stage, &pieces, b"1\r\n \r\n", often),
        // Its size is told nowhere.
        goes_on(&stage, &pieces, large.as_bytes(), Duration::ZERO),
        goes_on(&stage, &start, b"X-More: a\r\n", often),
    );
    for said in [&drips, &small] {
        assert!(said.starts_with("HTTP/1.1 408") && said.contains("too_slow"), "{said}");
    }
    assert!(huge.starts_with("HTTP/1.1 413") && huge.contains("too_large"), "{huge}");
    assert!(!head.contains(" 201 "), "{head}");
    nothing_waits(&stage).await;
    stage.ask(&token, "a").await;
    stage.close().await;
}

#[tokio::test]
async fn a_wait_that_is_none_is_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    for wait in ["61", "-1", "x", "1.5", "", "99999999999"] {
        let refused = stage.get(&token, &format!("/v1/requests/a/answer?wait={wait}")).await;
        assert_eq!(refused.problem(), (400, "bad_request"), "{wait:?}");
    }
    stage.close().await;
}

#[tokio::test]
async fn what_a_sender_asked_and_hung_up_on_is_shown_to_the_person() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let mut events = stage.host.events();
    let address = stage.address();
    for n in 0..20 {
        let body = approval(&format!("r{n}")).to_string();
        let head = format!(
            "POST /v1/requests HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        // Some get further than others before nobody listens any more.
        tokio::time::sleep(Duration::from_micros(n * 300)).await;
    }
    let mut heard = BTreeSet::new();
    let same = async {
        loop {
            let waits = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
            let keys: BTreeSet<_> = waits
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["key"].as_str().unwrap().to_owned())
                .collect();
            while let Ok(event) = events.try_recv() {
                heard.extend(event.id.filter(|_| event.topic == Topic::Inbox));
            }
            if keys == heard {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, same).await.expect("whatever is stored is announced");
    stage.close().await;
}
