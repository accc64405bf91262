//! Reads benchmarks that are folders: OverpassNL's parallel files, text2geoql's pairs of files, GS-QA's questions, and
//! folders of JSON lines with a file for each split.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::super::rows::{InputRow, read_rows};
use super::super::{InputError, read_lines, same_length};

/// The maximum number of files that are looked at below a folder.
const MAX_FILES: usize = 1_000_000;
/// The maximum depth of folders.
const MAX_DEPTH: usize = 32;

/// The files of a split of OverpassNL: one instance per line.
pub(super) struct ParallelLines {
    queries: PathBuf,
    split: String,
}

/// Returns the parallel files that a file of OverpassNL belongs to: `dataset.dev.query`.
pub(super) fn parallel_lines(path: &Path) -> Option<ParallelLines> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".query")?;
    let split = stem.rsplit('.').next().unwrap_or(stem).to_owned();
    Some(ParallelLines { queries: path.to_owned(), split })
}

impl ParallelLines {
    /// Reads the lines with those of `.nl` and `.bbox`, if these exist.
    pub(super) fn read(&self) -> Result<Vec<InputRow>, InputError> {
        let queries = read_lines(&self.queries)?;
        let beside = |extension: &str| {
            let path = self.queries.with_extension(extension);
            if !path.exists() {
                return Ok(None);
            }
            let lines = read_lines(&path)?;
            same_length((&self.queries, queries.len()), (&path, lines.len()))?;
            Ok(Some(lines))
        };
        let (questions, boxes) = (beside("nl")?, beside("bbox")?);
        let line =
            |lines: &Option<Vec<String>>, index: usize| lines.as_ref().and_then(|lines| lines.get(index)).cloned();
        let row = |(index, query): (usize, &String)| {
            let mut fields = Map::new();
            fields.insert("gold".to_owned(), query.as_str().into());
            fields.insert("nl".to_owned(), line(&questions, index).unwrap_or_default().into());
            // Lines without a box have another text.
            if let Some(bbox) = line(&boxes, index).filter(|bbox| bbox.contains(',')) {
                fields.insert("bbox".to_owned(), bbox.into());
            }
            fields.insert("split".to_owned(), self.split.as_str().into());
            InputRow { number: index + 1, place: format!("line {}", index + 1), fields }
        };
        Ok(queries.iter().enumerate().map(row).collect())
    }
}

/// Reads a folder.
pub(super) fn read(folder: &Path) -> Result<Vec<InputRow>, InputError> {
    let mut files = Vec::new();
    list(folder, 0, &mut files)?;
    files.sort_unstable();
    let parallel: Vec<ParallelLines> =
        files.iter().filter(|file| file.parent() == Some(folder)).filter_map(|file| parallel_lines(file)).collect();
    if !parallel.is_empty() {
        return all(parallel.iter().map(ParallelLines::read));
    }
    let named =
        |name: &str| files.iter().filter(|file| file.file_name().is_some_and(|n| n == name)).collect::<Vec<_>>();
    let questions = named("question.json");
    if !questions.is_empty() {
        return all(questions.into_iter().enumerate().map(|(index, file)| question(folder, index, file)));
    }
    let inputs = named("input-trident.txt");
    if !inputs.is_empty() {
        return all(inputs.into_iter().map(|file| text2geoql(folder, file, &files))).map(renumbered);
    }
    let splits: Vec<&PathBuf> = files
        .iter()
        .filter(|file| file.parent() == Some(folder) && file.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    if splits.is_empty() {
        let expected = "expected dataset.SPLIT.query, question.json, input-trident.txt or SPLIT.jsonl below it";
        return Err(InputError::unfit(folder, "the folder", expected));
    }
    all(splits.into_iter().map(|file| split(file)))
}

/// Collects the rows of several files.
fn all(files: impl Iterator<Item = Result<Vec<InputRow>, InputError>>) -> Result<Vec<InputRow>, InputError> {
    let mut rows = Vec::new();
    for file in files {
        rows.extend(file?);
    }
    Ok(rows)
}

fn renumbered(mut rows: Vec<InputRow>) -> Vec<InputRow> {
    rows.iter_mut().enumerate().for_each(|(index, row)| row.number = index + 1);
    rows
}

/// Lists the files below a folder. Symbolic links are not followed.
fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let unreadable = |source| InputError::Unreadable { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() && depth < MAX_DEPTH {
            list(&entry.path(), depth + 1, files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
        if files.len() > MAX_FILES {
            return Err(InputError::unfit(folder, "the folder", format!("has more than {MAX_FILES} files")));
        }
    }
    Ok(())
}

/// Reads a split of a collection such as GRASP's: `train.jsonl`, `val.jsonl`, `test.jsonl`.
fn split(file: &Path) -> Result<Vec<InputRow>, InputError> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut rows = read_rows(file)?;
    for row in &mut rows {
        row.place = format!("{name}.jsonl {}", row.place);
        if !row.fields.contains_key("split") {
            row.fields.insert("split".to_owned(), name.as_str().into());
        }
    }
    Ok(rows)
}

/// Reads a question of GS-QA.
fn question(folder: &Path, index: usize, file: &Path) -> Result<Vec<InputRow>, InputError> {
    let place = file.strip_prefix(folder).unwrap_or(file).display().to_string();
    let text = read_lines(file)?.join("\n");
    let fields: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| InputError::unfit(folder, &place, error))?;
    Ok(vec![InputRow { number: index + 1, place, fields }])
}

/// Reads an input of text2geoql with each of its outputs.
fn text2geoql(folder: &Path, input: &Path, files: &[PathBuf]) -> Result<Vec<InputRow>, InputError> {
    let question = read_lines(input)?.join("\n").trim().to_owned();
    let is_output = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.parent() == input.parent() && name.starts_with("output-") && name.ends_with(".overpassql")
    };
    // The files are sorted, so that those of a folder are close together.
    let first = files.partition_point(|file| file.as_path() < input.parent().unwrap_or(input));
    let near = files.get(first..).unwrap_or_default().iter();
    let beside = near.take_while(|file| input.parent().is_some_and(|parent| file.starts_with(parent)));
    let mut rows = Vec::new();
    for output in beside.filter(is_output) {
        let mut fields = Map::new();
        fields.insert("nl".to_owned(), question.as_str().into());
        fields.insert("gold".to_owned(), read_lines(output)?.join("\n").trim().into());
        fields.insert("lang".to_owned(), "overpassql".into());
        let place = output.strip_prefix(folder).unwrap_or(output).display().to_string();
        rows.push(InputRow { number: 0, place, fields });
    }
    Ok(rows)
}
