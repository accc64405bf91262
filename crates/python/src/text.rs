//! Extraction of a query from a reply, and conversion of queries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_eval::reply;
use terrapin_overpass::convert::{self as forms, ConversionForm};
use terrapin_overpass::parse;

use crate::raise::RefusedQuery;
use crate::scores;
use crate::unicode::PythonText;
use crate::work;

/// Extracts the query from a language model's reply.
///
/// # Errors
/// Returns a `ValueError` for an unknown language.
#[pyfunction]
#[pyo3(signature = (reply, lang=None))]
pub fn query_of(py: Python<'_>, reply: PythonText, lang: Option<&str>) -> PyResult<String> {
    let language = lang.map(scores::language).transpose()?;
    Ok(py.detach(|| reply::query(&reply.text, language)))
}

/// Converts a query to another form: `xml`, `ql` or `compact`. With `strict` the query must be valid. Otherwise the
/// parts of a broken query that were understood are returned with an exception that describes the problems.
///
/// # Errors
/// Returns a `QueryError` if no part is understood, or with `strict` for any problem.
#[pyfunction]
#[pyo3(signature = (query, form, strict))]
pub fn convert(py: Python<'_>, query: String, form: &str, strict: bool) -> PyResult<(String, Option<Py<PyAny>>)> {
    let form = match form {
        "xml" => ConversionForm::Xml,
        "ql" => ConversionForm::Pretty,
        "compact" => ConversionForm::Compact,
        other => return Err(PyValueError::new_err(format!("{other:?}: expected \"xml\", \"ql\" or \"compact\""))),
    };
    let converted = work::wait(py, &std::sync::Arc::default(), move || {
        let refused = |failure| RefusedQuery::of(failure, query.as_str());
        if strict {
            parse(&query).map_err(refused)?;
        }
        let converted = forms::convert(&query, form).map_err(refused)?;
        Ok((converted.text, converted.problems.map(refused)))
    })?;
    let (text, problems) = converted.map_err(|refused: RefusedQuery| refused.raise(py))?;
    let problems = problems.map(|refused| refused.exception(py)).transpose()?;
    Ok((text, problems.map(Bound::unbind)))
}
