//! Grammars of queries with the names of a snapshot: frequent tags, or those for a question; areas; items and properties.

use std::collections::HashSet;
use std::io::Write;

use terrapin_engine::Engine;
use terrapin_entities::{EntityKind, EntityQuery, Languages, find};
use terrapin_eval::language::QueryLanguage;
use terrapin_grammar::DecodingGrammar;
use terrapin_overpass::syntax::grammar::{GrammarNames, overpass_grammar};
use terrapin_overpass::{Limits, OverpassFailure, parse, run};
use terrapin_sparql::syntax::grammar::{SparqlNames, sparql_grammar};
use terrapin_tags::{KeySorting, KeysWanted, RowPage, ValueSorting, ValuesWanted, Which};
use terrapin_triples::Store;

/// Maximum number of entities for each group of words in a question.
const ENTITIES: usize = 5;
/// Maximum number of words in such a group.
const GROUP: usize = 4;
/// Maximum number of words of a question that are looked up.
const WORDS: usize = 60;
/// The namespace of properties with their plain values.
const DIRECT: &str = "http://www.wikidata.org/prop/direct/";

/// The source of the names in a grammar.
#[derive(Clone, Copy)]
pub enum NameSource<'a> {
    /// Any names are allowed.
    Language,
    /// The names of a snapshot: its most frequent tags, its areas, and its properties.
    Snapshot(&'a Engine),
    /// The names of a snapshot that match the words of a question: tags, areas, items and properties.
    Question(&'a Engine, &'a str),
}

/// Limits of the names.
#[derive(Debug, Clone, Copy)]
pub struct GrammarLimits {
    /// Maximum number of keys.
    pub keys: usize,
    /// Maximum number of values of a key. A key with more distinct values takes any value.
    pub values: usize,
    /// Maximum number of areas.
    pub areas: usize,
}

impl Default for GrammarLimits {
    fn default() -> Self {
        GrammarLimits { keys: 200, values: 200, areas: 500 }
    }
}

/// Returns the grammar of a language. Names of which the source has none are unrestricted. The areas are listed within
/// the limits `work`.
///
/// # Errors
/// Returns an error if the areas cannot be listed, or a limit is reached.
pub fn query_grammar(
    language: QueryLanguage,
    source: NameSource<'_>,
    limits: &GrammarLimits,
    work: &Limits,
) -> Result<DecodingGrammar, OverpassFailure> {
    Ok(match language {
        QueryLanguage::OverpassQl => overpass_grammar(&tag_names(source, limits, work)?),
        QueryLanguage::Sparql => sparql_grammar(&entity_names(source)),
    })
}

/// Returns tags and areas, in the order of the areas' ids.
fn tag_names(source: NameSource<'_>, limits: &GrammarLimits, work: &Limits) -> Result<GrammarNames, OverpassFailure> {
    Ok(match source {
        NameSource::Language => GrammarNames::default(),
        NameSource::Snapshot(engine) => {
            let areas = areas(engine, &|_| true, limits.areas, work)?;
            GrammarNames { tags: frequent(engine, limits), areas }
        }
        NameSource::Question(engine, question) => {
            let lower = question.to_lowercase();
            let is_mentioned = |area: &str| lower.contains(&area.to_lowercase());
            let areas = areas(engine, &is_mentioned, limits.areas, work)?;
            GrammarNames { tags: of_question(engine, question, limits), areas }
        }
    })
}

/// Returns items and properties: with a question, those whose names are words of it.
fn entity_names(source: NameSource<'_>) -> SparqlNames {
    match source {
        NameSource::Language => SparqlNames::default(),
        NameSource::Snapshot(engine) => {
            let properties = engine.triples().map(|triples| properties(&triples.store)).unwrap_or_default();
            SparqlNames { items: Vec::new(), properties }
        }
        NameSource::Question(engine, question) => {
            let Some(triples) = engine.triples() else { return SparqlNames::default() };
            let words: Vec<&str> = question
                .split_whitespace()
                .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
                .filter(|word| !word.is_empty())
                .take(WORDS)
                .collect();
            let of = |kind: EntityKind| entities(&triples.store, &words, kind);
            SparqlNames { items: of(EntityKind::Item), properties: of(EntityKind::Property) }
        }
    }
}

