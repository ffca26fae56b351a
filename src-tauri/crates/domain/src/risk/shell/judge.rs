use std::ops::Range;

use super::super::RiskLevel;
use super::super::note::{Notes, RiskCode};
use super::super::place::{Folders, Place};
use super::flags::Flags;
use super::script::{Found, Given, Input, Reading, Script};
use super::variables::{Picked, Variables};
use super::word::{Word, expand, join};
use super::wrapper::{self, Inner};
use super::{UNSEEN, flow, program, script, split};
use RiskLevel::{High, Medium};

/// How many commands are judged for one request, with all combinations of variables and all texts inside of texts.
pub(super) const COMMANDS: usize = 6000;
/// How long a text is read, in bytes.
const LONGEST: usize = 64 * 1024;
/// How deep a text inside a text is followed, and a program that runs a program.
const DEPTH: usize = 6;
const WRAPPERS: usize = 12;

/// Judges one text.
#[derive(Debug)]
pub(super) struct Judge<'a> {
    pub(super) notes: Notes,
    pub(super) folders: Folders,
    pub(super) effects: Effects,
    pub(super) variables: Variables,
    depth: usize,
    left: &'a mut usize,
}

/// What commands did of which the rest of the text makes something.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Files that were downloaded or written here: their names without folders, and what was written, if that is plain.
    pub(super) made: Vec<(String, Option<String>)>,
    /// Files that were run.
    pub(super) ran: Vec<String>,
    /// All that commands do.
    pub(super) does: Does,
}

/// What a command does with what flows through it.
#[derive(Clone, Debug, Default)]
pub(super) struct Does {
    /// Gets something from the network.
    pub(super) fetches: bool,
    /// Sends its input or its arguments somewhere.
    pub(super) sends: bool,
    /// Sends them whatever they are, as an upload does.
    pub(super) uploads: bool,
    /// Gives out a secret.
    pub(super) secret: bool,
    /// Turns an encoding back.
    pub(super) decodes: bool,
    /// Runs what it reads.
    pub(super) runs_input: bool,
    /// Runs a text that cannot be seen.
    pub(super) runs_unseen: bool,
    /// What it prints, if that is plain to see.
    pub(super) says: Option<String>,
}

/// A command as it is run.
#[derive(Clone, Debug)]
pub(super) struct Call<'c> {
    /// Its name without folders.
    pub(super) program: &'c str,
    /// The words behind it.
    pub(super) words: &'c [Word],
    /// Its place in the text.
    pub(super) part: Range<usize>,
    /// The texts that it reads: here-documents and here-strings.
    pub(super) input: &'c [String],
}

impl<'c> Call<'c> {
    pub(super) fn flags(&self) -> Flags<'c> {
        Flags(self.words)
    }
}

