//! The tools `search_entities` and `describe_entity`.

use oxrdf::{NamedNodeRef, Term};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::{ResultPage, short_text};
use super::{Limits, Tool, Trouble, triples};
use terrapin_budget as budget;
use terrapin_engine::Engine;
use terrapin_entities as entities;
use terrapin_entities::{EntityId, EntityKind, Languages, MatchKind as How, chain, find};
use terrapin_sparql::labelled::{IdentifierKind, label_of};
use terrapin_sparql::results::cell;
use terrapin_sparql::syntax::shorten;
use terrapin_triples::{Store, TermId};

/// Default and maximum number of facts.
const FACTS: (usize, usize) = (20, 200);
/// Default language of labels.
const LANGUAGE: &str = "en";
const ENTITY: &str = "http://www.wikidata.org/entity/";
/// The IRI prefix of properties that lead directly to a value (`wdt:`).
const DIRECT: &str = "http://www.wikidata.org/prop/direct/";
const DESCRIPTION: &str = "http://schema.org/description";
const INSTANCE_OF: &str = "http://www.wikidata.org/prop/direct/P31";

/// Finds entities by name.
pub struct SearchEntities;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntitySearchRequest {
    /// The name, or the beginning of it: "Berlin", "instance of".
    text: String,
    /// The kind of entity; default: item.
    kind: Option<EntitySort>,
    /// The language of labels; default: "en".
    language: Option<String>,
}

/// The kind of an entity.
#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum EntitySort {
    Item,
    Property,
    Lexeme,
}

/// Maximum number of entities, and of classes of each.
const FOUND: usize = 8;
const CLASSES: usize = 3;

#[derive(Serialize, JsonSchema)]
pub struct EntitySearchResult {
    /// At most eight entities, the likeliest first.
    entities: Vec<FoundEntity>,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct FoundEntity {
    /// The identifier: wd:Q64 in a query, wdt:P31 of a property.
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Its classes (wdt:P31), with labels if they have any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instance_of: Vec<String>,
    /// The name that matched, if it is not the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<String>,
    /// How often the entity occurs in the data.
    uses: u64,
}

impl Tool for SearchEntities {
    const NAME: &'static str = "search_entities";
    const TITLE: &'static str = "Search entities";
    const DESCRIPTION: &'static str = "Find the identifiers (Q64, P31) of Wikidata's items and properties in this data by their \
        labels, aliases and descriptions. Use it before you write a SPARQL query.";
    type Input = EntitySearchRequest;
    type Output = EntitySearchResult;

    fn run(engine: &Engine, input: EntitySearchRequest, _: &Limits) -> Result<EntitySearchResult, Trouble> {
        let store = &triples(engine)?.store;
        let kind = match input.kind.unwrap_or(EntitySort::Item) {
            EntitySort::Item => EntityKind::Item,
            EntitySort::Property => EntityKind::Property,
            EntitySort::Lexeme => EntityKind::Lexeme,
        };
        let shown = chain(input.language.as_deref().unwrap_or(LANGUAGE));
        let search = entities::EntityQuery {
            text: &input.text,
            kind,
            languages: Languages::These(&shown),
            limit: FOUND,
            descriptions: true,
            slips: false,
        };
        let mut found = find(store, &search);
        if found.is_empty() {
            // The name may be in another language.
            found = find(store, &entities::EntityQuery { languages: Languages::All, ..search });
            // Across all languages, names that only begin with the text are mostly not meant.
            found.retain(|found| found.found <= How::LikeAlias);
        }
        let entities = found.into_iter().map(|found| {
            let label = entities::label(store, found.id, &shown).map(|label| label.value);
            let is_name = found.found != How::Description && found.found != How::Id;
            FoundEntity {
                matched: Some(found.text).filter(|text| is_name && label.as_ref() != Some(text)),
                description: entities::description(store, found.id, &shown).map(|text| short_text(text.value)),
                instance_of: classes(store, found.id, &shown),
                label,
                uses: found.id.uses(store),
                id: found.id.to_string(),
            }
        });
        let entities: Vec<FoundEntity> = entities.collect();
        let hint = entities.is_empty().then(|| "try another name or language, or the beginning of the name".to_owned());
        Ok(EntitySearchResult { entities, hint })
    }
}

/// Returns the first classes of an entity.
fn classes(store: &Store, id: EntityId, languages: &[String]) -> Vec<String> {
    let predicate = store.id(NamedNodeRef::new_unchecked(INSTANCE_OF).into());
    let (Some(subject), Some(predicate)) = (id.term(store), predicate) else { return Vec::new() };
    let class = |[_, _, object]: [TermId; 3]| {
        let class = EntityId::of_term(store, object)?;
        let label = entities::label(store, class, languages).map(|label| format!(" ({})", label.value));
        Some(format!("wd:{class}{}", label.unwrap_or_default()))
    };
    store.triples(Some(subject), Some(predicate), None).filter_map(class).take(CLASSES).collect()
}

/// Returns the facts about an entity.
pub struct DescribeEntity;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EntityRequest {
    /// The identifier, such as Q64 or P31, or a whole IRI.
    id: String,
    /// The language of labels; default: "en".
    language: Option<String>,
    /// Maximum number of facts; default: 20, at most 200.
    limit: Option<usize>,
    /// next_cursor of the previous answer, for the next facts.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct EntityDescription {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Number of all facts.
    total: usize,
    /// The selected facts.
    facts: Vec<EntityFact>,
    /// The cursor for the next facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct EntityFact {
    /// The property, as written in a query: wdt:P31.
    property: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    property_label: Option<String>,
    /// The value: an entity (wd:Q64), a text with its language, a number, a date, a point.
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_label: Option<String>,
}

impl Tool for DescribeEntity {
    const NAME: &'static str = "describe_entity";
    const TITLE: &'static str = "Describe an entity";
    const DESCRIPTION: &'static str = "Tell label, description and facts of an entity of Wikidata in this data: its properties \
        with their values and the labels of both, as wdt:... has them in a SPARQL query.";
    type Input = EntityRequest;
    type Output = EntityDescription;

