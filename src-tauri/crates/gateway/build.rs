//! A release carries the built UI in its binary: it must be built again when the UI was.
fn main() {
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A debug build reads the UI from disk when it is asked for it, so nothing is to be watched.
    let watched = if release { "../../../ui/dist" } else { "build.rs" };
    println!("cargo::rerun-if-changed={watched}");
}
