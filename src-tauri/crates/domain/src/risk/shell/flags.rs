use super::word::Word;

/// The words behind a command's name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags<'a>(pub(super) &'a [Word]);

impl<'a> Flags<'a> {
    /// Options, up to `--`.
    fn options(self) -> impl Iterator<Item = &'a str> {
        let options = self.0.iter().map(|word| word.text.as_str());
        options.take_while(|text| *text != "--").filter(|text| text.len() > 1 && text.starts_with('-'))
    }

    /// Whether a short option is there, also among others: `-r` in `-fr`.
    pub(super) fn short(self, letter: char) -> bool {
        self.options().any(|text| !text.starts_with("--") && text[1..].contains(letter))
    }

    /// Whether a long option is there, also shortened (as GNU programs allow) or with a value.
    pub(super) fn long(self, name: &str) -> bool {
        self.options().any(|text| {
            let text = text.split('=').next().unwrap_or(text);
            text == name || (text.len() > 4 && text.starts_with("--") && name.starts_with(text))
        })
    }

    pub(super) fn either(self, letter: char, name: &str) -> bool {
        self.short(letter) || self.long(name)
    }

    /// Whether any of the words is exactly this.
    pub(super) fn word(self, text: &str) -> bool {
        self.0.iter().any(|word| word.text == text)
    }

    /// The value of an option: `-o x`, `-ox`, `--output x`, `--output=x`.
    pub(super) fn value(self, letter: char, name: &str) -> Option<&'a str> {
        self.values(letter, name).next()
    }

    /// All values of an option.
    pub(super) fn values<'n>(
        self,
        letter: char,
        name: &'n str,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let words = self.0;
        words.iter().enumerate().filter_map(move |(at, word)| {
            let text = word.text.as_str();
            let next = || words.get(at + 1).map(|word| word.text.as_str());
            if !name.is_empty() && text == name {
                return next();
            }
            if let Some(rest) = text.strip_prefix(name).filter(|_| !name.is_empty()) {
                return rest.strip_prefix('=');
            }
            let cluster = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
            match cluster.find(letter)? {
                end if end + letter.len_utf8() == cluster.len() => next(),
                0 => Some(&cluster[letter.len_utf8()..]),
                _ => None,
            }
        })
    }

    /// What is no option, nor the value of one that takes its value apart.
    pub(super) fn operands(self, valued: &str, long: &[&str]) -> Vec<&'a Word> {
        let mut operands = Vec::new();
        let mut at = 0;
        while let Some(word) = self.0.get(at) {
            match skip(&word.text, valued, long) {
                None if word.text == "--" => {
                    operands.extend(&self.0[at + 1..]);
                    break;
                }
                None => {
                    operands.push(word);
                    at += 1;
                }
                Some(count) => at += count,
            }
        }
        operands
    }

    /// Where the first word stands that is no option.
    pub(super) fn first(self, valued: &str, long: &[&str]) -> usize {
        let mut at = 0;
        while let Some(word) = self.0.get(at) {
            match skip(&word.text, valued, long) {
                None if word.text == "--" => return at + 1,
                None => break,
                Some(count) => at += count,
            }
        }
        at.min(self.0.len())
    }
}

/// How many words an option is.
fn skip(text: &str, valued: &str, long: &[&str]) -> Option<usize> {
    if text == "--" || text == "-" || !text.starts_with('-') {
        return None;
    }
    let apart = match text.starts_with("--") {
        true => long.contains(&text),
        false => text[1..].find(|c| valued.contains(c)).is_some_and(|at| at + 2 == text.len()),
    };
    Some(if apart { 2 } else { 1 })
}
