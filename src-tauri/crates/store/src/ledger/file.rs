use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use sayso_domain::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::entry::{REQUEST, RUN};
use super::gap::{Gap, Gaps};
use super::lines::{End, EndLine, EntryLine, Exported, Footer, LINES_VERSION, NAME};
use super::stored::{Stored, StoredField};
use super::walk::{Found, Walk, at};
use super::{EntryType, Problem, Verification};
use crate::{Progress, StoreError};

/// No line of ours is longer.
const LONGEST: u64 = 256 << 20;

/// What a file with exported lines proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVerification {
    /// Whether it is intact.
    pub verification: Verification,
    /// What it says of itself at its end; none where it was cut off before.
    pub exported: Option<Exported>,
    /// Who vouches for it, as it says.
    pub footer: Footer,
    /// Whether it begins with the chain's first entry and has all of them whole.
    pub is_whole: bool,
}

/// The entries of a file that was verified, each with what was shown, and the id of their chain.
#[expect(clippy::type_complexity, reason = "an entry, and what stands beside it")]
pub(super) fn entries<'a>(
    from: &'a mut dyn BufRead,
) -> Result<(String, impl Iterator<Item = Result<(Stored, Option<String>), StoreError>> + 'a), StoreError> {
    let mut lines = Lines::new(from);
    let header = Header::read(&lines.next_line()?.unwrap_or_default())?;
    let entries = std::iter::from_fn(move || {
        let entry = lines.next()?;
        Some(entry.map(|entry| (entry, lines.shown.take())))
    });
    Ok((header.chain, entries))
}

/// Verifies exported lines by themselves: every entry that is in there whole, and that all of them are linked up to the
/// head. [`StoreError::Refused`] if they are no export at all.
pub fn verify_lines(
    from: &mut dyn BufRead,
    noted: Option<Digest>,
    progress: &Progress,
) -> Result<FileVerification, StoreError> {
    let mut lines = Lines::new(from);
    let first = lines.next_line()?.unwrap_or_default();
    lines.hash.update(&first);
    let header = Header::read(&first)?;
    lines.expected = header.first;
    let (mut decisions, mut pruned) = (0, Vec::new());
    let mut walk = Walk {
        chain: &header.chain,
        seq: header.first,
        prev: header.prev.0.to_vec(),
        gaps: &header.gaps,
        head_seq: i64::MAX,
        sought: noted,
        is_sought_seen: noted == Some(header.prev),
        entries: 0,
        erased: BTreeSet::new(),
        progress,
    };
    let found = walk.all(&mut lines, |entry| {
        match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
            Some(EntryType::Decision) => decisions += 1,
            Some(EntryType::Prune) => pruned.extend(Gap::of_entry(entry)),
            Some(EntryType::Delivery | EntryType::Effect | EntryType::RunEnd | EntryType::Revoked)
            | Some(EntryType::Redaction)
            | None => {}
        }
        Ok(None)
    })?;
    let found = found.or_else(|| rest(&walk, &header, &pruned, &lines));
    let head = <[u8; 32]>::try_from(walk.prev.as_slice()).ok().map(Digest);
    let is_begun =
        header.first == 1 || pruned.iter().any(|gap| (gap.first, gap.last) == (1, header.first - 1));
    let is_whole = is_begun && lines.links == 0;
    Ok(FileVerification {
        verification: Verification {
            ok: found.is_none(),
            entries: walk.entries,
            head: head.filter(|_| walk.entries > 0),
            entry: found.and_then(|found| found.entry),
            problem: found.map(|found| found.problem),
        },
        exported: lines.end.as_ref().and_then(|end| {
            Some(Exported {
                chain: header.chain.clone(),
                seq: end.seq,
                head: end.head.parse().ok()?,
                digest: end.digest.parse().ok()?,
                entries: end.entries,
                decisions,
                skipped: end.skipped,
            })
        }),
        footer: lines
            .end
            .map(|end| Footer { signature: end.signature, public_key: end.public_key })
            .unwrap_or_default(),
        is_whole,
    })
}

/// What only shows once all is read.
fn rest(walk: &Walk<'_>, header: &Header, pruned: &[Gap], lines: &Lines<'_>) -> Option<Found> {
    let last = walk.seq - 1;
    let anywhere = |problem| Some(Found { problem, entry: None });
    let Some(end) = &lines.end else { return at(Problem::Truncated, walk.seq) };
    let end_seq = i64::try_from(end.seq).unwrap_or(i64::MAX);
    let unexplained = header.gaps.0.iter().find(|gap| gap.last < last && !pruned.contains(gap));
    if let Some(gap) = unexplained {
        at(Problem::Removed, gap.first)
    } else if end_seq > last {
        at(Problem::Truncated, walk.seq)
    } else if end_seq < last {
        at(Problem::Inserted, end_seq + 1)
    } else if end.head.parse::<Digest>().ok().is_none_or(|head| head.0 != *walk.prev) {
        at(Problem::Changed, last)
    } else if let Some((seq, _)) = walk.erased.first() {
        at(Problem::Changed, *seq)
    } else if lines.is_cut {
        anywhere(Problem::Inserted)
    } else if end.entries != walk.entries
        || lines.digest.is_none_or(|digest| digest.to_string() != end.digest)
    {
        anywhere(Problem::Changed)
    } else if walk.sought.is_some() && !walk.is_sought_seen {
        at(Problem::Truncated, walk.seq)
    } else {
        None
    }
}

