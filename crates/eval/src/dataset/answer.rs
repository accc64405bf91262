//! Runs a gold query and stores a compact form of its answer: the name of every element and digests of its printed
//! parts.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::pairs::GoldPair;
use crate::benchmarks::overpassnl::{PreparedQuery, limit_of};
use crate::benchmarks::sparql::{self, Top};
use crate::language::QueryLanguage;
use crate::record::FailureKind as _;
use terrapin_base::Bounded;
use terrapin_base::stack::caught;
use terrapin_budget::Limits;
use terrapin_engine::Engine;
use terrapin_geocoder::{Chain, PlaceSource, PlaceTable};
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::{self, ShortcutValues};

/// The maximum length of an answer in bytes.
const LARGEST: usize = 1 << 30;

/// The data on which gold queries run.
pub struct GoldEngine<'a> {
    /// The snapshot.
    pub engine: &'a Engine,
    /// The geocoded places for pairs without their own.
    pub places: &'a dyn PlaceSource,
    /// The time limit of a query; overrides its own.
    pub timeout: Duration,
}

/// The failure of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryFailure {
    /// The error.
    pub text: String,
}

impl QueryFailure {
    fn new(text: impl Into<String>) -> QueryFailure {
        QueryFailure { text: text.into() }
    }
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldAnswer {
    /// The digest of the answer's bytes.
    pub digest: [u8; 32],
    /// The number of elements or rows, or the printed count.
    pub number: u64,
    /// Its elements in ascending order, with repetitions.
    pub elements: Vec<GoldElement>,
    /// The answer consists of rows, which have no identity.
    pub rows: bool,
    /// The limit that may have cut the answer, and whether the query set an order.
    pub cut: Option<AnswerLimit>,
}

/// A limit that may have cut an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimit {
    /// The limit.
    pub limit: u64,
    /// The query sets the order.
    pub ordered: bool,
}

/// An element of an answer, or a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoldElement {
    /// `node`, `way`, `relation`, `count`, or a derived type; empty for a row.
    pub kind: Cow<'static, str>,
    /// The id; for a row, its number among equal ones.
    pub id: i64,
    /// The digest of its tags; for a row, of its values.
    pub tags: u128,
    /// The digest of its coordinates, nodes, members and geometry.
    pub shape: u128,
    /// The digest of version, timestamp, changeset and user.
    pub metadata: u128,
}

impl GoldElement {
    /// Returns its identity: two answers share the element if it is equal.
    pub fn key(&self) -> (&str, i64, u128) {
        // A row is identified by its values.
        (&self.kind, self.id, if self.kind == ROW { self.tags } else { 0 })
    }
}

/// Formats an element as `node/1`, and a row by a part of its digest.
impl fmt::Display for GoldElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == ROW {
            return write!(f, "row/{:012x}", self.tags >> 80);
        }
        write!(f, "{}/{}", self.kind, self.id)
    }
}

/// The kind of rows. No element has it, since derived types are not empty.
const ROW: &str = "";
const METADATA: [&str; 5] = ["timestamp", "version", "changeset", "user", "uid"];

