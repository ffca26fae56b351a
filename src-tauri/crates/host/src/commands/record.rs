use std::path::{Path, PathBuf};

use sayso_agent::system_time as now;
use sayso_domain::{Digest, Surface};
use sayso_store::ledger::{self, Damage};
use sayso_store::redact::{self, Erasure, Found, Secret, Tally};
use sayso_store::{NewFile, Progress, meta};

use super::storage;
use crate::dto::{
    ExportFormat, HistoryExport, Job, LedgerHead, Redact, Redacted, Topic, Verification, Verify,
};
use crate::export::Export;
use crate::host::Host;
use crate::jobs::{self, Done};
use crate::signing::{Signer, Statement};
use crate::{RpcError, code, keeping, view};

/// New texts may come in while old ones are erased; so often it is looked again.
const ROUNDS: u32 = 3;

pub(crate) async fn verify(host: &Host, params: Verify) -> Result<Verification, RpcError> {
    verified(host, noted(params.head.as_deref())?, Progress::default()).await
}

pub(crate) fn verify_job(host: &Host, params: &Verify) -> Result<Job, RpcError> {
    let noted = noted(params.head.as_deref())?;
    let work = |progress| {
        let host = host.clone();
        async move {
            let found = verified(&host, noted, progress).await?;
            Ok(Done { message: None, verification: Some(found) })
        }
    };
    Ok(jobs::start(host, "verify", None, work))
}

async fn verified(host: &Host, noted: Option<Digest>, progress: Progress) -> Result<Verification, RpcError> {
    let read = host.store().read(move |reader| ledger::verify_up_to(reader, noted, &progress));
    read.await.map(view::history::verification).map_err(storage)
}

/// A head that somebody noted.
pub(crate) fn noted(head: Option<&str>) -> Result<Option<Digest>, RpcError> {
    head.map(|head| head.trim().to_lowercase().parse()).transpose().map_err(|_| {
        RpcError::new(
            code::BAD_REQUEST,
            "A head is a hash of 64 hexadecimal digits, as `sayso history head` prints it.",
        )
    })
}

pub(crate) async fn head(host: &Host) -> Result<LedgerHead, RpcError> {
    let read = host.store().read(|reader| Ok((meta::chain(reader)?, ledger::head(reader)?)));
    let (chain, (seq, hash)) = read.await.map_err(storage)?;
    let signer = signer(&chain).await;
    Ok(signed_head(chain, seq, hash, signer))
}

pub(crate) fn signed_head(
    chain: String,
    seq: u64,
    hash: Digest,
    signer: Result<Signer, String>,
) -> LedgerHead {
    let hash = hash.to_string();
    let statement = Statement::Head { chain: &chain, seq, hash: hash.clone() };
    let signed = signer.map(|signer| signer.sign(&statement));
    let unsigned = signed.as_ref().err().cloned();
    let (signature, public_key) = signed.ok().map(|signed| (signed.signature, signed.public_key)).unzip();
    LedgerHead { chain, seq, hash, signature, public_key, unsigned }
}

/// The key of a chain, off the async threads: a keyring may have to be unlocked.
async fn signer(chain: &str) -> Result<Signer, String> {
    let chain = chain.to_owned();
    let read = tokio::task::spawn_blocking(move || Signer::of_chain(&chain));
    read.await.unwrap_or_else(|error| Err(error.to_string()))
}

pub(crate) fn export(host: &Host, params: HistoryExport) -> Result<Job, RpcError> {
    // What it says wrong is said at once.
    super::history::query(&params.filter)?;
    let path = match &params.path {
        Some(path) => whole_path(path)?,
        None => host.data_dir().join("exports").join(format!(
            "sayso-history-{}.{}",
            keeping::stamp(now()),
            extension(params.format)
        )),
    };
    if path.exists() {
        return Err(RpcError::new(
            code::BAD_REQUEST,
            format!(
                "There is a file at {} already, and nothing is overwritten. Name another one.",
                path.display()
            ),
        ));
    }
    let to = path.clone();
    let work = move |progress| {
        let host = host.clone();
        async move { export_to(&host, params, to, progress).await }
    };
    Ok(jobs::start(host, "export", Some(path), work))
}

