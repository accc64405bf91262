//! Renames fields of rows, for files in a shape that is not known here.

use std::path::Path;

use serde_json::Value;

use super::super::InputError;
use super::super::rows::InputRow;

/// New names of fields: ours, and the name in the file, which may be a path such as `query.sparql`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldMap(pub Vec<(String, String)>);

/// The fields of rows that can be set.
const OURS: [&str; 11] =
    ["bbox", "complexity", "gold", "id", "lang", "nl", "order_matters", "paraphrases", "places", "pred", "split"];

impl FieldMap {
    /// Adds a field in the form `gold=sparql`.
    ///
    /// # Errors
    /// Returns an error if the text has another form, or the field is unknown or set twice.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let expected = || format!("{text:?}: expected FIELD=NAME, such as gold=sparql");
        let (ours, theirs) = text.split_once('=').ok_or_else(expected)?;
        let (ours, theirs) = (ours.trim(), theirs.trim());
        if theirs.is_empty() {
            return Err(expected());
        }
        if !OURS.contains(&ours) {
            return Err(format!("unknown field {ours:?}: expected one of {}", OURS.join(", ")));
        }
        if self.0.iter().any(|(known, _)| known == ours) {
            return Err(format!("the field {ours:?} is set twice"));
        }
        self.0.push((ours.to_owned(), theirs.to_owned()));
        Ok(())
    }

    /// Returns an error if a named field occurs in no row.
    pub(super) fn check(&self, path: &Path, rows: &[InputRow]) -> Result<(), InputError> {
        for (ours, theirs) in &self.0 {
            if !rows.is_empty() && rows.iter().all(|row| find(row, theirs).is_none()) {
                let names = rows.first().map(InputRow::names).unwrap_or_default();
                let message = format!("no row has the field `{theirs}` of `{ours}={theirs}`; the first has {names}");
                return Err(InputError::unfit(path, "the file", message));
            }
        }
        Ok(())
    }

    /// Renames the fields of a row.
    pub(super) fn apply(&self, row: &mut InputRow) -> Result<(), String> {
        let found: Vec<(&String, Option<Value>)> =
            self.0.iter().map(|(ours, theirs)| (ours, find(row, theirs).cloned())).collect();
        for (_, theirs) in &self.0 {
            row.fields.remove(theirs);
        }
        for (ours, value) in found {
            row.fields.insert(ours.clone(), value.unwrap_or_default());
        }
        Ok(())
    }
}

/// Finds a field by its name, else by its path.
fn find<'r>(row: &'r InputRow, name: &str) -> Option<&'r Value> {
    if let Some(value) = row.fields.get(name) {
        return Some(value);
    }
    let mut parts = name.split('.');
    let mut value = row.fields.get(parts.next()?)?;
    for part in parts {
        value = match value {
            Value::Array(list) => list.get(part.parse::<usize>().ok()?)?,
            other => other.get(part)?,
        };
    }
    Some(value)
}
