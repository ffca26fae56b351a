use sayso_domain::Time;
use sayso_domain::text::visible_line;
use serde_json::{Map, Value};

use crate::dto::{LONGEST_UNDO, QuietHours, Settings};

const MODIFIERS: [&str; 4] = ["Ctrl", "Alt", "Shift", "Super"];
const NAMED_KEYS: [&str; 7] = ["Space", "Insert", "Home", "End", "PageUp", "PageDown", "Pause"];
const MOST_SHORTCUTS: usize = 100;

impl Settings {
    /// From what was stored, also by another version: what it lacks or has wrong is as for a new person.
    pub(crate) fn read(text: &str) -> Self {
        let stored: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let mut settings = Self::default();
        for (name, value) in stored {
            if let Ok(changed) = settings.changed_by(Map::from_iter([(name, value)])) {
                settings = changed;
            }
        }
        settings
    }

    /// With these in place of those of the same name. The error says what cannot be.
    pub(crate) fn changed_by(&self, changes: Map<String, Value>) -> Result<Self, String> {
        let Ok(Value::Object(mut all)) = serde_json::to_value(self) else { return Ok(self.clone()) };
        for (name, value) in changes {
            if !all.contains_key(&name) {
                return Err(format!("There is no setting `{name}`. Nothing was changed."));
            }
            all.insert(name.clone(), value);
            // One after the other, so that the error can name it.
            let read = serde_json::from_value::<Self>(Value::Object(all.clone()));
            read.map_err(|error| format!("`{name}` cannot be that: {error}. Nothing was changed."))?;
        }
        let changed: Self = serde_json::from_value(Value::Object(all))
            .map_err(|error| format!("The settings cannot be read: {error}. Nothing was changed."))?;
        changed.checked()
    }

    fn checked(mut self) -> Result<Self, String> {
        let check =
            |fits: bool, what: &str| if fits { Ok(()) } else { Err(format!("{what}. Nothing was changed.")) };
        check((80..=200).contains(&self.text_size), "`text_size` is 80 to 200 percent")?;
        check(self.reminder_minutes <= 60, "`reminder_minutes` is 60 at most, or 0 for none")?;
        check(self.undo_seconds <= LONGEST_UNDO, "`undo_seconds` is 10 at most, or 0 for none")?;
        if let Some(QuietHours { from, to }) = &self.quiet_hours {
            check(
                minute_of_day(from).is_some() && minute_of_day(to).is_some(),
                "`quiet_hours` go from one time of day to another, such as 22:00 and 07:00",
            )?;
            check(from != to, "`quiet_hours` begin and end at different times")?;
        }
        if let Some(until) = &self.paused_until {
            let until: Time = until
                .parse()
                .map_err(|_| "`paused_until` is a moment in RFC 3339. Nothing was changed.".to_owned())?;
            self.paused_until = Some(until.to_string());
        }
        if let Some(shortcut) = &self.global_shortcut {
            let normal = normal_shortcut(shortcut);
            check(
                normal.is_some(),
                "`global_shortcut` is Ctrl, Alt or Super with a letter, a digit or a function key, such as Ctrl+Alt+S",
            )?;
            self.global_shortcut = normal;
        }
        let plain = |text: &str, most: usize| {
            (1..=most).contains(&text.chars().count()) && visible_line(text) == text
        };
        check(
            self.shortcuts.len() <= MOST_SHORTCUTS
                && self.shortcuts.iter().all(|(action, key)| plain(action, 64) && plain(key, 32)),
            "`shortcuts` give each action one key",
        )?;
        check(
            self.retention.days != Some(0) && self.retention.megabytes != Some(0),
            "`retention` keeps one day and one megabyte at least",
        )?;
        Ok(self)
    }
}

impl QuietHours {
    /// The minutes of the day at which it begins and ends, where both can be read.
    pub fn minutes(&self) -> Option<(u16, u16)> {
        Some((minute_of_day(&self.from)?, minute_of_day(&self.to)?))
    }
}

fn minute_of_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str, below: u16| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|number| digits && *number < below)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

