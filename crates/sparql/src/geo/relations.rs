//! Relations between two geometries. They use the patterns of the dimensionally extended nine-intersection model
//! (DE-9IM) that GeoSPARQL 1.1 defines in its tables 4 to 6.

use std::borrow::Cow;

use geo::algorithm::relate::IntersectionMatrix;
use geo::{Geometry, HasDimensions};
use oxrdf::{Literal, Term};

use super::geometry::{LocatedGeometry, pair};
use super::overlay::relation;
use super::{Function, effort};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("relate", relate),
    ("sfContains", |a| test(a, SF_CONTAINS)),
    ("sfCovers", |a| test(a, TopologicalRelation::Matrix(IntersectionMatrix::is_covers))),
    ("sfCrosses", |a| test(a, SF_CROSSES)),
    ("sfDisjoint", |a| test(a, SF_DISJOINT)),
    ("sfEquals", |a| test(a, SF_EQUALS)),
    ("sfIntersects", |a| test(a, SF_INTERSECTS)),
    ("sfOverlaps", |a| test(a, SF_OVERLAPS)),
    ("sfTouches", |a| test(a, SF_TOUCHES)),
    ("sfWithin", |a| test(a, SF_WITHIN)),
    ("ehContains", |a| test(a, EH_CONTAINS)),
    ("ehCoveredBy", |a| test(a, EH_COVERED_BY)),
    ("ehCovers", |a| test(a, EH_COVERS)),
    ("ehDisjoint", |a| test(a, EH_DISJOINT)),
    ("ehEquals", |a| test(a, EH_EQUALS)),
    ("ehInside", |a| test(a, EH_INSIDE)),
    ("ehMeet", |a| test(a, EH_MEET)),
    ("ehOverlap", |a| test(a, EH_OVERLAP)),
    ("rcc8dc", |a| test(a, RCC8_DC)),
    ("rcc8ec", |a| test(a, RCC8_EC)),
    ("rcc8eq", |a| test(a, RCC8_EQ)),
    ("rcc8ntpp", |a| test(a, RCC8_NTPP)),
    ("rcc8ntppi", |a| test(a, RCC8_NTPPI)),
    ("rcc8po", |a| test(a, RCC8_PO)),
    ("rcc8tpp", |a| test(a, RCC8_TPP)),
    ("rcc8tppi", |a| test(a, RCC8_TPPI)),
];

/// A topological relation between two geometries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TopologicalRelation {
    /// It holds if the matrix fulfils this.
    Matrix(fn(&IntersectionMatrix) -> bool),
    /// It holds if the matrix matches one of these patterns.
    Patterns(&'static [&'static str]),
    /// A relation of the region connection calculus, which is defined for areas only.
    OfAreas(&'static str),
}

const SF_CONTAINS: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_contains);
const SF_CROSSES: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_crosses);
const SF_DISJOINT: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_disjoint);
const SF_EQUALS: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_equal_topo);
const SF_INTERSECTS: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_intersects);
const SF_OVERLAPS: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_overlaps);
const SF_TOUCHES: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_touches);
const SF_WITHIN: TopologicalRelation = TopologicalRelation::Matrix(IntersectionMatrix::is_within);
const EH_CONTAINS: TopologicalRelation = TopologicalRelation::Patterns(&["T*TFF*FF*"]);
const EH_COVERED_BY: TopologicalRelation = TopologicalRelation::Patterns(&["TFF*TFT**"]);
const EH_COVERS: TopologicalRelation = TopologicalRelation::Patterns(&["T*TFT*FF*"]);
const EH_DISJOINT: TopologicalRelation = TopologicalRelation::Patterns(&["FF*FF****"]);
const EH_EQUALS: TopologicalRelation = TopologicalRelation::Patterns(&["TFFFTFFFT"]);
const EH_INSIDE: TopologicalRelation = TopologicalRelation::Patterns(&["TFF*FFT**"]);
const EH_MEET: TopologicalRelation = TopologicalRelation::Patterns(&["FT*******", "F**T*****", "F***T****"]);
const EH_OVERLAP: TopologicalRelation = TopologicalRelation::Patterns(&["T*T***T**"]);
const RCC8_DC: TopologicalRelation = TopologicalRelation::OfAreas("FFTFFTTTT");
const RCC8_EC: TopologicalRelation = TopologicalRelation::OfAreas("FFTFTTTTT");
const RCC8_EQ: TopologicalRelation = TopologicalRelation::OfAreas("TFFFTFFFT");
const RCC8_NTPP: TopologicalRelation = TopologicalRelation::OfAreas("TFFTFFTTT");
const RCC8_NTPPI: TopologicalRelation = TopologicalRelation::OfAreas("TTTFFTFFT");
const RCC8_PO: TopologicalRelation = TopologicalRelation::OfAreas("TTTTTTTTT");
const RCC8_TPP: TopologicalRelation = TopologicalRelation::OfAreas("TFFTTFTTT");
const RCC8_TPPI: TopologicalRelation = TopologicalRelation::OfAreas("TTTFTTFFT");

