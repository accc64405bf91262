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
        if let Some(event) = last.filter(|event| event != "[DONE]") {
            self.collected.take(event.as_bytes())?;
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
