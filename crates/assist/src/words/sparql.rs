//! Writes a request in SPARQL: over elements of OpenStreetMap, or over items of Wikidata.

use std::fmt::Write;

use terrapin_geocoder::PlaceBounds;

use super::WordsOptions;
use super::overpass::{AROUND_PLACE, number};
use super::request::{ElementGroup, ElementTypes, Filter, ItemRequest, Near, Scope, WordsPlace, WordsRequest};

/// Returns the query over elements; `None` if the request has a condition that SPARQL cannot express.
pub fn write_elements(request: &WordsRequest, options: &WordsOptions) -> Option<String> {
    let groups = request.complete_groups();
    let is_view_unknown = matches!(request.scope, Scope::View) && options.bbox.is_none();
    if groups.is_empty() || is_view_unknown {
        return None;
    }
    let mut body = String::new();
    let mut alternatives = Vec::new();
    // The patterns of the place stand before a single group; inside of a UNION they bind nothing.
    let is_bound = groups.len() == 1 && matches!(request.scope, Scope::In(_) | Scope::Area(_));
    for group in &groups {
        alternatives.push(group_pattern(group, "?e", is_bound)?);
    }
    match &alternatives[..] {
        [one] => body.push_str(one),
        all => {
            let all: Vec<String> = all.iter().map(|one| format!("  {{\n{}  }}\n", indented(one))).collect();
            body.push_str(&all.join("  UNION\n"));
        }
    }
    body = format!("{}{body}", place_pattern(request, "?e")?);
    match &request.near {
        None => {}
        Some(Near::Place(place, metres)) => {
            let near = subject(place)?;
            let _ = writeln!(body, "  {near} geo:hasCentroid/geo:asWKT ?near .");
            let _ = writeln!(body, "  FILTER(geof:distance(?place, ?near, uom:metre) <= {})", number(*metres));
        }
        Some(Near::Point(lat, lon, metres)) => {
            let point = format!("\"POINT({lon} {lat})\"^^geo:wktLiteral");
            let _ = writeln!(body, "  FILTER(geof:distance(?place, {point}, uom:metre) <= {})", number(*metres));
        }
        Some(Near::Things(groups, metres)) => {
            let [group] = &groups[..] else { return None };
            body.push_str(&group_pattern(group, "?other", false)?);
            let _ = writeln!(body, "  ?other geo:hasCentroid/geo:asWKT ?near .");
            let _ = writeln!(body, "  FILTER(geof:distance(?place, ?near, uom:metre) <= {})", number(*metres));
        }
    }
    let needs_place = request.near.is_some() || needs_view(request, options);
    let place = "  ?e geo:hasCentroid/geo:asWKT ?place .\n";
    if let (true, Some(bbox)) = (needs_view(request, options), options.bbox) {
        let PlaceBounds { south, north, west, east } = PlaceBounds::of(&bbox);
        let (lat, lon) = ("geof:latitude(?place)", "geof:longitude(?place)");
        let _ = writeln!(body, "  FILTER({lat} >= {south} && {lat} <= {north} && {lon} >= {west} && {lon} <= {east})");
    }
    if request.is_count {
        let place = if needs_place { place } else { "" };
        return Some(format!("SELECT (COUNT(DISTINCT ?e) AS ?count) WHERE {{\n{place}{body}}}\n"));
    }
    Some(format!("SELECT DISTINCT ?e ?name ?place WHERE {{\n{body}{place}  OPTIONAL {{ ?e osmkey:name ?name }}\n}}\n"))
}

fn needs_view(request: &WordsRequest, options: &WordsOptions) -> bool {
    let is_open = matches!(request.scope, Scope::Unknown) && request.near.is_none();
    options.bbox.is_some() && (is_open || matches!(request.scope, Scope::View))
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + "  " + line + "\n")
}

/// Returns the element of a place as a subject.
fn subject(place: &WordsPlace) -> Option<String> {
    let element = place.element?;
    let prefix = match element.kind.name() {
        "node" => "osmnode",
        "way" => "osmway",
        _ => "osmrel",
    };
    Some(format!("{prefix}:{}", element.id))
}

