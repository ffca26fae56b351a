use serde_json::Value;

/// A field that asks for a secret (contract 31): refused in `input` and `question`, which show and store what is typed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` asks for a secret, which input and question must not collect; use authorization instead")]
pub struct SecretField(pub String);

const SECRETS: [&[&str]; 9] = [
    &["password"],
    &["passphrase"],
    &["secret"],
    &["api", "key"],
    &["apikey"],
    &["access", "token"],
    &["private", "key"],
    &["pin"],
    &["cvv"],
];

/// The first field of a flat object schema that asks for a secret, by its format or by whole words of its name:
/// `max_tokens` and `issue_key` are fine.
pub fn find_secret_field(schema: &Value) -> Option<SecretField> {
    let properties = schema.get("properties")?.as_object()?;
    let found = properties.iter().find(|(name, field)| {
        field.get("format").and_then(Value::as_str) == Some("password")
            || is_secret(name)
            || field.get("title").and_then(Value::as_str).is_some_and(is_secret)
    });
    found.map(|(name, _)| SecretField(name.clone()))
}

fn is_secret(name: &str) -> bool {
    let words = words(name);
    SECRETS.iter().any(|secret| words.windows(secret.len()).any(|window| window == *secret))
}

/// `userApiKey`, `user-api-key` and `user_api_key` are the same three words.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (after_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            if let Some(last) = words.last_mut() {
                last.extend(c.to_lowercase());
            }
        }
        after_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
