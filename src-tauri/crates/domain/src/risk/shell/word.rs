//! What words become before a command gets them: quotes, escapes, braces, variables.

use std::iter::Peekable;
use std::str::CharIndices;

use super::UNSEEN;
use super::brackets::{braces, skip_backticks, skip_curly, skip_round};
use super::variables::Picked;

/// How many words one may become, and how long they may be together, in characters.
pub(super) const WORDS: usize = 64;
const LONGEST: usize = 16_384;

/// A word as a command gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text. [`UNSEEN`] stands for what cannot be known.
    pub(super) text: String,
    /// A pattern for names of files.
    pub(super) pattern: bool,
    /// Quotes or escapes inside of what is written without them: `r\m`, `r''m`.
    pub(super) broken: bool,
    /// Letters written as numbers, or made by another command, or parted by a variable: `$'\x72'`, `${IFS}`.
    pub(super) coded: bool,
}

impl Word {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(super) fn is_unseen(&self) -> bool {
        self.text.contains(UNSEEN)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// As written.
    Bare,
    /// In quotes, or escaped.
    Quoted,
    /// From a variable outside of quotes: it is split at spaces.
    Split,
}

#[derive(Default)]
struct Pieces {
    chars: Vec<(char, Class)>,
    empty_quotes: bool,
    escaped_inside: bool,
    coded: bool,
}

/// What a word of the text becomes.
pub(super) fn expand(source: &str, picked: &Picked<'_>) -> Vec<Word> {
    let mut pieces = Pieces::default();
    read(source, picked, &mut pieces);
    let broken = pieces.is_broken();
    let mut words = Vec::new();
    for chars in braces(&pieces.chars) {
        split(&chars, |text, pattern| {
            if words.len() < WORDS {
                words.push(Word { text, pattern, broken, coded: pieces.coded });
            }
        });
    }
    let quoted = pieces.empty_quotes || pieces.chars.iter().any(|(_, class)| *class == Class::Quoted);
    if words.is_empty() && quoted {
        words.push(Word::default());
    }
    words
}

/// The text that words become, joined with spaces, as `eval` joins them.
pub(super) fn join(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The text of `$'…'`, and whether it writes plain letters as numbers.
pub(super) fn unescape(text: &str) -> (String, bool) {
    let mut plain = String::new();
    let mut coded = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        let Some(c) = rest.next() else { break };
        let number = match c {
            'x' => digits(&mut rest, 16, 2),
            'u' => digits(&mut rest, 16, 4),
            'U' => digits(&mut rest, 16, 8),
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or_default();
                let more = digits(&mut rest, 8, if c == '0' { 3 } else { 2 });
                Some(more.map_or(first, |(more, count)| (first << (3 * count)) + more))
                    .map(|value| (value, 1))
            }
            _ => None,
        };
        match number.and_then(|(value, _)| char::from_u32(value & 0x1f_ffff)) {
            Some(letter) => {
                coded |= letter.is_ascii_graphic();
                plain.push(letter);
            }
            None => match c {
                'n' => plain.push('\n'),
                't' => plain.push('\t'),
                'r' => plain.push('\r'),
                'a' | 'b' | 'e' | 'E' | 'f' | 'v' => plain.push(' '),
                'c' => drop(rest.next()),
                other => plain.push(other),
            },
        }
    }
    (plain, coded)
}

fn digits(rest: &mut Peekable<std::str::Chars<'_>>, radix: u32, most: u32) -> Option<(u32, u32)> {
    let mut value = 0_u32;
    let mut count = 0;
    while count < most {
        let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        count += 1;
        rest.next();
    }
    (count > 0).then_some((value, count))
}

