//! Puts the decisions of a file of an older version into the index of words, some at a time, so that nothing waits for it.
//! Until it is done, a search reads those that are missing.

use std::time::Duration;

use sayso_store::{StoreError, search};

use crate::host::Host;
use crate::journal::may_pass;

/// So many at a time: what is decided meanwhile waits no longer than for these.
const AT_ONCE: u32 = 100;
/// After a failure that may pass.
const LATER: Duration = Duration::from_secs(10);

pub(crate) async fn run(host: Host) {
    loop {
        match some(&host).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "older decisions could not be put into the index of words");
                if !may_pass(&error) {
                    return;
                }
                tokio::select! {
                    () = host.stop_token().cancelled() => return,
                    () = tokio::time::sleep(LATER) => {}
                }
            }
        }
        if host.stop_token().is_cancelled() {
            return;
        }
    }
}

/// Whether there are more.
async fn some(host: &Host) -> Result<bool, StoreError> {
    let missing = host.store().read(|reader| search::is_missing_some(reader)).await?;
    if !missing {
        return Ok(false);
    }
    host.store().write(|tx| search::index_more(tx, AT_ONCE)).await
}
