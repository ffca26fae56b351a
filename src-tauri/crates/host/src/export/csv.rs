use std::io::Write;

use sayso_domain::text::visible;
use sayso_store::ledger::{self, Record, Selection};
use sayso_store::{Conn, Progress, StoreError};

use super::words::Words;
use super::{Export, Written, of_output};

const COLUMNS: [&str; 28] = [
    "decided_at",
    "outcome",
    "cause",
    "decided_by",
    "surface",
    "source",
    "source_kind",
    "kind",
    "tool",
    "prompt",
    "arguments",
    "edited_arguments",
    "data",
    "url",
    "folder",
    "notes",
    "answer",
    "reason",
    "received_at",
    "waited_ms",
    "delivered_at",
    "delivery",
    "output",
    "is_error",
    "run_status",
    "run",
    "request",
    "hash",
];

/// RFC 4180, a line for each decision, oldest first. What a spreadsheet would take for a formula begins with `'`.
pub(super) fn write(
    conn: &Conn,
    export: &Export,
    selection: &Selection,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<Written, StoreError> {
    let mut decisions = 0;
    out.write_all(line(COLUMNS.map(str::to_owned)).as_bytes()).map_err(of_output)?;
    let skipped = ledger::records(conn, selection, export.damage, progress, |record| {
        decisions += 1;
        out.write_all(line(cells(&record)).as_bytes()).map_err(of_output)
    })?;
    Ok(Written { decisions, skipped, is_signed: false })
}

fn cells(record: &Record) -> [String; COLUMNS.len()] {
    let words = Words(record);
    COLUMNS.map(|column| match column {
        "decided_at" => words.decided_at(),
        "waited_ms" => words.waited_ms(),
        "delivered_at" => words.delivery().0,
        "delivery" => words.delivery().1.to_owned(),
        "output" => words.effect().0.to_owned(),
        "is_error" => words.effect().1.to_owned(),
        "run_status" => words.run_end().to_owned(),
        "hash" => record.decision.hash.to_string(),
        field => words.field(field).to_owned(),
    })
}

fn line<const N: usize>(cells: [String; N]) -> String {
    let mut line = cells.map(|text| cell(&text)).join(",");
    line.push_str("\r\n");
    line
}

/// Always in quotes, so that no text of anybody's ends a cell.
fn cell(text: &str) -> String {
    let text = visible(text);
    let first = text.trim_start_matches([' ', '"', '\'', '\n']).chars().next();
    // Wide forms are read like plain ones by some.
    let is_formula = first.is_some_and(|c| "=+-@\t|%＝＋－＠".contains(c));
    let mark = if is_formula { "'" } else { "" };
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_run_is_defused_and_nothing_hides_or_breaks_out() {
        for (text, expected) in [
            ("make test", "\"make test\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            (" =1+1", "\"' =1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("＝1", "\"'＝1\""),
            ("\"=1\"", "\"'\"\"=1\"\"\""),
            ("a\nb,c", "\"a\nb,c\""),
            ("a\u{202e}b\r", "\"a‹U+202E›b‹U+000D›\""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
