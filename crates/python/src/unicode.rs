//! Python strings, which may contain lone surrogates.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A Python string. A lone surrogate, which is invalid in Unicode, fails one query and not the whole batch.
pub struct PythonText {
    /// The text, with U+FFFD in place of invalid parts.
    pub text: String,
    /// The reason why the string is not valid Unicode, if it is not.
    pub wrong: Option<String>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for PythonText {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<PythonText> {
        let text = object.cast::<PyString>()?;
        if let Ok(text) = text.to_str() {
            return Ok(PythonText { text: text.to_owned(), wrong: None });
        }
        let text = text.to_string_lossy().into_owned();
        let wrong = "not Unicode text: it has a surrogate (U+D800 to U+DFFF) without its counterpart";
        Ok(PythonText { text, wrong: Some(wrong.to_owned()) })
    }
}
