//! Reads benchmarks as their authors publish them, as rows with the field names of `terrapin eval jsonl`.
//!
//! The shape is detected from the file: `row` adapts one row, `whole` files that are one JSON or YAML document,
//! `folder` folders, `nlmaps` NLmaps with its own query language. Rows of an unknown shape stay as they are.
//! `fixtures/README.md` has the sources of the shapes.

mod folder;
mod map;
pub mod nlmaps;
mod row;
mod whole;

pub use map::FieldMap;
pub use whole::dataset;

use std::path::Path;

use super::InputError;
use super::rows::{InputRow, read_rows};

/// Reads the rows of a file or folder in any shape. `map` renames fields before the shape is detected.
///
/// # Errors
/// Returns an error if a file cannot be read, its shape is damaged, or no row has a field that `map` names.
pub fn read(path: &Path, map: &FieldMap) -> Result<Vec<InputRow>, InputError> {
    let rows = if path.is_dir() {
        folder::read(path)?
    } else if nlmaps::is_nlmaps(path) {
        nlmaps::read(path)?
    } else if let Some(files) = folder::parallel_lines(path) {
        files.read()?
    } else {
        match whole::read(path)? {
            Some(rows) => rows,
            None => read_rows(path)?,
        }
    };
    map.check(path, &rows)?;
    let adapt = |mut row: InputRow| {
        let adapted = map.apply(&mut row).and_then(|()| row::adapt(&mut row));
        adapted.map_err(|message| InputError::unfit(path, &row.place, message))?;
        Ok(row)
    };
    rows.into_iter().map(adapt).collect()
}

#[cfg(test)]
mod tests;
