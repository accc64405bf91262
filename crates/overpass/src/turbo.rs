//! Expands the `{{shortcuts}}` of Overpass Turbo to plain OverpassQL or XML, before the parser runs.
//!
//! | shortcut | becomes, in QL | and in XML |
//! |---|---|---|
//! | `{{bbox}}` | `south,west,north,east` | `s="" w="" n="" e=""` |
//! | `{{wsen}}` | `west,south,east,north` | the same |
//! | `{{center}}` | `lat,lon` | `lat="" lon=""` |
//! | `{{date}}`, `{{date:3 days}}` | the time of the data, or the given duration before it | the same |
//! | `{{date:2020-01-01T00:00:00Z}}` | the timestamp unchanged | the same |
//! | `{{geocodeArea:name}}`, `{{nominatimArea:name}}` | `area(id)` | `type="area" ref="id"` |
//! | `{{geocodeId:name}}` | `relation(id)` or the like | `type="relation" ref="id"` |
//! | `{{geocodeBbox:name}}` | as `{{bbox}}` | as `{{bbox}}` |
//! | `{{geocodeCoords:name}}` | as `{{center}}` | as `{{center}}` |
//! | `{{key=value}}` | removed; defines `{{key}}` | the same |
//! | `{{style:...}}`, `{{data:...}}` | removed | removed |
//!
//! A definition applies to the whole text, before and after it. Its value may contain shortcuts. Any other text in
//! double braces is left unchanged, and the parser rejects it. `now` is the time of the data, not the current time:
//! therefore a query has the same answer every day. A text without `{{` is returned unchanged.
//!
//! Uses the places of `terrapin_geocoder`; independent of snapshots, files and HTTP.

mod stand_ins;

pub use stand_ins::{ExpandedQuery, with_stand_ins};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use jiff::{SignedDuration, Timestamp};

use super::syntax::{DiagnosticClass, OverpassCode, OverpassDiagnostic, SourceSpan};
use terrapin_geocoder::{NamedPlace, PlaceBounds, PlacePosition, PlaceSource};
use terrapin_osm::{BoundingBox, ElementType};

/// The maximum depth of definitions that use each other.
const MAX_DEPTH: u32 = 16;
/// The maximum size of the expanded text, in bytes.
const MAX_BYTES: usize = 16 << 20;
/// The maximum number of uses of definitions in one text, including uses inside other definitions.
const MAX_USES: u32 = 100_000;

/// The values that shortcuts are replaced with.
pub struct ShortcutValues<'a> {
    /// The box of `{{bbox}}`. Its middle is `{{center}}`.
    pub bbox: Option<BoundingBox>,
    /// The moment that relative dates refer to: the time of the data, in seconds since 1970.
    pub now: i64,
    /// The places that names refer to.
    pub places: &'a dyn PlaceSource,
}

/// A shortcut that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{{{{{shortcut}}}}}: {reason}")]
pub struct ShortcutProblem {
    /// The shortcut without its braces.
    pub shortcut: String,
    /// The position of its first byte in the given text, braces included.
    pub position: usize,
    /// The reason of the failure.
    pub reason: Reason,
}

impl ShortcutProblem {
    /// Converts the problem to an error in the query, with a hint.
    pub fn diagnostic(&self, help: Option<String>) -> OverpassDiagnostic {
        let (start, length) = (self.position, self.shortcut.len() + "{{}}".len());
        let error = OverpassDiagnostic::new(DiagnosticClass::Parse, OverpassCode::Shortcut, self.to_string());
        OverpassDiagnostic { help, ..error.spanning(SourceSpan { start, end: start + length }) }
    }
}

/// The reason why a shortcut cannot be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Reason {
    #[error("no bounding box was given")]
    NoBox,
    #[error("no place of this name")]
    NoPlace,
    #[error("not a timestamp such as 2020-01-01T00:00:00Z and not a duration such as \"3 days\"")]
    NoDate,
    #[error("definitions that use themselves, or too many")]
    TooLarge,
}

/// Replaces the shortcuts of a query.
pub fn expand<'t>(text: &'t str, surroundings: &ShortcutValues) -> Result<Cow<'t, str>, ShortcutProblem> {
    if !text.contains("{{") {
        return Ok(Cow::Borrowed(text));
    }
    expand_all(text, surroundings).map(|out| Cow::Owned(out.text))
}

/// Iterates over the shortcuts of a query in the order of the text: each without its braces, including definitions
/// such as `{{key=shop}}`.
pub fn shortcuts(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| piece.inner).map(|inner| inner.text)
}

