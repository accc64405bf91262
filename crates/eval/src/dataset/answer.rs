//! Runs a gold query and stores a compact form of its answer: the name of every element and digests of its printed
//! parts.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use super::pairs::GoldPair;
use crate::benchmarks::overpassnl::{PreparedQuery, limit_of};
use crate::benchmarks::sparql::{self, Top};
use crate::language::QueryLanguage;
use crate::record::FailureKind as _;
use terrapin_base::stack::caught;
use terrapin_budget::Limits;
use terrapin_engine::{Engine, QueryContext};
use terrapin_geocoder::{Chain, PlaceSource, PlaceTable};
use terrapin_osm::BoundingBox;
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::output::{AnswerFormat, Recording, RecordingCursor, RecordingEntry};
use terrapin_sparql::Dialect;

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
        let context = QueryContext { bbox, places: &places };
        let text = self.engine.expand_at(&pair.query, &context, now);
        Ok(text.map_err(|problem| QueryFailure::new(problem.to_string()))?.into_owned())
    }

    fn overpass(&self, pair: &GoldPair, limits: &Limits) -> Result<GoldAnswer, QueryFailure> {
        let query = PreparedQuery::for_json(&self.expanded(pair, self.engine.data_timestamp())?);
        let script = query.parse().map_err(|failure| QueryFailure::new(failure.to_string()))?;
        let recording = terrapin_overpass::record(self.engine.osm(), &script, limits)
            .map_err(|failure| QueryFailure::new(failure.to_string()))?;
        let digest = digest_of_bytes(&recording).map_err(|failure| QueryFailure::new(failure.to_string()))?;
        let found = GoldElements::of(&recording);
        let (count, mut elements) = (found.count(), found.elements);
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
        let answer = sparql::ask(triples, &pair.query, Dialect::Auto, limits)
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
        let top = Top::of(&pair.query, Dialect::Auto);
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

/// Returns the digest of the answer's bytes in the query's format.
fn digest_of_bytes(recording: &Recording) -> Result<[u8; 32], OverpassFailure> {
    let mut hasher = blake3::Hasher::new();
    let (format, mut start) = (AnswerFormat::Asked(recording.format()), RecordingCursor::default());
    recording.write(format, &mut start, u64::MAX, &mut hasher)?;
    Ok(*hasher.finalize().as_bytes())
}

/// The elements of an answer, and its first count.
#[derive(Default)]
struct GoldElements {
    elements: Vec<GoldElement>,
    /// The value of the first count.
    total: Option<u64>,
}

impl GoldElements {
    /// Reads a recorded answer.
    fn of(recording: &Recording) -> GoldElements {
        let mut found = GoldElements::default();
        for piece in recording.pieces() {
            let read = recording.each(piece, |entry| {
                match entry {
                    RecordingEntry::Element(item) => {
                        // A query may make its own count.
                        if item.type_name == "count" && found.total.is_none() {
                            let number = |name: &str| item.tags?.get(name)?.trim().parse().ok();
                            found.total = number("total").or_else(|| number("all"));
                        }
                        found.take(item.type_name, item);
                    }
                    RecordingEntry::Count(counts) => {
                        found.total.get_or_insert(counts.total());
                        found.take("count", &counts);
                    }
                    RecordingEntry::Action(_) => {}
                }
                Ok::<(), Infallible>(())
            });
            read.unwrap_or_else(|never| match never {});
        }
        found
    }

    /// Returns the count, if the answer consists of one.
    fn count(&self) -> Option<u64> {
        let is_count = matches!(self.elements.len(), 1 | 2) && self.elements.first().is_some_and(|e| e.kind == "count");
        self.total.filter(|_| is_count)
    }

    fn take(&mut self, type_name: &str, element: &impl Serialize) {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(element) else { return };
        fields.remove("type");
        let kind = match type_name {
            "node" => Cow::Borrowed("node"),
            "way" => Cow::Borrowed("way"),
            "relation" => Cow::Borrowed("relation"),
            "count" => Cow::Borrowed("count"),
            other => Cow::Owned(other.to_owned()),
        };
        let id = fields.remove("id").and_then(|id| id.as_i64()).unwrap_or_default();
        let tags = fields.remove("tags");
        let metadata: Vec<Option<Value>> = METADATA.iter().map(|name| fields.remove(*name)).collect();
        self.elements.push(GoldElement {
            kind,
            id,
            tags: digest_of(&tags),
            shape: digest_of(&fields),
            metadata: digest_of(&metadata),
        });
    }
}

fn digest_of(value: &impl Serialize) -> u128 {
    short(blake3::hash(&serde_json::to_vec(value).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_osm::Coord;
    use terrapin_overpass::output::{ItemTags, OutputItem, OutputMeta};

    fn element(tags: &[(&str, &str)], lon: i32, version: u32) -> GoldElement {
        let mut all = ItemTags::default();
        tags.iter().for_each(|(key, value)| all.push(key, value));
        let meta = OutputMeta { version, timestamp: 0, changeset: 1, uid: 1, user: "a" };
        let item = OutputItem {
            type_name: "node",
            id: Some(1),
            position: Some(Coord { lat: 15_000_000, lon }),
            meta: Some(meta),
            tags: Some(&all),
            ..OutputItem::default()
        };
        let mut found = GoldElements::default();
        found.take(item.type_name, &item);
        found.elements.remove(0)
    }

    #[test]
    fn an_element_is_told_by_what_it_says() {
        let node = element(&[("a", "b"), ("c", "d")], 20_000_000, 1);
        let same = element(&[("c", "d"), ("a", "b")], 20_000_000, 2);
        assert_eq!((&node.tags, &node.shape, node.to_string()), (&same.tags, &same.shape, "node/1".to_owned()));
        assert_ne!(node.metadata, same.metadata);
        let moved = element(&[("a", "b")], 30_000_000, 1);
        assert!(moved.tags != node.tags && moved.shape != node.shape && moved.metadata == node.metadata);
    }
}
