//! The baseline without a model: the query of the nearest example, with the place of its question replaced by that of
//! the new one. Nothing leaves the machine.
//!
//! Moved in OverpassQL: `{{geocodeArea:X}}` and the other shortcuts with a name, and `area[...]` with a name, an ISO
//! code, or a Wikipedia or Wikidata link. Everything else stays: `{{bbox}}`, coordinates, ids, dates. SPARQL stays as it
//! is, because the parts of a query that depend on a place cannot be told from its text.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::json;
use terrapin_budget::Limits;
use terrapin_engine::Engine;
use terrapin_geocoder::{AreaLookup, Hit, PlaceSource};
use terrapin_osm::ElementType;

use super::examples::Example;
use crate::agents;
use terrapin_eval::language::QueryLanguage;

/// Words before a place.
const PREPOSITIONS: [&str; 12] =
    ["in", "of", "within", "inside", "near", "around", "at", "from", "for", "to", "throughout", "across"];
/// Maximum words of a place.
const WORDS: usize = 6;

/// An area of the snapshot that a question names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct QuestionPlace {
    /// The name in the question; [`AreaLookup`] finds the area by it.
    text: String,
    /// The value of its tag `name`.
    name: String,
    admin_level: Option<String>,
}

/// Returns the query of an example with its places replaced by those of a question. Without a known place in the
/// question, the query stays unchanged.
pub fn moved(engine: &Engine, example: &Example, question: &str, limits: &Limits) -> String {
    if example.language == QueryLanguage::Sparql {
        return example.query.clone();
    }
    let places = places(engine, question, limits);
    replaced(&example.query, &places)
}

/// Replaces the places of a query: the first place by the first of these, and so on. If there are more places in the
/// query, the rest stays.
fn replaced(query: &str, places: &[QuestionPlace]) -> String {
    static PLACE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r#"(?x) \{\{ \s* (?<shortcut> geocode(?:Area|Id|Bbox|Coords) | nominatim(?:Area|Id|Bbox|Coords) | bbox\s*=\s*area | area )
                    \s* : \s* (?<quote> ["']? ) (?<name> [^}"']+ ) ["']? \s* \}\}
                  | \b area \s* (?<filters> (?: \[ (?: "[^"]*" | '[^']*' | [^\]"'] )* \] \s* )+ )"#,
        )
        .expect("the pattern is a constant")
    });
    // The same name is replaced by the same place.
    let mut known: Vec<String> = Vec::new();
    let mut place_of = |old: &str| -> Option<&QuestionPlace> {
        let at = known.iter().position(|name| name == old).unwrap_or_else(|| {
            known.push(old.to_owned());
            known.len() - 1
        });
        places.get(at)
    };
    let replace = |found: &Captures<'_>| -> String {
        let whole = found[0].to_owned();
        if let (Some(shortcut), Some(old)) = (found.name("shortcut"), found.name("name")) {
            let quote = found.name("quote").map_or("", |quote| quote.as_str());
            return match place_of(old.as_str().trim()) {
                Some(place) => format!("{{{{{}:{quote}{}{quote}}}}}", shortcut.as_str(), place.text),
                None => whole,
            };
        }
        let Some(filters) = found.name("filters") else { return whole };
        area(filters.as_str(), &mut place_of).map_or(whole, |filters| format!("area{filters}"))
    };
    PLACE.replace_all(query, replace).into_owned()
}

