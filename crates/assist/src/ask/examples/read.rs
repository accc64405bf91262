//! Reads examples from files.

use std::path::Path;

use sha2::{Digest, Sha256};
use terrapin_eval::benchmarks::parallel::read_golds;
use terrapin_eval::error::RunError;

use super::Example;

/// The split of a folder with several.
const SPLIT: &str = "train";

/// Reads examples: the split `train` of a folder of OverpassNL, its parallel files by the beginning of their names, or
/// one file in any format of `terrapin eval jsonl`. Rows without a question are left out.
///
/// # Errors
/// Returns an error if a file cannot be read, has an unknown format, or has no example.
pub fn read(path: &Path) -> Result<Vec<Example>, RunError> {
    let golds = read_golds(path, SPLIT)?;
    let examples: Vec<Example> = (golds.instances.into_iter())
        .filter_map(|instance| {
            let question = instance.nl.clone().filter(|question| !question.trim().is_empty())?;
            let language = instance.language();
            let id = instance.id.unwrap_or_else(|| instance.line.to_string());
            let hypothesis = Some(instance.pred).filter(|pred| !pred.trim().is_empty());
            Some(Example { id, question, query: instance.gold, language, hypothesis })
        })
        .collect();
    if examples.is_empty() {
        return Err(RunError::Unfit(format!("{}: no examples with a question and a query", path.display())));
    }
    Ok(examples)
}

/// Returns the SHA-256 of examples. It does not depend on the format of their file.
pub fn digest(examples: &[Example]) -> String {
    let mut hash = Sha256::new();
    for example in examples {
        hash.update(serde_json::to_vec(example).unwrap_or_default());
        hash.update(b"\n");
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
