use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use sayso_agent::system_time as now;
use sayso_store::ledger::{self, Damage};
use sayso_store::{Progress, Store, StoreCopy, StoreError, meta, prepare_restore};

use crate::commands::history::{page, query};
use crate::commands::record::{self, noted};
use crate::commands::storage;
use crate::data_dir::DataDir;
use crate::dto::{
    BackupItem, ExportFormat, HistoryExport, HistoryFilter, HistoryPage, LedgerHead, Verification,
};
use crate::export::{Export, statement};
use crate::signing::{Signature, Signer};
use crate::view::history::verification;
use crate::{OpenError, RpcError, code, keeping};

/// A `sayso.db` that is read with no host running: from a temporary copy, so nothing is written beside it and it may be in
/// use.
pub struct Offline(StoreCopy);

/// What an exported file proves by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProof {
    /// Whether it is as it was written.
    pub verification: Verification,
    /// How many decisions are in it.
    pub decisions: u64,
    /// How many entries could not be read when it was written.
    pub skipped: u64,
    /// Whether it has every decision of its record from the first on.
    pub is_whole: bool,
    /// Whether its signature holds; none where it has none.
    pub is_signed: Option<bool>,
    /// The key that it is signed with, in base64.
    pub public_key: Option<String>,
}

impl Offline {
    /// Copies the file.
    pub fn open(database: &Path) -> Result<Self, RpcError> {
        Store::open_copy(database).map(Self).map_err(open)
    }

    /// A page of decisions.
    pub fn page(&self, filter: &HistoryFilter) -> Result<HistoryPage, RpcError> {
        let query = query(filter)?;
        self.0.read(|reader| page(reader, &query)).map_err(storage)
    }

    /// Verifies the ledger, and that a head which was noted is in it.
    pub fn verify(&self, head: Option<&str>) -> Result<Verification, RpcError> {
        let noted = noted(head)?;
        let read = self.0.read(|reader| ledger::verify_up_to(reader, noted, &Progress::default()));
        read.map(verification).map_err(storage)
    }

    /// The end of the record, signed if this machine has its key.
    pub fn head(&self) -> Result<LedgerHead, RpcError> {
        let read = self.0.read(|reader| Ok((meta::chain(reader)?, ledger::head(reader)?)));
        let (chain, (seq, hash)) = read.map_err(storage)?;
        let signer = Signer::known(&chain).ok_or("There is no key for this record in the keyring.");
        Ok(record::signed_head(chain, seq, hash, signer.map_err(str::to_owned)))
    }
}

/// Decisions with no host running.
pub fn read_history(database: &Path, filter: &HistoryFilter) -> Result<HistoryPage, RpcError> {
    Offline::open(database)?.page(filter)
}

/// Verifies the ledger of a `sayso.db` with no host running.
pub fn verify_history(database: &Path) -> Result<Verification, RpcError> {
    Offline::open(database)?.verify(None)
}

/// Writes decisions of a `sayso.db` with no host running; parts that are damaged are left out. Says in words what was
/// written. `path` of the parameters says nothing here.
pub fn export_history(
    database: &Path,
    params: HistoryExport,
    out: &mut dyn Write,
) -> Result<String, RpcError> {
    query(&params.filter)?;
    let copy = Store::open_damaged_copy(database).map_err(open)?;
    let write = copy.read(|reader| {
        let signer = match params.format {
            ExportFormat::Jsonl => Signer::known(&meta::chain(reader)?),
            ExportFormat::Csv | ExportFormat::Html => None,
        };
        let export = Export {
            filter: params.filter,
            format: params.format,
            reasons: params.reasons.unwrap_or(true),
            damage: Damage::IsSkipped,
            signer,
        };
        let written = export.write(reader, out, &Progress::default())?;
        Ok(written.message(params.format))
    });
    write.map_err(storage)
}

/// Verifies a file that was exported as JSON Lines, by itself.
pub fn verify_export(file: &Path, head: Option<&str>) -> Result<FileProof, RpcError> {
    let noted = noted(head)?;
    let unreadable = |error: std::io::Error| {
        let message = format!("The file {} cannot be read: {error}. Name one that can be.", file.display());
        RpcError::new(code::NOT_FOUND, message)
    };
    let mut lines = BufReader::with_capacity(1 << 18, File::open(file).map_err(unreadable)?);
    let found = ledger::verify_lines(&mut lines, noted, &Progress::default()).map_err(storage)?;
    let signature = found.footer.signature.zip(found.footer.public_key.clone());
    let is_signed = signature.zip(found.exported.as_ref()).map(|((signature, public_key), exported)| {
        Signature { signature, public_key }.holds_for(&statement(exported))
    });
    let mut verification = verification(found.verification);
    // A signature that does not hold was not made for this.
    if is_signed == Some(false) && verification.ok {
        verification.ok = false;
        verification.problem = Some(crate::dto::Problem::Changed);
    }
    Ok(FileProof {
        verification,
        decisions: found.exported.as_ref().map_or(0, |exported| exported.decisions),
        skipped: found.exported.as_ref().map_or(0, |exported| exported.skipped),
        is_whole: found.is_whole,
        is_signed,
        public_key: found.footer.public_key,
    })
}

/// Makes a database of an exported file, to be read with `--db`. Says how many decisions it has.
pub fn import_history(file: &Path, into: &Path) -> Result<u64, RpcError> {
    let proof = verify_export(file, None)?;
    if !proof.verification.ok || !proof.is_whole || proof.skipped > 0 {
        let message = format!(
            "{} cannot be imported: only an export of a whole record can, as it was written. Nothing was made. `sayso history              verify {}` says what it is.",
            file.display(),
            file.display()
        );
        return Err(RpcError::new(code::BAD_REQUEST, message));
    }
    let unreadable = |error: std::io::Error| RpcError::new(code::NOT_FOUND, error.to_string());
    let mut lines = BufReader::with_capacity(1 << 18, File::open(file).map_err(unreadable)?);
    ledger::import_lines(&mut lines, into, &Progress::default()).map_err(storage)
}

/// Makes a backup of a folder that no host has; a new file in its `backups` unless `path` says another. Says where it is.
pub async fn back_up_file(data_dir: &Path, path: Option<&Path>) -> Result<String, OpenError> {
    let dir = DataDir::hold(data_dir)?;
    let path = path.map_or_else(|| keeping::new_backup(dir.path(), now()), Path::to_owned);
    let storage = |error: StoreError| OpenError::Storage(error.to_string());
    let store = Store::open(&dir.database()).map_err(|error| OpenError::Storage(error.to_string()))?;
    let made = store.back_up(&path, Progress::default()).await;
    store.close().await.map_err(storage)?;
    made.map_err(storage)?;
    Ok(path.display().to_string())
}

/// Puts a backup in the place of the database of a folder that no host has. What was there is kept as a backup.
pub async fn restore_file(data_dir: &Path, backup: &Path) -> Result<(), OpenError> {
    let dir = DataDir::hold(data_dir)?;
    let storage = |error: sayso_store::OpenError| OpenError::Storage(error.to_string());
    prepare_restore(backup, &dir.database()).map_err(storage)?;
    let store = Store::open(&dir.database()).map_err(storage)?;
    store.close().await.map_err(|error| OpenError::Storage(error.to_string()))
}

/// The backups in a data folder, newest first.
pub fn list_backups(data_dir: &Path) -> Vec<BackupItem> {
    keeping::backups(data_dir)
}

fn open(error: sayso_store::OpenError) -> RpcError {
    RpcError::new(code::STORAGE, OpenError::Storage(error.to_string()).to_string())
}