    fn run(engine: &Engine, input: EntityRequest, _: &Limits) -> Result<EntityDescription, Trouble> {
        let store = &triples(engine)?.store;
        let part = ResultPage::asked(input.limit, input.cursor.as_deref(), FACTS.0, FACTS.1)?;
        let language = input.language.as_deref().unwrap_or(LANGUAGE);
        let id = input.id.trim().trim_start_matches("wd:");
        let kind = IdentifierKind::of_id(id);
        let iri = if kind.is_some() { format!("{ENTITY}{id}") } else { id.trim_matches(['<', '>']).to_owned() };
        let subject = store.id(NamedNodeRef::new_unchecked(&iri).into());
        let subject = subject.filter(|subject| store.count(Some(*subject), None, None) > 0).ok_or_else(|| {
            Trouble::new(format!("nothing is said of {id:?} here")).hint("search_entities finds identifiers by name")
        })?;
        let mut facts = Vec::new();
        let mut total = 0;
        for [_, predicate, object] in store.triples(Some(subject), None, None) {
            budget::checkpoints(8);
            let Some(Term::NamedNode(predicate)) = store.term(predicate) else { continue };
            let property = predicate.as_str().strip_prefix(DIRECT);
            // For Wikidata's entities, only direct properties are facts: full statements, sitelinks and the labels in
            // all languages are skipped.
            if kind.is_some() && property.is_none() {
                continue;
            }
            if part.has(total)
                && let Some(object) = store.term(object)
            {
                facts.push(fact(store, language, predicate.as_str(), property, &object));
            }
            total += 1;
        }
        let label = kind.and_then(|kind| label_of(store, kind, id, language));
        let description = kind.and_then(|_| text_of(store, id, DESCRIPTION, language));
        Ok(EntityDescription { id: id.to_owned(), label, description, total, facts, next_cursor: part.next(total) })
    }
}

fn fact(store: &Store, language: &str, predicate: &str, property: Option<&str>, object: &Term) -> EntityFact {
    let label = |id: &str| label_of(store, IdentifierKind::of_id(id)?, id, language);
    let entity = match object {
        Term::NamedNode(node) => node.as_str().strip_prefix(ENTITY),
        _ => None,
    };
    EntityFact {
        property: shorten(predicate),
        property_label: property.and_then(label),
        value: short_text(cell(object)),
        value_label: entity.and_then(label),
    }
}

/// Returns the first text of a predicate of an entity in a language.
fn text_of(store: &Store, id: &str, predicate: &str, language: &str) -> Option<String> {
    let subject = store.id(NamedNodeRef::new_unchecked(&format!("{ENTITY}{id}")).into())?;
    let predicate = store.id(NamedNodeRef::new_unchecked(predicate).into())?;
    store.triples(Some(subject), Some(predicate), None).find_map(|[_, _, object]| match store.term(object)? {
        Term::Literal(literal) if literal.language() == Some(language) => Some(short_text(literal.value().to_owned())),
        _ => None,
    })
}
