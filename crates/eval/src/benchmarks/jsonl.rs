//! Any benchmark: instances as JSON lines. OverpassQL is prepared as Overpass Turbo prepares it, with the time of the
//! data as now, and is asked for JSON; SPARQL runs as it is. Nothing else is changed.

use std::path::Path;

use serde::Deserialize;

use super::overpassnl::{self, Bounds, cached, execute, failed, run_query, set_output, similarity};
use super::registration::{Benchmark, Data, Registration};
use super::sparql::{self, QueryResult};
use crate::cache::Cache;
use crate::error::RunError;
use crate::input::read_lines;
use crate::metric::Metric;
use crate::record::{ErrorClass, Failed, Instance, Outcome, Record, Strict};
use terrapin_geocoder::{Chain, Places, Table};
use terrapin_osm::{BoundingBox, Osm};
use terrapin_overpass::turbo::{self, Surroundings};
use terrapin_sparql::Environment;

/// How a line says that its queries are SPARQL.
const SPARQL: &str = "sparql";

/// In the registry.
pub static REGISTRATION: Registration = Registration { name: "jsonl", metrics, recompute };

fn metrics() -> Vec<&'static Metric> {
    overpassnl::metrics().into_iter().chain(sparql::METRICS).collect()
}

fn recompute(data: Data<'_>) -> Box<dyn Benchmark + '_> {
    let Data { osm, snapshot, triples, now, places, cache, .. } = data;
    Box::new(JsonLines { osm, snapshot, triples, now, places, cache })
}

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<Id>,
    gold: String,
    pred: String,
    lang: Option<String>,
    nl: Option<String>,
    complexity: Option<String>,
    bbox: Option<String>,
    places: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(serde_json::Number),
}

/// Reads the instances of a file.
///
/// # Errors
/// The file cannot be read, or a line is not an instance in a language that is run here.
pub fn read(path: &Path) -> Result<Vec<Instance>, RunError> {
    let mut instances = Vec::new();
    for (index, text) in read_lines(path)?.iter().enumerate() {
        if text.trim().is_empty() {
            continue;
        }
        let instance = instance(index + 1, text).map_err(|source| RunError::Malformed {
            path: path.to_owned(),
            line: index + 1,
            source,
        })?;
        instances.push(instance);
    }
    Ok(instances)
}

fn instance(line: usize, text: &str) -> Result<Instance, serde_json::Error> {
    use serde::de::Error;
    let read: Line = serde_json::from_str(text)?;
    match read.lang.as_deref() {
        None | Some("overpassql" | "overpass" | "ql" | SPARQL) => {}
        Some(other) => {
            let message = format!("lang {other:?} is not run here: expected \"overpassql\" or \"sparql\"");
            return Err(serde_json::Error::custom(message));
        }
    }
    if let Some(bbox) = &read.bbox
        && bbox.parse::<BoundingBox>().is_err()
    {
        return Err(serde_json::Error::custom(format!("bbox {bbox:?}: expected \"south,west,north,east\" in degrees")));
    }
    if let Some(places) = &read.places {
        Table::parse(places.to_string().as_bytes())?;
    }
    let id = read.id.map(|id| match id {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    });
    Ok(Instance {
        line,
        id,
        nl: read.nl,
        gold: read.gold,
        pred: read.pred,
        lang: read.lang,
        complexity: read.complexity,
        bbox: read.bbox,
        places: read.places,
        ..Instance::default()
    })
}

/// Whether an instance's queries are SPARQL.
pub fn is_sparql(instance: &Instance) -> bool {
    instance.lang.as_deref() == Some(SPARQL)
}

/// How the benchmark is run.
pub struct JsonLines<'a> {
    /// The data to run queries on; without it OverpassQL is only compared.
    pub osm: Option<&'a Osm>,
    /// The digest of the data's snapshot.
    pub snapshot: &'a str,
    /// What SPARQL is asked of, where the snapshot has triples.
    pub triples: Option<&'a Environment>,
    /// The time of the data, in seconds since 1970.
    pub now: i64,
    /// Where names lead that the instance does not know itself.
    pub places: &'a dyn Places,
    /// Results of queries that were run before.
    pub cache: &'a dyn Cache,
}