fn read(source: &str, picked: &Picked<'_>, to: &mut Pieces) {
    let mut rest = source.char_indices().peekable();
    if source == "~" || source.starts_with("~/") {
        // A quoted tilde is a name; only this one is the home.
        rest.next();
        to.chars.push(('~', Class::Quoted));
    }
    while let Some((at, c)) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some((_, '\n')) | None => {}
                Some((_, c)) => {
                    // `\rm` only passes over an alias: that is common, and hides nothing. `r\m` does.
                    let letter = c.is_ascii_alphanumeric();
                    to.escaped_inside |= at > 0 && letter;
                    to.chars.push((c, if letter { Class::Bare } else { Class::Quoted }));
                }
            },
            '\'' => {
                let start = to.chars.len();
                for (_, c) in rest.by_ref().take_while(|(_, c)| *c != '\'') {
                    to.chars.push((c, Class::Quoted));
                }
                to.empty_quotes |= to.chars.len() == start;
            }
            '"' => read_double_quoted(source, &mut rest, picked, to),
            '$' => read_dollar(source, at, &mut rest, picked, to, Class::Split),
            '`' => {
                skip_backticks(&mut rest);
                to.chars.push((UNSEEN, Class::Split));
            }
            '<' | '>' if rest.peek().is_some_and(|(_, next)| *next == '(') => {
                skip_round(&mut rest);
                to.chars.push((UNSEEN, Class::Quoted));
            }
            c => to.chars.push((c, Class::Bare)),
        }
        if to.chars.len() > LONGEST {
            to.chars.truncate(LONGEST);
            to.chars.push((UNSEEN, Class::Quoted));
            return;
        }
    }
}

fn read_double_quoted(
    source: &str,
    rest: &mut Peekable<CharIndices<'_>>,
    picked: &Picked<'_>,
    to: &mut Pieces,
) {
    let start = to.chars.len();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some((_, '\n')) | None => {}
                Some((_, c)) => {
                    if !matches!(c, '$' | '`' | '"' | '\\') {
                        to.chars.push(('\\', Class::Quoted));
                    }
                    to.chars.push((c, Class::Quoted));
                }
            },
            '$' => read_dollar(source, at, rest, picked, to, Class::Quoted),
            '`' => {
                skip_backticks(rest);
                to.chars.push((UNSEEN, Class::Quoted));
            }
            c => to.chars.push((c, Class::Quoted)),
        }
    }
    to.empty_quotes |= to.chars.len() == start;
}

fn read_dollar(
    source: &str,
    at: usize,
    rest: &mut Peekable<CharIndices<'_>>,
    picked: &Picked<'_>,
    to: &mut Pieces,
    class: Class,
) {
    let push = |to: &mut Pieces, text: &str| to.chars.extend(text.chars().take(LONGEST).map(|c| (c, class)));
    match rest.peek().map(|(_, c)| *c) {
        Some('\'') if class == Class::Split => {
            rest.next();
            let mut text = String::new();
            while let Some((_, c)) = rest.next() {
                match c {
                    '\'' => break,
                    '\\' => {
                        text.push(c);
                        text.extend(rest.next().map(|(_, c)| c));
                    }
                    c => text.push(c),
                }
            }
            let (text, coded) = unescape(&text);
            to.coded |= coded;
            to.chars.extend(text.chars().map(|c| (c, Class::Quoted)));
        }
        Some('"') if class == Class::Split => {}
        Some('(') => {
            let end = skip_round(rest);
            let inner = source.get(at + 2..end).unwrap_or_default();
            match substituted(inner, picked) {
                Some(text) => {
                    to.coded |= inner.trim() != "pwd";
                    push(to, &text);
                }
                None => to.chars.push((UNSEEN, class)),
            }
        }
        Some('[') => {
            rest.by_ref().take_while(|(_, c)| *c != ']').for_each(drop);
            to.chars.push((UNSEEN, class));
        }
        Some('{') => {
            let end = skip_curly(rest);
            let inner = source.get(at + 2..end).unwrap_or_default();
            // All of a list's words, each of its own also inside of quotes.
            let class = if inner.ends_with("[@]") || inner == "@" { Class::Split } else { class };
            let push =
                |to: &mut Pieces, text: &str| to.chars.extend(text.chars().take(LONGEST).map(|c| (c, class)));
            match parameter(inner, picked) {
                Some(text) => {
                    to.coded |= inner == "IFS";
                    push(to, &text);
                }
                None => {
                    // A slice or a replacement of a variable makes up a text that nobody can read.
                    to.coded |= inner.contains(['/', ':', '^', ',', '!'])
                        && !inner.contains([':', '-', '=', '?', '+']);
                    to.chars.push((UNSEEN, class));
                }
            }
        }
        Some(c) if c.is_ascii_alphabetic() || c == '_' => {
            let start = at + 1;
            let mut end = start;
            while let Some((at, c)) =
                rest.peek().copied().filter(|(_, c)| c.is_ascii_alphanumeric() || *c == '_')
            {
                end = at + c.len_utf8();
                rest.next();
            }
            let name = source.get(start..end).unwrap_or_default();
            to.coded |= name == "IFS";
            match picked.get(name) {
                Some(value) => push(to, value),
                None => to.chars.push((UNSEEN, class)),
            }
        }
        Some('?' | '$' | '#' | '!' | '-') => {
            rest.next();
            push(to, "0");
        }
        Some(c @ ('@' | '*')) => {
            rest.next();
            match picked.get(&c.to_string()) {
                Some(value) => to.chars.extend(value.chars().map(|c| (c, Class::Split))),
                None => to.chars.push((UNSEEN, class)),
            }
        }
        Some(c) if c.is_ascii_digit() => {
            rest.next();
            to.chars.push((UNSEEN, class));
        }
        Some(_) | None => to.chars.push(('$', class)),
    }
}

