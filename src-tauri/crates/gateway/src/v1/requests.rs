use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request as HttpRequest, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use sayso_domain::{Request, WireError};
use sayso_host::Asked;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use super::Fault;
use super::asker::{Asking, Id};
use super::body::{AnswerBody, HeldBody, RequestBody};
use crate::body::read_json_within;
use crate::routes::Shared;
use crate::segment::segment;

/// The largest request that is taken, in bytes.
const LARGEST: usize = 1024 * 1024;
/// How long a call may wait for an answer, in seconds.
const LONGEST_WAIT: u32 = 60;

/// Ask.
///
/// The same request again gives what is there: a request that was sent and whose response was lost is simply sent again.
#[utoipa::path(
    post, path = "/v1/requests", operation_id = "ask", tag = "requests",
    request_body = RequestBody,
    responses(
        (status = 201, description = "It waits for the person.", body = HeldBody,
            headers(("Location" = String, description = "Where it is."))),
        (status = 200, description = "You asked it before, with the same content: here is what is there.", body = HeldBody),
        (status = 400, description = "`bad_request`: the body cannot be read.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 403, description = "`may_not_edit` or `may_not_choose`: the person allowed you no `editable` requests, or no `data.choices`.", body = Fault, content_type = "application/problem+json"),
        (status = 408, description = "`too_slow`: the body took longer than ten seconds.", body = Fault, content_type = "application/problem+json"),
        (status = 409, description = "`id_in_use`: you asked something else under this id. `expired`: its deadline has passed.", body = Fault, content_type = "application/problem+json"),
        (status = 413, description = "`too_large`: the body is larger than 1 MiB.", body = Fault, content_type = "application/problem+json"),
        (status = 415, description = "`bad_request`: the body is not application/json.", body = Fault, content_type = "application/problem+json"),
        (status = 422, description = "`bad_id`, `bad_request`, `bad_url`, `bad_schema`, `secret_field`, `bad_edit` or `bad_choices`: nobody can be asked that.", body = Fault, content_type = "application/problem+json"),
        (status = 429, description = "`too_fast` or `too_many_open`.", body = Fault, content_type = "application/problem+json",
            headers(("Retry-After" = u64, description = "Seconds."))),
        (status = 503, description = "`storage`: the database cannot be written now.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn ask(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    request: HttpRequest,
) -> Result<Response, Fault> {
    let wire: Value = read_json_within(request, LARGEST).await?;
    let request = Request::try_from(wire).map_err(unreadable)?;
    Ok(match shared.host.ask(&asker, request).await? {
        Asked::New(held) => {
            let place = format!("/v1/requests/{}", segment(&held.request.id));
            (StatusCode::CREATED, [(header::LOCATION, place)], Json(HeldBody::from(held))).into_response()
        }
        Asked::Known(held) => Json(HeldBody::from(held)).into_response(),
    })
}

/// Look.
#[utoipa::path(
    get, path = "/v1/requests/{id}", operation_id = "show", tag = "requests",
    params(("id" = String, Path, description = "The id that you chose, percent-encoded in one segment.")),
    responses(
        (status = 200, description = "Where it stands.", body = HeldBody),
        (status = 400, description = "`bad_request`: the id cannot be read.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: you have none with this id.", body = Fault, content_type = "application/problem+json"),
        (status = 503, description = "`storage`.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn show(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    Id(id): Id,
) -> Result<Json<HeldBody>, Fault> {
    Ok(Json(shared.host.held(&asker, &id).await?.into()))
}

/// How long to wait.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Wait {
    /// Seconds to wait for the answer, up to 60. None: look once.
    #[param(minimum = 0, maximum = 60)]
    wait: Option<u32>,
}

/// Wait for the answer.
///
/// It can be read again until it is acknowledged. A connection that was cut is simply made again.
#[utoipa::path(
    get, path = "/v1/requests/{id}/answer", operation_id = "answer", tag = "requests",
    params(("id" = String, Path, description = "The id that you chose, percent-encoded in one segment."), Wait),
    responses(
        (status = 200, description = "The answer.", body = AnswerBody),
        (status = 204, description = "It still waits: ask again."),
        (status = 400, description = "`bad_request`: the id or `wait` cannot be read.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: you have none with this id.", body = Fault, content_type = "application/problem+json"),
        (status = 410, description = "`acknowledged`: you acknowledged it, and an answer is used once.", body = Fault, content_type = "application/problem+json"),
        (status = 429, description = "`too_many_waits`.", body = Fault, content_type = "application/problem+json",
            headers(("Retry-After" = u64, description = "Seconds."))),
        (status = 503, description = "`storage`.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn answer(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    Id(id): Id,
    wait: Result<Query<Wait>, QueryRejection>,
) -> Result<Response, Fault> {
    let wait = match wait {
        Ok(Query(Wait { wait })) => wait.unwrap_or_default(),
        Err(_) => return Err(bad_wait()),
    };
    if wait > LONGEST_WAIT {
        return Err(bad_wait());
    }
    let _place = match wait {
        0 => None,
        _ => Some(shared.waits.take(asker.source()).ok_or_else(Fault::too_many_waits)?),
    };
    let answer = shared.host.answer(&asker, &id, Duration::from_secs(wait.into()));
    let answer = tokio::select! {
        answer = answer => answer?,
        () = shared.stop.cancelled() => None,
    };
    Ok(match answer {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Acknowledge the answer: you have it and acted on it.
#[utoipa::path(
    post, path = "/v1/requests/{id}/ack", operation_id = "acknowledge", tag = "requests",
    params(("id" = String, Path, description = "The id that you chose, percent-encoded in one segment.")),
    responses(
        (status = 200, description = "It is delivered. Saying so again changes nothing.", body = HeldBody),
        (status = 400, description = "`bad_request`: the id cannot be read.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: you have none with this id.", body = Fault, content_type = "application/problem+json"),
        (status = 409, description = "`still_waiting`: there is no answer yet.", body = Fault, content_type = "application/problem+json"),
        (status = 503, description = "`storage`.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn acknowledge(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    Id(id): Id,
) -> Result<Json<HeldBody>, Fault> {
    Ok(Json(shared.host.acknowledge(&asker, &id).await?.into()))
}

/// Withdraw: it is no longer needed. It settles as cancelled.
#[utoipa::path(
    delete, path = "/v1/requests/{id}", operation_id = "withdraw", tag = "requests",
    params(("id" = String, Path, description = "The id that you chose, percent-encoded in one segment.")),
    responses(
        (status = 200, description = "It is withdrawn. Doing so again changes nothing.", body = HeldBody),
        (status = 400, description = "`bad_request`: the id cannot be read.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 404, description = "`not_found`: you have none with this id.", body = Fault, content_type = "application/problem+json"),
        (status = 409, description = "`already_decided`: somebody was first; `being_decided`: a person is deciding right now.", body = Fault, content_type = "application/problem+json"),
        (status = 503, description = "`storage`.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn withdraw(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    Id(id): Id,
) -> Result<Json<HeldBody>, Fault> {
    Ok(Json(shared.host.withdraw(&asker, &id).await?.into()))
}

fn bad_wait() -> Fault {
    Fault::bad_request(format!("`wait` must be a whole number of seconds from 0 to {LONGEST_WAIT}."))
}

fn unreadable(error: WireError) -> Fault {
    let detail = format!("The request cannot be read: {error}. Nobody was asked.");
    let code = match error {
        WireError::IdTooLong => "bad_id",
        WireError::NotAnObject | WireError::Missing(_) | WireError::WrongType { .. } => "bad_request",
    };
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, code, detail)
}
