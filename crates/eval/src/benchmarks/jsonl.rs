//! Any benchmark, with instances as JSON lines. OverpassQL is prepared like Overpass Turbo does, with the time of the
//! data as `now` and JSON output; SPARQL runs unchanged.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::overpassnl::{self, AnswerBounds, PreparedQuery, cached, execute, failed, run_query, similarity};
use super::registration::{Benchmark, Registration, ScoringInputs, nothing};
use super::sparql::{self, QueryComparison};
use super::texts;
use crate::cache::ResultCache;
use crate::error::RunError;
use crate::input::InputError;
use crate::input::extract::{
    PredictionFormat, extract, form_of_texts, read_predictions, read_predictions_by_id, refuse_other,
};
use crate::input::published::nlmaps::NLMAPS;
use crate::input::published::{self, FieldMap};
use crate::input::rows::{InputRow, kind};
use crate::language::QueryLanguage;
use crate::metric::Metric;
use crate::record::{ErrorClass, FailedQuery, Instance, ResultRecord, StoredOutcome, StrictResults};
use terrapin_engine::{Engine, QueryContext};
use terrapin_geocoder::{Chain, PlaceSource, PlaceTable};
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::Reason;
use terrapin_sparql::{Dialect, Environment};

/// The `lang` of SPARQL.
const SPARQL: &str = "sparql";

/// The entry in the registry.
pub static REGISTRATION: Registration = Registration { name: "jsonl", metrics, corpus: nothing, recompute };

fn metrics() -> Vec<&'static Metric> {
    overpassnl::metrics().into_iter().chain(sparql::METRICS).collect()
}

fn recompute(data: ScoringInputs<'_>) -> Box<dyn Benchmark + '_> {
    let ScoringInputs { engine, places, cache, .. } = data;
    Box::new(JsonLines { engine, places, similarity: true, cache, bounds: AnswerBounds::default() })
}

/// The names of the fields: the first is ours, the others are those of other benchmarks and libraries.
const GOLD: &[&str] = &["gold", "reference", "references", "ref", "target"];
/// Further names of the query field in files without predictions.
const QUERY: &[&str] = &["gold", "reference", "references", "ref", "target", "query"];
const PRED: &[&str] = &["pred", "prediction", "predictions", "predicted"];
const LANG: &[&str] = &["lang", "language"];
const NL: &[&str] = &["nl", "question", "instruction"];
/// Further fields of published benchmarks, and of exported annotations, that are not used.
const IGNORED: &[&str] = &["database", "annotator", "context", "rounds", "skips", "split", "status", "validators"];

/// The contents of a file.
#[derive(Debug, Default)]
pub struct JsonlContents {
    /// The instances.
    pub instances: Vec<Instance>,
    /// The names of unused fields.
    pub unused: BTreeSet<String>,
}

/// The contents of a file of questions and gold queries.
#[derive(Debug, Default)]
pub struct GoldInstances {
    /// The instances; the predictions are empty if the file has none.
    pub instances: Vec<Instance>,
    /// What each instance has in addition.
    pub more: Vec<GoldFields>,
    /// The names of unused fields.
    pub unused: BTreeSet<String>,
}

/// The fields of a row that only a benchmark's author uses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoldFields {
    /// The split.
    pub split: Option<String>,
    /// The name of the template of the question or query.
    pub template: Option<String>,
    /// Other wordings of the question.
    pub paraphrases: Vec<String>,
}

impl GoldFields {
    fn take(row: &mut InputRow) -> Result<GoldFields, String> {
        let text = |text| match text {
            Value::String(text) => Ok(text),
            other => Err(format!("`paraphrases`: expected texts, found {}", kind(&other))),
        };
        let paraphrases = match row.take(&["paraphrases"])? {
            Some(Value::Array(texts)) => texts.into_iter().map(text).collect::<Result<Vec<String>, String>>()?,
            Some(Value::Null) | None => Vec::new(),
            Some(other) => return Err(format!("`paraphrases`: expected an array of texts, found {}", kind(&other))),
        };
        Ok(GoldFields { paraphrases, split: row.take_text(&["split"])?, template: row.take_text(&["template"])? })
    }
}

