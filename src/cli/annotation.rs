//! The options of `terrapin serve` for annotation.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::{CommandError, stdout};
use crate::eval::annotation::{AnnotatedQueue, AnnotationDesk, AnnotationFileError, DeskSettings, LogError};

/// A queue of queries for which people write questions
#[derive(Debug, clap::Args)]
pub struct AnnotationArgs {
    /// File of queries for which people write questions on the page /annotate: JSON lines with `query` and `id`, optionally
    /// `lang`, `context`, `suggestions`. The work is kept next to it, in FILE.annotations.jsonl. Needs --tokens, or a --bind
    /// on this machine
    #[arg(long, value_name = "FILE")]
    annotate: Option<PathBuf>,
    /// Number of people who validate each question; with two or more, their agreement is measured
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=5))]
    annotate_validations: u8,
    /// Seconds that an annotator has an entry before another one may get it
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    annotate_lease: u64,
}

impl AnnotationArgs {
    /// Checks the options and the files without locking them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be used, or if clients of other machines could annotate without a token.
    pub fn check(&self, bind: SocketAddr, has_tokens: bool) -> Result<(), CommandError> {
        let Some(path) = &self.annotate else { return Ok(()) };
        if !has_tokens && !bind.ip().to_canonical().is_loopback() {
            return Err(CommandError::usage(format!(
                "--annotate with --bind {bind} needs --tokens, so that annotators are known: pass a file of tokens, or \
                 --bind 127.0.0.1:{}",
                bind.port()
            )));
        }
        AnnotatedQueue::read(path).map(|_| ()).map_err(unusable)
    }

    /// Opens the queue and locks its state file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be used.
    pub fn open(&self) -> Result<Option<AnnotationDesk>, CommandError> {
        let Some(path) = &self.annotate else { return Ok(None) };
        let lease = Duration::from_secs(self.annotate_lease);
        let settings = DeskSettings { validations: self.annotate_validations, lease };
        let opened = AnnotationDesk::open(path, settings).map_err(unusable)?;
        let queue = path.display();
        if opened.torn > 0 {
            let bytes = opened.torn;
            stdout::tell(&format!(
                "warning: annotations of {queue}: an incomplete last line of {bytes} bytes is removed"
            ));
        }
        if opened.ignored > 0 {
            let ignored = opened.ignored;
            stdout::tell(&format!(
                "warning: annotations of {queue}: {ignored} events are ignored, whose entries are missing or have another query"
            ));
        }
        Ok(Some(opened.desk))
    }
}

/// Returns the error of a queue or its state file.
pub fn unusable(error: AnnotationFileError) -> CommandError {
    match error {
        AnnotationFileError::Log(LogError::Locked(_)) => CommandError::system("annotate", error),
        other => CommandError::input("annotate", other),
    }
}
