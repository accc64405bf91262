//! What is made of entities ([`Converter`]), and the triples of one ([`Writer`]): those of statements here, as items,
//! properties, forms and senses have them all.

use super::model::{List, Map, Rank, Snak, SnakType, Statement};
use super::value::{self, Node, Normalized, hash, is_id};
use super::vocabulary as v;
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term, Triple};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Which of the two forms of Wikidata's RDF is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// That of the dumps and of `Special:EntityData`.
    Dump,
    /// What the Wikidata Query Service has of it: one name a label, no types that every item, statement, reference or
    /// value has, facts about the data at the entity, IRIs for unknown values.
    Service,
}

/// What is made of entities.
#[derive(Clone, Debug)]
pub struct Converter {
    /// The form.
    pub shape: Shape,
    /// Codes of the languages whose labels, descriptions and aliases are kept, or `None` for all.
    pub languages: Option<BTreeSet<String>>,
    /// Ids of the properties whose statements are kept, or `None` for all. Qualifiers and references are kept with
    /// their statements.
    pub properties: Option<BTreeSet<String>>,
    /// Codes of the languages whose sites' pages are kept, or `None` for all.
    pub sites: Option<BTreeSet<String>>,
    /// For properties with external identifiers: what makes IRIs of them (their statement P1921), `$1` standing for the
    /// identifier. Without it an identifier has no normalised value.
    pub formatters: BTreeMap<String, String>,
}

impl Converter {
    /// All that entities say.
    pub fn new(shape: Shape) -> Self {
        Self { shape, languages: None, properties: None, sites: None, formatters: BTreeMap::new() }
    }
}