/// The shortcut in one way of writing, if it is one that takes no key away from ordinary typing.
fn normal_shortcut(text: &str) -> Option<String> {
    let mut parts: Vec<&str> = text.split('+').map(str::trim).collect();
    let key = normal_key(parts.pop()?)?;
    let mut held = Vec::new();
    for part in parts {
        let name = match part.to_ascii_lowercase().as_str() {
            "control" => "Ctrl".to_owned(),
            "meta" => "Super".to_owned(),
            name => (*MODIFIERS.iter().find(|known| known.eq_ignore_ascii_case(name))?).to_owned(),
        };
        if held.contains(&name) {
            return None;
        }
        held.push(name);
    }
    let is_function_key = key.len() > 1 && key.starts_with('F');
    if held.iter().all(|name| name == "Shift") && !is_function_key {
        return None;
    }
    let mut names: Vec<_> = MODIFIERS
        .iter()
        .filter(|name| held.iter().any(|held| held == *name))
        .map(ToString::to_string)
        .collect();
    names.push(key);
    Some(names.join("+"))
}

fn normal_key(text: &str) -> Option<String> {
    if let Some(named) = NAMED_KEYS.iter().find(|named| named.eq_ignore_ascii_case(text)) {
        return Some((*named).to_owned());
    }
    let upper = text.to_ascii_uppercase();
    let is_one = upper.len() == 1 && upper.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let function = upper.strip_prefix('F').and_then(|number| number.parse::<u8>().ok());
    let is_function =
        function.is_some_and(|number| (1..=12).contains(&number) && upper == format!("F{number}"));
    (is_one || is_function).then_some(upper)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_an_older_app_stored_still_reads_and_what_is_wrong_in_it_costs_itself_alone() {
        let old = Settings::read(r#"{"appearance":"dark","notifications":false,"close_to_tray":false}"#);
        assert_eq!(old.appearance, crate::dto::Appearance::Dark);
        assert_eq!((old.notifications, old.close_to_tray, old.undo_seconds), (false, false, 3));
        let odd = Settings::read(r#"{"text_size":9000,"sound":false,"from_the_future":1,"density":"airy"}"#);
        assert_eq!(odd, Settings { sound: false, ..Settings::default() });
        assert_eq!(Settings::read("no JSON"), Settings::default());
    }

    #[test]
    fn a_change_leaves_the_rest_and_what_cannot_be_is_refused() {
        let settings = Settings { private: true, ..Settings::default() };
        let changed =
            settings.changed_by(changes(json!({ "text_size": 150, "paused_until": null }))).unwrap();
        assert_eq!(changed, Settings { text_size: 150, ..settings.clone() });
        for wrong in [
            json!({ "no_such": 1 }),
            json!({ "text_size": 79 }),
            json!({ "text_size": 201 }),
            json!({ "text_size": 1.5 }),
            json!({ "sound": "yes" }),
            json!({ "sound": null }),
            json!({ "density": "airy" }),
            json!({ "reminder_minutes": 61 }),
            json!({ "undo_seconds": 11 }),
            json!({ "undo_seconds": -1 }),
            json!({ "quiet_hours": { "from": "22:00" } }),
            json!({ "quiet_hours": { "from": "22:00", "to": "24:00" } }),
            json!({ "quiet_hours": { "from": "7:00", "to": "08:00" } }),
            json!({ "quiet_hours": { "from": "07:00", "to": "07:00" } }),
            json!({ "quiet_hours": { "from": "22:00", "to": "07:00", "on": "Monday" } }),
            json!({ "paused_until": "tomorrow" }),
            json!({ "global_shortcut": "S" }),
            json!({ "shortcuts": { "approve": "" } }),
            json!({ "shortcuts": { "app\u{200b}rove": "a" } }),
            json!({ "retention": { "days": 0, "megabytes": null } }),
        ] {
            let refused = settings.changed_by(changes(wrong.clone())).unwrap_err();
            assert!(refused.ends_with("Nothing was changed."), "{wrong}: {refused}");
        }
    }

    #[test]
    fn a_shortcut_has_one_way_of_writing_and_takes_no_plain_key() {
        for (text, expected) in [
            ("Ctrl+Alt+S", Some("Ctrl+Alt+S")),
            ("alt + control + s", Some("Ctrl+Alt+S")),
            ("meta+shift+pageup", Some("Shift+Super+PageUp")),
            ("F9", Some("F9")),
            ("Shift+F12", Some("Shift+F12")),
            ("Ctrl+7", Some("Ctrl+7")),
            ("F", None),
            ("F13", None),
            ("Shift+A", None),
            ("Ctrl+Ctrl+A", None),
            ("Ctrl+", None),
            ("Ctrl+AB", None),
            ("Hyper+A", None),
            ("", None),
        ] {
            assert_eq!(normal_shortcut(text).as_deref(), expected, "{text}");
        }
    }
}
