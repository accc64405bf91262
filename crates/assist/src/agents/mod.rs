//! Tools for the agents of language models: names, JSON Schemas of input and output, and the code that runs. Answers
//! are small: the first results, the total number, a cursor for the next ones, and a hint for narrowing the query. The
//! modules use everything below the server. They do not depend on how a tool is called: by MCP over a pipe or over
//! HTTP.
//!
//! ```text
//! words.rs     query_from_words
//! tags.rs      search_tags, describe_tag
//! places.rs    geocode, reverse
//! entities.rs  search_entities, describe_entity
//! overpass.rs  query_overpass
//! geojson.rs   export_geojson
//! sparql.rs    query_sparql
//! check.rs     check_query
//! resources.rs resources: the manifest, a sheet for each language, the most used tags and properties
//! triples.rs   the triples, or the error for a snapshot without
//! part.rs      which results are returned, and how long texts are cut
//! source.rs    licence and snapshot, in every answer
//! ```

mod check;
mod entities;
mod geojson;
mod overpass;
mod part;
mod places;
pub mod resources;
mod source;
mod sparql;
mod tags;
mod triples;
mod words;

pub use check::checked_text;
pub use overpass::{ElementPage, page_of, record, script, stopped};
pub use part::ResultPage;
pub use triples::no_triples;

use std::fmt;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use source::SourcedAnswer;
use terrapin_budget::{ExceededLimit, Limits};
use terrapin_engine::{Engine, Stop};
use triples::triples;

/// The error of a call, for the model that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The error message.
    pub message: String,
    /// A hint for fixing it.
    pub hint: Option<String>,
    /// The limit that was reached, if that is the reason.
    pub exceeded: Option<ExceededLimit>,
    /// Whether it is a fault of the program or a damaged snapshot, so that no other call helps.
    pub is_fault: bool,
}

impl Trouble {
    fn new(message: impl Into<String>) -> Trouble {
        Trouble { message: message.into(), hint: None, exceeded: None, is_fault: false }
    }

    fn hint(self, hint: impl Into<String>) -> Trouble {
        Trouble { hint: Some(hint.into()), ..self }
    }

    fn fault(message: impl Into<String>) -> Trouble {
        Trouble { is_fault: true, ..Trouble::new(message) }
    }
}

impl From<ExceededLimit> for Trouble {
    fn from(exceeded: ExceededLimit) -> Trouble {
        let trouble = Trouble::new(exceeded.to_string()).hint("ask for less: a smaller area, fewer filters, a limit");
        Trouble { exceeded: Some(exceeded), ..trouble }
    }
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Trouble {
        match stop {
            Stop::Exceeded(exceeded) => exceeded.into(),
            fault => Trouble::fault(fault.to_string()),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end())?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// A tool: its name, its description, and its function.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;

    /// Runs the tool within these limits, which are also those of the thread's budget.
    fn run(engine: &Engine, input: Self::Input, limits: &Limits) -> Result<Self::Output, Trouble>;
}

/// An entry in the list of tools.
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Its title for people.
    pub title: &'static str,
    /// Its description for a model: its purpose, and when to use it.
    pub description: &'static str,
    /// Whether it needs triples.
    pub needs_triples: bool,
    input: fn() -> Map<String, Value>,
    output: fn() -> Map<String, Value>,
    run: fn(&Engine, Value, &Limits) -> Result<Value, Trouble>,
}

/// All tools.
pub static TOOLS: [Definition; 11] = [
    definition::<words::QueryFromWords>(false),
    definition::<tags::SearchTags>(false),
    definition::<tags::DescribeTag>(false),
    definition::<places::Geocode>(false),
    definition::<places::Reverse>(false),
    definition::<entities::SearchEntities>(true),
    definition::<entities::DescribeEntity>(true),
    definition::<overpass::QueryOverpass>(false),
    definition::<geojson::ExportGeoJson>(false),
    definition::<sparql::QuerySparql>(false),
    definition::<check::CheckQuery>(false),
];

const fn definition<T: Tool>(needs_triples: bool) -> Definition {
    Definition {
        name: T::NAME,
        title: T::TITLE,
        description: T::DESCRIPTION,
        needs_triples,
        input: || schema::<T::Input>(SchemaSettings::draft2020_12()),
        output: || schema::<SourcedAnswer<T::Output>>(SchemaSettings::draft2020_12().for_serialize()),
        run: run::<T>,
    }
}

/// Returns the tool with a name.
pub fn find(name: &str) -> Option<&'static Definition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Definition {
    /// Returns the JSON Schema of its arguments.
    pub fn input(&self) -> Map<String, Value> {
        (self.input)()
    }

    /// Returns the JSON Schema of its answer.
    pub fn output(&self) -> Map<String, Value> {
        (self.output)()
    }

    /// Calls the tool within these limits.
    ///
    /// # Errors
    /// Returns an error if the arguments are wrong, no result was found, a limit was reached, or the snapshot is
    /// damaged.
    pub fn call(&self, engine: &Engine, arguments: Value, limits: &Limits) -> Result<Value, Trouble> {
        engine.run(limits, || (self.run)(engine, arguments, limits))?
    }
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // Models do not need it, and some clients reject versions other than their own.
    schema.remove("$schema");
    schema.remove("title");
    match schema.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// Returns arguments in which whole numbers have no fraction: `5.0` is an integer in JSON Schema (2020-12, validation,
/// section 6.1.1), and some clients write it so.
fn with_integers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => Value::from(float as i64),
            _ => Value::Number(number),
        },
        Value::Array(all) => all.into_iter().map(with_integers).collect(),
        Value::Object(all) => all.into_iter().map(|(name, value)| (name, with_integers(value))).collect(),
        other => other,
    }
}

/// 2^53: up to this number, a float represents every integer exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn run<T: Tool>(engine: &Engine, arguments: Value, limits: &Limits) -> Result<Value, Trouble> {
    let input = serde_json::from_value(with_integers(arguments)).map_err(|wrong| {
        let takes = schema::<T::Input>(SchemaSettings::draft2020_12());
        let names: Vec<&str> = takes
            .get("properties")
            .and_then(Value::as_object)
            .map_or_else(Vec::new, |all| all.keys().map(String::as_str).collect());
        Trouble::new(format!("the arguments of {} are not right: {wrong}", T::NAME))
            .hint(format!("it takes {}", names.join(", ")))
    })?;
    let output = T::run(engine, input, limits)?;
    serde_json::to_value(SourcedAnswer::new(engine, output)).map_err(|error| Trouble::fault(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_floats_are_integers() {
        let given =
            serde_json::json!({"limit": 5.0, "lat": 35.5, "lon": -14.0, "all": [1e2, {"x": 0.5}], "big": 1e300});
        let read = serde_json::json!({"limit": 5, "lat": 35.5, "lon": -14, "all": [100, {"x": 0.5}], "big": 1e300});
        assert_eq!(with_integers(given), read);
    }

    #[test]
    fn every_tool_says_what_it_takes_and_gives() {
        for tool in &TOOLS {
            let (input, output) = (tool.input(), tool.output());
            assert_eq!(
                (&input["type"], &output["type"]),
                (&Value::from("object"), &Value::from("object")),
                "{}",
                tool.name
            );
            assert_eq!(input["additionalProperties"], false, "{}", tool.name);
            assert!(output["properties"]["source"].is_object(), "{}: {output:?}", tool.name);
            assert!(output["required"].as_array().unwrap().contains(&"source".into()), "{}", tool.name);
            for (name, property) in input["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{}: {name}", tool.name);
            }
            assert!(find(tool.name).is_some());
        }
    }
}
