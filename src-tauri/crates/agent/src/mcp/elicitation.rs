//! An MCP server's question as a request, and what comes of it on its wire (contract 31, 32).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sayso_domain::text::cut;
use sayso_domain::{ElicitAction, Kind, Request, check_request_url, find_secret_field};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::expand::Hidden;
use crate::{CallElicit, ElicitAnswer};

/// So much of a server's message is shown.
const LONGEST_MESSAGE: usize = 4000;
/// So often may one call ask.
const MOST: usize = 20;

/// What a server asks as a request, or why it cannot be asked: then it is answered with a cancel.
pub(super) fn request(server: &str, params: &Value, hidden: &Hidden) -> Result<Request, String> {
    let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
    let prompt = format!("The MCP server {server} asks: {}", cut(&hidden.from(message), LONGEST_MESSAGE));
    match params.get("mode").and_then(Value::as_str) {
        None | Some("form") => {
            let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
            let schema = schema.ok_or("it has no schema")?;
            if let Some(secret) = find_secret_field(schema) {
                return Err(secret.to_string());
            }
            let mut request = Request::new("", Kind::Input, prompt);
            request.data = Some(json!({ "schema": hidden.in_json(schema) }));
            Ok(request)
        }
        Some("url") => {
            let url = params.get("url").and_then(Value::as_str).ok_or("it has no url")?;
            check_request_url(url).map_err(|error| error.to_string())?;
            if hidden.is_in(url) {
                return Err("its url holds a secret of the server's set-up".to_owned());
            }
            let mut request = Request::new("", Kind::Authorization, prompt);
            request.url = Some(url.to_owned());
            Ok(request)
        }
        Some(_) => Err("its mode is unknown".to_owned()),
    }
}

/// An answer as the server reads it: content only with an accepted form.
pub(super) fn response(params: &Value, answer: ElicitAnswer) -> Value {
    let is_url = params.get("mode").and_then(Value::as_str) == Some("url");
    let mut response = Map::from_iter([("action".to_owned(), answer.action.as_str().into())]);
    match answer.action {
        ElicitAction::Accept if !is_url => {
            let data = answer.data.filter(Value::is_object);
            response.insert("content".to_owned(), data.unwrap_or_else(|| Value::Object(Map::new())));
        }
        ElicitAction::Accept | ElicitAction::Decline | ElicitAction::Cancel => {}
    }
    Value::Object(response)
}

/// The call at work, for what its server asks meanwhile. It ends with the call.
pub(super) struct Asker {
    server: String,
    hidden: Hidden,
    elicit: Option<CallElicit>,
    open: watch::Sender<usize>,
    count: AtomicUsize,
    over: CancellationToken,
}

impl Asker {
    pub(super) fn new(server: &str, hidden: Hidden, elicit: Option<CallElicit>) -> Self {
        Self {
            server: server.to_owned(),
            hidden,
            elicit,
            open: watch::Sender::new(0),
            count: AtomicUsize::new(0),
            over: CancellationToken::new(),
        }
    }

