use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response};
use sayso_domain::ToolResult;
use sayso_domain::text::cut;
use serde_json::{Value, json};
use url::{Host, Url};

use super::address::is_private;
use super::{blocking, done, spec, text};
use crate::cut::{head, lossy};
use crate::{Arguments, Draft, Limits, Ran, Tool, ToolContext, ToolSetup, ToolSpec};

/// How many redirects are followed.
const REDIRECTS: usize = 5;
/// How many tags and attributes of a page are laid out.
const TAGS: usize = 40_000;
/// The width to which a page is laid out as text, in characters.
const WIDTH: usize = 110;

/// Fetches a page from the internet.
pub(super) struct WebFetch {
    limits: Limits,
    /// Which addresses it does not reach.
    refuses: fn(IpAddr) -> bool,
    client: OnceLock<Result<Client, String>>,
}

impl WebFetch {
    pub(super) fn new(setup: &ToolSetup) -> Self {
        let refuses = if setup.allow_private_addresses { |_| false } else { is_private };
        Self { limits: setup.limits, refuses, client: OnceLock::new() }
    }
}

#[async_trait]
impl Tool for WebFetch {
    fn spec(&self) -> ToolSpec {
        spec(
            "web_fetch",
            "Fetch a web page (GET, http or https) and get it as text. What is too long is cut and marked.",
            json!({ "url": { "type": "string" } }),
            &["url"],
        )
    }

    fn is_editable(&self) -> bool {
        true
    }

    fn summary(&self, arguments: &Value) -> String {
        cut(text(arguments, "url"), 200)
    }

    async fn draft(&self, arguments: &Arguments, _: &ToolContext) -> Result<Draft, ToolResult> {
        let url = self.checked(arguments.text_of("url")?)?;
        Ok(Draft::approval(format!("Fetch {}?", cut(url.as_str(), 200))))
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let fetch = async {
            let url = self.checked(arguments.text_of("url")?)?;
            tokio::select! {
                fetched = tokio::time::timeout(self.limits.fetch, self.fetch(url)) => fetched.map_err(|_| {
                    let seconds = self.limits.fetch.as_secs();
                    ToolResult::error(format!("The page did not come within {seconds} seconds."))
                })?,
                () = context.stop.cancelled() => Err(ToolResult::error("Stopped by the person.")),
            }
        };
        done(fetch.await)
    }
}

impl WebFetch {
    /// A URL that may be fetched, as far as it can be told without asking for its address. Checked again on every hop.
    fn checked(&self, text: &str) -> Result<Url, ToolResult> {
        let url = Url::parse(text.trim()).map_err(|error| {
            ToolResult::error(format!("`url` is no web address ({error}). Nothing was fetched."))
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ToolResult::error("Only http and https can be fetched. Nothing was fetched."));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolResult::error("`url` must not hold a user or a password. Nothing was fetched."));
        }
        let address = match url.host() {
            Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            Some(Host::Domain(_)) => None,
            None => return Err(ToolResult::error("`url` names no host. Nothing was fetched.")),
        };
        match address.filter(|address| (self.refuses)(*address)) {
            Some(_) => Err(refused(url.host_str().unwrap_or_default())),
            None => Ok(url),
        }
    }

    async fn fetch(&self, url: Url) -> Result<ToolResult, ToolResult> {
        let mut at = url;
        for _ in 0..=REDIRECTS {
            let mut url = at.clone();
            url.set_fragment(None);
            let request = self
                .client()?
                .get(url)
                .header(ACCEPT, "text/html, text/*, application/json;q=0.9, */*;q=0.5");
            let response = request.send().await.map_err(|error| failed(&at, &error))?;
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            match to.filter(|_| matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308)) {
                None => return self.page(&at, response).await,
                Some(to) => {
                    let next = at.join(to).map_err(|_| {
                        ToolResult::error(format!("{at} points to an address that cannot be read."))
                    })?;
                    at = self.checked(next.as_str())?;
                }
            }
        }
        Err(ToolResult::error(format!("The page was not reached after {REDIRECTS} redirects.")))
    }

    fn client(&self) -> Result<&Client, ToolResult> {
        let build = || {
            let builder = Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                // A proxy would connect in our place, to whatever it likes.
                .no_proxy()
                .dns_resolver(Arc::new(Checked { refuses: self.refuses }))
                .user_agent(concat!("sayso/", env!("CARGO_PKG_VERSION")));
            builder.build().map_err(|error| error.to_string())
        };
        let client = self.client.get_or_init(build).as_ref();
        client.map_err(|error| ToolResult::error(format!("No connection could be prepared ({error}).")))
    }

    async fn page(&self, at: &Url, mut response: Response) -> Result<ToolResult, ToolResult> {
        let status = response.status();
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        let (mut body, mut is_cut) = (Vec::new(), false);
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(at, &error))? {
            let room = self.limits.page - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                is_cut = true;
                break;
            }
        }
        if body.contains(&0)
            || ["image/", "audio/", "video/", "font/"].iter().any(|binary| kind.starts_with(binary))
        {
            return Err(ToolResult::error(format!("{at} is no text ({kind}), so it is not given.")));
        }
        let is_page = kind.starts_with("text/html") || kind.starts_with("application/xhtml");
        let affordable = if is_page { affordable(&body) } else { body.len() };
        let is_costly = affordable < body.len();
        body.truncate(affordable);
        let text = match is_page {
            true => blocking(move || laid_out(&body)).await?,
            false => lossy(&body),
        };
        let mut output =
            format!("[{at}, status {}]\n{}", status.as_u16(), head(&text, self.limits.output, ""));
        if is_cut {
            output.push_str(&format!(
                "\n[the page is longer than {} KiB and was cut]",
                self.limits.page / 1024
            ));
        }
        if is_costly {
            output.push_str(&format!("\n[the page has more than {TAGS} tags and attributes and was cut]"));
        }
        Ok(ToolResult { is_error: !status.is_success(), ..ToolResult::ok(output) })
    }
}

