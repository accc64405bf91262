//! Resolves the short names of snapshots by a signed index.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use terrapin_remote::{IndexError, IndexedSnapshot, SnapshotIndex};

use super::super::CommandError;
use super::PullArgs;
use super::error;
use crate::snapshot::hex;

/// The address of the project's index and its public key. A release sets both when it is built.
const WELL_KNOWN: (Option<&str>, Option<&str>) =
    (option_env!("TERRAPIN_RELEASE_INDEX"), option_env!("TERRAPIN_RELEASE_INDEX_KEY"));

/// Returns the snapshot with the short name, or `None` if an address is given.
pub(super) fn find(args: &PullArgs) -> Result<Option<IndexedSnapshot>, CommandError> {
    let name = &args.place.address;
    if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c)) {
        return Ok(None);
    }
    let index = args.index.as_deref().or(WELL_KNOWN.0);
    let key = args.key.as_deref().or(WELL_KNOWN.1);
    let (Some(index), Some(key)) = (index, key) else {
        let message = format!(
            "{name} is a short name: pass the address of an index with --index and its public key with --key, or \
             ./{name} for a folder"
        );
        return Err(CommandError::usage(message));
    };
    let key = key_text(key)?;
    let state = state_file(index, &key);
    let seen = state.as_deref().map_or(Ok(0), number_seen)?;
    let found = SnapshotIndex::fetch(index, &args.place.settings, &key, &has_passed, seen).map_err(index_error)?;
    if let Some(state) = state.filter(|_| found.number > seen) {
        keep(&state, found.number)?;
    }
    let Some(snapshot) = found.snapshots.get(name) else {
        let names: Vec<&str> = found.snapshots.keys().map(String::as_str).collect();
        let message = format!("the index has no snapshot {name}; it has {}", names.join(", "));
        return Err(CommandError::input("storage", message));
    };
    Ok(Some(snapshot.clone()))
}

/// Returns the key, or the content of the file with it.
fn key_text(key: &str) -> Result<String, CommandError> {
    let path = Path::new(key);
    if !path.is_file() {
        return Ok(key.to_owned());
    }
    std::fs::read_to_string(path).map_err(|e| CommandError::input("index-key", format!("{key}: {e}")))
}

/// Reports whether a time is over.
fn has_passed(time: &str) -> Result<bool, String> {
    let time: Timestamp = time.parse().map_err(|_| format!("{time:?} is not a time such as 2027-01-31T00:00:00Z"))?;
    Ok(time <= Timestamp::now())
}

/// Returns the file with the highest number seen of an index; `None` if the system has no place for it.
fn state_file(index: &str, key: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let name = hex(&Sha256::digest(format!("{index}\n{}", key.trim())));
    Some(folder.or_else(home)?.join("terrapin").join(format!("index-{}.number", name.get(..16)?)))
}

fn number_seen(path: &Path) -> Result<u64, CommandError> {
    let broken = |e: &dyn std::fmt::Display| CommandError::input("index-state", format!("{}: {e}", path.display()));
    match std::fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(broken(&e)),
        Ok(text) => text.trim().parse().map_err(|_| broken(&"not a number; remove the file to trust any index again")),
    }
}

fn keep(path: &Path, number: u64) -> Result<(), CommandError> {
    let failed = |e| CommandError::system("output", format!("{}: {e}", path.display()));
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let new = path.with_extension("new");
    std::fs::write(&new, format!("{number}\n")).and_then(|()| std::fs::rename(&new, path)).map_err(failed)
}

fn index_error(error: IndexError) -> CommandError {
    match error {
        IndexError::Transfer(error) => error::error(error),
        IndexError::Absent { .. } => CommandError::input("storage", error),
        IndexError::Key(_) => CommandError::usage(error),
        IndexError::Malformed { .. } => CommandError::input("index-broken", error),
        IndexError::Signature { .. } | IndexError::Expired { .. } | IndexError::Rollback { .. } => {
            CommandError::refused("index-untrusted", error)
        }
    }
}
