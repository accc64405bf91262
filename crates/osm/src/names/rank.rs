//! The importance of an object by its tags: the table of ranks in Nominatim's documentation, from 2 (continents) to 30
//! (everything else).

/// The rank of objects without any other rank.
pub const LAST: u8 = 30;

/// Returns the rank of an administrative border: twice its level, at most [`LAST`].
pub fn of_level(level: u8) -> u8 {
    level.saturating_mul(2).min(LAST)
}

/// Tags that have a rank of their own. Where an element has several, the first here counts.
pub const RANKS: &[(&str, &str, u8)] = &[
    ("place", "continent", 2),
    ("place", "ocean", 2),
    ("place", "sea", 2),
    ("place", "country", 4),
    ("place", "state", 8),
    ("place", "region", 8),
    ("place", "province", 8),
    ("place", "archipelago", 10),
    ("place", "county", 12),
    ("place", "district", 12),
    ("place", "city", 16),
    ("place", "municipality", 16),
    ("place", "island", 16),
    ("place", "town", 18),
    ("place", "borough", 18),
    ("place", "village", 19),
    ("place", "suburb", 19),
    ("place", "hamlet", 20),
    ("place", "farm", 20),
    ("place", "neighbourhood", 20),
    ("place", "quarter", 20),
    ("place", "islet", 20),
    ("place", "isolated_dwelling", 22),
    ("place", "city_block", 22),
    ("natural", "peak", 18),
    ("natural", "volcano", 18),
    ("natural", "mountain_range", 18),
    ("waterway", "river", 19),
    ("highway", "motorway", 26),
    ("highway", "trunk", 26),
    ("highway", "primary", 26),
    ("highway", "secondary", 26),
    ("highway", "tertiary", 26),
    ("highway", "unclassified", 26),
    ("highway", "residential", 26),
    ("highway", "living_street", 26),
    ("highway", "pedestrian", 26),
    ("highway", "road", 26),
    ("highway", "service", 27),
    ("highway", "track", 27),
    ("highway", "footway", 27),
    ("highway", "path", 27),
    ("highway", "cycleway", 27),
    ("highway", "bridleway", 27),
    ("highway", "steps", 27),
];

/// Returns the rank of an object with these tags.
pub fn of<'a>(tag: impl Fn(&str) -> Option<&'a str>) -> u8 {
    if let Some(level) = admin_level(&tag) {
        return of_level(level);
    }
    let mut value = ("", None);
    for &(key, wanted, rank) in RANKS {
        if value.0 != key {
            value = (key, tag(key));
        }
        if value.1 == Some(wanted) {
            return rank;
        }
    }
    LAST
}

/// The highest level of an administrative border that counts.
pub const MOST_LEVEL: u8 = 15;

/// Returns the level of an administrative border, 0 to 15.
pub fn admin_level<'a>(tag: impl Fn(&str) -> Option<&'a str>) -> Option<u8> {
    if tag("boundary") != Some("administrative") {
        return None;
    }
    tag("admin_level")?.parse().ok().filter(|level| *level <= MOST_LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_before_places_before_streets() {
        let rank = |tags: &[(&str, &'static str)]| of(|key| tags.iter().find(|tag| tag.0 == key).map(|tag| tag.1));
        let border = ("boundary", "administrative");
        assert_eq!(rank(&[border, ("admin_level", "8"), ("place", "town")]), 16);
        assert_eq!(rank(&[border, ("admin_level", "99"), ("place", "town")]), 18);
        assert_eq!(rank(&[("place", "village")]), 19);
        assert_eq!(rank(&[("highway", "residential")]), 26);
        assert_eq!(rank(&[("highway", "bus_stop")]), 30);
        assert_eq!(rank(&[("building", "yes")]), 30);
    }
}
