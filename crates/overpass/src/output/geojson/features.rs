//! Converts the elements of an answer to GeoJSON features. Follows the rules of osmtogeojson 3, except for polygons:
//! their rules are at the top of `osm/outline`.

use rustc_hash::FxHashSet;
use terrapin_budget as budget;
use terrapin_osm::outline::{Flaw, Line, OutlineBorder, Polygon, cut_at_180, is_area};
use terrapin_osm::{Coord, ElementType};

use super::index::{GeoJsonIndex, WayPlace, line_vertices};
use super::lines::{self, LineVertex};
use super::print::GeoJsonFeature;
use super::record::{GeoJsonRecord, RecordKind, RecordTags};
use super::shape::FeatureGeometry;

/// Keys that do not describe an element. An element with no other keys counts as untagged.
const UNINTERESTING: [&str; 9] = [
    "source",
    "source_ref",
    "source:ref",
    "history",
    "attribution",
    "created_by",
    "tiger:county",
    "tiger:tlid",
    "tiger:upload_uuid",
];

/// A sink for features.
pub(crate) trait FeatureSink {
    /// Adds one feature. Returns an error if the client has disconnected.
    fn add(&mut self, feature: &GeoJsonFeature<'_>) -> std::io::Result<()>;
}

/// Writes all features of an answer: areas, then lines, then points, so that points are drawn on top.
pub(super) fn write(index: &GeoJsonIndex<'_>, to: &mut dyn FeatureSink) -> std::io::Result<()> {
    let mut ways = Outlines { own: vec![false; index.ways.len()], members: vec![false; index.member_ways.len()] };
    for relation in index.relations.iter() {
        write_relation(index, &relation, &mut ways, to)?;
    }
    for areas in [true, false] {
        for (way, _) in index.ways.iter().zip(&ways.own).filter(|(_, skipped)| !**skipped) {
            write_way(index, &way, areas, to)?;
        }
    }
    for (way, _) in index.member_ways.iter().zip(&ways.members).filter(|(_, skipped)| !**skipped) {
        budget::checkpoint();
        let vertices = line_vertices(way.line);
        let line = places(&vertices);
        if line.len() > 1 {
            to.add(&GeoJsonFeature {
                type_name: "way",
                id: way.id,
                tags: RecordTags::default(),
                meta: None,
                relations: index.memberships(ElementType::Way, way.id),
                tainted: line.len() < vertices.len(),
                shape: FeatureGeometry::Lines(&cut_at_180(&line)),
            })?;
        }
    }
    write_points(index, to)?;
    for made in &index.made {
        budget::checkpoint();
        if let Some(shape) = made.shape {
            to.add(&GeoJsonFeature { shape: FeatureGeometry::Written(shape), ..plain(made) })?;
        }
    }
    Ok(())
}

/// Marks the ways that get no feature of their own because a relation's feature already covers them.
struct Outlines {
    own: Vec<bool>,
    members: Vec<bool>,
}

impl Outlines {
    fn skip(&mut self, way: WayPlace) {
        match way {
            WayPlace::Own(place) => self.own[place] = true,
            WayPlace::Member(place) => self.members[place] = true,
        }
    }
}

/// Returns an element's feature without geometry and relations.
fn plain<'a>(record: &GeoJsonRecord<'a>) -> GeoJsonFeature<'a> {
    GeoJsonFeature {
        type_name: record.type_name,
        id: record.id,
        tags: record.tags,
        meta: record.meta,
        relations: &[],
        shape: FeatureGeometry::Lines(&[]),
        tainted: false,
    }
}

/// Returns whether an element has descriptive tags other than those for which `but` returns true.
fn is_interesting<'t>(tags: RecordTags<'t>, but: impl Fn(&'t str, &'t str) -> bool) -> bool {
    tags.iter().any(|(key, value)| !UNINTERESTING.contains(&key) && !but(key, value))
}

/// Returns the vertices with known coordinates.
fn places(vertices: &[Option<LineVertex>]) -> Vec<Coord> {
    vertices.iter().flatten().map(|vertex| vertex.at).collect()
}

/// The member ways of a relation, in its order.
struct MemberLines {
    lines: Vec<Vec<LineVertex>>,
    /// The border that the ways form.
    border: OutlineBorder,
    tainted: bool,
}