/// How much of a page is laid out: up to a number of tags and attributes. The time for them grows with their square, and
/// nothing can end it.
fn affordable(body: &[u8]) -> usize {
    let (mut count, mut in_tag) = (0, false);
    for (at, byte) in body.iter().enumerate() {
        let opens =
            *byte == b'<' && body.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'/');
        match byte {
            b'>' => in_tag = false,
            _ if opens => in_tag = true,
            _ => {}
        }
        let separates = in_tag && (byte.is_ascii_whitespace() || matches!(byte, b'/' | b'=' | b'"' | b'\''));
        if opens || separates {
            count += 1;
        }
        if count > TAGS {
            return at;
        }
    }
    body.len()
}

/// A page as text; one that cannot be laid out shows as it came.
fn laid_out(body: &[u8]) -> String {
    html2text::config::plain().string_from_read(body, WIDTH).unwrap_or_else(|_| lossy(body))
}

/// Looks up names, and gives addresses only if none of them is refused. The connection goes to just these addresses, so
/// that a name which changes its answer gains nothing.
struct Checked {
    refuses: fn(IpAddr) -> bool,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let refuses = self.refuses;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            match found.iter().any(|address| refuses(address.ip())) {
                true => Err(PrivateAddress(host).into()),
                false => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[derive(Debug)]
struct PrivateAddress(String);

impl fmt::Display for PrivateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leads to a private address", self.0)
    }
}

impl std::error::Error for PrivateAddress {}

fn refused(host: &str) -> ToolResult {
    ToolResult::error(format!(
        "{host} is this machine or in a private network, which this agent may not fetch from. Nothing was fetched. Only \
         the person can allow it, in the agent's set-up."
    ))
}

