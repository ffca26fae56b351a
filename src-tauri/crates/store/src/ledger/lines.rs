//! A chain as JSON Lines, which prove themselves. The format's version is 1; [`super::file`] reads it.
//!
//! 1. A header: `{"sayso":"history","v":1,"chain","first","prev","gaps","about"}`: the number of the first entry that
//!    follows and the hash before it; what was pruned on the way (`{"first","last","prev","head"}`, as the prune entries in
//!    the file say); and what the file is (its filter, when it was written).
//! 2. Each entry from there to the head of the chain, in order:
//!    `{"seq","v","type","at","prev","hash","record","salts","digests","withheld"}`. `record` has the contents by name,
//!    `salts` and `digests` what the module's page says. A name in `digests` alone was erased, or is in `withheld`. An
//!    entry that the filter leaves out has neither `record` nor `salts`: its digests are all that the chain needs. `shown` is
//!    what a decision was bound to, where that does not follow from its `record`; its SHA-256 is the record's `digest`.
//! 3. The end: `{"end":{"entries","seq","head","digest","skipped","signature","public_key"}}`, with SHA-256 over all the
//!    lines before it.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use sayso_domain::Digest;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::entry::RUN;
use super::gap::Gaps;
use super::records::{REASON, Selection};
use super::seal::START;
use super::stored::{Damage, Entries, Stored};
use super::{EntryType, decision};
use crate::new_file::of_file;
use crate::{Conn, Progress, StoreError, meta, requests};

/// What a header begins with.
pub(super) const NAME: &str = "history";
/// The format's version.
pub(super) const LINES_VERSION: u64 = 1;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The chain's id.
    pub chain: String,
    /// The number of its last entry.
    pub seq: u64,
    /// That one's hash.
    pub head: Digest,
    /// SHA-256 of all lines but the last.
    pub digest: Digest,
    /// How many lines with entries.
    pub entries: u64,
    /// How many decisions are in it whole.
    pub decisions: u64,
    /// How many entries could not be read.
    pub skipped: u64,
}

/// Who vouches for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footer {
    /// A signature, in base64.
    pub signature: Option<String>,
    /// The key that it is checked with, in base64.
    pub public_key: Option<String>,
}

/// An entry's line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryLine {
    pub(super) seq: i64,
    pub(super) v: i64,
    pub(super) r#type: String,
    pub(super) at: i64,
    pub(super) prev: String,
    pub(super) hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) salts: Option<BTreeMap<String, String>>,
    pub(super) digests: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) withheld: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shown: Option<String>,
}

/// The last line.
#[derive(Serialize, Deserialize)]
pub(super) struct EndLine {
    pub(super) end: End,
}

#[derive(Serialize, Deserialize)]
pub(super) struct End {
    pub(super) entries: u64,
    pub(super) seq: u64,
    pub(super) head: String,
    pub(super) digest: String,
    pub(super) skipped: u64,
    pub(super) signature: Option<String>,
    pub(super) public_key: Option<String>,
}

/// Writes this device's chain from the first decision that is selected on, and asks `sign` who vouches for it.
pub fn write_lines(
    conn: &Conn,
    about: &Value,
    selection: &Selection,
    damage: Damage,
    out: &mut dyn Write,
    progress: &Progress,
    sign: impl FnOnce(&Exported) -> Footer,
) -> Result<Exported, StoreError> {
    let chain = meta::chain(conn)?;
    let gaps = Gaps::of_chain(conn, &chain)?;
    let mut entries = Entries::new(conn, &chain, damage)?;
    progress.expect(entries.most());
    let mut lines = Lines { out, hash: Sha256::new(), is_begun: false, written: 0, decisions: 0 };
    let (mut seq, mut head) = (0, START.to_vec());
    let mut runs = HashSet::new();
    while let Some(entry) = entries.next().transpose()? {
        progress.advance(1)?;
        let is_decision = entry.kind == EntryType::Decision.as_str().as_bytes();
        let is_whole = is_whole(&entry, selection, &runs);
        if is_whole && is_decision && selection.requests.is_some() {
            runs.extend(entry.content(RUN).map(<[u8]>::to_vec));
        }
        if !lines.is_begun && (selection.requests.is_none() || (is_whole && is_decision)) {
            lines.begin(&chain, entry.seq, &entry.prev, &gaps, about)?;
        }
        if lines.is_begun {
            let shown = (is_whole && is_decision).then(|| shown(conn, &entry, damage)).transpose()?;
            lines.entry(&entry, is_whole, selection.reasons, shown.flatten())?;
            lines.decisions += u64::from(is_whole && is_decision);
        }
        (seq, head) = (entry.seq, entry.hash);
    }
    if !lines.is_begun {
        lines.begin(&chain, seq + 1, &head, &gaps, about)?;
    }
    let exported = Exported {
        chain: chain.clone(),
        seq: seq.unsigned_abs(),
        head: Digest(head.try_into().map_err(|_| StoreError::damaged("the hash of the last entry"))?),
        digest: Digest(lines.hash.clone().finalize().into()),
        entries: lines.written,
        decisions: lines.decisions,
        skipped: entries.skipped,
    };
    let footer = sign(&exported);
    lines.line(&EndLine {
        end: End {
            entries: exported.entries,
            seq: exported.seq,
            head: exported.head.to_string(),
            digest: exported.digest.to_string(),
            skipped: exported.skipped,
            signature: footer.signature,
            public_key: footer.public_key,
        },
    })?;
    Ok(exported)
}

