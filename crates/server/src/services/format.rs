//! `POST /format`: formats a query of either language, as `terrapin fmt` does.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::routing::on;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Route, json_body, schema_of};
use crate::{App, json};
use terrapin_eval::language::{self, QueryLanguage};
use terrapin_format::FormatError;

/// The route of the formatters.
pub const ROUTES: &[Route] =
    &[Route::post("/format", "Format a query of either language", |_, methods| on(methods, format))
        .details("The answer is {\"query\": \"...\"}. Only white space changes, and in SPARQL the case of keywords. The query need not be valid.")
        .reads(&[json_body(schema_of::<FormatRequest>)])
        .access(Access::Query)];

/// The longest query that is formatted, in bytes.
const LONGEST: usize = 1 << 20;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FormatRequest {
    query: String,
    /// Its language; detected from its beginning if not given.
    #[schemars(extend("enum" = ["overpassql", "sparql", null]))]
    lang: Option<String>,
}

#[derive(Serialize)]
struct FormattedQuery {
    query: String,
}

/// Answers `{"query": "...", "lang": "sparql"}`; `lang` is optional.
pub async fn format(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    let asked = Arc::clone(&context);
    json::serve(app, context, "format", body, move |_, request: FormatRequest, _| {
        asked.set_query(&request.query);
        let wrong = |message: String| Err((Outcome::Refused, message));
        let text = request.query.as_str();
        if text.len() > LONGEST {
            return wrong(format!("the query is longer than {LONGEST} bytes"));
        }
        let language = match request.lang.as_deref().map(|lang| (lang, QueryLanguage::named(lang))) {
            Some((lang, None)) => return wrong(format!("lang {lang:?}: expected \"overpassql\" or \"sparql\"")),
            Some((_, Some(named))) => named,
            None => language::of(text).unwrap_or(QueryLanguage::OverpassQl),
        };
        let formatted = match language {
            QueryLanguage::OverpassQl => terrapin_format::overpass(text),
            QueryLanguage::Sparql => terrapin_format::sparql(text),
        };
        match formatted {
            Ok(query) => Ok(FormattedQuery { query }),
            Err(FormatError::Token(at)) => {
                let before = text.get(..at).unwrap_or(text);
                let line = before.matches('\n').count() + 1;
                wrong(format!("line {line}: a string, comment or shortcut has no end, or a character starts no token"))
            }
            Err(error @ FormatError::Changed(_)) => Err((Outcome::Failed, error.to_string())),
        }
    })
    .await
}