/// Reads questions and gold queries in the formats of [`read`]; predictions may be missing.
///
/// # Errors
/// Returns an error if the file cannot be read, or a row has no query in a supported language.
pub fn read_golds(path: &Path) -> Result<GoldInstances, RunError> {
    read_golds_of(path, &FieldMap::default(), OtherLanguages::Rejected)
}

/// The treatment of rows in a language that is not run here, such as SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherLanguages {
    /// Such a row is an error.
    Rejected,
    /// Such a row is read, for tools that do not run queries.
    Kept,
}

/// Reads questions and gold queries like [`read_golds`], with renamed fields.
///
/// # Errors
/// Returns the errors of [`read_golds`], and an error if no row has a field that `map` names.
pub fn read_golds_of(path: &Path, map: &FieldMap, others: OtherLanguages) -> Result<GoldInstances, RunError> {
    let mut golds = GoldInstances::default();
    for mut row in published::read(path, map)? {
        let place = row.place.clone();
        let mut instance = || {
            let more = GoldFields::take(&mut row)?;
            let unfit = format!("there is no `gold` (or `reference`, `query`); it has {}", row.names());
            let gold = row.take_text(QUERY)?.ok_or(unfit)?;
            let pred = match row.take(PRED)? {
                Some(Value::String(pred)) => pred,
                _ => String::new(),
            };
            let lang = (others == OtherLanguages::Kept).then(|| other_language(&mut row)).flatten();
            let instance = finish(row.clone(), gold, pred, &mut golds.unused)?;
            Ok((more, Instance { lang: lang.or(instance.lang.clone()), ..instance }))
        };
        let (more, instance) = instance().map_err(|message: String| InputError::unfit(path, &place, message))?;
        golds.more.push(more);
        golds.instances.push(instance);
    }
    Ok(golds)
}

/// Takes the language of a row if it is not run here.
fn other_language(row: &mut InputRow) -> Option<String> {
    let name = LANG.iter().find(|name| row.fields.contains_key(**name))?;
    let lang =
        row.fields.get(*name)?.as_str().filter(|lang| QueryLanguage::named(lang).is_none())?.to_ascii_lowercase();
    row.fields.remove(*name);
    Some(lang)
}

/// Reads the instances of a file: JSON lines, a JSON array, CSV, TSV or Parquet, or a published shape, with predictions
/// in the given forms and renamed fields.
///
/// # Errors
/// Returns an error if the file cannot be read, or a row is not an instance in a supported language.
pub fn read(path: &Path, forms: &[PredictionFormat], map: &FieldMap) -> Result<JsonlContents, RunError> {
    let mut read = JsonlContents::default();
    for mut row in published::read(path, map)? {
        let place = row.place.clone();
        let more = GoldFields::take(&mut row);
        let instance = more.and_then(|_| instance(row, &mut read.unused));
        let mut instance = instance.map_err(|message| InputError::unfit(path, &place, message))?;
        instance.pred = extract(&instance.pred, forms, Some(instance.language()));
        read.instances.push(instance);
    }
    if !forms.contains(&PredictionFormat::Lines) {
        let preds: Vec<String> = read.instances.iter().map(|instance| instance.pred.clone()).collect();
        refuse_other(path, forms, form_of_texts(&preds))?;
    }
    Ok(read)
}

/// Reads instances like [`read`] with the predictions of another file: rows with the ids of the instances, or one
/// prediction for each instance in order. An instance without a row has an empty prediction.
///
/// # Errors
/// Returns an error if a file cannot be read, or the predictions do not match the instances.
pub fn read_with_predictions(
    path: &Path,
    pred: &Path,
    forms: &[PredictionFormat],
    map: &FieldMap,
) -> Result<JsonlContents, RunError> {
    let golds = read_golds_of(path, map, OtherLanguages::Rejected)?;
    let mut contents = JsonlContents { instances: golds.instances, unused: golds.unused };
    let language = contents.instances.first().map(Instance::language);
    let Some(mut by_id) = read_predictions_by_id(pred, forms, language)? else {
        let texts = read_predictions(pred, forms, language)?;
        crate::input::same_length((path, contents.instances.len()), (pred, texts.len()))?;
        contents.instances.iter_mut().zip(texts).for_each(|(instance, text)| instance.pred = text);
        return Ok(contents);
    };
    for instance in &mut contents.instances {
        instance.pred = instance.id.as_ref().and_then(|id| by_id.remove(id)).unwrap_or_default();
    }
    match by_id.into_keys().next() {
        None => Ok(contents),
        Some(id) => {
            let message = format!("has a prediction for {id:?}, which {} lacks", path.display());
            Err(InputError::unfit(pred, "the file", message).into())
        }
    }
}

