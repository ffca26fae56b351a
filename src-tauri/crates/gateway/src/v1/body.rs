use sayso_domain::{Request, RequestState};
use sayso_host::{Held, RequestEvent};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType};

/// A request as its asker sees it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RequestState)]
pub(super) struct HeldBody {
    /// The id that you chose.
    id: String,
    /// What the person's own tools call it by: `sayso show KEY`.
    key: String,
    /// `pending`, or how it ended.
    #[schema(value_type = StateName)]
    state: &'static str,
    /// When it came.
    #[schema(format = DateTime)]
    received_at: String,
    /// When it ended.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    /// When its answer was acknowledged.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged_at: Option<String>,
    /// What was asked.
    #[schema(value_type = RequestBody)]
    request: Request,
}

/// Something that happened, as the `data` of a server-sent event.
#[derive(Serialize, ToSchema)]
#[schema(as = Event)]
pub(super) struct EventBody {
    /// The request's id.
    id: String,
    /// Where it stood then: `pending`, or how it ended.
    #[schema(value_type = StateName)]
    state: &'static str,
    /// When.
    #[schema(format = DateTime)]
    at: String,
}

/// Where a request stands.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what the domain's own names look like on the wire")]
pub(super) enum StateName {
    Pending,
    Approved,
    Answered,
    Declined,
    Expired,
    Cancelled,
}

/// What you ask. Keys that are not named here are kept.
#[derive(ToSchema)]
#[schema(as = Request)]
#[expect(dead_code, reason = "describes the wire form, which the domain reads and writes")]
pub(super) struct RequestBody {
    /// Yours to choose, and unique among your requests. No control characters, and not `.` or `..`.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^([^\u0000-\u001f\u007f-\u009f.]|\.[^\u0000-\u001f\u007f-\u009f.]|\.\.[^\u0000-\u001f\u007f-\u009f])[^\u0000-\u001f\u007f-\u009f]*$"
    )]
    id: String,
    /// `approval`, `input`, `question`, `authorization`, `tool_call`, or a name of your own.
    #[schema(
        min_length = 1,
        max_length = 64,
        pattern = r"^[^\u0000-\u001f\u007f-\u009f]+$",
        example = "approval"
    )]
    kind: String,
    /// What the person reads.
    #[schema(min_length = 1, pattern = "\\S", example = "Deploy 1.2 to production?")]
    prompt: String,
    /// A page to go to: `https`, or `http` to this machine.
    #[schema(
        pattern = r"^(https://[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z][a-z0-9]*(-[a-z0-9]+)*)*|http://(localhost|127\.0\.0\.1|\[::1\]))(:[1-9][0-9]{0,3})?([/?#][A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*)?$"
    )]
    url: Option<String>,
    /// What the kind needs: `{"schema": …}` for `input`, `{"questions": […]}` for `question`. For `approval` and
    /// `tool_call`, `choices` are buttons of your own (`[{"id","label","effect"}]`, where the person allowed you to bring
    /// some), and `tool`, `arguments` and `argumentsSchema` are what can be edited.
    data: Option<Value>,
    /// At or after this moment nothing can be approved: RFC 3339.
    #[schema(
        rename = "expiresAt",
        example = "2030-01-31T12:00:00Z",
        pattern = r"^((19[7-9][0-9]|2[0-9]{3})-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|(19|2[0-9])(0[48]|[2468][048]|[13579][26])-02-29)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    )]
    expires_at: Option<String>,
    #[schema(schema_with = editable)]
    editable: Option<Value>,
}

fn editable() -> Object {
    let values = [json!(true), json!(false), json!("if_allowed"), Value::Null];
    let about = "Whether the person may change `data.arguments` before they approve: `true` where they must be able to, \
                 `if_allowed` where you can do without. An answer with edits has `data: {\"arguments\": …}`.";
    ObjectBuilder::new()
        .schema_type(SchemaType::AnyValue)
        .description(Some(about))
        .enum_values(Some(values))
        .build()
}

/// The answer. `ok` is all that counts.
#[derive(ToSchema)]
#[schema(as = Answer)]
#[expect(dead_code, reason = "describes the wire form, which the domain reads and writes")]
pub(super) struct AnswerBody {
    /// The request's id.
    id: String,
    /// Whether the person said yes.
    ok: bool,
    /// With a yes: what the person typed or chose.
    data: Option<Value>,
    /// With a no: its class. A person's own words never leave.
    #[schema(value_type = Option<ClassName>)]
    reason: Option<String>,
}

/// Why an answer is no yes.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what the domain's own names look like on the wire")]
pub(super) enum ClassName {
    /// A person said no.
    Declined,
    /// Dismissed, withdrawn or revoked.
    Cancelled,
    /// Its deadline passed.
    Expired,
}

impl From<Held> for HeldBody {
    fn from(held: Held) -> Self {
        Self {
            id: held.request.id.clone(),
            key: held.key.to_string(),
            state: match held.state {
                RequestState::Pending => PENDING,
                RequestState::Settled(outcome) => outcome.as_str(),
            },
            received_at: held.received_at.to_string(),
            decided_at: held.decided_at.map(|at| at.to_string()),
            acknowledged_at: held.acknowledged_at.map(|at| at.to_string()),
            request: held.request,
        }
    }
}

impl From<RequestEvent> for EventBody {
    fn from(event: RequestEvent) -> Self {
        Self {
            id: event.id,
            state: event.outcome.map_or(PENDING, |outcome| outcome.as_str()),
            at: event.at.to_string(),
        }
    }
}

const PENDING: &str = "pending";
