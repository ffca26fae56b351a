use std::fmt::Write as _;

use sayso_domain::RequestKey;
use serde_json::Value;

use crate::requests::RequestRow;
use crate::settlements::SettlementRow;
use crate::{Conn, StoreError, column};

/// Of a longer text only the beginning is searched, in bytes.
const LONGEST: usize = 100_000;
/// Values that lie deeper are not searched.
const DEEPEST: usize = 100;

/// What is searched of a decision: its texts by the names of their fields, in the order in which they are shown.
pub(crate) struct Texts(Vec<(&'static str, String)>);

impl Texts {
    pub(crate) fn of(conn: &Conn, request: &RequestRow, settled: &SettlementRow) -> Result<Self, StoreError> {
        let shown = &request.shown;
        let wire = &shown.request;
        let edited = settled.settlement.edited.as_deref();
        let arguments = match (&shown.arguments, &wire.data) {
            (Some(arguments), _) => Some(of_json(arguments)),
            (None, data) => data.as_ref().map(of_value),
        };
        // Of an edit, the answer's data says the same.
        let answer = settled.settlement.answer.data().filter(|_| edited.is_none()).map(of_value);
        let names = [Some(&shown.source), shown.tool.as_ref(), shown.folder.as_ref(), wire.url.as_ref()];
        let names: Vec<_> = names.into_iter().flatten().map(String::as_str).collect();
        let mut texts = Self(Vec::with_capacity(7));
        texts.push("prompt", Some(wire.prompt.clone()));
        texts.push("arguments", arguments);
        texts.push("edited_arguments", edited.map(of_json));
        texts.push("answer", answer);
        texts.push("reason", settled.reason.clone());
        for output in outputs(conn, request.key)? {
            texts.push("output", Some(output));
        }
        texts.push("names", Some(names.join("\n")));
        Ok(texts)
    }

    pub(crate) fn fields(&self) -> Vec<(&'static str, &str)> {
        self.0.iter().map(|(name, text)| (*name, text.as_str())).collect()
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn push(&mut self, name: &'static str, text: Option<String>) {
        let Some(mut text) = text.filter(|text| !text.is_empty()) else { return };
        if text.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.truncate(end);
        }
        self.0.push((name, text));
    }
}

/// What the calls gave back that a decision let through.
fn outputs(conn: &Conn, key: RequestKey) -> Result<Vec<String>, StoreError> {
    conn.rows(
        "SELECT content FROM ledger JOIN ledger_fields USING (chain_id, seq)
         WHERE ledger.request_key = ?1 AND ledger.type = 'effect' AND ledger_fields.name = 'output'
           AND content IS NOT NULL
         ORDER BY seq",
        [key.to_string()],
        |row| Ok(row.get(0)?),
    )
}

/// What a JSON text says, without its escapes; what is no JSON says itself.
fn of_json(text: &str) -> String {
    match column::json::<Value>(text, "arguments") {
        Ok(value) => of_value(&value),
        Err(_) => text.to_owned(),
    }
}

/// A line for each value, after its name.
fn of_value(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, DEEPEST);
    text.truncate(text.trim_end().len());
    text
}

fn write_value(text: &mut String, value: &Value, depth: usize) {
    if depth == 0 || text.len() > LONGEST {
        return;
    }
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                text.push_str(name);
                text.push_str(": ");
                write_value(text, value, depth - 1);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| write_value(text, value, depth - 1)),
        Value::String(said) => {
            text.push_str(said);
            text.push('\n');
        }
        Value::Null => text.push('\n'),
        Value::Bool(_) | Value::Number(_) => {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{value}");
        }
    }
}
