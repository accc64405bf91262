//! Embeddings in a file, so that a stopped run requests none twice.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use terrapin_chat::{ChatError, ChatErrorKind};

/// Embeddings by text, in memory and optionally in a file: a line for the model, then a line for each text.
#[derive(Default)]
pub struct EmbeddingCache {
    vectors: BTreeMap<String, Vec<f32>>,
    file: Option<File>,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct CachedEmbedding {
    text: String,
    vector: Vec<f32>,
}

impl EmbeddingCache {
    /// Opens the cache for a model, identified by a text. Embeddings of another model are removed, and so is a line that
    /// a killed run left incomplete.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn open(path: &Path, model: &str) -> io::Result<EmbeddingCache> {
        let head = serde_json::json!({"model": model}).to_string();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.split_inclusive('\n');
        let mut cache = EmbeddingCache::default();
        let mut valid =
            lines.next().filter(|first| first.trim_end() == head && first.ends_with('\n')).map_or(0, str::len);
        if valid > 0 {
            for line in lines.filter(|line| line.ends_with('\n')) {
                let Ok(CachedEmbedding { text, vector }) = serde_json::from_str(line) else { break };
                cache.vectors.insert(text, vector);
                valid += line.len();
            }
        }
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.set_len(valid as u64)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        if valid == 0 {
            writeln!(file, "{head}")?;
        }
        cache.file = Some(file);
        Ok(cache)
    }

    /// Returns the embedding of a text.
    pub fn get(&self, text: &str) -> Option<&[f32]> {
        self.vectors.get(text).map(Vec::as_slice)
    }

    /// Adds the embedding of a text.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn insert(&mut self, text: &str, vector: Vec<f32>) -> Result<(), ChatError> {
        let entry = CachedEmbedding { text: text.to_owned(), vector };
        if let Some(file) = &mut self.file {
            let failed =
                |error: String| ChatError::new(ChatErrorKind::Fault, format!("the cache of embeddings: {error}"));
            let line = serde_json::to_string(&entry).map_err(|error| failed(error.to_string()))?;
            file.write_all(format!("{line}\n").as_bytes()).map_err(|error| failed(error.to_string()))?;
        }
        self.vectors.insert(entry.text, entry.vector);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_of_the_same_model_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("embeddings.jsonl");
        let mut cache = EmbeddingCache::open(&path, "a").unwrap();
        cache.insert("x", vec![0.1, -2.0]).unwrap();
        cache.insert("y", vec![3.0]).unwrap();
        drop(cache);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let mut cache = EmbeddingCache::open(&path, "a").unwrap();
        assert_eq!((cache.get("x"), cache.get("y")), (Some(&[0.1, -2.0][..]), None));
        cache.insert("y", vec![3.0]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), whole);
        let other = EmbeddingCache::open(&path, "b").unwrap();
        assert_eq!(other.get("x"), None);
    }
}
