//! Decides by tags which closed ways are areas and which are closed lines: the list "polygon features" that Overpass
//! Turbo and osmtogeojson use (CC0, github.com/tyrasd/osm-polygon-features).

/// The values of a key that make an area.
enum ArealValues {
    All,
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

use ArealValues::{All, AllBut, Only};

/// The keys that make an area, in byte order.
const FEATURES: &[(&str, ArealValues)] = &[
    ("aeroway", AllBut(&["taxiway"])),
    ("amenity", All),
    ("area", All),
    ("area:highway", All),
    ("barrier", Only(&["city_wall", "ditch", "hedge", "retaining_wall", "spikes", "wall"])),
    ("boundary", All),
    ("building", All),
    ("building:part", All),
    ("craft", All),
    ("golf", All),
    ("highway", Only(&["elevator", "escape", "rest_area", "services"])),
    ("historic", All),
    ("indoor", All),
    ("landuse", All),
    ("leisure", All),
    ("man_made", AllBut(&["cutline", "embankment", "pipeline"])),
    ("military", All),
    ("natural", AllBut(&["arete", "cliff", "coastline", "ridge", "tree_row"])),
    ("office", All),
    ("place", All),
    ("power", Only(&["generator", "plant", "substation", "transformer"])),
    ("public_transport", All),
    ("railway", Only(&["platform", "roundhouse", "station", "turntable"])),
    ("ruins", All),
    ("shop", All),
    ("tourism", All),
    ("waterway", Only(&["boatyard", "dam", "dock", "riverbank"])),
];

/// Returns whether a closed way with these tags, each a key and a value, is an area.
pub fn is_area<'t>(tags: impl IntoIterator<Item = (&'t str, &'t str)>) -> bool {
    let mut found = false;
    for (key, value) in tags {
        if (key, value) == ("area", "no") {
            return false;
        }
        let feature = FEATURES.binary_search_by_key(&key, |(known, _)| known).ok().map(|at| &FEATURES[at].1);
        found |= value != "no"
            && feature.is_some_and(|values| match values {
                All => true,
                Only(these) => these.contains(&value),
                AllBut(these) => !these.contains(&value),
            });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_areas_from_lines() {
        assert!(FEATURES.is_sorted_by_key(|(key, _)| key));
        for (tags, expected) in [
            (&[("building", "yes")][..], true),
            (&[("building", "no")], false),
            (&[("highway", "residential")], false),
            (&[("highway", "services")], true),
            (&[("highway", "pedestrian"), ("area", "yes")], true),
            (&[("building", "yes"), ("area", "no")], false),
            (&[("natural", "water")], true),
            (&[("natural", "coastline")], false),
            (&[("natural", "coastline"), ("place", "island")], true),
            (&[("name", "x")], false),
            (&[], false),
        ] {
            assert_eq!(is_area(tags.iter().copied()), expected, "{tags:?}");
        }
    }
}
