//! A private session bus: no service folders, so nothing of the person's desktop is started or reached.

use crate::process::OwnedChild;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A `dbus-daemon` of one test. It ends with the value.
#[derive(Debug)]
pub struct PrivateBus {
    daemon: OwnedChild,
    address: String,
    _folder: TempDir,
}

impl PrivateBus {
    /// Starts the daemon and waits until it has said its address.
    pub fn start() -> Self {
        Self::with_policy("")
    }

    /// A bus on which nobody hears what is said to somebody else.
    pub fn start_discreet() -> Self {
        Self::with_policy(
            r#"<deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>"#,
        )
    }

    fn with_policy(rules: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let config = folder.path().join("bus.conf");
        let text = format!(
            r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
    {rules}
  </policy>
</busconfig>
"#,
            folder.path().display()
        );
        fs::write(&config, text).expect("the bus configuration can be written");
        let mut command = Command::new("dbus-daemon");
        command.arg("--config-file").arg(&config).args(["--nofork", "--nopidfile", "--nosyslog"]);
        command.arg("--print-address=1").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut daemon = OwnedChild::start(&mut command);
        let address = daemon.read_line(Duration::from_secs(10), |line| {
            line.starts_with("unix:").then(|| line.trim().to_owned())
        });
        Self { daemon, address, _folder: folder }
    }

    /// The address to put into `DBUS_SESSION_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// A connection of the test's own.
    pub async fn connect(&self) -> zbus::Connection {
        let builder = zbus::connection::Builder::address(self.address.as_str()).expect("a bus address");
        builder.build().await.expect("the private bus accepts connections")
    }

    /// Ends the daemon now, as when a session bus dies under an app.
    pub fn stop(&mut self) {
        self.daemon.kill();
    }
}
