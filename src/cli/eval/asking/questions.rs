//! The questions of a file.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::super::{CommandError, stdout};
use super::super::{digest, unusable};
use crate::eval::about::Shard;
use crate::eval::benchmarks::jsonl::GoldInstances;
use crate::eval::benchmarks::parallel::{files, read_golds};
use crate::eval::record::Instance;
use crate::snapshot::hex;

/// The split of a folder with several.
const SPLIT: &str = "dev";

/// Questions with their gold queries.
pub struct Questions {
    /// The questions of the shard. Their predictions are those of the file, if it has some.
    pub instances: Vec<Instance>,
    /// SHA-256 of the file; of several files, SHA-256 of their digests.
    pub digest: String,
}

/// Reads the questions of a shard.
pub fn read(path: &Path, shard: Option<Shard>) -> Result<Questions, CommandError> {
    let GoldInstances { mut instances, unused, .. } = read_golds(path, SPLIT).map_err(unusable)?;
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        stdout::tell(&format!("note: unused fields: {}", names.join(", ")));
    }
    if let Some(shard) = shard {
        instances.retain(|instance| shard.has(instance.line));
    }
    if instances.is_empty() {
        return Err(CommandError::input("empty", format!("{}: no questions", path.display())));
    }
    let has_no_question = |instance: &&Instance| instance.nl.as_deref().unwrap_or_default().trim().is_empty();
    if let Some(instance) = instances.iter().find(has_no_question) {
        let message = format!("{}: line {} has no question (`nl`, `question`)", path.display(), instance.line);
        return Err(CommandError::input("lines-unreadable", message));
    }
    let digests = files(path, SPLIT).iter().map(|file| digest(file)).collect::<Result<Vec<String>, _>>()?;
    let digest = match &digests[..] {
        [one] => one.clone(),
        several => hex(&Sha256::digest(several.join("\n"))),
    };
    Ok(Questions { instances, digest })
}
