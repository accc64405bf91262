//! The region that each gold query of a benchmark needs, so that a cut of a large snapshot answers it as the whole does.
//!
//! - `flow` follows the sets of a query through its syntax tree.
//! - `observed` collects the elements that a query reads on a snapshot.
//! - `cover` merges boxes to a limited number of rectangles.
//!
//! The syntax tree names boxes, ids and areas; a geocoder table gives names their areas; a snapshot gives areas their
//! borders, and sets that are searched around their extents. Without a snapshot, areas have boxes only if the table has
//! them.

mod cover;
mod flow;
mod observed;

pub use cover::{cover, square_kilometres, to_geojson, to_poly};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use terrapin_base::bitmap::NumberBitmap;
use terrapin_base::stack::caught;
use terrapin_budget::Limits;
use terrapin_engine::Engine;
use terrapin_geocoder::{Chain, PlaceElement, PlaceSource, PlaceTable};
use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
use terrapin_osm::{BoundingBox, ElementType};
use terrapin_overpass::syntax::{Script, SourceSpan};
use terrapin_overpass::turbo::{self, ShortcutValues};

use crate::benchmarks::overpassnl::PreparedQuery;
use crate::dataset::GoldPair;
use crate::language::QueryLanguage;
use flow::{AreaKnowledge, RegionNeeds, needs_of, widened};
use observed::{ReadElements, boxes_of_area};

/// The day from which OverpassNL's relative dates count: 4 July 2022, in seconds since 1970. It is used for queries
/// without a snapshot.
const TODAY: i64 = 1_656_892_800;

/// The sources of places and the limits of a survey.
pub struct RegionSources<'a> {
    /// The snapshot, if there is one.
    pub engine: Option<&'a Engine>,
    /// The geocoder table, if there is one.
    pub table: Option<&'a PlaceTable>,
    /// The margin around boxes in metres.
    pub margin: f64,
    /// The area in square kilometres from which a query counts as global: only the elements that it reads are needed.
    pub largest: f64,
    /// The time limit of a query on the snapshot.
    pub timeout: Duration,
}

/// What a query needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RegionKind {
    /// Boxes that are written in the query or given with the pair.
    Box,
    /// Areas of named places.
    Area,
    /// Elements by id.
    Ids,
    /// Elements anywhere: a statement has no place, or one that is larger than the limit.
    Global,
    /// A place without a known box, or `{{bbox}}` in a pair without a box.
    Unresolved,
    /// Nothing: it makes its elements itself, or its places do not exist.
    Nothing,
    /// The query is not OverpassQL, or has an error.
    Unread,
}

impl RegionKind {
    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            RegionKind::Box => "box",
            RegionKind::Area => "area",
            RegionKind::Ids => "ids",
            RegionKind::Global => "global",
            RegionKind::Unresolved => "unresolved",
            RegionKind::Nothing => "nothing",
            RegionKind::Unread => "unread",
        }
    }
}

/// An area that a query uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RegionArea {
    /// Its id in OverpassQL.
    pub id: i64,
    /// Whether its border is known.
    pub known: bool,
}

/// The region of one query: a line of the output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryRegion {
    /// The pair's id, or its split and line.
    pub id: String,
    /// What it needs.
    pub kind: RegionKind,
    /// Boxes in degrees: south, west, north, east. They contain the margin.
    pub boxes: Vec<[f64; 4]>,
    /// The areas.
    pub areas: Vec<RegionArea>,
    /// Elements by id, such as `way/12`.
    pub ids: Vec<String>,
    /// The reason for a kind other than `box`, `area` and `ids`; else empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether the query was run, so that the elements that it reads are known.
    pub observed: bool,
    #[serde(skip)]
    exact: Vec<BoundingBox>,
}

/// The regions of a benchmark.
#[derive(Debug, Default)]
pub struct BenchmarkRegion {
    /// A region for each pair.
    pub queries: Vec<QueryRegion>,
    /// The elements that queries read, by type; empty without a snapshot.
    pub elements: [NumberBitmap; 3],
}

impl BenchmarkRegion {
    /// Counts the queries of each kind.
    pub fn kinds(&self) -> BTreeMap<&'static str, usize> {
        let mut kinds = BTreeMap::new();
        self.queries.iter().for_each(|query| *kinds.entry(query.kind.name()).or_default() += 1);
        kinds
    }

    /// Returns at most `most` disjoint rectangles that contain the boxes of all queries.
    pub fn rectangles(&self, most: usize) -> Vec<BoundingBox> {
        let boxes: Vec<BoundingBox> = self.queries.iter().flat_map(|query| query.exact.iter().copied()).collect();
        cover(&boxes, most)
    }
}

