//! What an evaluator is evaluated for: an element, a member of it, a key.

use std::sync::Arc;

use crate::reader::Reader;
use crate::set::{AreaOrdinal, Derived, Set};
use terrapin_osm::areas::RELATION_AREAS;
use terrapin_osm::{ElementType, Ordinal, PairId};

/// What an evaluator is evaluated for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'s> {
    /// Nothing: in `make` and `if`.
    None,
    Element(ElementType, Ordinal),
    Area(AreaOrdinal),
    Derived(&'s Arc<Derived>),
}

/// A member of the element, by its place from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemberPosition {
    pub at: usize,
}

/// What is at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub subject: Subject<'s>,
    pub member: Option<MemberPosition>,
    /// The key that a generic property is at.
    pub key: Option<&'s str>,
}

impl<'s> From<Subject<'s>> for Scope<'s> {
    fn from(subject: Subject<'s>) -> Self {
        Scope { subject, member: None, key: None }
    }
}

/// Every element of a set, in the order of the ordinals.
pub(super) fn subjects(set: &Set) -> impl Iterator<Item = Subject<'_>> {
    let part = |kind: ElementType| set.part(kind).iter().map(move |&ordinal| Subject::Element(kind, ordinal));
    part(ElementType::Node)
        .chain(part(ElementType::Way))
        .chain(part(ElementType::Relation))
        .chain(set.areas.iter().map(|&area| Subject::Area(area)))
        .chain(set.derived.iter().map(Subject::Derived))
}

/// The tags of the subject, of an area those of its relation; none of what a query made.
pub(super) fn tags<'r>(reader: &'r mut Reader<'_>, subject: Subject<'_>) -> &'r [PairId] {
    match subject {
        Subject::Element(kind, ordinal) => reader.tags(kind, ordinal),
        Subject::Area(area) if !reader.is_bare() => {
            let reader = reader.areas();
            reader.osm().areas().relation(area).map_or(&[], |relation| reader.tags(ElementType::Relation, relation))
        }
        Subject::Area(_) | Subject::None | Subject::Derived(_) => &[],
    }
}

/// The keys of the subject's tags.
pub(super) fn keys(reader: &mut Reader<'_>, subject: Subject<'_>) -> Vec<String> {
    if let Subject::Derived(derived) = subject {
        let tags = if reader.is_bare() { &[] } else { derived.tags.as_slice() };
        return tags.iter().map(|(key, _)| key.clone()).collect();
    }
    let osm = reader.osm();
    tags(reader, subject).iter().map(|&pair| osm.key_name(osm.key_of(pair)).to_owned()).collect()
}

/// The id of an area.
pub(super) fn area_id(reader: &mut Reader<'_>, area: AreaOrdinal) -> Option<i64> {
    let reader = reader.areas();
    let relation = reader.osm().areas().relation(area)?;
    Some(RELATION_AREAS + reader.id(ElementType::Relation, relation))
}