/// Returns the filters of an area, moved; `None` if they do not identify a place.
fn area<'a>(filters: &str, place_of: &mut dyn FnMut(&str) -> Option<&'a QuestionPlace>) -> Option<String> {
    static FILTER: LazyLock<Regex> = LazyLock::new(|| {
        let value = r#""(?<double>[^"]*)"|'(?<single>[^']*)'|(?<bare>[^\]"'\s]+)"#;
        Regex::new(&format!(r#"\[\s*["']?(?<key>[\w:.-]+)["']?\s*=\s*(?:{value})\s*\]\s*"#))
            .expect("the pattern is a constant")
    });
    let value = |found: &Captures<'_>| {
        let value = ["double", "single", "bare"].iter().find_map(|name| found.name(name));
        value.map_or_else(String::new, |value| value.as_str().to_owned())
    };
    let all: Vec<Captures<'_>> = FILTER.captures_iter(filters).collect();
    let is_code =
        |key: &str| key.to_ascii_lowercase().starts_with("iso3166") || key == "wikipedia" || key == "wikidata";
    let is_local =
        |key: &str| ["de:", "ref", "is_in", "addr:"].iter().any(|start| key.starts_with(start)) || key == "postal_code";
    let is_name = |key: &str| key == "name" || key.starts_with("name:") || key == "int_name";
    if let Some(named) = all.iter().find(|found| is_name(&found["key"])) {
        let place = place_of(&value(named))?;
        let replace = |found: &Captures<'_>| match (&found["key"], &place.admin_level) {
            ("name", _) => format!("[\"name\"=\"{}\"]", escaped(&place.name)),
            (key, _) if is_name(key) => format!("[\"{key}\"=\"{}\"]", escaped(&place.text)),
            ("admin_level", Some(level)) => format!("[\"admin_level\"=\"{level}\"]"),
            // Codes of the other place would exclude this one.
            (key, _) if is_code(key) || is_local(key) => String::new(),
            _ => found[0].to_owned(),
        };
        return Some(FILTER.replace_all(filters, replace).into_owned());
    }
    // The code or link of another place cannot be translated. The name identifies the place as well.
    let coded = all.iter().find(|found| is_code(&found["key"]))?;
    let place = place_of(&value(coded))?;
    let end = if filters.ends_with(char::is_whitespace) { " " } else { "" };
    Some(format!("[\"name\"=\"{}\"]{end}", escaped(&place.name)))
}

/// Returns a text for a string in double quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Returns the areas of the snapshot that a question names, in the order of the question.
fn places(engine: &Engine, question: &str, limits: &Limits) -> Vec<QuestionPlace> {
    let lookup = AreaLookup::new(engine.osm());
    let mut found: Vec<(usize, usize, QuestionPlace)> = Vec::new();
    for span in spans(question) {
        let overlaps = |(start, end, _): &(usize, usize, QuestionPlace)| span.start < *end && *start < span.end;
        if found.iter().any(overlaps) {
            continue;
        }
        if let Some(place) = named(engine, &lookup, &span.text) {
            found.push((span.start, span.end, place));
        }
    }
    if found.is_empty() {
        // Names in other languages and other spellings.
        let spelled = spans(question).into_iter().filter(|span| span.is_name);
        found.extend(
            spelled
                .filter_map(|span| Some((span.start, span.end, geocoded(engine, &lookup, &span.text, limits)?)))
                .take(1),
        );
    }
    found.sort_by_key(|(start, ..)| *start);
    found.into_iter().map(|(_, _, place)| place).collect()
}

/// Words of a question that may be a place.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    /// The first word, and the one after the last.
    start: usize,
    end: usize,
    text: String,
    /// Whether every word begins with a capital.
    is_name: bool,
}

/// Returns the words that may be a place, the most probable first: those after a preposition, then those with a capital,
/// longer before shorter.
fn spans(question: &str) -> Vec<Span> {
    let spaced = question.replace(',', ", ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let is_capital = |word: &str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase);
    let span = |start: usize, end: usize| {
        let part = words.get(start..end)?;
        // A name does not go on after a comma.
        if part.iter().rev().skip(1).any(|word| word.ends_with([',', ';', '.', ':', '?'])) {
            return None;
        }
        let text = part.iter().map(|word| word.trim_matches(['"', '(', ')'])).collect::<Vec<_>>().join(" ");
        let text = text.trim_end_matches([',', ';', '.', ':', '?', '!']).to_owned();
        let is_name = part.iter().all(|word| is_capital(word));
        (!text.is_empty()).then_some(Span { start, end, text, is_name })
    };
    let from = |start: usize| (1..=WORDS).rev().filter_map(move |count| span(start, start + count));
    let mut spans: Vec<Span> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if PREPOSITIONS.contains(&bare(word).to_lowercase().as_str()) {
            let has_article = words.get(index + 1).is_some_and(|next| next.eq_ignore_ascii_case("the"));
            spans.extend(from(index + 1));
            if has_article {
                spans.extend(from(index + 2));
            }
        }
    }
    for (index, word) in words.iter().enumerate() {
        if is_capital(word) {
            spans.extend(from(index).filter(|span| span.is_name));
        }
    }
    spans
}

