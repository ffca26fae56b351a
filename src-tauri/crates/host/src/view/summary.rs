use sayso_domain::text::cut;
use sayso_domain::{Request, Shown};
use serde_json::Value;

const LONGEST: usize = 300;

/// What a call does, on one line: its command, path, url, pattern or first question; else its arguments.
pub(crate) fn of_arguments(arguments: &str) -> String {
    let value: Value = serde_json::from_str(arguments).unwrap_or_default();
    let named = ["command", "path", "url", "pattern"].iter().find_map(|key| value.get(key)?.as_str());
    let question = || {
        let first = value.get("questions")?.get(0)?;
        first.as_str().or_else(|| first.get("question")?.as_str())
    };
    cut(named.or_else(question).unwrap_or_else(|| arguments.trim()), LONGEST)
}

/// What a request is about, on one line; empty where the prompt says it all.
pub(crate) fn of_shown(shown: &Shown) -> String {
    match &shown.arguments {
        Some(arguments) => of_arguments(arguments),
        None => of_request(&shown.request),
    }
}

fn of_request(request: &Request) -> String {
    if let Some(url) = &request.url {
        return cut(url, LONGEST);
    }
    let Some(data) = &request.data else { return String::new() };
    match data.get("arguments") {
        Some(arguments) => of_arguments(&arguments.to_string()),
        None => options(data).unwrap_or_default(),
    }
}

fn options(data: &Value) -> Option<String> {
    let options = data.get("questions")?.get(0)?.get("options")?.as_array()?;
    let label = |option: &Value| {
        option.as_str().or_else(|| option.get("label")?.as_str()).unwrap_or_default().to_owned()
    };
    Some(cut(&options.iter().map(label).collect::<Vec<_>>().join(", "), LONGEST))
}

/// The first words of a task, for a title.
pub(crate) fn title(task: &str) -> String {
    let line = task.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    cut(line, 80)
}
