//! Who may know whom, as docs/architecture.md draws it: an edge that is not in this table fails here.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A crate of ours: what of ours it may use, and what of others it never uses.
struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
    never: &'static [&'static str],
}

const BELOW_HOST: &[&str] = &["sayso-domain", "sayso-store", "sayso-inbox", "sayso-agent"];
const HOST_AND_BELOW: &[&str] = &["sayso-host", "sayso-domain", "sayso-store", "sayso-inbox", "sayso-agent"];
const ALL_BUT_CLI: &[&str] =
    &["sayso-gateway", "sayso-host", "sayso-domain", "sayso-store", "sayso-inbox", "sayso-agent"];

/// Names that stand for a whole family: `tauri` forbids `tauri-plugin-opener` too.
const TABLE: &[Layer] = &[
    Layer {
        name: "sayso-domain",
        may_use: &[],
        never: &[
            "tokio",
            "futures",
            "async-trait",
            "reqwest",
            "hyper",
            "axum",
            "rusqlite",
            "tauri",
            "rand",
            "tracing",
        ],
    },
    Layer { name: "sayso-store", may_use: &["sayso-domain"], never: &["reqwest", "hyper", "axum", "tauri"] },
    Layer {
        name: "sayso-inbox",
        may_use: &["sayso-domain", "sayso-store"],
        never: &["reqwest", "hyper", "axum", "tauri", "rusqlite"],
    },
    Layer { name: "sayso-agent", may_use: &["sayso-domain"], never: &["axum", "rusqlite", "tauri"] },
    Layer { name: "sayso-host", may_use: BELOW_HOST, never: &["tauri", "webkit2gtk", "rusqlite"] },
    Layer { name: "sayso-gateway", may_use: HOST_AND_BELOW, never: &["tauri", "webkit2gtk", "rusqlite"] },
    Layer { name: "sayso-cli", may_use: ALL_BUT_CLI, never: &["tauri", "webkit2gtk", "rusqlite"] },
    Layer { name: "sayso-desktop", may_use: ALL_BUT_CLI, never: &["rusqlite", "reqwest"] },
    // Measures the loop as an app and as a library has it, and the doors; nothing may look at it.
    Layer { name: "sayso-bench", may_use: ALL_BUT_CLI, never: &["tauri"] },
    // The tests look at everything; nothing may look at them.
    Layer {
        name: "sayso-tests",
        may_use: &[
            "sayso-cli",
            "sayso-gateway",
            "sayso-host",
            "sayso-domain",
            "sayso-store",
            "sayso-inbox",
            "sayso-agent",
        ],
        never: &[],
    },
];

/// One dependency as a Cargo.toml declares it.
#[derive(Debug)]
struct Edge {
    from: String,
    to: String,
    /// Whether only its tests use it: a real HTTP server in a test makes no server of the crate.
    only_tests: bool,
}

fn edge(from: &str, to: &str) -> Edge {
    Edge { from: from.to_owned(), to: to.to_owned(), only_tests: false }
}

/// What in `edges` is not allowed, as sentences.
fn forbidden(edges: &[Edge]) -> Vec<String> {
    edges
        .iter()
        .filter_map(|edge| {
            let Edge { from, to, only_tests } = edge;
            let Some(layer) = TABLE.iter().find(|layer| layer.name == from) else {
                return Some(format!("{from} is not in the table: say what it may use"));
            };
            if to.starts_with("sayso-") {
                return (!layer.may_use.contains(&to.as_str())).then(|| format!("{from} must not use {to}"));
            }
            let family = |name: &&&str| {
                to == **name || to.strip_prefix(**name).is_some_and(|rest| rest.starts_with('-'))
            };
            let banned = layer.never.iter().find(family)?;
            (!only_tests).then(|| format!("{from} must not use {to} (it never uses {banned})"))
        })
        .collect()
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the repository").to_owned()
}

fn edges() -> Vec<Edge> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let mut edges = Vec::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        for dependency in package["dependencies"].as_array().expect("a list of dependencies") {
            let mut one = edge(package["name"].as_str().unwrap(), dependency["name"].as_str().unwrap());
            one.only_tests = dependency["kind"] == "dev";
            edges.push(one);
        }
    }
    edges
}

#[test]
fn every_edge_of_the_workspace_is_in_the_table() {
    let edges = edges();
    let named = |name: &str| edges.iter().any(|edge| edge.from == name);
    let missing: Vec<_> = TABLE.iter().map(|layer| layer.name).filter(|name| !named(name)).collect();
    assert!(missing.is_empty(), "cargo metadata does not name {missing:?}");
    let problems = forbidden(&edges);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_forbidden_edge_would_be_found() {
    let wrong = [
        edge("sayso-domain", "sayso-store"),
        edge("sayso-domain", "tokio"),
        edge("sayso-domain", "tokio-util"),
        edge("sayso-store", "sayso-inbox"),
        edge("sayso-inbox", "reqwest"),
        edge("sayso-agent", "sayso-store"),
        edge("sayso-agent", "axum"),
        edge("sayso-host", "tauri"),
        edge("sayso-gateway", "tauri-plugin-opener"),
        edge("sayso-desktop", "sayso-cli"),
        edge("sayso-cli", "sayso-tests"),
        edge("sayso-newcomer", "serde"),
    ];
    for edge in wrong {
        assert_eq!(forbidden(std::slice::from_ref(&edge)).len(), 1, "{edge:?} is not reported");
    }
    let right =
        [edge("sayso-host", "sayso-agent"), edge("sayso-desktop", "tauri"), edge("sayso-domain", "serde")];
    assert_eq!(forbidden(&right), Vec::<String>::new());
    let server_in_a_test = Edge { only_tests: true, ..edge("sayso-agent", "axum") };
    assert_eq!(forbidden(&[server_in_a_test]), Vec::<String>::new());
    let ours_in_a_test = Edge { only_tests: true, ..edge("sayso-agent", "sayso-store") };
    assert_eq!(forbidden(&[ours_in_a_test]).len(), 1, "a crate's tests keep its layer too");
}

#[test]
fn a_plain_build_needs_no_webkit() {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let members = metadata["workspace_default_members"].as_array().expect("a list of members");
    assert!(
        !members.iter().any(|id| id.as_str().unwrap().contains("src-tauri#")),
        "the shell is built by default"
    );
    // Everything that a plain build compiles, and what the shell alone needs as proof that the look-up works.
    let tree = ["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
    let needs = |package: &str, name: &str| {
        let listed = cargo(&[&tree[..], &["--package", package]].concat());
        listed.lines().any(|line| line.split(' ').next() == Some(name))
    };
    assert!(needs("sayso-desktop", "webkit2gtk"));
    for name in ["webkit2gtk", "gtk", "tauri"] {
        assert!(!needs("sayso-cli", name), "sayso-cli brings in {name}");
    }
}

#[test]
fn the_ui_talks_to_tauri_only_in_its_transport() {
    let sources = root().join("ui/src");
    let mut files = Vec::new();
    collect(&sources, &mut files);
    assert!(!files.is_empty(), "there is no UI under {}", sources.display());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let inside = file.starts_with(sources.join("transport"));
        let imports = ["'@tauri-apps/", "\"@tauri-apps/"].iter().any(|import| text.contains(import));
        assert!(inside || !imports, "{} imports @tauri-apps", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
