//! Globes of points, and their radii.

/// The item of Earth, the default globe of points.
pub(super) const EARTH: &str = "http://www.wikidata.org/entity/Q2";

/// Prefix of the IRIs of Wikidata's items.
const ENTITY: &str = "http://www.wikidata.org/entity/";

/// The globes of Wikidata's coordinates: number of the item, mean radius in kilometres.
///
/// Earth's is the IUGG's mean radius. The others are those of the IAU's Working Group on Cartographic Coordinates and
/// Rotational Elements (report of 2015), as NASA's JPL lists them in "Planetary Physical Parameters" and "Planetary
/// Satellite Physical Parameters". The items are the globes of Pywikibot's documentation.
const RADII: [(u32, f64); 33] = [
    (2, 6371.0088),  // Earth
    (111, 3389.5),   // Mars
    (193, 58_232.0), // Saturn
    (308, 2439.4),   // Mercury
    (313, 6051.8),   // Venus
    (319, 69_911.0), // Jupiter
    (324, 25_362.0), // Uranus
    (332, 24_622.0), // Neptune
    (339, 1188.3),   // Pluto
    (405, 1737.4),   // Moon
    (596, 469.7),    // Ceres
    (2565, 2574.76), // Titan
    (3030, 261.385), // Vesta
    (3123, 1821.49), // Io
    (3134, 2410.3),  // Callisto
    (3143, 1560.8),  // Europa
    (3169, 2631.2),  // Ganymede
    (3303, 252.1),   // Enceladus
    (3322, 788.9),   // Titania
    (3332, 761.4),   // Oberon
    (3338, 584.7),   // Umbriel
    (3343, 578.9),   // Ariel
    (3352, 235.8),   // Miranda
    (3359, 1352.6),  // Triton
    (7547, 11.08),   // Phobos
    (7548, 6.2),     // Deimos
    (15_034, 198.2), // Mimas
    (15_037, 135.0), // Hyperion
    (15_040, 561.4), // Dione
    (15_047, 531.1), // Tethys
    (15_050, 763.5), // Rhea
    (17_958, 734.3), // Iapetus
    (17_975, 106.5), // Phoebe
];

/// Returns the mean radius in kilometres of the globe with this IRI, if it is known.
pub fn radius(globe: &str) -> Option<f64> {
    let item: u32 = globe.strip_prefix(ENTITY)?.strip_prefix('Q')?.parse().ok()?;
    RADII.iter().find(|(known, _)| *known == item).map(|(_, radius)| *radius)
}

/// The axis order of a point in a reference system of the Earth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axes {
    /// Longitude, then latitude.
    EastNorth,
    /// Latitude, then longitude.
    NorthEast,
}

/// Interprets the IRI before a point's text. In Wikidata it is a globe, in GeoSPARQL a reference system of the Earth.
pub(super) fn globe_of(iri: &str) -> (&str, Axes) {
    const OPENGIS: &str = "www.opengis.net/def/crs/";
    let name = iri.strip_prefix("http://").or_else(|| iri.strip_prefix("https://"));
    match name.and_then(|name| name.strip_prefix(OPENGIS)) {
        Some("OGC/1.3/CRS84") => (EARTH, Axes::EastNorth),
        Some("EPSG/0/4326") => (EARTH, Axes::NorthEast),
        _ => (iri, Axes::EastNorth),
    }
}
