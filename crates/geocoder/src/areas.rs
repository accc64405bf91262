//! Finds areas of a snapshot by name, for `{{geocodeArea:X}}`.
//!
//! A name must be equal to `name`, else to `name:en`, else to any other `name:*`. Of several areas the one with the
//! lowest `admin_level` comes first (areas without a level last), then a relation before a closed way, then the lowest
//! id. The position of an area is the middle of its box.

use super::search::areas_named;
use super::{NamedPlace, PlaceBounds, PlaceElement, PlacePosition, PlaceSource, SourceFact};
use terrapin_osm::{BoundingBox, ElementType, KeyId, Ordinal, Osm};

/// Looks names up in a snapshot.
pub struct AreaLookup<'a> {
    osm: &'a Osm,
}

/// The sort key of areas; the lowest comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct AreaRank {
    admin_level: u32,
    is_way: bool,
    id: i64,
}

impl<'a> AreaLookup<'a> {
    /// Opens the areas of a snapshot.
    pub fn new(osm: &'a Osm) -> AreaLookup<'a> {
        AreaLookup { osm }
    }

    fn best(&self, keys: impl Iterator<Item = KeyId>, name: &str) -> Option<(AreaRank, ElementType, Ordinal)> {
        let mut best: Option<(AreaRank, ElementType, Ordinal)> = None;
        for key in keys {
            let Some(pair) = self.osm.pair(self.osm.key_name(key), name) else { continue };
            for kind in [ElementType::Relation, ElementType::Way] {
                for &ordinal in self.osm.posting(kind, pair).iter() {
                    let Some(rank) = self.rank(kind, ordinal) else { continue };
                    if best.as_ref().is_none_or(|(lowest, ..)| rank < *lowest) {
                        best = Some((rank, kind, ordinal));
                    }
                }
            }
        }
        best
    }

    /// Returns the sort key; `None` if the element is not an area.
    fn rank(&self, kind: ElementType, ordinal: Ordinal) -> Option<AreaRank> {
        if !self.is_area(kind, ordinal) {
            return None;
        }
        let id = self.osm.ids(kind, &[ordinal]).first().copied()?;
        let admin_level = self.tag(kind, ordinal, "admin_level").and_then(|level| level.parse().ok());
        Some(AreaRank { admin_level: admin_level.unwrap_or(u32::MAX), is_way: kind == ElementType::Way, id })
    }

    fn is_area(&self, kind: ElementType, ordinal: Ordinal) -> bool {
        match kind {
            ElementType::Node => false,
            ElementType::Way => {
                let (page, slot) = self.osm.place(kind, ordinal);
                let page = self.osm.way_page(page);
                let nodes = page.nodes(slot);
                nodes.len() >= 4 && nodes.first() == nodes.last()
            }
            ElementType::Relation => self.osm.areas().of_relation(ordinal).is_some(),
        }
    }

    fn tag(&self, kind: ElementType, ordinal: Ordinal, key: &str) -> Option<String> {
        let range = self.osm.pairs_of(self.osm.key(key)?);
        let (page, slot) = self.osm.place(kind, ordinal);
        let page = self.osm.tag_page(kind, page);
        let pair = page.tags(slot).iter().find(|pair| range.contains(pair))?;
        Some(self.osm.with_value(*pair, str::to_owned))
    }

    /// Returns the box around an area; empty if the element is not an area.
    fn bounds(&self, kind: ElementType, ordinal: Ordinal) -> BoundingBox {
        match kind {
            ElementType::Node => BoundingBox::EMPTY,
            ElementType::Way => {
                let (page, slot) = self.osm.place(kind, ordinal);
                let mut bounds = BoundingBox::EMPTY;
                self.osm.way_page(page).coords(slot).iter().for_each(|c| bounds.extend(*c));
                bounds
            }
            ElementType::Relation => {
                let areas = self.osm.areas();
                areas.of_relation(ordinal).map_or(BoundingBox::EMPTY, |area| *areas.shape(self.osm, area).bbox())
            }
        }
    }
}

impl PlaceSource for AreaLookup<'_> {
    fn find(&self, name: &str) -> Option<NamedPlace> {
        let translated = || {
            (0..self.osm.key_count())
                .filter(|key| self.osm.key_name(*key).strip_prefix("name:").is_some_and(|language| language != "en"))
        };
        let indexed = || {
            let element = *areas_named(self.osm, name, 1).first()?;
            let ordinal = self.osm.find(element.kind, element.id)?;
            Some((self.rank(element.kind, ordinal)?, element.kind, ordinal))
        };
        let (rank, kind, ordinal) = self
            .best(self.osm.key("name").into_iter(), name)
            .or_else(|| self.best(self.osm.key("name:en").into_iter(), name))
            .or_else(|| self.best(translated(), name))
            .or_else(indexed)?;
        let mut place =
            NamedPlace { element: SourceFact::Is(PlaceElement { kind, id: rank.id }), ..NamedPlace::default() };
        let bounds = self.bounds(kind, ordinal);
        if !bounds.is_empty() {
            place.center = SourceFact::Is(PlacePosition::middle_of(&bounds));
            place.bounds = SourceFact::Is(PlaceBounds::of(&bounds));
        }
        Some(place)
    }
}
