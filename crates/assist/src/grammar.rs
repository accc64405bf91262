//! Names of a snapshot for a grammar of OverpassQL: frequent tags, or those for a question, and areas.

use std::io::Write;

use terrapin_engine::Engine;
use terrapin_overpass::syntax::grammar::GrammarNames;
use terrapin_overpass::{Limits, OverpassFailure, parse, run};
use terrapin_tags::{KeySorting, KeysWanted, RowPage, ValueSorting, ValuesWanted, Which};

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

/// Returns the names of a snapshot: with a question, the tags that match its words; otherwise the most frequent keys
/// with their values. Areas are in the order of their ids.
///
/// # Errors
/// Returns an error if the areas cannot be listed.
pub fn names(engine: &Engine, question: Option<&str>, limits: GrammarLimits) -> Result<GrammarNames, OverpassFailure> {
    let tags = match question {
        Some(question) => of_question(engine, question, limits),
        None => frequent(engine, limits),
    };
    Ok(GrammarNames { tags, areas: areas(engine, limits.areas)? })
}

fn of_question(engine: &Engine, question: &str, limits: GrammarLimits) -> Vec<(String, Vec<String>)> {
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

fn frequent(engine: &Engine, limits: GrammarLimits) -> Vec<(String, Vec<String>)> {
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

/// Returns the names of areas, without those that a shortcut cannot contain.
fn areas(engine: &Engine, most: usize) -> Result<Vec<String>, OverpassFailure> {
    let script = parse("[out:csv(name;false)];area[name];out;")?;
    let mut lines = Vec::new();
    run(engine.osm(), &script, &Limits::default(), &mut lines as &mut dyn Write)?;
    let mut names: Vec<String> = Vec::new();
    for name in String::from_utf8_lossy(&lines).lines() {
        let fits = !name.is_empty() && !name.contains(['{', '}', '"', '\\']);
        if fits && !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
        if names.len() == most {
            break;
        }
    }
    Ok(names)
}
