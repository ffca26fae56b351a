use std::fmt::Write as _;

/// An id as one segment of a path: it is the asker's own text, so that anything may be in it.
pub(crate) fn segment(id: &str) -> String {
    id.bytes().fold(String::new(), |mut path, byte| {
        if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
            path.push(byte.into());
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
        path
    })
}
