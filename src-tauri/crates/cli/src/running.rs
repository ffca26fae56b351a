use std::path::Path;

use sayso_gateway::{Gateway, GatewayOptions};
use sayso_host::{Host, HostOptions};

use crate::failure::Failure;

/// A host in this process, with its doors open.
pub(crate) struct Running {
    pub(crate) host: Host,
    pub(crate) gateway: Gateway,
}

impl Running {
    pub(crate) async fn start(data_dir: &Path, port: Option<u16>) -> Result<Self, Failure> {
        let host = Host::open(HostOptions { data_dir: data_dir.to_owned() }).await?;
        match Gateway::start(host.clone(), GatewayOptions { port }).await {
            Ok(gateway) => Ok(Self { host, gateway }),
            Err(error) => {
                host.shutdown().await;
                Err(error.into())
            }
        }
    }

    /// Closes the doors, then the host.
    pub(crate) async fn shutdown(self) {
        self.gateway.shutdown().await;
        self.host.shutdown().await;
    }
}
