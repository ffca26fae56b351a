use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::problem::Problem;

/// The built UI: in the binary of a release, on disk for a debug build.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../../../ui/dist"]
#[allow_missing = true]
struct Ui;

const INDEX: &str = "index.html";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sayso</title>\
<h1>The page is not built</h1>\
<p>This copy of Sayso was built without its page. The command line works: try <code>sayso list</code>.</p>\
<p>To have the page, run <code>make ui</code> in Sayso's source folder, then start Sayso again.</p></html>";

/// A file of the UI; its first page for every other address that names no file.
pub(crate) async fn page(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let path = if path.is_empty() { INDEX } else { path };
    let is_plain = !path.split('/').any(|part| part.starts_with('.')) && !path.contains(['\\', '%', '\0']);
    if !is_plain {
        return Problem::not_found().into_response();
    }
    if let Some(file) = Ui::get(path) {
        return send(path, file);
    }
    let names_a_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if names_a_file && path != INDEX {
        return Problem::not_found().into_response();
    }
    match Ui::get(INDEX) {
        Some(file) => send(INDEX, file),
        None => (StatusCode::OK, Html(NOT_BUILT)).into_response(),
    }
}

fn send(path: &str, file: EmbeddedFile) -> Response {
    // The names of assets change with their content, so they can be kept for ever.
    let keep = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, media_type(path)), (header::CACHE_CONTROL, keep)], file.data).into_response()
}

fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
