use proptest::prelude::*;
use sayso_domain::search::{Query, words};

fn texts(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

fn finds(query: &str, text: &str) -> bool {
    Query::parse(query).matches(&[text])
}

#[test]
fn words_have_no_capitals_and_no_accents_and_scripts_without_spaces_are_read_sign_by_sign() {
    assert_eq!(texts("Café CRÈME, e\u{301}té"), ["cafe", "creme", "ete"]);
    assert_eq!(texts("Straße Łódź Ærø ΣΊΣΥΦΟΣ İstanbul"), ["strasse", "lodz", "aero", "σισυφοσ", "istanbul"]);
    assert_eq!(texts("東京で会議"), ["東", "京", "で", "会", "議"]);
    assert_eq!(texts("가격 ที่"), ["가", "격", "ที่"]);
    assert_eq!(texts("हिन्दी पाठ"), ["हिन्दी", "पाठ"]);
    assert_eq!(texts("ＡＢＣ 🚀 5€"), ["abc", "🚀", "5", "€"]);
    assert_eq!(texts("/home/a/src/main.rs"), ["home", "a", "src", "main", "rs"]);
    assert_eq!(
        texts("git push --force-with-lease -u --- x-y - z"),
        ["git", "push", "--", "force", "with", "lease", "-", "u", "x", "y", "z"]
    );
}

#[test]
fn search_finds_what_a_person_expects() {
    for (query, text) in [
        ("cafe", "Order from the Café"),
        ("CAFÉ", "order from the cafe"),
        ("会議", "明日の会議に参加しますか"),
        ("東", "東京"),
        ("退款", "请批准退款一百元"),
        ("환불", "고객에게환불합니다"),
        ("src/main", "open /home/a/src/main.rs"),
        ("main.rs", "open /home/a/src/main.rs"),
        ("--force", "git push --force origin"),
        ("--for", "git push --force origin"),
        ("-rf", "rm -rf build"),
        ("rm -rf", "rm -rf build"),
        ("tar -xvf", "tar -xvf a.tar"),
        ("-name", "find . -name x"),
        ("\"-name\" find", "find . -name x"),
        ("\"git push\"", "then git push it"),
        ("\"git pu\"*", "then git push it"),
        ("push git", "then git push it"),
        ("pus", "then git push it"),
        ("x", "find . -name x"),
        ("%", "over 100% of it"),
        ("git -force", "git push it"),
        ("git -\"push it\"", "git push"),
        ("\"unbalanced git", "an unbalanced git"),
        ("", "anything"),
        ("***", "anything"),
    ] {
        assert!(finds(query, text), "{query} finds {text}");
    }
    for (query, text) in [
        ("会議", "会と議"),
        ("--force", "use the force"),
        ("-rf", "rf"),
        ("\"git pu\"", "git push"),
        ("ain.rs", "main.rs"),
        ("p", "push"),
        ("git -push", "git push it"),
        ("git -\"rf\"", "git rm -rf"),
        ("src/main", "main src"),
        ("%", "percent"),
        ("git missing", "git"),
    ] {
        assert!(!finds(query, text), "{query} does not find {text}");
    }
}

#[test]
fn what_is_found_is_marked_in_utf_16() {
    let long = format!("🚀 {} Küche and küche {}", "before ".repeat(30), "after ".repeat(60));
    let query = Query::parse("kuche");
    let found = query.snippet(&[("names", "bot"), ("prompt", &long)]).unwrap();
    assert_eq!(found.field, "prompt");
    let units: Vec<u16> = found.text.encode_utf16().collect();
    let marked: Vec<_> = found
        .marks
        .iter()
        .map(|(start, end)| String::from_utf16(&units[*start as usize..*end as usize]).unwrap())
        .collect();
    assert_eq!(marked, ["Küche", "küche"]);
    assert!(found.text.starts_with('…') && found.text.ends_with('…'), "{}", found.text);
    let emoji = Query::parse("launch").snippet(&[("prompt", "🚀🚀 launch\nnow")]).unwrap();
    assert_eq!((emoji.text.as_str(), emoji.marks), ("🚀🚀 launch now", vec![(5, 11)]));
    assert_eq!(query.snippet(&[("prompt", "nothing")]), None);
}

proptest! {
    /// Also in what is built for the index: quotes are balanced, and nothing but words is in them.
    #[test]
    fn whatever_is_typed_is_a_search(text in "\\PC{0,60}|[\"*\\- \0()a^:é東]{0,40}|(\"?-{0,3}[a-z]{0,5}\"?\\*? ){0,50}") {
        let query = Query::parse(&text);
        let _ = query.matches(&[&text, "git push --force"]);
        let _ = query.snippet(&[("prompt", &text)]);
        if let Some(expression) = query.expression() {
            prop_assert_eq!(expression.matches('"').count() % 2, 0);
            for (index, part) in expression.split('"').enumerate() {
                let is_fine = if index % 2 == 1 {
                    !part.is_empty() && !part.contains('\0')
                } else {
                    part.split(' ').all(|word| ["", "*", "AND", "OR", "NOT", "(", ")", "*)"].contains(&word))
                };
                prop_assert!(is_fine, "{}", expression);
            }
        }
    }

    /// A text is found by what it holds.
    #[test]
    fn a_text_is_found_by_any_part_of_its_words(text in "\\PC{1,80}", from in 0usize..20, count in 1usize..5) {
        let all = words(&text);
        prop_assume!(from < all.len());
        let part: Vec<_> = all.iter().skip(from).take(count).map(|word| &text[word.range.clone()]).collect();
        let start = all[from].range.start;
        let end = all[(from + count).min(all.len()) - 1].range.end;
        prop_assume!(!text[start..end].contains('"'));
        prop_assert!(Query::parse(&format!("\"{}\"", &text[start..end])).matches(&[&text]), "{:?}", part);
    }
}

#[test]
fn a_query_of_a_hundred_thousand_characters_is_cut() {
    let query = Query::parse(&"a\" -b* ".repeat(20_000));
    assert!(query.expression().unwrap().len() < 10_000);
    assert!(Query::parse(&"東".repeat(100_000)).expression().unwrap().len() < 1000);
}
