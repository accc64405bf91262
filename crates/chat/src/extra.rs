//! User-defined fields that are merged into requests: a seed, a grammar, the server's cache.

use std::io::Read;
use std::path::Path;

use serde_json::{Map, Value};

/// Maximum size in bytes of a file with fields; grammars may be long.
const LONGEST: u64 = 1 << 20;
/// Fields that the program itself sets in every request.
const OWN: [&str; 7] = ["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"];
/// The field that contains the fields for single steps.
const STEPS: &str = "steps";

/// Fields for all requests, and for those of single steps. A field of a step takes precedence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extra {
    fields: Map<String, Value>,
    steps: Map<String, Value>,
}

/// A file of fields that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ExtraError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// Its path.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is too long.
    #[error("{path} is longer than {} KiB", LONGEST >> 10)]
    TooLong {
        /// Its path.
        path: String,
    },
    /// The text is not a JSON object.
    #[error("expected a JSON object with fields of a request: {0}")]
    NoObject(String),
    /// A field is set by the program.
    #[error("the field `{0}` is set by the program: remove it")]
    Reserved(String),
    /// The name of a step is unknown.
    #[error("unknown step `{name}` in `steps`: expected an object with {expected}")]
    UnknownStep {
        /// The name.
        name: String,
        /// The names of the steps.
        expected: String,
    },
}

impl Extra {
    /// Reads a file: a JSON object with fields to merge into each request. Its optional field `steps` contains an
    /// object of fields for each of the `steps`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not such an object, or contains a field that the program sets.
    pub fn read(path: &Path, steps: &[&str]) -> Result<Extra, ExtraError> {
        let shown = || path.display().to_string();
        let unreadable = |source| ExtraError::Unreadable { path: shown(), source };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        // Devices and pipes have no length.
        file.take(LONGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
        if text.len() as u64 > LONGEST {
            return Err(ExtraError::TooLong { path: shown() });
        }
        Extra::parse(&text, steps)
    }

    /// Parses a text in the form of such a file ([`read`](Extra::read)).
    ///
    /// # Errors
    /// Returns an error if the text is not such an object, or contains a field that the program sets.
    pub fn parse(text: &str, steps: &[&str]) -> Result<Extra, ExtraError> {
        let mut fields: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| ExtraError::NoObject(error.to_string()))?;
        let expected = || steps.join(", ");
        let own = match fields.remove(STEPS) {
            None => Map::new(),
            Some(Value::Object(own)) => own,
            Some(_) => return Err(ExtraError::NoObject(format!("`{STEPS}` is not an object"))),
        };
        let all = own.iter().map(|(name, fields)| match fields {
            Value::Object(fields) if steps.contains(&name.as_str()) => Ok(fields),
            _ => Err(ExtraError::UnknownStep { name: name.clone(), expected: expected() }),
        });
        for fields in std::iter::once(Ok(&fields)).chain(all) {
            if let Some(name) = fields?.keys().find(|name| OWN.contains(&name.as_str())) {
                return Err(ExtraError::Reserved(name.clone()));
            }
        }
        Ok(Extra { fields, steps: own })
    }

    /// Returns the fields for requests of a step.
    pub fn fields(&self, step: &str) -> impl Iterator<Item = (&String, &Value)> {
        let own = self.steps.get(step).and_then(Value::as_object);
        self.fields.iter().chain(own.into_iter().flatten())
    }

    /// Returns the object as it was read, or `None` if it has no fields.
    pub fn to_value(&self) -> Option<Value> {
        let mut all = self.fields.clone();
        if !self.steps.is_empty() {
            all.insert(STEPS.to_owned(), Value::Object(self.steps.clone()));
        }
        (!all.is_empty()).then_some(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_of_all_steps_or_of_one() {
        let text = r#"{"seed": 7, "top_k": 1, "steps": {"query": {"grammar": "root ::= \"x\"", "top_k": 5}}}"#;
        let extra = Extra::parse(text, &["query", "text"]).unwrap();
        let last = |step: &str, name: &str| extra.fields(step).filter(|(own, _)| *own == name).last().map(|(_, v)| v);
        assert_eq!((last("query", "seed"), last("text", "seed")), (Some(&7.into()), Some(&7.into())));
        assert_eq!((last("query", "top_k"), last("text", "top_k")), (Some(&5.into()), Some(&1.into())));
        assert_eq!(last("text", "grammar"), None);
        assert_eq!(extra.to_value(), Some(serde_json::from_str(text).unwrap()));
        assert_eq!(Extra::parse("{}", &[]).unwrap().to_value(), None);
    }

    #[test]
    fn files_that_cannot_be_used_are_refused() {
        for (text, says) in [
            ("", "a JSON object"),
            ("[1]", "a JSON object"),
            (r#"{"messages": []}"#, "`messages` is set by the program"),
            (r#"{"stream": false}"#, "`stream` is set by the program"),
            (r#"{"steps": {"query": {"max_tokens": 1}}}"#, "`max_tokens` is set by the program"),
            (r#"{"steps": {"querry": {}}}"#, "unknown step `querry` in `steps`: expected an object with query, text"),
            (r#"{"steps": {"query": 1}}"#, "unknown step `query`"),
            (r#"{"steps": 1}"#, "`steps` is not an object"),
        ] {
            let error = Extra::parse(text, &["query", "text"]).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let error = Extra::read(Path::new("/nowhere/extra.json"), &[]).unwrap_err().to_string();
        assert!(error.contains("cannot read /nowhere/extra.json"), "{error}");
    }
}