fn expand_all(text: &str, surroundings: &ShortcutValues) -> Result<ExpandedText, ShortcutProblem> {
    let definitions = pieces(text).filter_map(|piece| piece.inner).filter_map(|inner| definition(inner.text)).collect();
    let expansion = Expansion { surroundings, definitions, xml: text.trim_start().starts_with('<') };
    let mut out = ExpandedText { text: String::with_capacity(text.len()), uses: 0, replaced: Vec::new() };
    expansion.write(text, None, 0, &mut out)?;
    Ok(out)
}

/// The expanded text, with the number of definitions used and the outermost shortcuts.
struct ExpandedText {
    text: String,
    uses: u32,
    replaced: Vec<ReplacedShortcut>,
}

/// A shortcut's place in the text, and that of its replacement in the expanded text.
#[derive(Debug, Clone)]
struct ReplacedShortcut {
    source: Range<usize>,
    text: Range<usize>,
}

struct Expansion<'a> {
    surroundings: &'a ShortcutValues<'a>,
    definitions: BTreeMap<&'a str, &'a str>,
    xml: bool,
}

impl Expansion<'_> {
    /// Expands `text`. `position` is that of the outermost shortcut; `None` in the query's text itself.
    fn write(
        &self,
        text: &str,
        position: Option<usize>,
        depth: u32,
        out: &mut ExpandedText,
    ) -> Result<(), ShortcutProblem> {
        for piece in pieces(text) {
            out.text.push_str(piece.before);
            let Some(inner) = piece.inner else { continue };
            let start = out.text.len();
            self.write_shortcut(inner, position.unwrap_or(inner.position), depth, out)?;
            if position.is_none() {
                let end = inner.position + inner.text.len() + "{{}}".len();
                out.replaced.push(ReplacedShortcut { source: inner.position..end, text: start..out.text.len() });
            }
        }
        Ok(())
    }

    fn write_shortcut(
        &self,
        inner: ShortcutBody<'_>,
        position: usize,
        depth: u32,
        out: &mut ExpandedText,
    ) -> Result<(), ShortcutProblem> {
        let problem = |reason| ShortcutProblem { shortcut: inner.text.to_owned(), position, reason };
        if definition(inner.text).is_some() {
            return Ok(());
        }
        if let Some(value) = self.definitions.get(inner.text.trim()) {
            out.uses += 1;
            if depth == MAX_DEPTH || out.uses > MAX_USES || out.text.len() > MAX_BYTES {
                return Err(problem(Reason::TooLarge));
            }
            return self.write(value, Some(position), depth + 1, out);
        }
        // Inside the value of an attribute, as in `<osm-script bbox="{{bbox}}">`, the plain form is used.
        let xml = self.xml && !out.text.ends_with(['"', '\'']);
        match self.shortcut(inner.text, xml).map_err(problem)? {
            Some(replacement) => out.text.push_str(&replacement),
            None => {
                out.text.push_str("{{");
                out.text.push_str(inner.text);
                out.text.push_str("}}");
            }
        }
        Ok(())
    }

    /// Returns the replacement of a shortcut, as XML attributes or as QL. Returns `None` if it is not a shortcut.
    fn shortcut(&self, inner: &str, xml: bool) -> Result<Option<String>, Reason> {
        let (name, argument) = match inner.split_once(':') {
            Some((name, argument)) => (name.trim(), Some(argument.trim().trim_matches('"'))),
            None => (inner.trim(), None),
        };
        let place = || argument.and_then(|name| self.surroundings.places.find(name)).ok_or(Reason::NoPlace);
        let bbox = || self.surroundings.bbox.filter(|b| !b.is_empty()).ok_or(Reason::NoBox);
        let text = match (name, argument) {
            ("bbox", None) => bounds(&PlaceBounds::of(&bbox()?), xml),
            ("wsen", None) => {
                let PlaceBounds { south, north, west, east } = PlaceBounds::of(&bbox()?);
                format!("{west},{south},{east},{north}")
            }
            ("center", None) => point(&PlacePosition::middle_of(&bbox()?), xml),
            ("date", _) => date(argument.unwrap_or_default(), self.surroundings.now).ok_or(Reason::NoDate)?,
            ("geocodeArea" | "nominatimArea", Some(_)) => {
                let element = place()?.element.value().copied().ok_or(Reason::NoPlace)?;
                let id = element.area_id().ok_or(Reason::NoPlace)?;
                if xml { format!("type=\"area\" ref=\"{id}\"") } else { format!("area({id})") }
            }
            ("geocodeId", Some(_)) => element(&place()?, xml).ok_or(Reason::NoPlace)?,
            ("geocodeBbox", Some(_)) => {
                let place = place()?;
                bounds(place.bounds.value().ok_or(Reason::NoPlace)?, xml)
            }
            ("geocodeCoords", Some(_)) => {
                let place = place()?;
                point(place.center.value().ok_or(Reason::NoPlace)?, xml)
            }
            ("style" | "data", Some(_)) => String::new(),
            _ => return Ok(None),
        };
        Ok(Some(text))
    }
}

