use sayso_domain::Time;

use super::desktop::Skills;
use crate::glance::{Glance, Offer};

const MINUTE: i64 = 60_000;

/// What a notification says and offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) title: String,
    /// The text, without markup.
    pub(super) body: String,
    pub(super) offer: Offer,
}

/// How much may be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// Who asks, and for what.
    Open,
    /// Only that a request waits: others may look at the screen.
    Private,
}

impl Said {
    /// Of one request; with the time that is left, where it reminds of the deadline.
    pub(super) fn of(glance: &Glance, openness: Openness, skills: Skills, left: Option<&str>) -> Self {
        let title = match openness {
            Openness::Open => format!("{} asks", glance.source),
            Openness::Private => "A request waits".to_owned(),
        };
        let title = match left {
            Some(left) => format!("{title} · {left}"),
            None => title,
        };
        match openness {
            Openness::Private => Self { title, body: String::new(), offer: Offer::Nothing },
            // Where there is no room for the text, nobody has read it.
            Openness::Open if !skills.body => Self { title, body: String::new(), offer: Offer::Nothing },
            Openness::Open => Self { title, body: glance.lines.join("\n"), offer: glance.offer },
        }
    }

    /// Of many at once; `more` than those that have notifications of their own.
    pub(super) fn of_many(count: usize, more: bool) -> Self {
        let title = match (count, more) {
            (1, true) => "1 more request waits".to_owned(),
            (1, false) => "A request waits".to_owned(),
            (_, true) => format!("{count} more requests wait"),
            (_, false) => format!("{count} requests wait"),
        };
        Self { title, body: String::new(), offer: Offer::Nothing }
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

/// How much time is left, in words.
pub(super) fn time_left(deadline: Time, now: Time) -> String {
    match (deadline.as_millis() - now.as_millis() + MINUTE / 2) / MINUTE {
        ..=0 => "under a minute left".to_owned(),
        1 => "1 minute left".to_owned(),
        minutes => format!("{minutes} minutes left"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glance::tests::approval;

    const ALL: Skills = Skills { actions: true, body: true, markup: true };

    fn glance(prompt: &str) -> Glance {
        Glance::of(&approval(prompt)).unwrap()
    }

    #[test]
    fn it_says_who_asks_and_for_what() {
        let said = Said::of(&glance("Run rm -r build?"), Openness::Open, ALL, None);
        let expected = ("demo asks", "Run rm -r build?", Offer::ApproveAndDeny);
        assert_eq!((said.title.as_str(), said.body.as_str(), said.offer), expected);
        let said = Said::of(&glance("Run it?"), Openness::Open, ALL, Some("1 minute left"));
        assert_eq!(said.title, "demo asks · 1 minute left");
        let said = Said::of(&glance("Run it?"), Openness::Open, Skills { body: false, ..ALL }, None);
        assert_eq!((said.body.as_str(), said.offer), ("", Offer::Nothing), "what is not read is not decided");
    }

    #[test]
    fn in_private_it_says_that_a_request_waits_and_offers_nothing() {
        let said = Said::of(&glance("Run rm -r build?"), Openness::Private, ALL, Some("5 minutes left"));
        let expected = Said {
            title: "A request waits · 5 minutes left".to_owned(),
            body: String::new(),
            offer: Offer::Nothing,
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn many_are_counted() {
        let titles =
            [(1, true), (1, false), (7, true), (7, false)].map(|(n, more)| Said::of_many(n, more).title);
        let expected = ["1 more request waits", "A request waits", "7 more requests wait", "7 requests wait"];
        assert_eq!(titles, expected);
    }

    #[test]
    fn time_is_said_in_whole_minutes() {
        let left = |seconds: i64| time_left(Time::from_millis(seconds * 1000), Time::from_millis(0));
        assert_eq!(
            [left(300), left(299), left(80), left(20), left(-5)],
            [
                "5 minutes left",
                "5 minutes left",
                "1 minute left",
                "under a minute left",
                "under a minute left"
            ]
        );
    }

    #[test]
    fn markup_from_outside_stays_text() {
        let said = Said::of(&glance("<b>Yes</b> & <a href='x'>\"no\"</a>"), Openness::Open, ALL, None);
        let expected = "&lt;b&gt;Yes&lt;/b&gt; &amp; &lt;a href=&#39;x&#39;&gt;&quot;no&quot;&lt;/a&gt;";
        assert_eq!(said.marked_up(), expected);
    }
}
