//! The rules that put elements into layers by their tags, from the schema Shortbread 1.0 (CC0, shortbread-tiles.org), and
//! those of the layer of landforms.

use super::schema::TileLayer;

/// The required geometry of an element, which is also drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureShape {
    /// Closed ways and multipolygons, as areas.
    Area,
    /// Ways, as lines, closed or not.
    Line,
    /// Closed ways and multipolygons as areas, open ways as lines.
    AreaOrLine,
    /// Nodes.
    Node,
    /// Nodes, and areas by their centre.
    Spot,
}

/// Tags that put an element into a layer.
pub struct Rule {
    /// The layer; for `AreaOrLine`, that of the lines.
    pub layer: TileLayer,
    /// The key.
    pub key: &'static str,
    /// The values; an empty list matches any value.
    pub values: &'static [&'static str],
    /// The value of `kind`, if it is not the tag's.
    pub kind: Option<&'static str>,
    /// The required geometry.
    pub shape: FeatureShape,
    /// The first zoom.
    pub from: u8,
}

const fn rule(
    layer: TileLayer,
    shape: FeatureShape,
    from: u8,
    key: &'static str,
    values: &'static [&'static str],
) -> Rule {
    Rule { layer, key, values, kind: None, shape, from }
}

const fn named(kind: &'static str, rule: Rule) -> Rule {
    Rule { kind: Some(kind), ..rule }
}

use FeatureShape::{Area, AreaOrLine, Line, Node, Spot};
use TileLayer as L;

