use url::{Host, Url};

use crate::text::is_hidden;

/// Why a request's url is refused (contract 10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestUrlError {
    /// It cannot be read as an absolute URL.
    #[error("the url is not a complete web address")]
    Malformed,
    /// Neither `https`, nor `http` to this machine.
    #[error("the url must be https, or http to this machine")]
    Scheme,
    /// It carries a user or a password.
    #[error("the url must not carry a user or a password")]
    Credentials,
}

/// A `url` is `https`, or `http` to this machine, with no user or password in it. Checked when asked and again when
/// opened.
pub fn check_request_url(text: &str) -> Result<Url, RequestUrlError> {
    // A parser drops or rewrites these, so that what opens would not be what was shown.
    if text.chars().any(|c| is_hidden(c) || c.is_whitespace() || c == '\\') {
        return Err(RequestUrlError::Malformed);
    }
    let url = Url::parse(text).map_err(|_| RequestUrlError::Malformed)?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(RequestUrlError::Credentials);
    }
    let this_machine = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => return Err(RequestUrlError::Malformed),
    };
    match url.scheme() {
        "https" => Ok(url),
        "http" if this_machine => Ok(url),
        _ => Err(RequestUrlError::Scheme),
    }
}
