//! The UI's own copy of what is hidden is written by this test and committed, so that both faces agree.

#![allow(
    clippy::disallowed_methods,
    reason = "reads and writes the committed file, which the domain itself never does"
)]

use std::fmt::Write as _;

use sayso_domain::text::{hidden_ranges, lookalikes};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ui/src/bindings/hidden.ts");

fn typescript() -> String {
    let mut text = String::from(
        "// Written by the domain's tests (hidden_ranges_are_current); do not edit.\n\
         // The characters that would hide or reorder text, as inclusive ranges of code points.\n\
         export const HIDDEN_RANGES: readonly (readonly [number, number])[] = [\n",
    );
    for (first, last) in hidden_ranges() {
        writeln!(text, "  [{first}, {last}],").unwrap();
    }
    text += "];\n\
             // Characters that pass for plain letters or digits, by what they pass for.\n\
             export const LOOKALIKES: readonly (readonly [string, readonly number[]])[] = [\n";
    for (like, chars) in lookalikes() {
        let codes: Vec<_> = chars.iter().map(|c| u32::from(*c).to_string()).collect();
        writeln!(text, "  ['{like}', [{}]],", codes.join(", ")).unwrap();
    }
    text + "];\n"
}

/// Run with `SAYSO_WRITE_BINDINGS=1` to write the file anew.
#[test]
fn hidden_ranges_are_current() {
    if std::env::var("SAYSO_WRITE_BINDINGS").is_ok_and(|write| write == "1") {
        std::fs::create_dir_all(std::path::Path::new(FILE).parent().unwrap()).unwrap();
        std::fs::write(FILE, typescript()).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        committed == typescript(),
        "ui/src/bindings/hidden.ts is not current: run this test with SAYSO_WRITE_BINDINGS=1 and commit the file"
    );
}
