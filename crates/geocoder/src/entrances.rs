//! The entrances of a building.

use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementType, Ordinal, Osm};

use super::{Details, PlaceElement};

/// An entrance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrance {
    /// The id of its node.
    pub id: i64,
    /// The value of `entrance`.
    pub kind: String,
    /// Its position.
    pub at: Coord,
    /// Its other tags.
    pub tags: Vec<(String, String)>,
}

/// Returns the nodes with `entrance` of a way, or of the ways of a relation other than a border, by id.
pub fn entrances(osm: &Osm, element: PlaceElement, details: &Details) -> Vec<Entrance> {
    let Some(key) = osm.key("entrance") else { return Vec::new() };
    let Some(ordinal) = osm.find(element.kind, element.id) else { return Vec::new() };
    if ["boundary", "place"].contains(&details.category().0) {
        return Vec::new();
    }
    let ways: Vec<Ordinal> = match element.kind {
        ElementType::Node => Vec::new(),
        ElementType::Way => vec![ordinal],
        ElementType::Relation => {
            let (page, slot) = osm.place(element.kind, ordinal);
            let page = osm.relation_page(page);
            let ways = page.members(slot).iter().filter(|member| member.kind == ElementType::Way);
            ways.filter_map(|member| member.element.ordinal()).collect()
        }
    };
    let mut nodes: Vec<Ordinal> = Vec::new();
    for way in ways {
        let (refs, _) = osm.way(way);
        budget::checkpoints(refs.len());
        nodes.extend(refs.iter().filter_map(|node| node.ordinal()));
    }
    nodes.sort_unstable();
    nodes.dedup();
    let found = osm.key_postings(ElementType::Node, key).among(&nodes, true);
    let mut all: Vec<Entrance> = found.into_iter().filter_map(|node| entrance(osm, node)).collect();
    all.sort_by_key(|entrance| entrance.id);
    all
}

fn entrance(osm: &Osm, node: Ordinal) -> Option<Entrance> {
    let at = osm.coords(&[node]).first().copied().filter(|at| !at.is_missing())?;
    let id = osm.ids(ElementType::Node, &[node]).first().copied()?;
    let Details { mut tags } = Details::of(osm, ElementType::Node, node);
    let place = tags.iter().position(|(key, _)| key == "entrance")?;
    let (_, kind) = tags.remove(place);
    Some(Entrance { id, kind, at, tags })
}
