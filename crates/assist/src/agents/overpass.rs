//! The tool `query_overpass`.

use std::collections::BTreeMap;
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::{ResultPage, short};
use super::{Limits, Tool, Trouble};
use terrapin_engine::{Engine, QueryContext};
use terrapin_eval::feedback::{FeedbackRequest, NoTriples, feedback, without_triples};
use terrapin_eval::language::QueryLanguage;
use terrapin_osm::BoundingBox;
use terrapin_overpass::lint;
use terrapin_overpass::output::{ElementSink, OutCounts, OutputItem, Recording};
use terrapin_overpass::syntax::Script;
use terrapin_overpass::{self as overpass, OverpassFailure};
use terrapin_sparql::Dialect;

/// Default and maximum number of elements in an answer.
const ELEMENTS: (usize, usize) = (20, 200);

/// Runs a query in OverpassQL.
pub struct QueryOverpass;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverpassToolRequest {
    /// The query in OverpassQL: "area[name=Valletta]->.a; nwr[amenity=cafe](area.a); out tags center;".
    /// {{geocodeArea:NAME}} and {{bbox}} are supported. The answer is always JSON; [out:...] has no effect.
    query: String,
    /// The box that replaces {{bbox}}: "south,west,north,east" in degrees.
    bbox: Option<String>,
    /// Maximum number of elements; default: 20, at most 200. All elements are counted.
    limit: Option<usize>,
    /// next_cursor of the previous answer, for the next elements of the same query.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct OverpassToolAnswer {
    /// Number of all elements of the query.
    total: usize,
    /// Number of elements of each type.
    types: BTreeMap<String, usize>,
    /// The selected elements, in the format of [out:json]; long lists are cut, with their length in "..._total".
    elements: Vec<BTreeMap<String, Value>>,
    /// The cursor for the next elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The next step, if there are no elements or more elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Tool for QueryOverpass {
    const NAME: &'static str = "query_overpass";
    const TITLE: &'static str = "Query OpenStreetMap";
    const DESCRIPTION: &'static str = "Run a query in OverpassQL over this snapshot of OpenStreetMap. Gives the number of elements \
        and the first of them; next_cursor leads to more. `out count;` counts alone, `out tags center;` gives what is \
        needed most often, `out ids;` the least. Read terrapin://cheatsheet/overpassql for the language.";
    type Input = OverpassToolRequest;
    type Output = OverpassToolAnswer;

    fn run(engine: &Engine, input: OverpassToolRequest, limits: &Limits) -> Result<OverpassToolAnswer, Trouble> {
        let part = ResultPage::asked(input.limit, input.cursor.as_deref(), ELEMENTS.0, ELEMENTS.1)?;
        let script = script(engine, &input.query, input.bbox.as_deref(), limits)?;
        let osm = engine.osm();
        let ElementPage { total, types, elements, .. } = page_of(engine, &script, part, limits)?;
        let next_cursor = part.next(total);
        let mut answer = OverpassToolAnswer { total, types, elements, next_cursor, hint: None };
        answer.hint = if answer.total == 0 {
            let notes: Vec<String> = lint::notes(&script, osm).iter().map(ToString::to_string).collect();
            Some(if notes.is_empty() {
                "check_query tells which filter finds nothing".to_owned()
            } else {
                notes.join("; ")
            })
        } else {
            answer.next_cursor.as_ref().map(|_| {
                "narrow it by another filter or a smaller area, count with `out count;`, or go on with next_cursor"
                    .to_owned()
            })
        };
        Ok(answer)
    }
}

/// The number of elements of an answer by type, and the elements of one page. All elements are counted; only those of
/// the page are kept, with long lists and texts shortened.
pub struct ElementPage {
    part: ResultPage,
    /// Number of all elements.
    pub total: usize,
    /// Number of elements of each type.
    pub types: BTreeMap<String, usize>,
    /// The elements of the page, in the format of `[out:json]`.
    pub elements: Vec<BTreeMap<String, Value>>,
}

impl ElementPage {
    /// Creates an empty page.
    pub fn new(part: ResultPage) -> ElementPage {
        ElementPage { part, total: 0, types: BTreeMap::new(), elements: Vec::new() }
    }

    fn add(&mut self, type_name: &str, element: &impl Serialize) -> io::Result<()> {
        if self.part.has(self.total)
            && let Value::Object(fields) = short(serde_json::to_value(element)?)
        {
            self.elements.push(fields.into_iter().collect());
        }
        self.total += 1;
        match self.types.get_mut(type_name) {
            Some(count) => *count += 1,
            None => drop(self.types.insert(type_name.to_owned(), 1)),
        }
        Ok(())
    }
}

impl ElementSink for ElementPage {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.add(item.type_name, item)
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.add("count", counts)
    }
}

/// Parses a query, after replacing its shortcuts.
///
/// # Errors
/// Returns the text of `check_query` if the query is invalid. The query is not run.
pub fn script(engine: &Engine, query: &str, bbox: Option<&str>, limits: &Limits) -> Result<Script, Trouble> {
    let bbox = bbox.map(str::parse::<BoundingBox>).transpose();
    let bbox = bbox.map_err(|error| Trouble::new(format!("bbox: {error}")).hint("south,west,north,east in degrees"))?;
    let places = engine.places(None);
    match engine.prepare_overpass(query, &QueryContext { bbox, places: &places }) {
        Ok(query) => Ok(query.script),
        Err(_) => {
            let (language, limits) = (Some(QueryLanguage::OverpassQl), limits.clone());
            let asked = FeedbackRequest {
                query,
                language,
                dialect: Dialect::Auto,
                bbox,
                places: &places,
                sample: 0,
                run: false,
                limits,
            };
            let said = feedback(engine, &asked).unwrap_or_else(|NoTriples| without_triples());
            Err(Trouble::new(said.to_string()))
        }
    }
}

/// Runs a query and keeps the elements of one page.
///
/// # Errors
/// Returns an error if the query failed or was stopped.
pub fn page_of(engine: &Engine, script: &Script, part: ResultPage, limits: &Limits) -> Result<ElementPage, Trouble> {
    let mut found = ElementPage::new(part);
    overpass::run_into(engine.osm(), script, limits, &mut found).map_err(|failure| stopped(&failure))?;
    Ok(found)
}

/// Runs a query and keeps its answer, to read it several times.
///
/// # Errors
/// Returns an error if the query failed or was stopped.
pub fn record(engine: &Engine, script: &Script, limits: &Limits) -> Result<Recording, Trouble> {
    overpass::record(engine.osm(), script, limits).map_err(|failure| stopped(&failure))
}

/// Converts a failed query to the error of a tool.
pub fn stopped(failure: &OverpassFailure) -> Trouble {
    let trouble = Trouble { is_fault: failure.is_fault(), ..Trouble::new(failure.to_string()) };
    match failure.diagnostics.iter().find_map(|diagnostic| diagnostic.help.clone()) {
        Some(help) => trouble.hint(help),
        None => trouble.hint("ask for less: a smaller area, a tag that fewer elements have, [timeout:...]"),
    }
}
