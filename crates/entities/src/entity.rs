//! Entities, built from their triples.

use std::collections::BTreeMap;

use oxrdf::{NamedNodeRef, Term};
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Store, TermId};

use super::sites::{page, site};
use super::statement::{Statements, datatype, statements};
use super::terms::Terms;

const ENTITY: &str = "http://www.wikidata.org/entity/";
/// Prefix of the IRIs of data pages; a dump attaches the revision and the time of change to these.
const DATA: &str = "https://www.wikidata.org/wiki/Special:EntityData/";
const SAME: &str = "http://www.w3.org/2002/07/owl#sameAs";

/// A link to a page about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitySitelink {
    /// The page's title.
    pub title: String,
    /// The items of its badges.
    pub badges: Vec<String>,
    /// Its URL.
    pub url: String,
}

/// A form or a sense of a lexeme.
#[derive(Debug, Clone, PartialEq)]
pub struct PartOfLexeme {
    /// Its identifier, such as `L42-F1`.
    pub id: String,
    /// Representations or glosses, by language.
    pub texts: BTreeMap<String, String>,
    /// The items of a form's grammatical features.
    pub features: Vec<String>,
    /// Its statements.
    pub statements: Statements,
}

/// The parts that lexemes alone have.
#[derive(Debug, Clone, PartialEq)]
pub struct Lexeme {
    /// The item of its language.
    pub language: Option<String>,
    /// The item of its category.
    pub category: Option<String>,
    /// Its forms.
    pub forms: Vec<PartOfLexeme>,
    /// Its senses.
    pub senses: Vec<PartOfLexeme>,
}

/// An entity with all its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityRecord {
    /// Its identifier.
    pub id: EntityId,
    /// The time of its last change.
    pub modified: Option<String>,
    /// The revision of its last change.
    pub revision: Option<u64>,
    /// Labels, descriptions and aliases.
    pub terms: Terms,
    /// Its statements.
    pub statements: Statements,
    /// Pages about it, by site.
    pub sitelinks: BTreeMap<String, EntitySitelink>,
    /// The type of a property's values.
    pub datatype: Option<&'static str>,
    /// The parts of a lexeme.
    pub lexeme: Option<Lexeme>,
    /// The types of the properties in all statements, if the data has them.
    pub datatypes: BTreeMap<u64, &'static str>,
}

/// The result of looking up an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// An entity.
    Here,
    /// Another entity, with which it was merged.
    Redirect(EntityId),
    /// No triple of the snapshot has it as its subject.
    Missing,
}

impl EntityRecord {
    /// Looks up an identifier.
    pub fn lookup(store: &Store, id: EntityId) -> Lookup {
        let Some(term) = id.term(store) else { return Lookup::Missing };
        let other = objects(store, term, SAME).into_iter().find_map(|term| EntityId::of_term(store, term));
        match (other, store.count(Some(term), None, None)) {
            (Some(other), 1) if other != id => Lookup::Redirect(other),
            (_, 0) => Lookup::Missing,
            _ => Lookup::Here,
        }
    }

