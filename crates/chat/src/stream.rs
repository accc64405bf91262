//! A reply that comes in pieces, bounded while it comes.

use crate::events::Lines;
use crate::reply::Collected;
use crate::{Error, Kind, Reply};

/// Bytes that a piece of a word may have around it: names and numbers.
const AROUND: usize = 256;

/// A stream of server-sent events, read as it comes.
pub struct Stream {
    lines: Lines,
    collected: Collected,
    came: usize,
    most: usize,
    /// Whether it said that it is done.
    is_done: bool,
}

impl Stream {
    /// One whose text may have so many bytes.
    pub fn new(bytes: usize) -> Stream {
        let (lines, collected) = (Lines::default(), Collected::new(bytes));
        Stream { lines, collected, came: 0, most: bytes.saturating_mul(AROUND), is_done: false }
    }

    /// Takes what came; whether that is enough: it says that it is done, or has as much as it may.
    ///
    /// # Errors
    /// It is no reply, or does not end.
    pub fn take(&mut self, piece: &[u8]) -> Result<bool, Error> {
        self.came += piece.len();
        let events = self.lines.take(piece).map_err(|_| Error::new(Kind::Broken, "a line of its reply has no end"))?;
        for event in events {
            if event == "[DONE]" {
                self.is_done = true;
                return Ok(true);
            }
            self.collected.take(event.as_bytes())?;
        }
        // One that never ends is left there.
        if self.collected.is_full() {
            return Ok(true);
        }
        if self.came > self.most {
            return Err(Error::new(Kind::Broken, format!("it sent {} KiB and did not end", self.came >> 10)));
        }
        Ok(false)
    }

    /// The reply, once there is no more or enough.
    ///
    /// # Errors
    /// There is none in what came.
    pub fn finish(mut self) -> Result<Reply, Error> {
        // Nothing counts behind its end.
        let last = if self.is_done || self.collected.is_full() { None } else { self.lines.last() };
        if let Some(event) = last.as_ref().filter(|event| *event != "[DONE]") {
            self.collected.take(event.as_bytes())?;
        } else if last.is_some() {
            self.is_done = true;
        }
        // Half an answer looks like a whole one.
        if !self.is_done && !self.collected.is_ended() && !self.collected.is_full() {
            return Err(Error::new(Kind::Unreachable, "its reply broke off before it ended"));
        }
        self.collected.finish()
    }
}

/// A reply that is one object, whose text may have so many bytes.
///
/// # Errors
/// It is none.
pub fn whole(object: &[u8], bytes: usize) -> Result<Reply, Error> {
    let mut collected = Collected::new(bytes);
    collected.take(object)?;
    collected.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_breaks_off_is_no_reply() {
        let said = "data: {\"choices\": [{\"delta\": {\"content\": \"node;out;\"}}]}\n\n";
        let ended = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}";
        let read = |text: &str| {
            let mut stream = Stream::new(100);
            stream.take(text.as_bytes()).and_then(|_| stream.finish())
        };
        for end in ["data: [DONE]\n\n", "data: [DONE]", ended, &format!("{ended}\n\n")] {
            assert_eq!(read(&format!("{said}{end}")).unwrap().text, "node;out;", "{end}");
        }
        for end in ["", ": still there\n\n", "data: {\"choices\": []}\n\n"] {
            assert_eq!(read(&format!("{said}{end}")).unwrap_err().kind, Kind::Unreachable, "{end}");
        }
        // One that is longer than it may be is cut, not broken off.
        assert!(read(&said.repeat(20)).unwrap().is_cut);
    }
}
