//! Follows a query's sets through its syntax tree, without running it: where on the globe the elements of each set are,
//! and what each query statement has to search. The result of a statement with several filters on location lies in the
//! smallest of their regions.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use terrapin_osm::BoundingBox;
use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_overpass::lint::excerpt;
use terrapin_overpass::run::to_osm;
use terrapin_overpass::syntax::{
    Area, Around, AroundPlace, Block, Complete, FilterKind, Ids, IsInPlace, QlPoint, Query, QueryType, RecurseFilter,
    Script, SetName, SourceSpan, Statement, StatementKind, Tag, on_statements,
};

use super::cover::{cover, is_covered, square_kilometres};

/// The maximum number of boxes of one set.
pub(super) const BOXES: usize = 64;

/// The maximum number of rounds of a loop. A set that still grows then may be anywhere.
const ROUNDS: usize = 16;

/// The number of statements, repetitions included, after which a loop gets no further round. A set that still grows then
/// may be anywhere.
const STEPS: usize = 100_000;

/// The knowledge about areas that the flow needs.
pub(super) trait AreaKnowledge {
    /// Returns the boxes of the area with an id; `None` if they are unknown.
    fn boxes_of(&self, id: i64) -> Option<Vec<BoundingBox>>;
    /// Returns the id of the area that a name refers to.
    fn area_named(&self, name: &str) -> Option<i64>;
    /// Returns the areas that the statement at a position found, as ids; `None` if the query was not run.
    fn found_by(&self, statement: SourceSpan) -> Option<Vec<i64>>;
    /// Returns the boxes of the elements that the statement between two positions found; `None` if the query was not
    /// run.
    fn extent_of(&self, statement: (usize, usize)) -> Option<Vec<BoundingBox>>;
}

/// What a query has to search.
#[derive(Debug, Default)]
pub(super) struct RegionNeeds {
    /// Boxes.
    pub boxes: Vec<BoundingBox>,
    /// Areas by id.
    pub areas: BTreeSet<i64>,
    /// Elements by type and id, as `way/12`.
    pub ids: BTreeSet<String>,
    /// The statements without a place, as `line 3: node[amenity]`.
    pub global: Vec<String>,
    /// Places without known boxes.
    pub unresolved: BTreeSet<String>,
}

/// Where the elements of a set are.
#[derive(Debug, Clone, Default)]
struct SetPlace {
    boxes: Vec<BoundingBox>,
    /// They may be anywhere.
    anywhere: bool,
    /// The reason if some are in places without known boxes, such as the statement that found them.
    unresolved: Option<Rc<str>>,
    /// The statements that may have filled the set last, by start and end.
    sources: BTreeSet<(usize, usize)>,
}

impl SetPlace {
    fn of(boxes: Vec<BoundingBox>) -> SetPlace {
        let boxes = if boxes.len() > BOXES { cover(&boxes, BOXES) } else { boxes };
        SetPlace { boxes, ..SetPlace::default() }
    }

    fn anywhere() -> SetPlace {
        SetPlace { anywhere: true, ..SetPlace::default() }
    }

    fn unresolved(reason: &str) -> SetPlace {
        SetPlace { unresolved: Some(reason.into()), ..SetPlace::default() }
    }

    /// Adds another place; returns whether it adds anything.
    fn add(&mut self, other: &SetPlace) -> bool {
        let sources = self.sources.len();
        self.sources.extend(&other.sources);
        let grown = other.anywhere && !self.anywhere || other.unresolved.is_some() && self.unresolved.is_none();
        self.anywhere |= other.anywhere;
        self.unresolved = self.unresolved.take().or_else(|| other.unresolved.clone());
        // Most boxes are equal to one of the other set, which is faster to find than a cover by several.
        let is_new = |area: &&BoundingBox| !self.boxes.contains(area) && !is_covered(area, &self.boxes);
        let new: Vec<BoundingBox> = other.boxes.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            return grown || self.sources.len() > sources;
        }
        self.boxes.extend(new);
        sort_and_dedup(&mut self.boxes);
        if self.boxes.len() > BOXES {
            self.boxes = cover(&self.boxes, BOXES);
        }
        true
    }

    /// Compares the sizes of places; those without limits are last.
    fn compare(&self, other: &SetPlace) -> Ordering {
        let limits = |place: &SetPlace| (place.anywhere, place.unresolved.is_some());
        let size = |place: &SetPlace| square_kilometres(&place.boxes);
        limits(self).cmp(&limits(other)).then_with(|| size(self).total_cmp(&size(other)))
    }
}