impl MemberLines {
    fn of(index: &GeoJsonIndex<'_>, relation: &GeoJsonRecord<'_>) -> MemberLines {
        let mut all = MemberLines { lines: Vec::new(), border: OutlineBorder::default(), tainted: false };
        let mut seen = FxHashSet::default();
        let members = relation.members.into_iter().flat_map(|members| members.iter());
        for member in members.filter(|member| member.kind == ElementType::Way) {
            budget::checkpoint();
            let vertices = index.member_way(relation, member.id).and_then(|way| index.member_vertices(way));
            let Some(vertices) = vertices else {
                all.tainted = true;
                all.border.add_missing();
                continue;
            };
            if seen.insert(member.id) {
                all.border.add(&known_or_missing(&vertices), member.role == "inner");
            }
            let known: Vec<LineVertex> = vertices.iter().flatten().copied().collect();
            all.tainted |= known.len() < vertices.len();
            all.lines.push(known);
        }
        all
    }

    /// Returns the lines, joined at shared ends and cut at the 180th meridian.
    fn joined(self) -> Vec<Line> {
        let joined = lines::join(self.lines);
        let lines = joined.into_iter().map(|line| line.into_iter().map(|vertex| vertex.at).collect());
        lines.filter(|line: &Line| line.len() > 1).flat_map(|line| cut_at_180(&line)).collect()
    }
}

fn known_or_missing(vertices: &[Option<LineVertex>]) -> Line {
    vertices.iter().map(|vertex| vertex.map_or(Coord::MISSING, |vertex| vertex.at)).collect()
}

/// Writes a multipolygon, boundary, route or waterway relation. Any relation with a bounding box but without member
/// geometry also gets a feature for the box.
fn write_relation(
    index: &GeoJsonIndex<'_>,
    relation: &GeoJsonRecord<'_>,
    ways: &mut Outlines,
    to: &mut dyn FeatureSink,
) -> std::io::Result<()> {
    budget::checkpoint();
    let placed = relation.parts.has(super::record::RecordFields::PLACED_MEMBERS);
    if let Some(bounds) = relation.bounds.filter(|_| !placed) {
        to.add(&GeoJsonFeature { shape: FeatureGeometry::Bounds(bounds), ..plain(relation) })?;
    }
    if relation.members.is_none() {
        return Ok(());
    }
    match relation.tags.get("type") {
        Some("multipolygon" | "boundary") => write_multipolygon(index, relation, ways, to),
        Some("route" | "waterway") => write_route(index, relation, ways, to),
        _ => Ok(()),
    }
}

fn write_route(
    index: &GeoJsonIndex<'_>,
    relation: &GeoJsonRecord<'_>,
    ways: &mut Outlines,
    to: &mut dyn FeatureSink,
) -> std::io::Result<()> {
    for member in relation.members.into_iter().flat_map(|members| members.iter()) {
        if member.kind != ElementType::Way {
            continue;
        }
        if let Some(way) = index.member_way(relation, member.id) {
            let tags = index.record(way).map(|way| way.tags).unwrap_or_default();
            if !is_interesting(tags, |_, _| false) {
                ways.skip(way);
            }
        }
    }
    let members = MemberLines::of(index, relation);
    let tainted = members.tainted;
    let lines = members.joined();
    if lines.is_empty() {
        return Ok(());
    }
    to.add(&GeoJsonFeature {
        relations: index.memberships(ElementType::Relation, relation.id),
        tainted,
        shape: FeatureGeometry::Lines(&lines),
        ..plain(relation)
    })
}

fn write_multipolygon(
    index: &GeoJsonIndex<'_>,
    relation: &GeoJsonRecord<'_>,
    ways: &mut Outlines,
    to: &mut dyn FeatureSink,
) -> std::io::Result<()> {
    let mut outer = Vec::new();
    for member in relation.members.into_iter().flat_map(|members| members.iter()) {
        let is_way = member.kind == ElementType::Way;
        let way = index.member_way(relation, member.id).filter(|_| is_way);
        let tags = way.and_then(|way| index.record(way)).map(|way| way.tags).unwrap_or_default();
        let is_outline = match member.role {
            // An outer way gets no feature of its own if the relation repeats its tags.
            "outer" | "" => !is_interesting(tags, |key, value| relation.tags.get(key) == Some(value)),
            "inner" => !is_interesting(tags, |_, _| false),
            _ => false,
        };
        if member.role == "outer" {
            outer.push((member.id, way));
        }
        if let Some(way) = way.filter(|_| is_outline) {
            ways.skip(way);
        }
    }
    // A relation without descriptive tags of its own and with one outer way is that way, with holes.
    let simple = match outer[..] {
        [one] if !is_interesting(relation.tags, |key, _| key == "type") => Some(one),
        _ => None,
    };
    let feature = match simple {
        None => GeoJsonFeature { relations: index.memberships(ElementType::Relation, relation.id), ..plain(relation) },
        Some((_, None)) => return Ok(()),
        Some((id, Some(way))) => {
            ways.skip(way);
            match index.record(way) {
                Some(record) => GeoJsonFeature { relations: index.memberships(ElementType::Way, id), ..plain(&record) },
                None => {
                    GeoJsonFeature { type_name: "way", id, tags: RecordTags::default(), meta: None, ..plain(relation) }
                }
            }
        }
    };
    let members = MemberLines::of(index, relation);
    let polygons = members.border.polygons();
    add_area(polygons, members.tainted, feature, || members.joined(), to)
}