/// Builds the instance of a row. Remaining fields are unused.
///
/// # Errors
/// Returns an error if the row lacks a query, or a field is invalid.
pub fn instance(mut row: InputRow, unused: &mut BTreeSet<String>) -> Result<Instance, String> {
    let names = row.names();
    let lacks = |field: &str, other: &str| format!("there is no `{field}` (or `{other}`); it has {names}");
    let is_there = PRED.iter().any(|name| row.fields.contains_key(*name));
    let gold = row.take_text(GOLD)?.ok_or_else(|| lacks("gold", "reference"))?;
    // Null means that the system gave no query; a misspelt name is an error.
    let pred = row.take_text(PRED)?;
    let pred = if is_there { pred.unwrap_or_default() } else { return Err(lacks("pred", "prediction")) };
    finish(row, gold, pred, unused)
}

/// Builds the instance of a row after its queries were taken.
fn finish(mut row: InputRow, gold: String, pred: String, unused: &mut BTreeSet<String>) -> Result<Instance, String> {
    let lang = match row.take_text(LANG)?.map(|lang| lang.to_ascii_lowercase()) {
        Some(lang) if lang == NLMAPS => {
            return Err(
                "the query has no counterpart in OverpassQL; `terrapin benchmark translate` writes those that have"
                    .to_owned(),
            );
        }
        Some(lang) if QueryLanguage::named(&lang).is_none() => {
            return Err(format!("lang {lang:?} is not run here: expected \"overpassql\" or \"sparql\""));
        }
        lang => lang,
    };
    let dialect = row.take_text(&["dialect"])?.map(|dialect| dialect.to_ascii_lowercase());
    if let Some(dialect) = &dialect
        && Dialect::named(dialect).is_none()
    {
        let known = Dialect::ALL.map(Dialect::name).join(", ");
        return Err(format!("dialect {dialect:?}: expected one of {known}"));
    }
    let bbox = row.take_text(&["bbox"])?;
    if let Some(bbox) = &bbox
        && bbox.parse::<BoundingBox>().is_err()
    {
        return Err(format!("bbox {bbox:?}: expected \"south,west,north,east\" in degrees"));
    }
    // In a table they are a text.
    let places = match row.take(&["places"])? {
        Some(Value::String(text)) => Some(serde_json::from_str(&text).map_err(|e| format!("places: {e}"))?),
        Some(Value::Null) | None => None,
        places => places,
    };
    if let Some(places) = &places {
        PlaceTable::parse(places.to_string().as_bytes()).map_err(|e| format!("places: {e}"))?;
    }
    let id = match row.take(&["id"])? {
        Some(Value::String(text)) => Some(text),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(Value::Null) | None => None,
        Some(other) => return Err(format!("id: expected a text or a number, found {}", kind(&other))),
    };
    let (nl, complexity) = (row.take_text(NL)?, row.take_text(&["complexity"])?);
    let ordered = match row.take(&["order_matters"])? {
        Some(Value::Bool(ordered)) => Some(ordered),
        Some(Value::Null) | None => None,
        Some(other) => return Err(format!("order_matters: expected true or false, found {}", kind(&other))),
    };
    unused.extend(row.fields.into_iter().map(|(name, _)| name).filter(|name| !IGNORED.contains(&name.as_str())));
    Ok(Instance {
        line: row.number,
        id,
        nl,
        gold,
        pred,
        lang,
        dialect,
        complexity,
        bbox,
        places,
        ordered,
        ..Instance::default()
    })
}

