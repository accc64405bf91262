//! Replaces the places of a query in OverpassQL: the names in shortcuts, and the filters that identify an area.

use std::collections::BTreeMap;

use super::edits::QueryEdit;
use super::parts::{PartKind, PlaceRole, QueryPart, QueryParts};

/// A place that a query is moved to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceName {
    /// The name that finds the place in a shortcut.
    pub shortcut: String,
    /// The value of its tag `name`.
    pub name: String,
    /// Its names in other languages by key, such as `name:de`; if empty, `shortcut` is used for all of them.
    pub others: BTreeMap<String, String>,
    /// The value of its tag `admin_level`.
    pub admin_level: Option<String>,
    /// The id of its area; `None` keeps ids.
    pub area: Option<i64>,
    /// The id of its relation; `None` keeps ids.
    pub relation: Option<i64>,
}

/// Returns a query with its places replaced: the first place by the first of these, and so on. If there are more places in
/// the query, the rest stays. Boxes, coordinates, ids and dates stay. In a query with syntax errors only the names in
/// shortcuts are replaced.
///
/// ```
/// use terrapin_eval::moving::{PlaceName, with_places};
///
/// let malta = PlaceName { shortcut: "Malta".into(), name: "Malta".into(), ..PlaceName::default() };
/// let query = "area[\"ISO3166-1\"=\"SE\"]->.a; node[amenity=cafe](area.a); out;";
/// assert_eq!(with_places(query, &[malta]), "area[\"name\"=\"Malta\"]->.a; node[amenity=cafe](area.a); out;");
/// ```
pub fn with_places(query: &str, places: &[PlaceName]) -> String {
    let parts = QueryParts::of(query);
    let names = place_names(&parts);
    let place_of = |old: &OldPlace| names.iter().position(|name| name == old).and_then(|at| places.get(at));
    super::edits::apply(query, place_edits(&parts, &place_of))
}

/// A place of a query: a name, a code, or the id of an area.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OldPlace {
    /// A name or a code.
    Name(String),
    /// The id of an area.
    Area(i64),
    /// The id of a relation.
    Relation(i64),
}

impl OldPlace {
    /// Returns the name, the code or the id.
    pub fn text(&self) -> String {
        match self {
            OldPlace::Name(name) => name.clone(),
            OldPlace::Area(id) | OldPlace::Relation(id) => id.to_string(),
        }
    }
}

/// Returns the places of a query in the order of the text, without duplicates.
pub(crate) fn place_names(parts: &QueryParts) -> Vec<OldPlace> {
    let groups = groups(parts);
    let mut names: Vec<OldPlace> = Vec::new();
    for part in &parts.parts {
        let place = match &part.kind {
            PartKind::Shortcut { name } => Some(OldPlace::Name(name.clone())),
            PartKind::Place { query, .. } => groups.get(query).cloned().map(OldPlace::Name),
            PartKind::AreaId(id) => Some(OldPlace::Area(*id)),
            PartKind::AreaRelation(id) => Some(OldPlace::Relation(*id)),
            _ => None,
        };
        if let Some(place) = place.filter(|place| !names.contains(place)) {
            names.push(place);
        }
    }
    names
}

/// Returns the name or code that identifies the place of each query. Queries without one are not places.
pub(crate) fn groups(parts: &QueryParts) -> BTreeMap<usize, String> {
    let mut best: BTreeMap<usize, (u8, String)> = BTreeMap::new();
    for part in &parts.parts {
        let PartKind::Place { query, role, value, is_pattern, .. } = &part.kind else { continue };
        let rank = match role {
            PlaceRole::Name => 0,
            PlaceRole::OtherName => 1,
            PlaceRole::Code => 2,
            PlaceRole::Local | PlaceRole::Level => continue,
        };
        let name = if *is_pattern { plain(value) } else { value.clone() };
        let entry = best.entry(*query).or_insert_with(|| (rank, name.clone()));
        if rank < entry.0 {
            *entry = (rank, name);
        }
    }
    best.into_iter().map(|(query, (_, name))| (query, name)).collect()
}

