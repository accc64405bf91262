//! Extraction of a query from a reply, and conversion of queries.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_eval::language::{self, QueryLanguage};
use terrapin_eval::reply;
use terrapin_overpass::convert::{self as forms, ConversionForm};
use terrapin_overpass::{parse, turbo};
use terrapin_sparql::{Dialect, syntax};

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

/// Formats a query of either language, as `terrapin fmt` does.
///
/// # Errors
/// Returns a `QueryError` for a broken query, and a `ValueError` for an unknown language.
#[pyfunction]
#[pyo3(signature = (query, lang=None))]
pub fn format(py: Python<'_>, query: String, lang: Option<&str>) -> PyResult<String> {
    let named = lang.map(scores::language).transpose()?;
    let language = named.or_else(|| language::of(&query)).unwrap_or(QueryLanguage::OverpassQl);
    let formatted = work::wait(py, &std::sync::Arc::default(), move || {
        let refused = |failure| RefusedQuery::of(failure, query.as_str());
        match language {
            QueryLanguage::OverpassQl => {
                // A text with shortcuts is checked with stand-ins for them.
                let expanded = turbo::with_stand_ins(&query).unwrap_or_else(|_| query.as_str().into());
                parse(&expanded).map_err(refused)?;
                Ok(terrapin_format::overpass(&query))
            }
            QueryLanguage::Sparql => {
                syntax::parse(&query, Dialect::Auto)
                    .map_err(|error| RefusedQuery::new(vec![error.erase()], query.as_str()))?;
                Ok(terrapin_format::sparql(&query))
            }
        }
    })?;
    let formatted = formatted.map_err(|refused: RefusedQuery| refused.raise(py))?;
    formatted.map_err(|error| PyValueError::new_err(error.to_string()))
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
        "xml" => Some(ConversionForm::Xml),
        "ql" => None,
        "compact" => Some(ConversionForm::Compact),
        other => return Err(PyValueError::new_err(format!("{other:?}: expected \"xml\", \"ql\" or \"compact\""))),
    };
    let converted = work::wait(py, &std::sync::Arc::default(), move || {
        let refused = |failure| RefusedQuery::of(failure, query.as_str());
        if strict {
            parse(&query).map_err(refused)?;
        }
        let converted = match form {
            Some(form) => forms::convert(&query, form),
            None => terrapin_format::to_ql(&query),
        };
        let converted = converted.map_err(refused)?;
        Ok((converted.text, converted.problems.map(refused)))
    })?;
    let (text, problems) = converted.map_err(|refused: RefusedQuery| refused.raise(py))?;
    let problems = problems.map(|refused| refused.exception(py)).transpose()?;
    Ok((text, problems.map(Bound::unbind)))
}
