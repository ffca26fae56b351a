use super::UNSEEN;
use super::word::{Word, unescape};

/// What `echo` or `printf` says.
pub(super) fn spoken(program: &str, words: &[Word]) -> String {
    match program {
        "printf" => printed(words),
        _ => {
            let options = words
                .iter()
                .take_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-en" | "-ne" | "-E"));
            let count = options.count();
            let text = super::word::join(&words[count..]);
            match words[..count].iter().any(|word| word.text.contains('e')) {
                true => unescape(&text).0,
                false => text,
            }
        }
    }
}

fn printed(words: &[Word]) -> String {
    let words = if words.first().is_some_and(|word| word.text == "--") { &words[1..] } else { words };
    let Some((format, values)) = words.split_first() else { return String::new() };
    let mut values = values.iter();
    let (format, _) = unescape(&format.text);
    let mut text = String::new();
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let end = rest.find(|c| c.is_ascii_alphabetic() || *c == '%');
        match end {
            Some('%') => text.push('%'),
            Some('s' | 'q') => text.extend(values.next().map(|word| word.text.as_str())),
            Some('b') => text.extend(values.next().map(|word| unescape(&word.text).0)),
            Some(_) | None => text.push(UNSEEN),
        }
    }
    for word in values {
        text.push(' ');
        text.push_str(&word.text);
    }
    text
}
