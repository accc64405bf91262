//! The attributes of features, layer by layer.

use super::encode::{AttributeValue, Attributes};
use super::rules::Rule;
use super::schema::TileLayer;
use super::tags::ElementTags;

fn text(value: &str) -> AttributeValue {
    AttributeValue::Text(value.to_owned())
}

/// Adds the attributes of names, which are the same in every layer.
fn names(tags: &ElementTags<'_>, to: &mut Attributes) {
    for (field, key) in [("name", "name"), ("name_en", "name:en"), ("name_de", "name:de")] {
        to.extend(tags.get(key).map(|name| (field, text(name))));
    }
}

/// Returns the value of `kind`: the rule's, else the tag's.
pub fn kind<'a>(rule: &Rule, tags: &'a ElementTags<'_>) -> &'a str {
    rule.kind.or_else(|| tags.get(rule.key)).unwrap_or_default()
}

const BRIDGES: &[&str] =
    &["yes", "viaduct", "boardwalk", "cantilever", "covered", "low_water_crossing", "movable", "trestle"];

fn is_tunnel(tags: &ElementTags<'_>) -> bool {
    tags.is("tunnel", &["yes", "building_passage"]) || tags.is("covered", &["yes"])
}

fn is_bridge(tags: &ElementTags<'_>) -> bool {
    tags.is("bridge", BRIDGES)
}

/// Returns the attributes of a feature with no more than a kind.
pub fn plain(kind: &str) -> Attributes {
    vec![("kind", text(kind))]
}

/// Returns kind and names.
pub fn label(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = plain(kind);
    names(tags, &mut all);
    all
}

/// Returns the attributes of an area of water; `area` is in square metres.
pub fn water(kind: &str, area: f64) -> Attributes {
    vec![("kind", text(kind)), ("way_area", AttributeValue::Number(area as u64))]
}

/// Returns the attributes of its name.
pub fn water_label(kind: &str, area: f64, tags: &ElementTags<'_>) -> Attributes {
    let mut all = water(kind, area);
    names(tags, &mut all);
    all
}

/// Returns the attributes of a river.
pub fn water_line(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    vec![
        ("kind", text(kind)),
        ("tunnel", AttributeValue::Flag(is_tunnel(tags))),
        ("bridge", AttributeValue::Flag(is_bridge(tags))),
    ]
}

/// Returns the attributes of its name.
pub fn water_line_label(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = water_line(kind, tags);
    names(tags, &mut all);
    all
}

/// Returns the attribute of a building; the schema requires one.
pub fn building() -> Attributes {
    vec![("dummy", AttributeValue::Number(1))]
}

/// Returns the attributes of a town's name.
pub fn place(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = label(kind, tags);
    all.push(("population", AttributeValue::Number(population(tags))));
    all
}

/// Returns the population by the tag, or a default for the kind of place.
pub fn population(tags: &ElementTags<'_>) -> u64 {
    let told = tags.get("population").and_then(|text| {
        let digits: String = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '\'')).collect();
        digits.parse::<u32>().ok().map(u64::from)
    });
    told.unwrap_or(match tags.get("place") {
        Some("city") => 100_000,
        Some("town") => 5000,
        Some("suburb") => 1000,
        Some("quarter") => 500,
        Some("village" | "neighbourhood") => 100,
        Some("hamlet") => 50,
        Some("isolated_dwelling" | "farm") => 5,
        _ => 0,
    })
}

/// Returns the attributes of a house number.
pub fn address(tags: &ElementTags<'_>) -> Attributes {
    let mut all = Attributes::new();
    add_address(tags, &mut all);
    all
}

fn add_address(tags: &ElementTags<'_>, to: &mut Attributes) {
    for (field, key) in [("housename", "addr:housename"), ("housenumber", "addr:housenumber")] {
        to.extend(tags.get(key).map(|value| (field, text(value))));
    }
}

/// Returns the class of a street, and whether it is a link road.
pub fn street_class(kind: &str) -> (&str, bool) {
    match kind.strip_suffix("_link") {
        Some(class) => (class, true),
        None => (kind, false),
    }
}

/// Returns the attributes of a street or railway.
pub fn street(rule: &Rule, tags: &ElementTags<'_>, zoom: u8) -> Attributes {
    let (class, link) = street_class(kind(rule, tags));
    let rail = rule.key == "railway";
    let mut all = vec![("kind", text(class)), ("rail", AttributeValue::Flag(rail))];
    if zoom >= 11 {
        all.push(("link", AttributeValue::Flag(link)));
        all.push(("tunnel", AttributeValue::Flag(is_tunnel(tags))));
        all.push(("bridge", AttributeValue::Flag(is_bridge(tags))));
        for key in ["tracktype", "surface", "service"] {
            all.extend(tags.get(key).map(|value| (key, text(value))));
        }
    }
    if zoom >= 14 {
        let reverse = !rail && tags.is("oneway", &["-1"]);
        let oneway = reverse || !rail && tags.is("oneway", &["yes", "1", "true"]);
        all.push(("oneway", AttributeValue::Flag(oneway)));
        all.push(("oneway_reverse", AttributeValue::Flag(reverse)));
        for key in ["bicycle", "horse"] {
            all.extend(tags.get(key).map(|value| (key, text(value))));
        }
    }
    all
}