/// Computes the region of each pair, on the current rayon pool. `done` is called after each.
pub fn survey(pairs: &[GoldPair], sources: &RegionSources<'_>, done: &(dyn Fn() + Sync)) -> BenchmarkRegion {
    let survey = Survey { sources, areas: Mutex::default(), elements: Mutex::default() };
    let each = |pair: &GoldPair| {
        let region = caught(|| survey.region_of(pair))
            .unwrap_or_else(|message| unread(pair, format!("a fault of the program: {message}")));
        done();
        region
    };
    let queries = pairs.par_iter().map(each).collect();
    BenchmarkRegion { queries, elements: survey.elements.into_inner().unwrap_or_else(PoisonError::into_inner) }
}

/// What the queries of a survey share.
struct Survey<'a> {
    sources: &'a RegionSources<'a>,
    /// The boxes of areas of the snapshot by id; `None` for those that it lacks.
    areas: Mutex<BTreeMap<i64, Option<Vec<BoundingBox>>>>,
    elements: Mutex<[NumberBitmap; 3]>,
}

fn name_of(pair: &GoldPair) -> String {
    pair.id.clone().unwrap_or_else(|| format!("{}-{}", pair.split, pair.line))
}

fn unread(pair: &GoldPair, reason: String) -> QueryRegion {
    QueryRegion {
        id: name_of(pair),
        kind: RegionKind::Unread,
        boxes: Vec::new(),
        areas: Vec::new(),
        ids: Vec::new(),
        reason,
        observed: false,
        exact: Vec::new(),
    }
}

impl Survey<'_> {
    fn region_of(&self, pair: &GoldPair) -> QueryRegion {
        if !pair.is_run_here() || pair.language() != QueryLanguage::OverpassQl {
            return unread(pair, "not OverpassQL".to_owned());
        }
        let own = pair.places.as_ref().and_then(|places| PlaceTable::parse(places.to_string().as_bytes()).ok());
        let tables: Vec<&PlaceTable> = own.iter().chain(self.sources.table).collect();
        let (query, script) = match script_of(pair, self.sources, &tables) {
            Ok(parsed) => parsed,
            Err((kind, reason)) => return QueryRegion { kind, ..unread(pair, reason) },
        };
        let (observed, failure) = match self.sources.engine {
            None => (None, None),
            Some(engine) => match observe(engine, &script, self.sources.timeout) {
                Ok(observed) => (Some(observed), None),
                Err(failure) => (None, Some(failure)),
            },
        };
        let knowledge = PlaceKnowledge { survey: self, tables: &tables, observed: observed.as_ref() };
        let needs = needs_of(query.text(), &script, &knowledge);
        let areas = needs.areas.iter().map(|&id| RegionArea { id, known: knowledge.known(id).is_some() }).collect();
        let is_observed = observed.is_some();
        if let Some(observed) = observed {
            let mut all = self.elements.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter_mut().zip(observed.elements).for_each(|(all, own)| all.union(own));
        }
        described(pair, (needs, areas), self.sources, (is_observed, failure))
    }

    /// Returns the boxes of an area of the snapshot.
    fn area_of_snapshot(&self, id: i64) -> Option<Vec<BoundingBox>> {
        let engine = self.sources.engine?;
        let areas = || self.areas.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = areas().get(&id) {
            return known.clone();
        }
        // Two queries may compute the same area; others do not wait for them.
        let found = boxes_of_area(engine.osm(), id);
        areas().insert(id, found.clone());
        found
    }
}

/// Runs a query and returns the elements that it reads.
///
/// # Errors
/// Returns the reason if they are not known: the query was stopped, or reads an older state of the data.
fn observe<'a>(engine: &'a Engine, script: &Script, timeout: Duration) -> Result<ReadElements<'a>, String> {
    let limits = Limits { deadline: Instant::now().checked_add(timeout), ..Limits::default() };
    let mut observed = ReadElements::new(engine.osm(), script);
    terrapin_overpass::run_observed(engine.osm(), script, &limits, &mut observed).map_err(|e| e.to_string())?;
    if observed.has_older_elements {
        return Err("it reads an older state of the data, which an extract does not contain".to_owned());
    }
    observed.finish();
    Ok(observed)
}

