//! Output that is too long: the head and the tail are kept, and the cut is marked.

use std::collections::VecDeque;

/// Collects bytes and keeps at most `limit` of them: the first half and the last half.
pub(crate) struct HeadTail {
    limit: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut: u64,
}

impl HeadTail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, head: Vec::new(), tail: VecDeque::new(), cut: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let to_head = bytes.len().min((self.limit / 2).saturating_sub(self.head.len()));
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.limit - self.limit / 2);
        self.tail.drain(..over);
        self.cut += over as u64;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The text, with marks where bytes were cut or were no UTF-8.
    pub(crate) fn into_text(mut self) -> String {
        let tail = self.tail.make_contiguous();
        if self.cut == 0 {
            let whole = [self.head.as_slice(), tail].concat();
            return lossy(&whole);
        }
        // Neither end of the cut may lie within a character.
        let head = &self.head[..boundary(&self.head)];
        let start = tail.iter().take(3).take_while(|byte| is_continuation(**byte)).count();
        let cut = self.cut + (self.head.len() - head.len() + start) as u64;
        lossy_with(&[head, &tail[start..]], |parts| {
            format!("{}\n[… {cut} bytes cut here …]\n{}", parts[0], parts[1])
        })
    }
}

/// At most `limit` bytes of a text from its beginning; what was cut is marked with `more`, which says how to get it.
pub(crate) fn head(text: &str, limit: usize, more: &str) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = boundary(&text.as_bytes()[..limit]);
    format!("{}\n[… {} bytes cut here{more} …]", &text[..end], text.len() - end)
}

/// Text from bytes; where some are no UTF-8 it says so.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    lossy_with(&[bytes], |parts| parts.concat())
}

fn lossy_with(parts: &[&[u8]], join: impl FnOnce(&[String]) -> String) -> String {
    let is_text = parts.iter().all(|part| str::from_utf8(part).is_ok());
    let texts: Vec<_> = parts.iter().map(|part| String::from_utf8_lossy(part).into_owned()).collect();
    let text = join(&texts);
    if is_text { text } else { format!("{text}\n[some bytes are not UTF-8 text and show as \u{fffd}]") }
}

/// The length of the bytes without a character that is cut at their end.
fn boundary(bytes: &[u8]) -> usize {
    let mut end = bytes.len();
    for back in 1..=bytes.len().min(4) {
        let byte = bytes[bytes.len() - back];
        if is_continuation(byte) {
            continue;
        }
        let needs = match byte {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            _ => 1,
        };
        if needs > back {
            end = bytes.len() - back;
        }
        break;
    }
    end
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(limit: usize, chunks: &[&[u8]]) -> String {
        let mut output = HeadTail::new(limit);
        chunks.iter().for_each(|chunk| output.push(chunk));
        output.into_text()
    }

    #[test]
    fn short_output_is_whole() {
        assert_eq!(kept(10, &[b"12345", b"67890"]), "1234567890");
        assert_eq!(kept(10, &[]), "");
    }

    #[test]
    fn the_middle_is_cut_and_counted() {
        assert_eq!(kept(4, &[b"ab", b"cdefgh", b"ij"]), "ab\n[… 6 bytes cut here …]\nij");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let text = "ä".repeat(10);
        let text = kept(6, &[text.as_bytes()]);
        assert_eq!(text, "ä\n[… 16 bytes cut here …]\nä");
        assert_eq!(head("äöü", 3, ""), "ä\n[… 4 bytes cut here …]");
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert!(kept(10, &[b"a\xff"]).contains("not UTF-8"));
    }
}
