use sayso_domain::text::{cut, visible_line};
use sayso_host::dto::RequestItem;

const SOURCE: usize = 60;
const PROMPT: usize = 240;
const SUMMARY: usize = 160;

/// What a notification says: who asks, and for what. Never an answer, and never the words of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The title.
    pub(super) summary: String,
    /// The text, without markup.
    pub(super) body: String,
}

impl Said {
    pub(super) fn of(item: &RequestItem) -> Self {
        let prompt = one_line(&item.prompt, PROMPT);
        let summary = one_line(&item.summary, SUMMARY);
        let body = if summary.is_empty() || prompt.contains(&summary) {
            prompt
        } else {
            format!("{prompt}\n{summary}")
        };
        Self { summary: format!("{} asks", one_line(&item.source, SOURCE)), body }
    }

    /// The text for a service that reads markup in it.
    pub(super) fn marked_up(&self) -> String {
        let mut text = String::with_capacity(self.body.len());
        for c in self.body.chars() {
            match c {
                '&' => text.push_str("&amp;"),
                '<' => text.push_str("&lt;"),
                '>' => text.push_str("&gt;"),
                '"' => text.push_str("&quot;"),
                '\'' => text.push_str("&#39;"),
                other => text.push(other),
            }
        }
        text
    }
}

/// Text from outside on one line, with what would hide made visible and what is left out marked.
fn one_line(text: &str, max: usize) -> String {
    visible_line(&cut(text.trim(), max))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(source: &str, prompt: &str, summary: &str) -> RequestItem {
        RequestItem {
            key: "0198c0de-0000-7000-8000-000000000001".to_owned(),
            kind: "approval".to_owned(),
            prompt: prompt.to_owned(),
            summary: summary.to_owned(),
            source: source.to_owned(),
            run: None,
            tool: None,
            state: "pending".to_owned(),
            received_at: String::new(),
            expires_at: None,
            digest: String::new(),
            risk: sayso_host::dto::Risk::Low,
            snoozed_until: None,
            group: String::new(),
            plain: true,
            request: None,
        }
    }

    #[test]
    fn it_says_who_asks_and_for_what() {
        let said = Said::of(&item("demo", "Run a command?", "rm -r build"));
        assert_eq!(said.summary, "demo asks");
        assert_eq!(said.body, "Run a command?\nrm -r build");
        let said = Said::of(&item("demo", "Run rm -r build?", "rm -r build"));
        assert_eq!(said.body, "Run rm -r build?", "nothing is said twice");
    }

    #[test]
    fn what_hides_is_shown_and_what_is_cut_is_marked() {
        let said = Said::of(&item("a\u{202e}b", "one\ntwo\u{200b}", ""));
        assert_eq!(said.summary, "a‹U+202E›b asks");
        assert_eq!(said.body, "one⏎two‹U+200B›");
        let said = Said::of(&item("a", &"x".repeat(1_000_000), ""));
        assert!(said.body.ends_with("… (999760 more characters)"), "{}", said.body);
    }

    #[test]
    fn markup_from_outside_stays_text() {
        let said = Said::of(&item("a", "<b>Yes</b> & <a href='x'>\"no\"</a>", ""));
        let expected = "&lt;b&gt;Yes&lt;/b&gt; &amp; &lt;a href=&#39;x&#39;&gt;&quot;no&quot;&lt;/a&gt;";
        assert_eq!(said.marked_up(), expected);
    }
}
