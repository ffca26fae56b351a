use std::io::Write;

use sayso_agent::system_time as now;
use sayso_domain::text::{Segment, segments};
use sayso_store::ledger::{self, Record, Selection};
use sayso_store::{Conn, Progress, StoreError};

use super::words::Words;
use super::{Export, Written, of_output};

const STYLE: &str = include_str!("report.css");

/// A page that needs nothing else: no script, nothing from elsewhere, no text that is not escaped.
pub(super) fn write(
    conn: &Conn,
    export: &Export,
    selection: &Selection,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<Written, StoreError> {
    let mut decisions = 0;
    let mut put = |text: &str| out.write_all(text.as_bytes()).map_err(of_output);
    put(&begin(export))?;
    let skipped = ledger::records(conn, selection, export.damage, progress, |record| {
        decisions += 1;
        put(&article(&record))
    })?;
    put(&end(decisions, skipped))?;
    Ok(Written { decisions, skipped, is_signed: false })
}

fn begin(export: &Export) -> String {
    let conditions = export.words();
    let filter = if conditions.is_empty() {
        "All decisions".to_owned()
    } else {
        let each = conditions.iter().map(|(name, value)| format!("{} {}", shown(name), shown(value)));
        format!("Decisions with {}", each.collect::<Vec<_>>().join(", "))
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Decisions</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>Decisions</h1>\n\
         <p>{filter}, oldest first. Written by Sayso on {}.</p>\n</header>\n<main>\n",
        now()
    )
}

fn end(decisions: u64, skipped: u64) -> String {
    let count = match decisions {
        1 => "1 decision.".to_owned(),
        count => format!("{count} decisions."),
    };
    let skipped = match skipped {
        0 => String::new(),
        skipped => format!(" Entries that could not be read and are not in here: {skipped}."),
    };
    format!("</main>\n<footer><p>{count}{skipped}</p></footer>\n</body>\n</html>\n")
}

fn article(record: &Record) -> String {
    let words = Words(record);
    let outcome = words.field("outcome");
    let (delivered_at, delivery) = words.delivery();
    let (output, is_error) = words.effect();
    let edited = if words.was_edited() { ", edited" } else { "" };
    let mut html = format!(
        "<article class=\"{}\">\n<h2>{}</h2>\n<p class=\"outcome\"><strong>{}{edited}</strong> by {}{} on <time>{}</time></p>\n<dl>\n",
        shown(outcome),
        shown(words.field("prompt")),
        shown(outcome),
        shown(words.field("decided_by")),
        match words.field("surface") {
            "" => String::new(),
            surface => format!(" ({})", shown(surface)),
        },
        words.decided_at(),
    );
    let output_name = if is_error == "true" { "Error" } else { "Output" };
    for (name, text, is_block) in [
        ("Your words", words.field("reason"), true),
        ("From", words.field("source"), false),
        ("Tool", words.field("tool"), false),
        ("Arguments", words.field("arguments"), true),
        ("As you changed them", words.field("edited_arguments"), true),
        ("Change", words.field("diff"), true),
        ("Data", words.field("data"), true),
        ("Address", words.field("url"), false),
        ("Folder", words.field("folder"), false),
        ("Notes", words.field("notes"), false),
        ("Answer", words.field("answer"), true),
        ("Asked", words.field("received_at"), false),
        ("Delivered", delivered_at.as_str(), false),
        ("Delivery", delivery, false),
        (output_name, output, true),
        ("The run ended", words.run_end(), false),
        ("Run", words.field("run"), false),
        ("Request", words.field("request"), false),
    ] {
        if !text.is_empty() {
            let tag = if is_block { "pre" } else { "span" };
            html.push_str(&format!("<dt>{name}</dt><dd><{tag}>{}</{tag}></dd>\n", shown(text)));
        }
    }
    html.push_str(&format!(
        "<dt>Entry</dt><dd><code>{}</code></dd>\n</dl>\n</article>\n",
        record.decision.hash
    ));
    html
}

/// Text as text: nothing in it is HTML, and nothing hides.
fn shown(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for segment in segments(text) {
        match segment {
            Segment::Plain(text) => escape(&mut html, text),
            Segment::Hidden(c) => mark(&mut html, &format!("U+{:04X}", u32::from(c))),
            Segment::Odd(c, None) => mark(&mut html, &format!("U+{:04X}", u32::from(c))),
            Segment::Odd(c, Some(like)) => mark(&mut html, &format!("U+{:04X} like {like}", u32::from(c))),
        }
    }
    html
}

fn mark(html: &mut String, what: &str) {
    html.push_str("<mark>");
    escape(html, what);
    html.push_str("</mark>");
}

fn escape(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_html_and_nothing_hides() {
        assert_eq!(shown("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
        assert_eq!(shown("a\u{202e}b\u{0}"), "a<mark>U+202E</mark>b<mark>U+0000</mark>");
        assert_eq!(shown("p\u{430}ypal"), "p<mark>U+0430 like a</mark>ypal");
    }

    #[test]
    fn the_page_needs_no_script_and_nothing_from_elsewhere() {
        for what in ["url(", "@import", "<script", "http:", "https:"] {
            assert!(!STYLE.contains(what), "{what}");
        }
    }
}