    /// Returns the type of a property's values, if the triples have it.
    pub fn datatype_of(store: &Store, id: EntityId) -> Option<&'static str> {
        if id.kind == EntityKind::Property { datatype(store, id.number) } else { None }
    }

    /// Returns the item of a page, by site and title.
    pub fn about(store: &Store, site: &str, title: &str) -> Option<EntityId> {
        let page = named(store, &page(site, title)?)?;
        objects(store, page, "http://schema.org/about").into_iter().find_map(|item| EntityId::of_term(store, item))
    }

    /// Returns the entity with an identifier, or `None` if it has no triples.
    pub fn of(store: &Store, id: EntityId) -> Option<EntityRecord> {
        let term = id.term(store).filter(|term| store.count(Some(*term), None, None) > 0)?;
        let name = id.to_string();
        let about = [Some(term), named(store, &format!("{DATA}{name}"))];
        let said = |predicate: &str| about.iter().flatten().find_map(|subject| text(store, *subject, predicate));
        let statements = statements(store, term, &name);
        let lexeme = (id.kind == EntityKind::Lexeme).then(|| lexeme(store, term));
        let mut entity = EntityRecord {
            id,
            modified: said("http://schema.org/dateModified"),
            revision: said("http://schema.org/version").and_then(|text| text.parse().ok()),
            terms: Terms::of(store, id),
            sitelinks: if id.kind == EntityKind::Item { sitelinks(store, term) } else { BTreeMap::new() },
            datatype: EntityRecord::datatype_of(store, id),
            statements,
            lexeme,
            datatypes: BTreeMap::new(),
        };
        entity.datatypes = entity
            .properties()
            .into_iter()
            .filter_map(|property| Some((property, datatype(store, property)?)))
            .collect();
        Some(entity)
    }

    /// Returns the form or sense with an identifier such as `L42-F1`.
    pub fn lexeme_part(&self, id: &str) -> Option<&PartOfLexeme> {
        let lexeme = self.lexeme.as_ref()?;
        lexeme.forms.iter().chain(&lexeme.senses).find(|part| part.id == id)
    }

    /// Returns the numbers of all properties in snaks.
    fn properties(&self) -> Vec<u64> {
        let parts = self.lexeme.iter().flat_map(|lexeme| lexeme.forms.iter().chain(&lexeme.senses));
        let all = [&self.statements].into_iter().chain(parts.map(|part| &part.statements));
        let snaks = all.flat_map(BTreeMap::values).flatten().flat_map(|statement| {
            let references = statement.references.iter().flat_map(|reference| &reference.snaks);
            [&statement.main].into_iter().chain(&statement.qualifiers).chain(references)
        });
        let mut all: Vec<u64> = snaks.map(|snak| snak.property).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn named(store: &Store, iri: &str) -> Option<TermId> {
    store.id(NamedNodeRef::new_unchecked(iri).into())
}

fn objects(store: &Store, subject: TermId, predicate: &str) -> Vec<TermId> {
    let Some(predicate) = named(store, predicate) else { return Vec::new() };
    store.triples(Some(subject), Some(predicate), None).map(|[_, _, object]| object).collect()
}

/// Returns the first literal of a predicate.
fn text(store: &Store, subject: TermId, predicate: &str) -> Option<String> {
    match store.term(*objects(store, subject, predicate).first()?)? {
        Term::Literal(literal) => Some(literal.value().to_owned()),
        _ => None,
    }
}

/// Returns the identifiers of the entities that are objects of a predicate.
fn ids(store: &Store, subject: TermId, predicate: &str) -> Vec<String> {
    let id = |term| match store.term(term)? {
        Term::NamedNode(node) => node.as_str().strip_prefix(ENTITY).map(str::to_owned),
        _ => None,
    };
    objects(store, subject, predicate).into_iter().filter_map(id).collect()
}

fn sitelinks(store: &Store, item: TermId) -> BTreeMap<String, EntitySitelink> {
    let mut all = BTreeMap::new();
    let Some(about) = named(store, "http://schema.org/about") else { return all };
    for [page, ..] in store.triples(None, Some(about), Some(item)) {
        budget::checkpoints(8);
        let Some(Term::NamedNode(url)) = store.term(page) else { continue };
        let part_of = objects(store, page, "http://schema.org/isPartOf");
        let Some(Term::NamedNode(part_of)) = part_of.first().and_then(|term| store.term(*term)) else { continue };
        let (Some(site), Some(title)) = (site(part_of.as_str()), text(store, page, "http://schema.org/name")) else {
            continue;
        };
        let badges = ids(store, page, "http://wikiba.se/ontology#badge");
        all.insert(site, EntitySitelink { title, badges, url: url.into_string() });
    }
    all
}

fn lexeme(store: &Store, term: TermId) -> Lexeme {
    let first = |predicate| ids(store, term, predicate).into_iter().next();
    let parts = |predicate, texts| {
        let mut parts: Vec<PartOfLexeme> =
            objects(store, term, predicate).into_iter().filter_map(|part| part_of_lexeme(store, part, texts)).collect();
        let number = |part: &PartOfLexeme| part.id.rsplit(['F', 'S']).next().and_then(|text| text.parse::<u64>().ok());
        parts.sort_by_key(number);
        parts
    };
    Lexeme {
        language: first("http://purl.org/dc/terms/language"),
        category: first("http://wikiba.se/ontology#lexicalCategory"),
        forms: parts(
            "http://www.w3.org/ns/lemon/ontolex#lexicalForm",
            "http://www.w3.org/ns/lemon/ontolex#representation",
        ),
        senses: parts("http://www.w3.org/ns/lemon/ontolex#sense", "http://www.w3.org/2004/02/skos/core#definition"),
    }
}

fn part_of_lexeme(store: &Store, term: TermId, texts: &str) -> Option<PartOfLexeme> {
    let Term::NamedNode(node) = store.term(term)? else { return None };
    let id = node.as_str().strip_prefix(ENTITY)?.to_owned();
    let texts = objects(store, term, texts).into_iter().filter_map(|text| match store.term(text)? {
        Term::Literal(text) => Some((text.language().unwrap_or_default().to_owned(), text.value().to_owned())),
        _ => None,
    });
    Some(PartOfLexeme {
        texts: texts.collect(),
        features: ids(store, term, "http://wikiba.se/ontology#grammaticalFeature"),
        statements: statements(store, term, &id),
        id,
    })
}
