//! A writer into memory with a maximum length.

use std::io::{self, Write};

/// A writer that accepts a limited number of bytes and refuses any more.
#[derive(Debug)]
pub struct Bounded {
    /// The written bytes.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub full: bool,
    most: usize,
}

impl Bounded {
    /// Creates a writer for at most `most` bytes.
    pub fn new(most: usize) -> Bounded {
        Bounded { bytes: Vec::new(), full: false, most }
    }
}

impl Write for Bounded {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > self.most {
            self.full = true;
            return Err(io::Error::other("the answer is too long"));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
