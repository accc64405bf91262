//! Where names lead: a table of known names, then the snapshot's own areas.
//!
//! A place is what a query needs of it: the element that carries the name, a position, a box. May use `osm`; knows
//! nothing of query languages and never asks the network, so a name leads to the same place on every machine.

mod table;

pub use table::{Table, TableError};

use crate::osm::ElementType;

/// What a source knows of one side of a place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fact<T> {
    /// The source cannot tell; another one may.
    #[default]
    Unknown,
    /// The source knows that there is nothing: no other one is asked.
    Nothing,
    /// This is it.
    Is(T),
}

impl<T> Fact<T> {
    /// The value, where there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Fact::Is(value) => Some(value),
            Fact::Unknown | Fact::Nothing => None,
        }
    }

    /// This fact, or the other where this one is unknown.
    pub fn or(self, other: Fact<T>) -> Fact<T> {
        match self {
            Fact::Unknown => other,
            known => known,
        }
    }

    /// Whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Fact::Unknown)
    }
}

/// The element that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its type.
    pub kind: ElementType,
    /// Its id.
    pub id: i64,
}

impl Element {
    /// The id of the area made from this element, as queries write it; a node has none.
    pub fn area_id(self) -> Option<i64> {
        match self.kind {
            ElementType::Node => None,
            ElementType::Way => self.id.checked_add(2_400_000_000),
            ElementType::Relation => self.id.checked_add(3_600_000_000),
        }
    }
}

/// A position in degrees, as the text that goes into a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Position {
    pub lat: String,
    pub lon: String,
}

/// A box in degrees, as the texts that go into a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Bounds {
    pub south: String,
    pub north: String,
    pub west: String,
    pub east: String,
}

/// What a name leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The element that carries the name.
    pub element: Fact<Element>,
    /// A position in or near it.
    pub center: Fact<Position>,
    /// The box around it.
    pub bounds: Fact<Bounds>,
}

/// A source of places.
pub trait Places: Sync {
    /// What this source knows of a name; `None` where it knows nothing at all.
    fn find(&self, name: &str) -> Option<Place>;
}

/// Sources asked in order: each side of a place is the first one's that knows of it.
#[derive(Default)]
pub struct Chain<'a>(pub Vec<&'a dyn Places>);

impl Places for Chain<'_> {
    fn find(&self, name: &str) -> Option<Place> {
        let mut found: Option<Place> = None;
        for source in &self.0 {
            if let Some(next) = source.find(name) {
                let first = found.unwrap_or_default();
                let merged = Place {
                    element: first.element.or(next.element),
                    center: first.center.or(next.center),
                    bounds: first.bounds.or(next.bounds),
                };
                let complete =
                    !merged.element.is_unknown() && !merged.center.is_unknown() && !merged.bounds.is_unknown();
                found = Some(merged);
                if complete {
                    break;
                }
            }
        }
        found
    }
}
