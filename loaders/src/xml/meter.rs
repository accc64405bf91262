//! Counts bytes and lines on their way to the XML parser, and keeps it from collecting without end what never closes.

use crate::limits::MAX_ELEMENT;
use std::io::{self, BufRead, Read};

/// A reader that knows where it is.
pub(super) struct Meter<R> {
    inner: R,
    /// Bytes so far.
    pub(super) bytes: u64,
    /// Line breaks so far.
    pub(super) lines: u64,
    /// Bytes until it refuses to go on.
    allowance: usize,
}

impl<R> Meter<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, bytes: 0, lines: 0, allowance: MAX_ELEMENT }
    }

    /// Something new begins: allows it as much as all before.
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
        // What was just looked at is still in the buffer, so this does not read.
        if let Some(taken) = self.inner.fill_buf().ok().and_then(|buffer| buffer.get(..amount)) {
            self.lines += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.inner.consume(amount);
        self.bytes += amount as u64;
        self.allowance = self.allowance.saturating_sub(amount);
    }
}
