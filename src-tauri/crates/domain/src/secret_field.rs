use serde_json::Value;

/// A field that asks for a secret (contract 31): refused in `input` and `question`, which show and store what is typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` asks for a secret, which input and question must not collect; use authorization instead")]
pub struct SecretField(pub String);

const SECRETS: [&[&str]; 11] = [
    &["password"],
    &["passphrase"],
    &["secret"],
    &["api", "key"],
    &["apikey"],
    &["access", "token"],
    &["accesstoken"],
    &["private", "key"],
    &["privatekey"],
    &["pin"],
    &["cvv"],
];

/// The first field of a schema that asks for a secret, by its format or by whole words of its name or title:
/// `max_tokens` and `issue_key` are fine. Fields are looked for at every depth, so that nesting hides none.
pub fn find_secret_field(schema: &Value) -> Option<SecretField> {
    match schema {
        Value::Object(keywords) if is_password(schema) && !keywords.contains_key("properties") => {
            Some(SecretField("password".to_owned()))
        }
        Value::Object(keywords) => keywords.iter().find_map(|(keyword, value)| {
            let named = value.as_object().filter(|_| keyword == "properties").and_then(|fields| {
                fields.iter().find(|(name, field)| is_secret(name) || asks_for_secret(field))
            });
            named.map(|(name, _)| SecretField(name.clone())).or_else(|| find_secret_field(value))
        }),
        Value::Array(list) => list.iter().find_map(find_secret_field),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn asks_for_secret(field: &Value) -> bool {
    is_password(field) || field.get("title").and_then(Value::as_str).is_some_and(is_secret)
}

fn is_password(field: &Value) -> bool {
    field.get("format").and_then(Value::as_str) == Some("password")
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    SECRETS.iter().any(|secret| words.windows(secret.len()).any(|window| window == *secret))
}

/// `userApiKey`, `userAPIKey`, `user-api-key` and `user_api_key` are the same three words; a number is a word.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before: Option<char> = None;
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let starts = before.is_some_and(|before| {
            let lower_follows = rest.peek().is_some_and(|next| next.is_lowercase());
            before.is_numeric() != c.is_numeric()
                || (c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && lower_follows)))
        });
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}