impl Benchmark for JsonLines<'_> {
    fn evaluate(&self, instance: &Instance) -> Outcome {
        let mut outcome = Outcome { record: Record::of(instance), ..Outcome::default() };
        if is_sparql(instance) {
            if let Some(triples) = self.triples {
                self.sparql(triples, instance, &mut outcome.record);
            }
            return outcome;
        }
        outcome.record.scores = similarity(&instance.gold, &instance.pred);
        let Some(osm) = self.osm else { return outcome };
        let table = instance.places.as_ref().and_then(|places| Table::parse(places.to_string().as_bytes()).ok());
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn Places));
        places.0.push(self.places);
        let bbox = instance.bbox.as_deref().and_then(|text| text.parse::<BoundingBox>().ok());
        let surroundings = Surroundings { bbox, now: self.now, places: &places };
        let prepare = |query: &str| {
            Failed::guard(|| match turbo::expand(query, &surroundings) {
                Ok(text) => Ok(for_json(&text)),
                Err(problem) => Err(Failed::new(class_of(problem.reason), problem.to_string())),
            })
        };
        let engine =
            |query: &str| cached(self.cache, self.snapshot, query, || run_query(osm, query, &Bounds::default()));
        execute(prepare(&instance.gold), prepare(&instance.pred), Some(osm), &engine, &mut outcome);
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> Outcome {
        if !is_sparql(instance) {
            return failed(instance, true, self.osm.is_some(), message);
        }
        let strict = self.triples.map(|_| Strict::failed(message));
        Outcome { record: Record { strict, ..Record::of(instance) }, ..Outcome::default() }
    }
}

impl JsonLines<'_> {
    /// Runs two SPARQL queries and compares their answers.
    fn sparql(&self, triples: &Environment, Instance { gold, pred, .. }: &Instance, record: &mut Record) {
        let ask = |query| sparql::ask_cached(self.cache, self.snapshot, triples, query);
        let gold_answer = ask(gold);
        // The same text gives the same answer.
        let pred_answer = if pred == gold { gold_answer.clone() } else { ask(pred) };
        let gold = QueryResult { query: gold, answer: &gold_answer };
        sparql::compare(&gold, &QueryResult { query: pred, answer: &pred_answer }, record);
    }
}

/// The query, asked for JSON. The XML form has its output as an attribute, which is left as it is.
fn for_json(query: &str) -> String {
    match query.trim_start().chars().next() {
        Some('<') => query.to_owned(),
        Some('[') => set_output(query),
        _ => set_output(&format!(";{query}")),
    }
}

fn class_of(reason: turbo::Reason) -> ErrorClass {
    match reason {
        turbo::Reason::NoPlace => ErrorClass::Nominatim,
        turbo::Reason::NoDate => ErrorClass::RelativeDate,
        turbo::Reason::NoBox => ErrorClass::StaticErrorBbox,
        turbo::Reason::TooLarge => ErrorClass::UnknownError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_wrong_with_it() {
        let read = |text: &str| instance(3, text).map_err(|e| e.to_string());
        let good = read(r#"{"id": 7, "gold": "out;", "pred": "x", "lang": "overpassql", "bbox": "1,2,3,4"}"#).unwrap();
        assert_eq!((good.line, good.id.as_deref()), (3, Some("7")));
        for (line, says) in [
            ("{}", "missing field `gold`"),
            (r#"{"gold": "", "pred": "", "prd": ""}"#, "unknown field `prd`"),
            (r#"{"gold": "", "pred": "", "lang": "sql"}"#, "is not run here"),
            (r#"{"gold": "", "pred": "", "bbox": "1,2,3"}"#, "expected \"south,west,north,east\""),
            (r#"{"gold": "", "pred": "", "places": [1]}"#, "invalid type"),
        ] {
            assert!(read(line).is_err_and(|e| e.contains(says)), "{line}: {:?}", read(line));
        }
    }
}
