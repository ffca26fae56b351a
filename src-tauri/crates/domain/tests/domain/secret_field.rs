use sayso_domain::{SecretField, find_secret_field};
use serde_json::{Value, json};

fn schema(name: &str) -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}, (name): {"type": "string"}}})
}

#[test]
fn contract_31_fields_that_ask_for_a_secret_are_found() {
    for name in [
        "password",
        "Password",
        "db_password",
        "password1",
        "user-passphrase",
        "client_secret",
        "secret",
        "api_key",
        "apiKey",
        "APIKey",
        "userAPIKey",
        "API key",
        "apikey",
        "OPENAI_API_KEY",
        "access_token",
        "accessToken",
        "private.key",
        "ssh private key",
        "pin",
        "PIN",
        "PINCode",
        "card_pin",
        "cvv",
        "CVV2",
    ] {
        assert_eq!(find_secret_field(&schema(name)), Some(SecretField(name.to_owned())), "{name}");
    }
}

#[test]
fn contract_31_other_words_are_fine() {
    for name in [
        "max_tokens",
        "issue_key",
        "token_count",
        "access",
        "key",
        "pinned",
        "spinner",
        "opinion",
        "shipping",
        "secretary",
        "apikeyless",
        "keyPrivate",
        "monkey",
        "passwordless",
        "",
    ] {
        assert_eq!(find_secret_field(&schema(name)), None, "{name}");
    }
}

#[test]
fn contract_31_format_title_and_nesting_hide_nothing() {
    let found = |schema: Value| find_secret_field(&schema).map(|SecretField(name)| name);
    assert_eq!(found(json!({"properties": {"a": {"format": "password"}}})).as_deref(), Some("a"));
    assert_eq!(found(json!({"properties": {"a": {"title": "Your API key"}}})).as_deref(), Some("a"));
    assert_eq!(found(json!({"properties": {"a": {"properties": {"pin": {}}}}})).as_deref(), Some("pin"));
    assert_eq!(found(json!({"allOf": [{"properties": {"cvv": {}}}]})).as_deref(), Some("cvv"));
    assert_eq!(found(json!({"type": "string", "format": "password"})).as_deref(), Some("password"));
    assert_eq!(
        found(json!({"questions": [{"question": "?", "format": "password"}]})).as_deref(),
        Some("password")
    );
    assert_eq!(found(json!({"properties": {"format": {"type": "string"}}})), None);
    assert_eq!(found(json!({"properties": {"a": {"format": "email", "title": "Address"}}})), None);
    assert_eq!(found(json!({"title": "Reset password", "properties": {"a": {}}})), None);
    assert_eq!(found(Value::Null), None);
}