/// Replaces the shortcuts of a pair's query and parses it.
fn script_of(
    pair: &GoldPair,
    sources: &RegionSources<'_>,
    tables: &[&PlaceTable],
) -> Result<(PreparedQuery, Script), (RegionKind, String)> {
    let areas = sources.engine.map(|engine| engine.places(None));
    let mut places = Chain::default();
    places.0.extend(tables.iter().map(|table| *table as &dyn PlaceSource));
    places.0.extend(areas.as_ref().map(|areas| areas as &dyn PlaceSource));
    let values = ShortcutValues {
        bbox: pair.bbox.as_deref().and_then(|text| text.parse().ok()),
        now: sources.engine.map_or(TODAY, Engine::data_timestamp),
        places: &places,
    };
    let text: Cow<'_, str> =
        turbo::expand(&pair.query, &values).map_err(|problem| (RegionKind::Unresolved, problem.to_string()))?;
    let query = PreparedQuery::for_json(&text);
    let script = query.parse().map_err(|failure| {
        let text = failure.to_string();
        (RegionKind::Unread, text.lines().next().unwrap_or_default().to_owned())
    })?;
    Ok((query, script))
}

/// Writes the needs of a query as its region.
fn described(
    pair: &GoldPair,
    (mut needs, areas): (RegionNeeds, Vec<RegionArea>),
    sources: &RegionSources<'_>,
    (observed, failure): (bool, Option<String>),
) -> QueryRegion {
    let boxes = if needs.boxes.len() > flow::BOXES { cover(&needs.boxes, flow::BOXES) } else { needs.boxes };
    let mut exact: Vec<BoundingBox> = boxes.iter().map(|area| widened(area, sources.margin)).collect();
    let size = square_kilometres(&cover(&exact, flow::BOXES));
    if size > sources.largest {
        needs.global.push(format!("a region of {size:.0} km²"));
        exact.clear();
    }
    let list = |texts: &[String]| texts.join("; ");
    let unresolved: Vec<String> = needs.unresolved.into_iter().collect();
    let (kind, reason) = match () {
        () if !needs.global.is_empty() => (RegionKind::Global, list(&needs.global)),
        () if !unresolved.is_empty() => (RegionKind::Unresolved, list(&unresolved)),
        () if !areas.is_empty() => (RegionKind::Area, String::new()),
        () if !exact.is_empty() => (RegionKind::Box, String::new()),
        () if !needs.ids.is_empty() => (RegionKind::Ids, String::new()),
        () => (RegionKind::Nothing, "no statement searches elements of a known place".to_owned()),
    };
    let reason = match failure {
        Some(failure) => [reason, failure.lines().next().unwrap_or_default().to_owned()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        None => reason,
    };
    let degrees = |area: &BoundingBox| [area.south, area.west, area.north, area.east].map(|side| f64::from(side) / 1e7);
    QueryRegion {
        id: name_of(pair),
        kind,
        boxes: exact.iter().map(degrees).collect(),
        areas,
        ids: needs.ids.into_iter().collect(),
        reason,
        observed,
        exact,
    }
}

/// The knowledge from a snapshot, tables and a run.
struct PlaceKnowledge<'a> {
    survey: &'a Survey<'a>,
    tables: &'a [&'a PlaceTable],
    observed: Option<&'a ReadElements<'a>>,
}

impl PlaceKnowledge<'_> {
    /// Returns the boxes of an area of the snapshot or of a table.
    fn known(&self, id: i64) -> Option<Vec<BoundingBox>> {
        let of_tables = || {
            let element = element_of_area(id)?;
            self.tables.iter().find_map(|table| table.bounds_of(element)).map(|area| vec![area])
        };
        self.survey.area_of_snapshot(id).or_else(of_tables)
    }
}

/// Returns the element that an area is made from; `None` if the id is too small for an area.
fn element_of_area(id: i64) -> Option<PlaceElement> {
    let (kind, first) = match id >= RELATION_AREAS {
        true => (ElementType::Relation, RELATION_AREAS),
        false => (ElementType::Way, WAY_AREAS),
    };
    Some(PlaceElement { kind, id: id.checked_sub(first).filter(|id| *id >= 0)? })
}

impl AreaKnowledge for PlaceKnowledge<'_> {
    fn boxes_of(&self, id: i64) -> Option<Vec<BoundingBox>> {
        // An area that a whole snapshot lacks is empty.
        self.known(id).or_else(|| self.observed.map(|_| Vec::new()))
    }

    fn area_named(&self, name: &str) -> Option<i64> {
        let element = |table: &&PlaceTable| table.find(name)?.element.value()?.area_id();
        self.tables.iter().find_map(element)
    }

    fn found_by(&self, statement: SourceSpan) -> Option<Vec<i64>> {
        let found = self.observed?.areas.get(&(statement.start, statement.end));
        Some(found.into_iter().flatten().copied().collect())
    }

    fn extent_of(&self, statement: (usize, usize)) -> Option<Vec<BoundingBox>> {
        let found = self.observed?.extents.get(&statement);
        Some(found.cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
