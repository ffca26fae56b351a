//! Letters that look like others, by Unicode's table of confusable characters.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use unicode_security::skeleton;

/// Below this are the letters of Latin alphabets: whoever writes in one of them means them.
const LATIN_ENDS: u32 = 0x250;
/// Letters and digits in mathematical styles: no language is written in them.
const STYLED: std::ops::RangeInclusive<u32> = 0x1d400..=0x1d7ff;
/// The alphabets whose letters the Latin ones are mistaken for: Greek, Cyrillic, Armenian.
const ALPHABETS: [std::ops::RangeInclusive<u32>; 3] = [0x370..=0x3ff, 0x400..=0x52f, 0x531..=0x587];

/// The plain letters and digits that a character passes for, if it does.
pub(crate) fn looks_like(c: char) -> Option<String> {
    if u32::from(c) < LATIN_ENDS {
        return None;
    }
    let like: String = skeleton(c.encode_utf8(&mut [0; 4])).collect();
    (!like.is_empty() && like.chars().all(|c| c.is_ascii_alphanumeric())).then_some(like)
}

/// Whether two names could be taken for one another, also in capitals and small letters.
pub fn look_alike(one: &str, other: &str) -> bool {
    let seen = |text: &str| skeleton(text).collect::<String>();
    let lower = |text: &str| seen(&seen(&text.to_lowercase()).to_lowercase());
    seen(one) == seen(other) || lower(one) == lower(other)
}

/// Every character that passes for plain letters or digits, by what it passes for; for faces that are not written in Rust.
pub fn lookalikes() -> BTreeMap<String, Vec<char>> {
    let mut found: BTreeMap<String, Vec<char>> = BTreeMap::new();
    for c in (LATIN_ENDS..=u32::from(char::MAX)).filter_map(char::from_u32) {
        if let Some(like) = looks_like(c).filter(|_| !crate::text::is_hidden(c)) {
            found.entry(like).or_default().push(c);
        }
    }
    found
}

/// The letters of a word that are not what they seem: where it mixes scripts, the fewer of those that pass for the others. A
/// word in one script has none.
pub(crate) fn odd_letters(word: &str) -> Vec<(usize, char, Option<String>)> {
    if word.is_ascii() {
        return Vec::new();
    }
    let latin = word.chars().filter(char::is_ascii_alphabetic).count();
    let alphabet = |c: char| ALPHABETS.iter().position(|alphabet| alphabet.contains(&u32::from(c)));
    let others: Vec<_> = word.chars().filter_map(alphabet).collect();
    if let Some(alphabet) = others.first().filter(|_| (1..others.len()).contains(&latin)) {
        let twin = |c: char| TWINS[*alphabet].get(&c).map(char::to_string);
        let odd = word.char_indices().filter_map(|(at, c)| Some((at, c, Some(twin(c)?))));
        let odd: Vec<_> = odd.collect();
        if !odd.is_empty() {
            return odd;
        }
    }
    let passes = |c: char| (latin > 0 || STYLED.contains(&u32::from(c))).then(|| looks_like(c)).flatten();
    word.char_indices().filter_map(|(at, c)| Some((at, c, Some(passes(c)?)))).collect()
}

/// For each of the alphabets, the Latin letters that one of its own passes for, with the first that does.
static TWINS: LazyLock<[BTreeMap<char, char>; 3]> = LazyLock::new(|| {
    ALPHABETS.map(|alphabet| {
        let mut twins = BTreeMap::new();
        for c in alphabet.filter_map(char::from_u32) {
            if let Some(like) = looks_like(c)
                && let Ok(latin) = like.parse::<char>()
                && latin.is_ascii_alphabetic()
            {
                twins.entry(latin).or_insert(c);
            }
        }
        twins
    })
});
