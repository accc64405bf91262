//! The layers of the schema Shortbread 1.0 (CC0, shortbread-tiles.org), with their first zooms and attributes, and one
//! layer of our own for landforms.

/// The layers, in their order in a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TileLayer {
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
    /// Land cover.
    Land,
    /// Grounds of schools, hospitals and the like.
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
    /// Points of interest.
    Pois,
    /// Names of peaks, capes, bays, straits and islands; not in the schema.
    LandformLabels,
}

/// The description of a layer for TileJSON.
pub struct LayerInfo {
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
pub const LAYERS: &[LayerInfo] = &[
    LayerInfo { name: "ocean", from: 0, fields: &[] },
    LayerInfo { name: "water_polygons", from: 4, fields: &[("kind", "String"), ("way_area", "Number")] },
    LayerInfo {
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
    LayerInfo {
        name: "water_lines",
        from: 9,
        fields: &[("kind", "String"), ("tunnel", "Boolean"), ("bridge", "Boolean")],
    },
    LayerInfo {
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
    LayerInfo { name: "dam_lines", from: 12, fields: KIND },
    LayerInfo { name: "dam_polygons", from: 12, fields: KIND },
    LayerInfo { name: "pier_lines", from: 12, fields: KIND },
    LayerInfo { name: "pier_polygons", from: 12, fields: KIND },
    LayerInfo {
        name: "boundaries",
        from: 0,
        fields: &[("admin_level", "Number"), ("maritime", "Boolean"), ("disputed", "Boolean")],
    },
    LayerInfo {
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
    LayerInfo {
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
    LayerInfo { name: "land", from: 7, fields: KIND },
    LayerInfo { name: "sites", from: 14, fields: KIND },
    LayerInfo { name: "buildings", from: 14, fields: &[("dummy", "Number")] },
    LayerInfo { name: "addresses", from: 14, fields: &[("housename", "String"), ("housenumber", "String")] },
    LayerInfo {
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
    LayerInfo {
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
    LayerInfo {
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
    LayerInfo { name: "streets_polygons_labels", from: 14, fields: NAMED },
    LayerInfo {
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
    LayerInfo { name: "bridges", from: 12, fields: KIND },
    LayerInfo { name: "aerialways", from: 12, fields: KIND },
    LayerInfo { name: "ferries", from: 10, fields: NAMED },
    LayerInfo {
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
    LayerInfo {
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
    LayerInfo {
        name: "landform_labels",
        from: 10,
        fields: &[
            ("kind", "String"),
            ("ele", "Number"),
            ("name", "String"),
            ("name_en", "String"),
            ("name_de", "String"),
        ],
    },
];

/// Returns the first zoom with the names of streets of a kind.
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
    fn layers_are_in_the_order_of_their_numbers() {
        assert_eq!(LAYERS.len(), TileLayer::LandformLabels as usize + 1);
        for (layer, name) in [(TileLayer::Land, "land"), (TileLayer::Streets, "streets"), (TileLayer::Pois, "pois")] {
            assert_eq!(LAYERS[layer as usize].name, name);
        }
    }
}
