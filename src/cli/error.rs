//! What ends a command before it is done: an exit status, a code for programs, a text for people.

use std::fmt;
use std::io;
use std::process::ExitCode;

use terrapin_problem::Problem;

/// The exit statuses, as `terrapin --help` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// The query was refused or stopped, or a snapshot did not stand its verification.
    Refused = 1,
    /// The command line was wrong.
    Usage = 2,
    /// A file that was to be read is missing, broken or of another kind.
    Input = 3,
    /// The machine did not give what was needed: a full disk, an address in use.
    System = 4,
    /// A file that was being read in place was cut off, overwritten or became unreadable.
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

/// What ended a command.
#[derive(Debug)]
pub enum Error {
    /// A query was refused or stopped.
    Query {
        /// The query as it was run, which the positions in `problems` refer to.
        text: String,
        /// Where the query came from, for people: a file's name or `query`.
        origin: String,
        /// What was wrong.
        problems: Vec<Problem>,
    },
    /// Anything else.
    Other {
        /// The status to exit with.
        exit: Exit,
        /// A stable name for programs.
        code: &'static str,
        /// What happened, and to what.
        message: String,
    },
    /// Nobody reads our output any more; not an error to anyone.
    ClosedPipe,
}

impl Error {
    /// The command line was wrong in a way that its grammar does not show.
    pub fn usage(message: impl fmt::Display) -> Self {
        Error::Other { exit: Exit::Usage, code: "usage", message: message.to_string() }
    }

    /// A file that was to be read is missing, broken or of another kind.
    pub fn input(code: &'static str, message: impl fmt::Display) -> Self {
        Error::Other { exit: Exit::Input, code, message: message.to_string() }
    }

    /// The machine did not give what was needed.
    pub fn system(code: &'static str, message: impl fmt::Display) -> Self {
        Error::Other { exit: Exit::System, code, message: message.to_string() }
    }

    /// A check came out negative.
    pub fn refused(code: &'static str, message: impl fmt::Display) -> Self {
        Error::Other { exit: Exit::Refused, code, message: message.to_string() }
    }

    /// A signal stopped the command.
    pub fn stopped(exit: Exit, message: impl fmt::Display) -> Self {
        Error::Other { exit, code: "stopped", message: message.to_string() }
    }

    /// The output could not be written, or nobody reads it.
    pub fn output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Error::ClosedPipe
        } else {
            Error::system("output", format!("cannot write the output: {error}"))
        }
    }

    /// The status to exit with.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Query { .. } => Exit::Refused,
            Error::Other { exit, .. } => *exit,
            Error::ClosedPipe => Exit::Done,
        }
    }
}
