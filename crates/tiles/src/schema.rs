//! What is in which layer from which zoom on: the schema Shortbread 1.0 (CC0, shortbread-tiles.org), as tables.

/// The layers, in the order in which they stand in a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The sea.
    Ocean,
    /// Lakes, broad rivers, glaciers.
    WaterPolygons,
    /// Their names.
    WaterPolygonsLabels,
    /// Rivers, canals, streams.
    WaterLines,
    /// Their names.
    WaterLinesLabels,
    /// Dams.
    DamLines,
    /// Dams.
    DamPolygons,
    /// Piers.
    PierLines,
    /// Piers.
    PierPolygons,
    /// Borders of countries and states.
    Boundaries,
    /// Their names.
    BoundaryLabels,
    /// Names of towns.
    PlaceLabels,
    /// What covers the ground.
    Land,
    /// Grounds that lie on it.
    Sites,
    /// Buildings.
    Buildings,
    /// House numbers.
    Addresses,
    /// Roads, paths, railways.
    Streets,
    /// Squares, runways.
    StreetPolygons,
    /// Names of streets, along them.
    StreetLabels,
    /// Names of squares.
    StreetsPolygonsLabels,
    /// Exits.
    StreetsLabelsPoints,
    /// Bridges mapped as areas.
    Bridges,
    /// Cable cars, lifts.
    Aerialways,
    /// Ferries.
    Ferries,
    /// Stops, stations, airports.
    PublicTransport,
    /// Whatever else has a symbol.
    Pois,
}

/// A layer as TileJSON tells of it.
pub struct Told {
    /// Its name in tiles.
    pub name: &'static str,
    /// The first zoom that has any of it.
    pub from: u8,
    /// Its attributes, each with its type.
    pub fields: &'static [(&'static str, &'static str)],
}

const KIND: &[(&str, &str)] = &[("kind", "String")];
const NAMED: &[(&str, &str)] = &[("kind", "String"), ("name", "String"), ("name_en", "String"), ("name_de", "String")];