fn place_pattern(request: &WordsRequest, variable: &str) -> Option<String> {
    match &request.scope {
        Scope::In(places) => {
            let mut all = Vec::new();
            for place in places {
                all.push(if place.is_area {
                    format!("  {} ogc:sfContains {variable} . # {}\n", subject(place)?, place.name.replace(['\n', '\r'], " "))
                } else {
                    format!(
                        "  {variable} geo:hasCentroid/geo:asWKT ?there .\n  FILTER(geof:distance(?there, \"POINT({} {})\"^^geo:wktLiteral, uom:metre) <= {})\n",
                        place.at.lon,
                        place.at.lat,
                        number(AROUND_PLACE)
                    )
                });
            }
            Some(match &all[..] {
                [one] => one.clone(),
                all => {
                    let all: Vec<String> = all.iter().map(|one| format!("  {{\n{}  }}\n", indented(one))).collect();
                    all.join("  UNION\n")
                }
            })
        }
        Scope::Area(id) => {
            let id = *id - terrapin_osm::areas::RELATION_AREAS;
            (id > 0).then(|| format!("  osmrel:{id} ogc:sfContains {variable} .\n"))
        }
        Scope::Unknown | Scope::World | Scope::View => Some(String::new()),
    }
}

/// Returns the triples and filters of a group; `None` if none of them binds the variable and it is not bound already.
fn group_pattern(group: &ElementGroup, variable: &str, is_bound: bool) -> Option<String> {
    let mut out = String::new();
    let class = match group.types {
        ElementTypes::Nodes => Some("osm:node"),
        ElementTypes::Ways => Some("osm:way"),
        ElementTypes::Relations => Some("osm:relation"),
        ElementTypes::All | ElementTypes::NodesAndWays => None,
    };
    let is_excluding = |filter: &Filter| {
        matches!(filter, Filter::Lacks(_) | Filter::IsNot(..) | Filter::Matches { is_negated: true, .. })
    };
    if !is_bound && class.is_none() && group.filters.iter().all(is_excluding) {
        return None;
    }
    for (at, filter) in group.filters.iter().enumerate() {
        let value = format!("{}_{at}", variable.trim_end_matches('?'));
        match filter {
            Filter::Is(key, level) if key == "admin_level" && level.parse::<i64>().is_ok() => {
                writeln!(out, "  {variable} osmkey:admin_level {level} .")
            }
            Filter::Is(key, text) => writeln!(out, "  {variable} {} {} .", predicate(key), literal(text)),
            Filter::Has(key) => writeln!(out, "  {variable} {} {value} .", predicate(key)),
            Filter::Lacks(key) => writeln!(out, "  FILTER NOT EXISTS {{ {variable} {} {value} }}", predicate(key)),
            Filter::IsNot(key, text) => {
                writeln!(out, "  FILTER NOT EXISTS {{ {variable} {} {} }}", predicate(key), literal(text))
            }
            Filter::Matches { key, pattern, is_negated, ignores_case } => {
                let flags = if *ignores_case { ", \"i\"" } else { "" };
                let test = format!(
                    "{variable} {} {value} . FILTER(REGEX({value}, {}{flags}))",
                    predicate(key),
                    literal(pattern)
                );
                match is_negated {
                    true => writeln!(out, "  FILTER NOT EXISTS {{ {test} }}"),
                    false => writeln!(out, "  {test}"),
                }
            }
            Filter::Compare(key, comparison, limit) => writeln!(
                out,
                "  {variable} {} {value} . FILTER(xsd:decimal({value}) {} {})",
                predicate(key),
                comparison.sign(),
                number(*limit)
            ),
            Filter::Length(comparison, metres) => writeln!(
                out,
                "  {variable} osm2rdf:length {value} . FILTER({value} {} {})",
                comparison.sign(),
                number(*metres)
            ),
            Filter::Ids(_) | Filter::User(_) | Filter::Uid(_) | Filter::Newer(_) | Filter::Changed(..) => return None,
        }
        .ok()?;
    }
    if group.types == ElementTypes::NodesAndWays {
        let _ = writeln!(out, "  FILTER NOT EXISTS {{ {variable} a osm:relation }}");
    }
    if let Some(class) = class {
        let _ = writeln!(out, "  {variable} a {class} .");
    }
    Some(out)
}