type SetPlaces = BTreeMap<SetName, SetPlace>;

/// Adds places to those of sets; returns the sets that grow.
fn join<'p>(places: &mut SetPlaces, others: impl IntoIterator<Item = (&'p SetName, &'p SetPlace)>) -> Vec<SetName> {
    let mut grown = Vec::new();
    for (name, place) in others {
        if places.entry(name.clone()).or_default().add(place) {
            grown.push(name.clone());
        }
    }
    grown
}

/// The sets that the body of a loop assigns, as they are at the beginning of a round. Other sets stay those of the loop
/// around it, so that the memory grows with the assignments and not with the product of sets and loops.
#[derive(Debug)]
struct LoopSets {
    assigned: BTreeSet<SetName>,
    places: SetPlaces,
}

impl LoopSets {
    fn of(into: &str, body: &Block) -> LoopSets {
        let mut assigned = BTreeSet::from([into.to_owned()]);
        on_statements(body, &mut |statement| assigned.extend(statement.kind.result_set().cloned()));
        LoopSets { assigned, places: SetPlaces::new() }
    }

    /// Adds the places of the assigned sets; returns the sets that grow.
    fn join(&mut self, sets: &SetPlaces) -> Vec<SetName> {
        join(&mut self.places, self.assigned.iter().filter_map(|name| sets.get_key_value(name)))
    }
}

/// Follows the sets of one query.
pub(super) struct RegionFlow<'a> {
    knowledge: &'a dyn AreaKnowledge,
    text: &'a str,
    global: Option<BoundingBox>,
    sets: SetPlaces,
    /// The sets at the beginning of a round, by the position of the loop, while the outermost loop is followed.
    loops: BTreeMap<(usize, usize), LoopSets>,
    /// The sets of loops that grew in this round of the outermost loop.
    grown: BTreeSet<SetName>,
    /// Whether a loop is followed.
    is_in_loop: bool,
    /// The number of statements that were followed.
    steps: usize,
    needs: RegionNeeds,
}

/// Returns what a query has to search.
pub(super) fn needs_of(text: &str, script: &Script, knowledge: &dyn AreaKnowledge) -> RegionNeeds {
    let global = script.settings.bbox.as_ref().map(to_osm);
    let (sets, loops, grown, needs) = Default::default();
    let mut flow = RegionFlow { knowledge, text, global, sets, loops, grown, is_in_loop: false, steps: 0, needs };
    flow.block(&script.statements);
    flow.needs.global.sort();
    flow.needs.global.dedup();
    sort_and_dedup(&mut flow.needs.boxes);
    flow.needs
}

fn span(statement: &Statement) -> (usize, usize) {
    (statement.span.start, statement.span.end)
}

/// Puts boxes into an order that depends on them alone, each once.
fn sort_and_dedup(boxes: &mut Vec<BoundingBox>) {
    boxes.sort_unstable_by_key(|area| [area.south, area.west, area.north, area.east]);
    boxes.dedup();
}

