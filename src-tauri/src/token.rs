use uuid::Uuid;

/// A name that no other program can guess: 244 random bits.
pub(crate) fn token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}
