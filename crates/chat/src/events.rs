//! Reads lines of a stream of server-sent events, independent of packet boundaries.

/// Maximum bytes of a line.
const LONGEST: usize = 1 << 20;

/// A reader of lines that buffers an incomplete line.
#[derive(Debug, Default)]
pub struct EventLineReader {
    begun: Vec<u8>,
}

/// A line is longer than the maximum.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl EventLineReader {
    /// Takes received bytes and returns the data of each complete event. Comments, event names and ids are skipped.
    ///
    /// # Errors
    /// Returns an error if a line is too long.
    pub fn take(&mut self, piece: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut events = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.begun.len() + part.len() > LONGEST {
                return Err(TooLong);
            }
            self.begun.extend_from_slice(part);
            if part.ends_with(b"\n") {
                events.extend(data(&self.begun));
                self.begun.clear();
            }
        }
        Ok(events)
    }

    /// Returns the data of a last line without a line end, which some servers send.
    pub fn last(&self) -> Option<String> {
        data(&self.begun)
    }
}

fn data(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    let data = text.strip_prefix("data:")?.trim();
    (!data.is_empty()).then(|| data.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_any_pieces() {
        let text = ": hello\r\nevent: x\r\ndata: {\"a\": \"\u{e9}\"}\r\n\r\ndata:[DONE]\n\ndata: end";
        for size in 1..text.len() {
            let mut lines = EventLineReader::default();
            let mut events = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                events.extend(lines.take(piece).unwrap());
            }
            assert_eq!(events, ["{\"a\": \"\u{e9}\"}", "[DONE]"]);
            assert_eq!(lines.last().as_deref(), Some("end"));
        }
        assert_eq!(EventLineReader::default().take(&vec![b'x'; LONGEST + 1]), Err(TooLong));
    }
}