impl GoldEngine<'_> {
    /// Runs a pair's query like `terrapin eval jsonl`.
    ///
    /// # Errors
    /// Returns an error if the query is invalid, was stopped, or its answer is too large.
    pub fn ask(&self, pair: &GoldPair) -> Result<GoldAnswer, QueryFailure> {
        let limits = Limits { deadline: Instant::now().checked_add(self.timeout), ..Limits::default() };
        let ask = || match pair.language() {
            QueryLanguage::OverpassQl => self.overpass(pair, &limits),
            QueryLanguage::Sparql => self.sparql(pair, &limits),
        };
        caught(ask).unwrap_or_else(|message| Err(QueryFailure::new(message)))
    }

    /// Returns a pair's query with its shortcuts replaced, with the time of the data as `now`.
    ///
    /// # Errors
    /// Returns an error if a shortcut cannot be replaced.
    pub(super) fn expanded(&self, pair: &GoldPair, now: i64) -> Result<String, QueryFailure> {
        let table = pair.places.as_ref().and_then(|places| PlaceTable::parse(places.to_string().as_bytes()).ok());
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn PlaceSource));
        places.0.push(self.places);
        let bbox = pair.bbox.as_deref().and_then(|text| text.parse::<BoundingBox>().ok());
        let surroundings = ShortcutValues { bbox, now, places: &places };
        let text =
            turbo::expand(&pair.query, &surroundings).map_err(|problem| QueryFailure::new(problem.to_string()))?;
        Ok(text.into_owned())
    }

    fn overpass(&self, pair: &GoldPair, limits: &Limits) -> Result<GoldAnswer, QueryFailure> {
        let query = PreparedQuery::for_json(&self.expanded(pair, self.engine.data_timestamp())?);
        let script = query.parse().map_err(|failure| QueryFailure::new(failure.to_string()))?;
        let mut body = Bounded::new(LARGEST);
        let ran = terrapin_overpass::run(self.engine.osm(), &script, limits, &mut body);
        if body.full {
            return Err(QueryFailure::new(format!("an answer of more than {LARGEST} bytes")));
        }
        ran.map_err(|failure| QueryFailure::new(failure.to_string()))?;
        if self.engine.osm().check().is_err() {
            return Err(QueryFailure::new("the snapshot is damaged"));
        }
        let digest = *blake3::hash(&body.bytes).as_bytes();
        let (mut elements, count) = elements(&body.bytes).map_err(|e| QueryFailure::new(format!("not JSON: {e}")))?;
        let limit = limit_of(query.text());
        let cut = limit.filter(|limit| count.is_none() && elements.len() as u64 >= *limit);
        // Elements printed several times keep their order.
        elements.sort_by(|a, b| a.key().cmp(&b.key()));
        let number = count.unwrap_or(elements.len() as u64);
        Ok(GoldAnswer {
            digest,
            number,
            elements,
            rows: false,
            cut: cut.map(|limit| AnswerLimit { limit, ordered: false }),
        })
    }

    fn sparql(&self, pair: &GoldPair, limits: &Limits) -> Result<GoldAnswer, QueryFailure> {
        let Some(triples) = self.engine.triples() else { return Err(QueryFailure::new("the snapshot has no triples")) };
        let answer = sparql::ask(triples, &pair.query, limits)
            .map_err(|failed| QueryFailure::new(format!("{}: {}", failed.class.name(), failed.text)))?;
        let mut all = blake3::Hasher::new();
        answer.columns.iter().for_each(|column| update(&mut all, column));
        let row = |row: &Vec<Option<oxrdf::Term>>| {
            let mut one = blake3::Hasher::new();
            for value in row {
                update(&mut one, &value.as_ref().map_or_else(String::new, ToString::to_string));
            }
            short(one.finalize())
        };
        let mut rows: Vec<u128> = answer.rows.iter().map(row).collect();
        for row in &rows {
            all.update(&row.to_le_bytes());
        }
        let top = Top::of(&pair.query);
        let cut = top.limit.filter(|limit| rows.len() >= *limit);
        let cut = cut.map(|limit| AnswerLimit { limit: limit as u64, ordered: top.orders });
        rows.sort_unstable();
        let number = rows.len() as u64;
        let mut elements: Vec<GoldElement> = Vec::with_capacity(rows.len());
        for tags in rows {
            // Equal rows are distinguished by their number.
            let id = elements.last().filter(|last| last.tags == tags).map_or(0, |last| last.id + 1);
            elements.push(GoldElement { kind: Cow::Borrowed(ROW), id, tags, shape: 0, metadata: 0 });
        }
        elements.sort_by(|a, b| a.key().cmp(&b.key()));
        Ok(GoldAnswer { digest: *all.finalize().as_bytes(), number, elements, rows: true, cut })
    }
}

