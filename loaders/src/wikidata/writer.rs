//! The settings of the conversion ([`Converter`]), and the writer of one entity's triples ([`Writer`]). This module
//! writes statements, which items, properties, forms and senses have in common.

use super::model::{LenientList, Map, SnakType, WikidataRank, WikidataSnak, WikidataStatement};
use super::value::{self, Normalized, ValueNode, hash, is_id};
use super::vocabulary as v;
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term, Triple};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The two forms of Wikidata's RDF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RdfShape {
    /// The form of the dumps and of `Special:EntityData`.
    Dump,
    /// The form of the Wikidata Query Service: one predicate for a label; no types that every item, statement,
    /// reference or value has; metadata directly at the entity; IRIs for unknown values.
    Service,
}

/// The settings of the conversion to triples.
#[derive(Clone, Debug)]
pub struct Converter {
    /// The form of the RDF.
    pub shape: RdfShape,
    /// Language codes of the labels, descriptions and aliases to keep, or `None` for all.
    pub languages: Option<BTreeSet<String>>,
    /// Ids of the properties of the statements to keep, or `None` for all. Qualifiers and references are kept with
    /// their statements.
    pub properties: Option<BTreeSet<String>>,
    /// Ids of the properties of the qualifiers to keep, or `None` for all.
    pub qualifiers: Option<BTreeSet<String>>,
    /// Whether references are left out.
    pub without_references: bool,
    /// Language codes of the sites whose pages are kept, or `None` for all.
    pub sites: Option<BTreeSet<String>>,
    /// IRI patterns of properties with external identifiers (from their statement P1921), with `$1` for the identifier.
    /// Without a pattern an identifier has no normalised value.
    pub formatters: BTreeMap<String, String>,
}

impl Converter {
    /// Creates a converter that keeps everything.
    pub fn new(shape: RdfShape) -> Self {
        Self {
            shape,
            languages: None,
            properties: None,
            qualifiers: None,
            without_references: false,
            sites: None,
            formatters: BTreeMap::new(),
        }
    }
}

/// The role of a snak, as its namespaces for predicates: of simple, full and normalised values.
#[derive(Clone, Copy)]
struct SnakPredicates(&'static str, Option<&'static str>, &'static str);

const DIRECT: SnakPredicates = SnakPredicates(v::WDT, None, v::WDTN);
const MAIN: SnakPredicates = SnakPredicates(v::PS, Some(v::PSV), v::PSN);
const QUALIFIER: SnakPredicates = SnakPredicates(v::PQ, Some(v::PQV), v::PQN);
const REFERENCE: SnakPredicates = SnakPredicates(v::PR, Some(v::PRV), v::PRN);

/// Writes the triples of one entity.
pub(super) struct EntityWriter<'a> {
    pub(super) converter: &'a Converter,
    pub(super) into: &'a mut Vec<Triple>,
    /// IRIs of values, references and sites that have already been written for this entity.
    pub(super) written: HashSet<String>,
}

impl<'a> EntityWriter<'a> {
    pub(super) fn new(converter: &'a Converter, into: &'a mut Vec<Triple>) -> Self {
        Self { converter, into, written: HashSet::new() }
    }

    pub(super) fn is_dump(&self) -> bool {
        self.converter.shape == RdfShape::Dump
    }

    pub(super) fn add(&mut self, subject: &NamedNode, predicate: NamedNode, object: impl Into<Term>) {
        self.into.push(Triple::new(subject.clone(), predicate, object));
    }

    /// Writes a type that only the dump has.
    pub(super) fn class(&mut self, subject: &NamedNode, class: &str) {
        if self.is_dump() {
            self.add(subject, rdf::TYPE.into_owned(), v::name(v::WIKIBASE, class));
        }
    }

    /// Returns the node of something without a name, identified by its place `key`: a blank node, or an IRI in the form
    /// of the query service.
    pub(super) fn unnamed(&self, key: &str) -> NamedOrBlankNode {
        match self.converter.shape {
            RdfShape::Dump => BlankNode::new_unchecked(hash(key)).into(),
            RdfShape::Service => v::name(v::GENID, &hash(key)).into(),
        }
    }

    pub(super) fn statements(
        &mut self,
        subject: &NamedNode,
        claims: &Map<'_, LenientList<WikidataStatement<'_>>>,
    ) -> Result<(), String> {
        for (property, statements) in claims.iter() {
            if self.converter.properties.as_ref().is_some_and(|wanted| !wanted.contains(&**property)) {
                continue;
            }
            let preferred = statements.iter().any(|statement| statement.rank == WikidataRank::Preferred);
            let best = if preferred { WikidataRank::Preferred } else { WikidataRank::Normal };
            for statement in statements.iter() {
                self.statement(subject, statement, statement.rank == best)?;
            }
        }
        Ok(())
    }

    fn statement(&mut self, subject: &NamedNode, statement: &WikidataStatement<'_>, best: bool) -> Result<(), String> {
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
            WikidataRank::Preferred => "PreferredRank",
            WikidataRank::Normal => "NormalRank",
            WikidataRank::Deprecated => "DeprecatedRank",
        };
        self.add(&node, v::name(v::WIKIBASE, "rank"), v::name(v::WIKIBASE, rank));
        self.snak(&node, main, MAIN, guid)?;
        let qualifiers = statement.qualifiers.iter().flat_map(|(_, snaks)| snaks.iter());
        let kept = self.converter.qualifiers.as_ref();
        let is_kept = |snak: &WikidataSnak<'_>| kept.is_none_or(|kept| kept.contains(&*snak.property));
        for (place, snak) in qualifiers.enumerate().filter(|(_, snak)| is_kept(snak)) {
            self.snak(&node, snak, QUALIFIER, &format!("{guid} {place}"))?;
        }
        for reference in statement.references.iter().filter(|_| !self.converter.without_references) {
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

    /// Writes the triples of a snak. `key` identifies its place and names the node of an unknown value.
    fn snak(
        &mut self,
        subject: &NamedNode,
        snak: &WikidataSnak<'_>,
        role: SnakPredicates,
        key: &str,
    ) -> Result<(), String> {
        property(snak)?;
        let property = &*snak.property;
        let SnakPredicates(simple, full, normal) = role;
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
                    // Direct claims do not have normalised quantities.
                    Some(Normalized::Quantity(_)) | None => {}
                }
            }
        }
        Ok(())
    }

    /// Writes the node of a full value, once.
    fn node(&mut self, node: ValueNode) {
        if self.written.insert(node.iri.as_str().to_owned()) {
            self.class(&node.iri, node.class);
            for (name, term) in node.facts {
                self.add(&node.iri, v::name(v::WIKIBASE, name), term);
            }
        }
    }
}

/// Returns the IRI of an entity, form or sense.
pub(super) fn id(id: &str) -> Result<NamedNode, String> {
    if is_id(id) { Ok(v::name(v::WD, id)) } else { Err(format!("{:?} is not the id of an entity", cut(id))) }
}

fn property(snak: &WikidataSnak<'_>) -> Result<(), String> {
    let id = &*snak.property;
    if is_id(id) && id.starts_with('P') { Ok(()) } else { Err(format!("{:?} is not the id of a property", cut(id))) }
}

/// Returns the first 40 characters of a text, for error messages.
pub(super) fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
