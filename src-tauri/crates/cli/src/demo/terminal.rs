use std::io::BufRead as _;

use sayso_host::dto::{Decide, RequestDetail};
use serde_json::Value;
use tokio::sync::mpsc;

use super::answers::{Given, yes};
use crate::failure::Failure;
use crate::out::Out;
use crate::questions::{self, Questions, Reply};

/// The longest line that is read.
const LONGEST: usize = 64 * 1024;

/// A person at the terminal, or lines from a pipe.
pub(crate) struct Terminal {
    lines: mpsc::Receiver<String>,
}

impl Terminal {
    /// Begins to read standard input. The thread ends with the input, or with the process.
    pub(crate) fn read() -> std::io::Result<Self> {
        let (to, lines) = mpsc::channel(1);
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let mut input = std::io::stdin().lock();
            loop {
                let mut line = Vec::new();
                let mut limited = std::io::Read::take(&mut input, LONGEST as u64);
                let Ok(1..) = limited.read_until(b'\n', &mut line) else { break };
                if to.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { lines })
    }

    /// Asks for a decision until one is given; none when the input ends, since silence is never a yes.
    pub(crate) async fn ask(&mut self, out: &Out, detail: &RequestDetail) -> Result<Option<Decide>, Failure> {
        match Questions::of(detail) {
            Some(questions) => self.ask_questions(out, detail, &questions).await,
            None => self.ask_approval(out, detail).await,
        }
    }

    async fn ask_approval(&mut self, out: &Out, detail: &RequestDetail) -> Result<Option<Decide>, Failure> {
        loop {
            out.prompt("Type approve, deny or deny:REASON: ")?;
            let Some(line) = self.lines.recv().await else { return Ok(None) };
            match read_decision(&line) {
                Some(given) => return Ok(Some(given.decide(detail))),
                None => out.prompt("Nothing was decided. ")?,
            }
        }
    }

    async fn ask_questions(
        &mut self,
        out: &Out,
        detail: &RequestDetail,
        questions: &Questions,
    ) -> Result<Option<Decide>, Failure> {
        let mut answers: Vec<Value> = Vec::new();
        for (at, question) in questions.0.iter().enumerate() {
            if questions.0.len() > 1 {
                out.prompt(&format!("Question {}. ", at + 1))?;
            }
            loop {
                out.prompt(match (question.options.is_empty(), question.takes_several) {
                    (true, _) => "Type your answer, or deny: ",
                    (false, false) => "Type a number or your own words, or deny: ",
                    (false, true) => "Type numbers such as 1,3 or your own words, or deny: ",
                })?;
                let Some(line) = self.lines.recv().await else { return Ok(None) };
                if let Ok(given) = line.parse::<Given>() {
                    return Ok(Some(given.decide(detail)));
                }
                match question.read_reply(&line) {
                    Reply::Answer(answer) => {
                        answers.push(answer);
                        break;
                    }
                    Reply::NoSuchOption => out.prompt("There is no option with that number. ")?,
                    Reply::Empty => out.prompt("Nothing was sent. ")?,
                }
            }
        }
        Ok(Some(yes(detail, Some(questions::answer(answers)))))
    }
}

/// Whole words only: an empty line decides nothing.
fn read_decision(line: &str) -> Option<Given> {
    match line.trim() {
        "a" | "y" | "yes" => Some(Given::Approve),
        "d" | "n" | "no" => Some(Given::Deny(None)),
        other => other.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_decides() {
        assert_eq!(read_decision("approve\n"), Some(Given::Approve));
        assert_eq!(read_decision("n"), Some(Given::Deny(None)));
        assert_eq!(read_decision("deny: too much"), Some(Given::Deny(Some("too much".to_owned()))));
        for line in ["", "\n", " ", "ok", "approved", "1", "ye"] {
            assert_eq!(read_decision(line), None, "{line:?}");
        }
    }
}
