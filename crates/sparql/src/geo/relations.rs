//! Relations between two geometries. They use the patterns of the dimensionally extended nine-intersection model
//! (DE-9IM) that GeoSPARQL 1.1 defines in its tables 4 to 6.

use geo::algorithm::relate::IntersectionMatrix;
use geo::{Geometry, HasDimensions};
use oxrdf::{Literal, Term};

use super::Function;
use super::geometry::pair;
use super::overlay::relation;

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("relate", relate),
    ("sfContains", |a| test(a, |m, _, _| m.is_contains())),
    ("sfCrosses", |a| test(a, |m, _, _| m.is_crosses())),
    ("sfDisjoint", |a| test(a, |m, _, _| m.is_disjoint())),
    ("sfEquals", |a| test(a, |m, _, _| m.is_equal_topo())),
    ("sfIntersects", |a| test(a, |m, _, _| m.is_intersects())),
    ("sfOverlaps", |a| test(a, |m, _, _| m.is_overlaps())),
    ("sfTouches", |a| test(a, |m, _, _| m.is_touches())),
    ("sfWithin", |a| test(a, |m, _, _| m.is_within())),
    ("ehContains", |a| matches(a, &["T*TFF*FF*"])),
    ("ehCoveredBy", |a| matches(a, &["TFF*TFT**"])),
    ("ehCovers", |a| matches(a, &["T*TFT*FF*"])),
    ("ehDisjoint", |a| matches(a, &["FF*FF****"])),
    ("ehEquals", |a| matches(a, &["TFFFTFFFT"])),
    ("ehInside", |a| matches(a, &["TFF*FFT**"])),
    ("ehMeet", |a| matches(a, &["FT*******", "F**T*****", "F***T****"])),
    ("ehOverlap", |a| matches(a, &["T*T***T**"])),
    ("rcc8dc", |a| areas(a, &["FFTFFTTTT"])),
    ("rcc8ec", |a| areas(a, &["FFTFTTTTT"])),
    ("rcc8eq", |a| areas(a, &["TFFFTFFFT"])),
    ("rcc8ntpp", |a| areas(a, &["TFFTFFTTT"])),
    ("rcc8ntppi", |a| areas(a, &["TTTFFTFFT"])),
    ("rcc8po", |a| areas(a, &["TTTTTTTTT"])),
    ("rcc8tpp", |a| areas(a, &["TFFTTFTTT"])),
    ("rcc8tppi", |a| areas(a, &["TTTFTTFFT"])),
];

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

fn test(arguments: &[Term], holds: fn(&IntersectionMatrix, &Geometry, &Geometry) -> bool) -> Option<Term> {
    let [_, _] = arguments else { return None };
    let (a, b) = pair(arguments)?;
    boolean(holds(&relation(&a.geometry, &b.geometry), &a.geometry, &b.geometry))
}

fn matches(arguments: &[Term], patterns: &[&str]) -> Option<Term> {
    let [_, _] = arguments else { return None };
    let (a, b) = pair(arguments)?;
    let matrix = relation(&a.geometry, &b.geometry);
    boolean(patterns.iter().any(|pattern| matrix.matches(pattern).unwrap_or(false)))
}

/// Tests a relation of the region connection calculus, which is defined for areas only.
fn areas(arguments: &[Term], patterns: &[&str]) -> Option<Term> {
    let (a, b) = pair(arguments)?;
    let is_area = |g: &Geometry| g.dimensions() == geo::dimensions::Dimensions::TwoDimensional;
    if !(is_area(&a.geometry) && is_area(&b.geometry)) {
        return boolean(false);
    }
    matches(arguments, patterns)
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