/// What a substitution gives, where that is plain to see: `$(pwd)`, `$(echo rm)`, `$(printf '\x72\x6d')`.
fn substituted(inner: &str, picked: &Picked<'_>) -> Option<String> {
    let inner = inner.trim();
    if inner == "pwd" {
        return Some(".".to_owned());
    }
    let (program, rest) = inner.split_once(char::is_whitespace)?;
    if !matches!(program, "echo" | "printf")
        || rest.contains([';', '|', '&', '<', '>', '`', '\n'])
        || rest.contains("$(")
    {
        return None;
    }
    let words: Vec<_> = super::split::words(rest).iter().flat_map(|word| expand(word, picked)).collect();
    Some(super::said::spoken(program, &words))
}

/// `${…}`: the value, or the default that stands in for it.
fn parameter(inner: &str, picked: &Picked<'_>) -> Option<String> {
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let value = picked.get(name);
    match rest {
        "" | "[@]" | "[*]" => value.map(str::to_owned),
        _ => {
            let rest = rest.strip_prefix(':').unwrap_or(rest);
            match rest.chars().next()? {
                '?' => value.map(str::to_owned),
                '-' | '=' | '+' => {
                    let default = super::word::join(&expand(&rest[1..], &Picked::default()));
                    Some(value.map_or(default, str::to_owned))
                }
                _ => None,
            }
        }
    }
}

fn split(chars: &[(char, Class)], mut word: impl FnMut(String, bool)) {
    let mut text = String::new();
    let mut pattern = false;
    let mut any = false;
    for (c, class) in chars {
        if *class == Class::Split && c.is_whitespace() {
            if any {
                word(std::mem::take(&mut text), pattern);
            }
            (any, pattern) = (false, false);
            continue;
        }
        pattern |= *class != Class::Quoted && matches!(c, '*' | '?' | '[');
        any = true;
        text.push(*c);
    }
    if any {
        word(text, pattern);
    }
}

impl Pieces {
    fn is_broken(&self) -> bool {
        let letter = |(c, class): &(char, Class), wanted| *class == wanted && c.is_ascii_alphanumeric();
        let mixed = self.chars.windows(2).any(|pair| {
            letter(&pair[0], Class::Bare) && letter(&pair[1], Class::Quoted)
                || letter(&pair[0], Class::Quoted) && letter(&pair[1], Class::Bare)
        });
        self.escaped_inside || mixed || (self.empty_quotes && !self.chars.is_empty())
    }
}