impl Does {
    pub(super) fn add(&mut self, other: &Does) {
        self.fetches |= other.fetches;
        self.sends |= other.sends;
        self.uploads |= other.uploads;
        self.secret |= other.secret;
        self.decodes |= other.decodes;
        self.runs_input |= other.runs_input;
        self.runs_unseen |= other.runs_unseen;
        if self.says.is_none() {
            self.says.clone_from(&other.says);
        }
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(folders: Folders, left: &'a mut usize) -> Self {
        Self {
            notes: Notes::default(),
            folders,
            effects: Effects::default(),
            variables: Variables::default(),
            depth: DEPTH,
            left,
        }
    }

    pub(super) fn into_notes(self) -> Notes {
        self.notes
    }

    pub(super) fn note(&mut self, code: RiskCode, level: RiskLevel, text: &'static str, part: &Range<usize>) {
        self.notes.add(code, level, text, Some(part.clone()));
    }

    /// Judges a whole text.
    pub(super) fn text(&mut self, text: &str) {
        let cut = text.len().min(LONGEST);
        let cut = (0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let whole = 0..text.len();
        if text.len() > cut {
            self.note(
                RiskCode::NotFullyRead,
                High,
                "Too long to be judged: its end was not read.",
                &(cut..text.len()),
            );
        }
        let text = &text[..cut];
        if text.chars().any(|c| crate::text::is_hidden(c) && (c != UNSEEN || self.depth == DEPTH)) {
            self.note(
                RiskCode::HidesWhatItDoes,
                High,
                "Holds characters that do not show as what they are.",
                &whole,
            );
        }
        let script = script::read(text);
        self.note_reading(&script, &whole);
        self.assign(text, &script);
        let does: Vec<_> = script.commands.iter().map(|found| self.found(text, found)).collect();
        for (_, name) in &script.written {
            self.written(text, name);
        }
        flow::judge(self, text, &script, &does);
    }

    fn note_reading(&mut self, script: &Script, whole: &Range<usize>) {
        match script.read {
            Reading::Whole => {}
            Reading::Broken => {
                let text = "Parts of it could not be read as a command: what they do is a guess.";
                self.note(RiskCode::NotFullyRead, Medium, text, whole);
            }
            Reading::TooMuch => {
                self.note(
                    RiskCode::NotFullyRead,
                    High,
                    "Too long or too deep to be judged: not all of it was read.",
                    whole,
                );
            }
        }
    }

    fn assign(&mut self, text: &str, script: &Script) {
        for (name, given) in &script.assigned {
            match given {
                Given::Unseen => self.variables.may_hold(name, UNSEEN.to_string()),
                Given::Word(span) => {
                    let source = text.get(span.clone()).unwrap_or_default();
                    let values: Vec<_> = self
                        .variables
                        .combinations(source)
                        .iter()
                        .map(|picked| value_of(source, picked))
                        .collect();
                    for value in values {
                        self.variables.may_hold(name, value);
                    }
                }
            }
        }
        for found in &script.commands {
            let words: Vec<_> = found.words.iter().filter_map(|span| text.get(span.clone())).collect();
            match words.as_slice() {
                ["read" | "mapfile" | "readarray", rest @ ..] => {
                    for name in rest.iter().filter(|word| !word.starts_with('-')) {
                        self.variables.may_hold(name, UNSEEN.to_string());
                    }
                }
                ["printf", "-v", name, ..] => self.variables.may_hold(name, UNSEEN.to_string()),
                ["set", "--", rest @ ..] => {
                    let all = rest.join(" ");
                    self.variables.may_hold("@", value_of(&all, &Picked::default()));
                    self.variables.may_hold("*", value_of(&all, &Picked::default()));
                }
                _ => {}
            }
        }
    }

    /// Judges a command of a text, in each of the forms that its variables allow.
    fn found(&mut self, text: &str, found: &Found) -> Does {
        let mut does = Does::default();
        let source = text.get(found.span.clone()).unwrap_or_default();
        let variables = std::mem::take(&mut self.variables);
        for picked in variables.combinations(source) {
            if *self.left == 0 {
                let whole = 0..text.len();
                self.note(
                    RiskCode::NotFullyRead,
                    High,
                    "Too long or too deep to be judged: not all of it was read.",
                    &whole,
                );
                break;
            }
            *self.left -= 1;
            let sources = found.words.iter().filter_map(|span| text.get(span.clone()));
            let words: Vec<Word> = sources.flat_map(|source| expand(source, &picked)).collect();
            let input: Vec<_> = found.inputs.iter().map(|input| input_text(input, text, &picked)).collect();
            let names_file = found.inputs.iter().any(|input| matches!(input, Input::File(_)));
            for (name, span) in &found.set {
                let value = value_of(text.get(span.clone()).unwrap_or_default(), &picked);
                program::environment::judge(self, name, &value, &found.span);
            }
            if names_file {
                for name in
                    found.inputs.iter().zip(&input).filter(|(input, _)| matches!(input, Input::File(_)))
                {
                    self.read_file(name.1, &found.span, &mut does);
                }
            }
            let input: Vec<_> = found
                .inputs
                .iter()
                .zip(input)
                .filter(|(input, _)| !matches!(input, Input::File(_)))
                .map(|(_, text)| text)
                .collect();
            let now = self.words(&words, &found.span, &input);
            does.add(&now);
            if let Some(there) = words.get(1).filter(|_| matches!(words[0].text.as_str(), "cd" | "pushd")) {
                if found.leads {
                    self.folders.change_to(&there.text)
                } else {
                    self.folders.may_change_to(&there.text)
                }
            } else if words.len() == 1 && words[0].text == "cd" {
                self.folders.may_change_to("~");
            }
        }
        self.variables = variables;
        self.effects.does.add(&does);
        does
    }

    /// Judges a command, and what it runs in turn.
    pub(super) fn words(&mut self, words: &[Word], part: &Range<usize>, input: &[String]) -> Does {
        let mut does = Does::default();
        let mut words = words.to_vec();
        for _ in 0..WRAPPERS {
            let set = words.iter().take_while(|word| wrapper::is_assignment(&word.text)).count();
            words.drain(..set);
            let Some((first, rest)) = words.split_first() else { return does };
            let name = program::name_of(first);
            self.note_name(first, rest, part, &mut does);
            let call = Call { program: &name, words: rest, part: part.clone(), input };
            let Some(inner) = wrapper::unwrap(&name, rest) else {
                program::judge(self, &call, &mut does);
                return does;
            };
            program::system::judge_wrapper(self, &call);
            match inner {
                Inner::Nothing => return does,
                Inner::Text(text) => {
                    does.add(&self.inner(&text, part));
                    return does;
                }
                Inner::Words(inner) => words = inner,
            }
        }
        self.note(RiskCode::HidesWhatItDoes, High, "Is wrapped in too many programs to see what runs.", part);
        does
    }

    /// Judges a text inside of the text.
    pub(super) fn inner(&mut self, text: &str, part: &Range<usize>) -> Does {
        if self.depth == 0 {
            self.note(
                RiskCode::NotFullyRead,
                High,
                "Too long or too deep to be judged: not all of it was read.",
                part,
            );
            return Does::default();
        }
        if text.trim_matches(|c: char| c == UNSEEN || c.is_whitespace()).is_empty() {
            let unseen = text.contains(UNSEEN);
            if unseen {
                self.note(
                    RiskCode::HidesWhatItDoes,
                    Medium,
                    "Runs a text that is made up only when it runs.",
                    part,
                );
            }
            return Does { runs_unseen: unseen, ..Does::default() };
        }
        *self.left = self.left.saturating_sub(1 + text.len() / 256);
        let mut judge = Judge {
            notes: Notes::default(),
            folders: self.folders.clone(),
            effects: Effects::default(),
            variables: Variables::default(),
            depth: self.depth - 1,
            left: self.left,
        };
        judge.text(text);
        let Effects { made, ran, does } = judge.effects;
        let notes = judge.notes;
        self.notes.take(notes, Some(part.clone()));
        self.effects.made.extend(made);
        self.effects.ran.extend(ran);
        Does { runs_unseen: does.runs_unseen, ..does }
    }

    fn note_name(&mut self, first: &Word, rest: &[Word], part: &Range<usize>, does: &mut Does) {
        let name = &first.text;
        let test = matches!(name.as_str(), "[" | "[[");
        if first.coded
            || first.broken
            || (first.pattern && !test)
            || name.chars().any(|c| !c.is_ascii() && c != UNSEEN)
        {
            self.note(
                RiskCode::HidesWhatItDoes,
                High,
                "Writes a program's name so that it is hard to read.",
                part,
            );
        } else if first.is_unseen() {
            let grave = rest.iter().any(|word| {
                matches!(word.text.as_str(), "-rf" | "-fr" | "-r" | "-R" | "-Rf" | "--recursive" | "--force")
                    || (word.text.contains('/') && self.folders.place(&word.text) >= Place::Outside)
            });
            let level = if grave { High } else { Medium };
            self.note(
                RiskCode::HidesWhatItDoes,
                level,
                "What it runs cannot be seen: the program's name is a variable or made up.",
                part,
            );
            does.runs_unseen = true;
        }
    }
}

fn value_of(source: &str, picked: &Picked<'_>) -> String {
    let words: Vec<_> = split::words(source).into_iter().flat_map(|word| expand(word, picked)).collect();
    join(&words)
}

fn input_text(input: &Input, text: &str, picked: &Picked<'_>) -> String {
    match input {
        Input::Document(span) => text.get(span.clone()).unwrap_or_default().to_owned(),
        Input::Word(span) | Input::File(span) => {
            join(&expand(text.get(span.clone()).unwrap_or_default(), picked))
        }
    }
}
