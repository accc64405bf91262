//! The tool `check_query`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sparql::dialect;
use super::{Limits, Tool, Trouble, no_triples};
use terrapin_diagnostic::CheckProblem;
use terrapin_engine::Engine;
use terrapin_eval::feedback::{Feedback, FeedbackRequest, NoTriples, feedback};
use terrapin_eval::language::QueryLanguage;
use terrapin_osm::BoundingBox;
use terrapin_sparql::Dialect;

/// Number of results that are shown.
const SAMPLE: usize = 5;

/// Checks a query and reports its errors.
pub struct CheckQuery;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckToolRequest {
    /// The query, in OverpassQL or SPARQL.
    query: String,
    /// "overpassql" or "sparql"; default: detected from the beginning of the query.
    lang: Option<String>,
    /// The dialect of SPARQL: "auto" (default), "wdqs" for the Wikidata Query Service, "qlever" or "standard".
    dialect: Option<String>,
    /// The box that replaces {{bbox}} in OverpassQL: "south,west,north,east" in degrees.
    bbox: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct CheckToolAnswer {
    /// Whether the query runs.
    runs: bool,
    /// Number of results, if it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<usize>,
    /// The errors, each with its position and the probable intention.
    errors: Vec<CheckProblem>,
    /// Probable mistakes: keys and values that do not occur, with the nearest that do, and parts that find nothing.
    warnings: Vec<String>,
    /// Everything as one text, with the first results.
    text: String,
}

impl Tool for CheckQuery {
    const NAME: &'static str = "check_query";
    const TITLE: &'static str = "Check a query";
    const DESCRIPTION: &'static str = "Parse and run a query and tell what is wrong with it: errors with their places and hints, \
        how many results it gives, and warnings, such as tags that no element has with the nearest that occur. Use it when a \
        query fails or finds nothing.";
    type Input = CheckToolRequest;
    type Output = CheckToolAnswer;

    fn run(engine: &Engine, input: CheckToolRequest, limits: &Limits) -> Result<CheckToolAnswer, Trouble> {
        let named = match input.lang.as_deref() {
            Some(name) => Some(QueryLanguage::named(name).ok_or_else(|| {
                Trouble::new(format!("lang {name:?}: there is no such language")).hint("overpassql or sparql")
            })?),
            None => None,
        };
        let bbox = input.bbox.as_deref().map(str::parse::<BoundingBox>).transpose();
        let bbox = bbox.map_err(|e| Trouble::new(format!("bbox: {e}")).hint("south,west,north,east in degrees"))?;
        let dialect = dialect(input.dialect.as_deref())?;
        let said = feedback_on(engine, &input.query, named, dialect, bbox, limits)?;
        let text = said.to_string();
        Ok(CheckToolAnswer {
            runs: said.results.is_some(),
            results: said.results.map(|results| results.count),
            errors: said.errors.into_iter().map(CheckProblem::from).collect(),
            warnings: said.warnings.iter().map(ToString::to_string).collect(),
            text,
        })
    }
}

/// Returns feedback on a query in this language, or in the detected one.
///
/// # Errors
/// Returns an error if the query needs triples and the snapshot has none.
fn feedback_on(
    engine: &Engine,
    query: &str,
    language: Option<QueryLanguage>,
    dialect: Dialect,
    bbox: Option<BoundingBox>,
    limits: &Limits,
) -> Result<Feedback, Trouble> {
    let (places, limits) = (engine.places(None), limits.clone());
    let places = &places;
    let request = FeedbackRequest { query, language, dialect, bbox, places, sample: SAMPLE, run: true, limits };
    feedback(engine, &request).map_err(|NoTriples| no_triples())
}

/// Returns the feedback on a query as a text. `None` if there is none within the limits.
pub fn checked_text(
    engine: &Engine,
    query: &str,
    language: QueryLanguage,
    bbox: Option<BoundingBox>,
    limits: &Limits,
) -> Option<String> {
    let said =
        engine.run(limits, || feedback_on(engine, query, Some(language), Dialect::Auto, bbox, limits)).ok()?.ok()?;
    Some(said.to_string().trim_end().to_owned())
}
