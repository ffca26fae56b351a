//! Stands in for a model, so that the examples run anywhere: it answers with these, one after the other.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A server in the OpenAI style; it ends when dropped.
pub(crate) struct Scripted {
    /// What a client is told.
    pub(crate) base_url: String,
    _task: JoinSet<()>,
}

impl Scripted {
    pub(crate) async fn new(answers: Vec<Value>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let mut task = JoinSet::new();
        task.spawn(async move {
            for answer in answers {
                let Ok((mut connection, _)) = listener.accept().await else { return };
                let mut request = Vec::new();
                while !is_whole(&request) {
                    if !matches!(connection.read_buf(&mut request).await, Ok(1..)) {
                        return;
                    }
                }
                let body = answer.to_string();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                // A client that is gone needs no answer.
                let _ = connection.write_all(answer.as_bytes()).await;
            }
        });
        Ok(Self { base_url, _task: task })
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0_usize)
}

/// The model wants to call a tool.
pub(crate) fn calls(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": "call_1", "type": "function", "function": function });
    json!({ "choices": [{ "message": { "role": "assistant", "content": null, "tool_calls": [call] } }] })
}

/// The model says something and is done.
pub(crate) fn says(text: &str) -> Value {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] })
}
