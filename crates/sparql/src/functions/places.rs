//! Points and distances as WDQS has them: WKT points with an optional globe in front, and kilometres on a sphere.

use oxrdf::{Literal, NamedNode, Term};

use terrapin_triples::{Point, Zone};

/// `geof:distance` with two arguments: kilometres.
pub(crate) fn distance(arguments: &[Term]) -> Option<Term> {
    let [a, b] = arguments else { return None };
    Some(Literal::from(Point::of(a)?.distance(&Point::of(b)?)?).into())
}

/// `geof:latitude`.
pub(crate) fn latitude(arguments: &[Term]) -> Option<Term> {
    Some(Literal::from(Point::of(arguments.first()?)?.latitude).into())
}

/// `geof:longitude`.
pub(crate) fn longitude(arguments: &[Term]) -> Option<Term> {
    Some(Literal::from(Point::of(arguments.first()?)?.longitude).into())
}

/// `geof:globe`.
pub(crate) fn globe(arguments: &[Term]) -> Option<Term> {
    Some(NamedNode::new(Point::of(arguments.first()?)?.globe).ok()?.into())
}

fn value(term: &Term) -> Option<f64> {
    let Term::Literal(literal) = term else { return None };
    literal.value().parse().ok().filter(|v: &f64| v.is_finite())
}

/// Whether the first argument is within the third's kilometres of the second.
pub(crate) fn within(arguments: &[Term]) -> Option<Term> {
    let [place, centre, radius] = arguments else { return None };
    let distance = Point::of(place)?.distance(&Point::of(centre)?)?;
    Some(Literal::from(distance <= value(radius)?).into())
}

/// Whether the first argument is in the box from the second (west) to the third (east), which may cross
/// the 180th meridian.
pub(crate) fn in_box(arguments: &[Term]) -> Option<Term> {
    let [place, from, to] = arguments else { return None };
    Some(Literal::from(Zone::between(&Point::of(from)?, &Point::of(to)?).has(&Point::of(place)?)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wkt(text: &str) -> Term {
        Literal::new_typed_literal(text, NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral"))
            .into()
    }

    #[test]
    fn kilometres_between_points() {
        let (rome, berlin) = (wkt("Point(12.5 41.9)"), wkt("POINT (13.4 52.5)"));
        let distance = Point::of(&rome).unwrap().distance(&Point::of(&berlin).unwrap()).unwrap();
        assert!((distance - 1180.5).abs() < 2.0, "{distance}");
        let moon = wkt("<http://www.wikidata.org/entity/Q405> Point(12.5 41.9)");
        assert_eq!(
            globe(std::slice::from_ref(&moon)),
            Some(NamedNode::new_unchecked("http://www.wikidata.org/entity/Q405").into())
        );
        assert_eq!(Point::of(&moon).unwrap().distance(&Point::of(&rome).unwrap()), None);
        assert_eq!(Point::of(&wkt("Point(x)")), None);
    }

    #[test]
    fn boxes_may_cross_the_date_line() {
        let yes = Some(Literal::from(true).into());
        assert_eq!(in_box(&[wkt("Point(179 0)"), wkt("Point(170 -1)"), wkt("Point(-170 1)")]), yes);
        assert_ne!(in_box(&[wkt("Point(0 0)"), wkt("Point(170 -1)"), wkt("Point(-170 1)")]), yes);
    }
}
