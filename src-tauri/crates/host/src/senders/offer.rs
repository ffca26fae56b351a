use sayso_domain::{Choice, Request, Shown, check_schema, find_secret_field};
use sayso_inbox::InboxError;
use sayso_store::senders::SenderRow;
use serde_json::{Value, json};

use super::SenderError;

/// The key by which a request says that it may be edited.
const EDITABLE: &str = "editable";
/// What it says there, if it takes edits but can do without them.
const IF_ALLOWED: &str = "if_allowed";

/// What a person lets an asker offer beside a plain yes and no. A program of this machine may offer nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rights {
    may_edit: bool,
    own_choices: bool,
}

/// What a request lets the person do beside a plain yes and no.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    edits: Option<Edits>,
    choices: Vec<Choice>,
}

/// Arguments that the person may change.
#[derive(Clone, Debug)]
struct Edits {
    tool: Option<String>,
    arguments: String,
    schema: Value,
}

/// What a request says about edits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    None,
    IfAllowed,
    Must,
}

impl From<Option<SenderRow>> for Rights {
    fn from(row: Option<SenderRow>) -> Self {
        let rights = |row: SenderRow| Self { may_edit: row.may_edit, own_choices: row.own_choices };
        row.map(rights).unwrap_or_default()
    }
}

impl Offer {
    /// What a request offers. Whether its asker may comes before whether it is well made.
    pub(super) fn of(request: &Request, rights: Rights) -> Result<Self, SenderError> {
        let wish = Wish::of(request)?;
        let choices = request.data.as_ref().filter(|_| request.kind.is_permission());
        let choices = choices.and_then(|data| data.get("choices")).filter(|choices| !choices.is_null());
        if wish == Wish::Must && !rights.may_edit {
            return Err(SenderError::MayNotEdit);
        }
        if choices.is_some() && !rights.own_choices {
            return Err(SenderError::MayNotChoose);
        }
        Ok(Self {
            edits: if wish != Wish::None && rights.may_edit { Some(Edits::of(request)?) } else { None },
            choices: choices
                .map(Choice::read_all)
                .transpose()
                .map_err(SenderError::Choices)?
                .unwrap_or_default(),
        })
    }

    /// Whether its asker still may offer all of it.
    pub(super) fn check(&self, rights: Rights) -> Result<(), SenderError> {
        if self.edits.is_some() && !rights.may_edit {
            return Err(SenderError::MayNotEdit);
        }
        if !self.choices.is_empty() && !rights.own_choices {
            return Err(SenderError::MayNotChoose);
        }
        Ok(())
    }

    /// Makes it part of what the person sees, and so of what their decision is bound to (contract 12).
    pub(super) fn put_into(self, shown: &mut Shown) {
        shown.choices = self.choices;
        if let Some(Edits { tool, arguments, schema }) = self.edits {
            shown.tool = tool;
            shown.arguments = Some(arguments);
            shown.editable = Some(schema);
        }
    }
}

impl Wish {
    fn of(request: &Request) -> Result<Self, SenderError> {
        match request.extra.get(EDITABLE) {
            None | Some(Value::Null | Value::Bool(false)) => Ok(Self::None),
            Some(Value::Bool(true)) => Ok(Self::Must),
            Some(Value::String(text)) if text == IF_ALLOWED => Ok(Self::IfAllowed),
            Some(_) => Err(SenderError::Edit("`editable` must be true, false or \"if_allowed\"")),
        }
    }
}

impl Edits {
    fn of(request: &Request) -> Result<Self, SenderError> {
        if !request.kind.is_permission() {
            return Err(SenderError::Edit("only an `approval` and a `tool_call` can be edited"));
        }
        let given =
            |name| request.data.as_ref().and_then(|data| data.get(name)).filter(|value| !value.is_null());
        let Some(arguments) = given("arguments").filter(|arguments| arguments.is_object()) else {
            return Err(SenderError::Edit("`data.arguments` must be an object: it is what can be edited"));
        };
        let tool = match given("tool") {
            None => None,
            Some(Value::String(tool)) => Some(tool.clone()),
            Some(_) => return Err(SenderError::Edit("`data.tool` must be a text")),
        };
        let schema = given("argumentsSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        check_schema(&schema).map_err(SenderError::ArgumentsSchema)?;
        match find_secret_field(&schema) {
            Some(secret) => Err(InboxError::Secret(secret).into()),
            None => Ok(Self { tool, arguments: arguments.to_string(), schema }),
        }
    }
}
