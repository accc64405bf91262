//! The subject of an evaluator: an element, optionally with one of its members or a key.

use std::sync::Arc;

use crate::reader::StoreReader;
use crate::set::{AreaOrdinal, Derived, ElementSet};
use terrapin_osm::areas::RELATION_AREAS;
use terrapin_osm::{ElementType, Ordinal, PairId};

/// The element that an evaluator runs on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'s> {
    /// No element: in `make` and `if`.
    None,
    Element(ElementType, Ordinal),
    Area(AreaOrdinal),
    Derived(&'s Arc<Derived>),
}

/// A member of the element, by its position, counted from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemberPosition {
    pub at: usize,
}

/// The inputs of one evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct EvaluationScope<'s> {
    pub subject: Subject<'s>,
    pub member: Option<MemberPosition>,
    /// The current key of a generic property.
    pub key: Option<&'s str>,
}

impl<'s> From<Subject<'s>> for EvaluationScope<'s> {
    fn from(subject: Subject<'s>) -> Self {
        EvaluationScope { subject, member: None, key: None }
    }
}

/// Iterates over all elements of a set, in the order of their ordinals.
pub(super) fn subjects(set: &ElementSet) -> impl Iterator<Item = Subject<'_>> {
    let part = |kind: ElementType| set.part(kind).iter().map(move |&ordinal| Subject::Element(kind, ordinal));
    part(ElementType::Node)
        .chain(part(ElementType::Way))
        .chain(part(ElementType::Relation))
        .chain(set.areas.iter().map(|&area| Subject::Area(area)))
        .chain(set.derived.iter().map(Subject::Derived))
}

/// Returns the tags of the subject. An area has those of its relation; a derived element has none here.
pub(super) fn tags<'r>(reader: &'r mut StoreReader<'_>, subject: Subject<'_>) -> &'r [PairId] {
    match subject {
        Subject::Element(kind, ordinal) => reader.tags(kind, ordinal),
        Subject::Area(area) if !reader.is_bare() => {
            let reader = reader.areas();
            reader.osm().areas().relation(area).map_or(&[], |relation| reader.tags(ElementType::Relation, relation))
        }
        Subject::Area(_) | Subject::None | Subject::Derived(_) => &[],
    }
}

/// Returns the keys of the subject's tags.
pub(super) fn keys(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> Vec<String> {
    if let Subject::Derived(derived) = subject {
        let tags = if reader.is_bare() { &[] } else { derived.tags.as_slice() };
        return tags.iter().map(|(key, _)| key.clone()).collect();
    }
    let osm = reader.osm();
    tags(reader, subject).iter().map(|&pair| osm.key_name(osm.key_of(pair)).to_owned()).collect()
}

/// Returns the id of an area.
pub(super) fn area_id(reader: &mut StoreReader<'_>, area: AreaOrdinal) -> Option<i64> {
    let reader = reader.areas();
    let relation = reader.osm().areas().relation(area)?;
    Some(RELATION_AREAS + reader.id(ElementType::Relation, relation))
}
