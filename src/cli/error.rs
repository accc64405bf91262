//! The error of a command: an exit status, a code for programs, a text for people.

use std::fmt;
use std::io;
use std::process::ExitCode;

use terrapin_diagnostic::Diagnostic;

/// The exit statuses, as `terrapin --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The query was rejected or stopped, or a snapshot failed its verification.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// An input file is missing, broken or of the wrong kind.
    Input = 3,
    /// The system failed: disk full, address in use, out of threads.
    System = 4,
    /// A file was truncated, overwritten or became unreadable while it was mapped into memory.
    Lost = 5,
    /// Stopped by SIGHUP.
    HungUp = 129,
    /// Stopped by SIGINT, as Ctrl-C sends it.
    Interrupted = 130,
    /// Stopped by SIGTERM.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// The error that ended a command.
#[derive(Debug)]
pub enum CommandError {
    /// A query was rejected or stopped.
    Query {
        /// The query that ran; the positions in `problems` refer to it.
        text: String,
        /// The origin of the query, for people: a file name or `query`.
        origin: String,
        /// The errors of the query.
        problems: Vec<Diagnostic>,
    },
    /// Every other error.
    Other {
        /// The status to exit with.
        exit: Exit,
        /// The stable code of the error, for programs.
        code: &'static str,
        /// The message for people.
        message: String,
    },
    /// The reader closed our output. The command succeeds.
    ClosedPipe,
}

impl CommandError {
    /// Returns the error of a wrong command line that clap cannot detect.
    pub fn usage(message: impl fmt::Display) -> Self {
        CommandError::Other { exit: Exit::Usage, code: "usage", message: message.to_string() }
    }

    /// Returns the error of an input file that is missing, broken or of the wrong kind.
    pub fn input(code: &'static str, message: impl fmt::Display) -> Self {
        CommandError::Other { exit: Exit::Input, code, message: message.to_string() }
    }

    /// Returns the error of a failed system call or a missing resource.
    pub fn system(code: &'static str, message: impl fmt::Display) -> Self {
        CommandError::Other { exit: Exit::System, code, message: message.to_string() }
    }

    /// Returns the error of a failed check.
    pub fn refused(code: &'static str, message: impl fmt::Display) -> Self {
        CommandError::Other { exit: Exit::Refused, code, message: message.to_string() }
    }

    /// Returns the error of a command stopped by a signal.
    pub fn stopped(exit: Exit, message: impl fmt::Display) -> Self {
        CommandError::Other { exit, code: "stopped", message: message.to_string() }
    }

    /// Returns the error of an output that cannot be written or has no reader.
    pub fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            CommandError::ClosedPipe
        } else {
            CommandError::system("output", format!("cannot write the output: {error}"))
        }
    }

    /// Returns the status to exit with.
    pub fn exit(&self) -> Exit {
        match self {
            CommandError::Query { .. } => Exit::Refused,
            CommandError::Other { exit, .. } => *exit,
            CommandError::ClosedPipe => Exit::Done,
        }
    }
}
