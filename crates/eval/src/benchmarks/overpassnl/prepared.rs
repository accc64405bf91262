//! A query to run: its text and the source of its settings.
//!
//! The published code sets output format and limits in the text. This breaks some valid queries: those with a comment
//! before the settings, and the XML form. For these, the settings are set in the parsed query instead, and `compat`
//! has the error of the published code.

use super::class::class_of;
use super::prepare::{MAX_SIZE, TIMEOUT, expand, set_limits, set_output};
use crate::record::{ErrorClass, FailedQuery};
use terrapin_geocoder::PlaceSource;
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::syntax::{OutputFormat, Script};

/// The source of a query's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingsSource {
    /// The text.
    Text,
    /// The text, with JSON as the output format.
    Json,
    /// The text, with output format and limits of the published evaluation.
    Published,
}

/// A query to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedQuery {
    text: String,
    source: SettingsSource,
    /// The error of the published code, if it fails itself.
    compat: Option<FailedQuery<ErrorClass>>,
}

impl PreparedQuery {
    /// Prepares a line of the dataset like the published evaluation.
    ///
    /// # Errors
    /// Returns the same errors as [`super::prepare`].
    pub fn published(
        line: &str,
        bbox: Option<&str>,
        places: &dyn PlaceSource,
    ) -> Result<PreparedQuery, FailedQuery<ErrorClass>> {
        let query = expand(line, bbox, places)?;
        let text = set_output(&set_limits(query.clone())?);
        let Err(compat) = prints_json(&text) else { return Ok(PreparedQuery::of_text(text)) };
        Ok(match terrapin_overpass::parse(&query) {
            Ok(_) => PreparedQuery { text: query, source: SettingsSource::Published, compat: Some(compat) },
            Err(_) => PreparedQuery::of_text(text),
        })
    }

    /// Prepares a query without shortcuts for an answer in JSON.
    pub fn for_json(query: &str) -> PreparedQuery {
        let text = match query.trim_start().chars().next() {
            Some('<') => query.to_owned(),
            Some('[') => set_output(query),
            _ => set_output(&format!(";{query}")),
        };
        if prints_json(&text).is_err() && terrapin_overpass::parse(query).is_ok() {
            return PreparedQuery { text: query.to_owned(), source: SettingsSource::Json, compat: None };
        }
        PreparedQuery::of_text(text)
    }

    fn of_text(text: String) -> PreparedQuery {
        PreparedQuery { text, source: SettingsSource::Text, compat: None }
    }

    /// Returns the text to run.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the error of the published code for a query that runs here.
    pub fn compat(&self) -> Option<&FailedQuery<ErrorClass>> {
        self.compat.as_ref()
    }

    /// Returns the language and its variant for the cache key.
    pub(super) fn language(&self) -> &'static str {
        // The answer's text is parsed like in the published code, within the published limits.
        match self.source {
            SettingsSource::Text => "OverpassQL, as OverpassNL",
            SettingsSource::Json => "OverpassQL, as OverpassNL, parsed for JSON",
            SettingsSource::Published => "OverpassQL, as OverpassNL, parsed",
        }
    }

    /// Parses the query.
    ///
    /// # Errors
    /// Returns an error if the text is not a query.
    pub fn parse(&self) -> Result<Script, OverpassFailure> {
        let mut script = terrapin_overpass::parse(&self.text)?;
        let settings = &mut script.settings;
        if self.source != SettingsSource::Text {
            settings.output = OutputFormat::Json;
        }
        if self.source == SettingsSource::Published {
            settings.timeout = TIMEOUT.into();
            settings.maxsize = settings.maxsize.min(MAX_SIZE);
        }
        Ok(script)
    }
}

/// Returns the published error class, unless the text is a query with JSON output.
fn prints_json(text: &str) -> Result<(), FailedQuery<ErrorClass>> {
    match terrapin_overpass::parse(text) {
        Ok(script) if script.settings.output == OutputFormat::Json => Ok(()),
        Ok(_) => Err(FailedQuery::new(ErrorClass::UnknownError, "not a JSON answer: the output format is not set")),
        Err(failure) => {
            let text = failure.to_string();
            Err(FailedQuery::new(class_of(&text).unwrap_or(ErrorClass::UnknownError), text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_geocoder::PlaceTable;

    const XML: &str = "<osm-script><query type=\"node\"><has-kv k=\"a\"/></query><print/></osm-script>";

    fn published(line: &str) -> PreparedQuery {
        PreparedQuery::published(line, None, &PlaceTable::default()).unwrap()
    }

    #[test]
    fn what_the_published_code_can_prepare_is_prepared_by_it() {
        for (line, text) in [
            ("node[a];out;", "[out:json][timeout:300];node[a];out;"),
            ("[timeout:25][out:xml];node[a];out;", "[timeout:300][out:json];node[a];out;"),
            ("// all\nnode[a];out;", "[out:json][timeout:300];// all\nnode[a];out;"),
            ("// all\n[out:xml][timeout:25];node[a];out;", "// all\n[out:json][timeout:300];node[a];out;"),
            // Invalid before and after.
            ("// all\n[out:json];node[a;out;", "[timeout:300];// all\n[out:json];node[a;out;"),
        ] {
            let prepared = published(line);
            assert_eq!((prepared.text(), prepared.compat()), (text, None), "{line}");
        }
    }

    #[test]
    fn a_query_that_it_spoils_is_run_and_what_it_says_is_kept() {
        use ErrorClass::{ParseError, UnknownError};
        for (line, class) in [
            ("// all\n[out:json];node[a];out;", ParseError),
            ("/* all */[out:csv(name)];node[a];out;", ParseError),
            ("// timeout:25\nnode[a];out;", ParseError),
            ("// [out:json]\nnode[a];out;", UnknownError),
            (XML, ParseError),
            ("<?xml version=\"1.0\"?><osm-script output=\"csv\" timeout=\"9000\"><print/></osm-script>", ParseError),
        ] {
            let prepared = published(line);
            assert_eq!((prepared.text(), prepared.compat().map(|failed| failed.class)), (line, Some(class)), "{line}");
            let settings = prepared.parse().unwrap().settings;
            assert_eq!((settings.timeout, settings.output), (300, OutputFormat::Json), "{line}");
        }
        let large = published("// all\n[maxsize:9000000000];node[a];out;").parse().unwrap().settings;
        assert_eq!(large.maxsize, MAX_SIZE);
    }

    #[test]
    fn an_answer_in_json_is_asked_for_wherever_the_settings_stand() {
        for query in [
            "node[a];out;",
            "[out:xml][timeout:7];node[a];out;",
            "// all\n[timeout:7];node[a];out;",
            XML,
            "/* [out:json] */node[a];out;",
        ] {
            let script = PreparedQuery::for_json(query).parse().unwrap();
            assert_eq!(script.settings.output, OutputFormat::Json, "{query}");
            assert_eq!(script.settings.timeout, if query.contains("timeout") { 7 } else { 180 }, "{query}");
        }
        assert!(PreparedQuery::for_json("I do not know").parse().is_err());
    }
}
