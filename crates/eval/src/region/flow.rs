//! Follows a query's sets through its syntax tree, without running it: where on the globe the elements of each set are,
//! and what each query statement has to search. The result of a statement with several filters on location lies in the
//! smallest of their regions.

use std::collections::{BTreeMap, BTreeSet};

use terrapin_osm::BoundingBox;
use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_overpass::run::to_osm;
use terrapin_overpass::syntax::{
    Area, Around, AroundPlace, Block, FilterKind, Ids, IsInPlace, QlPoint, Query, QueryType, RecurseFilter, Script,
    SetName, SourceSpan, Statement, StatementKind, Tag,
};

use super::cover::{cover, square_kilometres};

/// The maximum number of boxes of one set.
pub(super) const BOXES: usize = 64;

/// The knowledge about areas that the flow needs.
pub(super) trait AreaKnowledge {
    /// Returns the boxes of the area with an id; `None` if they are unknown.
    fn boxes_of(&self, id: i64) -> Option<Vec<BoundingBox>>;
    /// Returns the id of the area that a name refers to.
    fn area_named(&self, name: &str) -> Option<i64>;
    /// Returns the areas that the statement at a position found, as ids; `None` if the query was not run.
    fn found_by(&self, statement: SourceSpan) -> Option<Vec<i64>>;
    /// Returns the boxes of the elements that a statement found; `None` if the query was not run.
    fn extent_of(&self, statement: SourceSpan) -> Option<Vec<BoundingBox>>;
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
    /// The statement that filled the set last.
    source: Option<SourceSpan>,
}

impl SetPlace {
    fn of(boxes: Vec<BoundingBox>) -> SetPlace {
        let boxes = if boxes.len() > BOXES { cover(&boxes, BOXES) } else { boxes };
        SetPlace { boxes, ..SetPlace::default() }
    }

    const ANYWHERE: SetPlace = SetPlace { boxes: Vec::new(), anywhere: true, source: None };

    fn add(&mut self, other: &SetPlace) {
        self.boxes.extend(&other.boxes);
        sort_and_dedup(&mut self.boxes);
        if self.boxes.len() > BOXES {
            self.boxes = cover(&self.boxes, BOXES);
        }
        self.anywhere |= other.anywhere;
    }

    fn size(&self) -> f64 {
        if self.anywhere { f64::INFINITY } else { square_kilometres(&self.boxes) }
    }
}

/// Follows the sets of one query.
pub(super) struct RegionFlow<'a> {
    knowledge: &'a dyn AreaKnowledge,
    global: Option<BoundingBox>,
    sets: BTreeMap<SetName, SetPlace>,
    needs: RegionNeeds,
}

