//! What makes characters visible that would hide or reorder text from outside: control, bidirectional, zero-width, tag
//! and other format characters, odd spaces, fillers. What is shown is what will run, so nothing is dropped: a hidden
//! character becomes its code point, such as `‹U+202E›`. Letters that pass for others become what they are and what they look
//! like, such as `‹U+0430 like a›`: those that are mixed into a word of another script, and in the host of an address, where a
//! single letter leads elsewhere, each that is not plain.

use std::collections::BTreeMap;
use std::ops::Range;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

pub use crate::lookalike::{look_alike, lookalikes};
use crate::lookalike::{looks_like, odd_letters};

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Text that shows as it is.
    Plain(&'a str),
    /// A character that would not show as itself.
    Hidden(char),
    /// A letter that is not what it seems, and what it looks like, where that is known.
    Odd(char, Option<String>),
}

/// How strictly letters are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Words,
    /// The names of programs are like hosts: one letter makes it another.
    Command,
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
    read(text, Reading::Words)
}

fn read(text: &str, reading: Reading) -> Vec<Segment<'_>> {
    let mut segments = Vec::new();
    let mut plain = 0;
    let mut odd = odd_places(text, reading).into_iter().peekable();
    for (at, c) in text.char_indices() {
        let seen_as = match odd.next_if(|(place, _)| *place == at) {
            Some((_, like)) => Segment::Odd(c, like),
            None if is_hidden(c) => Segment::Hidden(c),
            None => continue,
        };
        if plain < at {
            segments.push(Segment::Plain(&text[plain..at]));
        }
        segments.push(seen_as);
        plain = at + c.len_utf8();
    }
    if plain < text.len() {
        segments.push(Segment::Plain(&text[plain..]));
    }
    segments
}

/// The letters that are not what they seem: where, and what each looks like.
fn odd_places(text: &str, reading: Reading) -> BTreeMap<usize, Option<String>> {
    let mut odd = BTreeMap::new();
    if text.is_ascii() {
        return odd;
    }
    for (start, word) in words(text) {
        odd.extend(odd_letters(word).into_iter().map(|(at, _, like)| (start + at, like)));
    }
    let mut strict = hosts(text);
    if reading == Reading::Command {
        strict.extend(program_names(text));
    }
    for part in strict {
        let letters = text[part.clone()].char_indices().filter(|(_, c)| !c.is_ascii() && is_of_word(*c));
        odd.extend(letters.map(|(at, c)| (part.start + at, looks_like(c))));
    }
    odd.retain(|at, _| !text[*at..].chars().next().is_some_and(is_hidden));
    odd
}

/// Runs of letters, marks and digits.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split(|c| !is_of_word(c)).filter_map(move |word| {
        let start = at + text[at..].find(word)?;
        at = start + word.len();
        (!word.is_empty()).then_some((start, word))
    })
}

fn is_of_word(c: char) -> bool {
    match c.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark | GeneralCategoryGroup::Number => true,
        GeneralCategoryGroup::Other
        | GeneralCategoryGroup::Separator
        | GeneralCategoryGroup::Punctuation
        | GeneralCategoryGroup::Symbol => false,
    }
}

/// What stands between `://` and the path.
fn hosts(text: &str) -> Vec<Range<usize>> {
    let starts = text.match_indices("://").map(|(at, mark)| at + mark.len());
    let ends = |c: char| c.is_whitespace() || "/?#\"'<>()[]{}`|".contains(c);
    starts.map(|start| start..start + text[start..].find(ends).unwrap_or(text.len() - start)).collect()
}

/// The first word of each command, as far as can be told without a shell; what only looks like one is marked too.
fn program_names(text: &str) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    let mut quote = None;
    let mut start = Some(0);
    for (at, c) in text.char_indices() {
        let begins = quote.is_none() && "\n;|&(){}`".contains(c);
        let ends = begins || (quote.is_none() && (c.is_whitespace() || "<>".contains(c)));
        if let Some(from) = start.filter(|_| ends) {
            let word = &text[from..at];
            // What is set for a command comes before its name.
            if !word.is_empty() && !word.contains('=') {
                names.push(from..at);
            }
            let goes_on = word.is_empty() || word.contains('=');
            start = goes_on.then_some(at + c.len_utf8());
        }
        if begins {
            start = Some(at + c.len_utf8());
        }
        match quote {
            None if c == '\'' || c == '"' => quote = Some(c),
            Some(open) if open == c => quote = None,
            None | Some(_) => {}
        }
    }
    names.extend(start.map(|from| from..text.len()));
    names
}

/// The text with every hidden character as `‹U+XXXX›`, and every letter that is not what it seems as `‹U+XXXX like a›`.
pub fn visible(text: &str) -> String {
    shown(segments(text))
}

/// The same for a text that a shell is to run: there each letter in a program's name is marked that is not plain.
pub fn visible_command(text: &str) -> String {
    shown(read(text, Reading::Command))
}

fn shown(segments: Vec<Segment<'_>>) -> String {
    let text = |segment| match segment {
        Segment::Plain(text) => text.to_owned(),
        Segment::Hidden(c) => format!("‹{}›", label(c, None)),
        Segment::Odd(c, like) => format!("‹{}›", label(c, like.as_deref())),
    };
    segments.into_iter().map(text).collect()
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

/// The beginning of a text, for a list: at most `max` characters, and `…` where there is more.
pub fn beginning(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
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

fn label(c: char, like: Option<&str>) -> String {
    let code = format!("U+{:04X}", u32::from(c));
    match like {
        Some(like) => format!("{code} like {like}"),
        None => code,
    }
}