fn bounds(PlaceBounds { south, north, west, east }: &PlaceBounds, xml: bool) -> String {
    if xml {
        format!("s=\"{south}\" w=\"{west}\" n=\"{north}\" e=\"{east}\"")
    } else {
        format!("{south},{west},{north},{east}")
    }
}

fn point(PlacePosition { lat, lon }: &PlacePosition, xml: bool) -> String {
    if xml { format!("lat=\"{lat}\" lon=\"{lon}\"") } else { format!("{lat},{lon}") }
}

fn element(place: &NamedPlace, xml: bool) -> Option<String> {
    let element = place.element.value()?;
    let kind: ElementType = element.kind;
    Some(if xml {
        format!("type=\"{}\" ref=\"{}\"", kind.name(), element.id)
    } else {
        format!("{}({})", kind.name(), element.id)
    })
}

/// Returns the key and value of a definition. The key must be a word, so that `{{data:overpass,server=...}}` is none.
fn definition(inner: &str) -> Option<(&str, &str)> {
    let (key, value) = inner.split_once('=')?;
    let key = key.trim();
    (!key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))).then_some((key, value))
}

/// The text before a shortcut, and the shortcut. The last piece may have no shortcut.
struct ShortcutText<'t> {
    before: &'t str,
    inner: Option<ShortcutBody<'t>>,
}

#[derive(Clone, Copy)]
struct ShortcutBody<'t> {
    /// The position of the opening braces.
    position: usize,
    /// The text between the braces.
    text: &'t str,
}

/// Splits a text at its outermost pairs of double braces. Braces that are never closed are plain text.
fn pieces(text: &str) -> impl Iterator<Item = ShortcutText<'_>> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let rest = text.get(done..).filter(|rest| !rest.is_empty())?;
        let found = rest.find("{{").and_then(|start| Some((start, closing(rest.get(start + 2..)?)?)));
        let Some((start, length)) = found else {
            done = text.len();
            return Some(ShortcutText { before: rest, inner: None });
        };
        let position = done + start;
        done = position + length + 4;
        Some(ShortcutText {
            before: rest.get(..start)?,
            inner: Some(ShortcutBody { position, text: rest.get(start + 2..start + 2 + length)? }),
        })
    })
}

/// Returns the length of the text before the matching closing braces.
fn closing(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut open, mut at) = (1, 0);
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"{{" => open += 1,
            b"}}" => open -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        if open == 0 {
            return Some(at);
        }
        at += 2;
    }
    None
}

