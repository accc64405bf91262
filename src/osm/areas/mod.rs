//! Areas: relations and closed ways as polygons.

mod shape;

pub use shape::Shape;