/// Returns a regular expression without the marks for start and end.
fn plain(pattern: &str) -> String {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    inner.strip_suffix('$').unwrap_or(inner).to_owned()
}

/// Returns the edits for the places of a query.
pub(crate) fn place_edits<'p>(
    parts: &QueryParts,
    place_of: &dyn Fn(&OldPlace) -> Option<&'p PlaceName>,
) -> Vec<QueryEdit> {
    let groups = groups(parts);
    let has = |query: usize, wanted: &[PlaceRole]| {
        parts.parts.iter().any(
            |part| matches!(&part.kind, PartKind::Place { query: own, role, .. } if *own == query && wanted.contains(role)),
        )
    };
    let mut edits = Vec::new();
    // A query has at most one filter for `name`.
    let mut named: Vec<usize> = Vec::new();
    for part in &parts.parts {
        let text = match &part.kind {
            PartKind::Shortcut { name } => {
                place_of(&OldPlace::Name(name.clone())).map(|place| shortcut(part, name, place))
            }
            PartKind::AreaId(id) => {
                place_of(&OldPlace::Area(*id)).and_then(|place| place.area).map(|id| id.to_string())
            }
            PartKind::AreaRelation(id) => {
                place_of(&OldPlace::Relation(*id)).and_then(|place| place.relation).map(|id| id.to_string())
            }
            PartKind::Place { query, role, key, is_pattern, .. } => {
                let place = groups.get(query).and_then(|name| place_of(&OldPlace::Name(name.clone())));
                place.and_then(|place| {
                    let other = || match place.others.is_empty() {
                        true => Some(place.shortcut.clone()),
                        false => place.others.get(key).cloned(),
                    };
                    let is_first = !has(*query, &[PlaceRole::Name]) && !named.contains(query);
                    let filter = match role {
                        PlaceRole::Name if *is_pattern => Some(format!("[\"name\"~\"^{}$\"]", pattern(&place.name))),
                        PlaceRole::Name => Some(equals("name", &place.name)),
                        PlaceRole::OtherName => match other() {
                            Some(value) => Some(equals(key, &value)),
                            None if is_first => Some(equals("name", &place.name)),
                            None => Some(String::new()),
                        },
                        // Codes of the other place would exclude this one. The name identifies the place as well.
                        PlaceRole::Code if is_first && !has(*query, &[PlaceRole::OtherName]) => {
                            Some(equals("name", &place.name))
                        }
                        PlaceRole::Code | PlaceRole::Local => Some(String::new()),
                        PlaceRole::Level => place.admin_level.as_ref().map(|level| equals("admin_level", level)),
                    };
                    if filter.as_ref().is_some_and(|filter| filter.starts_with("[\"name\"")) {
                        named.push(*query);
                    }
                    filter
                })
            }
            _ => None,
        };
        edits.extend(text.map(|text| QueryEdit { range: part.range.clone(), text }));
    }
    edits
}

/// Returns the argument of a shortcut in the quotation marks of the old one.
fn shortcut(part: &QueryPart, old: &str, place: &PlaceName) -> String {
    let has_marks = part.range.len() > old.len();
    if has_marks { format!("\"{}\"", place.shortcut) } else { place.shortcut.clone() }
}

/// Returns a filter for a value.
fn equals(key: &str, value: &str) -> String {
    format!("[\"{}\"=\"{}\"]", escaped(key), escaped(value))
}