/// The relations that GeoSPARQL's topology vocabulary has as properties, by local name.
const PROPERTIES: [(&str, TopologicalRelation); 24] = [
    ("sfContains", SF_CONTAINS),
    ("sfCrosses", SF_CROSSES),
    ("sfDisjoint", SF_DISJOINT),
    ("sfEquals", SF_EQUALS),
    ("sfIntersects", SF_INTERSECTS),
    ("sfOverlaps", SF_OVERLAPS),
    ("sfTouches", SF_TOUCHES),
    ("sfWithin", SF_WITHIN),
    ("ehContains", EH_CONTAINS),
    ("ehCoveredBy", EH_COVERED_BY),
    ("ehCovers", EH_COVERS),
    ("ehDisjoint", EH_DISJOINT),
    ("ehEquals", EH_EQUALS),
    ("ehInside", EH_INSIDE),
    ("ehMeet", EH_MEET),
    ("ehOverlap", EH_OVERLAP),
    ("rcc8dc", RCC8_DC),
    ("rcc8ec", RCC8_EC),
    ("rcc8eq", RCC8_EQ),
    ("rcc8ntpp", RCC8_NTPP),
    ("rcc8ntppi", RCC8_NTPPI),
    ("rcc8po", RCC8_PO),
    ("rcc8tpp", RCC8_TPP),
    ("rcc8tppi", RCC8_TPPI),
];

/// Returns the local names of the properties in the topology vocabulary.
pub(crate) fn topological_properties() -> impl Iterator<Item = &'static str> {
    PROPERTIES.into_iter().map(|(name, _)| name)
}

impl TopologicalRelation {
    /// Returns the relation of a property of the topology vocabulary, by its local name.
    pub(crate) fn of_property(name: &str) -> Option<TopologicalRelation> {
        PROPERTIES.iter().find(|(known, _)| *known == name).map(|(_, relation)| *relation)
    }

    /// Returns whether the relation of a property can hold between geometries whose bounding boxes do not meet.
    pub(crate) fn holds_apart(name: &str) -> bool {
        ["sfDisjoint", "ehDisjoint", "rcc8dc"].contains(&name)
    }

    /// Returns whether the relation holds; `None` if the geometries have two reference systems or are too complex.
    pub(crate) fn holds(self, a: &LocatedGeometry, b: &LocatedGeometry) -> Option<bool> {
        let b = if a.crs == b.crs { Cow::Borrowed(b) } else { Cow::Owned(b.clone().to_system_of(a)?) };
        effort::of_two(&a.geometry, &b.geometry)?;
        Some(self.holds_for(&a.geometry, &b.geometry))
    }

    fn holds_for(self, a: &Geometry, b: &Geometry) -> bool {
        let is_area = |g: &Geometry| g.dimensions() == geo::dimensions::Dimensions::TwoDimensional;
        match self {
            TopologicalRelation::Matrix(test) => test(&relation(a, b)),
            TopologicalRelation::Patterns(patterns) => {
                let matrix = relation(a, b);
                patterns.iter().any(|pattern| matrix.matches(pattern).unwrap_or(false))
            }
            TopologicalRelation::OfAreas(pattern) => {
                is_area(a) && is_area(b) && relation(a, b).matches(pattern).unwrap_or(false)
            }
        }
    }
}

