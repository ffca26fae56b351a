//! What makes characters visible that would hide or reorder text from outside: control, bidirectional, zero-width, tag
//! and other format characters, odd spaces, fillers. What is shown is what will run, so nothing is dropped: a hidden
//! character becomes its code point, such as `‹U+202E›`.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Text that shows as it is.
    Plain(&'a str),
    /// A character that would not show as itself.
    Hidden(char),
}

/// Whether a character would hide, or change how others show. Newline and tab are not hidden: text on several lines
/// shows them; [`visible_line`] is for places with one line.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' | ' ' => false,
        // Blank or joining characters of other categories: combining grapheme joiner, Hangul and Khmer fillers,
        // variation selectors, the blank Braille pattern, the Khitan filler, the empty note head.
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{16fe4}'
        | '\u{1d159}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => match c.general_category_group() {
            GeneralCategoryGroup::Other => true,
            GeneralCategoryGroup::Separator => true,
            GeneralCategoryGroup::Letter
            | GeneralCategoryGroup::Mark
            | GeneralCategoryGroup::Number
            | GeneralCategoryGroup::Punctuation
            | GeneralCategoryGroup::Symbol => false,
        },
    }
}

/// The pieces of a text, in order; together they are the whole of it.
pub fn segments(text: &str) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut plain = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| is_hidden(*c)) {
        if plain < at {
            segments.push(Segment::Plain(&text[plain..at]));
        }
        segments.push(Segment::Hidden(c));
        plain = at + c.len_utf8();
    }
    if plain < text.len() {
        segments.push(Segment::Plain(&text[plain..]));
    }
    segments
}

/// The text with every hidden character as `‹U+XXXX›`.
pub fn visible(text: &str) -> String {
    segments(text)
        .into_iter()
        .map(|segment| match segment {
            Segment::Plain(text) => text.to_owned(),
            Segment::Hidden(c) => label(c),
        })
        .collect()
}

/// The same for a place with one line: newlines show as `⏎` and tabs as `⇥`.
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "⏎").replace('\t', "⇥")
}

/// At most `max` characters of a text, with a mark that says how many were cut.
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => match text[at..].chars().count() {
            1 => format!("{}… (1 more character)", &text[..at]),
            more => format!("{}… ({more} more characters)", &text[..at]),
        },
    }
}

/// Every hidden character as inclusive ranges of code points, for faces that are not written in Rust.
pub fn hidden_ranges() -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for code in (0..=u32::from(char::MAX)).filter(|code| char::from_u32(*code).is_some_and(is_hidden)) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == code || (*last == 0xd7ff && code == 0xe000) => *last = code,
            _ => ranges.push((code, code)),
        }
    }
    ranges
}

fn label(c: char) -> String {
    format!("‹U+{:04X}›", u32::from(c))
}