/// Returns a text for a string in double quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns a regular expression for a text, for a string in double quotes.
pub(crate) fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | '{' | '|' | '$' => {
                pattern.push('[');
                pattern.push(c);
                pattern.push(']');
            }
            '^' | '\\' | '"' => pattern.push('.'),
            other => pattern.push(other),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, name: &str, admin_level: Option<&str>) -> PlaceName {
        PlaceName {
            shortcut: text.to_owned(),
            name: name.to_owned(),
            admin_level: admin_level.map(str::to_owned),
            ..PlaceName::default()
        }
    }

    #[test]
    fn places_of_a_query_are_replaced() {
        let malta = [place("Malta", "Malta", Some("2"))];
        let zebbug = [place("Żebbuġ", "Żebbuġ", Some("8"))];
        let valletta = [place("Valletta", "Il-Belt \"Valletta\"", Some("8"))];
        for (places, query, moved) in [
            (
                &malta,
                r#"{{geocodeArea:"Deutschland"}}->.a;node["historic"](area.a);out;"#,
                r#"{{geocodeArea:"Malta"}}->.a;node["historic"](area.a);out;"#,
            ),
            (&malta, "area({{geocodeArea:New York}});out;", "area({{geocodeArea:Malta}});out;"),
            (
                &malta,
                "{{nominatimArea:Bonn}}->.a;{{bbox=area:Bonn}}",
                "{{nominatimArea:Malta}}->.a;{{bbox=area:Malta}}",
            ),
            (
                &valletta,
                r#"area["name"="Sverige"]["admin_level"="2"]->.b;nwr(area.b);out;"#,
                r#"area["name"="Il-Belt \"Valletta\""]["admin_level"="8"]->.b;nwr(area.b);out;"#,
            ),
            (
                &malta,
                "area[boundary=administrative][name=Bonn];out;",
                "area[boundary=administrative][\"name\"=\"Malta\"];out;",
            ),
            (&valletta, r#"area["name:en"="Sweden"];out;"#, r#"area["name:en"="Valletta"];out;"#),
            // OverpassQL allows only ASCII letters, digits and `_` without quotation marks.
            (&zebbug, "area[name=Bonn]->.a;nwr(area.a);out;", "area[\"name\"=\"Żebbuġ\"]->.a;nwr(area.a);out;"),
            (&zebbug, "area[name~Bonn]->.a;", "area[\"name\"~\"^Żebbuġ$\"]->.a;"),
            (&zebbug, "{{geocodeArea:Bonn}}->.a;", "{{geocodeArea:Żebbuġ}}->.a;"),
            (
                &malta,
                r#"area["ISO3166-1"="SE"][admin_level=2]->.b;"#,
                r#"area["name"="Malta"]["admin_level"="2"]->.b;"#,
            ),
            (
                &malta,
                r#"area["name"="Bonn"]["de:regionalschluessel"="05314"]["boundary"="administrative"]->.b;"#,
                r#"area["name"="Malta"]["boundary"="administrative"]->.b;"#,
            ),
            (&malta, r#"area["name"~"^Bonn$"]->.a;"#, r#"area["name"~"^Malta$"]->.a;"#),
            // The query has more places than the question.
            (
                &malta,
                "{{geocodeArea:A}}->.a;{{geocodeArea:B}}->.b;{{geocodeArea:A}}->.c;",
                "{{geocodeArea:Malta}}->.a;{{geocodeArea:B}}->.b;{{geocodeArea:Malta}}->.c;",
            ),
            // Only the shortcuts of a query with errors are known.
            (&malta, "{{geocodeArea:A}}->.a;node[;", "{{geocodeArea:Malta}}->.a;node[;"),
        ] {
            assert_eq!(with_places(query, places), moved);
        }
        for query in [
            r#"node["amenity"="cafe"]({{bbox}});out;"#,
            r#"area["postal_code"="53111"]->.a;node(area.a)["name"="Bonn"];out;"#,
            "node(around:100,50.7,7.1);out;",
            "node(area:3600000001);out;",
        ] {
            assert_eq!(with_places(query, &malta), query);
        }
        assert_eq!(with_places("{{geocodeArea:Bonn}}->.a;", &[]), "{{geocodeArea:Bonn}}->.a;");
    }
}
