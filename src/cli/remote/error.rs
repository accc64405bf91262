//! Converts the errors of transfers to errors of commands.

use terrapin_remote::TransferError as RemoteError;

use super::super::{CommandError, open};
use crate::snapshot;

/// Converts an error of a transfer to the error of a command.
pub fn error(error: RemoteError) -> CommandError {
    match error {
        RemoteError::Address { .. } => CommandError::usage(error),
        RemoteError::Absent { .. } | RemoteError::Storage { .. } | RemoteError::Length { .. } => {
            CommandError::input("storage", error)
        }
        RemoteError::Other { .. } => CommandError::refused("snapshot-differs", error),
        RemoteError::Snapshot(damaged @ snapshot::Error::Damaged { .. }) => {
            CommandError::refused("snapshot-damaged", damaged)
        }
        RemoteError::Snapshot(other) => open::error(other),
        other => CommandError::system("output", other),
    }
}
