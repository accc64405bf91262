//! Counts bytes and lines on their way to the XML parser, and limits how much the parser collects for a part that never
//! ends.

use crate::limits::MAX_ELEMENT;
use std::io::{self, BufRead, Read};

/// A reader that knows its position.
pub(super) struct Meter<R> {
    inner: R,
    /// Number of bytes read so far.
    pub(super) bytes: u64,
    /// Number of line breaks so far.
    pub(super) lines: u64,
    /// Number of bytes that may be read before the next [`renew`](Self::renew).
    allowance: usize,
}

impl<R> Meter<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, bytes: 0, lines: 0, allowance: MAX_ELEMENT }
    }

    /// Resets the allowance at the start of a new part.
    pub(super) fn renew(&mut self) {
        self.allowance = MAX_ELEMENT;
    }
}

impl<R: BufRead> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.fill_buf()?.read(buffer)?;
        self.consume(got);
        Ok(got)
    }
}

impl<R: BufRead> BufRead for Meter<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.allowance == 0 {
            return Err(io::Error::other(format!("a part of more than {MAX_ELEMENT} bytes")));
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The bytes from the last `fill_buf` are still in the buffer, so this does not read.
        if let Some(taken) = self.inner.fill_buf().ok().and_then(|buffer| buffer.get(..amount)) {
            self.lines += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.inner.consume(amount);
        self.bytes += amount as u64;
        self.allowance = self.allowance.saturating_sub(amount);
    }
}
