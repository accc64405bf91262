//! What the data has of what a question mentions, found by the same tools that agents have.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Failure, Mentions};
use crate::agents::{self, World};
use crate::budget::Limits;

/// Tags that are told of a thing, entities of a name, other places of a name.
const TAGS: usize = 6;
const ENTITIES: usize = 5;
const PLACES: usize = 2;

/// Looks all of it up; a line for each that was found, or for what was not.
pub fn found(world: World<'_>, mentions: &Mentions, limits: &Limits) -> Result<String, Failure> {
    let search = Searching { world, limits };
    let mut out = String::new();
    for thing in &mentions.things {
        search.tags(thing, &mut out)?;
    }
    for place in &mentions.places {
        search.place(place, &mut out)?;
    }
    if world.triples.is_some() {
        let kinds = [
            ("item", &mentions.places),
            ("item", &mentions.names),
            ("item", &mentions.things),
            ("property", &mentions.properties),
        ];
        for (kind, names) in kinds {
            for name in names {
                search.entities(kind, name, &mut out)?;
            }
        }
    }
    // A name that is mentioned twice is told once.
    let mut lines: Vec<&str> = Vec::new();
    for line in out.lines() {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines.join("\n"))
}

struct Searching<'a> {
    world: World<'a>,
    limits: &'a Limits,
}

impl Searching<'_> {
    /// What a tool gives; nothing where it finds nothing.
    fn call(&self, tool: &str, arguments: Value) -> Result<Option<Value>, Failure> {
        let Some(tool) = agents::find(tool) else { return Ok(None) };
        match tool.call(self.world, arguments, self.limits) {
            Ok(given) => Ok(Some(given)),
            Err(trouble) if trouble.is_fault => Err(Failure::Fault(trouble.message)),
            Err(trouble) => trouble.exceeded.map_or(Ok(None), |exceeded| Err(exceeded.into())),
        }
    }

    fn tags(&self, thing: &str, out: &mut String) -> Result<(), Failure> {
        let given = self.call("search_tags", json!({"text": thing, "limit": TAGS}))?.unwrap_or_default();
        let tags = given["tags"].as_array().map_or(&[][..], Vec::as_slice);
        for tag in tags {
            let (key, value) = (text(tag, "key"), text(tag, "value"));
            let _ = write!(out, "tag \"{key}\"=\"{value}\": {} elements", tag["count"]);
            if !text(tag, "description").is_empty() {
                let _ = write!(out, "; {}", text(tag, "description"));
            }
            out.push('\n');
        }
        if tags.is_empty() && !self.is_only_triples() {
            let _ = writeln!(out, "no tag of OpenStreetMap here has the words {thing:?}");
        }
        Ok(())
    }

    fn place(&self, name: &str, out: &mut String) -> Result<(), Failure> {
        let Some(given) = self.call("geocode", json!({"name": name, "limit": PLACES}))? else {
            if !self.is_only_triples() {
                let _ = writeln!(out, "no place of OpenStreetMap here is called {name:?}");
            }
            return Ok(());
        };
        let others = given["others"].as_array().cloned().unwrap_or_default();
        for place in std::iter::once(&given).chain(&others) {
            let (kind, id) = (text(place, "osm_type"), &place["osm_id"]);
            let _ = write!(out, "place {:?}: {kind}({id}), {}", text(place, "display_name"), text(place, "category"));
            match place["area_id"].as_i64() {
                Some(area) => drop(write!(out, ", area({area})")),
                None => drop(write!(out, ", at {},{}", text(&place["center"], 0), text(&place["center"], 1))),
            }
            out.push('\n');
        }
        Ok(())
    }

    fn entities(&self, kind: &str, name: &str, out: &mut String) -> Result<(), Failure> {
        let given = self.call("search_entities", json!({"text": name, "kind": kind}))?.unwrap_or_default();
        let prefix = if kind == "property" { "wdt" } else { "wd" };
        for entity in given["entities"].as_array().into_iter().flatten().take(ENTITIES) {
            let _ = write!(out, "{kind} {prefix}:{}", text(entity, "id"));
            for said in [text(entity, "label"), text(entity, "description")].iter().filter(|said| !said.is_empty()) {
                let _ = write!(out, ", {said}");
            }
            let _ = writeln!(out, " ({} uses)", entity["uses"]);
        }
        Ok(())
    }

    fn is_only_triples(&self) -> bool {
        self.world.manifest.counts.nodes == 0
    }
}

fn text<I: serde_json::value::Index>(value: &Value, name: I) -> &str {
    value[name].as_str().unwrap_or_default()
}
