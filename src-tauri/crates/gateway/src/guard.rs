//! What every request on loopback passes first, and what every response carries.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::mcp;
use crate::problem::Problem;
use crate::routes::Shared;
use crate::v1::{self, Fault};

const POLICY: &str = "default-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; \
                      object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The names under which this port is ours: `127.0.0.1:PORT` and `localhost:PORT`.
pub(crate) struct OwnNames([String; 2]);

impl OwnNames {
    pub(crate) fn new(port: u16) -> Self {
        Self([format!("127.0.0.1:{port}"), format!("localhost:{port}")])
    }

    fn is_host(&self, host: &str) -> bool {
        self.0.iter().any(|own| own.eq_ignore_ascii_case(host))
    }

    fn is_origin(&self, origin: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|host| self.is_host(host))
    }

    /// Refuses what a page of another site can make a browser send: another `Host` (DNS rebinding), another `Origin`.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let authority = uri.authority().map_or(host, |authority| authority.as_str());
        if hosts.next().is_some() || !self.is_host(host) || !self.is_host(authority) {
            let message =
                format!("This address is not Sayso's. Nothing was changed. Go to http://{}.", self.0[0]);
            return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden_host", message));
        }
        let origins_are_ours = headers
            .get_all(header::ORIGIN)
            .iter()
            .all(|origin| origin.to_str().is_ok_and(|origin| self.is_origin(origin)));
        if !origins_are_ours {
            let message = "Another site's page may not talk to Sayso. Nothing was changed.";
            return Err(Problem::new(StatusCode::FORBIDDEN, "forbidden_origin", message));
        }
        Ok(())
    }
}

/// Checks where a request comes from, and sets the headers that keep a page to itself.
pub(crate) async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = match shared.names.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) if v1::is_path(&path) || path == mcp::PATH => Fault::from(problem).into_response(),
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Only what says otherwise, the UI's own files, is kept by a browser.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(uri: &str, headers: &[(&str, &str)], expected: &str) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let said = match OwnNames::new(8080).check(&uri.parse().unwrap(), &map) {
            Ok(()) => "passes".to_owned(),
            Err(problem) => format!("{problem:?}"),
        };
        assert!(said.contains(expected), "{uri} with {headers:?}: {said}");
    }

    #[test]
    fn only_our_own_host_and_origin_pass() {
        check("/", &[("host", "127.0.0.1:8080")], "passes");
        check("/", &[("host", "LocalHost:8080")], "passes");
        check("/", &[("host", "127.0.0.1:8080"), ("origin", "http://127.0.0.1:8080")], "passes");
        check("/", &[("host", "127.0.0.1:8080"), ("origin", "http://localhost:8080")], "passes");
        check("http://localhost:8080/", &[("host", "localhost:8080")], "passes");

        check("/", &[], "forbidden_host");
        check("/", &[("host", "127.0.0.1")], "forbidden_host");
        check("/", &[("host", "127.0.0.1:8081")], "forbidden_host");
        check("/", &[("host", "evil.example:8080")], "forbidden_host");
        check("/", &[("host", "127.0.0.1:8080.evil.example")], "forbidden_host");
        check("/", &[("host", "[::1]:8080")], "forbidden_host");
        check("/", &[("host", "127.0.0.1:8080"), ("host", "evil.example")], "forbidden_host");
        check("http://evil.example/", &[("host", "127.0.0.1:8080")], "forbidden_host");

        check("/", &[("host", "127.0.0.1:8080"), ("origin", "null")], "forbidden_origin");
        check("/", &[("host", "127.0.0.1:8080"), ("origin", "https://127.0.0.1:8080")], "forbidden_origin");
        check("/", &[("host", "127.0.0.1:8080"), ("origin", "http://127.0.0.1:3000")], "forbidden_origin");
        check("/", &[("host", "127.0.0.1:8080"), ("origin", "http://evil.example")], "forbidden_origin");
        let twice = [
            ("host", "localhost:8080"),
            ("origin", "http://localhost:8080"),
            ("origin", "http://evil.example"),
        ];
        check("/", &twice, "forbidden_origin");
    }
}
