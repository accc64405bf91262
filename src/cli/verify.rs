//! `terrapin verify`: checks every byte of a snapshot and compares it with a pin.

use std::path::PathBuf;

use serde_json::json;

use super::pin::Pin;
use super::{CommandError, open, stdout};
use crate::load::{LoadError, content};
use crate::size;
use crate::snapshot::{self, hex};

/// Check every byte of a snapshot and compare it with a pin
///
/// Also recomputes the content digest, which identifies the elements and triples independently of source file and
/// snapshot format. A pin is a small TOML file with the snapshot's digest and its sources, or with its content
/// digest, such as those in snapshots/.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin verify malta.terrapin
  terrapin verify malta.terrapin --pin snapshots/malta-demo.toml")]
pub struct VerifyArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Pin to compare with; a difference is an error
    #[arg(long, value_name = "FILE")]
    pin: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &VerifyArgs) -> Result<(), CommandError> {
    crate::allocator::prepare_for_arrays();
    let pin = args.pin.as_deref().map(Pin::read).transpose()?;
    let opened = match snapshot::verify(&args.snapshot) {
        Ok(whole) => open::facts(whole)?,
        Err(error @ snapshot::Error::Damaged { .. }) => return Err(CommandError::refused("snapshot-damaged", error)),
        Err(error) => return Err(open::error(error)),
    };
    let digest = opened.snapshot.digest();
    let content = content::digest(&opened.snapshot).map_err(|error| match error {
        LoadError::Snapshot(error @ snapshot::Error::Damaged { .. }) => {
            CommandError::refused("snapshot-damaged", error)
        }
        error => CommandError::system("temporary", error),
    })?;
    if let Some(stored) = opened.manifest.content.filter(|stored| *stored != content) {
        let (stored, content) = (hex(&stored), hex(&content));
        let message = format!("damaged snapshot: its content digest is {content}, its manifest says {stored}");
        return Err(CommandError::refused("snapshot-damaged", message));
    }
    let content = hex(&content);
    if let Some(pin) = &pin {
        pin.hold(&digest, &content, &opened.manifest)?;
    }
    let (sections, bytes) = (opened.manifest.sections.len(), opened.snapshot.file_len());
    if args.json {
        let pinned = pin.as_ref().map(|p| p.name.as_str());
        return stdout::print_json(
            &json!({"ok": true, "digest": digest, "content": content, "bytes": bytes, "pin": pinned}),
        );
    }
    let pinned = pin.map_or_else(String::new, |p| format!(", equal to the pin `{}`", p.name));
    stdout::print(&format!("{digest}\ncontent {content}\nok: {} in {sections} sections{pinned}\n", size::show(bytes)))
}
