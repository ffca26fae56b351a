use sayso_domain::question_prompt;
use serde_json::{Value, json};

#[test]
fn contract_29_the_prompt_joins_the_questions() {
    for (questions, prompt) in [
        (json!([{"question": "Which?"}]), "Which?"),
        (json!([{"question": "Which?", "options": ["a", "b"]}]), "Which? (options: a, b)"),
        (json!([{"question": "Which?", "options": []}]), "Which?"),
        (json!([{"question": "Which?", "options": [{"label": "a"}, "b", 3]}]), "Which? (options: a, b, 3)"),
        (json!(["One?", {"question": "Two?", "options": ["x"]}]), "One?\nTwo? (options: x)"),
        (json!([]), ""),
        (Value::Null, ""),
    ] {
        assert_eq!(question_prompt(&questions), prompt, "{questions}");
    }
}