impl RegionFlow<'_> {
    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn set(&self, name: &str) -> SetPlace {
        self.sets.get(name).cloned().unwrap_or_default()
    }

    fn assign(&mut self, name: &str, place: SetPlace, from: &Statement) {
        self.sets.insert(name.to_owned(), SetPlace { sources: BTreeSet::from([span(from)]), ..place });
    }

    fn statement(&mut self, statement: &Statement) {
        self.steps = self.steps.saturating_add(1);
        match &statement.kind {
            StatementKind::Query(query) => {
                let place = self.query(query, statement);
                self.assign(&query.into, place, statement);
            }
            StatementKind::Union(union) => {
                let mut all = SetPlace::default();
                for member in &union.members {
                    all.add(&self.operand(member));
                }
                self.assign(&union.into, all, statement);
            }
            StatementKind::Difference(difference) => {
                let [base, rest @ ..] = &*difference.operands else { return };
                let place = self.operand(base);
                // The subtracted statements can read the base set.
                self.assign(&difference.into, place.clone(), statement);
                rest.iter().for_each(|minus| self.statement(minus));
                self.assign(&difference.into, place, statement);
            }
            StatementKind::Item(item) => {
                let place = self.set(&item.from);
                self.assign(&item.into, place, statement);
            }
            // Elements above and below have a part in common with those that they come from.
            StatementKind::Recursion(recursion) => {
                let place = self.set(&recursion.from);
                self.assign(&recursion.into, place, statement);
            }
            StatementKind::IsIn(is_in) => {
                let points = match &is_in.place {
                    IsInPlace::Set(name) => self.set(name),
                    IsInPlace::Point(point) => SetPlace::of(vec![point_box(point)]),
                };
                self.needs.boxes.extend(&points.boxes);
                // The areas are larger than the points.
                let place = match self.areas_found(statement) {
                    Some(place) => place,
                    None => {
                        self.report_unresolved(&points);
                        self.found_somewhere(statement)
                    }
                };
                self.assign(&is_in.into, place, statement);
            }
            StatementKind::MapToArea(map) => {
                // A set of ways or relations has the boxes of what found them, not those of the areas.
                let place = self.areas_found(statement).unwrap_or_else(|| self.found_somewhere(statement));
                self.assign(&map.into, place, statement);
            }
            StatementKind::Foreach(each) => self.each(&each.from, &each.into, &each.body, statement),
            StatementKind::For(each) => self.each(&each.from, &each.into, &each.body, statement),
            StatementKind::Complete(Complete { from, into, limit, body }) => {
                // As in the reference, it runs once more than the limit. A loop within it is followed once for each
                // round, but runs more often.
                let rounds = match has_loop(body) {
                    true => usize::MAX,
                    false => usize::try_from(*limit).unwrap_or(usize::MAX).saturating_add(1),
                };
                self.looped(from, into, body, statement, rounds);
                let place = self.set(from);
                self.assign(into, place, statement);
            }
            StatementKind::Compare(compare) => {
                let place = self.set(&compare.from);
                self.assign(&compare.into, place, statement);
                self.inside(&compare.body);
            }
            StatementKind::Retro(retro) => self.inside(&retro.body),
            StatementKind::If(choice) => {
                let before = self.sets.clone();
                self.block(&choice.then);
                let after = std::mem::replace(&mut self.sets, before);
                self.block(&choice.otherwise);
                join(&mut self.sets, &after);
            }
            StatementKind::Local(local) => {
                let place = self.set(&local.from);
                self.assign(&local.into, place, statement);
            }
            other => {
                if let Some(into) = other.result_set() {
                    self.assign(into, SetPlace::default(), statement);
                }
                for block in other.blocks() {
                    block.iter().for_each(|statement| self.statement(statement));
                }
            }
        }
    }

    /// Follows a block whose changes to sets do not leave it.
    fn inside(&mut self, body: &Block) {
        let outside = self.sets.clone();
        self.block(body);
        self.sets = outside;
    }

    /// Follows a loop over a set, after which the set of its elements is empty.
    fn each(&mut self, from: &str, into: &str, body: &Block, statement: &Statement) {
        // As in the reference, a set that was never filled is replaced by the other.
        let from = if self.sets.contains_key(from) { from } else { into };
        self.looped(from, into, body, statement, usize::MAX);
        self.assign(into, SetPlace::default(), statement);
    }

    /// Follows a block that gets elements of a set. Later rounds see the sets of earlier ones, therefore the outermost
    /// loop is repeated until no set of it or of a loop within it grows. A loop within it is followed once for each
    /// round, from all sets that it had at its beginning.
    fn looped(&mut self, from: &str, into: &str, body: &Block, statement: &Statement, most: usize) {
        let is_outermost = !std::mem::replace(&mut self.is_in_loop, true);
        let rounds = if is_outermost { most.min(ROUNDS) } else { 1 };
        for round in 1..=rounds {
            if is_outermost {
                self.grown.clear();
            }
            self.round(from, into, body, statement);
            if !is_outermost || self.grown.is_empty() {
                break;
            }
            // What grows without end may be anywhere.
            if (round == ROUNDS || self.steps > STEPS) && most > round {
                for sets in self.loops.values_mut() {
                    let grown = sets.places.iter_mut().filter(|(name, _)| self.grown.contains(*name));
                    grown.for_each(|(_, place)| place.anywhere = true);
                }
                self.round(from, into, body, statement);
                break;
            }
        }
        if is_outermost {
            self.is_in_loop = false;
            self.loops.clear();
        }
    }

    /// Follows one round of a loop.
    fn round(&mut self, from: &str, into: &str, body: &Block, statement: &Statement) {
        let mut begin = self.loops.remove(&span(statement)).unwrap_or_else(|| LoopSets::of(into, body));
        self.grown.extend(begin.join(&self.sets));
        self.sets.extend(begin.places.clone());
        let place = self.set(from);
        self.assign(into, place, statement);
        self.block(body);
        self.grown.extend(begin.join(&self.sets));
        self.sets.extend(begin.places.clone());
        self.loops.insert(span(statement), begin);
    }

    /// Follows a member of a union or an operand of a difference, and returns its result.
    fn operand(&mut self, statement: &Statement) -> SetPlace {
        self.statement(statement);
        let name = match &statement.kind {
            StatementKind::Item(item) => Some(&item.from),
            kind => kind.result_set(),
        };
        name.map(|name| self.set(name)).unwrap_or_default()
    }

    /// Returns the places of the areas that a statement found, if the query was run.
    fn areas_found(&mut self, statement: &Statement) -> Option<SetPlace> {
        let ids = self.knowledge.found_by(statement.span)?;
        if matches!(statement.kind, StatementKind::Query(_)) {
            self.needs.areas.extend(&ids);
        }
        let boxes = ids.iter().filter_map(|&id| self.knowledge.boxes_of(id)).flatten().collect();
        Some(SetPlace::of(boxes))
    }

    /// Returns the place of elements that a statement found, if their boxes are not known.
    fn found_somewhere(&self, statement: &Statement) -> SetPlace {
        SetPlace::unresolved(&excerpt(self.text, statement))
    }

    /// Records why the place of a search has no known boxes.
    fn report_unresolved(&mut self, place: &SetPlace) {
        self.needs.unresolved.extend(place.unresolved.as_deref().map(str::to_owned));
    }

    /// Returns the place of an area that the query uses. An area that is known to be absent has no boxes.
    fn area(&mut self, id: i64) -> SetPlace {
        self.needs.areas.insert(id);
        self.knowledge.boxes_of(id).map_or_else(
            || {
                let place = SetPlace::unresolved(&format!("area {id}"));
                self.report_unresolved(&place);
                place
            },
            SetPlace::of,
        )
    }

    fn query(&mut self, query: &Query, statement: &Statement) -> SetPlace {
        if query.what == QueryType::Derived {
            return SetPlace::default();
        }
        if query.what == QueryType::Area {
            return self.areas(query, statement);
        }
        let mut places: Vec<SetPlace> = Vec::new();
        if let Some(global) = self.global {
            places.push(SetPlace::of(vec![global]));
        }
        let mut named = false;
        for filter in &query.filters {
            named |= self.names(query.what, &filter.kind);
            places.extend(self.place_of(&filter.kind));
        }
        let is_search = !query.filters.iter().any(|filter| is_of_set(&filter.kind));
        match places.into_iter().min_by(SetPlace::compare) {
            Some(place) if !place.anywhere => {
                if is_search || query.filters.iter().any(|filter| matches!(filter.kind, FilterKind::Around(_))) {
                    self.report_unresolved(&place);
                    self.needs.boxes.extend(&place.boxes);
                }
                place
            }
            // What is found among the elements of a set needs no search.
            Some(place) if !is_search => place,
            _ if named => self.found_somewhere(statement),
            _ => {
                let text = excerpt(self.text, statement);
                self.needs.global.push(format!("line {}: {text}", statement.line));
                SetPlace::anywhere()
            }
        }
    }

    /// Returns where the areas of `area[...]` are.
    fn areas(&mut self, query: &Query, statement: &Statement) -> SetPlace {
        if let Some(place) = self.areas_found(statement) {
            return place;
        }
        let mut all = SetPlace::default();
        let mut known = false;
        for filter in &query.filters {
            match &filter.kind {
                FilterKind::Ids(Ids::List(ids)) => {
                    known = true;
                    for &id in ids {
                        all.add(&self.area(id));
                    }
                }
                FilterKind::FromSet(from) => {
                    known = true;
                    all.add(&self.set(&from.set));
                }
                FilterKind::Tag(Tag::Equals { key, value }) if key.starts_with("name") => {
                    if let Some(id) = self.knowledge.area_named(value) {
                        known = true;
                        all.add(&self.area(id));
                    }
                }
                _ => {}
            }
        }
        if !known {
            let place = self.found_somewhere(statement);
            self.report_unresolved(&place);
            all.add(&place);
        }
        all
    }

    /// Records the elements that a filter names by id, and returns whether it is such a filter.
    fn names(&mut self, what: QueryType, filter: &FilterKind) -> bool {
        let FilterKind::Ids(Ids::List(ids)) = filter else { return false };
        let kinds: &[&str] = match what {
            QueryType::Node => &["node"],
            QueryType::Way => &["way"],
            QueryType::Relation => &["relation"],
            QueryType::Nw => &["node", "way"],
            QueryType::Nr => &["node", "relation"],
            QueryType::Wr => &["way", "relation"],
            _ => &["node", "way", "relation"],
        };
        self.needs.ids.extend(kinds.iter().flat_map(|kind| ids.iter().map(move |id| format!("{kind}/{id}"))));
        true
    }

    /// Returns the place that a filter limits a query to; `None` for a filter that does not, or whose place is unknown.
    fn place_of(&mut self, filter: &FilterKind) -> Option<SetPlace> {
        match filter {
            FilterKind::Bbox(bbox) => Some(SetPlace::of(vec![to_osm(&bbox.bounds)])),
            FilterKind::Poly(poly) => {
                let mut bounds = BoundingBox::EMPTY;
                poly.points.iter().for_each(|point| bounds.union(&point_box(point)));
                Some(SetPlace::of(vec![bounds]))
            }
            FilterKind::Around(around) => Some(self.around(around)),
            FilterKind::Area(Area::Id(id)) => Some(self.area(*id)),
            FilterKind::Area(Area::Set(name)) => Some(self.set(name)),
            FilterKind::FromSet(from) => Some(self.set(&from.set)),
            FilterKind::RecurseFilter(RecurseFilter { set, .. }) => Some(self.set(set)),
            FilterKind::RecurseAll(recurse) => Some(self.set(&recurse.set)),
            FilterKind::WayCount(count) => Some(self.set(&count.set)),
            FilterKind::Pivot(pivot) => Some(self.set(&pivot.set)),
            _ => None,
        }
    }

    fn around(&self, around: &Around) -> SetPlace {
        let boxes = match &around.place {
            AroundPlace::Points(points) if points.len() == 1 => points.iter().map(point_box).collect(),
            AroundPlace::Points(points) => {
                let mut bounds = BoundingBox::EMPTY;
                points.iter().for_each(|point| bounds.union(&point_box(point)));
                vec![bounds]
            }
            AroundPlace::Set(name) => {
                let place = self.set(name);
                let extents: Option<Vec<Vec<BoundingBox>>> =
                    place.sources.iter().map(|&source| self.knowledge.extent_of(source)).collect();
                match extents {
                    Some(extents) if !extents.is_empty() => extents.concat(),
                    _ if place.anywhere => return SetPlace::anywhere(),
                    _ if place.unresolved.is_some() => return SetPlace { boxes: Vec::new(), ..place },
                    _ => place.boxes,
                }
            }
        };
        SetPlace::of(boxes.iter().map(|area| widened(area, around.radius)).collect())
    }
}

