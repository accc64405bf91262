//! Functions of QLever (`ql:`), and those of XPath's mathematics (`math:`).
//! Documentation: <https://docs.qlever.dev/geosparql/>, <https://docs.qlever.dev/datetime/>,
//! <https://www.w3.org/TR/xpath-functions-31/#trigonometry>.

use geo::BoundingRect;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use oxsdatatypes::Double;

use crate::geo as geometry;
use crate::moment::Moment;
use crate::order::is_numeric;
use terrapin_sparql_syntax::vocabulary::QL;

/// The namespace of XPath's mathematical functions.
pub(super) const MATH: &str = "http://www.w3.org/2005/xpath-functions/math#";

/// Returns the function with an IRI in one of the two namespaces.
pub(super) fn function(iri: &str) -> Option<geometry::Function> {
    if let Some(name) = iri.strip_prefix(MATH) {
        return Some(match name {
            "exp" => |a| one(a, libm::exp),
            "log" => |a| one(a, libm::log),
            "sqrt" => |a| one(a, libm::sqrt),
            "sin" => |a| one(a, libm::sin),
            "cos" => |a| one(a, libm::cos),
            "tan" => |a| one(a, libm::tan),
            "pow" => |a| match a {
                [base, power] => double(libm::pow(number(base)?, number(power)?)),
                _ => None,
            },
            _ => return None,
        });
    }
    Some(match iri.strip_prefix(QL)? {
        "toEpoch" => to_epoch,
        "isGeoPoint" => is_point,
        "envelopeLowerLeft" => |a| corner(a, |rect| rect.min()),
        "envelopeUpperRight" => |a| corner(a, |rect| rect.max()),
        "prefix-match" => prefix_match,
        _ => return None,
    })
}

fn double(value: f64) -> Option<Term> {
    Some(Literal::from(value).into())
}

fn number(term: &Term) -> Option<f64> {
    match term {
        Term::Literal(literal) if is_numeric(literal.datatype()) => {
            Some(literal.value().parse::<Double>().ok()?.into())
        }
        _ => None,
    }
}

fn one(arguments: &[Term], function: fn(f64) -> f64) -> Option<Term> {
    match arguments {
        [argument] => double(function(number(argument)?)),
        _ => None,
    }
}

/// Evaluates `ql:toEpoch`: the seconds since 1970 in UTC, as a whole number.
fn to_epoch(arguments: &[Term]) -> Option<Term> {
    let [term] = arguments else { return None };
    let start = Literal::new_typed_literal("1970-01-01T00:00:00Z", xsd::DATE_TIME).into();
    let seconds = Moment::of(term)?.seconds_since(Moment::of(&start)?);
    Some(Literal::from(libm::floor(seconds) as i64).into())
}

fn located(arguments: &[Term]) -> Option<geometry::LocatedGeometry> {
    match arguments {
        [term] => geometry::LocatedGeometry::from_term(term),
        _ => None,
    }
}

/// Evaluates `ql:isGeoPoint`: whether a term is a point in WKT.
fn is_point(arguments: &[Term]) -> Option<Term> {
    let [_] = arguments else { return None };
    let is_point = located(arguments).is_some_and(|located| matches!(located.geometry, geo::Geometry::Point(_)));
    Some(Literal::from(is_point).into())
}

/// Returns a corner of the bounding box as a point.
fn corner(arguments: &[Term], corner: fn(&geo::Rect) -> geo::Coord) -> Option<Term> {
    let located = located(arguments)?;
    let at = corner(&located.geometry.bounding_rect()?);
    geometry::LocatedGeometry { geometry: geo::Point(at).into(), ..located }.to_term()
}

/// Evaluates `ql:prefix-match`: whether a text has a prefix.
fn prefix_match(arguments: &[Term]) -> Option<Term> {
    match arguments {
        [Term::Literal(text), Term::Literal(prefix)] => {
            Some(Literal::from(text.value().starts_with(prefix.value())).into())
        }
        _ => None,
    }
}

/// Evaluates `xsd:int`, which QLever does not distinguish from `xsd:integer`: the whole part of a number, a number in a
/// text, or 0 and 1 for truth values.
pub(super) fn int(arguments: &[Term]) -> Option<Term> {
    let [Term::Literal(literal)] = arguments else { return None };
    let value = literal.value();
    let whole = match literal.datatype() {
        d if d == xsd::BOOLEAN => i64::from(value.parse::<bool>().ok()?),
        d if d == xsd::STRING => value.trim().parse().ok()?,
        d if is_numeric(d) => {
            let number = f64::from(value.parse::<Double>().ok()?);
            (number.abs() < 9e15).then_some(libm::trunc(number) as i64)?
        }
        _ => return None,
    };
    Some(Literal::from(whole).into())
}

/// Returns whether a name is the cast `xsd:int`.
pub(super) fn is_int(name: &str) -> bool {
    name == NamedNode::from(xsd::INT).as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(iri: &str, arguments: &[Term]) -> Option<String> {
        match function(iri)?(arguments)? {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            other => Some(other.to_string()),
        }
    }

    fn typed(value: &str, datatype: oxrdf::NamedNodeRef<'_>) -> Term {
        Literal::new_typed_literal(value, datatype).into()
    }

    /// The values are those of QLever's documentation.
    #[test]
    fn epochs_are_seconds_in_utc() {
        let epoch = |at: &str| call(&format!("{QL}toEpoch"), &[typed(at, xsd::DATE_TIME)]);
        assert_eq!(epoch("1970-01-01T00:02:00Z").as_deref(), Some("120"));
        assert_eq!(epoch("1969-12-31T23:58:00Z").as_deref(), Some("-120"));
        assert_eq!(epoch("2025-12-24T17:15:00-01:00"), epoch("2025-12-24T18:15:00Z"));
    }

    #[test]
    fn mathematics() {
        assert_eq!(call(&format!("{MATH}sqrt"), &[typed("16", xsd::INTEGER)]).as_deref(), Some("4"));
        assert_eq!(
            call(&format!("{MATH}pow"), &[typed("2", xsd::INTEGER), typed("10", xsd::DECIMAL)]).as_deref(),
            Some("1024")
        );
        assert_eq!(call(&format!("{MATH}exp"), &[typed("x", xsd::STRING)]), None);
    }

    #[test]
    fn boxes_and_points() {
        let wkt = |text: &str| {
            let wkt = NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral");
            Term::from(Literal::new_typed_literal(text, wkt))
        };
        let line = wkt("LINESTRING(2 4,3 3,6 8)");
        assert_eq!(
            call(&format!("{QL}envelopeUpperRight"), std::slice::from_ref(&line)).as_deref(),
            Some("POINT(6 8)")
        );
        assert_eq!(call(&format!("{QL}isGeoPoint"), &[line]).as_deref(), Some("false"));
        assert_eq!(call(&format!("{QL}isGeoPoint"), &[wkt("POINT(1 2)")]).as_deref(), Some("true"));
    }

    #[test]
    fn int_is_the_whole_part() {
        assert_eq!(int(&[typed("-2.7", xsd::DECIMAL)]), Some(Literal::from(-2).into()));
        assert_eq!(int(&[typed("42", xsd::STRING)]), Some(Literal::from(42).into()));
        assert_eq!(int(&[typed("x", xsd::STRING)]), None);
    }
}