/// All rules. If several rules of a layer match an element, the first one counts.
pub const RULES: &[Rule] = &[
    rule(L::WaterPolygons, Area, 4, "natural", &["glacier", "water"]),
    named("river", rule(L::WaterPolygons, Area, 4, "waterway", &["riverbank"])),
    rule(L::WaterPolygons, Area, 4, "landuse", &["reservoir", "basin"]),
    rule(L::WaterPolygons, Area, 10, "waterway", &["dock"]),
    rule(L::WaterLines, Line, 9, "waterway", &["river", "canal"]),
    rule(L::WaterLines, Line, 14, "waterway", &["stream", "ditch"]),
    rule(L::DamLines, AreaOrLine, 12, "waterway", &["dam"]),
    rule(L::PierLines, AreaOrLine, 12, "man_made", &["pier", "breakwater", "groyne"]),
    named("capital", rule(L::PlaceLabels, Node, 4, "capital", &["yes"])),
    named("state_capital", rule(L::PlaceLabels, Node, 4, "capital", &["4"])),
    rule(L::PlaceLabels, Node, 6, "place", &["city"]),
    rule(L::PlaceLabels, Node, 7, "place", &["town"]),
    rule(
        L::PlaceLabels,
        Node,
        10,
        "place",
        &["village", "hamlet", "suburb", "quarter", "neighbourhood", "isolated_dwelling", "farm", "island", "locality"],
    ),
    rule(L::Land, Area, 7, "landuse", &["forest"]),
    named("forest", rule(L::Land, Area, 7, "natural", &["wood"])),
    rule(
        L::Land,
        Area,
        10,
        "landuse",
        &[
            "residential",
            "industrial",
            "commercial",
            "garages",
            "retail",
            "railway",
            "landfill",
            "brownfield",
            "greenfield",
            "farmyard",
            "farmland",
        ],
    ),
    rule(
        L::Land,
        Area,
        11,
        "landuse",
        &[
            "grass",
            "meadow",
            "orchard",
            "vineyard",
            "allotments",
            "village_green",
            "recreation_ground",
            "greenhouse_horticulture",
            "plant_nursery",
            "quarry",
        ],
    ),
    rule(L::Land, Area, 13, "landuse", &["cemetery"]),
    rule(L::Land, Area, 13, "amenity", &["grave_yard"]),
    rule(L::Land, Area, 10, "natural", &["sand", "beach"]),
    rule(L::Land, Area, 11, "natural", &["heath", "scrub", "grassland", "bare_rock", "scree", "shingle"]),
    rule(L::Land, Area, 11, "wetland", &["swamp", "bog", "string_bog", "wet_meadow", "marsh"]),
    rule(L::Land, Area, 11, "leisure", &["golf_course", "park", "garden", "playground", "miniature_golf"]),
    rule(L::Sites, Area, 14, "military", &["danger_area"]),
    rule(L::Sites, Area, 14, "leisure", &["sports_centre"]),
    rule(
        L::Sites,
        Area,
        14,
        "amenity",
        &["university", "college", "school", "hospital", "prison", "parking", "bicycle_parking"],
    ),
    rule(L::Sites, Area, 14, "landuse", &["construction"]),
    rule(L::Buildings, Area, 14, "building", &[]),
    rule(L::Addresses, Spot, 14, "addr:housenumber", &[]),
    rule(L::Addresses, Spot, 14, "addr:housename", &[]),
    rule(L::Streets, Line, 5, "highway", &["motorway"]),
    rule(L::Streets, Line, 6, "highway", &["trunk"]),
    rule(L::Streets, Line, 8, "highway", &["primary"]),
    rule(
        L::Streets,
        Line,
        9,
        "highway",
        &["secondary", "motorway_link", "trunk_link", "primary_link", "secondary_link"],
    ),
    rule(L::Streets, Line, 10, "highway", &["tertiary", "tertiary_link"]),
    rule(L::Streets, Line, 12, "highway", &["unclassified", "residential", "busway", "bus_guideway"]),
    rule(L::Streets, Line, 13, "highway", &["living_street", "track", "footway", "steps", "path", "cycleway"]),
    rule(L::Streets, AreaOrLine, 13, "highway", &["service", "pedestrian"]),
    rule(L::Streets, AreaOrLine, 11, "aeroway", &["runway"]),
    rule(L::Streets, AreaOrLine, 13, "aeroway", &["taxiway"]),
    rule(L::StreetPolygons, Area, 11, "area:aeroway", &["runway"]),
    rule(L::StreetPolygons, Area, 13, "area:aeroway", &["taxiway"]),
    rule(L::Streets, Line, 8, "railway", &["rail", "narrow_gauge"]),
    rule(L::Streets, Line, 10, "railway", &["tram", "light_rail", "funicular", "subway", "monorail"]),
    rule(L::StreetsLabelsPoints, Node, 12, "highway", &["motorway_junction"]),
    rule(L::Bridges, Area, 12, "man_made", &["bridge"]),
    rule(
        L::Aerialways,
        Line,
        12,
        "aerialway",
        &["cable_car", "gondola", "goods", "chair_lift", "drag_lift", "t-bar", "j-bar", "platter"],
    ),
    named("rope-tow", rule(L::Aerialways, Line, 12, "aerialway", &["rope_tow"])),
    rule(L::Ferries, Line, 10, "route", &["ferry"]),
    rule(L::PublicTransport, Spot, 11, "aeroway", &["aerodrome"]),
    rule(L::PublicTransport, Spot, 13, "aeroway", &["helipad"]),
    rule(L::PublicTransport, Spot, 13, "railway", &["station", "halt"]),
    rule(L::PublicTransport, Spot, 14, "railway", &["tram_stop"]),
    rule(L::PublicTransport, Spot, 13, "amenity", &["bus_station"]),
    rule(L::PublicTransport, Spot, 14, "highway", &["bus_stop"]),
    rule(L::PublicTransport, Spot, 12, "amenity", &["ferry_terminal"]),
    rule(L::PublicTransport, Spot, 12, "aerialway", &["ferry_terminal"]),
    named("aerialway_station", rule(L::PublicTransport, Spot, 13, "aerialway", &["station"])),
    rule(
        L::Pois,
        Spot,
        14,
        "amenity",
        &[
            "police",
            "fire_station",
            "post_box",
            "post_office",
            "telephone",
            "library",
            "townhall",
            "courthouse",
            "prison",
            "embassy",
            "community_centre",
            "nursing_home",
            "arts_centre",
            "grave_yard",
            "marketplace",
            "recycling",
            "university",
            "school",
            "college",
            "public_building",
            "pharmacy",
            "hospital",
            "clinic",
            "doctors",
            "dentist",
            "veterinary",
            "theatre",
            "nightclub",
            "cinema",
            "restaurant",
            "fast_food",
            "cafe",
            "pub",
            "bar",
            "food_court",
            "biergarten",
            "shelter",
            "car_rental",
            "car_wash",
            "car_sharing",
            "bicycle_rental",
            "vending_machine",
            "bank",
            "atm",
            "toilets",
            "bench",
            "drinking_water",
            "fountain",
            "hunting_stand",
            "waste_basket",
            "place_of_worship",
            "playground",
            "dog_park",
        ],
    ),
    rule(
        L::Pois,
        Spot,
        14,
        "leisure",
        &[
            "sports_centre",
            "pitch",
            "swimming_pool",
            "water_park",
            "golf_course",
            "stadium",
            "ice_rink",
            "playground",
            "dog_park",
        ],
    ),
    rule(
        L::Pois,
        Spot,
        14,
        "tourism",
        &[
            "hotel",
            "motel",
            "bed_and_breakfast",
            "guest_house",
            "hostel",
            "chalet",
            "camp_site",
            "alpine_hut",
            "caravan_site",
            "artwork",
            "information",
            "picnic_site",
            "viewpoint",
            "zoo",
            "theme_park",
        ],
    ),
    // The schema's misspellings (convinience, optican) and the right spellings.
    rule(
        L::Pois,
        Spot,
        14,
        "shop",
        &[
            "supermarket",
            "bakery",
            "kiosk",
            "mall",
            "department_store",
            "general",
            "convenience",
            "convinience",
            "clothes",
            "florist",
            "chemist",
            "books",
            "butcher",
            "shoes",
            "alcohol",
            "beverages",
            "optician",
            "optican",
            "jewelry",
            "gift",
            "sports",
            "stationery",
            "outdoor",
            "mobile_phone",
            "toys",
            "newsagent",
            "greengrocer",
            "beauty",
            "video",
            "car",
            "bicycle",
            "doityourself",
            "hardware",
            "furniture",
            "computer",
            "garden_centre",
            "hairdresser",
            "travel_agency",
            "laundry",
            "dry_cleaning",
        ],
    ),
    rule(
        L::Pois,
        Spot,
        14,
        "man_made",
        &[
            "surveillance",
            "tower",
            "windmill",
            "lighthouse",
            "wastewater_plant",
            "water_well",
            "watermill",
            "water_works",
        ],
    ),
    rule(
        L::Pois,
        Spot,
        14,
        "historic",
        &[
            "monument",
            "memorial",
            "castle",
            "ruins",
            "archaeological_site",
            "wayside_cross",
            "wayside_shrine",
            "battlefield",
            "fort",
        ],
    ),
    rule(L::Pois, Spot, 14, "emergency", &["phone", "fire_hydrant", "defibrillator"]),
    rule(L::Pois, Spot, 14, "highway", &["emergency_access_point"]),
    rule(L::Pois, Spot, 14, "office", &["diplomatic"]),
    rule(L::LandformLabels, Spot, 10, "natural", &["bay", "strait"]),
    rule(L::LandformLabels, Spot, 11, "natural", &["peak", "volcano", "saddle", "cape"]),
    // Islands that are nodes are in `place_labels`.
    rule(L::LandformLabels, Area, 10, "place", &["island", "islet"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LAYERS;

    #[test]
    fn rules_begin_at_or_after_the_first_zoom_of_their_layer() {
        for rule in RULES {
            let layer = &LAYERS[rule.layer as usize];
            assert!(layer.from <= rule.from, "{} from {}", layer.name, rule.from);
        }
    }
}
