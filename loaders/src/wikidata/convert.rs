//! Entities as triples. One entity at a time, from nothing but itself and what the [`Converter`] was given.

use super::lexeme;
use super::model::{Entity, InLanguage, List, Map, Rank, Sitelink, Snak, SnakType, Statement};
use super::sites::{address, site};
use super::value::{self, Node, Normalized, hash, in_language, is_id};
use super::vocabulary as v;
use oxrdf::vocab::{rdf, rdfs, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
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

    /// Adds an entity's triples to `into`. The problem, if it is no entity of Wikidata; some may have been added then.
    pub fn convert(&self, entity: &Entity<'_>, into: &mut Vec<Triple>) -> Result<(), String> {
        Writer { converter: self, into, written: HashSet::new() }.entity(entity)
    }
}

/// Where a snak stands, and so which predicates it gets: for a term, a full and a normalised value.
#[derive(Clone, Copy)]
struct Role(&'static str, Option<&'static str>, &'static str);

const DIRECT: Role = Role(v::WDT, None, v::WDTN);
const MAIN: Role = Role(v::PS, Some(v::PSV), v::PSN);
const QUALIFIER: Role = Role(v::PQ, Some(v::PQV), v::PQN);
const REFERENCE: Role = Role(v::PR, Some(v::PRV), v::PRN);

pub(super) struct Writer<'a> {
    converter: &'a Converter,
    into: &'a mut Vec<Triple>,
    /// Nodes of values, references and sites that have been written for this entity.
    written: HashSet<String>,
}

