//! GeoSPARQL 1.1's aggregates: combine the geometries of a group into one.

use geo::{Centroid, Geometry, GeometryCollection};
use oxrdf::Term;

use super::constructions::{convex_hull, envelope};
use super::effort;
use super::geometry::LocatedGeometry;
use super::overlay::union_of;
use crate::order::canonical;
use terrapin_budget as budget;

/// An aggregate of a group's geometries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeometryAggregate {
    /// The smallest box around all geometries.
    BoundingBox,
    /// The centroid: of the areas if there are any, otherwise of the lines, otherwise of the points.
    Centroid,
    /// The smallest convex area around all geometries.
    ConvexHull,
    /// The union of all geometries.
    Union,
}

impl GeometryAggregate {
    /// All aggregates.
    pub const ALL: [GeometryAggregate; 4] = [
        GeometryAggregate::BoundingBox,
        GeometryAggregate::Centroid,
        GeometryAggregate::ConvexHull,
        GeometryAggregate::Union,
    ];

    /// Returns the name in the standard.
    pub fn iri(self) -> &'static str {
        match self {
            GeometryAggregate::BoundingBox => "http://www.opengis.net/def/function/geosparql/aggBoundingBox",
            GeometryAggregate::Centroid => "http://www.opengis.net/def/function/geosparql/aggCentroid",
            GeometryAggregate::ConvexHull => "http://www.opengis.net/def/function/geosparql/aggConvexHull",
            GeometryAggregate::Union => "http://www.opengis.net/def/function/geosparql/aggUnion",
        }
    }

    /// Combines the geometries. The result has the reference system and the format of the first one in canonical order,
    /// and does not depend on the order of the terms. Returns `None` if the group is empty, a term is not a geometry,
    /// the reference systems cannot be converted, or the operation would take too long.
    pub fn of(self, mut terms: Vec<Term>) -> Option<Term> {
        terms.sort_by(|a, b| {
            budget::checkpoint();
            canonical(Some(a), Some(b))
        });
        if self != GeometryAggregate::Centroid {
            terms.dedup();
        }
        budget::tolerant(|| self.of_sorted(&terms)).flatten()
    }

    fn of_sorted(self, terms: &[Term]) -> Option<Term> {
        let first = LocatedGeometry::from_term(terms.first()?)?;
        let mut all = Vec::with_capacity(terms.len());
        for term in terms {
            budget::checkpoint();
            all.push(LocatedGeometry::from_term(term)?.to_system_of(&first)?.geometry);
        }
        let all = Geometry::GeometryCollection(GeometryCollection(all));
        let made = match self {
            GeometryAggregate::BoundingBox => envelope(&all)?,
            GeometryAggregate::Centroid => all.centroid()?.into(),
            GeometryAggregate::ConvexHull => convex_hull(&all)?,
            GeometryAggregate::Union => {
                effort::of_one(&all)?;
                let Geometry::GeometryCollection(all) = all else { return None };
                union_of(all.0)?
            }
        };
        first.with(made).to_term()
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::tests::wkt;
    use super::*;

    fn made(aggregate: GeometryAggregate, texts: &[&str]) -> Option<String> {
        match aggregate.of(texts.iter().map(|text| wkt(text)).collect())? {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn groups_of_geometries() {
        let squares = ["POLYGON((0 0,2 0,2 2,0 2,0 0))", "POLYGON((2 0,4 0,4 2,2 2,2 0))"];
        for texts in [&squares[..], &[squares[1], squares[0]]] {
            assert_eq!(made(GeometryAggregate::BoundingBox, texts).unwrap(), "POLYGON((4 0,4 2,0 2,0 0,4 0))");
            assert_eq!(made(GeometryAggregate::Centroid, texts).unwrap(), "POINT(2 1)");
            assert_eq!(made(GeometryAggregate::ConvexHull, texts).unwrap(), "POLYGON((4 0,4 2,0 2,0 0,4 0))");
            let union = made(GeometryAggregate::Union, texts).unwrap();
            assert!(union.starts_with("POLYGON((") && !union.contains("),("), "{union}");
        }
        assert_eq!(
            made(GeometryAggregate::Centroid, &["POINT(0 0)", "POINT(0 0)", "POINT(3 0)"]).unwrap(),
            "POINT(1 0)"
        );
        let lines = ["LINESTRING(0 0,1 1)", "LINESTRING(0 0,1 1)", "POINT(0 0)", "POINT(5 5)"];
        assert_eq!(
            made(GeometryAggregate::Union, &lines).unwrap(),
            "GEOMETRYCOLLECTION(POINT(5 5),LINESTRING(0 0,1 1))"
        );
        let along = made(GeometryAggregate::Union, &["LINESTRING(0 0,2 0)", "LINESTRING(1 0,3 0)"]).unwrap();
        assert_eq!(along, "LINESTRING(0 0,1 0,2 0,3 0)");
        assert_eq!(made(GeometryAggregate::Union, &[]), None);
        assert_eq!(made(GeometryAggregate::Union, &["POINT(0 0)", "nowhere"]), None);
    }
}
