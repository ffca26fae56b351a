use std::io::{self, ErrorKind, Write as _};

use sayso_domain::text::visible;
use sayso_gateway::{AskError, ClientError, GatewayError, McpError, PlaceError, TokenError};
use sayso_host::{OpenError, RpcError, code};
use serde_json::json;

use crate::exit::Exit;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// To be told on stderr.
    Told {
        /// The exit code.
        exit: Exit,
        /// For scripts.
        code: String,
        /// What happened, what is safe and what to do.
        message: String,
    },
    /// Whoever read our output went away: nothing is left to say.
    ReaderGone,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &str, message: impl Into<String>) -> Self {
        Self::Told { exit, code: code.to_owned(), message: message.into() }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, "usage", message)
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Told { exit, .. } => *exit,
            Self::ReaderGone => Exit::Done,
        }
    }

    /// Whether the host refused with this code.
    pub(crate) fn has_code(&self, wanted: &str) -> bool {
        match self {
            Self::Told { code, .. } => code == wanted,
            Self::ReaderGone => false,
        }
    }

    /// On stderr, one plain sentence and what to do; with `--json` also as JSON on a line of its own.
    pub(crate) fn print(&self, is_json: bool) {
        let Self::Told { code, message, .. } = self else { return };
        let _ = writeln!(io::stderr(), "{}", visible(message));
        if is_json {
            print_json(code, message);
        }
    }
}

/// `{"error":{"code","message"}}` on stderr.
pub(crate) fn print_json(code: &str, message: &str) {
    let _ = writeln!(io::stderr(), "{}", json!({ "error": { "code": code, "message": message } }));
}

impl From<RpcError> for Failure {
    fn from(error: RpcError) -> Self {
        let exit = match error.code.as_str() {
            code::NOT_FOUND | code::ALREADY_DECIDED | code::EXPIRED | code::TOO_LATE => Exit::Gone,
            code::STORAGE => Exit::Storage,
            code::BAD_REQUEST => Exit::Usage,
            _ => Exit::Refused,
        };
        Self::Told { exit, code: error.code, message: error.message }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let message = error.to_string();
        match error {
            ClientError::Refused(error) => error.into(),
            ClientError::NoHost(_) => Self::new(Exit::NoHost, "no_host", message),
            ClientError::Io { .. } => Self::new(Exit::NoHost, "socket", message),
            ClientError::Broken(_) => Self::new(Exit::NoHost, "broken", message),
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        let code = match error {
            AskError::Refused(refusal) => {
                let exit = match refusal.code.as_str() {
                    "acknowledged" => Exit::Gone,
                    "bad_id" | "bad_url" | "bad_schema" => Exit::Usage,
                    _ => return RpcError::new(&refusal.code, refusal.detail).into(),
                };
                return Self::new(exit, &refusal.code, refusal.detail);
            }
            AskError::Down { .. } => "no_host",
            AskError::Closed { .. } => "socket",
            AskError::Silent(_) | AskError::Cut(_) | AskError::Foreign(_) => "broken",
        };
        Self::new(Exit::NoHost, code, message)
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<McpError> for Failure {
    fn from(error: McpError) -> Self {
        Self::new(Exit::Refused, "mcp", error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let exit = match error {
            OpenError::InUse(_) => Exit::NoHost,
            OpenError::Storage(_) | OpenError::Io(_) => Exit::Storage,
        };
        Self::new(exit, error.code(), error.to_string())
    }
}

impl From<GatewayError> for Failure {
    fn from(error: GatewayError) -> Self {
        let exit = match error {
            GatewayError::Socket { .. } | GatewayError::File { .. } => Exit::Storage,
            GatewayError::PortTaken(_) | GatewayError::Loopback(_) | GatewayError::Random(_) => Exit::Refused,
        };
        Self::new(exit, "gateway", error.to_string())
    }
}

impl From<io::Error> for Failure {
    /// Of writing to our own output.
    fn from(error: io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        let message = format!("The output cannot be written: {error}. What was done stays done.");
        Self::new(Exit::Refused, "output", message)
    }
}
