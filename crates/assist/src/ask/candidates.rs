//! Searches the snapshot for the mentions of a question, by the tools of agents.

use std::borrow::Cow;
use std::fmt::Write;

use serde_json::{Value, json};

use super::{AskFailure, Mentions};
use crate::agents;
use terrapin_base::untrusted;
use terrapin_base::words::words;
use terrapin_budget::Limits;
use terrapin_engine::Engine;

/// Maximum tags and keys of a thing, values of a key, entities of a name and of a thing, and other places of a name.
const TAGS: usize = 6;
const KEYS: usize = 2;
const VALUES: usize = 6;
const ENTITIES: usize = 5;
const EXAMPLES: usize = 2;
const PLACES: usize = 3;
/// A tag with this many times fewer elements than the best one is a candidate only if both occur together.
const RARE: u64 = 20;
/// Maximum characters of a description.
const LETTERS: usize = 80;

/// The candidates for a question's mentions.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// A line for each candidate, and for each mention without one.
    pub lines: String,
    /// Places that were not found in any part of the snapshot.
    pub missing: Vec<String>,
}

/// Searches for all mentions.
///
/// # Errors
/// A limit was reached, or the snapshot is damaged.
pub fn find(engine: &Engine, mentions: &Mentions, limits: &Limits) -> Result<Candidates, AskFailure> {
    let search = Searching { engine, limits };
    let (mut out, mut missing) = (String::new(), Vec::new());
    for thing in &mentions.things {
        search.tags(thing, &mut out)?;
    }
    for place in &mentions.places {
        if !search.place(place, &mut out)? {
            missing.push(place.trim().to_owned());
        }
    }
    if engine.triples().is_some() {
        let kinds = [
            ("item", &mentions.places, ENTITIES),
            ("item", &mentions.names, ENTITIES),
            ("item", &mentions.things, EXAMPLES),
            ("property", &mentions.properties, ENTITIES),
        ];
        for (kind, names, most) in kinds {
            for name in names {
                if search.entities(kind, name, most, &mut out)? && kind == "item" {
                    missing.retain(|place| place != name.trim());
                }
            }
        }
    }
    for place in &missing {
        let _ = writeln!(out, "{:?} is not in this snapshot: no place here has that name", untrusted::line(place));
    }
    // A name may be mentioned twice.
    let mut lines: Vec<&str> = Vec::new();
    for line in out.lines() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let lines = lines.join("\n");
    missing.sort_unstable();
    missing.dedup();
    Ok(Candidates { lines, missing })
}

struct Searching<'a> {
    engine: &'a Engine,
    limits: &'a Limits,
}

