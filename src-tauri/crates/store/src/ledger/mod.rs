//! The ledger: what was decided, what came of it, and nothing else; append-only, in one hash chain per device.
//!
//! # Format, version 1
//!
//! This is what other programs verify against. Entries of this format are never rewritten by a later release.
//!
//! An **entry** is known by `(chain_id, seq)`: the chain's UUID and a number from 1 without gaps. It has a `type`, a time
//! `at` in milliseconds since 1970 UTC, and **fields**: texts under names of `[a-z_]`. A field that does not apply is
//! absent; there are no empty ones for it.
//!
//! *A field's digest* is SHA-256 over its salt, 32 random bytes of its own, followed by the UTF-8 bytes of its content.
//! Salt and content are stored side by side in `ledger_fields`. Erasing both makes the content unrecoverable, and the
//! digest, which stays, still verifies the entry; a later `redaction` entry must name what was erased.
//!
//! *An entry's hash* is SHA-256 over this JSON object in canonical form (RFC 8785: keys sorted, no spaces):
//!
//! ```json
//! {"at":1767225600000,"chain":"<uuid>","fields":{"<name>":"<digest, 64 hex digits>"},
//!  "prev":"<hash of the entry before, 64 hex digits; zeros for the first>","seq":1,"type":"decision","v":1}
//! ```
//!
//! `chains` holds each chain's last number and hash, its **head**, so that a chain that was cut off is noticed; somebody
//! who can write the file can move the head too, which a head that was noted elsewhere shows.
//!
//! | type | fields |
//! |---|---|
//! | `decision` | `request` (key), `request_id` (wire id), `source`, `source_kind`, `run`, `call` (`turn.index`), `purpose`, `tool`, `kind`, `prompt`, `url`, `data`, `expires_at`, `extra` (unknown keys of the request), `arguments`, `folder`, `file_hash`, `diff`, `notes`, `digest` (SHA-256 of what was shown; erased with any part of it), `received_at`, `outcome`, `cause`, `answer` (wire form without its reason), `reason` (the person's own words), `edited_arguments`, `decided_by`, `surface` |
//! | `delivery` | `request`, `run`, `decision` (the decision's seq), `state` (`delivered`, `undeliverable`), `answer` (what left), `attempts`, `error` |
//! | `effect` | `request`, `run`, `decision`, `output`, `is_error` |
//! | `run_end` | `run`, `status`, `detail` |
//! | `revoked` | `request`, `run`, `decision`, `decided_by`, `surface`: a decision taken back before it was delivered |
//! | `redaction` | `request` or `run` of what was erased, `erased`: `[{"chain","seq","field"}]`, `places` (how many texts outside of the ledger were erased as well), `decided_by`, `surface` |
//! | `prune` | `first`, `last` (the seqs that were removed), `head` (the hash of the last), `summary`: `{"prev" (the hash before the first), "entries", "decisions", "outcomes": {name: count}, "from", "to"}` |
//!
//! `request` and `run` are also columns, to find entries by; they are never erased, and [`verify`] compares them. It also
//! compares each decision with what History shows of it. One that was taken back is in no other place: what was asked is still
//! compared, and the request may have a later decision. JSON in fields is kept as text; times are RFC 3339.

mod append;
mod decision;
mod decisions;
mod entry;
mod file;
mod gap;
mod import;
mod lines;
mod prune;
mod read;
mod records;
mod seal;
mod stored;
mod verify;
mod walk;

pub(crate) use append::begin_chain;
pub use append::{append, append_decision};
pub(crate) use decision::fields as decision_fields;
pub use entry::{Entry, EntryRef, EntryRow, EntryType};
pub use file::{FileVerification, verify_lines};
pub use import::import_lines;
pub use lines::{Exported, Footer, write_lines};
pub(crate) use prune::prune_chosen;
pub use read::{decision_of, head, of_request};
pub use records::{Record, Selection, records};
pub use stored::Damage;
pub use verify::{Problem, Verification, verify, verify_up_to};

pub(crate) const SCHEMA: &str = "
CREATE TABLE chains (
    chain_id  TEXT PRIMARY KEY,
    head_seq  INTEGER NOT NULL CHECK (head_seq >= 0),
    head_hash BLOB NOT NULL CHECK (length(head_hash) = 32)
) STRICT, WITHOUT ROWID;
CREATE TABLE ledger (
    chain_id    TEXT NOT NULL REFERENCES chains (chain_id),
    seq         INTEGER NOT NULL CHECK (seq > 0),
    v           INTEGER NOT NULL,
    type        TEXT NOT NULL
        CHECK (type IN ('decision', 'delivery', 'effect', 'run_end', 'revoked', 'redaction', 'prune')),
    at          INTEGER NOT NULL,
    request_key TEXT,
    run_id      TEXT,
    prev        BLOB NOT NULL CHECK (length(prev) = 32),
    hash        BLOB NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (chain_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_of_request ON ledger (request_key, type) WHERE request_key IS NOT NULL;
CREATE INDEX ledger_of_run ON ledger (run_id, type) WHERE run_id IS NOT NULL;
CREATE TABLE ledger_fields (
    chain_id TEXT NOT NULL,
    seq      INTEGER NOT NULL,
    name     TEXT NOT NULL,
    digest   BLOB NOT NULL CHECK (length(digest) = 32),
    salt     BLOB CHECK (length(salt) = 32),
    content  TEXT,
    PRIMARY KEY (chain_id, seq, name),
    FOREIGN KEY (chain_id, seq) REFERENCES ledger (chain_id, seq),
    CHECK ((salt IS NULL) = (content IS NULL))
) STRICT, WITHOUT ROWID;
";

pub(crate) const KEEPING_SCHEMA: &str = "
CREATE INDEX ledger_prunes ON ledger (chain_id, seq) WHERE type = 'prune';
CREATE INDEX ledger_redactions ON ledger (chain_id, seq) WHERE type = 'redaction';
";
