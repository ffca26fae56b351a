use super::word::{Word, words};

/// Of a longer text only the beginning is looked for.
const LONGEST: usize = 1000;
/// Of more terms only the first are looked for.
const MOST_TERMS: usize = 32;
/// Of a longer phrase only the beginning is looked for.
const MOST_WORDS: usize = 64;
/// After one dash, longer words are no options.
const LONGEST_OPTION: usize = 3;

/// What is to be found; see the module's page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub(super) find: Vec<Term>,
    without: Vec<Term>,
}

/// Words one after another; or, where there are none, a text as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) words: Vec<String>,
    /// Whether the last word may go on.
    is_open: bool,
    pub(super) literal: String,
}

impl Query {
    /// Reads what was typed. Nothing is wrong; what holds nothing finds all.
    pub fn parse(text: &str) -> Self {
        let typed: Vec<Typed<'_>> = typed(head(text, LONGEST)).take(MOST_TERMS).collect();
        let excludes = |one: &Typed<'_>| one.may_exclude();
        let others = typed.iter().any(|one| !excludes(one) && Term::of(one, false).is_some());
        let mut query = Self::default();
        for one in &typed {
            let is_excluded = others && excludes(one);
            let Some(term) = Term::of(one, is_excluded) else { continue };
            if is_excluded { query.without.push(term) } else { query.find.push(term) }
        }
        query
    }

    /// Whether it finds all.
    pub fn is_empty(&self) -> bool {
        self.find.is_empty()
    }

    /// Whether words alone say what is found: an index of words needs no second look.
    pub fn is_words(&self) -> bool {
        self.find.iter().chain(&self.without).all(|term| !term.words.is_empty())
    }

    /// The same for an FTS5 table whose rows are [`Word::text`]s with spaces between; none where no word is to be found.
    /// What is no word is left out.
    pub fn expression(&self) -> Option<String> {
        let join = |terms: &[Term], with: &str| {
            terms.iter().filter_map(Term::expression).collect::<Vec<_>>().join(with)
        };
        let find = join(&self.find, " AND ");
        let without = join(&self.without, " OR ");
        match (find.is_empty(), without.is_empty()) {
            (true, _) => None,
            (false, true) => Some(find),
            (false, false) => Some(format!("({find}) NOT ({without})")),
        }
    }

    /// Whether it finds something with these fields.
    pub fn matches(&self, fields: &[&str]) -> bool {
        let fields: Vec<_> = fields.iter().map(|text| (*text, words(text))).collect();
        let is_in = |term: &Term| fields.iter().any(|(text, words)| !term.places(text, words).is_empty());
        self.find.iter().all(is_in) && !self.without.iter().any(is_in)
    }
}

impl Term {
    fn of(typed: &Typed<'_>, is_excluded: bool) -> Option<Self> {
        let text = if is_excluded { typed.text } else { typed.whole };
        let found = words(text);
        let last = found.last();
        let is_open = last.is_some_and(|last| !last.is_sign)
            && (typed.has_star
                || (!typed.is_quoted
                    && !is_excluded
                    && last.is_some_and(|last| last.text.chars().nth(1).is_some())));
        let is_cut = found.len() > MOST_WORDS;
        let words: Vec<_> = found.into_iter().take(MOST_WORDS).map(|word| word.text).collect();
        let literal = text.trim_matches(|c: char| c == '*' || c.is_whitespace() || c.is_control());
        (!words.is_empty() || !literal.is_empty()).then(|| Self {
            words,
            is_open: is_open && !is_cut,
            literal: literal.to_owned(),
        })
    }

    /// Words hold neither quotes nor spaces, so that nothing in them is read as an operator.
    fn expression(&self) -> Option<String> {
        let open = if self.is_open { " *" } else { "" };
        (!self.words.is_empty()).then(|| format!("\"{}\"{open}", self.words.join(" ")))
    }

    /// Where it is in a text whose words these are, in bytes.
    pub(super) fn places(&self, text: &str, words: &[Word]) -> Vec<(usize, usize)> {
        let Some((last, first)) = self.words.split_last() else {
            return text.match_indices(&self.literal).map(|(at, found)| (at, at + found.len())).collect();
        };
        let fits = |found: &&[Word]| {
            let (end, begin) = (&found[first.len()].text, &found[..first.len()]);
            begin.iter().map(|word| &word.text).eq(first)
                && if self.is_open { end.starts_with(last.as_str()) } else { end == last }
        };
        let found = words.windows(self.words.len()).filter(fits);
        found.map(|found| (found[0].range.start, found[first.len()].range.end)).collect()
    }
}

/// A term as it was typed.
struct Typed<'a> {
    /// With the dash before it.
    whole: &'a str,
    /// Without it.
    text: &'a str,
    has_dash: bool,
    is_quoted: bool,
    has_star: bool,
}

impl Typed<'_> {
    /// Whether the dash before it may mean that it is not wanted.
    fn may_exclude(&self) -> bool {
        let is_option = || {
            let word: String = self.text.chars().take_while(char::is_ascii_alphanumeric).collect();
            self.text.starts_with('-') || (word.len() == self.text.len() && word.len() <= LONGEST_OPTION)
        };
        self.has_dash && !words(self.text).is_empty() && (self.is_quoted || !is_option())
    }
}

fn typed(text: &str) -> impl Iterator<Item = Typed<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let whole = rest;
        let (text, has_dash) = match rest.strip_prefix('-') {
            Some(text) if !text.is_empty() => (text, true),
            _ => (rest, false),
        };
        if let Some(quoted) = text.strip_prefix('"') {
            let (inside, after) = quoted.split_once('"').unwrap_or((quoted, ""));
            let has_star = after.starts_with('*');
            rest = after.strip_prefix('*').unwrap_or(after);
            return Some(Typed { whole: inside, text: inside, has_dash, is_quoted: true, has_star });
        }
        let end = whole.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(whole.len());
        let (term, after) = whole.split_at(end);
        rest = after;
        let text = if has_dash { &term[1..] } else { term };
        Some(Typed { whole: term, text, has_dash, is_quoted: false, has_star: term.ends_with('*') })
    })
}

/// The beginning of a text.
fn head(text: &str, characters: usize) -> &str {
    text.char_indices().nth(characters).map_or(text, |(at, _)| &text[..at])
}
