//! The resources for models: the snapshot's manifest, a sheet for each language, and the tags and properties of the
//! data.

use std::cmp::Reverse;

use oxrdf::Term;
use serde_json::{Value, json};

use super::{Limits, Trouble};
use terrapin_base::untrusted;
use terrapin_budget as budget;
use terrapin_engine::Engine;
use terrapin_sparql::labelled::{IdentifierKind, label_of};
use terrapin_tags::{KeySorting, KeysWanted, RowPage, ValueSorting, ValuesWanted, Which};
use terrapin_triples::Store;

/// Maximum number of keys and of properties.
const TOLD: usize = 60;
/// Maximum number of values of a key. Only values on at least 1 % of the key's elements are listed.
const VALUES: usize = 8;

/// OverpassQL on one page.
pub const OVERPASSQL: &str = include_str!("overpassql.md");
/// SPARQL on one page.
pub const SPARQL: &str = include_str!("sparql.md");
/// OpenStreetMap in SPARQL on half a page.
pub const ELEMENTS: &str = include_str!("elements.md");
/// How the tools help with each language.
const OVERPASSQL_TOOLS: &str = "\nMost often a query finds nothing because the tag is another (search_tags finds it) or the area is \
    (geocode gives its id).\n";
const SPARQL_TOOLS: &str = "\nIdentifiers come from search_entities; describe_entity tells what is said of one; \
    terrapin://schema/properties lists the properties that this data has.\n";

/// A text that a model can read.
pub struct Resource {
    /// Its URI.
    pub uri: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// Its content in one sentence.
    pub description: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    read: fn(&Engine) -> Result<String, Trouble>,
}

/// All resources.
pub static RESOURCES: [Resource; 6] = [
    Resource {
        uri: "terrapin://manifest",
        name: "The snapshot",
        description: "What the data is: digest, sources with checksums and licences, time, counts, box",
        media_type: "application/json",
        read: |engine| written(&manifest(engine)),
    },
    Resource {
        uri: "terrapin://cheatsheet/overpassql",
        name: "OverpassQL on one page",
        description: "The language of query_overpass",
        media_type: "text/markdown",
        read: |_| Ok([OVERPASSQL, OVERPASSQL_TOOLS].concat()),
    },
    Resource {
        uri: "terrapin://cheatsheet/sparql",
        name: "SPARQL on one page",
        description: "The language of query_sparql",
        media_type: "text/markdown",
        read: |_| Ok([SPARQL, SPARQL_TOOLS].concat()),
    },
    Resource {
        uri: "terrapin://cheatsheet/elements",
        name: "OpenStreetMap in SPARQL on half a page",
        description: "Elements in query_sparql: to sort, group and measure them, and to join them with items",
        media_type: "text/markdown",
        read: |_| Ok(ELEMENTS.to_owned()),
    },
    Resource {
        uri: "terrapin://schema/tags",
        name: "Tags in the data",
        description: "The most frequent keys, with counts and their most frequent values",
        media_type: "application/json",
        read: |engine| written(&keys(engine)),
    },
    Resource {
        uri: "terrapin://schema/properties",
        name: "Properties in the data",
        description: "The most frequent properties of Wikidata, with labels and counts",
        media_type: "application/json",
        read: |engine| written(&properties(engine)),
    },
];

impl Resource {
    /// Returns its text.
    ///
    /// # Errors
    /// Returns an error if a limit was reached or the snapshot is damaged.
    pub fn read(&self, engine: &Engine, limits: &Limits) -> Result<String, Trouble> {
        engine.run(limits, || (self.read)(engine))?
    }
}

/// Returns a value as JSON. Control characters are escaped, because any mapper or author can write keys, labels and
/// file names.
fn written(value: &Value) -> Result<String, Trouble> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Trouble::fault(error.to_string()))?;
    Ok(untrusted::json(&text).into_owned())
}

fn manifest(engine: &Engine) -> Value {
    let manifest = engine.manifest();
    let time = jiff::Timestamp::from_second(manifest.data_timestamp).map(|time| time.to_string()).ok();
    json!({
        "digest": engine.digest(),
        "data_time": time,
        "sources": manifest.sources,
        "counts": manifest.counts,
        "triples": manifest.triples.map(|triples| triples.triples),
        "bbox": manifest.bounding_box.map(|sides| sides.map(|side| f64::from(side) / 1e7)),
    })
}

fn keys(engine: &Engine) -> Value {
    let part = |most| RowPage { skip: 0, take: Some(most) };
    let sorting = KeySorting::Count(Which::All);
    let wanted =
        KeysWanted { query: "", filters: &[], with_unused: false, sorting, descending: true, part: part(TOLD) };
    let keys = engine.tags().keys(&wanted);
    let row = |key: &terrapin_tags::KeyUsage| {
        let sorting = ValueSorting::Count;
        let wanted = ValuesWanted { query: "", which: Which::All, sorting, descending: true, part: part(VALUES) };
        // Rare values are not listed: texts such as names have no typical values.
        let values = engine.tags().values(&key.key, &wanted).rows;
        let values = values.into_iter().filter(|value| value.counts.all() * 100 >= key.counts.all());
        let values: serde_json::Map<String, Value> =
            values.map(|value| (value.value, value.counts.all().into())).collect();
        json!({"key": key.key, "count": key.counts.all(), "values_total": key.values, "values": values})
    };
    json!({ "keys_total": keys.total, "keys": keys.rows.iter().map(row).collect::<Vec<_>>() })
}

fn properties(engine: &Engine) -> Value {
    let Some(environment) = engine.triples() else { return json!({ "properties_total": 0, "properties": [] }) };
    let store: &Store = &environment.store;
    let mut all: Vec<(u64, String)> = store
        .predicates()
        .filter_map(|predicate| {
            budget::checkpoints(64);
            let Some(Term::NamedNode(node)) = store.term(predicate) else { return None };
            let id = node.as_str().strip_prefix("http://www.wikidata.org/prop/direct/")?.to_owned();
            Some((store.count(None, Some(predicate), None), id))
        })
        .collect();
    all.sort_by_key(|(count, id)| (Reverse(*count), id.clone()));
    let row = |(count, id): &(u64, String)| {
        let label = IdentifierKind::of_id(id).and_then(|kind| label_of(store, kind, id, "en"));
        json!({"id": id, "label": label, "count": count})
    };
    json!({ "properties_total": all.len(), "properties": all.iter().take(TOLD).map(row).collect::<Vec<_>>() })
}
