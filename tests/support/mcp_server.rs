//! A tiny MCP server, written by hand in both generations of the protocol, that does what real ones should not.
//! `MCP_LIKE` in its environment says what it is like, in words divided by spaces.

use std::io::{BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

/// One server's side of a conversation.
pub struct McpServer<R, W> {
    input: R,
    output: W,
    /// Words on what it is like: `new` (the newer generation), `garbage`, `silent`, `changing`, `more`
    /// (tools).
    pub like: Vec<String>,
    capabilities: Value,
    asked: u64,
}

const NEWEST: &str = "2026-07-28";

impl<R: BufRead, W: Write> McpServer<R, W> {
    /// `like` is what it is like, in words.
    pub fn new(input: R, output: W, like: &str) -> Self {
        let like = like.split_whitespace().map(str::to_owned).collect();
        Self { input, output, like, capabilities: Value::Null, asked: 0 }
    }

    fn is(&self, word: &str) -> bool {
        self.like.iter().any(|known| known == word)
    }

    /// Until the client is gone.
    pub fn serve(&mut self) {
        if self.is("exits") {
            eprintln!("cannot start: the token {} is refused", std::env::var("TOKEN").unwrap_or_default());
            std::process::exit(3);
        }
        if self.is("garbage") {
            let _ = self.output.write_all(b"Welcome!\n{\"jsonrpc\":\"2.0\"\n[1,2]\n\xff\xfe\n");
        }
        while let Some(message) = self.read() {
            if self.is("silent") {
                continue;
            }
            if let Some(answer) = self.answer(&message) {
                self.write(&answer);
            }
        }
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap_or_default()),
        }
    }

    fn write(&mut self, message: &Value) {
        let _ = writeln!(self.output, "{message}");
        let _ = self.output.flush();
    }

    /// What it says to a message; nothing to a notification.
    pub fn answer(&mut self, message: &Value) -> Option<Value> {
        let id = message.get("id")?.clone();
        let params = message.get("params").cloned().unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let meta = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        if !meta.is_null() {
            self.capabilities = meta.clone();
        }
        let result = match method {
            "server/discover" if self.is("new") => Ok(json!({
                "resultType": "complete", "supportedVersions": [NEWEST], "capabilities": { "tools": {} },
                "serverInfo": { "name": "tiny", "version": "1" }, "ttlMs": 0, "cacheScope": "private",
            })),
            "initialize" if !self.is("new") => {
                self.capabilities = params["capabilities"].clone();
                Ok(json!({
                    "protocolVersion": params["protocolVersion"], "capabilities": { "tools": {} },
                    "serverInfo": { "name": "tiny", "version": "1" },
                }))
            }
            "ping" => Ok(json!({})),
            "tools/list" => Ok(self.tools()),
            "tools/call" => self.call(&params).ok_or(json!({ "code": -32602, "message": "no such tool" })),
            _ => Err(json!({ "code": -32601, "message": "no such method" })),
        };
        Some(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        })
    }

    fn tools(&self) -> Value {
        let names = [
            "echo",
            "env",
            "capabilities",
            "ask",
            "ask forever",
            "huge",
            "die",
            "hang",
            "slow",
            "record",
            "nonsense",
            "shell",
            "nothing\u{202e}\n here",
        ];
        let more: &[&str] = if self.is("more") { &["ask late", "b_c"] } else { &[] };
        let tools = names.iter().chain(more).map(|name| {
            json!({ "name": name, "description": format!("{name} {}", "long ".repeat(1000)),
                    "inputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } },
                    "annotations": { "readOnlyHint": true, "destructiveHint": false } })
        });
        let tools: Vec<_> = tools.collect();
        let complete =
            json!({ "resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private" });
        if self.is("new") { complete } else { json!({ "tools": tools }) }
    }

    fn call(&mut self, params: &Value) -> Option<Value> {
        let arguments = &params["arguments"];
        let text = match params["name"].as_str()? {
            "echo" => arguments.to_string(),
            "env" => {
                let names: Vec<_> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
                let here = std::env::current_dir().unwrap_or_default();
                json!({ "variables": names, "folder": here, "process": std::process::id() }).to_string()
            }
            "capabilities" => self.capabilities.to_string(),
            "ask" if self.is("new") => return Some(self.input_required(params)),
            "ask" => {
                if let Some(marker) = arguments["marker"].as_str() {
                    append(marker);
                }
                if let Some(file) = arguments["exit_when"].as_str().map(str::to_owned) {
                    std::thread::spawn(move || {
                        while !std::path::Path::new(&file).exists() {
                            std::thread::sleep(Duration::from_millis(5));
                        }
                        std::process::exit(3);
                    });
                }
                let asked = elicitation(arguments);
                self.elicit(&asked).to_string()
            }
            "ask forever" => {
                let requests =
                    json!({ "again": { "method": "elicitation/create", "params": elicitation(arguments) } });
                return Some(json!({ "resultType": "input_required", "inputRequests": requests }));
            }
            "huge" => "x".repeat(3_000_000),
            "die" => std::process::exit(3),
            "ask late" => {
                if let Some(marker) = arguments["marker"].as_str() {
                    append(marker);
                }
                // It never answers, and asks when the next call has come.
                let next = loop {
                    let Some(message) = self.read() else { std::process::exit(0) };
                    if message["method"] == "tools/call" {
                        break message["id"].clone();
                    }
                };
                let answer = self.elicit(&elicitation(arguments)).to_string();
                let result = self.complete(json!({ "content": [{ "type": "text", "text": answer }] }));
                self.write(&json!({ "jsonrpc": "2.0", "id": next, "result": result }));
                return None;
            }
            "hang" => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            "slow" => {
                std::thread::sleep(Duration::from_millis(arguments["n"].as_u64().unwrap_or_default()));
                "slow".to_owned()
            }
            "record" => {
                append(arguments["file"].as_str().unwrap_or_default());
                "recorded".to_owned()
            }
            "nonsense" => return Some(json!({ "what": 1 })),
            "shell" => "a shell of its own".to_owned(),
            _ => return None,
        };
        Some(self.complete(json!({ "content": [{ "type": "text", "text": text }] })))
    }

    fn complete(&self, mut result: Value) -> Value {
        if self.is("new") {
            result["resultType"] = "complete".into();
        }
        result
    }

    /// The newer generation: the call is to be repeated with the answers and the state.
    fn input_required(&mut self, params: &Value) -> Value {
        if params["inputResponses"].is_null() {
            let requests = json!({ "who": { "method": "elicitation/create", "params": elicitation(&params["arguments"]) } });
            return json!({ "resultType": "input_required", "inputRequests": requests, "requestState": "state-1" });
        }
        let text = json!({ "response": params["inputResponses"]["who"], "state": params["requestState"] })
            .to_string();
        self.complete(json!({ "content": [{ "type": "text", "text": text }] }))
    }

    /// The older generation: a request of its own while the call waits.
    fn elicit(&mut self, params: &Value) -> Value {
        self.asked += 1;
        let id = format!("ask-{}", self.asked);
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params }));
        loop {
            let Some(message) = self.read() else { std::process::exit(0) };
            if message["id"] == id.as_str() {
                return message.get("result").cloned().unwrap_or_else(|| message["error"].clone());
            }
            if message["method"] == "notifications/cancelled" {
                return json!({ "cancelled": true });
            }
        }
    }
}

fn elicitation(arguments: &Value) -> Value {
    let form = |field: &str, more: Value| {
        let mut schema = json!({ "type": "string", "minLength": 1 });
        if let (Some(schema), Some(more)) = (schema.as_object_mut(), more.as_object()) {
            schema.extend(more.clone());
        }
        json!({ "message": "Who are you?",
                "requestedSchema": { "type": "object", "properties": { field: schema }, "required": [field] } })
    };
    match arguments["mode"].as_str() {
        Some("url") => json!({ "mode": "url", "message": "Sign in", "elicitationId": "e1",
                               "url": "https://example.org/sign-in?x=1" }),
        Some("bad url") => json!({ "mode": "url", "message": "Sign in", "elicitationId": "e1",
                                   "url": "http://user:pass@example.org/" }),
        Some("secret") => form("api_key", json!({})),
        Some("password") => form("word", json!({ "format": "password" })),
        _ => form("name", json!({})),
    }
}

fn append(file: &str) {
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(file) {
        let _ = file.write_all(b"x");
    }
}
