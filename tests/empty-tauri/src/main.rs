//! One window with one line of text.

fn main() {
    tauri::Builder::default().run(tauri::generate_context!()).expect("the window opens");
}
