//! Literals of GML (`geo:gmlLiteral`): the geometries of GML 2, 3.1 and 3.2 that WKT also has (OGC 10-100r3, the simple
//! features profile), with straight edges. Elements are recognised by their local names, because the literals of
//! GeoSPARQL's own examples are in a namespace that no version of GML has.

mod namespace;
mod read;
mod tree;
mod write;

pub use namespace::GmlNamespace;
pub(super) use read::{GmlDocument, read};
pub(super) use write::write;

#[cfg(test)]
mod tests;
