//! Texts of Python, of which some are no Unicode texts.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// A text of Python. One with a lone surrogate, which Unicode texts cannot have, is no reason to refuse all that came with it.
pub struct Text {
    /// The text, with U+FFFD in place of what it cannot have.
    pub text: String,
    /// Why it is no Unicode text.
    pub wrong: Option<String>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Text> {
        let text = object.cast::<PyString>()?;
        if let Ok(text) = text.to_str() {
            return Ok(Text { text: text.to_owned(), wrong: None });
        }
        let text = text.to_string_lossy().into_owned();
        let wrong = "not Unicode text: it has a surrogate (U+D800 to U+DFFF) without its counterpart";
        Ok(Text { text, wrong: Some(wrong.to_owned()) })
    }
}
