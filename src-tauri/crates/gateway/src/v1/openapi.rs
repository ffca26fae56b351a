use axum::Json;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, SecurityRequirement};

const ABOUT: &str = "Bots and scripts ask a person, and wait for the answer. Asking and answering are separate rights: \
                     nothing here can answer. Each caller sees its own requests alone.";

/// What holds for all of it.
pub(super) fn base() -> OpenApi {
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "A sender's token. At the Unix socket it may be left out: then the source `this computer` asks.",
        ))
        .build();
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Sayso").version("1").description(Some(ABOUT)).build())
        .components(Some(
            ComponentsBuilder::new().security_scheme("token", SecurityScheme::Http(token)).build(),
        ))
        .security(Some([SecurityRequirement::new("token", [""; 0])]))
        .build()
}

/// This document.
#[utoipa::path(
    get, path = "/v1/openapi.json", operation_id = "document", tag = "document", security(()),
    responses((status = 200, description = "The OpenAPI 3.1 document.", body = Object)),
)]
pub(super) async fn document() -> Json<OpenApi> {
    Json(super::described().into_openapi())
}
