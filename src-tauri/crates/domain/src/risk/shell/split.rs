//! A plain splitter for text that the parser could not read whole: it would rather see a command too many.

use std::ops::Range;

/// The words of a text without operators, as written.
pub(super) fn words(text: &str) -> Vec<&str> {
    spans(text).into_iter().filter_map(|span| text.get(span)).collect()
}

/// A piece of a text between operators.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) span: Range<usize>,
    /// Whether it reads what the piece before it says.
    pub(super) piped: bool,
}

/// The pieces of a text between operators that are outside of quotes; with quotes that do not close, at every operator.
pub(super) fn commands(text: &str) -> Vec<Piece> {
    let (pieces, closed) = pieces(text, true);
    if closed { pieces } else { pieces.into_iter().chain(self::pieces(text, false).0).collect() }
}

fn pieces(text: &str, quotes: bool) -> (Vec<Piece>, bool) {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut piped = false;
    let mut quote = None;
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
        let ends = match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => {
                quote = None;
                false
            }
            (Some('\''), _) => false,
            (_, '\\') => {
                rest.next();
                false
            }
            (None, '\'' | '"') if quotes => {
                quote = Some(c);
                false
            }
            // Substitutions run inside of double quotes, too.
            (Some(_), '`' | '(' | ')') => true,
            // `2>&1`, `&>`, `<&`, `|&` and `>|` are no ends.
            (None, '&') => !(before.ends_with(['>', '<', '|']) || after.starts_with('>')),
            (None, '|') => !before.ends_with('>'),
            (None, ';' | '\n' | '(' | ')' | '`') => true,
            // Around a group there are spaces; `{a,b}` is a word.
            (None, '{') => after.starts_with(char::is_whitespace),
            (None, '}') => before.ends_with(char::is_whitespace),
            _ => false,
        };
        if ends {
            pieces.push(Piece { span: start..at, piped });
            start = at + c.len_utf8();
            piped = c == '|' && !before.ends_with('|') && !after.starts_with('|');
            if piped && after.starts_with('&') {
                start += 1;
            }
        }
    }
    pieces.push(Piece { span: start..text.len(), piped });
    (pieces, quote.is_none())
}

/// Where the words of a text are.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let mut start = None;
    let mut quote = None;
    let mut depth = 0_usize;
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                start = start.or(Some(at));
                rest.next();
                continue;
            }
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, c) if c.is_whitespace() && depth == 0 => {
                spans.extend(start.take().map(|start| start..at));
                continue;
            }
            (None, _) => {}
        }
        start = start.or(Some(at));
    }
    spans.extend(start.map(|start| start..text.len()));
    spans
}
