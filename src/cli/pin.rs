//! Pins: small TOML files that identify a snapshot and its sources.

use std::path::Path;

use serde::Deserialize;

use super::CommandError;
use crate::snapshot::Manifest;

/// The snapshot that a pin identifies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The name, for people.
    pub name: String,
    /// The SHA-256 of its manifest, in hexadecimal; valid for one format version.
    pub digest: Option<String>,
    /// The format version of `digest`.
    pub format_version: Option<u32>,
    /// The content digest in hexadecimal: the same in every format version.
    pub content: Option<String>,
    /// A description, for people.
    #[serde(rename = "description")]
    _description: Option<String>,
    /// The source files.
    #[serde(default)]
    pub source: Vec<PinnedSource>,
}

/// A source file of a pinned snapshot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedSource {
    /// The name without folders.
    pub name: String,
    /// The SHA-256 in hexadecimal.
    pub sha256: String,
    /// The length in bytes.
    pub bytes: u64,
    /// The licence.
    #[serde(rename = "licence")]
    _licence: Option<String>,
    /// A note on where to get it, for people.
    #[serde(rename = "get")]
    _get: Option<String>,
}

impl Pin {
    /// Reads a pin.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| CommandError::input("pin-unreadable", format!("{}: {e}", path.display())))?;
        let broken = |e: &dyn std::fmt::Display| {
            CommandError::input("pin-unreadable", format!("{} is not a pin: {e}", path.display()))
        };
        let pin: Pin = toml::from_str(&text).map_err(|e| broken(&e))?;
        match (&pin.digest, pin.format_version, &pin.content) {
            (Some(_), Some(_), _) | (None, None, Some(_)) => Ok(pin),
            _ => Err(broken(&"it needs `content`, or `digest` with `format_version`")),
        }
    }

    /// Compares a snapshot with the pin. If the pin's digest has another format version, the content digests are
    /// compared, if the pin has one.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn hold(&self, digest: &str, content: &str, manifest: &Manifest) -> Result<(), CommandError> {
        let differs = |what: String| {
            Err(CommandError::refused(
                "pin-differs",
                format!("the snapshot differs from the pin `{}`: {what}", self.name),
            ))
        };
        if let Some(wanted) = &self.content
            && wanted != content
        {
            return differs(format!("its content digest is {content}, the pin's {wanted}"));
        }
        let (Some(wanted), Some(format)) = (&self.digest, self.format_version) else { return Ok(()) };
        if manifest.format_version != format {
            if self.content.is_some() {
                return Ok(());
            }
            let ours = manifest.format_version;
            return differs(format!("the snapshot has format {ours}, the pin has format {format}"));
        }
        // Sources first: a wrong source explains more than a wrong digest.
        for wanted in &self.source {
            match manifest.sources.iter().find(|s| s.sha256 == wanted.sha256) {
                Some(found) if found.bytes == wanted.bytes => {}
                _ => return differs(format!("it was not made from {} (sha256 {})", wanted.name, wanted.sha256)),
            }
        }
        if digest != wanted {
            return differs(format!("its digest is {digest}, the pin's {wanted}"));
        }
        Ok(())
    }
}