/// Reports whether an instance's queries are SPARQL.
pub fn is_sparql(instance: &Instance) -> bool {
    instance.lang.as_deref() == Some(SPARQL)
}

/// The options of the benchmark.
pub struct JsonLines<'a> {
    /// The snapshot; without it, OverpassQL is only compared, and SPARQL is not scored.
    pub engine: Option<&'a Engine>,
    /// The geocoded places for instances without their own.
    pub places: &'a dyn PlaceSource,
    /// Compare queries as texts and trees.
    pub similarity: bool,
    /// The cache of results.
    pub cache: &'a dyn ResultCache,
    /// Limits of each query, in addition to those of every run.
    pub bounds: AnswerBounds,
}

impl Benchmark for JsonLines<'_> {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut outcome = StoredOutcome { record: ResultRecord::of(instance), ..StoredOutcome::default() };
        if is_sparql(instance) {
            if self.similarity {
                texts::set(&instance.gold, &instance.pred, instance.language(), &mut outcome.record);
            }
            if let Some((engine, triples)) = self.with_triples() {
                self.sparql(engine, triples, instance, &mut outcome.record);
            }
            return outcome;
        }
        if self.similarity {
            outcome.record.scores = similarity(&instance.gold, &instance.pred);
            texts::set(&instance.gold, &instance.pred, instance.language(), &mut outcome.record);
        }
        let Some(engine) = self.engine else { return outcome };
        let osm = engine.osm();
        let table = instance.places.as_ref().and_then(|places| PlaceTable::parse(places.to_string().as_bytes()).ok());
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn PlaceSource));
        places.0.push(self.places);
        let bbox = instance.bbox.as_deref().and_then(|text| text.parse::<BoundingBox>().ok());
        let context = QueryContext { bbox, places: &places };
        let prepare = |query: &str| {
            FailedQuery::guard(|| match engine.expand(query, &context) {
                Ok(text) => Ok(PreparedQuery::for_json(&text)),
                Err(problem) => Err(FailedQuery::new(class_of(problem.reason), problem.to_string())),
            })
        };
        let run =
            |query: &PreparedQuery| cached(self.cache, engine.digest(), query, || run_query(osm, query, &self.bounds));
        execute(prepare(&instance.gold), prepare(&instance.pred), Some(osm), &run, &mut outcome);
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
        if !is_sparql(instance) {
            return failed(instance, self.similarity, self.engine.is_some(), message);
        }
        let strict = self.with_triples().map(|_| StrictResults::failed(message));
        StoredOutcome { record: ResultRecord { strict, ..ResultRecord::of(instance) }, ..StoredOutcome::default() }
    }
}

impl<'a> JsonLines<'a> {
    fn with_triples(&self) -> Option<(&'a Engine, &'a Environment)> {
        self.engine.and_then(|engine| Some((engine, engine.triples()?)))
    }

    /// Runs two SPARQL queries and compares their answers.
    fn sparql(&self, engine: &Engine, triples: &Environment, instance: &Instance, record: &mut ResultRecord) {
        let (Instance { gold, pred, ordered, .. }, dialect) = (instance, instance.dialect());
        let limits = || self.bounds.of_query(sparql::TIMEOUT);
        let ask = |query| sparql::ask_cached(self.cache, engine.digest(), triples, query, dialect, &limits());
        let gold_answer = ask(gold);
        // Equal texts have equal answers.
        let pred_answer = if pred == gold { gold_answer.clone() } else { ask(pred) };
        sparql::set_unknown(triples, gold, pred, dialect, record);
        let gold = QueryComparison { query: gold, dialect, answer: &gold_answer };
        let pred = QueryComparison { query: pred, dialect, answer: &pred_answer };
        sparql::compare_in_order(&gold, &pred, *ordered, record);
    }
}