/// Returns the area with this name, if it is a boundary or a settlement.
fn named(engine: &Engine, lookup: &AreaLookup<'_>, text: &str) -> Option<QuestionPlace> {
    let element = *lookup.find(text)?.element.value()?;
    let hit = Hit::of(engine.osm(), element, &|_| None)?;
    let is_region = ["boundary", "place"].iter().any(|key| hit.details.tag(key).is_some());
    if !is_region && element.kind != ElementType::Relation {
        return None;
    }
    Some(QuestionPlace {
        text: text.to_owned(),
        name: hit.details.tag("name").unwrap_or(text).to_owned(),
        admin_level: hit.details.tag("admin_level").map(str::to_owned),
    })
}

/// Returns the settlement or region that the geocoder finds for a name, if its own name leads to its area.
fn geocoded(engine: &Engine, lookup: &AreaLookup<'_>, text: &str, limits: &Limits) -> Option<QuestionPlace> {
    let answer = agents::find("geocode")?.call(engine, json!({"name": text, "limit": 0}), limits).ok()?;
    let category = answer["category"].as_str()?;
    let is_region = ["boundary=", "place="].iter().any(|key| category.starts_with(key));
    if !is_region {
        return None;
    }
    named(engine, lookup, answer["name"].as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str, name: &str, admin_level: Option<&str>) -> QuestionPlace {
        QuestionPlace { text: text.to_owned(), name: name.to_owned(), admin_level: admin_level.map(str::to_owned) }
    }

    #[test]
    fn places_of_a_query_are_replaced() {
        let malta = [place("Malta", "Malta", Some("2"))];
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
            (&malta, r#"area["ISO3166-1"="SE"][admin_level=2]->.b;"#, r#"area["name"="Malta"]->.b;"#),
            (
                &malta,
                r#"area["name"="Bonn"]["de:regionalschluessel"="05314"]["boundary"="administrative"]->.b;"#,
                r#"area["name"="Malta"]["boundary"="administrative"]->.b;"#,
            ),
            // The query has more places than the question.
            (
                &malta,
                "{{geocodeArea:A}}->.a;{{geocodeArea:B}}->.b;{{geocodeArea:A}}->.c;",
                "{{geocodeArea:Malta}}->.a;{{geocodeArea:B}}->.b;{{geocodeArea:Malta}}->.c;",
            ),
        ] {
            assert_eq!(replaced(query, places), moved);
        }
        for query in [
            r#"node["amenity"="cafe"]({{bbox}});out;"#,
            r#"area["postal_code"="53111"]->.a;node(area.a)["name"="Bonn"];out;"#,
            "node(around:100,50.7,7.1);out;",
            r#"area["name"~"^Bo"]->.a;"#,
        ] {
            assert_eq!(replaced(query, &malta), query);
        }
        assert_eq!(replaced("{{geocodeArea:Bonn}}->.a;", &[]), "{{geocodeArea:Bonn}}->.a;");
    }

    #[test]
    fn places_are_looked_for_after_prepositions_and_among_names() {
        let first = |question: &str| spans(question).into_iter().map(|span| span.text).collect::<Vec<_>>();
        assert!(first("Bars in the Netherlands with wifi").contains(&"Netherlands".to_owned()));
        assert_eq!(
            first("Places in Digne-les-Bains,France?"),
            ["Digne-les-Bains", "Places", "Digne-les-Bains", "France"]
        );
        assert!(first("cafes in malta that have wifi").contains(&"malta".to_owned()));
        assert!(
            first("Roads in the Democratic Republic of the Congo")
                .contains(&"Democratic Republic of the Congo".to_owned())
        );
        assert!(first("").is_empty() && first("in").is_empty());
    }
}