fn failed(at: &Url, error: &reqwest::Error) -> ToolResult {
    let mut cause: &dyn std::error::Error = error;
    loop {
        if let Some(PrivateAddress(host)) = cause.downcast_ref() {
            return refused(host);
        }
        match cause.source() {
            Some(source) => cause = source,
            None => return ToolResult::error(format!("{at} could not be fetched ({cause}).")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Serves these answers to one connection each, on an address of this machine; returns the port.
    fn serve(address: &str, answers: Vec<String>) -> u16 {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for answer in answers {
                let (mut connection, _) = listener.accept().unwrap();
                let _ = connection.read(&mut [0; 4096]);
                connection.write_all(answer.as_bytes()).unwrap();
            }
        });
        port
    }

    fn answer(kind: &str, body: &str) -> String {
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    }

    fn redirect(to: &str) -> String {
        format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    }

    fn fetcher(refuses: fn(IpAddr) -> bool) -> WebFetch {
        WebFetch { refuses, ..WebFetch::new(&ToolSetup::default()) }
    }

    async fn fetch(fetcher: &WebFetch, url: &str) -> ToolResult {
        let arguments = Arguments::parse(&json!({ "url": url }).to_string()).unwrap();
        match fetcher.run(&arguments, &ToolContext::default()).await {
            Ran::Done(result) => result,
            Ran::Stale(_) => panic!("a fetch is never stale"),
        }
    }

    #[tokio::test]
    async fn private_addresses_are_refused_by_number_and_by_name() {
        let port = serve("127.0.0.1", vec![]);
        let fetcher = fetcher(is_private);
        for host in [
            "127.0.0.1",
            "localhost",
            "[::1]",
            "2130706433",
            "0x7f.1",
            "[::ffff:127.0.0.1]",
            "169.254.169.254",
        ] {
            let result = fetch(&fetcher, &format!("http://{host}:{port}/")).await;
            assert!(
                result.is_error && result.output.contains("may not fetch from"),
                "{host}: {}",
                result.output
            );
        }
    }

    #[tokio::test]
    async fn a_redirect_to_a_private_address_is_refused() {
        let private = |address: IpAddr| address.to_string() == "127.0.0.2";
        let secret = serve("127.0.0.2", vec![answer("text/plain", "the secret")]);
        for to in [
            format!("http://127.0.0.2:{secret}/"),
            "ftp://example.com/".to_owned(),
            "http://a:b@127.0.0.1/".to_owned(),
        ] {
            let port = serve("127.0.0.1", vec![redirect(&to)]);
            let result = fetch(&fetcher(private), &format!("http://127.0.0.1:{port}/")).await;
            assert!(
                result.is_error && result.output.contains("Nothing was fetched"),
                "{to}: {}",
                result.output
            );
            assert!(!result.output.contains("the secret"));
        }
    }

    #[test]
    fn only_so_much_of_a_page_is_laid_out_as_takes_little_time() {
        let lengths = |body: &str| (affordable(body.as_bytes()), body.len());
        for body in ["", "<p>a < b = c</p>", &"x = 1 / 2 ".repeat(100_000), &"<p>x</p>".repeat(TAGS / 4)] {
            let (affordable, whole) = lengths(body);
            assert_eq!(affordable, whole);
        }
        for costly in
            ["<div>".repeat(TAGS * 2), format!("<a {}>", "a ".repeat(TAGS * 2)), "<a/b=''>".repeat(TAGS)]
        {
            let (affordable, whole) = lengths(&costly);
            assert!((1..whole).contains(&affordable), "{affordable} of {whole}");
        }
    }

    #[tokio::test]
    async fn redirects_are_followed_a_few_times() {
        let fetcher = fetcher(|_| false);
        let port = serve("127.0.0.1", vec![redirect("/b"), answer("text/plain", "here")]);
        let result = fetch(&fetcher, &format!("http://localhost:{port}/a")).await;
        assert_eq!(result.output, format!("[http://localhost:{port}/b, status 200]\nhere"));
        let port = serve("127.0.0.1", vec![redirect("/again"); 6]);
        let result = fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await;
        assert!(result.is_error && result.output.contains("after 5 redirects"), "{}", result.output);
    }

    #[tokio::test]
    async fn pages_become_text_and_long_ones_are_cut() {
        let fetcher = fetcher(|_| false);
        let page =
            "<html><head><script>alert(1)</script></head><body><h1>Title</h1><p>Words</p></body></html>";
        let port = serve("127.0.0.1", vec![answer("text/html", page)]);
        let result = fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await;
        assert!(result.output.contains("# Title") && result.output.contains("Words"), "{}", result.output);
        assert!(!result.output.contains("alert"), "{}", result.output);

        let port = serve("127.0.0.1", vec![answer("text/plain", &"x".repeat(100_000))]);
        let result = fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await;
        assert!(result.output.contains("bytes cut here") && result.output.len() < 70_000);

        let port = serve("127.0.0.1", vec![answer("image/png", "\u{0}PNG")]);
        assert!(fetch(&fetcher, &format!("http://127.0.0.1:{port}/")).await.output.contains("is no text"));
    }
}