/// Adds a feature with its polygons. If the border forms no polygons, adds its lines.
fn add_area(
    polygons: Result<Vec<Polygon>, Flaw>,
    tainted: bool,
    feature: GeoJsonFeature<'_>,
    lines: impl FnOnce() -> Vec<Line>,
    to: &mut dyn FeatureSink,
) -> std::io::Result<()> {
    if let Ok(polygons) = polygons {
        return to.add(&GeoJsonFeature { tainted, shape: FeatureGeometry::Polygons(&polygons), ..feature });
    }
    let lines = lines();
    if lines.is_empty() {
        return Ok(());
    }
    to.add(&GeoJsonFeature { tainted: true, shape: FeatureGeometry::Lines(&lines), ..feature })
}

/// Writes a way if it is an area (`areas`) or a line (not `areas`).
fn write_way(
    index: &GeoJsonIndex<'_>,
    way: &GeoJsonRecord<'_>,
    areas: bool,
    to: &mut dyn FeatureSink,
) -> std::io::Result<()> {
    budget::checkpoint();
    let vertices = index.vertices(way);
    let line = places(&vertices);
    let feature = GeoJsonFeature { relations: index.memberships(ElementType::Way, way.id), ..plain(way) };
    if line.len() < 2 {
        return match way.bounds.filter(|_| areas && way.geometry.is_none()) {
            Some(bounds) => to.add(&GeoJsonFeature { shape: FeatureGeometry::Bounds(bounds), ..feature }),
            None => Ok(()),
        };
    }
    let ends = [vertices.first(), vertices.last()].map(|end| end.copied().flatten().map(|vertex| vertex.key));
    let is_closed = ends[0].is_some() && ends[0] == ends[1];
    if (is_closed && is_area(way.tags.iter())) != areas {
        return Ok(());
    }
    let tainted = line.len() < vertices.len();
    if areas {
        let mut border = OutlineBorder::default();
        border.add(&known_or_missing(&vertices), false);
        add_area(border.polygons(), tainted, feature, || cut_at_180(&line), to)
    } else {
        to.add(&GeoJsonFeature { tainted, shape: FeatureGeometry::Lines(&cut_at_180(&line)), ..feature })
    }
}

/// Writes nodes, and the center points of ways and relations.
fn write_points(index: &GeoJsonIndex<'_>, to: &mut dyn FeatureSink) -> std::io::Result<()> {
    for node in index.nodes.iter() {
        budget::checkpoint();
        let Some(at) = node.position else { continue };
        if index.is_point(&node) || is_interesting(node.tags, |_, _| false) {
            let relations = index.memberships(ElementType::Node, node.id);
            to.add(&GeoJsonFeature { relations, shape: FeatureGeometry::Point(at), ..plain(&node) })?;
        }
    }
    for &(id, at) in &index.shown_nodes {
        budget::checkpoint();
        to.add(&GeoJsonFeature {
            type_name: "node",
            id,
            tags: RecordTags::default(),
            meta: None,
            relations: index.memberships(ElementType::Node, id),
            shape: FeatureGeometry::Point(at),
            tainted: false,
        })?;
    }
    for element in index.ways.iter().chain(index.relations.iter()) {
        budget::checkpoint();
        debug_assert!(element.kind != RecordKind::Made, "what a query made stands apart");
        if let Some(center) = element.center {
            to.add(&GeoJsonFeature { shape: FeatureGeometry::Center(center), ..plain(&element) })?;
        }
    }
    Ok(())
}
