//! The gateway's files in the data folder: `sayso.sock`, `owner-token`, `endpoint.json`, `port`.

use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::GatewayError;

/// The longest path that the kernel takes for a socket, its end included, on every system.
const LONGEST_SOCKET_PATH: usize = 100;
/// The socket's name in the data folder.
const SOCKET: &str = "sayso.sock";

/// Where the socket is.
pub(crate) fn socket(data_dir: &Path) -> PathBuf {
    data_dir.join(SOCKET)
}

/// A path of the same file that is short enough for a socket's address, valid for as long as it lives.
pub(crate) struct Reachable {
    path: PathBuf,
    _folder: Option<OwnedFd>,
}

impl Reachable {
    /// A file in the data folder. A long folder is reached through its descriptor, where the system has `/proc`.
    pub(crate) fn new(data_dir: &Path, name: &str) -> std::io::Result<Self> {
        let direct = data_dir.join(name);
        if direct.as_os_str().len() < LONGEST_SOCKET_PATH || !cfg!(target_os = "linux") {
            return Ok(Self { path: direct, _folder: None });
        }
        let folder = OwnedFd::from(std::fs::File::open(data_dir)?);
        let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
        Ok(Self { path, _folder: Some(folder) })
    }

    pub(crate) fn socket(data_dir: &Path) -> std::io::Result<Self> {
        Self::new(data_dir, SOCKET)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Listens at the socket, which only the owner can open. One that a dead host left is replaced: whoever calls this holds
/// the data folder's lock, so no host that lives can be behind it.
pub(crate) fn listen(data_dir: &Path) -> Result<tokio::net::UnixListener, GatewayError> {
    let failed = |error| GatewayError::Socket { path: socket(data_dir), error };
    // Made under another name and moved into place once it is closed to others, whatever the umask.
    let name = format!("{SOCKET}.new");
    let new = Reachable::new(data_dir, &name).map_err(failed)?;
    let _ = std::fs::remove_file(new.path());
    let listener = tokio::net::UnixListener::bind(new.path()).map_err(failed)?;
    std::fs::set_permissions(new.path(), Permissions::from_mode(0o600)).map_err(failed)?;
    std::fs::rename(data_dir.join(&name), socket(data_dir)).map_err(failed)?;
    Ok(listener)
}

/// Writes the token with which the owner's own programs come in over loopback: a new one with every start.
pub(crate) fn write_owner_token(data_dir: &Path, token: &str) -> Result<(), GatewayError> {
    write_private(&data_dir.join("owner-token"), token)
}

/// Writes where the host is to be found.
pub(crate) fn write_endpoint(data_dir: &Path, url: &str) -> Result<(), GatewayError> {
    let endpoint = json!({ "url": url, "socket": socket(data_dir), "pid": std::process::id() });
    write_private(&data_dir.join("endpoint.json"), &format!("{endpoint}\n"))
}

/// Takes away what says that a host is here.
pub(crate) fn remove_endpoint(data_dir: &Path) {
    for name in [SOCKET, "owner-token", "endpoint.json"] {
        if let Err(error) = std::fs::remove_file(data_dir.join(name)) {
            tracing::debug!(%error, name, "a file of the gateway was not removed");
        }
    }
}

/// The port that was chosen for this folder.
pub(crate) fn kept_port(data_dir: &Path) -> Option<u16> {
    let text = std::fs::read_to_string(data_dir.join("port")).ok()?;
    text.trim().parse().ok().filter(|port| *port != 0)
}

/// Keeps a port for the starts to come.
pub(crate) fn keep_port(data_dir: &Path, address: SocketAddr) -> Result<(), GatewayError> {
    write_private(&data_dir.join("port"), &format!("{}\n", address.port()))
}

/// Writes a file that only the owner can read, whole or not at all.
fn write_private(path: &Path, text: &str) -> Result<(), GatewayError> {
    let failed = |error| GatewayError::File { path: path.to_owned(), error };
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let _ = std::fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).map_err(failed)?;
    file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}
