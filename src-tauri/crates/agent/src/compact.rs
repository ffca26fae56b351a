//! Keeps a transcript within what a model can read.

use std::io;
use std::sync::Arc;

use serde_json::Value;

use crate::{Entry, cut};

/// Bytes of a token: fewer than most text has, so that an estimate errs on the safe side.
const BYTES_PER_TOKEN: u64 = 3;
/// What is kept of an old output, in bytes.
const OLD_OUTPUT: usize = 400;
/// What a message costs beside its text: roles, ids, braces.
const OVERHEAD: usize = 60;
/// Room for the note on what was left out.
const NOTE: usize = 240;
const MARK: &str = " to stay within the model's context";

/// Makes a transcript fit into so many tokens, as an estimate. Old outputs are shortened first, with a mark; then the
/// oldest of the model's turns are left out, each with all its calls and their results, and a note says how many; at last
/// the newest outputs are shortened too. The person's own words and the newest turn always stay, even if that is too much.
pub(crate) fn fit(transcript: Arc<Vec<Entry>>, tokens: u64) -> Arc<Vec<Entry>> {
    let budget = usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    let total = transcript.iter().map(size).sum();
    if total <= budget {
        return transcript;
    }
    Arc::new(compacted(Arc::unwrap_or_clone(transcript), total, budget))
}

fn compacted(mut transcript: Vec<Entry>, mut total: usize, budget: usize) -> Vec<Entry> {
    let newest = transcript.iter().rposition(is_turn).unwrap_or_default();
    for entry in &mut transcript[..newest] {
        total -= shorten(entry, OLD_OUTPUT);
        if total <= budget {
            return transcript;
        }
    }
    leave_out(&mut transcript, newest, &mut total, budget.saturating_sub(NOTE));
    if total > budget
        && let Some(entry) = transcript.iter_mut().rfind(|entry| is_turn(entry))
    {
        shorten_to(entry, size(entry).saturating_sub(total - budget));
    }
    transcript
}

fn is_turn(entry: &Entry) -> bool {
    matches!(entry, Entry::Assistant { .. })
}

fn leave_out(transcript: &mut Vec<Entry>, newest: usize, total: &mut usize, budget: usize) {
    let (mut left_out, mut at, mut first) = (0, 0, None);
    transcript.retain(|entry| {
        let goes = at < newest && is_turn(entry) && *total > budget;
        if goes {
            *total -= size(entry);
            left_out += 1;
            first.get_or_insert(at);
        }
        at += 1;
        !goes
    });
    if let Some(first) = first {
        let note = format!(
            "[{left_out} earlier turns of yours, with their calls and results, were left out here{MARK}.]"
        );
        *total += note.len() + OVERHEAD;
        transcript.insert(first, Entry::User(note));
    }
}

/// Shortens each output to a limit; returns the bytes that this saved.
fn shorten(entry: &mut Entry, limit: usize) -> usize {
    let Entry::Assistant { results, .. } = entry else { return 0 };
    let mut saved = 0;
    for result in results {
        let short = cut::head(&result.output, limit, MARK);
        if short.len() < result.output.len() {
            saved += result.output.len() - short.len();
            result.output = short;
        }
    }
    saved
}

/// Shortens the longest outputs of a turn until it has a size, as far as that goes.
fn shorten_to(entry: &mut Entry, target: usize) {
    let mut limit = longest(entry);
    while limit > OLD_OUTPUT && size(entry) > target {
        limit = (limit / 2).max(OLD_OUTPUT);
        shorten(entry, limit);
    }
}

fn longest(entry: &Entry) -> usize {
    match entry {
        Entry::User(_) => 0,
        Entry::Assistant { results, .. } => {
            results.iter().map(|result| result.output.len()).max().unwrap_or_default()
        }
    }
}

fn size(entry: &Entry) -> usize {
    match entry {
        Entry::User(text) => text.len() + OVERHEAD,
        Entry::Assistant { message, results } => {
            let outputs = results.iter().map(|result| result.output.len() + OVERHEAD);
            json_size(message) + OVERHEAD + outputs.sum::<usize>()
        }
    }
}

/// An estimate of what a system prompt or a tool's description costs, in tokens.
pub(crate) fn tokens_of(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(BYTES_PER_TOKEN)
}

pub(crate) fn json_size(value: &Value) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting does not fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::CallResult;

    fn fit(transcript: Vec<Entry>, tokens: u64) -> Vec<Entry> {
        Arc::unwrap_or_clone(super::fit(Arc::new(transcript), tokens))
    }

    fn turn(name: &str, output: &str) -> Entry {
        let result = CallResult { call_id: name.to_owned(), output: output.to_owned(), is_error: false };
        Entry::Assistant { message: json!({ "content": name }), results: vec![result] }
    }

    fn output(entry: &Entry) -> &str {
        match entry {
            Entry::User(text) => text,
            Entry::Assistant { results, .. } => &results[0].output,
        }
    }

    fn conversation(turns: usize, output: usize) -> Vec<Entry> {
        let task = [Entry::User("the task".to_owned())];
        let turns = (0..turns).map(|at| turn(&format!("t{at}"), &"x".repeat(output)));
        task.into_iter().chain(turns).chain([Entry::User("the newest words".to_owned())]).collect()
    }

    fn total(transcript: &[Entry]) -> usize {
        transcript.iter().map(size).sum()
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let whole = conversation(5, 1000);
        assert_eq!(fit(whole.clone(), total(&whole) as u64), whole);
        assert_eq!(fit(Vec::new(), 0), []);
    }

    #[test]
    fn old_outputs_are_shortened_first_and_marked() {
        let whole = conversation(5, 3000);
        let fits = fit(whole.clone(), 4000);
        assert_eq!(fits.len(), whole.len(), "no turn is lost");
        assert!(output(&fits[1]).contains("2600 bytes cut here to stay within the model's context"));
        assert_eq!(output(&fits[5]), "x".repeat(3000), "the newest is whole");
        assert!(total(&fits) <= 12_000);
    }

    #[test]
    fn then_the_oldest_turns_go_with_a_note_and_the_persons_words_stay() {
        let mut whole = conversation(100, 3000);
        whole.insert(50, Entry::User("words in between".to_owned()));
        let fits = fit(whole, 3000);
        assert!(total(&fits) <= 9000, "{}", total(&fits));
        assert_eq!(fits[0], Entry::User("the task".to_owned()));
        assert!(output(&fits[1]).starts_with('[') && output(&fits[1]).contains("earlier turns"));
        assert_eq!(fits[2], Entry::User("words in between".to_owned()));
        assert_eq!(output(&fits[fits.len() - 2]).len(), 3000);
        assert_eq!(fits.last(), Some(&Entry::User("the newest words".to_owned())));
    }

    #[test]
    fn at_last_the_newest_output_is_shortened_too() {
        let fits = fit(conversation(2, 100_000), 2000);
        assert!(total(&fits) <= 6200, "{}", total(&fits));
        assert!(output(&fits[fits.len() - 2]).contains("bytes cut here"));
    }
}