/// Returns what a query has to search.
pub(super) fn needs_of(script: &Script, knowledge: &dyn AreaKnowledge) -> RegionNeeds {
    let global = script.settings.bbox.as_ref().map(to_osm);
    let mut flow = RegionFlow { knowledge, global, sets: BTreeMap::new(), needs: RegionNeeds::default() };
    flow.block(&script.statements);
    flow.needs.global.sort();
    flow.needs.global.dedup();
    sort_and_dedup(&mut flow.needs.boxes);
    flow.needs
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
        self.sets.insert(name.to_owned(), SetPlace { source: Some(from.span), ..place });
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Query(query) => {
                let place = self.query(query, statement);
                self.assign(&query.into, place, statement);
            }
            StatementKind::Union(union) => {
                let all = self.operands(&union.members);
                self.assign(&union.into, all, statement);
            }
            StatementKind::Difference(difference) => {
                let all = self.operands(&difference.operands);
                self.assign(&difference.into, all, statement);
            }
            StatementKind::Item(item) => {
                let place = self.set(&item.from);
                self.sets.insert(item.into.clone(), place);
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
                let place = self.areas_found(statement).unwrap_or(points);
                self.assign(&is_in.into, place, statement);
            }
            StatementKind::MapToArea(map) => {
                let place = self.areas_found(statement).unwrap_or_else(|| self.set(&map.from));
                self.assign(&map.into, place, statement);
            }
            StatementKind::Foreach(each) => self.looped(&each.from, &each.into, &each.body, statement),
            StatementKind::For(each) => self.looped(&each.from, &each.into, &each.body, statement),
            StatementKind::Complete(complete) => {
                self.looped(&complete.from, &complete.into, &complete.body, statement);
                let place = self.set(&complete.from);
                self.assign(&complete.into, place, statement);
            }
            StatementKind::Compare(compare) => {
                self.looped(&compare.from, &compare.into, &compare.body, statement);
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

    /// Follows a block that gets elements of a set. Later rounds see the sets of earlier ones, so that it is followed
    /// twice.
    fn looped(&mut self, from: &str, into: &str, body: &Block, statement: &Statement) {
        for _ in 0..2 {
            let place = self.set(from);
            self.assign(into, place, statement);
            self.block(body);
        }
    }

    fn operands(&mut self, statements: &[Statement]) -> SetPlace {
        let mut all = SetPlace::default();
        for statement in statements {
            self.statement(statement);
            let name = match &statement.kind {
                StatementKind::Item(item) => Some(&item.from),
                kind => kind.result_set(),
            };
            if let Some(name) = name {
                all.add(&self.set(name));
            }
        }
        all
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

    /// Returns the boxes of an area that the query uses.
    fn area(&mut self, id: i64) -> Vec<BoundingBox> {
        self.needs.areas.insert(id);
        self.knowledge.boxes_of(id).unwrap_or_else(|| {
            self.needs.unresolved.insert(format!("area {id}"));
            Vec::new()
        })
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
        let unresolved = !self.needs.unresolved.is_empty();
        match places.into_iter().min_by(|a, b| a.size().total_cmp(&b.size())) {
            Some(place) if !place.anywhere => {
                if is_search || query.filters.iter().any(|filter| matches!(filter.kind, FilterKind::Around(_))) {
                    self.needs.boxes.extend(&place.boxes);
                }
                place
            }
            // What is found among the elements of a set needs no search.
            Some(place) if !is_search => place,
            _ if named => SetPlace::default(),
            None if unresolved && query.filters.iter().any(|filter| matches!(filter.kind, FilterKind::Area(_))) => {
                SetPlace::default()
            }
            _ => {
                self.needs.global.push(format!("line {}: {}", statement.line, summary(query)));
                SetPlace::ANYWHERE
            }
        }
    }

    /// Returns where the areas of `area[...]` are.
    fn areas(&mut self, query: &Query, statement: &Statement) -> SetPlace {
        if let Some(place) = self.areas_found(statement) {
            return place;
        }
        let mut boxes = Vec::new();
        let mut known = false;
        for filter in &query.filters {
            match &filter.kind {
                FilterKind::Ids(Ids::List(ids)) => {
                    known = true;
                    ids.iter().for_each(|&id| boxes.extend(self.area(id)));
                }
                FilterKind::FromSet(from) => {
                    known = true;
                    boxes.extend(self.set(&from.set).boxes);
                }
                FilterKind::Tag(Tag::Equals { key, value }) if key.starts_with("name") => {
                    if let Some(id) = self.knowledge.area_named(value) {
                        known = true;
                        boxes.extend(self.area(id));
                    }
                }
                _ => {}
            }
        }
        if !known {
            self.needs.unresolved.insert(summary(query));
        }
        SetPlace::of(boxes)
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
            FilterKind::Area(Area::Id(id)) => {
                let boxes = self.area(*id);
                (!boxes.is_empty()).then(|| SetPlace::of(boxes))
            }
            FilterKind::Area(Area::Set(name)) => {
                let place = self.set(name);
                let known = place.anywhere || !place.boxes.is_empty() || self.needs.unresolved.is_empty();
                known.then_some(place)
            }
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
                match place.source.and_then(|source| self.knowledge.extent_of(source)) {
                    Some(extent) => extent,
                    None if place.anywhere => return SetPlace::ANYWHERE,
                    None => place.boxes,
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

fn point_box(point: &QlPoint) -> BoundingBox {
    BoundingBox { south: point.lat, west: point.lon, north: point.lat, east: point.lon }
}

/// Returns a box that contains all points within a distance in metres of a box.
pub(super) fn widened(area: &BoundingBox, metres: f64) -> BoundingBox {
    if metres <= 0.0 {
        return *area;
    }
    let corner =
        |lat: i32, lon: i32| around_box(LatLon { lat: f64::from(lat) / 1e7, lon: f64::from(lon) / 1e7 }, metres);
    let (low, high) = (corner(area.south, area.west), corner(area.north, area.east));
    let (low_east, high_west) = (corner(area.south, area.east), corner(area.north, area.west));
    let wide = |area: &BoundingBox| i64::from(area.east) - i64::from(area.west);
    // Around a pole, a circle has all longitudes. A box that reaches around the globe stays whole.
    let all = [&low, &high, &low_east, &high_west].iter().any(|corner| wide(corner) >= 3_599_999_999)
        || wide(area) >= 3_500_000_000;
    let at_pole = area.north >= 899_000_000 || area.south <= -899_000_000;
    if all || at_pole {
        return BoundingBox { south: low.south, north: high.north, west: -1_800_000_000, east: 1_800_000_000 };
    }
    // A degree has most longitude where the circle is nearest to a pole.
    let (west, east) = if area.south.unsigned_abs() > area.north.unsigned_abs() {
        (low.west, low_east.east)
    } else {
        (high_west.west, high.east)
    };
    BoundingBox { south: low.south, north: high.north, west, east }
}

/// Writes the type and the tags of a query, for people.
fn summary(query: &Query) -> String {
    let mut text = format!("{:?}", query.what).to_lowercase();
    for filter in &query.filters {
        match &filter.kind {
            FilterKind::Tag(Tag::HasKey { key }) => text.push_str(&format!("[{key}]")),
            FilterKind::Tag(Tag::NotKey { key }) => text.push_str(&format!("[!{key}]")),
            FilterKind::Tag(Tag::Equals { key, value }) => text.push_str(&format!("[{key}={value}]")),
            FilterKind::Tag(Tag::NotEquals { key, value }) => text.push_str(&format!("[{key}!={value}]")),
            FilterKind::Tag(Tag::Matches { key, value }) => text.push_str(&format!("[{key}~{}]", value.pattern)),
            FilterKind::Tag(Tag::NotMatches { key, value }) => text.push_str(&format!("[{key}!~{}]", value.pattern)),
            FilterKind::Tag(Tag::KeyMatches { key, value } | Tag::KeyNotMatches { key, value }) => {
                text.push_str(&format!("[~{}~{}]", key.pattern, value.pattern));
            }
            FilterKind::User(_) => text.push_str("(user)"),
            FilterKind::Newer(_) => text.push_str("(newer)"),
            FilterKind::Changed(_) => text.push_str("(changed)"),
            FilterKind::Condition(_) => text.push_str("(if)"),
            FilterKind::Ids(_) => text.push_str("(id)"),
            FilterKind::Area(_) => text.push_str("(area)"),
            FilterKind::Around(_) => text.push_str("(around)"),
            _ => text.push_str("(...)"),
        }
    }
    text
}
