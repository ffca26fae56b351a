//! Names of tools: `server_tool`, cleaned. They depend on the set-up and on the server itself, never on what another server
//! says, so that a name that was approved never comes to mean another server's tool.

use std::collections::BTreeSet;

use sayso_domain::Digest;

/// The longest name that models take.
const LONGEST: usize = 64;
/// So that the tool's own part has room.
const LONGEST_PREFIX: usize = 24;
/// How many digits of a hash tell names apart that had to be changed.
const HASH: usize = 16;

/// A text with nothing but what a tool's name may hold.
pub(super) fn cleaned(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' }).collect()
}

/// What the names of each server's tools begin with. Two servers never get the same.
pub(super) fn unique_prefixes(names: &[String]) -> Vec<String> {
    let mut sorted: Vec<_> = names.iter().enumerate().collect();
    sorted.sort_by_key(|(_, name)| *name);
    let mut prefixes = vec![String::new(); names.len()];
    let mut taken = BTreeSet::new();
    for (index, name) in sorted {
        let plain: String = cleaned(name).chars().take(LONGEST_PREFIX).collect();
        let mut prefix = plain.clone();
        let mut count = 2;
        while !taken.insert(prefix.clone()) {
            prefix = format!("{plain}-{count}");
            count += 1;
        }
        prefixes[index] = prefix;
    }
    prefixes
}

/// Whether a tool's own name stays as it is: it needs no cleaning, and does not look like one that was cleaned. So a name
/// means the same tool whatever others the server has, now or later.
fn is_its_own(tool: &str) -> bool {
    let looks_hashed = tool.len() > HASH
        && tool[tool.len() - HASH..].bytes().all(|b| b.is_ascii_hexdigit())
        && tool.as_bytes()[tool.len() - HASH - 1] == b'_';
    cleaned(tool) == tool && !looks_hashed
}

/// The names of a server's tools, in their order; none for one whose name would look like another server's, or that
/// comes twice. `taken` are names that are not to be had.
pub(super) fn tool_names(
    prefix: &str,
    others: &[String],
    tools: &[String],
    taken: &BTreeSet<String>,
) -> Vec<Option<String>> {
    let mut sorted: Vec<_> = tools.iter().enumerate().collect();
    sorted.sort_by_key(|(_, tool)| *tool);
    let mut names = vec![None; tools.len()];
    let mut given = taken.clone();
    for (index, tool) in sorted {
        let plain = format!("{prefix}_{}", cleaned(tool));
        let name = if plain.len() <= LONGEST && !taken.contains(&plain) && is_its_own(tool) {
            plain
        } else {
            let hash = Digest::of(&format!("{prefix}\0{tool}")).to_string();
            let room = LONGEST - HASH - 1;
            format!("{}_{}", plain.chars().take(room).collect::<String>(), &hash[..HASH])
        };
        let is_anothers =
            others.iter().any(|other| other.len() > prefix.len() && name.starts_with(&format!("{other}_")));
        if !is_anothers && given.insert(name.clone()) {
            names[index] = Some(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn names(prefix: &str, tools: &[&str]) -> Vec<Option<String>> {
        let taken = BTreeSet::from(["read_file".to_owned()]);
        tool_names(prefix, &texts(&["a", "a_b", "read"]), &texts(tools), &taken)
    }

    #[test]
    fn names_are_cleaned_of_everything_else() {
        assert_eq!(cleaned("my server/1\u{202e}é"), "my_server_1__");
        assert_eq!(names("a", &["list_files"]), [Some("a_list_files".into())]);
        let changed = names("a", &["list files", "x\ny"]);
        let changed: Vec<_> = changed.iter().map(|name| name.as_deref().unwrap_or_default()).collect();
        assert!(changed[0].starts_with("a_list_files_") && changed[1].starts_with("a_x_y_"), "{changed:?}");
        assert!(changed.iter().all(|name| cleaned(name) == **name));
    }

    #[test]
    fn a_name_means_the_same_tool_whatever_else_the_server_lists() {
        let alone = |tool: &str| names("a", &[tool])[0].clone();
        let hashed = alone("x.y").unwrap_or_default();
        let look_alike = hashed.trim_start_matches("a_").to_owned();
        let all = ["x y", "x.y", "x_y", "x\u{a0}y", &look_alike];
        let together = names("a", &all);
        for (tool, name) in all.iter().zip(&together) {
            assert_eq!(*name, alone(tool), "{tool:?}");
        }
        let different: BTreeSet<_> = together.iter().flatten().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn long_names_end_in_a_hash_and_stay_the_same() {
        let long = "t".repeat(200);
        let name = names("a", &[&long])[0].clone().unwrap_or_default();
        assert_eq!(name.len(), 64);
        assert_eq!(names("a", &["other", &long])[1].clone().unwrap_or_default(), name);
    }

    #[test]
    fn names_that_fall_together_are_told_apart_whatever_their_order() {
        let (one, other) = (names("a", &["x y", "x.y"]), names("a", &["x.y", "x y"]));
        assert_eq!(one[0], other[1]);
        assert_eq!(one[1], other[0]);
        assert_ne!(one[0], one[1]);
    }

    #[test]
    fn no_standard_tool_and_no_other_server_is_taken_for() {
        let name = names("read", &["file"])[0].clone().unwrap_or_default();
        assert!(name.starts_with("read_file_"), "{name}");
        assert_eq!(names("a", &["b_c", "c"]), [None, Some("a_c".into())]);
    }

    #[test]
    fn servers_whose_names_fall_together_get_prefixes_of_their_own() {
        assert_eq!(unique_prefixes(&texts(&["a b", "a.b", "a_b"])), ["a_b", "a_b-2", "a_b-3"]);
    }
}
