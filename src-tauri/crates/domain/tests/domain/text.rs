use proptest::prelude::*;
use sayso_domain::text::{
    Segment, cut, hidden_ranges, is_hidden, look_alike, segments, visible, visible_command, visible_line,
};

#[test]
fn what_hides_or_reorders_becomes_visible() {
    for (text, shown) in [
        ("plain, äöü, 漢字, 🙂", "plain, äöü, 漢字, 🙂"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("rm -rf ~\r", "rm -rf ~‹U+000D›"),
        ("\u{1b}[2J", "‹U+001B›[2J"),
        ("a\0b\u{7f}c\u{85}d", "a‹U+0000›b‹U+007F›c‹U+0085›d"),
        ("access\u{202e}txt.exe", "access‹U+202E›txt.exe"),
        ("\u{2066}x\u{2069}\u{200f}\u{61c}", "‹U+2066›x‹U+2069›‹U+200F›‹U+061C›"),
        ("zero\u{200b}width\u{200d}\u{feff}", "zero‹U+200B›width‹U+200D›‹U+FEFF›"),
        ("soft\u{ad}hyphen", "soft‹U+00AD›hyphen"),
        ("tag\u{e0041}\u{e007f}", "tag‹U+E0041›‹U+E007F›"),
        ("no-break\u{a0}em\u{2003}line\u{2028}", "no-break‹U+00A0›em‹U+2003›line‹U+2028›"),
        (
            "\u{3164}\u{115f}\u{ffa0}\u{2800}\u{34f}\u{fe0f}",
            "‹U+3164›‹U+115F›‹U+FFA0›‹U+2800›‹U+034F›‹U+FE0F›",
        ),
        ("\u{1d159}\u{16fe4}", "‹U+1D159›‹U+16FE4›"),
        ("\u{e000}\u{10ffff}", "‹U+E000›‹U+10FFFF›"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
    }
    assert_eq!(visible_line("a\nb\tc\u{202e}"), "a⏎b⇥c‹U+202E›");
}

#[test]
fn nothing_is_cut_without_a_mark() {
    for (text, max, shown) in [
        ("abc", 3, "abc"),
        ("", 0, ""),
        ("abcd", 3, "abc… (1 more character)"),
        ("äöüß", 1, "ä… (3 more characters)"),
    ] {
        assert_eq!(cut(text, max), shown);
    }
}

#[test]
fn hidden_ranges_hold_just_the_hidden_characters() {
    let ranges = hidden_ranges();
    assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "sorted, and apart");
    let mut inside = ranges.iter().flat_map(|(first, last)| *first..=*last).filter_map(char::from_u32);
    assert!(('\0'..=char::MAX).filter(|c| is_hidden(*c)).eq(inside.by_ref()));
}

fn any_char() -> impl Strategy<Value = char> {
    let ranges = hidden_ranges();
    let hidden = prop::sample::select(ranges)
        .prop_map(|(first, last)| char::from_u32(first).or(char::from_u32(last)).unwrap_or('\u{200b}'));
    prop_oneof![any::<char>(), hidden]
}

proptest! {
    #[test]
    fn visible_text_hides_nothing_and_loses_nothing(chars in prop::collection::vec(any_char(), 0..40)) {
        let text: String = chars.into_iter().collect();
        prop_assert!(!visible(&text).chars().any(is_hidden));
        prop_assert!(!visible_line(&text).chars().any(|c| is_hidden(c) || c == '\n' || c == '\t'));

        let whole: String = segments(&text).iter().map(|segment| match segment {
            Segment::Plain(plain) => (*plain).to_owned(),
            Segment::Hidden(c) | Segment::Odd(c, _) => c.to_string(),
        }).collect();
        prop_assert_eq!(whole, text.clone());
        for segment in segments(&text) {
            match segment {
                Segment::Plain(plain) => prop_assert!(!plain.is_empty() && !plain.chars().any(is_hidden)),
                Segment::Hidden(c) => prop_assert!(is_hidden(c)),
                Segment::Odd(c, _) => prop_assert!(!is_hidden(c)),
            }
        }
    }

    #[test]
    fn a_cut_says_exactly_how_much(text in any::<String>(), max in 0usize..20) {
        let count = text.chars().count();
        let start: String = text.chars().take(max).collect();
        let expected = match count.saturating_sub(max) {
            0 => text.clone(),
            1 => format!("{start}… (1 more character)"),
            more => format!("{start}… ({more} more characters)"),
        };
        prop_assert_eq!(cut(&text, max), expected);
    }
}

/// The table that the UI's own copy of this is tested with.
const CASES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ui/src/text/hidden.cases.json"));

#[test]
fn letters_that_pass_for_others_are_marked_and_whole_words_of_a_script_are_not() {
    let cases: Vec<(String, String)> = serde_json::from_str(CASES).unwrap();
    for (text, shown) in cases {
        assert_eq!(visible(&text), shown, "{text}");
    }
}

#[test]
fn a_programs_name_is_read_strictly_and_what_follows_it_as_text() {
    for (text, shown) in [
        ("ls -l", "ls -l"),
        ("l\u{455} -l", "l‹U+0455 like s› -l"),
        ("\u{441}\u{440} a b", "‹U+0441 like c›‹U+0440 like p› a b"),
        ("A=1 \u{441}\u{440} a; echo привет мир", "A=1 ‹U+0441 like c›‹U+0440 like p› a; echo привет мир"),
        ("true && \u{441}url x | ёж", "true && ‹U+0441 like c›url x | ‹U+0451›‹U+0436›"),
        ("echo 'мир; труд'", "echo 'мир; труд'"),
        ("git commit -m \"Исправить ошибку\"", "git commit -m \"Исправить ошибку\""),
    ] {
        assert_eq!(visible_command(text), shown, "{text}");
    }
}

#[test]
fn names_that_look_alike_are_the_same_name_to_the_eye() {
    for (one, other, alike) in [
        ("deploy-bot", "deploy-bot", true),
        ("deploy-bot", "Deploy-Bot", true),
        ("deploy-bot", "d\u{435}ploy-bot", true),
        ("deploy-bot", "deploy\u{2010}bot", true),
        ("ci", "\u{441}i", true),
        ("\u{410}\u{412}\u{421}", "ABC", true),
        ("bill", "biII", true),
        ("ci", "cd", false),
        ("отчёт", "отчет", false),
        ("deploy-bot", "deploy-bots", false),
    ] {
        assert_eq!(look_alike(one, other), alike, "{one} {other}");
        assert_eq!(look_alike(other, one), alike, "{other} {one}");
    }
}
