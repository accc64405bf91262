//! What features tell of themselves, layer by layer.

use super::encode::{Attributes, Value};
use super::schema::{Layer, Rule};
use super::tags::Tags;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// Names, as every layer with names has them.
fn names(tags: &Tags<'_>, to: &mut Attributes) {
    for (field, key) in [("name", "name"), ("name_en", "name:en"), ("name_de", "name:de")] {
        to.extend(tags.get(key).map(|name| (field, text(name))));
    }
}

/// `kind`, as the rule or the tag has it.
pub fn kind<'a>(rule: &Rule, tags: &'a Tags<'_>) -> &'a str {
    rule.kind.or_else(|| tags.get(rule.key)).unwrap_or_default()
}

const BRIDGES: &[&str] =
    &["yes", "viaduct", "boardwalk", "cantilever", "covered", "low_water_crossing", "movable", "trestle"];

fn is_tunnel(tags: &Tags<'_>) -> bool {
    tags.is("tunnel", &["yes", "building_passage"]) || tags.is("covered", &["yes"])
}

fn is_bridge(tags: &Tags<'_>) -> bool {
    tags.is("bridge", BRIDGES)
}

/// Attributes of what has no more than a kind.
pub fn plain(kind: &str) -> Attributes {
    vec![("kind", text(kind))]
}

/// Attributes of a name on its own.
pub fn label(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = plain(kind);
    names(tags, &mut all);
    all
}

/// Of an area of water, in square metres.
pub fn water(kind: &str, area: f64) -> Attributes {
    vec![("kind", text(kind)), ("way_area", Value::Number(area as u64))]
}

/// Of its name.
pub fn water_label(kind: &str, area: f64, tags: &Tags<'_>) -> Attributes {
    let mut all = water(kind, area);
    names(tags, &mut all);
    all
}

/// Of a river.
pub fn water_line(kind: &str, tags: &Tags<'_>) -> Attributes {
    vec![("kind", text(kind)), ("tunnel", Value::Flag(is_tunnel(tags))), ("bridge", Value::Flag(is_bridge(tags)))]
}

/// Of its name.
pub fn water_line_label(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = water_line(kind, tags);
    names(tags, &mut all);
    all
}

/// Of a building: the schema wants that there is something.
pub fn building() -> Attributes {
    vec![("dummy", Value::Number(1))]
}

/// Of a town's name.
pub fn place(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = label(kind, tags);
    all.push(("population", Value::Number(population(tags))));
    all
}

/// How many live there, by the tag or what such places have.
pub fn population(tags: &Tags<'_>) -> u64 {
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

/// Of a house number.
pub fn address(tags: &Tags<'_>) -> Attributes {
    let mut all = Attributes::new();
    add_address(tags, &mut all);
    all
}

fn add_address(tags: &Tags<'_>, to: &mut Attributes) {
    for (field, key) in [("housename", "addr:housename"), ("housenumber", "addr:housenumber")] {
        to.extend(tags.get(key).map(|value| (field, text(value))));
    }
}

/// The class of a street, and whether it leads from one to another.
pub fn street_class(kind: &str) -> (&str, bool) {
    match kind.strip_suffix("_link") {
        Some(class) => (class, true),
        None => (kind, false),
    }
}

/// Of a street or railway.
pub fn street(rule: &Rule, tags: &Tags<'_>, zoom: u8) -> Attributes {
    let (class, link) = street_class(kind(rule, tags));
    let rail = rule.key == "railway";
    let mut all = vec![("kind", text(class)), ("rail", Value::Flag(rail))];
    if zoom >= 11 {
        all.push(("link", Value::Flag(link)));
        all.push(("tunnel", Value::Flag(is_tunnel(tags))));
        all.push(("bridge", Value::Flag(is_bridge(tags))));
        for key in ["tracktype", "surface", "service"] {
            all.extend(tags.get(key).map(|value| (key, text(value))));
        }
    }
    if zoom >= 14 {
        let reverse = !rail && tags.is("oneway", &["-1"]);
        let oneway = reverse || !rail && tags.is("oneway", &["yes", "1", "true"]);
        all.push(("oneway", Value::Flag(oneway)));
        all.push(("oneway_reverse", Value::Flag(reverse)));
        for key in ["bicycle", "horse"] {
            all.extend(tags.get(key).map(|value| (key, text(value))));
        }
    }
    all
}

/// Of a square or a runway.
pub fn street_polygon(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = vec![
        ("kind", text(kind)),
        ("rail", Value::Flag(false)),
        ("tunnel", Value::Flag(is_tunnel(tags))),
        ("bridge", Value::Flag(is_bridge(tags))),
    ];
    for key in ["surface", "service"] {
        all.extend(tags.get(key).map(|value| (key, text(value))));
    }
    all
}

/// Of a street's name; nothing where it has neither name nor number.
pub fn street_label(kind: &str, tags: &Tags<'_>) -> Option<Attributes> {
    let mut all = plain(kind);
    if let Some(number) = tags.get("ref") {
        let rows: Vec<&str> = number.split(';').map(str::trim).collect();
        all.push(("ref", Value::Text(rows.join("\n"))));
        all.push(("ref_rows", Value::Number(rows.len() as u64)));
        let widest = rows.iter().map(|row| row.chars().count()).max().unwrap_or_default();
        all.push(("ref_cols", Value::Number(widest as u64)));
    }
    names(tags, &mut all);
    let told = all.len() > 1;
    all.push(("tunnel", Value::Flag(is_tunnel(tags))));
    told.then_some(all)
}

/// Of an exit.
pub fn junction(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = plain(kind);
    all.extend(tags.get("ref").map(|number| ("ref", text(number))));
    names(tags, &mut all);
    all
}

/// Of a stop.
pub fn stop(kind: &str, tags: &Tags<'_>) -> Attributes {
    let mut all = label(kind, tags);
    all.extend(tags.get("iata").map(|code| ("iata", text(code))));
    all
}

/// Of whatever has a symbol: the tags that the rules name, and what belongs to them.
pub fn poi(rules: &[&'static Rule], tags: &Tags<'_>) -> Attributes {
    let mut all = Attributes::new();
    for rule in rules.iter().filter(|rule| rule.layer == Layer::Pois) {
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
        all.extend(set.map(|key| (*key, Value::Flag(true))));
    };
    let recycled = ["recycling:glass_bottles", "recycling:paper", "recycling:clothes", "recycling:scrap_metal"];
    flags(tags.is("amenity", &["recycling"]), &recycled);
    flags(tags.is("amenity", &["bank"]), &["atm"]);
    all
}

/// The order of streets: what lies lower first, tunnels before bridges, and of one height the more important first.
pub fn street_rank(class: &str, tags: &Tags<'_>) -> i64 {
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
pub fn layer(tags: &Tags<'_>) -> i64 {
    tags.get("layer").and_then(|layer| layer.trim().parse::<i8>().ok()).unwrap_or_default().clamp(-10, 10).into()
}
