//! Server-sent events, cut out of the bytes in which they come.

/// Takes bytes in any pieces, and gives the data of each event once its blank line has come. What is left at the end is no
/// event. It looks at each byte once, however long an event is.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// A line feed after this only belongs to the line's end.
    after_return: bool,
    has_begun: bool,
}

impl Events {
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                Some(end) => {
                    self.line.extend_from_slice(&bytes[..end]);
                    self.after_return = bytes[end] == b'\r';
                    bytes = &bytes[end + 1..];
                    events.extend(self.end_line());
                }
                None => {
                    self.line.extend_from_slice(bytes);
                    break;
                }
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let line = line.strip_prefix("\u{feff}".as_bytes()).filter(|_| is_first).unwrap_or(&line);
        if line.is_empty() {
            return self.data.take();
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        if &line[..colon] == b"data" {
            let value = line.get(colon + 1..).unwrap_or_default();
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        for size in 1..=text.len() {
            let mut events = Events::default();
            let found: Vec<_> = text.as_bytes().chunks(size).flat_map(|piece| events.feed(piece)).collect();
            let found: Vec<_> = found.iter().map(|data| str::from_utf8(data).unwrap()).collect();
            assert_eq!(found, expected, "{text:?} by {size}");
        }
    }

    #[test]
    fn events_are_found_however_their_bytes_are_cut() {
        check("data: a\n\n", &["a"]);
        check("data:a\n\ndata:  b\n\n", &["a", " b"]);
        check("event: x\r\ndata: ä\r\ndata: ☃\r\n\r\nid: 1\r\n\r\n", &["ä\n☃"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("\u{feff}data: a\n\n\u{feff}data: b\n\n", &["a"]);
        check(": comment\n\n\ndata\n\ndatabase: x\n\n", &[""]);
        check("data: whole\n\ndata: half\n", &["whole"]);
    }
}
