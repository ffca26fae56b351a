use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sayso_host::dto::{Empty, ExportFormat, HistoryExport, HistoryFilter, Job, LedgerHead, Redact, Redacted};
use sayso_host::{NewFile, Offline, export_history, import_history, verify_export};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::history::{self, Record};
use crate::jobs;
use crate::out::Out;
use crate::way::Way;

/// No secret is longer.
const LONGEST_SECRET: u64 = 1 << 20;

/// What is exported, how and where to.
pub(crate) struct ExportTo {
    pub(crate) filter: HistoryFilter,
    pub(crate) format: String,
    pub(crate) reasons: bool,
    pub(crate) file: PathBuf,
}

/// Writes decisions to a file, through the host where one runs, or to standard output.
pub(crate) async fn export(out: &Out, record: &Record, export: ExportTo) -> Result<Exit, Failure> {
    let format = match export.format.as_str() {
        "csv" => ExportFormat::Csv,
        "html" => ExportFormat::Html,
        _ => ExportFormat::Jsonl,
    };
    let mut params =
        HistoryExport { filter: export.filter, format, path: None, reasons: Some(export.reasons) };
    let is_stdout = export.file == Path::new("-");
    match record {
        Record::Host(way) if !is_stdout => {
            let path = absolute(&export.file)?;
            params.path = Some(path.display().to_string());
            let job: Job = way.call("history.export", params).await?;
            jobs::follow(out, way, job).await
        }
        Record::Host(way) => {
            let status: sayso_host::dto::AppStatus = way.call("status", Empty {}).await?;
            let database = Path::new(&status.data_dir).join("sayso.db");
            to_stdout(&database, params)
        }
        Record::File(database) if is_stdout => to_stdout(database, params),
        Record::File(database) => {
            let path = absolute(&export.file)?;
            let refused =
                |error: sayso_host::FileError| Failure::new(Exit::Refused, "file", error.to_string());
            let mut file = NewFile::create(&path).map_err(refused)?;
            let message = export_history(database, params, &mut file)?;
            file.finish().map_err(refused)?;
            if out.is_json() {
                out.value(&json!({ "path": path, "message": message }))?;
            } else {
                out.line(&message)?;
            }
            Ok(Exit::Done)
        }
    }
}

fn to_stdout(database: &Path, params: HistoryExport) -> Result<Exit, Failure> {
    let mut stdout = io::stdout().lock();
    let message = export_history(database, params, &mut stdout)?;
    stdout.flush()?;
    // Standard output is the export itself.
    let _ = writeln!(io::stderr(), "{message}");
    Ok(Exit::Done)
}

/// A whole path: the host has a folder of its own to start from.
pub(crate) fn absolute(file: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(file)
        .map_err(|error| Failure::usage(format!("{} is no path that can be used: {error}.", file.display())))
}

/// Verifies an exported file by itself.
pub(crate) fn verify_file(
    out: &Out,
    file: &Path,
    head: Option<&str>,
    key: Option<&str>,
) -> Result<Exit, Failure> {
    let proof = verify_export(file, head)?;
    let is_other =
        key.is_some_and(|key| proof.is_signed != Some(true) || proof.public_key.as_deref() != Some(key));
    let is_ok = proof.verification.ok && !is_other;
    if out.is_json() {
        let mut value = json!(proof.verification);
        value["ok"] = json!(is_ok);
        value["decisions"] = json!(proof.decisions);
        value["skipped"] = json!(proof.skipped);
        value["whole"] = json!(proof.is_whole);
        value["signed"] = json!(proof.is_signed);
        value["public_key"] = json!(proof.public_key);
        out.value(&value)?;
        return Ok(if is_ok { Exit::Done } else { Exit::Refused });
    }
    history::say(out, "The file", &proof.verification)?;
    if proof.verification.ok {
        let whole = if proof.is_whole { "the whole record" } else { "a part of the record" };
        out.line(&format!("It holds {}: {whole}.", counted(proof.decisions, "decision")))?;
        if proof.skipped > 0 {
            let skipped = counted(proof.skipped, "part");
            out.line(&format!("{skipped} of it could not be read when it was written."))?;
        }
        match proof.is_signed {
            Some(_) => out.field("signed by", proof.public_key.as_deref())?,
            None => out.line("It is not signed: compare the head with one that you noted.")?,
        }
        if is_other {
            out.line("It is not signed with the key that you named.")?;
        }
    }
    Ok(if is_ok { Exit::Done } else { Exit::Refused })
}

/// Makes a database of an exported file.
pub(crate) fn import(out: &Out, file: &Path, into: &Path) -> Result<Exit, Failure> {
    let into = absolute(into)?;
    let decisions = import_history(file, &into)?;
    if out.is_json() {
        out.value(&json!({ "path": into, "decisions": decisions }))?;
    } else {
        out.line(&format!("{} imported.", counted(decisions, "decision")))?;
        out.line(&format!("Look at it with: sayso history --db {}", into.display()))?;
    }
    Ok(Exit::Done)
}

/// Prints the head of the record.
pub(crate) async fn head(out: &Out, record: &Record) -> Result<Exit, Failure> {
    let head = match record {
        Record::Host(way) => way.call::<LedgerHead>("history.head", Empty {}).await?,
        Record::File(database) => Offline::open(database)?.head()?,
    };
    if out.is_json() {
        out.value(&json!(head))?;
        return Ok(Exit::Done);
    }
    out.line(&head.hash)?;
    out.field("entry", Some(&head.seq.to_string()))?;
    out.field("signature", head.signature.as_deref())?;
    out.field("key", head.public_key.as_deref())?;
    out.field("not signed", head.unsigned.as_deref())?;
    Ok(Exit::Done)
}

/// Erases a text that is read from standard input, or says what would be erased.
pub(crate) async fn redact(out: &Out, data_dir: &Path, yes: bool) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let mut text = String::new();
    io::stdin().take(LONGEST_SECRET).read_to_string(&mut text)?;
    let found: Redacted = way.call("history.redact", Redact { text, confirm: yes }).await?;
    if out.is_json() {
        out.value(&json!(found))?;
        return Ok(Exit::Done);
    }
    let verb = if yes { "Erased" } else { "Would erase" };
    out.line(&format!(
        "{verb} {} of the record, and {} elsewhere, of {}.",
        counted(found.fields, "content"),
        counted(found.places, "text"),
        counted(found.requests, "request"),
    ))?;
    if found.running > 0 {
        out.line(&format!(
            "It is also in {} that did not end yet and so stays as it is. End that, then do it again.",
            counted(found.running, "request or run")
        ))?;
    }
    for setup in &found.setups {
        out.line(&format!("It is also in a set-up, which you change yourself: {setup}."))?;
    }
    for file in &found.backups {
        out.line(&format!("It is also in {file}, which is left as it is."))?;
    }
    if !yes {
        out.line("Nothing was changed. Erase it with --yes; it cannot be brought back.")?;
    }
    Ok(Exit::Done)
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
