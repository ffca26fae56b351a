use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

use super::AskError;
use crate::door::is_same_user;
use crate::folder::{Reachable, socket};

/// How long a connection may take to be made; that is quick where a host lives.
const CONNECT: Duration = Duration::from_secs(1);
/// How long to wait before a full queue of connections is tried again.
const BREATHER: Duration = Duration::from_millis(50);

/// Where a host is to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The Unix socket of a data folder.
    Socket(PathBuf),
    /// A port of this machine: no token of ours goes to another one.
    Loopback(SocketAddr),
}

/// The address is not one of this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not where Sayso can be: its address looks like http://127.0.0.1:PORT. Nobody was asked.")]
pub struct PlaceError(String);

pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Place {
    /// From `http://127.0.0.1:PORT`, `http://localhost:PORT` or `http://[::1]:PORT`.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_url(url: &str) -> Result<Self, PlaceError> {
        let authority = url.trim().strip_prefix("http://").map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let address = authority.and_then(|authority| match authority.strip_prefix("localhost:") {
            Some(port) => Some(SocketAddr::new(IpAddr::from([127, 0, 0, 1]), port.parse().ok()?)),
            None => authority.parse().ok(),
        });
        match address {
            Some(address) if address.ip().is_loopback() => Ok(Self::Loopback(address)),
            Some(_) | None => Err(PlaceError(url.to_owned())),
        }
    }

    /// What a request's `Host` says.
    pub(super) fn host(&self) -> String {
        match self {
            Self::Socket(_) => "sayso".to_owned(),
            Self::Loopback(address) => address.to_string(),
        }
    }

    /// Where it is, for a sentence.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Socket(data_dir) => format!("with the data folder {}", data_dir.display()),
            Self::Loopback(address) => format!("at http://{address}"),
        }
    }

    pub(super) async fn connect(&self) -> Result<Box<dyn Stream>, AskError> {
        let connected = async {
            match self {
                Self::Socket(data_dir) => {
                    let socket = Reachable::socket(data_dir)?;
                    let stream = connect_to_socket(&socket).await?;
                    if !is_same_user(&stream)? {
                        let error = "it belongs to another user";
                        return Err(io::Error::new(io::ErrorKind::PermissionDenied, error));
                    }
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
                Self::Loopback(address) => {
                    let stream = TcpStream::connect(address).await?;
                    let _ = stream.set_nodelay(true);
                    Ok(Box::new(stream) as Box<dyn Stream>)
                }
            }
        };
        match tokio::time::timeout(CONNECT, connected).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(AskError::Silent(CONNECT)),
        }
    }

    fn failed(&self, error: io::Error) -> AskError {
        use io::ErrorKind::{ConnectionRefused, ConnectionReset, NotADirectory, NotFound};
        match (self, error.kind()) {
            (_, ConnectionRefused | ConnectionReset | NotFound | NotADirectory) => {
                AskError::Down { at: self.in_words() }
            }
            (Self::Socket(data_dir), _) => {
                AskError::Closed { at: format!("at its socket {}", socket(data_dir).display()), error }
            }
            (Self::Loopback(_), _) => AskError::Closed { at: self.in_words(), error },
        }
    }
}

/// A socket whose queue is full refuses at once instead of letting one wait.
async fn connect_to_socket(socket: &Reachable) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(socket.path()).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(BREATHER).await,
            connected => return connected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_of_this_machine() {
        let check = |url: &str, expected: Option<&str>| {
            let expected = expected.map(|address| Place::Loopback(address.parse().unwrap()));
            assert_eq!(Place::from_url(url).ok(), expected, "{url}");
        };
        check("http://127.0.0.1:2000", Some("127.0.0.1:2000"));
        check("http://localhost:2000/", Some("127.0.0.1:2000"));
        check("http://[::1]:2000", Some("[::1]:2000"));
        check("https://127.0.0.1:2000", None);
        check("http://127.0.0.1", None);
        check("http://192.168.1.2:2000", None);
        check("http://localhost.example:2000", None);
        check("http://127.0.0.1:2000@example.com:80", None);
        check("http://127.0.0.1:2000/v1", None);
        check("", None);
    }
}
