use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without capitals and accents.
    pub text: String,
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// Whether it is one sign of a script without spaces, a symbol, or dashes: nothing that could go on.
    pub is_sign: bool,
}

/// What a character does to words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It is a part of a word.
    Letter,
    /// It is a word of its own.
    Sign,
    /// It belongs to the character before it.
    Mark,
    Dash,
    /// It separates words.
    Other,
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let mut found = Found { text, words: Vec::new(), open: None };
    let mut before = Class::Other;
    // Up to where dashes were read already.
    let mut read = 0;
    for (at, c) in text.char_indices() {
        let class = class(c);
        let end = at + c.len_utf8();
        match class {
            Class::Letter => match &mut found.open {
                Some(open) if !open.is_sign => open.end = end,
                _ => found.begin(at, end, false),
            },
            Class::Sign => found.begin(at, end, true),
            Class::Mark => {
                if let Some(open) = &mut found.open {
                    open.end = end;
                }
            }
            Class::Dash => {
                found.end();
                if before == Class::Other && at >= read {
                    read = found.option(at);
                }
            }
            Class::Other => found.end(),
        }
        if class != Class::Mark {
            before = class;
        }
    }
    found.end();
    found.words
}

struct Open {
    start: usize,
    end: usize,
    is_sign: bool,
}

struct Found<'a> {
    text: &'a str,
    words: Vec<Word>,
    open: Option<Open>,
}

impl Found<'_> {
    fn begin(&mut self, start: usize, end: usize, is_sign: bool) {
        self.end();
        self.open = Some(Open { start, end, is_sign });
    }

    fn end(&mut self) {
        let Some(Open { start, end, is_sign }) = self.open.take() else { return };
        let text = folded(&self.text[start..end]);
        if !text.is_empty() {
            self.words.push(Word { text, range: start..end, is_sign });
        }
    }

    /// Dashes that begin an option; gives where they end.
    fn option(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let dashes = rest.bytes().take_while(|byte| *byte == b'-').count();
        let begins_one = rest[dashes..].chars().next().is_some_and(|c| class(c) == Class::Letter);
        let end = at + dashes;
        if begins_one && dashes <= 2 {
            let text = self.text[at..end].to_owned();
            self.words.push(Word { text, range: at..end, is_sign: true });
        }
        end
    }
}

fn class(c: char) -> Class {
    if c.is_ascii() {
        return match c {
            '-' => Class::Dash,
            c if c.is_ascii_alphanumeric() => Class::Letter,
            _ => Class::Other,
        };
    }
    match c.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number if has_no_spaces(c) => Class::Sign,
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => Class::Letter,
        GeneralCategoryGroup::Mark => Class::Mark,
        GeneralCategoryGroup::Symbol => Class::Sign,
        GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Separator | GeneralCategoryGroup::Other => {
            Class::Other
        }
    }
}

/// Whether a letter is of a script in which words stand together.
fn has_no_spaces(c: char) -> bool {
    matches!(u32::from(c),
        // Thai, Lao, Tibetan, Myanmar
        0x0e00..=0x109f
        // Hangul letters, Khmer
        | 0x1100..=0x11ff | 0x1780..=0x17ff
        // New Tai Lue, Tai Tham, Balinese, Javanese, Myanmar, Tai Viet
        | 0x1950..=0x1aaf | 0x1b00..=0x1b7f | 0xa980..=0xa9ff | 0xaa60..=0xaadf
        // Chinese, Japanese, Korean; then their compatible and half-width forms, and the planes of Han
        | 0x2e80..=0x9fff | 0xa000..=0xa4cf | 0xa960..=0xa97f | 0xac00..=0xd7ff
        | 0xf900..=0xfaff | 0xff66..=0xffdc | 0x1b000..=0x1b16f | 0x20000..=0x3ffff)
}

/// A word without capitals and accents.
fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let small = word.chars().flat_map(char::to_lowercase);
    let bare = small.nfkd().filter(|c| !('\u{300}'..='\u{36f}').contains(c) && !c.is_whitespace());
    let mut folded = String::with_capacity(word.len());
    for c in bare.nfc() {
        match plain(c) {
            Some(letters) => folded.push_str(letters),
            None => folded.push(c),
        }
    }
    folded
}

/// Letters that are written plainly in place of some that no accent makes.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ł' => "l",
        'ħ' => "h",
        'ı' => "i",
        'þ' => "th",
        'ς' => "σ",
        _ => return None,
    })
}
