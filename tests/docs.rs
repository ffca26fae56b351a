//! What the pages under docs/ promise can be looked up.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

/// Every source file of ours, as one text.
fn sources() -> String {
    let mut open = vec![root().join("src-tauri"), root().join("tests"), root().join("ui/src")];
    let mut text = String::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "ts") {
            text += &std::fs::read_to_string(&path).unwrap();
        }
    }
    text
}

#[test]
fn every_test_that_the_architecture_page_names_is_there() {
    let page = read("docs/architecture.md");
    let table = page.split("## What must always hold").nth(1).and_then(|rest| rest.split("\n## ").next());
    let named: BTreeSet<_> = table
        .expect("the page has the section")
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    let sources = sources();
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !sources.contains(&format!("fn {name}(")) && !sources.contains(&format!("'{name}'")))
        .collect();
    assert!(missing.is_empty(), "docs/architecture.md names tests that are not there: {missing:?}");
}