/// Returns the ids of all properties that a store uses, sorted by number.
fn properties(store: &Store) -> Vec<String> {
    let ids = store.predicates().filter_map(|predicate| match store.term(predicate)? {
        oxrdf::Term::NamedNode(node) => node.as_str().strip_prefix(DIRECT)?.strip_prefix('P')?.parse::<u64>().ok(),
        _ => None,
    });
    let mut ids: Vec<u64> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| format!("P{id}")).collect()
}

/// Returns the ids of the entities that are named by one to [`GROUP`] consecutive words.
fn entities(store: &Store, words: &[&str], kind: EntityKind) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for count in (1..=GROUP.min(words.len())).rev() {
        for group in words.windows(count) {
            let text = group.join(" ");
            // Words as short as articles name too much.
            if text.chars().count() < 3 {
                continue;
            }
            let languages = Languages::All;
            let search =
                EntityQuery { text: &text, kind, languages, limit: ENTITIES, descriptions: false, slips: false };
            for found in find(store, &search) {
                let id = found.id.to_string();
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
        }
    }
    ids
}

fn of_question(engine: &Engine, question: &str, limits: &GrammarLimits) -> Vec<(String, Vec<String>)> {
    let found = engine.tags().search(question, limits.keys);
    let mut tags: Vec<(String, Vec<String>)> = Vec::new();
    for tag in found.tags.into_iter().map(|found| found.tag) {
        match tags.iter_mut().find(|(key, _)| *key == tag.key) {
            Some((_, values)) => values.push(tag.value),
            None => tags.push((tag.key, vec![tag.value])),
        }
    }
    for key in found.keys {
        match tags.iter_mut().find(|(other, _)| *other == key.key) {
            // The key itself matches the question: any value may be meant.
            Some((_, values)) => values.clear(),
            None => tags.push((key.key, Vec::new())),
        }
    }
    // A question mostly names something by its name.
    if !tags.is_empty() && tags.iter().all(|(key, _)| key != "name") {
        tags.push(("name".to_owned(), Vec::new()));
    }
    tags
}

fn frequent(engine: &Engine, limits: &GrammarLimits) -> Vec<(String, Vec<String>)> {
    let keys = engine.tags().keys(&KeysWanted {
        query: "",
        filters: &[],
        with_unused: false,
        sorting: KeySorting::Count(Which::All),
        descending: true,
        part: RowPage { skip: 0, take: Some(limits.keys) },
    });
    let tags = keys.rows.into_iter().map(|usage| {
        if usage.values > limits.values as u64 {
            return (usage.key, Vec::new());
        }
        let values = engine.tags().values(
            &usage.key,
            &ValuesWanted {
                query: "",
                which: Which::All,
                sorting: ValueSorting::Count,
                descending: true,
                part: RowPage { skip: 0, take: Some(limits.values) },
            },
        );
        (usage.key, values.rows.into_iter().map(|value| value.value).collect())
    });
    tags.collect()
}

/// Returns the names of at most `most` wanted areas, without those that a shortcut cannot contain.
fn areas(
    engine: &Engine,
    is_wanted: &dyn Fn(&str) -> bool,
    most: usize,
    work: &Limits,
) -> Result<Vec<String>, OverpassFailure> {
    let script = parse("[out:csv(name;false)];area[name];out;")?;
    let mut lines = Vec::new();
    run(engine.osm(), &script, work, &mut lines as &mut dyn Write)?;
    Ok(distinct(&String::from_utf8_lossy(&lines), is_wanted, most))
}

/// Returns the first `most` different lines that are wanted and fit into a shortcut.
fn distinct(lines: &str, is_wanted: &dyn Fn(&str) -> bool, most: usize) -> Vec<String> {
    let mut known = HashSet::new();
    let fits = |name: &&str| !name.is_empty() && !name.contains(['{', '}', '"', '\\']);
    let names = lines.lines().filter(fits).filter(|name| is_wanted(name) && known.insert(*name));
    names.take(most).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wanted_area_is_found_after_many_others() {
        let lines: String =
            (0..10_000).map(|n| format!("Area {n}\n")).collect::<String>() + "Valletta\nValletta\nA{b\n";
        let mentioned = |name: &str| "cafes in valletta".contains(&name.to_lowercase());
        assert_eq!(distinct(&lines, &mentioned, 500), ["Valletta"]);
        assert_eq!(distinct(&lines, &|_| true, 500).len(), 500);
        assert!(distinct(&lines, &|name| name == "Bonn" || name == "A{b", 500).is_empty());
    }
}
