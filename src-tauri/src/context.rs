use tauri::{Context, Runtime};

/// `tauri.conf.json`, the capabilities and the built UI, compiled in.
pub(crate) fn context<R: Runtime>() -> Context<R> {
    tauri::generate_context!()
}
