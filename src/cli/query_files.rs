//! Files of queries for the commands that work on texts: reading, language, validity, JSON lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::query::text_of;
use super::{CommandError, open};
use crate::eval::language::QueryLanguage;
use crate::overpass::{self, turbo};
use crate::sparql::{Dialect, syntax};

/// A text with its origin.
pub struct QueryFile {
    /// The path; `None` for standard input.
    pub path: Option<PathBuf>,
    /// The name for people.
    pub origin: String,
    /// The text.
    pub text: String,
}

/// Returns the given paths; without any, standard input.
pub fn paths(files: &[PathBuf]) -> Cow<'_, [PathBuf]> {
    if files.is_empty() { Cow::Owned(vec![PathBuf::from("-")]) } else { Cow::Borrowed(files) }
}

impl QueryFile {
    /// Reads a file; `-` is standard input.
    pub fn read(path: &Path) -> Result<QueryFile, CommandError> {
        let (text, origin) = text_of(None, Some(path))?;
        Ok(QueryFile { path: (path != Path::new("-")).then(|| path.to_owned()), origin, text })
    }

    /// Replaces the content of the file, with its permissions. Other processes see the old or the new content.
    pub fn replace(&self, text: &str) -> Result<(), CommandError> {
        let Some(path) = &self.path else { return super::stdout::print(text) };
        let failed = |error| CommandError::system("output", format!("cannot write {}: {error}", path.display()));
        // The target of a link is replaced, not the link.
        let path = path.canonicalize().map_err(failed)?;
        let permissions = std::fs::metadata(&path).map_err(failed)?.permissions();
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.as_file().set_permissions(permissions).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Returns the language of a query: the given one, or the one detected from its beginning.
pub fn language(named: Option<QueryLanguage>, text: &str) -> QueryLanguage {
    let detected = if open::begins_as_sparql(text) { QueryLanguage::Sparql } else { QueryLanguage::OverpassQl };
    named.unwrap_or(detected)
}

/// Checks that a query is valid. Shortcuts are replaced by stand-ins.
pub fn check(text: &str, origin: &str, language: QueryLanguage) -> Result<(), CommandError> {
    let refused = |text: &str, problems| CommandError::Query { text: text.to_owned(), origin: origin.into(), problems };
    if language == QueryLanguage::Sparql {
        return match syntax::parse(text, Dialect::Auto) {
            Ok(_) => Ok(()),
            Err(error) => Err(refused(text, vec![error.erase()])),
        };
    }
    let expanded =
        turbo::with_stand_ins(text).map_err(|problem| refused(text, vec![problem.diagnostic(None).erase()]))?;
    overpass::parse(&expanded).map(drop).map_err(|failure| refused(&expanded, failure.erase()))
}

/// Replaces a string field in every line of JSON by the result of `change`. All other bytes stay.
///
/// # Errors
/// Returns the error of `change`, and an error for a line that is no object with this field.
pub fn change_lines(
    file: &QueryFile,
    field: &str,
    change: &mut dyn FnMut(&str, &str) -> Result<String, CommandError>,
) -> Result<String, CommandError> {
    let mut out = String::with_capacity(file.text.len() + file.text.len() / 8);
    for (number, line) in file.text.split_inclusive('\n').enumerate() {
        let origin = format!("{}:{}", file.origin, number + 1);
        let wrong = |why: String| CommandError::input("jsonl", format!("{origin}: {why}"));
        if line.trim().is_empty() {
            out.push_str(line);
            continue;
        }
        let fields: BTreeMap<Cow<'_, str>, &RawValue> =
            serde_json::from_str(line).map_err(|error| wrong(format!("no JSON object: {error}")))?;
        let value = fields.get(field).ok_or_else(|| wrong(format!("the object has no field {field:?}")))?.get();
        let query: Option<String> =
            serde_json::from_str(value).map_err(|_| wrong(format!("the field {field:?} is no text")))?;
        let Some(query) = query else {
            out.push_str(line);
            continue;
        };
        let changed = change(&query, &origin)?;
        if changed == query {
            out.push_str(line);
            continue;
        }
        let start = value.as_ptr() as usize - line.as_ptr() as usize;
        out.push_str(line.get(..start).unwrap_or_default());
        out.push_str(&serde_json::Value::from(changed).to_string());
        out.push_str(line.get(start + value.len()..).unwrap_or_default());
    }
    Ok(out)
}
