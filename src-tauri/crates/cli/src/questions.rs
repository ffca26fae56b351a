use sayso_host::dto::RequestDetail;
use serde_json::{Value, json};

/// What a `question` request asks: `data.questions`.
pub(crate) struct Questions(pub(crate) Vec<Question>);

/// One of its questions.
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) options: Vec<String>,
    pub(crate) takes_several: bool,
}

/// What a person typed to a question.
#[derive(Debug, PartialEq)]
pub(crate) enum Reply {
    /// An answer: a text, or several where several can be chosen.
    Answer(Value),
    /// Not one of the options' numbers.
    NoSuchOption,
    /// Nothing.
    Empty,
}

impl Questions {
    /// Of a request that asks any.
    pub(crate) fn of(detail: &RequestDetail) -> Option<Self> {
        if detail.item.kind != "question" {
            return None;
        }
        let data: Value = serde_json::from_str(detail.data.as_deref()?).ok()?;
        let questions: Vec<_> = data.get("questions")?.as_array()?.iter().map(Question::read).collect();
        (!questions.is_empty()).then_some(Self(questions))
    }

    /// The answer that takes the first option of each.
    pub(crate) fn first_options(&self) -> String {
        answer(self.0.iter().map(|question| question.take(question.options.first().cloned())).collect())
    }
}

/// `answer.data` for these answers, as JSON text.
pub(crate) fn answer(answers: Vec<Value>) -> String {
    json!({ "answers": answers }).to_string()
}

impl Question {
    fn read(value: &Value) -> Self {
        let options = value.get("options").and_then(Value::as_array);
        Self {
            text: text_of(value, "question"),
            options: options.into_iter().flatten().map(|option| text_of(option, "label")).collect(),
            takes_several: value.get("multiple").and_then(Value::as_bool).unwrap_or(false),
        }
    }

    fn take(&self, chosen: Option<String>) -> Value {
        let chosen = chosen.unwrap_or_else(|| "yes".to_owned());
        if self.takes_several { json!([chosen]) } else { json!(chosen) }
    }

    /// Reads an option's number, several of them where several can be chosen, or the person's own words.
    pub(crate) fn read_reply(&self, line: &str) -> Reply {
        let line = line.trim();
        if line.is_empty() {
            return Reply::Empty;
        }
        let option = |number: usize| number.checked_sub(1).and_then(|at| self.options.get(at)).cloned();
        let numbers: Result<Vec<usize>, _> =
            line.split([',', ' ']).filter(|part| !part.is_empty()).map(str::parse).collect();
        match numbers {
            Ok(numbers) if !self.options.is_empty() && (self.takes_several || numbers.len() == 1) => {
                match numbers.into_iter().map(option).collect::<Option<Vec<_>>>() {
                    None => Reply::NoSuchOption,
                    Some(chosen) if self.takes_several => Reply::Answer(json!(chosen)),
                    Some(chosen) => Reply::Answer(json!(chosen[0])),
                }
            }
            _ => Reply::Answer(self.take(Some(line.to_owned()))),
        }
    }
}

fn text_of(value: &Value, key: &str) -> String {
    let text = value.as_str().or_else(|| value.get(key).and_then(Value::as_str));
    text.map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_an_options_number_or_the_persons_own_words() {
        let one =
            Question::read(&json!({ "question": "Which?", "options": ["Hello", { "label": "Good day" }] }));
        let several =
            Question::read(&json!({ "question": "Which?", "options": ["a", "b", "c"], "multiple": true }));
        let open = Question::read(&json!("How many?"));
        let check = |question: &Question, line: &str, expected: Reply| {
            assert_eq!(question.read_reply(line), expected, "{line:?}");
        };
        check(&one, " 2 ", Reply::Answer(json!("Good day")));
        check(&one, "Howdy, friend", Reply::Answer(json!("Howdy, friend")));
        check(&one, "3", Reply::NoSuchOption);
        check(&one, "0", Reply::NoSuchOption);
        check(&one, "  ", Reply::Empty);
        check(&several, "1, 3", Reply::Answer(json!(["a", "c"])));
        check(&several, "none", Reply::Answer(json!(["none"])));
        check(&open, "9007199254740993", Reply::Answer(json!("9007199254740993")));
    }
}
