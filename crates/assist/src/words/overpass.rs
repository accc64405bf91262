//! Writes a request in OverpassQL, with Overpass Turbo's shortcuts for the place and the view.

use std::fmt::Write;

use terrapin_osm::BoundingBox;

use super::request::{Comparison, ElementGroup, ElementTypes, Filter, Near, Scope, WordsPlace, WordsRequest};
use super::{WordsOptions, WordsOutput};

/// Metres around a place that is a point.
pub const AROUND_PLACE: f64 = 1000.0;

/// Returns the query; `None` if the request names no elements.
pub fn write(request: &WordsRequest, options: &WordsOptions) -> Option<String> {
    let groups = request.complete_groups();
    if groups.is_empty() {
        return None;
    }
    let mut out = String::from("[out:json][timeout:25];\n");
    let regions = regions(request, options, &mut out);
    let around = surroundings(request, &regions, &mut out);
    let mut lines: Vec<String> = Vec::new();
    for region in &regions {
        lines.extend(groups.iter().map(|group| statement(group, &format!("{around}{region}"))));
    }
    lines.dedup();
    match &lines[..] {
        [line] => {
            let _ = writeln!(out, "{line}");
        }
        lines => {
            let _ = writeln!(out, "(\n  {}\n);", lines.join("\n  "));
        }
    }
    out.push_str(match (request.is_count, options.output) {
        (true, _) => "out count;\n",
        (false, WordsOutput::Geometry) => "out geom;\n",
        (false, WordsOutput::Members) => "out;\n>;\nout skel qt;\n",
    });
    Some(out)
}

/// Writes the areas to `out`. Returns the filters of the regions, of which an element has to be in one.
fn regions(request: &WordsRequest, options: &WordsOptions, out: &mut String) -> Vec<String> {
    match &request.scope {
        Scope::World => vec![String::new()],
        Scope::View => vec![view(options.bbox)],
        Scope::Unknown if options.bbox.is_some() && request.near.is_none() && !has_ids(request) => {
            vec![view(options.bbox)]
        }
        Scope::Unknown => vec![String::new()],
        Scope::Area(id) => vec![format!("(area:{id})")],
        Scope::In(places) => {
            let mut filters = Vec::new();
            for (at, place) in places.iter().enumerate() {
                let set = if at == 0 { "searchArea".to_owned() } else { format!("searchArea{}", at + 1) };
                filters.push(region(place, &set, out));
            }
            filters
        }
    }
}

fn has_ids(request: &WordsRequest) -> bool {
    request.filters.iter().any(|filter| matches!(filter, Filter::Ids(_)))
}

/// Returns the filter of the view.
fn view(bbox: Option<BoundingBox>) -> String {
    let _ = bbox;
    "({{bbox}})".to_owned()
}

fn region(place: &WordsPlace, set: &str, out: &mut String) -> String {
    let area = place.element.filter(|_| place.is_area).and_then(|element| element.area_id());
    let shortcut = place.shortcut.as_ref().filter(|name| !name.contains(['{', '}']));
    match (shortcut, area) {
        (Some(name), Some(_)) => {
            let _ = writeln!(out, "{{{{geocodeArea:{name}}}}}->.{set};");
            format!("(area.{set})")
        }
        (None, Some(area)) => {
            let _ = writeln!(out, "area(id:{area})->.{set}; // {}", in_comment(&place.name));
            format!("(area.{set})")
        }
        (_, None) => format!("(around:{},{},{})", number(AROUND_PLACE), place.at.lat, place.at.lon),
    }
}

/// Writes the set of near things to `out`. Returns the filter of the surroundings.
fn surroundings(request: &WordsRequest, regions: &[String], out: &mut String) -> String {
    match &request.near {
        None => String::new(),
        Some(Near::Point(lat, lon, metres)) => format!("(around:{},{lat},{lon})", number(*metres)),
        Some(Near::Place(place, metres)) => match place.element {
            Some(element) => {
                let (kind, name) = (element.kind.name(), in_comment(&place.name));
                let _ = writeln!(out, "{kind}({})->.near; // {name}", element.id);
                format!("(around.near:{})", number(*metres))
            }
            None => format!("(around:{},{},{})", number(*metres), place.at.lat, place.at.lon),
        },
        Some(Near::Things(groups, metres)) => {
            let lines: Vec<String> =
                regions.iter().flat_map(|region| groups.iter().map(move |group| statement(group, region))).collect();
            let _ = writeln!(out, "({})->.near;", lines.join(" "));
            format!("(around.near:{})", number(*metres))
        }
    }
}

fn statement(group: &ElementGroup, place: &str) -> String {
    let is_length = group.filters.iter().any(|filter| matches!(filter, Filter::Length(..)));
    let types = if is_length && group.types == ElementTypes::All { ElementTypes::Ways } else { group.types };
    let filters: Vec<String> = group.filters.iter().map(filter).collect();
    format!("{}{}{place};", types.name(), filters.concat())
}

