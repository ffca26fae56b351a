use async_trait::async_trait;
use sayso_domain::{Kind, Policy, Request, ToolResult, question_prompt};
use serde_json::{Value, json};

use super::spec;
use crate::{Arguments, Ran, Tool, ToolContext, ToolSpec};

/// Asks the person (contract 29).
pub(super) struct Question;

#[async_trait]
impl Tool for Question {
    fn spec(&self) -> ToolSpec {
        let question = json!({
            "type": "object",
            "properties": {
                "question": { "type": "string" },
                "options": { "type": "array", "items": { "type": "string" }, "description": "Answers to choose from." },
                "multiple": { "type": "boolean", "description": "Whether several options may be chosen." }
            },
            "required": ["question"]
        });
        spec(
            "question",
            "Ask the person one or more questions and get the answers. Never ask for passwords, keys or other secrets: \
             what is typed is shown and kept.",
            json!({ "questions": { "type": "array", "items": question, "minItems": 1 } }),
            &["questions"],
        )
    }

    /// It exists to ask, so there is no gate before it.
    fn policy(&self, _: &Value) -> Policy {
        Policy::Allow
    }

    fn has_effects(&self) -> bool {
        false
    }

    fn summary(&self, arguments: &Value) -> String {
        sayso_domain::text::cut(&question_prompt(&arguments["questions"]), 200)
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        if let Some(answer) = &context.answer {
            let data = answer.data().map_or_else(|| "{}".to_owned(), Value::to_string);
            return Ran::Done(ToolResult::ok(data));
        }
        let questions = &arguments.value["questions"];
        let is_question = |question: &Value| {
            let text = question.as_str().or_else(|| question["question"].as_str());
            text.is_some_and(|text| !text.trim().is_empty())
        };
        let list = questions.as_array().map(Vec::as_slice).unwrap_or_default();
        if list.is_empty() || !list.iter().all(is_question) {
            return Ran::Done(ToolResult::error(
                "`questions` must be a list of one or more objects, each with a `question`. Nobody was asked.",
            ));
        }
        let mut request = Request::new("", Kind::Question, question_prompt(questions));
        request.data = Some(json!({ "questions": questions }));
        Ran::Done(ToolResult::pending(&request))
    }
}