/// What says that something was erased or removed goes along in any case: the rest is not proved without.
fn is_whole(entry: &Stored, selection: &Selection, runs: &HashSet<Vec<u8>>) -> bool {
    if selection.requests.is_none() {
        return true;
    }
    match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
        Some(EntryType::Decision | EntryType::Delivery | EntryType::Effect | EntryType::Revoked) => {
            selection.has(entry.key())
        }
        Some(EntryType::RunEnd) => entry.content(RUN).is_some_and(|run| runs.contains(run)),
        Some(EntryType::Redaction | EntryType::Prune) | None => true,
    }
}

/// What was shown, where more was shown than the entry's fields say.
fn shown(conn: &Conn, entry: &Stored, damage: Damage) -> Result<Option<String>, StoreError> {
    let (Some(digest), Some(key)) = (entry.text("digest"), entry.key()) else { return Ok(None) };
    let follows = decision::shown(|name| entry.text(name).map(str::to_owned))
        .is_some_and(|shown| Digest::of(&shown.to_text()).to_string() == digest);
    if follows {
        return Ok(None);
    }
    let stored = match requests::get(conn, key) {
        Err(StoreError::Damaged) if damage == Damage::IsSkipped => None,
        stored => stored?,
    };
    Ok(stored.map(|request| request.shown_text).filter(|text| Digest::of(text).to_string() == digest))
}

struct Lines<'a> {
    out: &'a mut dyn Write,
    hash: Sha256,
    is_begun: bool,
    written: u64,
    decisions: u64,
}

impl Lines<'_> {
    fn begin(
        &mut self,
        chain: &str,
        first: i64,
        prev: &[u8],
        gaps: &Gaps,
        about: &Value,
    ) -> Result<(), StoreError> {
        self.is_begun = true;
        let gaps = gaps.0.iter().filter(|gap| gap.first > first).map(|gap| gap.to_json());
        self.line(&json!({
            "sayso": NAME,
            "v": LINES_VERSION,
            "chain": chain,
            "first": first,
            "prev": hex(prev),
            "gaps": gaps.collect::<Vec<_>>(),
            "about": about,
        }))
    }

    fn entry(
        &mut self,
        entry: &Stored,
        is_whole: bool,
        reasons: bool,
        shown: Option<String>,
    ) -> Result<(), StoreError> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut line = EntryLine {
            seq: entry.seq,
            v: entry.v,
            r#type: text(&entry.kind),
            at: entry.at,
            prev: hex(&entry.prev),
            hash: hex(&entry.hash),
            record: is_whole.then(BTreeMap::new),
            salts: is_whole.then(BTreeMap::new),
            digests: BTreeMap::new(),
            withheld: Vec::new(),
            shown,
        };
        for field in &entry.fields {
            let name = text(&field.name);
            line.digests.insert(name.clone(), hex(&field.digest));
            let (Some(record), Some(salts)) = (&mut line.record, &mut line.salts) else { continue };
            let (Some(salt), Some(content)) = (&field.salt, &field.content) else { continue };
            if name == REASON && !reasons {
                line.withheld.push(name);
                continue;
            }
            record.insert(name.clone(), text(content));
            salts.insert(name, hex(salt));
        }
        self.written += 1;
        self.line(&line)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), StoreError> {
        let mut text = serde_json::to_vec(line).map_err(|error| StoreError::Sql(error.to_string()))?;
        text.push(b'\n');
        self.hash.update(&text);
        self.out.write_all(&text).map_err(|error| of_file(&error))
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
