//! Statements of an entity, read from their nodes.

use std::collections::BTreeMap;

use oxrdf::{NamedNodeRef, Term};
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_triples::{Store, TermId};

use super::hash::reference_hash;
use super::snak::{EntitySnak, SnakValue};
use super::value::EntityValue;

const PROP: &str = "http://www.wikidata.org/prop/";
const STATEMENT: &str = "http://www.wikidata.org/entity/statement/";
const REFERENCE: &str = "http://www.wikidata.org/reference/";
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const RANK: &str = "http://wikiba.se/ontology#rank";
const SOURCE: &str = "http://www.w3.org/ns/prov#wasDerivedFrom";

/// The rank of a statement among those of its property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Rank {
    Preferred,
    Normal,
    Deprecated,
}

impl Rank {
    /// Returns the name of the rank in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Rank::Preferred => "preferred",
            Rank::Normal => "normal",
            Rank::Deprecated => "deprecated",
        }
    }
}

/// A source of a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementReference {
    /// The hash of its snaks: the end of its IRI in Wikidata's RDF, computed for references with other names.
    pub hash: String,
    /// Its snaks, by the number of their property.
    pub snaks: Vec<EntitySnak>,
}

/// A statement with its qualifiers and references.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityStatement {
    /// Its identifier, such as `Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9`. If the data has direct values alone, it is
    /// computed from the value.
    pub id: String,
    /// Its rank. Default: normal.
    pub rank: Rank,
    /// Its main snak.
    pub main: EntitySnak,
    /// Its qualifiers, by the number of their property.
    pub qualifiers: Vec<EntitySnak>,
    /// Its references.
    pub references: Vec<StatementReference>,
}

/// Statements by the number of their property.
pub(super) type Statements = BTreeMap<u64, Vec<EntityStatement>>;

/// Returns the statements of an entity, a form or a sense with the identifier `id`.
pub(super) fn statements(store: &Store, subject: TermId, id: &str) -> Statements {
    let mut all = Statements::new();
    let mut direct: BTreeMap<u64, Vec<EntityStatement>> = BTreeMap::new();
    for [_, predicate, object] in store.triples(Some(subject), None, None) {
        budget::checkpoints(2);
        let Some(Term::NamedNode(predicate)) = store.term(predicate) else { continue };
        let Some((path, property)) = property(predicate.as_str()) else { continue };
        match path {
            "" => all.entry(property).or_default().extend(statement(store, object, id, property)),
            "direct/" => {
                let main = EntitySnak { property, value: simple(store, object) };
                let said = store.term(object).map(|object| object.to_string()).unwrap_or_default();
                let id = made(id, property, &said);
                let said =
                    EntityStatement { id, rank: Rank::Normal, main, qualifiers: Vec::new(), references: Vec::new() };
                direct.entry(property).or_default().push(said);
            }
            _ => {}
        }
    }
    for (property, values) in direct {
        let known = all.entry(property).or_default();
        if known.is_empty() {
            *known = values;
        }
    }
    all.retain(|_, statements| !statements.is_empty());
    all.values_mut().for_each(|statements| statements.sort_by_key(|statement| statement.rank));
    all
}

/// Returns the known values of one property of an item, from its statements of the best rank; `predicate` leads to
/// them.
pub(super) fn best_values(store: &Store, item: TermId, predicate: TermId, number: u64) -> Vec<EntityValue> {
    let nodes = store.triples(Some(item), Some(predicate), None);
    let mut said: Vec<(Rank, Vec<SnakValue>)> = nodes.map(|[_, _, node]| main_value(store, node, number)).collect();
    said.retain(|(rank, _)| *rank != Rank::Deprecated);
    let best = said.iter().map(|(rank, _)| *rank).min();
    said.retain(|(rank, _)| Some(*rank) == best);
    let value = |value| match value {
        SnakValue::Value(value) => Some(value),
        SnakValue::Some | SnakValue::None => None,
    };
    said.into_iter().flat_map(|(_, values)| values).filter_map(value).collect()
}

/// Returns the rank and the main values of a statement.
fn main_value(store: &Store, node: TermId, number: u64) -> (Rank, Vec<SnakValue>) {
    let (mut rank, mut values) = (Rank::Normal, PropertyValues::default());
    for [_, predicate, object] in store.triples(Some(node), None, None) {
        budget::checkpoints(2);
        let Some(Term::NamedNode(predicate)) = store.term(predicate) else { continue };
        match (predicate.as_str(), property(predicate.as_str())) {
            (RANK, _) => rank = rank_of(store, object).unwrap_or(rank),
            (_, Some(("statement/", found))) if found == number => values.simple.push(object),
            (_, Some(("statement/value/", found))) if found == number => values.full.push(object),
            _ => {}
        }
    }
    (rank, values.finish(store))
}

