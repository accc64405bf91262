//! Converts a line of the dataset to the query to run, step by step like OverpassNL's evaluation.
//!
//! The published numbers depend on this conversion, so its quirks are kept even if Overpass Turbo differs: names are
//! replaced before definitions, `{{center}}` becomes the whole box, `{{geocodeBbox:}}` lists south, north, west,
//! east, dates count from 2022-07-04 in whole days, and replacement is textual everywhere.
//! [`terrapin_overpass::turbo`] behaves like Overpass Turbo.

use std::sync::LazyLock;

use jiff::Span;
use jiff::civil::{Date, DateTime, date};
use regex::Regex;

use crate::metrics::is_python_space;
use crate::record::{ErrorClass, FailedQuery};
use terrapin_geocoder::{NamedPlace, PlaceSource};
use terrapin_osm::ElementType;

/// The time limit of every query in seconds.
pub const TIMEOUT: u32 = 300;
/// The maximum memory limit of a query in bytes.
pub const MAX_SIZE: u64 = 1_073_741_824;
/// The day from which relative dates count.
const TODAY: Date = date(2022, 7, 4);

/// Prepares one line. `bbox` is the line's box as in the dataset (`south,west,north,east`); without one, `{{bbox}}`
/// and `{{center}}` stay and the engine rejects them.
///
/// # Errors
/// Returns `nominatim`, `relative_date`, or `unknown_error` for a text on which the published code fails.
pub fn prepare(line: &str, bbox: Option<&str>, places: &dyn PlaceSource) -> Result<String, FailedQuery<ErrorClass>> {
    Ok(set_output(&set_limits(expand(line, bbox, places)?)?))
}

/// Returns a line with its shortcuts replaced.
pub(super) fn expand(
    line: &str,
    bbox: Option<&str>,
    places: &dyn PlaceSource,
) -> Result<String, FailedQuery<ErrorClass>> {
    // The published code removes trailing white space, but its published results contain it. It does not affect the
    // execution, so it stays.
    let mut query = line.trim_start_matches(is_python_space).to_owned();
    query = replace_names(query, places)?;
    query = replace_definitions(query);
    query = replace_dates(query)?;
    if let Some(bbox) = bbox {
        query = query.replace("{{bbox}}", bbox).replace("{{center}}", bbox);
    }
    Ok(query)
}

/// Returns a text with the limits of the evaluation.
pub(super) fn set_limits(query: String) -> Result<String, FailedQuery<ErrorClass>> {
    set_timeout(bound_max_size(query))
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

/// A shortcut for a place.
struct Shortcut {
    name: &'static str,
    found: LazyLock<Regex>,
    /// The replacement; `None` if the place lacks the value.
    text: fn(&NamedPlace) -> Option<String>,
}

/// In the order of replacement.
static SHORTCUTS: [Shortcut; 5] = [
    Shortcut { name: "geocodeArea", found: LazyLock::new(|| pattern(r"\{\{geocodeArea:(.*?)\}\}")), text: area_text },
    Shortcut {
        name: "nominatimArea",
        found: LazyLock::new(|| pattern(r"\{\{nominatimArea:(.*?)\}\}")),
        text: area_text,
    },
    Shortcut { name: "geocodeId", found: LazyLock::new(|| pattern(r"\{\{geocodeId:(.*?)\}\}")), text: id_text },
    Shortcut {
        name: "geocodeCoords",
        found: LazyLock::new(|| pattern(r"\{\{geocodeCoords:(.*?)\}\}")),
        text: coords_text,
    },
    Shortcut { name: "geocodeBbox", found: LazyLock::new(|| pattern(r"\{\{geocodeBbox:(.*?)\}\}")), text: bounds_text },
];

fn area_text(place: &NamedPlace) -> Option<String> {
    let element = place.element.value()?;
    match element.kind {
        ElementType::Node => Some(format!("node(id:{})", element.id)),
        ElementType::Way | ElementType::Relation => element.area_id().map(|id| format!("area(id:{id})")),
    }
}

fn id_text(place: &NamedPlace) -> Option<String> {
    place.element.value().map(|element| format!("{}(id:{})", element.kind.name(), element.id))
}

fn coords_text(place: &NamedPlace) -> Option<String> {
    place.center.value().map(|center| format!("{},{}", center.lat, center.lon))
}

fn bounds_text(place: &NamedPlace) -> Option<String> {
    place.bounds.value().map(|b| [&*b.south, &*b.north, &*b.west, &*b.east].join(","))
}

fn replace_names(mut query: String, places: &dyn PlaceSource) -> Result<String, FailedQuery<ErrorClass>> {
    for shortcut in &SHORTCUTS {
        if !query.contains(shortcut.name) {
            continue;
        }
        for name in captures(&shortcut.found, &query) {
            let place = places.find(name.trim_matches(is_python_space).trim_matches('"'));
            let Some(text) = place.as_ref().and_then(shortcut.text) else {
                return Err(FailedQuery::new(ErrorClass::Nominatim, format!("{} not found: {name}", shortcut.name)));
            };
            query = query.replace(&format!("{{{{{}:{name}}}}}", shortcut.name), &text);
        }
    }
    Ok(query)
}

/// Returns the first group of every match.
fn captures(regex: &Regex, text: &str) -> Vec<String> {
    regex.captures_iter(text).map(|c| group(&c, 1).to_owned()).collect()
}

fn group<'t>(captures: &regex::Captures<'t>, index: usize) -> &'t str {
    captures.get(index).map_or("", |m| m.as_str())
}

