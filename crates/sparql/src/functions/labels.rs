//! Looks up labels, descriptions and aliases for the label service.

use oxrdf::{Literal, NamedNodeRef, Term};

use terrapin_triples::Store;

/// The kind of text to look up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    Label,
    Description,
    AltLabel,
}

impl LabelKind {
    /// All kinds, in the order in which they are tried as suffixes of variable names.
    pub const ALL: [LabelKind; 3] = [LabelKind::AltLabel, LabelKind::Label, LabelKind::Description];

    /// Returns the suffix of variable names.
    pub fn suffix(self) -> &'static str {
        match self {
            LabelKind::Label => "Label",
            LabelKind::Description => "Description",
            LabelKind::AltLabel => "AltLabel",
        }
    }

    /// Returns the predicate of the texts.
    pub fn predicate(self) -> &'static str {
        match self {
            LabelKind::Label => "http://www.w3.org/2000/01/rdf-schema#label",
            LabelKind::Description => "http://schema.org/description",
            LabelKind::AltLabel => "http://www.w3.org/2004/02/skos/core#altLabel",
        }
    }
}

/// Evaluates the label function. Its arguments are the term, the kind as a suffix, and the languages separated by
/// commas. Returns the values in the first language that has any, joined by ", ". Without a value, a label is the last
/// part of the IRI.
pub(crate) fn label(store: &Store, arguments: &[Term]) -> Option<Term> {
    let [term, Term::Literal(kind), Term::Literal(languages)] = arguments else { return None };
    let kind = LabelKind::ALL.into_iter().find(|k| k.suffix() == kind.value())?;
    let node = match term {
        Term::NamedNode(node) => node,
        // A literal is its own label.
        Term::Literal(literal) if kind == LabelKind::Label => {
            return Some(Literal::new_simple_literal(literal.value()).into());
        }
        _ => return None,
    };
    if let Some(found) = best(store, node.as_ref(), kind, languages.value()) {
        return Some(found.into());
    }
    if kind != LabelKind::Label {
        return None;
    }
    let text = node.as_str();
    let local = text.rsplit(['/', '#']).next().filter(|local| !local.is_empty()).unwrap_or(text);
    Some(Literal::new_simple_literal(local).into())
}

fn best(store: &Store, node: NamedNodeRef<'_>, kind: LabelKind, languages: &str) -> Option<Literal> {
    let subject = store.id(node.into())?;
    let predicate = store.id(NamedNodeRef::new_unchecked(kind.predicate()).into())?;
    // The rank of the best language found, and its values.
    let mut best: Option<(usize, Vec<Literal>)> = None;
    for [_, _, object] in store.triples(Some(subject), Some(predicate), None) {
        let Some(Term::Literal(value)) = store.term(object) else { continue };
        let language = value.language().unwrap_or("");
        let Some(rank) = languages.split(',').position(|wanted| wanted.trim().eq_ignore_ascii_case(language)) else {
            continue;
        };
        match &mut best {
            Some((known, _)) if *known < rank => {}
            Some((known, values)) if *known == rank => values.push(value),
            _ => best = Some((rank, vec![value])),
        }
    }
    let (_, mut values) = best?;
    if values.len() < 2 {
        return values.pop();
    }
    values.sort_by(|a, b| a.value().cmp(b.value()));
    let language = values.first()?.language().unwrap_or("").to_owned();
    let joined = values.iter().map(Literal::value).collect::<Vec<_>>().join(", ");
    Some(Literal::new_language_tagged_literal_unchecked(joined, language))
}