    /// How many questions are open: while any is, the call's time stands still.
    pub(super) fn open(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    /// Asks the person, and gives what the server is told. It is a cancel once the call is over, or where the server
    /// takes its question back.
    pub(super) async fn ask(&self, params: &Value, withdrawn: &CancellationToken) -> Value {
        let asked = match (&self.elicit, request(&self.server, params, &self.hidden)) {
            (Some(_), Ok(_)) if self.count.fetch_add(1, Ordering::Relaxed) >= MOST => {
                Err("it asked too often in one call".to_owned())
            }
            (Some(elicit), Ok(request)) => Ok((elicit, request)),
            (Some(_), Err(why)) => Err(why),
            (None, _) => Err("there is nobody to ask".to_owned()),
        };
        let answer = match asked {
            Ok((elicit, request)) => {
                let _open = Open::new(&self.open);
                tokio::select! {
                    answer = elicit.ask(request) => answer,
                    () = self.over.cancelled() => ElicitAnswer::cancelled(),
                    () = withdrawn.cancelled() => ElicitAnswer::cancelled(),
                }
            }
            Err(why) => {
                tracing::warn!(server = self.server, why, "an MCP server's question was cancelled");
                ElicitAnswer::cancelled()
            }
        };
        response(params, answer)
    }
}

struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn new(open: &'a watch::Sender<usize>) -> Self {
        open.send_modify(|count| *count += 1);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// The call that a session is at work on: one at a time, so that what the server asks belongs to it for sure.
#[derive(Clone, Default)]
pub(super) struct Current(Arc<Mutex<Option<Arc<Asker>>>>);

impl Current {
    pub(super) fn get(&self) -> Option<Arc<Asker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn begin(&self, asker: Arc<Asker>) -> AtWork {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&asker));
        AtWork { current: self.clone(), asker }
    }
}

/// While this is held, the call is at work.
pub(super) struct AtWork {
    current: Current,
    asker: Arc<Asker>,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.asker.over.cancel();
        *self.current.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(params: &Value) -> Result<Request, String> {
        request("files", params, &Hidden::default())
    }

    #[test]
    fn contract_32_a_form_is_an_input_and_a_url_an_authorization() {
        let schema = json!({ "type": "object", "properties": { "b": { "type": "string" }, "a": { "type": "integer" } } });
        for mode in [Value::Null, "form".into()] {
            let request =
                asked(&json!({ "mode": mode, "message": "Who?", "requestedSchema": schema })).unwrap();
            assert_eq!(request.kind, Kind::Input);
            assert_eq!(request.prompt, "The MCP server files asks: Who?");
            assert_eq!(request.data.unwrap().to_string(), json!({ "schema": schema }).to_string());
        }
        let request =
            asked(&json!({ "mode": "url", "message": "Sign in", "url": "https://example.org/a" })).unwrap();
        assert_eq!(
            (request.kind, request.url.as_deref()),
            (Kind::Authorization, Some("https://example.org/a"))
        );
    }

    #[test]
    fn contract_31_what_asks_for_a_secret_or_leads_astray_is_not_asked() {
        let secret = json!({ "type": "object", "properties": { "api_key": { "type": "string" } } });
        let hidden =
            json!({ "type": "object", "properties": { "a": { "type": "string", "format": "password" } } });
        for params in [
            json!({ "message": "m", "requestedSchema": secret }),
            json!({ "message": "m", "requestedSchema": hidden }),
            json!({ "message": "m" }),
            json!({ "mode": "url", "message": "m", "url": "http://example.org" }),
            json!({ "mode": "url", "message": "m", "url": "https://user:pass@example.org" }),
            json!({ "mode": "url", "message": "m" }),
            json!({ "mode": "telepathy", "message": "m" }),
        ] {
            assert!(asked(&params).is_err(), "{params}");
        }
    }

    #[test]
    fn contract_32_what_goes_out() {
        let answer = |action, data: Option<Value>| ElicitAnswer { action, data };
        let form = json!({ "requestedSchema": {} });
        let url = json!({ "mode": "url" });
        for (params, answer, wire) in [
            (
                &form,
                answer(ElicitAction::Accept, Some(json!({ "n": 1 }))),
                r#"{"action":"accept","content":{"n":1}}"#,
            ),
            (&form, answer(ElicitAction::Accept, None), r#"{"action":"accept","content":{}}"#),
            (&form, answer(ElicitAction::Decline, Some(json!({ "n": 1 }))), r#"{"action":"decline"}"#),
            (&url, answer(ElicitAction::Accept, Some(json!({ "n": 1 }))), r#"{"action":"accept"}"#),
            (&url, answer(ElicitAction::Cancel, None), r#"{"action":"cancel"}"#),
        ] {
            assert_eq!(response(params, answer).to_string(), wire);
        }
    }
}
