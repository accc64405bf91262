//! Prepares queries: replaces the shortcuts of Overpass Turbo, parses, and selects the data that a query needs.

use std::borrow::Cow;
use std::sync::Arc;

use terrapin_geocoder::PlaceSource;
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::{self, ShortcutProblem, ShortcutValues};
use terrapin_overpass::{OverpassFailure, syntax::Script};
use terrapin_sparql::{Environment, RunnableQuery, SparqlError, SparqlSettings};

use crate::Engine;

/// What the shortcuts of a query refer to. `{{date}}` is the time of the data.
#[derive(Clone, Copy)]
pub struct QueryContext<'a> {
    /// The box of `{{bbox}}` and `{{center}}`.
    pub bbox: Option<BoundingBox>,
    /// The places that names refer to, such as [`Engine::places`].
    pub places: &'a dyn PlaceSource,
}

/// A query in OverpassQL that can be run.
#[derive(Debug, Clone)]
pub struct OverpassQuery<'t> {
    /// The text without shortcuts; positions in errors refer to it.
    pub text: Cow<'t, str>,
    /// The syntax tree.
    pub script: Script,
}

/// The reason why a query in OverpassQL cannot be run.
#[derive(Debug)]
pub enum OverpassRejection<'t> {
    /// A shortcut cannot be replaced.
    Shortcut(ShortcutProblem),
    /// The query has errors.
    Syntax {
        /// The text without shortcuts.
        text: Cow<'t, str>,
        /// Its errors.
        failure: OverpassFailure,
    },
}

/// The reason why a query in SPARQL cannot be run.
#[derive(Debug)]
pub enum SparqlRejection {
    /// The query has an error.
    Syntax(SparqlError),
    /// The query needs triples and the snapshot has none.
    NoTriples,
}

impl Engine {
    /// Replaces the shortcuts of a query in OverpassQL. Returns a text without shortcuts unchanged.
    ///
    /// # Errors
    /// A shortcut cannot be replaced.
    pub fn expand<'t>(&self, text: &'t str, context: &QueryContext<'_>) -> Result<Cow<'t, str>, ShortcutProblem> {
        self.expand_at(text, context, self.data_timestamp())
    }

    /// Works like [`Engine::expand`], with `now` as the time of `{{date}}` in seconds since 1970.
    ///
    /// # Errors
    /// A shortcut cannot be replaced.
    pub fn expand_at<'t>(
        &self,
        text: &'t str,
        context: &QueryContext<'_>,
        now: i64,
    ) -> Result<Cow<'t, str>, ShortcutProblem> {
        let QueryContext { bbox, places } = *context;
        turbo::expand(text, &ShortcutValues { bbox, now, places })
    }

    /// Replaces the shortcuts of a query in OverpassQL and parses it.
    ///
    /// # Errors
    /// A shortcut cannot be replaced, or the query has errors.
    pub fn prepare_overpass<'t>(
        &self,
        text: &'t str,
        context: &QueryContext<'_>,
    ) -> Result<OverpassQuery<'t>, OverpassRejection<'t>> {
        let text = self.expand(text, context).map_err(OverpassRejection::Shortcut)?;
        match terrapin_overpass::parse(&text) {
            Ok(script) => Ok(OverpassQuery { text, script }),
            Err(failure) => Err(OverpassRejection::Syntax { text, failure }),
        }
    }

    /// Parses a query in SPARQL. Returns it with the data that it needs: a query about elements alone needs no triples.
    ///
    /// # Errors
    /// The query has an error, or it needs triples and the snapshot has none.
    pub fn prepare_sparql(
        &self,
        text: &str,
        settings: &SparqlSettings,
    ) -> Result<(Arc<RunnableQuery>, &Environment), SparqlRejection> {
        let query = terrapin_sparql::prepare(text, settings).map_err(SparqlRejection::Syntax)?;
        let data = if query.is_of_elements() { Some(self.graph()) } else { self.triples() };
        data.map(|data| (query, data)).ok_or(SparqlRejection::NoTriples)
    }
}