/// Returns the path of a property's IRI behind `/prop/`, and the property's number.
fn property(iri: &str) -> Option<(&str, u64)> {
    let rest = iri.strip_prefix(PROP)?;
    let (path, id) = rest.rsplit_once('P')?;
    Some((path, id.parse().ok()?))
}

fn simple(store: &Store, object: TermId) -> SnakValue {
    store.term(object).as_ref().and_then(EntityValue::simple).map_or(SnakValue::Some, SnakValue::Value)
}

fn statement(store: &Store, node: TermId, id: &str, number: u64) -> Option<EntityStatement> {
    let Term::NamedNode(name) = store.term(node)? else { return None };
    let (mut rank, mut references) = (Rank::Normal, Vec::new());
    let mut parts = StatementParts::default();
    for [_, predicate, object] in store.triples(Some(node), None, None) {
        budget::checkpoints(2);
        let Some(Term::NamedNode(predicate)) = store.term(predicate) else { continue };
        match predicate.as_str() {
            RANK => rank = rank_of(store, object).unwrap_or(rank),
            SOURCE => references.extend(reference(store, object)),
            other => parts.add(store, other, object, "statement/", "qualifier/"),
        }
    }
    let none = parts.none.contains(&number);
    let main = parts.mains.remove(&number).map(|values| values.finish(store)).unwrap_or_default();
    let value = match main.into_iter().next() {
        Some(value) => value,
        None if none => SnakValue::None,
        None => SnakValue::Some,
    };
    // RDF marks both a main snak and a qualifier without a value by a class of the statement.
    let nones = parts.none.into_iter().filter(|property| *property != number || value != SnakValue::None);
    let nones: Vec<EntitySnak> = nones.map(|property| EntitySnak { property, value: SnakValue::None }).collect();
    let mut qualifiers = snaks(store, parts.others);
    qualifiers.extend(nones);
    qualifiers.sort_by_key(|snak| snak.property);
    let id = match name.as_str().strip_prefix(STATEMENT) {
        Some(local) => with_dollar(local, id),
        None => made(id, number, name.as_str()),
    };
    Some(EntityStatement { id, rank, main: EntitySnak { property: number, value }, qualifiers, references })
}

