//! What is written into memory, up to a length.

use std::io::{self, Write};

/// Takes so many bytes; what would be more is refused.
#[derive(Debug)]
pub struct Bounded {
    /// What was written.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub full: bool,
    most: usize,
}

impl Bounded {
    /// For at most so many bytes.
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