impl Searching<'_> {
    /// Returns the result of a tool, or `None` if it finds nothing.
    fn call(&self, tool: &str, arguments: Value) -> Result<Option<Value>, AskFailure> {
        let Some(tool) = agents::find(tool) else { return Ok(None) };
        match tool.call(self.engine, arguments, self.limits) {
            Ok(given) => Ok(Some(given)),
            Err(trouble) if trouble.is_fault => Err(AskFailure::Fault(trouble.message)),
            Err(trouble) => trouble.exceeded.map_or(Ok(None), |exceeded| Err(exceeded.into())),
        }
    }

    fn tags(&self, thing: &str, out: &mut String) -> Result<(), AskFailure> {
        let given = self.call("search_tags", json!({"text": thing, "limit": TAGS}))?.unwrap_or_default();
        let list = |name: &str| given[name].as_array().map_or(&[][..], Vec::as_slice);
        let (tags, keys) = (list("tags"), list("keys"));
        let best = tags.first().map_or(0, |tag| number(tag, "count"));
        // Matches that are much rarer than the best one are mostly notes or single signs that contain the word.
        for tag in tags.iter().filter(|tag| number(tag, "count") * RARE >= best || number(tag, "with_first") > 1) {
            let (key, value) = (text(tag, "key"), text(tag, "value"));
            let _ = writeln!(out, "tag \"{key}\"=\"{value}\": {} elements{}", tag["count"], about(tag));
        }
        let is_told = |key: &&Value| tags.iter().any(|tag| tag["key"] == key["key"]);
        for key in keys.iter().filter(|key| number(key, "count") * RARE >= best && !is_told(key)).take(KEYS) {
            let name = text(key, "key");
            let told = self.call("describe_tag", json!({"key": raw(key, "key")}))?.unwrap_or_default();
            let values = told["values"].as_array().into_iter().flatten().take(VALUES);
            let values: Vec<Cow<'_, str>> = values.map(|value| text(value, "value")).collect();
            let _ = writeln!(
                out,
                "key \"{name}\": {} elements, such as {}{}",
                key["count"],
                values.join(" | "),
                about(key)
            );
        }
        if tags.is_empty() && keys.is_empty() && !self.is_only_triples() {
            let _ = writeln!(out, "no tag of OpenStreetMap here has the words {thing:?}");
        }
        Ok(())
    }

    /// Writes the places of a name; returns whether there are any.
    fn place(&self, name: &str, out: &mut String) -> Result<bool, AskFailure> {
        let Some(given) = self.call("geocode", json!({"name": name, "limit": PLACES}))? else { return Ok(false) };
        let mut places = vec![given.clone()];
        // In another language, the name may be only on the center node; the local name leads to the area.
        if given["area_id"].is_null() && is_settlement(&given) {
            let own = self.call("geocode", json!({"name": given["display_name"], "limit": 0}))?;
            places.extend(own.filter(|own| own["name"] == given["name"] && !own["area_id"].is_null()));
        }
        let others = given["others"].as_array().into_iter().flatten();
        // Streets and shops with the name of a town are skipped.
        places.extend(others.filter(|other| !is_settlement(&given) || is_settlement(other)).cloned());
        for place in places {
            let (kind, id) = (text(&place, "osm_type"), &place["osm_id"]);
            let _ = write!(out, "place {:?}: {kind}({id}), {}", text(&place, "display_name"), text(&place, "category"));
            // On a node, `admin_level` is that of the area that it is the capital of.
            if place["admin_level"].is_string() && !place["area_id"].is_null() {
                let _ = write!(out, ", admin_level={}", text(&place, "admin_level"));
            }
            if let Some(area) = place["area_id"].as_i64() {
                let _ = write!(out, ", area({area})");
            }
            let _ = writeln!(out, ", at {},{}", text(&place["center"], 0), text(&place["center"], 1));
        }
        Ok(true)
    }

    /// Writes the entities of a name; returns whether there are any.
    fn entities(&self, kind: &str, name: &str, most: usize, out: &mut String) -> Result<bool, AskFailure> {
        let given = self.call("search_entities", json!({"text": name, "kind": kind}))?.unwrap_or_default();
        let prefix = if kind == "property" { "wdt" } else { "wd" };
        let entities = given["entities"].as_array().into_iter().flatten();
        let is_meant = |entity: &&Value| {
            let said = ["label", "matched", "description"].map(|said| raw(entity, said));
            said.iter().any(|said| has_words(said, name)) || !said[..2].iter().any(|said| begins(said, name))
        };
        let mut is_found = false;
        for entity in entities.filter(is_meant).take(most) {
            is_found = true;
            let _ = write!(out, "{kind} {prefix}:{}", text(entity, "id"));
            if !text(entity, "label").is_empty() {
                let _ = write!(out, ", {}", text(entity, "label"));
            }
            if !text(entity, "matched").is_empty() {
                let _ = write!(out, " (also {:?})", text(entity, "matched"));
            }
            let _ = write!(out, "{}", about(entity));
            let classes = entity["instance_of"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let classes: Vec<Cow<'_, str>> = classes.map(untrusted::line).collect();
            if kind == "item" && !classes.is_empty() {
                let _ = write!(out, "; wdt:P31 {}", classes.join(", "));
            }
            out.push('\n');
        }
        Ok(is_found)
    }

    fn is_only_triples(&self) -> bool {
        self.engine.manifest().counts.nodes == 0
    }
}

/// Returns a text unchanged, for comparisons and for other tools; the prompt needs [`text`].
fn raw<I: serde_json::value::Index>(value: &Value, name: I) -> &str {
    value[name].as_str().unwrap_or_default()
}

/// Returns a text for the prompt: on one line, so that a value of the data cannot forge another line.
fn text<I: serde_json::value::Index>(value: &Value, name: I) -> Cow<'_, str> {
    untrusted::line(raw(value, name).trim())
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

/// Returns the beginning of a description, if there is one.
fn about(value: &Value) -> String {
    let said = text(value, "description");
    let short: String = said.chars().take(LETTERS).collect();
    let dots = if short.len() < said.len() { "..." } else { "" };
    if said.is_empty() { String::new() } else { format!("; {short}{dots}") }
}

/// Returns whether a place is a country, a town, an island or the like.
fn is_settlement(place: &Value) -> bool {
    ["boundary=", "place="].iter().any(|key| raw(place, "category").starts_with(key))
}

/// Returns whether a text has all words of a name.
fn has_words(said: &str, name: &str) -> bool {
    let own = words(said);
    words(name).iter().all(|word| own.contains(word))
}

/// Returns whether a word of a text begins like the last word of the name: a match for text that is still being typed.
fn begins(said: &str, name: &str) -> bool {
    words(name).last().is_some_and(|last| words(said).iter().any(|word| word.starts_with(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        assert!(begins("Andros Townsend", "town") && !begins("Bern", "Bren"));
        for (said, name, has) in [
            ("Andros Townsend", "town", false),
            ("Town of Malta", "town", true),
            ("S\u{e3}o Paulo", "sao paulo", true),
            ("a chemical element with symbol H", "chemical element", true),
            ("", "x", false),
        ] {
            assert_eq!(has_words(said, name), has, "{said} {name}");
        }
    }
}
