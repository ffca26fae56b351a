//! STUB while being written: signatures are final.
#![allow(missing_docs, clippy::todo)]
use std::path::{Path, PathBuf};
use serde_json::Value;
use tokio::sync::broadcast;
use sayso_domain::Surface;
use crate::{OpenError, RpcError, dto};

#[derive(Clone, Default)]
pub struct HostOptions { pub data_dir: PathBuf }
#[derive(Clone)]
pub struct Host {}
impl Host {
    pub async fn open(_options: HostOptions) -> Result<Self, OpenError> { todo!() }
    pub async fn call(&self, _surface: Surface, _command: &str, _params: Value) -> Result<Value, RpcError> { todo!() }
    pub fn events(&self) -> broadcast::Receiver<dto::UiEvent> { todo!() }
    pub fn set_notifications(&self, _health: dto::Health) { todo!() }
    pub fn set_tray(&self, _health: dto::Health) { todo!() }
    pub fn set_url(&self, _url: String) { todo!() }
    pub fn data_dir(&self) -> &Path { todo!() }
    pub async fn shutdown(&self) { todo!() }
}
