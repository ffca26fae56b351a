//! Gives each of the shell's commands a permission, and turns `tauri.conf.json` and the capabilities into code.

fn main() {
    // The UI is part of the program.
    println!("cargo:rerun-if-changed=../ui/dist");
    const COMMANDS: &[&str] =
        &["rpc", "subscribe", "open_url", "open_data_folder", "quit", "startup_error", "retry_start"];
    let manifest = tauri_build::AppManifest::new().commands(COMMANDS);
    if let Err(error) = tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest)) {
        println!("cargo::error=the shell's configuration cannot be used: {error:#}");
    }
}
