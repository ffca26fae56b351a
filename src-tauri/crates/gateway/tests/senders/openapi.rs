//! The document that describes the API.

use serde_json::Value;

use crate::stage::Stage;

#[tokio::test]
async fn the_document_names_every_route_and_every_problem_in_its_form() {
    let stage = Stage::new().await;
    let answer = stage.http.get(format!("{}/v1/openapi.json", stage.gateway.url())).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/json");
    let document: Value = answer.json().await.unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut operations: Vec<String> = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations.push(format!("{method} {path}"));
            // What it names is there: it wants a token, where it has no need of one it answers.
            let url = format!("{}{}", stage.gateway.url(), path.replace("{id}", "a"));
            let status = stage
                .http
                .request(method.to_uppercase().parse().unwrap(), url)
                .send()
                .await
                .unwrap()
                .status();
            assert_eq!(status, if path == "/v1/openapi.json" { 200 } else { 401 }, "{method} {path}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let content = &response["content"];
                if status.starts_with('4') || status.starts_with('5') {
                    assert!(content["application/problem+json"].is_object(), "{method} {path} {status}");
                }
            }
        }
    }
    operations.sort();
    assert_eq!(
        operations,
        [
            "delete /v1/requests/{id}",
            "get /v1/events",
            "get /v1/openapi.json",
            "get /v1/requests/{id}",
            "get /v1/requests/{id}/answer",
            "post /v1/requests",
            "post /v1/requests/{id}/ack",
        ]
    );
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in ["Request", "RequestState", "Answer", "Event", "Problem"] {
        assert!(schemas.contains_key(name), "{name} is missing");
    }
    assert!(schemas["Request"]["properties"]["expiresAt"].is_object(), "{}", schemas["Request"]);
    stage.close().await;
}
