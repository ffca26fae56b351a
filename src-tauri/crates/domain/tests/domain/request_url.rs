use proptest::prelude::*;
use sayso_domain::RequestUrlError::{self, Credentials, Malformed, Scheme};
use sayso_domain::check_request_url;

fn check(url: &str, expected: Result<(), RequestUrlError>) {
    assert_eq!(check_request_url(url).map(drop), expected, "{url:?}");
}

#[test]
fn contract_10_https_or_http_to_this_machine() {
    for url in [
        "https://example.com",
        "https://example.com:8443/a?b=c#d",
        "HTTPS://EXAMPLE.COM/",
        "https://münchen.example/",
        "https://192.168.1.1/",
        "http://localhost:8080/cb",
        "http://app.localhost/",
        "http://127.0.0.1:1/",
        "http://127.9.9.9/",
        "http://[::1]:3000/",
    ] {
        check(url, Ok(()));
    }
}

#[test]
fn contract_10_anything_else_is_refused() {
    for (url, why) in [
        ("", Malformed),
        ("example.com", Malformed),
        ("/path", Malformed),
        ("javascript:alert(1)", Malformed),
        ("data:text/html,x", Malformed),
        ("file:///etc/passwd", Malformed),
        ("ftp://example.com/", Scheme),
        ("http://example.com/", Scheme),
        ("http://localhost.example.com/", Scheme),
        ("http://127.0.0.1.example.com/", Scheme),
        ("http://0.0.0.0/", Scheme),
        ("http://10.0.0.1/", Scheme),
        ("sayso://localhost/", Scheme),
        ("https://user@example.com/", Credentials),
        ("https://user:pass@example.com/", Credentials),
        ("https://:pass@example.com/", Credentials),
        ("http://127.0.0.1@example.com/", Credentials),
    ] {
        check(url, Err(why));
    }
}

/// A parser drops or rewrites these: what opens would not be what was shown.
#[test]
fn contract_10_what_parses_as_something_else_is_refused() {
    for url in [
        " https://example.com",
        "https://example.com\n",
        "https://exa\tmple.com",
        "https://exam\u{200b}ple.com",
        "https://example.com/\u{202e}moc.live",
        "https://example.com\\@other.example",
        "https:\\\\example.com",
    ] {
        check(url, Err(Malformed));
    }
}

proptest! {
    #[test]
    fn contract_10_nothing_accepted_leaves_the_rule(text in "(https?|ftp|file|javascript)://?[a-z0-9.:@/\\[\\]\u{200b} %-]{0,24}") {
        if let Ok(url) = check_request_url(&text) {
            prop_assert!(url.username().is_empty() && url.password().is_none());
            let host = url.host_str().unwrap_or_default();
            let here = host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]";
            prop_assert!(url.scheme() == "https" || (url.scheme() == "http" && here), "{}", text);
        }
    }
}