/// Returns the attributes of a square or a runway.
pub fn street_polygon(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = vec![
        ("kind", text(kind)),
        ("rail", AttributeValue::Flag(false)),
        ("tunnel", AttributeValue::Flag(is_tunnel(tags))),
        ("bridge", AttributeValue::Flag(is_bridge(tags))),
    ];
    for key in ["surface", "service"] {
        all.extend(tags.get(key).map(|value| (key, text(value))));
    }
    all
}

/// Returns the attributes of a street's name, or `None` without name and number.
pub fn street_label(kind: &str, tags: &ElementTags<'_>) -> Option<Attributes> {
    let mut all = plain(kind);
    if let Some(number) = tags.get("ref") {
        let rows: Vec<&str> = number.split(';').map(str::trim).collect();
        all.push(("ref", AttributeValue::Text(rows.join("\n"))));
        all.push(("ref_rows", AttributeValue::Number(rows.len() as u64)));
        let widest = rows.iter().map(|row| row.chars().count()).max().unwrap_or_default();
        all.push(("ref_cols", AttributeValue::Number(widest as u64)));
    }
    names(tags, &mut all);
    let told = all.len() > 1;
    all.push(("tunnel", AttributeValue::Flag(is_tunnel(tags))));
    told.then_some(all)
}

/// Returns the attributes of a landform's name: its elevation in whole metres, if the tag is a number that is not negative.
pub fn landform(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = label(kind, tags);
    all.extend(elevation(tags).map(|metres| ("ele", AttributeValue::Number(metres))));
    all
}

/// Returns the elevation in metres by the tag `ele`.
pub fn elevation(tags: &ElementTags<'_>) -> Option<u64> {
    let metres: f64 = tags.get("ele")?.trim().trim_end_matches('m').trim_end().parse().ok()?;
    (0.0..10_000.0).contains(&metres).then(|| metres.round() as u64)
}

/// Returns the attributes of an exit.
pub fn junction(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = plain(kind);
    all.extend(tags.get("ref").map(|number| ("ref", text(number))));
    names(tags, &mut all);
    all
}

/// Returns the attributes of a stop.
pub fn stop(kind: &str, tags: &ElementTags<'_>) -> Attributes {
    let mut all = label(kind, tags);
    all.extend(tags.get("iata").map(|code| ("iata", text(code))));
    all
}

/// Returns the attributes of a point of interest: the tags of its rules, and details by kind.
pub fn poi(rules: &[&'static Rule], tags: &ElementTags<'_>) -> Attributes {
    let mut all = Attributes::new();
    for rule in rules.iter().filter(|rule| rule.layer == TileLayer::Pois) {
        all.extend(tags.get(rule.key).map(|value| (rule.key, text(value))));
    }
    names(tags, &mut all);
    add_address(tags, &mut all);
    let mut more = |wanted: bool, keys: &[&'static str]| {
        for key in keys.iter().filter(|_| wanted) {
            all.extend(tags.get(key).map(|value| (*key, text(value))));
        }
    };
    more(tags.is("amenity", &["restaurant", "fast_food", "pub", "bar", "cafe"]), &["cuisine"]);
    more(tags.is("leisure", &["pitch", "sports_centre"]), &["sport"]);
    more(tags.is("amenity", &["vending_machine"]), &["vending"]);
    more(tags.is("tourism", &["information"]), &["information"]);
    more(tags.is("man_made", &["tower"]), &["tower:type"]);
    more(tags.is("amenity", &["place_of_worship"]), &["religion", "denomination"]);
    let mut flags = |wanted: bool, keys: &[&'static str]| {
        let set = keys.iter().filter(|key| wanted && tags.is(key, &["yes"]));
        all.extend(set.map(|key| (*key, AttributeValue::Flag(true))));
    };
    let recycled = ["recycling:glass_bottles", "recycling:paper", "recycling:clothes", "recycling:scrap_metal"];
    flags(tags.is("amenity", &["recycling"]), &recycled);
    flags(tags.is("amenity", &["bank"]), &["atm"]);
    all
}

/// Returns the drawing order of a street: lower layers first, tunnels before bridges, then the more important class
/// first.
pub fn street_rank(class: &str, tags: &ElementTags<'_>) -> i64 {
    const CLASSES: [&str; 22] = [
        "motorway",
        "trunk",
        "primary",
        "secondary",
        "tertiary",
        "unclassified",
        "residential",
        "busway",
        "bus_guideway",
        "living_street",
        "pedestrian",
        "service",
        "rail",
        "narrow_gauge",
        "light_rail",
        "subway",
        "tram",
        "funicular",
        "monorail",
        "runway",
        "taxiway",
        "track",
    ];
    let class = CLASSES.iter().position(|known| *known == class).unwrap_or(CLASSES.len()) as i64;
    let height = i64::from(is_bridge(tags)) - i64::from(is_tunnel(tags));
    (layer(tags) * 3 + height) * 32 + class
}

/// The tag `layer`.
pub fn layer(tags: &ElementTags<'_>) -> i64 {
    tags.get("layer").and_then(|layer| layer.trim().parse::<i8>().ok()).unwrap_or_default().clamp(-10, 10).into()
}