/// Returns the predicate of a key.
fn predicate(key: &str) -> String {
    let is_plain = key.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c)) && !key.ends_with(':');
    if is_plain && !key.is_empty() {
        format!("osmkey:{key}")
    } else {
        let escaped = key.replace(|c: char| c.is_whitespace() || "<>\"{}|^`\\".contains(c), "_");
        format!("<https://www.openstreetmap.org/wiki/Key:{escaped}>")
    }
}

/// Returns a plain literal. Only the levels of boundaries are numbers.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out + "\""
}

/// Returns the query over items of a class.
pub fn write_items(
    request: &WordsRequest,
    items: &ItemRequest,
    is_country: &dyn Fn(&str) -> bool,
    language: &str,
) -> Option<String> {
    let ItemRequest { class, compare, exists } = items;
    let language: String = language.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let mut body = format!("  ?item wdt:P31/wdt:P279* wd:{class} .\n");
    match &request.scope {
        Scope::In(places) => {
            let [place] = &places[..] else { return None };
            let item = place.item.as_deref()?;
            let path = if is_country(item) { "wdt:P17" } else { "wdt:P131*" };
            let _ = writeln!(body, "  ?item {path} wd:{item} .");
        }
        Scope::Area(_) | Scope::View => return None,
        Scope::Unknown | Scope::World => {}
    }
    if request.near.is_some() {
        return None;
    }
    let mut columns = String::new();
    for (at, (property, comparison, limit)) in compare.iter().enumerate() {
        let _ = writeln!(
            body,
            "  ?item wdt:{property} ?value{at} . FILTER(?value{at} {} {})",
            comparison.sign(),
            number(*limit)
        );
        let _ = write!(columns, " ?value{at}");
    }
    for (property, is_there) in exists {
        let _ = match is_there {
            true => writeln!(body, "  ?item wdt:{property} [] ."),
            false => writeln!(body, "  FILTER NOT EXISTS {{ ?item wdt:{property} [] }}"),
        };
    }
    if request.is_count {
        return Some(format!("SELECT (COUNT(DISTINCT ?item) AS ?count) WHERE {{\n{body}}}\n"));
    }
    Some(format!(
        "SELECT DISTINCT ?item ?itemLabel{columns} ?place WHERE {{\n{body}  OPTIONAL {{ ?item wdt:P625 ?place }}\n  \
         SERVICE wikibase:label {{ bd:serviceParam wikibase:language \"{language},en\" }}\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(types: ElementTypes, filter: Filter) -> ElementGroup {
        ElementGroup { types, filters: vec![filter] }
    }

    fn written(groups: Vec<ElementGroup>, scope: Scope) -> Option<String> {
        let request = WordsRequest { groups, scope, ..WordsRequest::default() };
        let query = write_elements(&request, &WordsOptions::default())?;
        assert!(terrapin_sparql::prepare(&query, &Default::default()).is_ok(), "{query}");
        Some(query)
    }

    /// `FILTER NOT EXISTS` alone has one solution without any element.
    #[test]
    fn a_query_has_a_pattern_that_binds_its_elements() {
        let lacks = || Filter::Lacks("name".into());
        assert_eq!(written(vec![group(ElementTypes::All, lacks())], Scope::Unknown), None);
        let cafe = group(ElementTypes::All, Filter::Is("amenity".into(), "cafe".into()));
        assert_eq!(written(vec![group(ElementTypes::All, lacks()), cafe.clone()], Scope::Area(3_600_000_031)), None);
        assert!(written(vec![group(ElementTypes::All, lacks())], Scope::Area(3_600_000_031)).is_some());
        assert!(written(vec![group(ElementTypes::Nodes, lacks())], Scope::Unknown).is_some());
        assert_eq!(written(vec![cafe], Scope::View), None, "the view is unknown");
    }

    #[test]
    fn nodes_and_ways_are_no_relations() {
        let cafe = group(ElementTypes::NodesAndWays, Filter::Is("amenity".into(), "cafe".into()));
        let query = written(vec![cafe.clone(), cafe], Scope::Unknown).unwrap();
        assert!(query.contains("FILTER NOT EXISTS { ?e a osm:relation }"), "{query}");
        assert!(!query.contains("UNION"), "the same thing twice is one: {query}");
    }
}