/// Returns whether a filter takes the elements of a set.
fn is_of_set(filter: &FilterKind) -> bool {
    matches!(
        filter,
        FilterKind::FromSet(_)
            | FilterKind::RecurseFilter(_)
            | FilterKind::RecurseAll(_)
            | FilterKind::WayCount(_)
            | FilterKind::Pivot(_)
            | FilterKind::Ids(_)
    )
}

/// Returns whether a block contains a loop, also within other statements.
fn has_loop(body: &Block) -> bool {
    let mut found = false;
    on_statements(body, &mut |statement| {
        found |=
            matches!(statement.kind, StatementKind::Foreach(_) | StatementKind::For(_) | StatementKind::Complete(_));
    });
    found
}

fn point_box(point: &QlPoint) -> BoundingBox {
    BoundingBox { south: point.lat, west: point.lon, north: point.lat, east: point.lon }
}

/// Returns a box that contains all points within a distance in metres of a box.
pub(super) fn widened(area: &BoundingBox, metres: f64) -> BoundingBox {
    const WHOLE: i64 = 3_600_000_000;
    if metres <= 0.0 || area.is_empty() {
        return *area;
    }
    let around = |lat: i32| around_box(LatLon { lat: f64::from(lat) / 1e7, lon: 0.0 }, metres);
    let (low, high) = (around(area.south), around(area.north));
    // A circle has most degrees of longitude where it is nearest to a pole, and all of them around one.
    let widest = if area.south.unsigned_abs() > area.north.unsigned_abs() { &low } else { &high };
    let (west, east) = (i64::from(area.west), i64::from(area.east));
    let (left, right) = (west + i64::from(widest.west), east + i64::from(widest.east));
    let across = if west > east { WHOLE } else { 0 };
    let latitudes = BoundingBox { south: low.south, north: high.north, ..*area };
    if right - left + across >= WHOLE {
        return BoundingBox { west: -1_800_000_000, east: 1_800_000_000, ..latitudes };
    }
    let wrapped = |lon: i64| ((lon + WHOLE / 2).rem_euclid(WHOLE) - WHOLE / 2) as i32;
    BoundingBox { west: wrapped(left), east: wrapped(right), ..latitudes }
}

#[cfg(test)]
mod tests;
