use sayso_host::{Host, RpcError, Surface, code};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A command of the host with its own types.
pub(crate) async fn call<T: DeserializeOwned>(
    host: &Host,
    surface: Surface,
    command: &str,
    params: impl Serialize,
) -> Result<T, RpcError> {
    let unreadable = |error: serde_json::Error| RpcError::new(code::BAD_REQUEST, error.to_string());
    let params = serde_json::to_value(params).map_err(unreadable)?;
    let result = host.call(surface, command, params).await?;
    serde_json::from_value(result).map_err(unreadable)
}
