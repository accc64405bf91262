//! Points and distances as in WDQS: WKT points, optionally preceded by a globe, and kilometres on a sphere.

use oxrdf::{Literal, NamedNode, Term};

use terrapin_triples::{GlobePoint, Zone};

/// Evaluates `geof:distance` with two arguments, in kilometres. If a third argument names a globe, the second point is
/// taken to be on it.
pub(crate) fn distance(arguments: &[Term]) -> Option<Term> {
    let [a, b, globe @ ..] = arguments else { return None };
    let (a, b) = (GlobePoint::of(a)?, GlobePoint::of(b)?);
    Some(Literal::from(a.distance(&b.on(named_or(globe, b.globe)?))?).into())
}

/// Returns the globe that an argument names, or `otherwise` if the argument is missing.
fn named_or<'a>(argument: &'a [Term], otherwise: &'a str) -> Option<&'a str> {
    match argument {
        [] => Some(otherwise),
        [Term::NamedNode(globe)] => Some(globe.as_str()),
        _ => None,
    }
}

/// Evaluates `geof:latitude`.
pub(crate) fn latitude(arguments: &[Term]) -> Option<Term> {
    Some(Literal::from(GlobePoint::of(arguments.first()?)?.latitude).into())
}

/// Evaluates `geof:longitude`.
pub(crate) fn longitude(arguments: &[Term]) -> Option<Term> {
    Some(Literal::from(GlobePoint::of(arguments.first()?)?.longitude).into())
}

/// Evaluates `geof:globe`.
pub(crate) fn globe(arguments: &[Term]) -> Option<Term> {
    Some(NamedNode::new(GlobePoint::of(arguments.first()?)?.globe).ok()?.into())
}

fn value(term: &Term) -> Option<f64> {
    let Term::Literal(literal) = term else { return None };
    literal.value().parse().ok().filter(|v: &f64| v.is_finite())
}

/// Returns whether the first two arguments are at most as many kilometres apart as the third argument. The globe is
/// that of the second argument, or the fourth argument if there is one.
pub(crate) fn within(arguments: &[Term]) -> Option<Term> {
    let [place, centre, radius, globe @ ..] = arguments else { return None };
    let (place, centre) = (GlobePoint::of(place)?, GlobePoint::of(centre)?);
    let distance = place.distance(&centre.on(named_or(globe, centre.globe)?))?;
    Some(Literal::from(distance <= value(radius)?).into())
}

/// Returns whether the first argument is in the box from the second (west) to the third (east), which may cross the
/// 180th meridian. The globe is that of the corners, or the fourth argument if there is one.
pub(crate) fn in_box(arguments: &[Term]) -> Option<Term> {
    let [place, from, to, globe @ ..] = arguments else { return None };
    let (place, from, to) = (GlobePoint::of(place)?, GlobePoint::of(from)?, GlobePoint::of(to)?);
    if globe.is_empty() && from.globe != to.globe {
        return None;
    }
    let is_there = place.globe == named_or(globe, from.globe)?;
    Some(Literal::from(is_there && Zone::between(&from, &to).has(&place)).into())
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
        let distance = GlobePoint::of(&rome).unwrap().distance(&GlobePoint::of(&berlin).unwrap()).unwrap();
        assert!((distance - 1180.5).abs() < 2.0, "{distance}");
        let moon = wkt("<http://www.wikidata.org/entity/Q405> Point(12.5 41.9)");
        assert_eq!(
            globe(std::slice::from_ref(&moon)),
            Some(NamedNode::new_unchecked("http://www.wikidata.org/entity/Q405").into())
        );
        assert_eq!(GlobePoint::of(&moon).unwrap().distance(&GlobePoint::of(&rome).unwrap()), None);
        assert_eq!(GlobePoint::of(&wkt("Point(x)")), None);
    }

    /// The mean radii are those of the IAU: a degree of the Moon's equator is 1737.4 km · π / 180 = 30.323 km.
    #[test]
    fn distances_depend_on_the_globe() {
        let on = |globe: &str, at: &str| wkt(&format!("<http://www.wikidata.org/entity/{globe}> Point({at})"));
        let degree = |globe: &str| match distance(&[on(globe, "0 0"), on(globe, "1 0")]) {
            Some(Term::Literal(literal)) => literal.value().parse::<f64>().ok(),
            _ => None,
        };
        for (globe, kilometres) in [("Q2", 111.195), ("Q405", 30.323), ("Q111", 59.158)] {
            let found = degree(globe).unwrap();
            assert!((found - kilometres).abs() < 0.001, "{globe}: {found}");
        }
        assert_eq!(degree("Q1"), None);
        let (moon, there) =
            (Term::from(NamedNode::new_unchecked("http://www.wikidata.org/entity/Q405")), wkt("Point(1 0)"));
        let radius: Term = Literal::from(31).into();
        let is = |value: bool| Some(Literal::from(value).into());
        assert_eq!(within(&[on("Q405", "0 0"), there.clone(), radius.clone(), moon.clone()]), is(true));
        assert_eq!(within(&[on("Q405", "0 0"), there.clone(), radius.clone()]), None);
        assert_eq!(within(&[wkt("Point(0 0)"), there.clone(), radius, moon.clone()]), None);
        let corners = [wkt("Point(0 -1)"), wkt("Point(2 1)")];
        let [south_west, north_east] = corners;
        let boxed = |place: Term, globe: Option<Term>| {
            let mut arguments = vec![place, south_west.clone(), north_east.clone()];
            arguments.extend(globe);
            in_box(&arguments)
        };
        assert_eq!(boxed(there.clone(), None), is(true));
        assert_eq!(boxed(on("Q405", "1 0"), None), is(false));
        assert_eq!(boxed(on("Q405", "1 0"), Some(moon.clone())), is(true));
        assert_eq!(boxed(there, Some(moon)), is(false));
    }

    /// GeoSPARQL 1.1, requirement 11: in EPSG:4326 the latitude comes first, in CRS84 the longitude.
    #[test]
    fn reference_systems_of_the_earth_are_the_earth() {
        let plain = wkt("Point(12.5 41.9)");
        for same in [
            "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(12.5 41.9)",
            "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(41.9 12.5)",
            "<http://www.wikidata.org/entity/Q2> Point(12.5 41.9)",
        ] {
            assert_eq!(GlobePoint::of(&wkt(same)), GlobePoint::of(&plain), "{same}");
            assert_eq!(distance(&[wkt(same), plain.clone()]), Some(Literal::from(0.0).into()), "{same}");
        }
    }

    #[test]
    fn boxes_may_cross_the_date_line() {
        let yes = Some(Literal::from(true).into());
        assert_eq!(in_box(&[wkt("Point(179 0)"), wkt("Point(170 -1)"), wkt("Point(-170 1)")]), yes);
        assert_ne!(in_box(&[wkt("Point(0 0)"), wkt("Point(170 -1)"), wkt("Point(-170 1)")]), yes);
    }
}