struct Header {
    chain: String,
    first: i64,
    prev: Digest,
    gaps: Gaps,
}

impl Header {
    fn read(line: &[u8]) -> Result<Self, StoreError> {
        let refused = |why: &str| {
            StoreError::Refused(format!(
                "This file is no history that Sayso exported as JSON Lines: {why}. CSV and HTML exports cannot be verified."
            ))
        };
        let header: Value =
            serde_json::from_slice(line).map_err(|_| refused("its first line is no header"))?;
        if header.get("sayso").and_then(Value::as_str) != Some(NAME) {
            return Err(refused("its first line is no header"));
        }
        if header.get("v").and_then(Value::as_u64) != Some(LINES_VERSION) {
            return Err(StoreError::Refused(
                "This file was exported by a newer Sayso. Verify it with that version or a later one."
                    .to_owned(),
            ));
        }
        let read = || {
            let gaps = header.get("gaps")?.as_array()?.iter().map(Gap::from_json);
            Some(Self {
                chain: header.get("chain")?.as_str()?.to_owned(),
                first: header.get("first")?.as_i64().filter(|first| *first > 0)?,
                prev: header.get("prev")?.as_str()?.parse().ok()?,
                gaps: Gaps(gaps.collect::<Option<_>>()?),
            })
        };
        read().ok_or_else(|| refused("its header is incomplete"))
    }
}

struct Lines<'a> {
    from: &'a mut dyn BufRead,
    /// Of all lines so far.
    hash: Sha256,
    /// The number that the next entry should have.
    expected: i64,
    end: Option<End>,
    /// Of all lines before the last.
    digest: Option<Digest>,
    /// Something follows the last line.
    is_cut: bool,
    links: u64,
    /// What the last entry says was shown.
    shown: Option<String>,
}

impl<'a> Lines<'a> {
    fn new(from: &'a mut dyn BufRead) -> Self {
        Self {
            from,
            hash: Sha256::new(),
            expected: 0,
            end: None,
            digest: None,
            is_cut: false,
            links: 0,
            shown: None,
        }
    }

    fn next_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut line = Vec::new();
        let mut limited = std::io::Read::take(&mut *self.from, LONGEST);
        let read = limited.read_until(b'\n', &mut line);
        let read = read.map_err(|error| StoreError::Io(error.to_string()))?;
        Ok((read > 0).then_some(line))
    }
}

impl Iterator for Lines<'_> {
    type Item = Result<Stored, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.next_line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        if self.end.is_some() {
            self.is_cut = true;
            return None;
        }
        if let Ok(end) = serde_json::from_slice::<EndLine>(&line) {
            self.digest = Some(Digest(self.hash.clone().finalize().into()));
            self.end = Some(end.end);
            // Once more, to see whether anything follows.
            return self.next();
        }
        self.hash.update(&line);
        let mut read = serde_json::from_slice::<EntryLine>(&line).ok();
        self.shown = read.as_mut().and_then(|line| line.shown.take());
        let read = read.and_then(stored).filter(|entry| match (&self.shown, entry.text("digest")) {
            (Some(shown), digest) => digest == Some(Digest::of(shown).to_string().as_str()),
            (None, _) => true,
        });
        // What cannot be read stands where an entry should, and is found wrong there.
        let entry = read.unwrap_or_else(|| Stored { seq: self.expected, ..Stored::default() });
        self.expected = entry.seq.saturating_add(1);
        self.links += u64::from(entry.is_link);
        Some(Ok(entry))
    }
}

fn stored(line: EntryLine) -> Option<Stored> {
    let digest = |text: &str| text.parse::<Digest>().ok().map(|digest| digest.0.to_vec());
    let is_link = line.record.is_none();
    let mut record = line.record.unwrap_or_default();
    let mut salts = line.salts.unwrap_or_default();
    let column = |record: &BTreeMap<String, String>, name: &str| {
        record.get(name).map(|text| text.clone().into_bytes())
    };
    let (request, run) = (column(&record, REQUEST), column(&record, RUN));
    let mut fields = Vec::new();
    for (name, text) in line.digests {
        fields.push(StoredField {
            seq: line.seq,
            digest: digest(&text)?,
            salt: salts.remove(&name).map(|salt| digest(&salt)).unwrap_or(None),
            content: record.remove(&name).map(String::into_bytes),
            is_withheld: line.withheld.contains(&name),
            name: name.into_bytes(),
        });
    }
    if !record.is_empty() || !salts.is_empty() {
        return None;
    }
    Some(Stored {
        seq: line.seq,
        v: line.v,
        kind: line.r#type.into_bytes(),
        at: line.at,
        request,
        run,
        prev: digest(&line.prev)?,
        hash: digest(&line.hash)?,
        fields,
        is_link,
    })
}
