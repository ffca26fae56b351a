//! The tools as clients see them.

use rmcp::model::{Tool, ToolAnnotations, object};
use serde_json::{Value, json};

/// A tool by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolName {
    RequestApproval,
    AskQuestion,
    RequestInput,
    PermissionPrompt,
}

impl ToolName {
    const ALL: [Self; 4] =
        [Self::RequestApproval, Self::AskQuestion, Self::RequestInput, Self::PermissionPrompt];

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.as_str() == name)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::RequestApproval => "request_approval",
            Self::AskQuestion => "ask_question",
            Self::RequestInput => "request_input",
            Self::PermissionPrompt => "permission_prompt",
        }
    }

    pub(super) fn tool(self) -> Tool {
        let (description, input, output) = match self {
            Self::RequestApproval => (APPROVAL, approval_input(), Some(output("approved"))),
            Self::AskQuestion => (QUESTION, question_input(), Some(output("answered"))),
            Self::RequestInput => (INPUT, input_input(), Some(output("answered"))),
            Self::PermissionPrompt => (PERMISSION, permission_input(), None),
        };
        let hints = ToolAnnotations::new().destructive(false).idempotent(false).open_world(false);
        let mut tool = Tool::new(self.as_str(), description, object(input)).with_annotations(hints);
        tool.output_schema = output.map(|output| object(output).into());
        tool
    }
}

/// All tools.
pub(super) fn all() -> Vec<Tool> {
    ToolName::ALL.map(ToolName::tool).into()
}

const APPROVAL: &str = "Asks a person for approval and waits for it, however long it takes. Only `approved: true` is a \
                        yes. Put everything that the person needs to decide into the arguments: they are what is shown.";
const QUESTION: &str = "Asks a person a question, or several at once, and waits for the answers, however long it takes. \
                        `data.answers` has one entry for each question in their order: a text, or a list of texts where \
                        several may be chosen. Not for passwords or keys.";
const INPUT: &str = "Asks a person to fill in a form and waits for it, however long it takes. `schema` is a JSON schema: an \
                     object whose properties are a string, number, integer, boolean or enum. `data` fits it. A form that \
                     asks for a password or a key is refused.";
const PERMISSION: &str = "For an agent's own permission check, not for a model: asks a person whether a tool may run with \
                          this input. The result is one text: {\"behavior\":\"allow\",\"updatedInput\":…} or \
                          {\"behavior\":\"deny\",\"message\":…}.";

fn expires() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": u32::MAX,
        "description": "After so many seconds nobody can answer any more, and the result is `expired`. None: no deadline."
    })
}

fn approval_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "prompt": { "type": "string", "description": "What the person shall decide, in one sentence." },
            "command": { "description": "The command that will run, where it is one: a text, or a list of words." },
            "arguments": { "description": "The exact arguments of what will be done." },
            "data": { "description": "What else the person shall see." },
            "expires_in_seconds": expires(),
        },
        "required": ["prompt"], "additionalProperties": false,
    })
}

fn question_input() -> Value {
    let options =
        json!({ "type": "array", "items": { "type": "string" }, "description": "Answers to choose from." });
    let multiple = json!({ "type": "boolean", "description": "Whether several may be chosen." });
    let one = json!({
        "type": "object",
        "properties": { "question": { "type": "string" }, "options": options, "multiple": multiple },
        "required": ["question"],
    });
    json!({
        "type": "object",
        "properties": {
            "question": { "type": "string", "description": "One question. Give this or `questions`." },
            "options": options,
            "multiple": multiple,
            "questions": { "type": "array", "items": one, "minItems": 1, "description": "Several questions at once." },
            "expires_in_seconds": expires(),
        },
        "additionalProperties": false,
    })
}

fn input_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "prompt": { "type": "string", "description": "What is needed and what for, in one sentence." },
            "schema": { "type": "object", "description": "A JSON schema of a flat object." },
            "expires_in_seconds": expires(),
        },
        "required": ["prompt", "schema"], "additionalProperties": false,
    })
}

fn permission_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool_name": { "type": "string", "description": "The tool that wants to run." },
            "input": { "type": "object", "description": "What it will run with." },
            "tool_use_id": { "type": "string", "description": "The agent's id of this use of the tool." },
        },
        "required": ["tool_name", "input"],
    })
}

fn output(name: &str) -> Value {
    json!({
        "type": "object",
        "properties": {
            name: { "type": "boolean", "description": "Whether the person said yes. Nothing else is a yes." },
            "class": {
                "enum": ["declined", "cancelled", "expired", null],
                "description": "Why not: a person said no, it was taken away, or its time passed. Null with a yes.",
            },
            "data": { "description": "What the person chose or typed, where there is some." },
        },
        "required": [name, "class"],
    })
}
