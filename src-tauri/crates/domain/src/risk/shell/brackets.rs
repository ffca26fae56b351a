//! Where brackets end, and what braces stand for.

use std::iter::Peekable;
use std::str::CharIndices;

use super::word::{Class, WORDS};

pub(super) fn skip_backticks(rest: &mut Peekable<CharIndices<'_>>) {
    while let Some((_, c)) = rest.next() {
        match c {
            '`' => return,
            '\\' => drop(rest.next()),
            _ => {}
        }
    }
}

/// Beyond the closing bracket; gives where that is.
pub(super) fn skip_round(rest: &mut Peekable<CharIndices<'_>>) -> usize {
    skip_brackets(rest, '(', ')')
}

pub(super) fn skip_curly(rest: &mut Peekable<CharIndices<'_>>) -> usize {
    skip_brackets(rest, '{', '}')
}

fn skip_brackets(rest: &mut Peekable<CharIndices<'_>>, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    while let Some((at, c)) = rest.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(rest.next()),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, c) if c == open => depth += 1,
            (None, c) if c == close => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            (None, _) => {}
        }
    }
    usize::MAX
}

/// `a{b,c}d` is `abd acd`.
pub(super) fn braces(chars: &[(char, Class)]) -> Vec<Vec<(char, Class)>> {
    let mut done = Vec::new();
    let mut open = vec![chars.to_vec()];
    while let Some(chars) = open.pop() {
        match group(&chars) {
            Some((start, commas, end)) if done.len() + open.len() + commas.len() < WORDS => {
                let mut from = start + 1;
                let mut choices = Vec::new();
                for to in commas.iter().copied().chain([end]) {
                    choices.push([&chars[..start], &chars[from..to], &chars[end + 1..]].concat());
                    from = to + 1;
                }
                open.extend(choices.into_iter().rev());
            }
            _ => done.push(chars),
        }
    }
    done
}

/// The first group in braces that has a comma: where it opens, its commas, where it closes.
fn group(chars: &[(char, Class)]) -> Option<(usize, Vec<usize>, usize)> {
    let mut opened: Vec<(usize, Vec<usize>)> = Vec::new();
    for (at, (c, class)) in chars.iter().enumerate() {
        if *class != Class::Bare {
            continue;
        }
        match c {
            '{' => opened.push((at, Vec::new())),
            ',' => {
                if let Some((_, commas)) = opened.last_mut() {
                    commas.push(at);
                }
            }
            '}' => {
                if let Some((start, commas)) = opened.pop().filter(|(_, commas)| !commas.is_empty()) {
                    return Some((start, commas, at));
                }
            }
            _ => {}
        }
    }
    None
}