fn replace_definitions(mut query: String) -> String {
    static DEFINITION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{([^}]+?)=(.*?)\}\}"));
    let definitions: Vec<(String, String)> =
        DEFINITION.captures_iter(&query).map(|c| (group(&c, 1).to_owned(), group(&c, 2).to_owned())).collect();
    for (key, value) in definitions {
        query = query
            .replace(&format!("{{{{{key}}}}}"), &value)
            .replace(&format!("{{{{ {key} }}}}"), &value)
            .replace(&format!("{{{{{key}={value}}}}}"), " ");
    }
    query
}

fn replace_dates(mut query: String) -> Result<String, FailedQuery<ErrorClass>> {
    static DATE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{\{date:(.*?)\}\}"));
    for when in captures(&DATE, &query) {
        let text = if is_timestamp(&when) { when.clone() } else { relative_date(&when)? };
        query = query.replace(&format!("{{{{date:{when}}}}}"), &text);
    }
    Ok(query)
}

/// Reports whether `datetime.strptime` accepts a text as `%Y-%m-%dT%H:%M:%SZ`: in either case, with one or two digits
/// for each part except the year, and a valid day and second.
fn is_timestamp(text: &str) -> bool {
    static TIMESTAMP: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?ix)^(\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[0-1]|[1-2]\d|0[1-9]|[1-9]|\x20[1-9])
              t(2[0-3]|[0-1]\d|\d):([0-5]\d|\d):(6[0-1]|[0-5]\d|\d)z$",
        )
    });
    let Some(found) = TIMESTAMP.captures(text) else { return false };
    let number = |index| group(&found, index).trim().parse::<i16>().ok();
    let small = |index| number(index).and_then(|n| i8::try_from(n).ok());
    let parts = (number(1), small(2), small(3), small(4), small(5), small(6));
    let (Some(year), Some(month), Some(day), Some(hour), Some(minute), Some(second)) = parts else { return false };
    year >= 1 && DateTime::new(year, month, day, hour, minute, second, 0).is_ok()
}

fn relative_date(when: &str) -> Result<String, FailedQuery<ErrorClass>> {
    static RELATIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^([0-9]+)\s*(\w+)"));
    let refuse = |why: &str| FailedQuery::new(ErrorClass::RelativeDate, format!("{why}: {when}"));
    let lower = when.trim_matches(is_python_space).to_lowercase();
    let found = RELATIVE.captures(&lower).ok_or_else(|| refuse("not a relative date"))?;
    let unit = group(&found, 2);
    let seconds: i64 = match unit.strip_suffix('s').unwrap_or(unit) {
        "second" => 1,
        "minute" => 60,
        "hour" => 3_600,
        "day" => 86_400,
        "week" => 604_800,
        "month" => 2_628_000,
        "year" => 31_536_000,
        _ => return Err(refuse("not a unit of time")),
    };
    // Counts back from a date, so that fractions of a day are lost.
    let before = group(&found, 1)
        .parse::<i64>()
        .ok()
        .and_then(|number| number.checked_mul(seconds))
        .and_then(|seconds| Span::new().try_days(seconds / 86_400).ok())
        .and_then(|span| TODAY.checked_sub(span).ok())
        .filter(|date| date.year() >= 1)
        .ok_or_else(|| refuse("before the year 1"))?;
    Ok(format!("{}-{:02}-{:02}T00:00:00.000000Z", before.year(), before.month(), before.day()))
}

fn bound_max_size(query: String) -> String {
    static MAX_SIZE_SETTING: LazyLock<Regex> = LazyLock::new(|| pattern("maxsize:([0-9]+)"));
    let Some(found) = MAX_SIZE_SETTING.captures(&query) else { return query };
    let asked = group(&found, 1);
    let bytes = asked.parse::<u64>().map_or(MAX_SIZE, |bytes| bytes.min(MAX_SIZE));
    query.replace(&format!("maxsize:{asked}"), &format!("maxsize:{bytes}"))
}

fn set_timeout(query: String) -> Result<String, FailedQuery<ErrorClass>> {
    static TIMEOUT_SETTING: LazyLock<Regex> = LazyLock::new(|| pattern(r"timeout:(\d+)"));
    if let Some(found) = TIMEOUT_SETTING.captures(&query) {
        let asked = format!("timeout:{}", group(&found, 1));
        return Ok(query.replace(&asked, &format!("timeout:{TIMEOUT}")));
    }
    match query.chars().next() {
        Some('[') => Ok(format!("[timeout:{TIMEOUT}]{query}")),
        Some(_) => Ok(format!("[timeout:{TIMEOUT}];{query}")),
        None => Err(FailedQuery::new(ErrorClass::UnknownError, "the line is empty")),
    }
}