/// Returns a timestamp unchanged, or `now` minus a duration; an empty text is a duration of 0. Months have 2,628,000
/// seconds and years 31,536,000.
fn date(text: &str, now: i64) -> Option<String> {
    let text = text.trim();
    if text.ends_with('Z') && text.parse::<Timestamp>().is_ok() {
        return Some(text.to_owned());
    }
    let seconds = if text.is_empty() {
        0
    } else {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = text.split_at_checked(digits)?;
        let unit = unit.trim().to_ascii_lowercase();
        let each: i64 = match unit.strip_suffix('s').unwrap_or(&unit) {
            "second" => 1,
            "minute" => 60,
            "hour" => 3_600,
            "day" => 86_400,
            "week" => 604_800,
            "month" => 2_628_000,
            "year" => 31_536_000,
            _ => return None,
        };
        number.parse::<i64>().ok()?.checked_mul(each)?
    };
    let moment = Timestamp::from_second(now).ok()?.checked_sub(SignedDuration::from_secs(seconds)).ok()?;
    Some(moment.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_geocoder::PlaceTable;

    fn run(text: &str) -> Result<String, Reason> {
        let places = PlaceTable::parse(
            br#"{"Malta": {"osm_id": 5, "osm_type": "relation"}, "Malta_centre": {"lat": "35.9", "lon": "14.4"},
                 "Malta_bbox": {"bbox": ["35", "36", "14", "15"]}, "Tree": {"osm_id": 7, "osm_type": "node"}}"#,
        )
        .unwrap();
        let bbox = BoundingBox { south: -5_000_000, west: 10_000_000, north: 15_000_000, east: 20_000_001 };
        let surroundings = ShortcutValues { bbox: Some(bbox), now: 1_656_892_800, places: &places };
        expand(text, &surroundings).map(Cow::into_owned).map_err(|problem| problem.reason)
    }

    fn ok(text: &str) -> String {
        run(text).unwrap()
    }

    #[test]
    fn boxes_and_places() {
        assert_eq!(ok("node({{bbox}});"), "node(-0.5,1,1.5,2.0000001);");
        assert_eq!(ok("node[a=\"{{wsen}}\"];"), "node[a=\"1,-0.5,2.0000001,1.5\"];");
        assert_eq!(ok("node(around:1,{{ center }});"), "node(around:1,0.5,1.5);");
        assert_eq!(ok("{{geocodeArea:Malta}}->.a;"), "area(3600000005)->.a;");
        assert_eq!(ok("{{nominatimArea:\"Malta\"}};"), "area(3600000005);");
        assert_eq!(ok("{{geocodeId:Tree}};"), "node(7);");
        assert_eq!(ok("node({{geocodeBbox:Malta}});"), "node(35,14,36,15);");
        assert_eq!(ok("node(around:1,{{geocodeCoords:Malta}});"), "node(around:1,35.9,14.4);");
        assert_eq!(run("{{geocodeArea:Tree}};"), Err(Reason::NoPlace));
        assert_eq!(run("{{geocodeArea:Gozo}};"), Err(Reason::NoPlace));
    }

    #[test]
    fn xml_gets_attributes() {
        assert_eq!(ok("<bbox-query {{bbox}}/>"), "<bbox-query s=\"-0.5\" w=\"1\" n=\"1.5\" e=\"2.0000001\"/>");
        assert_eq!(ok("<osm-script bbox=\"{{bbox}}\"/>"), "<osm-script bbox=\"-0.5,1,1.5,2.0000001\"/>");
        assert_eq!(ok("<a b='{{wsen}}'/>"), "<a b='1,-0.5,2.0000001,1.5'/>");
        assert_eq!(ok("<id-query {{geocodeArea:Malta}}/>"), "<id-query type=\"area\" ref=\"3600000005\"/>");
        assert_eq!(ok("<around {{geocodeCoords:Malta}}/>"), "<around lat=\"35.9\" lon=\"14.4\"/>");
    }

    #[test]
    fn definitions() {
        assert_eq!(ok("{{k=shop}}node[{{k}}]; way[{{ k }}];"), "node[shop]; way[shop];");
        assert_eq!(ok("{{a={{geocodeArea:Malta}}}}{{a}};"), "area(3600000005);");
        assert_eq!(run("{{a={{b}}}}{{b={{a}}}}{{a}}"), Err(Reason::TooLarge));
        let many = (0..10).map(|i| format!("{{{{d{i}={}}}}}", format!("{{{{d{}}}}}", i + 1).repeat(20)));
        assert_eq!(run(&format!("{}{{{{d0}}}}", many.collect::<String>())), Err(Reason::TooLarge));
    }

    #[test]
    fn shortcuts_come_in_order() {
        let text = "{{a={{bbox}}}}node({{ bbox }})(newer:\"{{date:1 day}}\"); // {{ open";
        assert_eq!(shortcuts(text).collect::<Vec<_>>(), ["a={{bbox}}", " bbox ", "date:1 day"]);
    }

    #[test]
    fn what_is_no_shortcut_stays() {
        assert_eq!(ok("node({{unknown}}); // {{ open"), "node({{unknown}}); // {{ open");
        assert_eq!(ok("{{style: node { color: red; } }}{{data:overpass,server=https://x/}}out;"), "out;");
        assert_eq!(ok("node[a~\"x{2}\"];"), "node[a~\"x{2}\"];");
    }

    #[test]
    fn dates_count_from_the_data() {
        assert_eq!(ok("{{date}}"), "2022-07-04T00:00:00Z");
        assert_eq!(ok("{{date:1 Day}}"), "2022-07-03T00:00:00Z");
        assert_eq!(ok("{{date:90minutes}}"), "2022-07-03T22:30:00Z");
        assert_eq!(ok("{{date:2019-01-01T00:00:00Z}}"), "2019-01-01T00:00:00Z");
        assert_eq!(run("{{date:soon}}"), Err(Reason::NoDate));
    }

    #[test]
    fn the_position_is_that_in_the_text() {
        let places = PlaceTable::default();
        let surroundings = ShortcutValues { bbox: None, now: 0, places: &places };
        let problem = expand("{{b={{bbox}}}}é{{b}}", &surroundings).unwrap_err();
        assert_eq!((problem.position, problem.reason), (16, Reason::NoBox));
        assert_eq!(problem.to_string(), "{{bbox}}: no bounding box was given");
    }
}