fn update(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn short(hash: blake3::Hash) -> u128 {
    let mut half = [0; 16];
    half.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(half)
}

/// Parses the elements of an answer, or its count, one element at a time.
fn elements(body: &[u8]) -> serde_json::Result<(Vec<GoldElement>, Option<u64>)> {
    let mut found = ParsedAnswer::default();
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    GoldDocument(&mut found).deserialize(&mut deserializer)?;
    deserializer.end()?;
    let is_count = matches!(found.elements.len(), 1 | 2) && found.elements.first().is_some_and(|e| e.kind == "count");
    Ok((found.elements, found.total.filter(|_| is_count)))
}

#[derive(Default)]
struct ParsedAnswer {
    elements: Vec<GoldElement>,
    /// The value of the first count.
    total: Option<u64>,
}

impl ParsedAnswer {
    fn take(&mut self, mut element: Map<String, Value>) {
        let kind = match element.remove("type") {
            Some(Value::String(kind)) => match kind.as_str() {
                "node" => Cow::Borrowed("node"),
                "way" => Cow::Borrowed("way"),
                "relation" => Cow::Borrowed("relation"),
                "count" => Cow::Borrowed("count"),
                _ => Cow::Owned(kind),
            },
            _ => Cow::Borrowed("element"),
        };
        let id = element.remove("id").and_then(|id| id.as_i64()).unwrap_or_default();
        let tags = element.remove("tags");
        if kind == "count" && self.total.is_none() {
            let total = |name: &str| tags.as_ref()?.get(name)?.as_str()?.trim().parse().ok();
            self.total = total("total").or_else(|| total("all"));
        }
        let metadata: Vec<Option<Value>> = METADATA.iter().map(|name| element.remove(*name)).collect();
        self.elements.push(GoldElement {
            kind,
            id,
            tags: digest_of(&tags),
            shape: digest_of(&element),
            metadata: digest_of(&metadata),
        });
    }
}

fn digest_of(value: &impl serde::Serialize) -> u128 {
    short(blake3::hash(&serde_json::to_vec(value).unwrap_or_default()))
}

struct GoldDocument<'f>(&'f mut ParsedAnswer);

impl<'de> DeserializeSeed<'de> for GoldDocument<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for GoldDocument<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            if name == "elements" {
                map.next_value_seed(GoldElementSeed(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct GoldElementSeed<'f>(&'f mut ParsedAnswer);

impl<'de> DeserializeSeed<'de> for GoldElementSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for GoldElementSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Map<String, Value>>()? {
            self.0.take(element);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Vec<GoldElement>, Option<u64>) {
        elements(format!("{{\"version\": 0.6, \"elements\": [{text}], \"remark\": \"\"}}").as_bytes()).unwrap()
    }

    #[test]
    fn an_element_is_told_by_what_it_says() {
        let one = |text: &str| of(text).0.remove(0);
        let node =
            one(r#"{"type": "node", "id": 1, "lat": 1.5, "lon": 2, "version": 1, "tags": {"a": "b", "c": "d"}}"#);
        let same =
            one(r#"{"id": 1, "type": "node", "tags": {"c": "d", "a": "b"}, "lon": 2, "lat": 1.5, "version": 2}"#);
        assert_eq!((&node.tags, &node.shape, node.to_string()), (&same.tags, &same.shape, "node/1".to_owned()));
        assert_ne!(node.metadata, same.metadata);
        let moved = one(r#"{"type": "node", "id": 1, "lat": 1.5, "lon": 3, "version": 1, "tags": {"a": "b"}}"#);
        assert!(moved.tags != node.tags && moved.shape != node.shape && moved.metadata == node.metadata);
    }

    #[test]
    fn a_count_is_its_number() {
        assert_eq!(of(r#"{"type": "count", "id": 0, "tags": {"nodes": "3", "total": "4"}}"#).1, Some(4));
        assert_eq!(of(r#"{"type": "node", "id": 0}"#).1, None);
        assert!(of("").0.is_empty());
        assert!(elements(b"[1]").is_err() && elements(b"{\"elements\": [1]}").is_err());
    }
}
