//! Between columns and the domain's types. What cannot be read as what it must be is a damaged database, never a guess.

use std::fmt::Display;
use std::str::FromStr;

use rusqlite::Row;
use sayso_domain::{Digest, Time};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::StoreError;

/// A text that an id or a name is parsed from.
pub(crate) fn parsed<T: FromStr<Err: Display>>(row: &Row<'_>, column: &str) -> Result<T, StoreError> {
    parse(&row.get::<_, String>(column)?, column)
}

/// The same where the column may be empty.
pub(crate) fn parsed_opt<T: FromStr<Err: Display>>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, StoreError> {
    row.get::<_, Option<String>>(column)?.map(|text| parse(&text, column)).transpose()
}

fn parse<T: FromStr<Err: Display>>(text: &str, column: &str) -> Result<T, StoreError> {
    text.parse().map_err(|error| StoreError::damaged(format_args!("{column}: {error}")))
}

/// A name that one of our enums knows.
pub(crate) fn named<T>(
    row: &Row<'_>,
    column: &str,
    from_name: fn(&str) -> Option<T>,
) -> Result<T, StoreError> {
    named_opt(row, column, from_name)?.ok_or_else(|| StoreError::damaged(format_args!("{column}: empty")))
}

/// The same where the column may be empty.
pub(crate) fn named_opt<T>(
    row: &Row<'_>,
    column: &str,
    from_name: fn(&str) -> Option<T>,
) -> Result<Option<T>, StoreError> {
    let Some(name) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    let known = from_name(&name);
    known.map(Some).ok_or_else(|| StoreError::damaged(format_args!("{column}: unknown name `{name}`")))
}

/// Milliseconds since 1970 UTC.
pub(crate) fn time(row: &Row<'_>, column: &str) -> Result<Time, StoreError> {
    Ok(Time::from_millis(row.get(column)?))
}

/// The same where the column may be empty.
pub(crate) fn time_opt(row: &Row<'_>, column: &str) -> Result<Option<Time>, StoreError> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Time::from_millis))
}

/// 32 bytes.
pub(crate) fn digest(row: &Row<'_>, column: &str) -> Result<Digest, StoreError> {
    Ok(Digest(row.get(column)?))
}

/// JSON text of a type. What we wrote we read, however deep: it came through readers that have a limit.
pub(crate) fn json<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, StoreError> {
    let mut from = serde_json::Deserializer::from_str(text);
    from.disable_recursion_limit();
    let read = T::deserialize(&mut from).and_then(|value| from.end().map(|()| value));
    read.map_err(|error| StoreError::damaged(format_args!("{what}: {error}")))
}

/// The JSON text of a value that must be one.
pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Sql(error.to_string()))
}

/// Whether a text is JSON at all, for columns that hold what a caller sends.
pub(crate) fn check_json(text: &str, what: &str) -> Result<(), StoreError> {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(StoreError::Sql(format!("{what} is no JSON: {error}"))),
    }
}

/// A count as SQLite can hold it.
pub(crate) fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
