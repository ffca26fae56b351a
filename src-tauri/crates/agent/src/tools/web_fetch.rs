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
/// The width to which a page is laid out as text, in characters.
const WIDTH: usize = 110;

/// Fetches a page from the internet.
pub(super) struct WebFetch {
    limits: Limits,
    allow_private: bool,
    client: OnceLock<Result<Client, String>>,
}

impl WebFetch {
    pub(super) fn new(setup: &ToolSetup) -> Self {
        Self { limits: setup.limits, allow_private: setup.allow_private_addresses, client: OnceLock::new() }
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
        match address.filter(|address| !self.allow_private && is_private(*address)) {
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
                .user_agent(concat!("sayso/", env!("CARGO_PKG_VERSION")));
            let builder = match self.allow_private {
                true => builder,
                false => builder.dns_resolver(Arc::new(PublicOnly)),
            };
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
        Ok(ToolResult { is_error: !status.is_success(), ..ToolResult::ok(output) })
    }
}

/// A page as text; one that cannot be laid out shows as it came.
fn laid_out(body: &[u8]) -> String {
    html2text::config::plain().string_from_read(body, WIDTH).unwrap_or_else(|_| lossy(body))
}

/// Looks up names, and gives addresses only if all of them are public. The connection goes to just these addresses, so
/// that a name which changes its answer gains nothing.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            match found.iter().any(|address| is_private(address.ip())) {
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
