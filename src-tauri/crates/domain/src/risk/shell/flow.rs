//! What flows from one command to another: through pipes, substitutions, variables and files.

use std::ops::Range;

use super::super::RiskLevel::{High, Medium};
use super::super::note::RiskCode;
use super::judge::{Does, Judge};
use super::script::Script;

/// Judges what the commands of a text do together.
pub(super) fn judge(judge: &mut Judge<'_>, text: &str, script: &Script, does: &[Does]) {
    let whole = 0..text.len();
    let within = |span: &Range<usize>| {
        let first = script.commands.partition_point(|command| command.span.start < span.start);
        let inside = script.commands[first..].iter().zip(&does[first..]);
        let inside = inside.take_while(|(command, _)| command.span.start < span.end);
        let mut all = Does::default();
        inside.filter(|(command, _)| command.span.end <= span.end).for_each(|(_, does)| all.add(does));
        all
    };
    for stages in &script.pipes {
        let mut before = Does::default();
        for (at, stage) in stages.iter().enumerate() {
            let now = within(stage);
            if at > 0 {
                piped(judge, &before, &now, &(stages[0].start..stage.end));
            }
            before.add(&Does { says: None, runs_input: false, ..now.clone() });
            before.says = now.says;
        }
    }
    for (command, own) in script.commands.iter().zip(does) {
        if own.sends || own.uploads {
            let inner = within(&command.span);
            if inner.secret {
                note_sent(judge, &command.span);
            }
        }
    }
    fork_bombs(judge, text, script);
    together(judge, &whole);
}

fn piped(judge: &mut Judge<'_>, before: &Does, now: &Does, part: &Range<usize>) {
    if now.runs_input {
        if before.fetches {
            judge.note(RiskCode::PipesDownloadIntoShell, High, "Runs what it downloads, unread.", part);
        } else if before.decodes {
            judge.note(RiskCode::HidesWhatItDoes, High, "Decodes a text and runs it.", part);
        } else if let Some(said) = &before.says {
            let does = judge.inner(said, part);
            judge.effects.does.add(&does);
        } else {
            judge.note(
                RiskCode::HidesWhatItDoes,
                Medium,
                "Runs a text that is made up only when it runs.",
                part,
            );
        }
    }
    if before.secret && (now.sends || now.uploads) {
        note_sent(judge, part);
    }
}

fn note_sent(judge: &mut Judge<'_>, part: &Range<usize>) {
    judge.note(RiskCode::SendsSecrets, High, "Sends secrets over the network.", part);
}

/// A function that starts itself again and again.
fn fork_bombs(judge: &mut Judge<'_>, text: &str, script: &Script) {
    for (name, body) in &script.functions {
        let own = |span: &Range<usize>| text.get(span.clone()).is_some_and(|word| word == name);
        let calls = script
            .commands
            .iter()
            .filter(|command| body.start <= command.span.start && command.span.end <= body.end);
        let calls = calls.filter(|command| command.words.first().is_some_and(own)).count();
        let multiplies = calls > 1 || text.get(body.clone()).is_some_and(|body| body.contains('&'));
        if calls > 0 && multiplies {
            judge.note(
                RiskCode::ChangesSystem,
                High,
                "Starts itself again and again until the machine stands still.",
                body,
            );
        }
    }
}

/// What is clear only from the whole: a file that is downloaded and run, a secret that is read and something uploaded.
fn together(judge: &mut Judge<'_>, whole: &Range<usize>) {
    let does = judge.effects.does.clone();
    if does.runs_unseen && does.fetches {
        judge.note(RiskCode::PipesDownloadIntoShell, High, "Runs what it downloads, unread.", whole);
    }
    if does.runs_unseen && does.decodes {
        judge.note(RiskCode::HidesWhatItDoes, High, "Decodes a text and runs it.", whole);
    }
    if does.secret && does.uploads {
        note_sent(judge, whole);
    }
    let made = std::mem::take(&mut judge.effects.made);
    let mut said = Vec::new();
    for (name, text) in &made {
        if !judge.effects.ran.contains(name) {
            continue;
        }
        match text {
            None => {
                judge.note(RiskCode::PipesDownloadIntoShell, High, "Runs what it downloads, unread.", whole)
            }
            Some(text) => said.push(text.clone()),
        }
    }
    for text in said {
        judge.inner(&text, whole);
    }
    judge.effects.made = made;
}
