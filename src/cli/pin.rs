//! Pins: small TOML files that say which snapshot is meant and what it is made of.

use std::path::Path;

use serde::Deserialize;

use super::Error;
use crate::snapshot::Manifest;

/// A pinned snapshot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// What people call it.
    pub name: String,
    /// The digest of its manifest: SHA-256, hexadecimal. It is for one format version.
    pub digest: Option<String>,
    /// The version of the file format that the digest is for.
    pub format_version: Option<u32>,
    /// The content digest, hexadecimal: the same in every format version.
    pub content: Option<String>,
    /// What it is about, for people.
    #[serde(rename = "description")]
    _description: Option<String>,
    /// The files that it is made of.
    #[serde(default)]
    pub source: Vec<Source>,
}

/// One file of a pinned snapshot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name without folders.
    pub name: String,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
    /// Its licence.
    #[serde(rename = "licence")]
    _licence: Option<String>,
    /// How to get it, for people.
    #[serde(rename = "get")]
    _get: Option<String>,
}

impl Pin {
    /// Reads a pin.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::input("pin-unreadable", format!("{}: {e}", path.display())))?;
        let broken =
            |e: &dyn std::fmt::Display| Error::input("pin-unreadable", format!("{} is not a pin: {e}", path.display()));
        let pin: Pin = toml::from_str(&text).map_err(|e| broken(&e))?;
        match (&pin.digest, pin.format_version, &pin.content) {
            (Some(_), Some(_), _) | (None, None, Some(_)) => Ok(pin),
            _ => Err(broken(&"it needs `digest` with its `format_version`, or `content`, or all of them")),
        }
    }

    /// Says where a snapshot differs from the pin. A snapshot of another format version than the pin's digest is for is
    /// held against the pin's content digest, where it has one.
    pub fn hold(&self, digest: &str, content: &str, manifest: &Manifest) -> Result<(), Error> {
        let differs = |what: String| Err(Error::refused("pin-differs", format!("not the pin `{}`: {what}", self.name)));
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
            return differs(format!("the snapshot is of format {ours}, the pin of format {format}"));
        }
        // The sources first: they say more than a digest that differs.
        for wanted in &self.source {
            match manifest.sources.iter().find(|s| s.sha256 == wanted.sha256) {
                Some(found) if found.bytes == wanted.bytes => {}
                _ => return differs(format!("it was not made of {} (sha256 {})", wanted.name, wanted.sha256)),
            }
        }
        if digest != wanted {
            return differs(format!("its digest is {digest}, the pin's {wanted}"));
        }
        Ok(())
    }
}