/// Returns an identifier for a statement without a name. Clients take a statement without one for unsaved.
fn made(id: &str, property: u64, said: &str) -> String {
    let digits = blake3::hash(format!("{id} P{property} {said}").as_bytes()).to_hex();
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{id}${}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// Returns `Q42$F078...` for `Q42-F078...`.
fn with_dollar(local: &str, id: &str) -> String {
    match (local.get(..id.len()), local.get(id.len()..).and_then(|rest| rest.strip_prefix('-'))) {
        (Some(start), Some(rest)) if start.eq_ignore_ascii_case(id) => format!("{start}${rest}"),
        _ => local.replacen('-', "$", 1),
    }
}

fn rank_of(store: &Store, term: TermId) -> Option<Rank> {
    let Term::NamedNode(node) = store.term(term)? else { return None };
    let ranks =
        [("PreferredRank", Rank::Preferred), ("NormalRank", Rank::Normal), ("DeprecatedRank", Rank::Deprecated)];
    ranks.into_iter().find(|(name, _)| node.as_str().ends_with(name)).map(|(_, rank)| rank)
}

fn reference(store: &Store, node: TermId) -> Option<StatementReference> {
    let mut parts = StatementParts::default();
    for [_, predicate, object] in store.triples(Some(node), None, None) {
        budget::checkpoints(2);
        let Some(Term::NamedNode(predicate)) = store.term(predicate) else { continue };
        parts.add(store, predicate.as_str(), object, "", "reference/");
    }
    let mut snaks = snaks(store, parts.others);
    snaks.extend(parts.none.into_iter().map(|property| EntitySnak { property, value: SnakValue::None }));
    snaks.sort_by_key(|snak| snak.property);
    let own = match store.term(node)? {
        Term::NamedNode(name) => name.as_str().strip_prefix(REFERENCE).map(str::to_owned),
        _ => None,
    };
    let hash = own.or_else(|| reference_hash(&snaks))?;
    Some(StatementReference { hash, snaks })
}

/// The values of a property: as terms, and as nodes of full values.
#[derive(Default)]
struct PropertyValues {
    simple: Vec<TermId>,
    full: Vec<TermId>,
}

impl PropertyValues {
    /// Returns the full values if there are any, else the terms. Terms for unknown values have no full value and are
    /// kept.
    fn finish(self, store: &Store) -> Vec<SnakValue> {
        let full: Vec<SnakValue> =
            self.full.into_iter().filter_map(|node| EntityValue::full(store, node)).map(SnakValue::Value).collect();
        let simple = self.simple.into_iter().map(|term| simple(store, term));
        let simple: Vec<SnakValue> = simple.filter(|value| full.is_empty() || *value == SnakValue::Some).collect();
        full.into_iter().chain(simple).collect()
    }
}

/// The parts of a statement or a reference.
#[derive(Default)]
struct StatementParts {
    mains: FxHashMap<u64, PropertyValues>,
    others: BTreeMap<u64, PropertyValues>,
    /// Properties without a value.
    none: Vec<u64>,
}

impl StatementParts {
    fn add(&mut self, store: &Store, predicate: &str, object: TermId, main: &str, other: &str) {
        if predicate == RDF_TYPE {
            if let Some(Term::NamedNode(class)) = store.term(object)
                && let Some(("novalue/", number)) = property(class.as_str())
            {
                self.none.push(number);
            }
            return;
        }
        let Some((path, number)) = property(predicate) else { return };
        let (values, rest) = if let Some(rest) = path.strip_prefix(other) {
            (self.others.entry(number).or_default(), rest)
        } else if let Some(rest) = path.strip_prefix(main).filter(|_| !main.is_empty()) {
            (self.mains.entry(number).or_default(), rest)
        } else {
            return;
        };
        match rest {
            "" => values.simple.push(object),
            "value/" => values.full.push(object),
            // Normalized values.
            _ => {}
        }
    }
}

fn snaks(store: &Store, values: BTreeMap<u64, PropertyValues>) -> Vec<EntitySnak> {
    let of = |(property, values): (u64, PropertyValues)| {
        values.finish(store).into_iter().map(move |value| EntitySnak { property, value }).collect::<Vec<EntitySnak>>()
    };
    values.into_iter().flat_map(of).collect()
}

/// Returns the type of a property's values by its name in JSON, if the triples have it.
pub(super) fn datatype(store: &Store, property: u64) -> Option<&'static str> {
    const TYPES: &[(&str, &str)] = &[
        ("CommonsMedia", "commonsMedia"),
        ("EntitySchema", "entity-schema"),
        ("ExternalId", "external-id"),
        ("GeoShape", "geo-shape"),
        ("GlobeCoordinate", "globe-coordinate"),
        ("Math", "math"),
        ("Monolingualtext", "monolingualtext"),
        ("MusicalNotation", "musical-notation"),
        ("Quantity", "quantity"),
        ("String", "string"),
        ("TabularData", "tabular-data"),
        ("Time", "time"),
        ("Url", "url"),
        ("WikibaseForm", "wikibase-form"),
        ("WikibaseItem", "wikibase-item"),
        ("WikibaseLexeme", "wikibase-lexeme"),
        ("WikibaseProperty", "wikibase-property"),
        ("WikibaseSense", "wikibase-sense"),
    ];
    let named = |iri: &str| store.id(NamedNodeRef::new_unchecked(iri).into());
    let subject = named(&format!("http://www.wikidata.org/entity/P{property}"))?;
    let said = named("http://wikiba.se/ontology#propertyType")?;
    let [_, _, object] = store.triples(Some(subject), Some(said), None).next()?;
    let Term::NamedNode(found) = store.term(object)? else { return None };
    let local = found.as_str().rsplit('#').next()?;
    TYPES.iter().find(|(rdf, _)| *rdf == local).map(|(_, json)| *json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_of_statements() {
        assert_eq!(with_dollar("q42-D8404CDA-25E4", "Q42"), "q42$D8404CDA-25E4");
        assert_eq!(with_dollar("L42-F1-06e1-42ee", "L42-F1"), "L42-F1$06e1-42ee");
        assert_eq!(with_dollar("Q1-br-P17-0", "Q2"), "Q1$br-P17-0");
        assert_eq!(property("http://www.wikidata.org/prop/statement/value/P31"), Some(("statement/value/", 31)));
        assert_eq!(property("http://www.wikidata.org/prop/P31"), Some(("", 31)));
        assert_eq!(property("http://example.org/P31"), None);
    }
}
