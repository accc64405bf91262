//! The sets that statements pass to each other.

use std::sync::Arc;

use crate::osm::Ordinal;

/// The position of an area among the areas of the snapshot.
pub type AreaOrdinal = u32;

/// The content of a named set: each part ascending and without duplicates.
#[derive(Debug, Clone, Default)]
pub struct Set {
    /// Nodes.
    pub nodes: Vec<Ordinal>,
    /// Ways.
    pub ways: Vec<Ordinal>,
    /// Relations.
    pub relations: Vec<Ordinal>,
    /// Areas made from relations. (An area made from a closed way is that way.)
    pub areas: Vec<AreaOrdinal>,
    /// What `make`, `convert` and the like made, in order of type name and id.
    pub derived: Vec<Arc<Derived>>,
}

/// An element that a query made.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// The type's name as `make` gave it.
    pub type_name: String,
    /// Its id.
    pub id: i64,
    /// Its tags, in order of key.
    pub tags: Vec<(String, String)>,
    /// Its geometry.
    pub geometry: Option<Geometry>,
}

/// A derived element's geometry, in degrees.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Geometry {
    Point(Position),
    Line(Vec<Position>),
    Polygon(Vec<Vec<Position>>),
    Collection(Vec<Geometry>),
}

/// A position in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub struct Position {
    pub lat: f64,
    pub lon: f64,
}

impl Set {
    /// How many elements of all kinds.
    pub fn len(&self) -> usize {
        self.nodes.len() + self.ways.len() + self.relations.len() + self.areas.len() + self.derived.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