impl Writer<'_> {
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

    fn count(&mut self, subject: &NamedNode, name: &str, count: usize) {
        self.add(subject, v::name(v::WIKIBASE, name), Literal::new_typed_literal(count.to_string(), xsd::INTEGER));
    }

    fn entity(&mut self, entity: &Entity<'_>) -> Result<(), String> {
        if let Some(to) = &entity.redirect {
            return self.redirect(&entity.id, to);
        }
        if entity.missing.is_some() {
            return Ok(());
        }
        let subject = id(&entity.id)?;
        self.about(entity, &subject);
        if let Some(redirect) = &entity.redirects {
            self.redirect(&redirect.from, &redirect.to)?;
        }
        match &*entity.r#type {
            "item" => {
                self.class(&subject, "Item");
                for (_, link) in &*entity.sitelinks {
                    self.sitelink(&subject, link)?;
                }
            }
            "property" => {
                let datatype = entity.datatype.as_deref().ok_or("a property without a datatype")?;
                self.property(&subject, &entity.id, datatype);
            }
            "lexeme" => lexeme::write(self, entity, &subject)?,
            other => return Err(format!("an entity of type {:?}", cut(other))),
        }
        self.names(entity, &subject);
        self.statements(&subject, &entity.claims)
    }

    fn redirect(&mut self, from: &str, to: &str) -> Result<(), String> {
        let (from, to) = (id(from)?, id(to)?);
        self.add(&from, v::name(v::OWL, "sameAs"), to);
        Ok(())
    }

    /// What is known of the data about an entity.
    fn about(&mut self, entity: &Entity<'_>, subject: &NamedNode) {
        let node = if self.is_dump() {
            let data = v::name(v::DATA, &entity.id);
            self.add(&data, rdf::TYPE.into_owned(), v::name(v::SCHEMA, "Dataset"));
            self.add(&data, v::name(v::SCHEMA, "about"), subject.clone());
            self.add(&data, NamedNode::new_unchecked(v::LICENSE), NamedNode::new_unchecked(v::CC0));
            self.add(&data, v::name(v::SCHEMA, "softwareVersion"), Literal::new_simple_literal(v::VERSION));
            data
        } else {
            subject.clone()
        };
        if let Some(version) = entity.lastrevid {
            let version = Literal::new_typed_literal(version.to_string(), xsd::INTEGER);
            self.add(&node, v::name(v::SCHEMA, "version"), version);
        }
        if let Some(modified) = &entity.modified {
            let modified = Literal::new_typed_literal(&**modified, xsd::DATE_TIME);
            self.add(&node, v::name(v::SCHEMA, "dateModified"), modified);
        }
        let own = &entity.claims;
        let forms = entity.forms.iter().map(|form| &form.claims);
        let all = [own].into_iter().chain(forms).chain(entity.senses.iter().map(|sense| &sense.claims));
        let statements = all.flat_map(|claims| claims.iter()).map(|(_, statements)| statements.len()).sum();
        self.count(&node, "statements", statements);
        if &*entity.r#type != "lexeme" {
            let all = own.iter().flat_map(|(_, statements)| statements.iter());
            let identifiers = all.filter(|statement| statement.mainsnak.datatype.as_deref() == Some("external-id"));
            let identifiers = identifiers.count();
            self.count(&node, "sitelinks", entity.sitelinks.len());
            self.count(&node, "identifiers", identifiers);
        }
    }

    fn wants(&self, language: &str) -> bool {
        self.converter.languages.as_ref().is_none_or(|wanted| wanted.contains(language))
    }

    fn names(&mut self, entity: &Entity<'_>, subject: &NamedNode) {
        for (_, label) in &*entity.labels {
            if !self.wants(&label.language) {
                continue;
            }
            let label = in_language(&label.value, &label.language);
            if self.is_dump() {
                self.add(subject, v::name(v::SKOS, "prefLabel"), label.clone());
                self.add(subject, v::name(v::SCHEMA, "name"), label.clone());
            }
            self.add(subject, rdfs::LABEL.into_owned(), label);
        }
        self.texts(subject, &entity.descriptions, &v::name(v::SCHEMA, "description"));
        for (_, aliases) in &*entity.aliases {
            for alias in aliases.iter() {
                if self.wants(&alias.language) {
                    self.add(subject, v::name(v::SKOS, "altLabel"), in_language(&alias.value, &alias.language));
                }
            }
        }
    }

    fn texts(&mut self, subject: &NamedNode, texts: &Map<'_, InLanguage<'_>>, predicate: &NamedNode) {
        for (_, text) in texts.iter() {
            if self.wants(&text.language) {
                self.add(subject, predicate.clone(), in_language(&text.value, &text.language));
            }
        }
    }

    fn sitelink(&mut self, subject: &NamedNode, link: &Sitelink<'_>) -> Result<(), String> {
        // A site that is not known has neither a language nor a group.
        let Some(site) = site(&link.site) else { return Ok(()) };
        if self.converter.sites.as_ref().is_some_and(|wanted| !wanted.contains(&*site.language)) {
            return Ok(());
        }
        let given = link.url.as_deref().and_then(value::iri);
        let article = given.unwrap_or_else(|| NamedNode::new_unchecked(address(&site.host, &link.title)));
        let part_of = NamedNode::new_unchecked(format!("https://{}/", site.host));
        self.add(&article, rdf::TYPE.into_owned(), v::name(v::SCHEMA, "Article"));
        self.add(&article, v::name(v::SCHEMA, "about"), subject.clone());
        self.add(&article, v::name(v::SCHEMA, "inLanguage"), Literal::new_simple_literal(&*site.language));
        self.add(&article, v::name(v::SCHEMA, "isPartOf"), part_of.clone());
        self.add(&article, v::name(v::SCHEMA, "name"), in_language(&link.title, &site.language));
        for badge in link.badges.iter() {
            self.add(&article, v::name(v::WIKIBASE, "badge"), id(badge)?);
        }
        if self.written.insert(part_of.as_str().to_owned()) {
            self.add(&part_of, v::name(v::WIKIBASE, "wikiGroup"), Literal::new_simple_literal(site.group));
        }
        Ok(())
    }

    /// A property's predicates.
    fn property(&mut self, subject: &NamedNode, id: &str, datatype: &str) {
        self.add(subject, rdf::TYPE.into_owned(), v::name(v::WIKIBASE, "Property"));
        let Some(datatype) = v::DATA_TYPES.iter().find(|known| known.json == datatype) else { return };
        self.add(subject, v::name(v::WIKIBASE, "propertyType"), v::name(v::WIKIBASE, datatype.rdf));
        let links: [(&str, &str, Option<bool>); 13] = [
            ("directClaim", v::WDT, Some(datatype.objects)),
            ("claim", v::P, Some(true)),
            ("statementProperty", v::PS, Some(datatype.objects)),
            ("statementValue", v::PSV, Some(true)),
            ("qualifier", v::PQ, Some(datatype.objects)),
            ("qualifierValue", v::PQV, Some(true)),
            ("reference", v::PR, Some(datatype.objects)),
            ("referenceValue", v::PRV, Some(true)),
            ("novalue", v::WDNO, None),
            ("directClaimNormalized", v::WDTN, datatype.normalized),
            ("statementValueNormalized", v::PSN, Some(true)),
            ("qualifierValueNormalized", v::PQN, Some(true)),
            ("referenceValueNormalized", v::PRN, Some(true)),
        ];
        let count = if datatype.normalized.is_some() { links.len() } else { 9 };
        for (link, space, objects) in links.into_iter().take(count) {
            let predicate = v::name(space, id);
            self.add(subject, v::name(v::WIKIBASE, link), predicate.clone());
            let class = match objects {
                Some(true) => "ObjectProperty",
                Some(false) => "DatatypeProperty",
                None => "Class",
            };
            self.add(&predicate, rdf::TYPE.into_owned(), v::name(v::OWL, class));
        }
        // What has no value is what has none that is anything.
        let restriction = self.unnamed(&format!("owl {id}"));
        self.add(&v::name(v::WDNO, id), v::name(v::OWL, "complementOf"), restriction.clone());
        let facts: [(NamedNode, NamedNode); 3] = [
            (rdf::TYPE.into_owned(), v::name(v::OWL, "Restriction")),
            (v::name(v::OWL, "onProperty"), v::name(v::WDT, id)),
            (v::name(v::OWL, "someValuesFrom"), v::name(v::OWL, "Thing")),
        ];
        for (predicate, object) in facts {
            self.into.push(Triple::new(restriction.clone(), predicate, object));
        }
    }

    /// A node without a name, which stands for what is at a place that `key` names.
    fn unnamed(&self, key: &str) -> NamedOrBlankNode {
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
            return Err(format!("{:?} is no id of a statement", cut(guid)));
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
                return Err(format!("{:?} is no hash of a reference", cut(digits)));
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
    if is_id(id) { Ok(v::name(v::WD, id)) } else { Err(format!("{:?} is no id of an entity", cut(id))) }
}

fn property(snak: &Snak<'_>) -> Result<(), String> {
    let id = &*snak.property;
    if is_id(id) && id.starts_with('P') { Ok(()) } else { Err(format!("{:?} is no id of a property", cut(id))) }
}

/// The beginning of a text that may be long.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
