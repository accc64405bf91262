//! The tool `query_sparql`.

use std::collections::BTreeMap;
use std::io;

use oxrdf::{Term, Triple, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::{ResultPage, short_text};
use super::{Limits, Tool, Trouble, no_triples};
use terrapin_engine::{Engine, SparqlRejection};
use terrapin_sparql::results::cell;
use terrapin_sparql::{Dialect, ResultSink, SparqlBounds, SparqlCode, SparqlError, SparqlErrorClass, SparqlSettings};

/// Default and maximum number of rows in an answer.
const ROWS: (usize, usize) = (20, 200);

/// Runs a query in SPARQL.
pub struct QuerySparql;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SparqlToolRequest {
    /// The query in SPARQL 1.1 in the dialect of the Wikidata Query Service, with its prefixes and label service:
    /// "SELECT ?town ?townLabel { ?town wdt:P31 wd:Q3957 SERVICE wikibase:label { bd:serviceParam wikibase:language
    /// 'en' } }".
    query: String,
    /// The dialect: "auto" (default), "wdqs" for the Wikidata Query Service, "qlever" or "standard".
    dialect: Option<String>,
    /// Maximum number of rows; default: 20, at most 200. All rows are counted.
    limit: Option<usize>,
    /// next_cursor of the previous answer, for the next rows of the same query.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema, Default)]
pub struct SparqlToolAnswer {
    /// Number of all rows or triples.
    total: usize,
    /// The answer to an ASK.
    #[serde(skip_serializing_if = "Option::is_none")]
    boolean: Option<bool>,
    /// The variables of a SELECT.
    variables: Vec<String>,
    /// The selected rows: the values of bound variables, with Wikidata's prefixes; texts end in @ and their language.
    rows: Vec<BTreeMap<String, String>>,
    /// The cursor for the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The next step, if there are no rows or more rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Tool for QuerySparql {
    const NAME: &'static str = "query_sparql";
    const TITLE: &'static str = "Query Wikidata and OpenStreetMap in SPARQL";
    const DESCRIPTION: &'static str = "Run a SPARQL query over this snapshot's part of Wikidata, as the Wikidata Query Service \
        takes it, and over its elements of OpenStreetMap, in osm2rdf's vocabulary: to sort, group and measure elements and to \
        join them with items. Gives the number of rows and the first of them; next_cursor leads to more. Identifiers come from \
        search_entities. Read terrapin://cheatsheet/sparql and terrapin://cheatsheet/elements for the language.";
    type Input = SparqlToolRequest;
    type Output = SparqlToolAnswer;

    fn run(engine: &Engine, input: SparqlToolRequest, limits: &Limits) -> Result<SparqlToolAnswer, Trouble> {
        let part = ResultPage::asked(input.limit, input.cursor.as_deref(), ROWS.0, ROWS.1)?;
        let settings = SparqlSettings { dialect: dialect(input.dialect.as_deref())?, ..SparqlSettings::default() };
        let (prepared, environment) = match engine.prepare_sparql(&input.query, &settings) {
            Ok(prepared) => prepared,
            Err(SparqlRejection::NoTriples) => return Err(no_triples()),
            Err(SparqlRejection::Syntax(error)) => return Err(told(&error)),
        };
        let mut seen = ResultCollector { part, answer: SparqlToolAnswer::default() };
        let bounds = SparqlBounds { limits: limits.clone(), rows: None };
        prepared.run(environment, &bounds, &mut seen).map_err(|error| told(&error))?;
        let mut answer = seen.answer;
        answer.next_cursor = part.next(answer.total);
        answer.hint = match (answer.total, &answer.next_cursor) {
            (0, _) => Some("check_query tells which names no triple has; search_entities finds others".to_owned()),
            (_, Some(_)) => Some("narrow it, count with (COUNT(*) AS ?n), or go on with next_cursor".to_owned()),
            _ => None,
        };
        Ok(answer)
    }
}

/// Parses the name of a dialect.
///
/// # Errors
/// Returns an error for an unknown name.
pub fn dialect(name: Option<&str>) -> Result<Dialect, Trouble> {
    let Some(name) = name else { return Ok(Dialect::default()) };
    Dialect::named(name).ok_or_else(|| {
        Trouble::new(format!("dialect {name:?}: there is no such dialect")).hint("auto, wdqs, qlever or standard")
    })
}

/// Converts an error to one for the author of the query.
fn told(error: &SparqlError) -> Trouble {
    let trouble = Trouble::new(error.to_string());
    match (&error.help, error.class, error.code) {
        (_, SparqlErrorClass::Internal, code) if code != SparqlCode::Output => Trouble { is_fault: true, ..trouble },
        (Some(help), ..) => trouble.hint(help.clone()),
        (None, SparqlErrorClass::Limit, _) => trouble.hint("ask for less: fewer patterns, a LIMIT"),
        (None, ..) => trouble,
    }
}

/// A sink that counts all rows and keeps those of the part.
struct ResultCollector {
    part: ResultPage,
    answer: SparqlToolAnswer,
}

impl ResultCollector {
    fn see(&mut self, row: impl FnOnce(&[String]) -> BTreeMap<String, String>) {
        if self.part.has(self.answer.total) {
            let row = row(&self.answer.variables);
            self.answer.rows.push(row);
        }
        self.answer.total += 1;
    }
}

fn text(term: &Term) -> String {
    short_text(cell(term))
}

impl ResultSink for ResultCollector {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.answer.variables = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.see(|names| {
            let bound =
                names.iter().zip(values).filter_map(|(name, value)| Some((name.clone(), text(value.as_ref()?))));
            bound.collect()
        });
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.answer.total = 1;
        self.answer.boolean = Some(value);
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        self.see(|_| {
            let parts: [(&str, Term); 3] = [
                ("subject", triple.subject.clone().into()),
                ("predicate", triple.predicate.clone().into()),
                ("object", triple.object.clone()),
            ];
            parts.iter().map(|(name, term)| ((*name).to_owned(), text(term))).collect()
        });
        Ok(())
    }
}
