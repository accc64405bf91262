//! Converts entities to triples. Each entity is converted alone, from its own content and the settings of the
//! [`Converter`]. The parts that all kinds of entities share are in `writer.rs`.

use std::collections::BTreeSet;

use super::languages::canonical;
use super::lexeme;
use super::model::{LocalizedText, Map, WikidataEntity, WikidataSitelink};
use super::sites::{address, site};
use super::value::{self, in_language};
use super::vocabulary as v;
use super::writer::{Converter, EntityWriter, cut, id};
use oxrdf::vocab::{rdf, rdfs, xsd};
use oxrdf::{Literal, NamedNode, Triple};

impl Converter {
    /// Adds an entity's triples to `into`. Returns an error if it is not a valid entity of Wikidata; some triples may
    /// have been added by then.
    pub fn convert(&self, entity: &WikidataEntity<'_>, into: &mut Vec<Triple>) -> Result<(), String> {
        EntityWriter::new(self, into).entity(entity)
    }
}

impl EntityWriter<'_> {
    fn count(&mut self, subject: &NamedNode, name: &str, count: usize) {
        self.add(subject, v::name(v::WIKIBASE, name), Literal::new_typed_literal(count.to_string(), xsd::INTEGER));
    }

    fn entity(&mut self, entity: &WikidataEntity<'_>) -> Result<(), String> {
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

    /// Writes the metadata of an entity: revision, time of the last change and counts.
    fn about(&mut self, entity: &WikidataEntity<'_>, subject: &NamedNode) {
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
        // A recipe may use either the JSON code or the RDF code of a language.
        let is_wanted = |wanted: &BTreeSet<String>| wanted.contains(language) || wanted.contains(canonical(language));
        self.converter.languages.as_ref().is_none_or(is_wanted)
    }

    fn names(&mut self, entity: &WikidataEntity<'_>, subject: &NamedNode) {
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

    fn texts(&mut self, subject: &NamedNode, texts: &Map<'_, LocalizedText<'_>>, predicate: &NamedNode) {
        for (_, text) in texts.iter() {
            if self.wants(&text.language) {
                self.add(subject, predicate.clone(), in_language(&text.value, &text.language));
            }
        }
    }

    fn sitelink(&mut self, subject: &NamedNode, link: &WikidataSitelink<'_>) -> Result<(), String> {
        // An unknown site has neither a language nor a group.
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

    /// Writes the type and the predicates of a property.
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
        // The class of things without a value is the complement of those with some value.
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
}