fn class_of(reason: Reason) -> ErrorClass {
    match reason {
        Reason::NoPlace => ErrorClass::Nominatim,
        Reason::NoDate => ErrorClass::RelativeDate,
        Reason::NoBox => ErrorClass::StaticErrorBbox,
        Reason::TooLarge => ErrorClass::UnknownError,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<JsonlContents, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        std::fs::write(&path, text).unwrap();
        read(&path, &[], &FieldMap::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_line_says_what_is_wrong_with_it() {
        let good = r#"{"id": 7, "gold": "out;", "pred": "x", "lang": "overpassql", "bbox": "1,2,3,4"}"#;
        let good = &read_text(&format!("\n\n{good}")).unwrap().instances[0];
        assert_eq!((good.line, good.id.as_deref()), (3, Some("7")));
        for (line, says) in [
            ("{}", "line 1: there is no `gold`"),
            (r#"{"gold": null, "pred": ""}"#, "there is no `gold`"),
            (r#"{"gold": "", "prd": ""}"#, "there is no `pred` (or `prediction`); it has `gold`, `prd`"),
            (r#"{"gold": "", "pred": "", "prediction": ""}"#, "has both `pred` and `prediction`"),
            (r#"{"gold": "", "pred": "", "lang": "sql"}"#, "is not run here"),
            (r#"{"gold": "", "pred": "", "lang": "sparql", "dialect": "virtuoso"}"#, "expected one of auto, wdqs"),
            (r#"{"gold": "", "pred": "", "lang": "nlmaps"}"#, "terrapin benchmark translate"),
            (r#"{"gold": "", "pred": "", "bbox": "1,2,3"}"#, "expected \"south,west,north,east\""),
            (r#"{"gold": "", "pred": "", "places": [1]}"#, "invalid type"),
            (r#"{"gold": "", "pred": "```out;```"}"#, "--extract fenced"),
        ] {
            assert!(read_text(line).is_err_and(|e| e.contains(says)), "{line}: {:?}", read_text(line));
        }
    }

    #[test]
    fn predictions_come_from_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let gold = write("gold", "{\"id\": \"c:1-en\", \"gold\": \"a\"}\n{\"id\": \"c:2-en\", \"gold\": \"b\"}\n");
        let preds = |text: &str| {
            let read = read_with_predictions(&gold, &write("pred", text), &[], &FieldMap::default());
            let texts = |contents: JsonlContents| contents.instances.into_iter().map(|i| i.pred).collect::<Vec<_>>();
            read.map(texts).map_err(|e| e.to_string())
        };
        // The answers of TEXT2SPARQL's client.
        let answers = r#"[{"dataset": "d", "question": "q", "query": "y", "endpoint": "e", "qname": "c:2-en"}]"#;
        assert_eq!(preds(answers).unwrap(), ["", "y"]);
        assert_eq!(preds("x\ny\n").unwrap(), ["x", "y"]);
        assert_eq!(preds("[out:json];node(1);out;\n[out:json];out;\n").unwrap()[1], "[out:json];out;");
        assert!(preds("x\n").is_err_and(|e| e.contains("1 lines, but")));
        let other = preds(r#"{"id": "c:3-en", "prediction": "z"}"#);
        assert!(other.as_ref().is_err_and(|e| e.contains("has a prediction for \"c:3-en\"")), "{other:?}");
    }

    #[test]
    fn other_names_and_forms_give_the_same_instances() {
        let ours = read_text(r#"{"id": "a", "nl": "Which?", "gold": "out;", "pred": "", "lang": "sparql"}"#).unwrap();
        for text in [
            r#"{"id": "a", "question": "Which?", "references": ["out;"], "prediction": null, "language": "SPARQL"}"#,
            r#"[{"id": "a", "nl": "Which?", "reference": "out;", "predictions": [], "lang": "sparql"}]"#,
            "id,question,reference,prediction,lang\na,Which?,out;,,sparql\n",
            "id\tquestion\treference\tprediction\tlang\tbbox\na\tWhich?\tout;\t\tsparql\t\n",
        ] {
            assert_eq!(read_text(text).unwrap().instances, ours.instances, "{text}");
        }
        let more = read_text(r#"{"gold": "a", "pred": "b", "model": "m", "tokens": 7}"#).unwrap();
        assert_eq!(more.unused.into_iter().collect::<Vec<_>>(), ["model", "tokens"]);
    }
}