async fn export_to(
    host: &Host,
    params: HistoryExport,
    path: PathBuf,
    progress: Progress,
) -> Result<Done, RpcError> {
    let signer = match params.format {
        ExportFormat::Jsonl => {
            let chain = host.store().read(|reader| meta::chain(reader)).await.map_err(storage)?;
            signer(&chain).await.ok()
        }
        ExportFormat::Csv | ExportFormat::Html => None,
    };
    let format = params.format;
    let export = Export {
        filter: params.filter,
        format,
        reasons: params.reasons.unwrap_or(true),
        damage: Damage::IsSkipped,
        signer,
    };
    let written = host.store().read(move |reader| {
        let mut file = NewFile::create(&path)?;
        let written = export.write(reader, &mut file, &progress)?;
        file.finish()?;
        Ok(written)
    });
    let written = written.await.map_err(storage)?;
    Ok(Done { message: Some(written.message(format)), verification: None })
}

pub(crate) fn extension(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Jsonl => "jsonl",
        ExportFormat::Csv => "csv",
        ExportFormat::Html => "html",
    }
}

/// The host has a folder of its own to start from, which is not the caller's.
pub(crate) fn whole_path(path: &str) -> Result<PathBuf, RpcError> {
    let path = Path::new(path);
    if path.is_absolute() && path.file_name().is_some() {
        return Ok(path.to_owned());
    }
    Err(RpcError::new(code::BAD_REQUEST, "Name a file by its whole path, from the root on."))
}

pub(crate) async fn redact(host: &Host, surface: Surface, params: Redact) -> Result<Redacted, RpcError> {
    let secret = Secret::new(&params.text).map_err(storage)?;
    let found = find(host, &secret).await?;
    let setups = found.setups.clone();
    let tally = if params.confirm {
        erase(host, &secret, found, surface).await?
    } else {
        host.store().read(move |reader| redact::tally(reader, &found)).await.map_err(storage)?
    };
    let folder = host.data_dir().to_owned();
    let elsewhere = tokio::task::spawn_blocking(move || keeping::files_with(&folder, &secret));
    let backups = elsewhere.await.unwrap_or_default();
    Ok(Redacted {
        entries: tally.entries,
        fields: tally.fields,
        requests: tally.requests,
        places: tally.places,
        running: tally.running,
        setups,
        backups: backups.iter().map(|path| path.display().to_string()).collect(),
    })
}

async fn find(host: &Host, secret: &Secret) -> Result<Found, RpcError> {
    let secret = secret.clone();
    let read = host.store().read(move |reader| redact::find(reader, &secret, &Progress::default()));
    read.await.map_err(storage)
}

/// Erases what was found, then writes the file anew, so that nothing is left in what it no longer uses.
async fn erase(host: &Host, secret: &Secret, mut found: Found, surface: Surface) -> Result<Tally, RpcError> {
    let mut tally = Tally::default();
    for _ in 0..ROUNDS {
        let (looked_for, erasure) = (secret.clone(), Erasure { at: now(), surface });
        let erased = host.store().write(move |tx| redact::erase(tx, &looked_for, &found, erasure));
        let erased = erased.await.map_err(storage)?;
        tally.entries += erased.entries;
        tally.fields += erased.fields;
        tally.requests += erased.requests;
        tally.places += erased.places;
        tally.running = erased.running;
        if erased.places + erased.fields == 0 {
            break;
        }
        found = find(host, secret).await?;
    }
    host.announce(Topic::History, None);
    host.announce(Topic::Runs, None);
    host.store().compact(Progress::default()).await.map_err(|error| {
        RpcError::new(
            code::STORAGE,
            format!(
                "The text was erased from every decision, but the file could not be written anew, so that parts of it may \
                 still be in what the file no longer uses. {error} Then compact the storage."
            ),
        )
    })?;
    Ok(tally)
}
