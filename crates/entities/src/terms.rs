//! Labels, descriptions and aliases of an entity.

use std::collections::BTreeMap;

use oxrdf::{NamedNodeRef, Term};
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Store};

const LABEL: &str = "http://www.w3.org/2000/01/rdf-schema#label";
const LEMMA: &str = "http://wikiba.se/ontology#lemma";
const ALIAS: &str = "http://www.w3.org/2004/02/skos/core#altLabel";
const DESCRIPTION: &str = "http://schema.org/description";

/// A text in a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageText {
    /// The language code, in lower case.
    pub language: String,
    /// The text.
    pub value: String,
}

/// Labels, descriptions and aliases of an entity, by language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Labels, or the lemmas of a lexeme.
    pub labels: BTreeMap<String, String>,
    /// Descriptions.
    pub descriptions: BTreeMap<String, String>,
    /// Aliases.
    pub aliases: BTreeMap<String, Vec<String>>,
}

impl Terms {
    /// Reads the terms of an entity.
    pub fn of(store: &Store, id: EntityId) -> Terms {
        let aliases = texts(store, id, ALIAS).into_iter().fold(BTreeMap::new(), |mut all, text| {
            all.entry(text.language).or_insert_with(Vec::new).push(text.value);
            all
        });
        Terms {
            labels: by_language(store, id, label_of(id.kind)),
            descriptions: by_language(store, id, DESCRIPTION),
            aliases,
        }
    }
}

fn label_of(kind: EntityKind) -> &'static str {
    if kind == EntityKind::Lexeme { LEMMA } else { LABEL }
}

/// Returns the labels of an entity by language; if a language has two, the first.
pub fn labels_of(store: &Store, id: EntityId) -> BTreeMap<String, String> {
    by_language(store, id, label_of(id.kind))
}

fn by_language(store: &Store, id: EntityId, predicate: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for text in texts(store, id, predicate) {
        all.entry(text.language).or_insert(text.value);
    }
    all
}

fn texts(store: &Store, id: EntityId, predicate: &str) -> Vec<LanguageText> {
    let (Some(subject), Some(predicate)) = (id.term(store), store.id(NamedNodeRef::new_unchecked(predicate).into()))
    else {
        return Vec::new();
    };
    let texts = store.triples(Some(subject), Some(predicate), None).filter_map(|[_, _, object]| {
        budget::checkpoints(1);
        match store.term(object)? {
            Term::Literal(text) => Some(LanguageText {
                language: text.language().unwrap_or_default().to_ascii_lowercase(),
                value: text.value().to_owned(),
            }),
            _ => None,
        }
    });
    texts.collect()
}

fn first_of(mut all: BTreeMap<String, String>, languages: &[String]) -> Option<LanguageText> {
    let (language, value) = languages.iter().find_map(|language| all.remove_entry(language))?;
    Some(LanguageText { language, value })
}

/// Returns the label of an entity in the first of `languages` that has one.
pub fn label(store: &Store, id: EntityId, languages: &[String]) -> Option<LanguageText> {
    first_of(labels_of(store, id), languages)
}

/// Returns the description of an entity in the first of `languages` that has one.
pub fn description(store: &Store, id: EntityId, languages: &[String]) -> Option<LanguageText> {
    first_of(by_language(store, id, DESCRIPTION), languages)
}
