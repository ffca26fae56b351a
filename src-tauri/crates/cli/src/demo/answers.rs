use std::collections::VecDeque;
use std::str::FromStr;

use sayso_host::dto::{Decide, RequestDetail};

use crate::questions::Questions;

/// One answer: `approve`, `deny` or `deny:REASON`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Approve,
    Deny(Option<String>),
}

/// Answers in the order in which they are given, comma separated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerList(pub(crate) VecDeque<Given>);

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "approve" => Ok(Self::Approve),
            "deny" => Ok(Self::Deny(None)),
            other => match other.strip_prefix("deny:") {
                Some(reason) => {
                    Ok(Self::Deny(Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty())))
                }
                None => Err(format!("`{other}` is none of approve, deny, deny:REASON")),
            },
        }
    }
}

impl FromStr for AnswerList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self(VecDeque::new()));
        }
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Given {
    /// The decision about a request. To approve a question is to take its first option.
    pub(crate) fn decide(self, detail: &RequestDetail) -> Decide {
        match self {
            Self::Approve => yes(detail, Questions::of(detail).map(|questions| questions.first_options())),
            Self::Deny(reason) => Decide {
                key: detail.item.key.clone(),
                ok: false,
                data: None,
                reason,
                digest: Some(detail.item.digest.clone()),
            },
        }
    }
}

/// A yes, with what was chosen: JSON text.
pub(crate) fn yes(detail: &RequestDetail, data: Option<String>) -> Decide {
    let digest = Some(detail.item.digest.clone());
    Decide { key: detail.item.key.clone(), ok: true, data, reason: None, digest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_approve_deny_and_deny_with_a_reason() {
        let check = |text: &str, expected: &str| {
            let said = text.parse::<AnswerList>().map(|list| format!("{:?}", list.0));
            let said = said.unwrap_or_else(|error| format!("error: {error}"));
            assert_eq!(said, expected, "{text:?}");
        };
        check("", "[]");
        check("approve", "[Approve]");
        check("approve, deny,deny:over budget", r#"[Approve, Deny(None), Deny(Some("over budget"))]"#);
        check("deny:a: b", r#"[Deny(Some("a: b"))]"#);
        check("deny:", "[Deny(None)]");
        check("approve,", "error: `` is none of approve, deny, deny:REASON");
        check("yes", "error: `yes` is none of approve, deny, deny:REASON");
    }
}
