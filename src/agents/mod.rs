//! Tools for the agents of language models: what each is called, what it takes and gives as JSON Schema, and what it does.
//! Answers are small: the first few results, how many there are, where the next ones begin, and how to ask for fewer. May
//! use everything below the server; knows nothing of how a tool is called, be it MCP over a pipe or over HTTP.
//!
//! ```text
//! tags.rs      search_tags, describe_tag
//! places.rs    geocode, reverse
//! entities.rs  search_entities, describe_entity
//! overpass.rs  query_overpass
//! geojson.rs   export_geojson
//! sparql.rs    query_sparql
//! check.rs     check_query
//! resources.rs what there is to read: the manifest, a sheet for each language, the tags and properties there are
//! part.rs      which results are wanted, and what is said of the others
//! ```

mod check;
mod entities;
mod geojson;
mod overpass;
mod part;
mod places;
pub mod resources;
mod sparql;
mod tags;

pub use overpass::{body, script};

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::budget::{self, Budget, Exceeded, Limits, Stopped};
use crate::osm::Osm;
use crate::snapshot::Manifest;
use crate::sparql::{Environment, Prepared};
use crate::tags::Tags;

/// What tools are asked of: a snapshot.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Its tags and elements.
    pub tags: &'a Tags,
    /// Its triples, if it has any, with its elements beside them.
    pub triples: Option<&'a Environment>,
    /// Its elements as SPARQL is asked of them, with its triples if it has any.
    pub graph: &'a Environment,
    /// Its name.
    pub digest: &'a str,
    /// Its facts.
    pub manifest: &'a Manifest,
}

impl<'a> World<'a> {
    /// Its elements.
    pub fn osm(&self) -> &'a Osm {
        self.tags.osm()
    }

    fn triples(&self) -> Result<&'a Environment, Trouble> {
        let message = "this snapshot has no triples: only elements of OpenStreetMap";
        self.triples.ok_or_else(|| Trouble::new(message).hint("use search_tags and query_overpass"))
    }

    /// What a query in SPARQL is asked of.
    ///
    /// # Errors
    /// The query is not about elements alone, and there are no triples.
    pub fn asked(&self, query: &Prepared) -> Result<&'a Environment, Trouble> {
        if query.is_of_elements() { Ok(self.graph) } else { self.triples() }
    }
}

/// Why a tool gives nothing, for the model that called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The bound that was reached, if that is why.
    pub exceeded: Option<Exceeded>,
    /// Whether it is a fault of the program or of the file, and no call would be better.
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

impl From<Exceeded> for Trouble {
    fn from(exceeded: Exceeded) -> Trouble {
        let trouble = Trouble::new(exceeded.to_string()).hint("ask for less: a smaller area, fewer filters, a limit");
        Trouble { exceeded: Some(exceeded), ..trouble }
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

/// A tool: its name, its words, and what it does with what it takes.
trait Tool {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    type Input: DeserializeOwned + JsonSchema;
    type Output: Serialize + JsonSchema;

    /// Does it, within these limits, which the thread's budget has, too.
    fn run(world: World<'_>, input: Self::Input, limits: &Limits) -> Result<Self::Output, Trouble>;
}

/// A tool as a list has it.
pub struct Definition {
    /// Its name, by which it is called.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does and when to use it, for a model.
    pub description: &'static str,
    /// Whether it needs triples.
    pub needs_triples: bool,
    input: fn() -> Map<String, Value>,
    output: fn() -> Map<String, Value>,
    run: fn(World<'_>, Value, &Limits) -> Result<Value, Trouble>,
}

/// All tools.
pub static TOOLS: [Definition; 10] = [
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
        output: || schema::<T::Output>(SchemaSettings::draft2020_12().for_serialize()),
        run: run::<T>,
    }
}

/// The tool of this name.
pub fn find(name: &str) -> Option<&'static Definition> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Definition {
    /// What it takes, as JSON Schema.
    pub fn input(&self) -> Map<String, Value> {
        (self.input)()
    }

    /// What it gives, as JSON Schema.
    pub fn output(&self) -> Map<String, Value> {
        (self.output)()
    }

    /// Calls it within these limits.
    ///
    /// # Errors
    /// The arguments are wrong, there is no such thing, a bound was reached, or the snapshot is damaged.
    pub fn call(&self, world: World<'_>, arguments: Value, limits: &Limits) -> Result<Value, Trouble> {
        let budget = Arc::new(Budget::new(limits));
        let done = budget::watched(&budget, || (self.run)(world, arguments, limits));
        let damage = world.osm().check().err().or_else(|| world.triples.and_then(|all| all.store.check().err()));
        if let Some(damage) = damage {
            return Err(Trouble::fault(damage.to_string()));
        }
        match done {
            Ok(given) => given,
            Err(Stopped::Exceeded(exceeded)) => Err(exceeded.into()),
            Err(Stopped::Panicked(panic)) => Err(Trouble::fault(format!("a fault of the program: {panic}"))),
        }
    }
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // It is of no use to a model, and some clients take no other than their own.
    schema.remove("$schema");
    schema.remove("title");
    match schema.to_value() {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn run<T: Tool>(world: World<'_>, arguments: Value, limits: &Limits) -> Result<Value, Trouble> {
    let input = serde_json::from_value(arguments).map_err(|wrong| {
        let takes = schema::<T::Input>(SchemaSettings::draft2020_12());
        let names: Vec<&str> = takes
            .get("properties")
            .and_then(Value::as_object)
            .map_or_else(Vec::new, |all| all.keys().map(String::as_str).collect());
        Trouble::new(format!("the arguments of {} are not right: {wrong}", T::NAME))
            .hint(format!("it takes {}", names.join(", ")))
    })?;
    let output = T::run(world, input, limits)?;
    serde_json::to_value(output).map_err(|error| Trouble::fault(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            for (name, property) in input["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{}: {name}", tool.name);
            }
            assert!(find(tool.name).is_some());
        }
    }
}
