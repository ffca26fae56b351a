use std::io::{self, IsTerminal as _, Write as _};

use sayso_domain::text::{visible, visible_line};
use serde_json::Value;

/// Standard output: words for a person, or one JSON value a line.
pub(crate) struct Out {
    json: bool,
    color: bool,
}

/// How a piece of text stands out on a terminal that shows colour.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    Strong,
    Quiet,
}

impl Out {
    pub(crate) fn new(json: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|value| value != "dumb");
        Self { json, color: wanted && !json && io::stdout().is_terminal() }
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A JSON value on a line of its own.
    pub(crate) fn value(&self, value: &Value) -> io::Result<()> {
        writeln!(io::stdout(), "{value}")
    }

    /// A line for a person; nothing with `--json`.
    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(io::stdout(), "{text}") }
    }

    /// What a person is to answer now: on stdout, or on stderr where stdout is for JSON.
    pub(crate) fn prompt(&self, text: &str) -> io::Result<()> {
        if self.json {
            write!(io::stderr(), "{text}")
        } else {
            write!(io::stdout(), "{text}")?;
            io::stdout().flush()
        }
    }

    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Strong => "1",
            Style::Quiet => "2",
        };
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// `name` and a value on one line; nothing where there is no value.
    pub(crate) fn field(&self, name: &str, value: Option<&str>) -> io::Result<()> {
        let Some(value) = value else { return Ok(()) };
        let name = self.styled(Style::Quiet, &format!("{name:<10}"));
        self.line(&format!("  {name} {}", visible_line(value)))
    }

    /// A heading and text from outside on as many lines as it has. Each begins with a bar, so that no text can pass for
    /// a heading of ours.
    pub(crate) fn block(&self, name: &str, text: &str) -> io::Result<()> {
        self.line(&format!("  {}", self.styled(Style::Quiet, name)))?;
        let bar = self.styled(Style::Quiet, "│");
        visible(text).split('\n').try_for_each(|line| self.line(&format!("  {bar} {line}")))
    }

    /// Rows in columns as wide as their widest cell. Cells are made visible on one line, and cut with a mark.
    pub(crate) fn table<const N: usize>(&self, head: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
        let shown = |row: &[String; N]| -> [String; N] { row.each_ref().map(|cell| cell_text(cell)) };
        let rows: Vec<_> = rows.iter().map(shown).collect();
        let width =
            |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(head[at].len());
        let widths: [usize; N] = std::array::from_fn(width);
        let line = |row: [&str; N]| {
            let cells = row.iter().zip(widths).map(|(cell, width)| {
                let pad = width.saturating_sub(cell.chars().count());
                format!("{cell}{}", " ".repeat(pad))
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        self.line(&self.styled(Style::Quiet, &line(head)))?;
        rows.iter().try_for_each(|row| self.line(&line(row.each_ref().map(String::as_str))))
    }
}

fn cell_text(text: &str) -> String {
    const WIDEST: usize = 100;
    sayso_domain::text::cut(&visible_line(text), WIDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_shows_newlines_and_hidden_characters_and_says_what_was_cut() {
        assert_eq!(cell_text("a\nb\u{202e}c"), "a⏎b‹U+202E›c");
        assert!(cell_text(&"x".repeat(300)).ends_with("… (200 more characters)"));
    }
}
