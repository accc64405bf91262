//! Converts lexemes with their forms and senses to triples.

use super::model::WikidataEntity;
use super::value::in_language;
use super::vocabulary as v;
use super::writer::{EntityWriter, id};
use oxrdf::NamedNode;
use oxrdf::vocab::{rdf, rdfs};

/// Writes the parts of a lexeme that other entities do not have.
pub(super) fn write(
    writer: &mut EntityWriter<'_>,
    entity: &WikidataEntity<'_>,
    subject: &NamedNode,
) -> Result<(), String> {
    writer.class(subject, "Lexeme");
    writer.add(subject, rdf::TYPE.into_owned(), v::name(v::ONTOLEX, "LexicalEntry"));
    for (_, lemma) in &*entity.lemmas {
        name(writer, subject, &v::name(v::WIKIBASE, "lemma"), &lemma.value, &lemma.language);
    }
    if let Some(language) = &entity.language {
        writer.add(subject, v::name(v::DCT, "language"), id(language)?);
    }
    if let Some(category) = &entity.lexical_category {
        writer.add(subject, v::name(v::WIKIBASE, "lexicalCategory"), id(category)?);
    }
    for form in entity.forms.iter() {
        let node = id(&form.id)?;
        writer.add(subject, v::name(v::ONTOLEX, "lexicalForm"), node.clone());
        writer.class(&node, "Form");
        writer.add(&node, rdf::TYPE.into_owned(), v::name(v::ONTOLEX, "Form"));
        for (_, text) in &*form.representations {
            name(writer, &node, &v::name(v::ONTOLEX, "representation"), &text.value, &text.language);
        }
        for feature in form.grammatical_features.iter() {
            writer.add(&node, v::name(v::WIKIBASE, "grammaticalFeature"), id(feature)?);
        }
        writer.statements(&node, &form.claims)?;
    }
    for sense in entity.senses.iter() {
        let node = id(&sense.id)?;
        writer.add(subject, v::name(v::ONTOLEX, "sense"), node.clone());
        writer.class(&node, "Sense");
        writer.add(&node, rdf::TYPE.into_owned(), v::name(v::ONTOLEX, "LexicalSense"));
        for (_, text) in &*sense.glosses {
            name(writer, &node, &v::name(v::SKOS, "definition"), &text.value, &text.language);
        }
        writer.statements(&node, &sense.claims)?;
    }
    Ok(())
}

/// Writes a text. The dump also has it as a label; the query service omits that, because it finds lexemes by their
/// lemmas.
fn name(writer: &mut EntityWriter<'_>, subject: &NamedNode, predicate: &NamedNode, text: &str, language: &str) {
    let text = in_language(text, language);
    if writer.is_dump() {
        writer.add(subject, rdfs::LABEL.into_owned(), text.clone());
    }
    writer.add(subject, predicate.clone(), text);
}