/// A simple-features relation between two geometries that is also used outside the functions of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Spatial {
    Contains,
    Covers,
    Crosses,
    Equals,
    Intersects,
    Overlaps,
    Touches,
    Within,
}

impl Spatial {
    /// Returns whether the relation holds for this matrix.
    pub(crate) fn holds(self, matrix: &IntersectionMatrix) -> bool {
        match self {
            Spatial::Contains => matrix.is_contains(),
            Spatial::Covers => matrix.is_covers(),
            Spatial::Crosses => matrix.is_crosses(),
            Spatial::Equals => matrix.is_equal_topo(),
            Spatial::Intersects => matrix.is_intersects(),
            Spatial::Overlaps => matrix.is_overlaps(),
            Spatial::Touches => matrix.is_touches(),
            Spatial::Within => matrix.is_within(),
        }
    }
}

fn boolean(value: bool) -> Option<Term> {
    Some(Literal::from(value).into())
}

fn test(arguments: &[Term], relation: TopologicalRelation) -> Option<Term> {
    let [_, _] = arguments else { return None };
    let (a, b) = pair(arguments)?;
    boolean(relation.holds_for(&a.geometry, &b.geometry))
}

/// Evaluates `geof:relate(a, b, pattern)`.
fn relate(arguments: &[Term]) -> Option<Term> {
    let [_, _, Term::Literal(pattern)] = arguments else { return None };
    let (a, b) = pair(arguments)?;
    boolean(relation(&a.geometry, &b.geometry).matches(&pattern.value().to_ascii_uppercase()).ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::geometry::tests::wkt;
    use super::super::{call, functions};
    use super::*;

    fn holds(name: &str, a: &str, b: &str) -> Option<bool> {
        let (_, function) = functions().find(|(n, _)| *n == name).unwrap();
        call(function, &[wkt(a), wkt(b)]).map(|term| term == Literal::from(true).into())
    }

    #[test]
    fn relations_of_squares() {
        let square = "POLYGON((0 0,4 0,4 4,0 4,0 0))";
        let inner = "POLYGON((1 1,2 1,2 2,1 2,1 1))";
        let corner = "POLYGON((0 0,2 0,2 2,0 2,0 0))";
        let beside = "POLYGON((4 0,8 0,8 4,4 4,4 0))";
        let across = "POLYGON((2 2,6 2,6 6,2 6,2 2))";
        let far = "POLYGON((20 20,21 20,21 21,20 20))";
        for (name, other) in [
            ("sfContains", inner),
            ("ehContains", inner),
            ("rcc8ntppi", inner),
            ("sfContains", corner),
            ("ehCovers", corner),
            ("rcc8tppi", corner),
            ("sfTouches", beside),
            ("ehMeet", beside),
            ("rcc8ec", beside),
            ("sfOverlaps", across),
            ("ehOverlap", across),
            ("rcc8po", across),
            ("sfDisjoint", far),
            ("ehDisjoint", far),
            ("rcc8dc", far),
            ("sfEquals", square),
            ("ehEquals", square),
            ("rcc8eq", square),
        ] {
            assert_eq!(holds(name, square, other), Some(true), "{name} {other}");
            assert_eq!(
                holds(name, other, square),
                Some(!name.contains("ontains") && !name.contains("overs") && !name.ends_with("ppi")),
                "{name} turned"
            );
        }
        assert_eq!(holds("sfWithin", "POINT(1 1)", square), Some(true));
        assert_eq!(holds("sfCrosses", "LINESTRING(-1 1,5 1)", square), Some(true));
        assert_eq!(holds("rcc8ntpp", "POINT(1 1)", square), Some(false));
        assert_eq!(holds("sfIntersects", square, "POINT(1"), None);
        assert_eq!(call(relate, &[wkt(square), wkt(inner), Literal::from("T*****FF*").into()]), boolean(true));
        assert_eq!(call(relate, &[wkt(square), wkt(inner), Literal::from("T*").into()]), None);
    }
}
