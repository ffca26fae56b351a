use axum::Json;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{InfoBuilder, OpenApi as Document, SecurityRequirement};

use super::{events, requests};

const ABOUT: &str = "Bots and scripts ask a person, and wait for the answer. Asking and answering are separate rights: \
                     nothing here can answer. Each caller sees its own requests alone.";

#[derive(OpenApi)]
#[openapi(paths(
    requests::ask,
    requests::show,
    requests::withdraw,
    requests::answer,
    requests::acknowledge,
    events::events,
    document,
))]
struct Paths;

fn describe() -> Document {
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A sender's token. At the Unix socket it may be left out: then the source `this computer` asks.",
        ))
        .build();
    let mut document = Paths::openapi();
    document.info = InfoBuilder::new().title("Sayso").version("1").description(Some(ABOUT)).build();
    document.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(token));
    document.security = Some(vec![SecurityRequirement::new("token", [""; 0])]);
    document
}

/// This document.
#[utoipa::path(
    get, path = "/v1/openapi.json", operation_id = "document", tag = "document", security(()),
    responses((status = 200, description = "The OpenAPI 3.1 document.", body = Object)),
)]
pub(super) async fn document() -> Json<Document> {
    Json(describe())
}
