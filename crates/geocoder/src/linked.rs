//! Links a border to its label node. The `place` tag of the node distinguishes towns from villages.

use terrapin_osm::{ElementType, Ordinal, Osm, RelationMember};

use super::Details;
use super::details::LINKED;
use super::nearby::pairs_of;

/// Values of `place` of label nodes.
const SETTLEMENTS: [&str; 11] = [
    "city",
    "town",
    "village",
    "hamlet",
    "municipality",
    "borough",
    "suburb",
    "quarter",
    "neighbourhood",
    "isolated_dwelling",
    "island",
];
/// Maximum number of nodes of one name to read.
const MOST: usize = 16;

/// Returns the tags of a relation. An administrative border without `place` gets the value of its label node.
pub fn details_of(osm: &Osm, relation: Ordinal) -> Details {
    let mut details = Details::of(osm, ElementType::Relation, relation);
    if details.level().is_none_or(|level| level < 3) || details.tag("place").is_some() {
        return details;
    }
    if let Some(place) = place_of(osm, relation, &details) {
        details.tags.push((LINKED.to_owned(), place));
        details.tags.sort_unstable();
    }
    details
}

fn place_of(osm: &Osm, relation: Ordinal, details: &Details) -> Option<String> {
    let label = nodes_of(osm, relation, "label").into_iter().find_map(|node| settlement(osm, node));
    if label.is_some() {
        return label;
    }
    let name = details.tag("name")?;
    let centre = nodes_of(osm, relation, "admin_centre")
        .into_iter()
        .find(|&node| Details::of(osm, ElementType::Node, node).tag("name") == Some(name));
    if let Some(place) = centre.and_then(|node| settlement(osm, node)) {
        return Some(place);
    }
    // Else a node of the same name within the border.
    let areas = osm.areas();
    let bounds = areas.bbox(areas.of_relation(relation)?);
    let named = osm.postings(ElementType::Node, osm.pair("name", name)?);
    let nodes = named.all();
    nodes.iter().take(MOST).find_map(|&node| {
        let at = osm.coords(&[node]).first().copied()?;
        if bounds.contains(at) { settlement(osm, node) } else { None }
    })
}

fn settlement(osm: &Osm, node: Ordinal) -> Option<String> {
    let (page, slot) = osm.place(ElementType::Node, node);
    let page = osm.tag_page(ElementType::Node, page);
    let pair = super::nearby::find_pair(page.tags(slot), &pairs_of(osm, "place"))?;
    osm.with_value(pair, |place| SETTLEMENTS.contains(&place).then(|| place.to_owned()))
}

/// Returns the nodes of a relation with a role.
fn nodes_of(osm: &Osm, relation: Ordinal, role: &str) -> Vec<Ordinal> {
    let Some(role) = osm.find_role(role) else { return Vec::new() };
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let page = osm.relation_page(page);
    let is_it = |member: &&RelationMember| member.kind == ElementType::Node && member.role == role;
    page.members(slot).iter().filter(is_it).filter_map(|member| member.element.ordinal()).collect()
}

/// Returns the border with this node as its label.
pub fn border_of(osm: &Osm, node: Ordinal) -> Option<Ordinal> {
    let role = osm.find_role("label")?;
    osm.relations_of(ElementType::Node, &[node]).into_iter().find(|&relation| {
        let (page, slot) = osm.place(ElementType::Relation, relation);
        let page = osm.relation_page(page);
        let is_label = |member: &RelationMember| {
            member.kind == ElementType::Node && member.role == role && member.element.ordinal() == Some(node)
        };
        page.members(slot).iter().any(is_label)
            && osm.areas().of_relation(relation).is_some()
            && Details::of(osm, ElementType::Relation, relation).level().is_some()
    })
}
