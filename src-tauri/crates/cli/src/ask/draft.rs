//! The request that a command line describes.

use std::io::Read as _;
use std::path::Path;

use sayso_domain::text::visible_line;
use sayso_domain::{Kind, Request};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::AskArgs;
use crate::failure::Failure;
use crate::when::now;

/// The largest schema or prompt that is read; the host takes less.
const LARGEST: u64 = 4 * 1024 * 1024;

pub(crate) fn draft(args: &AskArgs) -> Result<Request, Failure> {
    let id = args.id.clone().unwrap_or_else(|| Uuid::now_v7().to_string());
    let mut request = Request::new(id, kind(args)?, prompt(&args.prompt)?);
    request.url.clone_from(&args.url);
    request.data = data(args, &request.prompt)?;
    request.expires_at = args.expires.map(|deadline| deadline.at(now()));
    Ok(request)
}

fn prompt(text: &str) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().take(LARGEST).read_to_string(&mut text);
    read.map_err(|error| {
        Failure::usage(format!("The prompt cannot be read from standard input: {error}. Nobody was asked."))
    })?;
    Ok(text.trim_end_matches('\n').to_owned())
}

fn kind(args: &AskArgs) -> Result<Kind, Failure> {
    let (needed, because) = if !args.options.is_empty() {
        ("question", "--option")
    } else if args.schema.is_some() {
        ("input", "--schema")
    } else {
        return Ok(Kind::from(args.kind.as_deref().unwrap_or("approval")));
    };
    match args.kind.as_deref() {
        Some(kind) if kind != needed => Err(Failure::usage(format!(
            "{because} asks a `{needed}`, not a `{}`. Nobody was asked. Leave --kind out.",
            visible_line(kind)
        ))),
        Some(_) | None => Ok(Kind::from(needed)),
    }
}

fn data(args: &AskArgs, prompt: &str) -> Result<Option<Value>, Failure> {
    let given: Option<Value> = match &args.data {
        Some(text) => {
            Some(serde_json::from_str(text).map_err(|error| Failure::usage(format!("--data: {error}")))?)
        }
        None => None,
    };
    let (key, value) = if !args.options.is_empty() {
        ("questions", json!([{ "question": prompt, "options": args.options }]))
    } else if let Some(file) = &args.schema {
        ("schema", schema(file)?)
    } else {
        return Ok(given);
    };
    let mut data = match given {
        None => Map::new(),
        Some(Value::Object(data)) if !data.contains_key(key) => data,
        Some(_) => {
            return Err(Failure::usage(format!(
                "--data must be an object without `{key}` here, because that comes from the other options. Nobody was \
                 asked."
            )));
        }
    };
    data.insert(key.to_owned(), value);
    Ok(Some(Value::Object(data)))
}

fn schema(file: &Path) -> Result<Value, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("The schema {} cannot be read: {error}. Nobody was asked.", file.display());
        Failure::usage(message)
    };
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| unreadable(&error))?;
    opened.take(LARGEST).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    serde_json::from_str(&text).map_err(|error| unreadable(&error))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: AskArgs,
    }

    fn drafted(line: &[&str]) -> String {
        let line = ["ask", "--id", "r1"].iter().chain(line);
        match draft(&Line::parse_from(line).args) {
            Ok(request) => serde_json::to_string(&request).unwrap(),
            Err(Failure::Told { exit, message, .. }) => format!("{exit:?} {message}"),
            Err(Failure::ReaderGone) => String::new(),
        }
    }

    #[test]
    fn what_is_given_says_what_is_asked() {
        let check = |line: &[&str], expected: &str| {
            let drafted = drafted(line);
            assert!(drafted.contains(expected), "{line:?}: {drafted}");
        };
        check(&["Deploy?"], r#"{"id":"r1","kind":"approval","prompt":"Deploy?"}"#);
        check(&["P", "--kind", "chore", "--data", r#"{"n":9007199254740993}"#], r#"{"n":9007199254740993}}"#);
        check(
            &["Where?", "--option", "a", "--option", "b"],
            r#""kind":"question","prompt":"Where?","data":{"questions":[{"question":"Where?","options":["a","b"]}]}}"#,
        );
        check(&["W", "--option", "a", "--data", r#"{"x":1}"#], r#""data":{"x":1,"questions":["#);
        check(&["W", "--option", "a", "--kind", "question"], r#""kind":"question""#);
        check(&["W", "--option", "a", "--kind", "approval"], "Usage --option asks a `question`");
        check(&["W", "--option", "a", "--data", "[]"], "Usage --data must be an object");
        check(&["W", "--schema", "/nowhere.json"], "Usage The schema /nowhere.json cannot be read");
    }

    #[test]
    fn a_request_gets_an_id_of_its_own() {
        let args = || Line::parse_from(["ask", "P"]).args;
        let ids = [draft(&args()).unwrap().id, draft(&args()).unwrap().id];
        assert_ne!(ids[0], ids[1]);
        assert_eq!(Uuid::try_parse(&ids[0]).unwrap().get_version_num(), 7);
    }
}