/// All layers, in order.
pub const LAYERS: &[Told] = &[
    Told { name: "ocean", from: 0, fields: &[] },
    Told { name: "water_polygons", from: 4, fields: &[("kind", "String"), ("way_area", "Number")] },
    Told {
        name: "water_polygons_labels",
        from: 4,
        fields: &[
            ("kind", "String"),
            ("way_area", "Number"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
    Told { name: "water_lines", from: 9, fields: &[("kind", "String"), ("tunnel", "Boolean"), ("bridge", "Boolean")] },
    Told {
        name: "water_lines_labels",
        from: 12,
        fields: &[
            ("kind", "String"),
            ("tunnel", "Boolean"),
            ("bridge", "Boolean"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
    Told { name: "dam_lines", from: 12, fields: KIND },
    Told { name: "dam_polygons", from: 12, fields: KIND },
    Told { name: "pier_lines", from: 12, fields: KIND },
    Told { name: "pier_polygons", from: 12, fields: KIND },
    Told {
        name: "boundaries",
        from: 0,
        fields: &[("admin_level", "Number"), ("maritime", "Boolean"), ("disputed", "Boolean")],
    },
    Told {
        name: "boundary_labels",
        from: 2,
        fields: &[
            ("admin_level", "Number"),
            ("way_area", "Number"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
    Told {
        name: "place_labels",
        from: 4,
        fields: &[
            ("kind", "String"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
            ("population", "Number"),
        ],
    },
    Told { name: "land", from: 7, fields: KIND },
    Told { name: "sites", from: 14, fields: KIND },
    Told { name: "buildings", from: 14, fields: &[("dummy", "Number")] },
    Told { name: "addresses", from: 14, fields: &[("housename", "String"), ("housenumber", "String")] },
    Told {
        name: "streets",
        from: 5,
        fields: &[
            ("kind", "String"),
            ("link", "Boolean"),
            ("rail", "Boolean"),
            ("tunnel", "Boolean"),
            ("bridge", "Boolean"),
            ("oneway", "Boolean"),
            ("oneway_reverse", "Boolean"),
            ("tracktype", "String"),
            ("surface", "String"),
            ("service", "String"),
            ("bicycle", "String"),
            ("horse", "String"),
        ],
    },
    Told {
        name: "street_polygons",
        from: 11,
        fields: &[
            ("kind", "String"),
            ("rail", "Boolean"),
            ("tunnel", "Boolean"),
            ("bridge", "Boolean"),
            ("surface", "String"),
            ("service", "String"),
        ],
    },
    Told {
        name: "street_labels",
        from: 10,
        fields: &[
            ("kind", "String"),
            ("ref", "String"),
            ("ref_rows", "Number"),
            ("ref_cols", "Number"),
            ("tunnel", "Boolean"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
    Told { name: "streets_polygons_labels", from: 14, fields: NAMED },
    Told {
        name: "street_labels_points",
        from: 12,
        fields: &[
            ("kind", "String"),
            ("ref", "String"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
    Told { name: "bridges", from: 12, fields: KIND },
    Told { name: "aerialways", from: 12, fields: KIND },
    Told { name: "ferries", from: 10, fields: NAMED },
    Told {
        name: "public_transport",
        from: 11,
        fields: &[
            ("kind", "String"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
            ("iata", "String"),
        ],
    },
    Told {
        name: "pois",
        from: 14,
        fields: &[
            ("amenity", "String"),
            ("leisure", "String"),
            ("tourism", "String"),
            ("shop", "String"),
            ("man_made", "String"),
            ("historic", "String"),
            ("emergency", "String"),
            ("highway", "String"),
            ("office", "String"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
            ("housename", "String"),
            ("housenumber", "String"),
            ("cuisine", "String"),
            ("sport", "String"),
            ("vending", "String"),
            ("information", "String"),
            ("tower:type", "String"),
            ("religion", "String"),
            ("denomination", "String"),
            ("recycling:glass_bottles", "Boolean"),
            ("recycling:paper", "Boolean"),
            ("recycling:clothes", "Boolean"),
            ("recycling:scrap_metal", "Boolean"),
            ("atm", "Boolean"),
        ],
    },
];

/// What an element has to be, and what is drawn of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Closed ways and multipolygons, as areas.
    Area,
    /// Ways, as lines, closed or not.
    Line,
    /// Closed ways and multipolygons as areas, open ways as lines.
    AreaOrLine,
    /// Nodes.
    Node,
    /// Nodes, and areas by their middle.
    Spot,
}

/// Tags that put an element into a layer.
pub struct Rule {
    /// The layer; of `AreaOrLine` that of the lines.
    pub layer: Layer,
    /// The key.
    pub key: &'static str,
    /// The values; none stand for any.
    pub values: &'static [&'static str],
    /// The value of `kind`, where it is not the tag's.
    pub kind: Option<&'static str>,
    /// What it has to be.
    pub shape: Shape,
    /// The first zoom.
    pub from: u8,
}

const fn rule(layer: Layer, shape: Shape, from: u8, key: &'static str, values: &'static [&'static str]) -> Rule {
    Rule { layer, key, values, kind: None, shape, from }
}

const fn named(kind: &'static str, rule: Rule) -> Rule {
    Rule { kind: Some(kind), ..rule }
}

use Layer as L;
use Shape::{Area, AreaOrLine, Line, Node, Spot};

/// All rules. Of those that fit an element the first of a layer counts.
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
    // The schema's own slips (convinience, optican) beside what is meant.
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
];

/// The first zoom that has the names of streets of a kind.
pub fn street_label_from(kind: &str, link: bool) -> u8 {
    match (kind, link) {
        ("motorway", false) => 10,
        ("trunk" | "primary", false) => 12,
        ("motorway" | "trunk" | "primary" | "secondary", true) | ("secondary" | "tertiary", false) | ("taxiway", _) => {
            13
        }
        ("runway", _) => 11,
        ("rail" | "narrow_gauge" | "tram" | "light_rail" | "funicular" | "subway" | "monorail", _) => 10,
        _ => 14,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_stand_in_their_order_and_rules_begin_where_they_do() {
        assert_eq!(LAYERS.len(), Layer::Pois as usize + 1);
        for (layer, name) in [(Layer::Land, "land"), (Layer::Streets, "streets"), (Layer::Pois, "pois")] {
            assert_eq!(LAYERS[layer as usize].name, name);
        }
        for rule in RULES {
            let layer = &LAYERS[rule.layer as usize];
            assert!(layer.from <= rule.from, "{} from {}", layer.name, rule.from);
        }
    }
}
