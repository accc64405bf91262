//! Reads questions and gold queries, also from the parallel files of OverpassNL: `dataset.train.nl`,
//! `dataset.train.query` and `dataset.train.bbox`, with one instance a line.

use std::path::{Path, PathBuf};

use super::jsonl::{self, GoldFields, GoldInstances};
use crate::error::RunError;
use crate::input::{InputError, read_lines, same_length};
use crate::record::Instance;

/// Reads the instances of a split from a folder of OverpassNL, from the parallel files whose names begin with `path`
/// (`overpassnl/dataset.dev`), or from one file in a format of [`jsonl::read_golds`].
///
/// # Errors
/// Returns an error if a file cannot be read, has another number of lines, or is not of a supported format.
pub fn read_golds(path: &Path, split: &str) -> Result<GoldInstances, RunError> {
    let start = if path.is_dir() { path.join(format!("dataset.{split}")) } else { path.to_owned() };
    if path.is_file() {
        return jsonl::read_golds(path);
    }
    let file = |name: &str| with_ending(&start, name);
    if !path.is_dir() && !file("nl").is_file() {
        // The error names the file that the user gave.
        return jsonl::read_golds(path);
    }
    let (questions, queries) = (read_lines(&file("nl"))?, read_lines(&file("query"))?);
    same_length((&file("nl"), questions.len()), (&file("query"), queries.len()))?;
    let boxes = if file("bbox").is_file() { read_lines(&file("bbox"))? } else { Vec::new() };
    if !boxes.is_empty() {
        same_length((&file("nl"), questions.len()), (&file("bbox"), boxes.len()))?;
    }
    let mut golds = GoldInstances::default();
    for (index, (nl, gold)) in questions.into_iter().zip(queries).enumerate() {
        if gold.trim().is_empty() {
            return Err(InputError::unfit(&file("query"), &format!("line {}", index + 1), "the query is empty").into());
        }
        let bbox = boxes.get(index).map(|bbox| bbox.trim().to_owned());
        golds.instances.push(Instance { line: index + 1, nl: Some(nl), gold, bbox, ..Instance::default() });
        golds.more.push(GoldFields::default());
    }
    Ok(golds)
}

/// Returns the files that [`read_golds`] reads.
pub fn files(path: &Path, split: &str) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let start = if path.is_dir() { path.join(format!("dataset.{split}")) } else { path.to_owned() };
    ["nl", "query", "bbox"].iter().map(|name| with_ending(&start, name)).filter(|file| file.is_file()).collect()
}

/// Appends an ending; the path may already have a dot in its name.
fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(format!(".{ending}"));
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_files_and_rows_give_the_same_instances() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("dataset.train.nl", "Cafes?\nBars?\n");
        write("dataset.train.query", "node[amenity=cafe];out;\nnode[amenity=bar];out;\n");
        write("dataset.train.bbox", "1,2,3,4\n5,6,7,8\n");
        write(
            "train.jsonl",
            r#"{"nl": "Cafes?", "query": "node[amenity=cafe];out;", "bbox": "1,2,3,4"}
               {"nl": "Bars?", "query": "node[amenity=bar];out;", "bbox": "5,6,7,8", "pred": "out;"}"#,
        );
        let read = |name: &str| read_golds(&folder.path().join(name), "train").map(|golds| golds.instances);
        let mut rows = read("train.jsonl").unwrap();
        assert_eq!(std::mem::take(&mut rows[1].pred), "out;");
        assert_eq!(read("").unwrap(), rows);
        assert_eq!(read("dataset.train").unwrap(), rows);
        assert_eq!(files(folder.path(), "train").len(), 3);
        assert!(read("dataset.dev").unwrap_err().to_string().contains("dataset.dev"));
        write("dataset.train.query", "node[amenity=cafe];out;\n");
        assert!(read("").unwrap_err().to_string().contains("line 2 of the longer has no counterpart"));
    }
}
