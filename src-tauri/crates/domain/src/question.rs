use serde_json::Value;

/// The prompt of a `question` request (contract 29): the questions joined by newline, each followed by
/// ` (options: a, b)` when it has options. A question is a string, or an object with `question` and `options`; an option
/// is a string or an object with `label`.
pub fn question_prompt(questions: &Value) -> String {
    let list = questions.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(question: &Value) -> String {
    let text = label(question, "question");
    let options: Vec<_> = question
        .get("options")
        .and_then(Value::as_array)
        .map(|options| options.iter().map(|option| label(option, "label")).collect())
        .unwrap_or_default();
    if options.is_empty() { text } else { format!("{text} (options: {})", options.join(", ")) }
}

fn label(value: &Value, key: &str) -> String {
    let text = value.as_str().or_else(|| value.get(key).and_then(Value::as_str));
    text.map_or_else(|| value.to_string(), str::to_owned)
}