/// Replaces every output format by JSON, and adds it if none is set.
pub(super) fn set_output(query: &str) -> String {
    static OUTPUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[out:[^\]]+\]"));
    let json = OUTPUT.replace_all(query, "[out:json]");
    if json.contains("[out:json]") { json.into_owned() } else { format!("[out:json]{json}") }
}

/// Reports whether a text needs the box of `--bbox`.
pub fn wants_bbox(query: &str) -> bool {
    query.contains("{{bbox}}") || query.contains("{{center}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FailureKind as _;
    use terrapin_geocoder::PlaceTable;

    fn prepared(line: &str) -> Result<String, String> {
        let table = PlaceTable::parse(
            br#"{"Malta": {"osm_id": 5, "osm_type": "relation"}, "Villa": {"osm_id": 6, "osm_type": "way"},
                 "Tree": {"osm_id": 7, "osm_type": "node"}, "Malta_centre": {"lat": "35.9", "lon": "14.4"},
                 "Malta_bbox": {"bbox": ["35", "36", "14", "15"]}, "Gone": null}"#,
        )
        .unwrap();
        prepare(line, Some("1,2,3,4"), &table).map_err(|failed| failed.class.name().to_owned())
    }

    fn ok(line: &str) -> String {
        prepared(line).unwrap()
    }

    #[test]
    fn settings() {
        assert_eq!(ok("node(1);out;"), "[out:json][timeout:300];node(1);out;");
        assert_eq!(ok("[bbox:1,2,3,4];out;"), "[out:json][timeout:300][bbox:1,2,3,4];out;");
        assert_eq!(ok("[timeout:25][out:xml];out;"), "[timeout:300][out:json];out;");
        assert_eq!(ok("  [out:csv(::id;\",\")];out;"), "[timeout:300][out:json];out;");
        // Everything that begins like the first limit is replaced.
        assert_eq!(ok("[timeout:2];x(timeout:25)"), "[out:json][timeout:300];x(timeout:3005)");
        assert_eq!(ok("[maxsize:2000000000];out;"), "[out:json][timeout:300][maxsize:1073741824];out;");
        assert_eq!(ok("[maxsize:007];out;"), "[out:json][timeout:300][maxsize:7];out;");
        assert_eq!(prepared("  "), Err("unknown_error".to_owned()));
    }

    #[test]
    fn names() {
        let head = "[out:json][timeout:300];";
        assert_eq!(ok("{{geocodeArea: \"Malta\" }}->.a;"), format!("{head}area(id:3600000005)->.a;"));
        assert_eq!(ok("{{nominatimArea:Villa}};"), format!("{head}area(id:2400000006);"));
        assert_eq!(ok("{{geocodeArea:Tree}};"), format!("{head}node(id:7);"));
        assert_eq!(ok("{{geocodeId:Malta}};"), format!("{head}relation(id:5);"));
        assert_eq!(ok("n(around:9,{{geocodeCoords:Malta}});"), format!("{head}n(around:9,35.9,14.4);"));
        assert_eq!(ok("n({{geocodeBbox:Malta}});"), format!("{head}n(35,36,14,15);"));
        assert_eq!(prepared("{{geocodeArea:Gone}};"), Err("nominatim".to_owned()));
        assert_eq!(prepared("{{geocodeArea:Else}};"), Err("nominatim".to_owned()));
        assert_eq!(prepared("{{geocodeArea:}};"), Err("nominatim".to_owned()));
    }

    #[test]
    fn definitions_and_boxes() {
        let head = "[out:json][timeout:300];";
        assert_eq!(ok("{{k=shop}}node[{{k}}][{{ k }}]({{bbox}});"), format!("{head} node[shop][shop](1,2,3,4);"));
        assert_eq!(ok("n(around:5,{{center}});"), format!("{head}n(around:5,1,2,3,4);"));
        // Names are geocoded before definitions are applied.
        assert_eq!(prepared("{{p=Malta}}{{geocodeArea:{{p}}}};"), Err("nominatim".to_owned()));
    }

    #[test]
    fn dates() {
        let date = |text: &str| prepared(&format!("({{{{date:{text}}}}})")).map(|q| q[25..q.len() - 1].to_owned());
        assert_eq!(date("2019-1-2T3:04:05z").unwrap(), "2019-1-2T3:04:05z");
        assert_eq!(date(" 1 Day ").unwrap(), "2022-07-03T00:00:00.000000Z");
        assert_eq!(date("23hours").unwrap(), "2022-07-04T00:00:00.000000Z");
        assert_eq!(date("1 month").unwrap(), "2022-06-04T00:00:00.000000Z");
        assert_eq!(date("1500 years").unwrap(), "523-07-03T00:00:00.000000Z");
        for wrong in ["", "12", "2019-02-30T00:00:00Z", "2019-01-01T00:00:00", "1 fortnight", "9999999999999999 years"]
        {
            assert_eq!(date(wrong), Err("relative_date".to_owned()), "{wrong}");
        }
    }
}
