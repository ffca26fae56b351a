use super::query::Query;
use super::word::words;

/// So many characters are shown before the first find.
const BEFORE: usize = 40;
/// So many characters are shown in all.
const LONGEST: usize = 200;

/// A part of a text in which something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// The field's name.
    pub field: &'static str,
    /// The part, on one line; `…` where it is cut.
    pub text: String,
    /// What was found in it: where it begins and ends, in UTF-16 units, in order and apart.
    pub marks: Vec<(u32, u32)>,
}

impl Query {
    /// The part that shows best what was found: in the first field that holds most of what was looked for.
    pub fn snippet(&self, fields: &[(&'static str, &str)]) -> Option<Snippet> {
        let (mut most, mut best) = (0, None);
        for (name, text) in fields {
            let found = words(text);
            let places: Vec<_> = self.find.iter().map(|term| term.places(text, &found)).collect();
            let terms = places.iter().filter(|places| !places.is_empty()).count();
            if terms > most {
                most = terms;
                best = Some((*name, *text, apart(places.into_iter().flatten().collect())));
            }
        }
        best.map(|(field, text, places)| cut(field, text, &places))
    }
}

/// In order, and those that touch as one.
fn apart(mut places: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    places.sort_unstable();
    let mut apart: Vec<(usize, usize)> = Vec::with_capacity(places.len());
    for (start, end) in places {
        match apart.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => apart.push((start, end)),
        }
    }
    apart
}

fn cut(field: &'static str, text: &str, places: &[(usize, usize)]) -> Snippet {
    let first = places.first().map_or(0, |place| place.0);
    let before = text[..first].char_indices().rev().take(BEFORE).last().map_or(first, |(at, _)| at);
    // Not in the middle of a word, where one ends nearby.
    let start = match text[before..first].find(char::is_whitespace) {
        Some(space) if before > 0 => before + space + 1,
        _ => before,
    };
    let start = if text.is_char_boundary(start) { start } else { before };
    let end = text[start..].char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| start + at);
    let mut shown = String::with_capacity(end - start + 8);
    if start > 0 {
        shown.push('…');
    }
    let mut units = u32::from(start > 0);
    let mut marks = Vec::new();
    let mut places = places.iter().copied().peekable();
    let mut begun = None;
    for (at, c) in text[start..end].char_indices().map(|(at, c)| (start + at, c)) {
        if let Some(begin) = begun.filter(|_| places.peek().is_some_and(|place| at >= place.1)) {
            marks.push((begin, units));
            (begun, _) = (None, places.next());
        }
        if begun.is_none() && places.peek().is_some_and(|place| at >= place.0) {
            begun = Some(units);
        }
        // One character stays one, so that the places stay right.
        let c = if c.is_whitespace() || c.is_control() { ' ' } else { c };
        units += if c.len_utf16() == 2 { 2 } else { 1 };
        shown.push(c);
    }
    marks.extend(begun.map(|begin| (begin, units)));
    if end < text.len() {
        shown.push('…');
    }
    Snippet { field, text: shown, marks }
}
