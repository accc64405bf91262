//! Buffered standard output that distinguishes a closed pipe from a full disk.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::CommandError;
use crate::base::untrusted;

/// Standard output.
pub struct StdoutWriter {
    out: BufWriter<StdoutLock<'static>>,
    failed: Option<io::Error>,
    stop: Arc<AtomicBool>,
}

impl StdoutWriter {
    /// Opens standard output; `stop` is set when writing fails.
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        StdoutWriter { out: BufWriter::with_capacity(64 << 10, io::stdout().lock()), failed: None, stop }
    }

    /// Writes the rest of the buffer. Returns the first error of any write.
    pub fn finish(mut self) -> Result<(), CommandError> {
        let _ = self.flush();
        self.failed.map_or(Ok(()), |error| Err(CommandError::output(error)))
    }

    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.stop.store(true, Ordering::Relaxed);
                self.failed.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl Write for StdoutWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.note(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.note(result)
    }
}

/// Prints a text.
pub fn print(text: &str) -> Result<(), CommandError> {
    let mut out = StdoutWriter::new(Arc::default());
    let _ = out.write_all(text.as_bytes());
    out.finish()
}

/// Prints a value as one line of JSON, with escapes for all control characters.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), CommandError> {
    let text = serde_json::to_string(value).map_err(|e| CommandError::system("output", e))?;
    print(&format!("{}\n", untrusted::json(&text)))
}

/// Writes a warning or note to standard error. A closed standard error is ignored.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", untrusted::lines(line));
}