/// Returns a filter in OverpassQL.
fn filter(filter: &Filter) -> String {
    match filter {
        Filter::Has(key) => format!("[{}]", quoted(key)),
        Filter::Lacks(key) => format!("[!{}]", quoted(key)),
        Filter::Is(key, value) => format!("[{}={}]", quoted(key), quoted(value)),
        Filter::IsNot(key, value) => format!("[{}!={}]", quoted(key), quoted(value)),
        Filter::Matches { key, pattern, is_negated, ignores_case } => format!(
            "[{}{}{}{}]",
            quoted(key),
            if *is_negated { "!~" } else { "~" },
            quoted(pattern),
            if *ignores_case { ",i" } else { "" }
        ),
        Filter::Compare(key, comparison, value) => {
            format!("[{}](if:number(t[{}]){}{})", quoted(key), in_marks(key), sign(*comparison), number(*value))
        }
        Filter::Length(comparison, metres) => format!("(if:length(){}{})", sign(*comparison), number(*metres)),
        Filter::Ids(ids) => {
            let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
            if ids.len() == 1 { format!("({})", ids.concat()) } else { format!("(id:{})", ids.join(",")) }
        }
        Filter::User(name) => format!("(user:{})", quoted(name)),
        Filter::Uid(id) => format!("(uid:{id})"),
        Filter::Newer(when) if when.chars().next().is_some_and(|c| c.is_ascii_digit()) && when.contains('T') => {
            format!("(newer:{})", quoted(when))
        }
        Filter::Newer(when) => format!("(newer:\"{{{{date:{}}}}}\")", when.replace(['"', '}', '{'], "")),
        Filter::Changed(since, until) => match until {
            Some(until) => format!("(changed:{},{})", quoted(since), quoted(until)),
            None => format!("(changed:{})", quoted(since)),
        },
    }
}

fn sign(comparison: Comparison) -> &'static str {
    if comparison == Comparison::Equal { "==" } else { comparison.sign() }
}

/// Formats a number without a fraction if it is whole.
pub fn number(value: f64) -> String {
    format!("{value}")
}

/// Returns a text in quotation marks; a key of letters stays unquoted.
fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit());
    if is_plain {
        return text.to_owned();
    }
    in_marks(text)
}

/// Returns a text in quotation marks. Of two braces, which begin a shortcut, the second one is escaped.
fn in_marks(text: &str) -> String {
    let mut out = String::from("\"");
    let mut before = '"';
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\\' | '"' => out.extend(['\\', c]),
            '{' if before == '{' => out.extend(['\\', c]),
            _ => out.push(c),
        }
        before = c;
    }
    out + "\""
}

/// Returns a name for a comment: one line, without shortcuts.
fn in_comment(name: &str) -> String {
    name.replace(['\n', '\r'], " ").replace('{', "(").replace('}', ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(key: &str, value: &str) -> ElementGroup {
        ElementGroup { types: ElementTypes::All, filters: vec![Filter::Is(key.into(), value.into())] }
    }

    #[test]
    fn things_near_things_are_a_set() {
        let request = WordsRequest {
            groups: vec![tag("amenity", "cafe")],
            filters: vec![Filter::Lacks("name".into())],
            near: Some(Near::Things(vec![tag("highway", "bus_stop")], 500.0)),
            ..WordsRequest::default()
        };
        let query = write(&request, &WordsOptions::default()).unwrap();
        assert_eq!(
            query,
            "[out:json][timeout:25];\n(nwr[highway=bus_stop];)->.near;\nnwr[amenity=cafe][!name](around.near:500);\nout geom;\n"
        );
        assert!(terrapin_overpass::parse(&query).is_ok());
    }

    /// Shortcuts are replaced before a query is parsed, also within quotation marks.
    #[test]
    fn braces_in_values_are_no_shortcuts() {
        for value in ["{{bbox}}", "a {{{k=v}}} b", "{{geocodeArea:Nowhere}}", "{", "{\\{", "{{{{"] {
            let filters = vec![Filter::Is("name".into(), value.into()), Filter::User(value.into())];
            let query = write(&WordsRequest { filters, ..WordsRequest::default() }, &WordsOptions::default()).unwrap();
            assert_eq!(terrapin_overpass::turbo::shortcuts(&query).next(), None, "{query}");
            let script = terrapin_overpass::parse(&query).unwrap_or_else(|failure| panic!("{query}: {failure}"));
            let is_there = format!("{script:?}").contains(&format!("value: {value:?}"));
            assert!(is_there, "{query}: {script:?}");
        }
        assert_eq!(in_comment("a\n{{bbox}}"), "a ((bbox))");
    }

    #[test]
    fn texts_cannot_leave_their_quotation_marks() {
        let request = WordsRequest {
            filters: vec![
                Filter::Is("name".into(), "a\"];out;\n".into()),
                Filter::Newer("1 day\"}});out;".into()),
                Filter::User("x\\".into()),
            ],
            ..WordsRequest::default()
        };
        let query = write(&request, &WordsOptions::default()).unwrap();
        assert!(query.contains(r#"["name"="a\"];out;\n"]"#) || query.contains(r#"[name="a\"];out;\n"]"#), "{query}");
        assert!(query.contains(r#"(user:"x\\")"#), "{query}");
    }
}