/// Where a snak stands, and so which predicates it gets: for a term, a full and a normalised value.
#[derive(Clone, Copy)]
struct Role(&'static str, Option<&'static str>, &'static str);

const DIRECT: Role = Role(v::WDT, None, v::WDTN);
const MAIN: Role = Role(v::PS, Some(v::PSV), v::PSN);
const QUALIFIER: Role = Role(v::PQ, Some(v::PQV), v::PQN);
const REFERENCE: Role = Role(v::PR, Some(v::PRV), v::PRN);

/// Writes what one entity says.
pub(super) struct Writer<'a> {
    pub(super) converter: &'a Converter,
    pub(super) into: &'a mut Vec<Triple>,
    /// Nodes of values, references and sites that have been written for this entity.
    pub(super) written: HashSet<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(converter: &'a Converter, into: &'a mut Vec<Triple>) -> Self {
        Self { converter, into, written: HashSet::new() }
    }

    pub(super) fn is_dump(&self) -> bool {
        self.converter.shape == Shape::Dump
    }

    pub(super) fn add(&mut self, subject: &NamedNode, predicate: NamedNode, object: impl Into<Term>) {
        self.into.push(Triple::new(subject.clone(), predicate, object));
    }

    /// A type that only the dump has.
    pub(super) fn class(&mut self, subject: &NamedNode, class: &str) {
        if self.is_dump() {
            self.add(subject, rdf::TYPE.into_owned(), v::name(v::WIKIBASE, class));
        }
    }

    /// A node without a name, which stands for what is at a place that `key` names.
    pub(super) fn unnamed(&self, key: &str) -> NamedOrBlankNode {
        match self.converter.shape {
            Shape::Dump => BlankNode::new_unchecked(hash(key)).into(),
            Shape::Service => v::name(v::GENID, &hash(key)).into(),
        }
    }

    pub(super) fn statements(
        &mut self,
        subject: &NamedNode,
        claims: &Map<'_, List<Statement<'_>>>,
    ) -> Result<(), String> {
        for (property, statements) in claims.iter() {
            if self.converter.properties.as_ref().is_some_and(|wanted| !wanted.contains(&**property)) {
                continue;
            }
            let preferred = statements.iter().any(|statement| statement.rank == Rank::Preferred);
            let best = if preferred { Rank::Preferred } else { Rank::Normal };
            for statement in statements.iter() {
                self.statement(subject, statement, statement.rank == best)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, subject: &NamedNode, statement: &Statement<'_>, best: bool) -> Result<(), String> {
        let guid = &*statement.id;
        if !guid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'$' || byte == b'-') || guid.is_empty() {
            return Err(format!("{:?} is not the id of a statement", cut(guid)));
        }
        let main = &statement.mainsnak;
        property(main)?;
        let node = v::name(v::STATEMENT, &guid.replacen('$', "-", 1));
        self.add(subject, v::name(v::P, &main.property), node.clone());
        self.class(&node, "Statement");
        if best {
            self.snak(subject, main, DIRECT, guid)?;
            self.add(&node, rdf::TYPE.into_owned(), v::name(v::WIKIBASE, "BestRank"));
        }
        let rank = match statement.rank {
            Rank::Preferred => "PreferredRank",
            Rank::Normal => "NormalRank",
            Rank::Deprecated => "DeprecatedRank",
        };
        self.add(&node, v::name(v::WIKIBASE, "rank"), v::name(v::WIKIBASE, rank));
        self.snak(&node, main, MAIN, guid)?;
        let qualifiers = statement.qualifiers.iter().flat_map(|(_, snaks)| snaks.iter());
        for (place, snak) in qualifiers.enumerate() {
            self.snak(&node, snak, QUALIFIER, &format!("{guid} {place}"))?;
        }
        for reference in statement.references.iter() {
            let digits = &*reference.hash;
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(format!("{:?} is not the hash of a reference", cut(digits)));
            }
            let source = v::name(v::REFERENCE, digits);
            self.add(&node, NamedNode::new_unchecked(v::WAS_DERIVED_FROM), source.clone());
            if !self.written.insert(source.as_str().to_owned()) {
                continue;
            }
            self.class(&source, "Reference");
            for (place, snak) in reference.snaks.iter().flat_map(|(_, snaks)| snaks.iter()).enumerate() {
                self.snak(&source, snak, REFERENCE, &format!("{digits} {place}"))?;
            }
        }
        Ok(())
    }

    /// What a snak says. `key` names its place, for a value that is not known.
    fn snak(&mut self, subject: &NamedNode, snak: &Snak<'_>, role: Role, key: &str) -> Result<(), String> {
        property(snak)?;
        let property = &*snak.property;
        let Role(simple, full, normal) = role;
        match snak.snaktype {
            SnakType::NoValue => self.add(subject, rdf::TYPE.into_owned(), v::name(v::WDNO, property)),
            SnakType::SomeValue => {
                let node = self.unnamed(&format!("{simple}{property} {key}"));
                self.add(subject, v::name(simple, property), node);
            }
            SnakType::Value => {
                let formatter = self.converter.formatters.get(property).map(String::as_str);
                let Some(value) = value::value(snak, formatter) else { return Ok(()) };
                self.add(subject, v::name(simple, property), value.simple);
                if let (Some(full), Some(node)) = (full, value.full) {
                    self.add(subject, v::name(full, property), node.iri.clone());
                    self.node(node);
                }
                match value.normalized {
                    Some(Normalized::Iri(iri)) => self.add(subject, v::name(normal, property), iri),
                    Some(Normalized::Quantity(node)) if full.is_some() => {
                        self.add(subject, v::name(normal, property), node.iri.clone());
                        self.node(node);
                    }
                    // Direct claims have quantities as they stand only.
                    Some(Normalized::Quantity(_)) | None => {}
                }
            }
        }
        Ok(())
    }

    /// A full value.
    fn node(&mut self, node: Node) {
        if self.written.insert(node.iri.as_str().to_owned()) {
            self.class(&node.iri, node.class);
            for (name, term) in node.facts {
                self.add(&node.iri, v::name(v::WIKIBASE, name), term);
            }
        }
    }
}

/// The IRI of an entity, form or sense.
pub(super) fn id(id: &str) -> Result<NamedNode, String> {
    if is_id(id) { Ok(v::name(v::WD, id)) } else { Err(format!("{:?} is not the id of an entity", cut(id))) }
}

fn property(snak: &Snak<'_>) -> Result<(), String> {
    let id = &*snak.property;
    if is_id(id) && id.starts_with('P') { Ok(()) } else { Err(format!("{:?} is not the id of a property", cut(id))) }
}

/// The beginning of a text that may be long.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
