//! The `out` statement.

use super::{BoundingBox, SetName};

/// The `out` statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Out {
    /// The set that is written.
    pub from: SetName,
    /// How much of each element.
    pub detail: Detail,
    /// Whether ids are left out (`noids`).
    pub noids: bool,
    /// Which geometry comes with it.
    pub geometry: OutGeometry,
    /// `(s,w,n,e)`: geometry is cut to this box.
    pub bbox: Option<BoundingBox>,
    /// The order.
    pub order: Order,
    /// At most so many elements.
    pub limit: Option<u64>,
}

/// How much of each element is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// `ids`.
    Ids,
    /// `skel`.
    Skel,
    /// `body`, the default.
    #[default]
    Body,
    /// `tags`.
    Tags,
    /// `meta`.
    Meta,
    /// `count`.
    Count,
}

/// Which geometry `out` adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct OutGeometry {
    /// `geom`.
    pub full: bool,
    /// `bb`.
    pub bounds: bool,
    /// `center`.
    pub center: bool,
}

/// The order in which `out` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// `asc`, the default: by type and id.
    #[default]
    Asc,
    /// `qt`: by the reference's quadtile.
    Quadtile,
}
