//! The functions that the evaluator lacks: those of WDQS, those of GeoSPARQL under both namespaces, and the crate's
//! own, which rewritten queries call. Each file contains related functions.

pub(crate) mod aggregates;
mod called;
pub(crate) mod dates;
pub(crate) mod exact;
mod extensions;
pub(crate) mod labels;
pub(crate) mod numbers;
mod patterns;
mod places;
mod qlever;
mod random;
mod text;
mod wide;

pub(crate) use called::Called;
pub use extensions::{extension_aggregates, extension_functions};
pub(crate) use text::{Patterns, check_pattern};

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use spareval::QueryEvaluator;

use super::environment::Environment;
use super::geo;
use terrapin_sparql_syntax::algebra::{Expression, OwnFunction};

/// The namespaces of GeoSPARQL's functions: the standard's, and the one that WDQS uses.
const GEO: [&str; 2] =
    ["http://www.opengis.net/def/function/geosparql/", "http://www.opengis.net/def/geosparql/function/"];
const WIKIBASE: &str = "http://wikiba.se/ontology#";

/// Returns the arguments of a call of one of the crate's own functions.
pub(crate) fn arguments_of(expression: &Expression, function: OwnFunction) -> Option<&[Expression]> {
    match expression {
        Expression::Own(own, arguments) if *own == function => Some(arguments),
        _ => None,
    }
}

/// The implementation of a function.
enum ResolvedFunction {
    /// A cast of the evaluator.
    Cast,
    Plain(geo::Function),
    Geo(geo::Function),
}

/// Returns the local name of a GeoSPARQL function in either namespace.
pub(crate) fn geo_name(iri: &str) -> Option<&str> {
    GEO.iter().find_map(|namespace| iri.strip_prefix(namespace))
}

fn known(name: &str) -> Option<ResolvedFunction> {
    if name == xsd::DATE_TIME.as_str() {
        return Some(ResolvedFunction::Plain(|arguments| dates::cast(arguments, false)));
    }
    if name == xsd::DATE.as_str() {
        return Some(ResolvedFunction::Plain(|arguments| dates::cast(arguments, true)));
    }
    if qlever::is_int(name) {
        return Some(ResolvedFunction::Plain(qlever::int));
    }
    if let Some(function) = qlever::function(name) {
        return Some(ResolvedFunction::Geo(function));
    }
    if let Some(cast) = name.strip_prefix("http://www.w3.org/2001/XMLSchema#") {
        const CASTS: [&str; 15] = [
            "string",
            "boolean",
            "double",
            "float",
            "integer",
            "decimal",
            "time",
            "duration",
            "yearMonthDuration",
            "dayTimeDuration",
            "gYear",
            "gYearMonth",
            "gMonth",
            "gMonthDay",
            "gDay",
        ];
        return CASTS.contains(&cast).then_some(ResolvedFunction::Cast);
    }
    if let Some(name) = name.strip_prefix(WIKIBASE) {
        return match name {
            "decodeUri" => Some(ResolvedFunction::Plain(decode_uri)),
            "isSomeValue" => Some(ResolvedFunction::Plain(is_some_value)),
            _ => None,
        };
    }
    match geo_name(name)? {
        "latitude" => Some(ResolvedFunction::Plain(places::latitude)),
        "longitude" => Some(ResolvedFunction::Plain(places::longitude)),
        "globe" => Some(ResolvedFunction::Plain(places::globe)),
        "distance" => Some(ResolvedFunction::Plain(distance)),
        local => geo::functions().find(|(name, _)| *name == local).map(|(_, function)| ResolvedFunction::Geo(function)),
    }
}

/// Returns whether a function with this name exists.
pub(crate) fn exists(name: &NamedNode) -> bool {
    known(name.as_str()).is_some()
}

/// Evaluates `geof:distance`: with two arguments in kilometres as in WDQS, with three as in GeoSPARQL.
fn distance(arguments: &[Term]) -> Option<Term> {
    if arguments.len() == 2 {
        return places::distance(arguments);
    }
    let (_, function) = geo::functions().find(|(name, _)| *name == "distance")?;
    geo::call(function, arguments)
}

/// Registers the functions that a query calls with the evaluator, and whether the query is in the standard dialect.
pub(crate) fn register(
    mut evaluator: QueryEvaluator,
    (called, is_standard): (&Called, bool),
    environment: &Arc<Environment>,
    patterns: &Arc<Patterns>,
) -> QueryEvaluator {
    evaluator = exact::register(evaluator, is_standard);
    for name in &called.names {
        let Some(known) = known(name.as_str()) else { continue };
        let name = name.clone();
        evaluator = match known {
            ResolvedFunction::Cast => evaluator,
            ResolvedFunction::Plain(function) => evaluator.with_custom_function(name, function),
            ResolvedFunction::Geo(function) => {
                evaluator.with_custom_function(name, move |arguments| geo::call(function, arguments))
            }
        };
    }
    for own in &called.own {
        evaluator = own_function(evaluator, *own, environment, patterns);
    }
    evaluator
}

fn own_function(
    evaluator: QueryEvaluator,
    own: OwnFunction,
    environment: &Arc<Environment>,
    patterns: &Arc<Patterns>,
) -> QueryEvaluator {
    use std::cmp::Ordering;
    let name = own.name();
    let order = |test: fn(Ordering) -> bool| move |arguments: &[Term]| dates::compare(arguments, test);
    match own {
        OwnFunction::InDays => evaluator.with_custom_function(name, dates::in_days),
        OwnFunction::Minus => evaluator.with_custom_function(name, dates::minus),
        OwnFunction::Less => evaluator.with_custom_function(name, order(Ordering::is_lt)),
        OwnFunction::LessOrEqual => evaluator.with_custom_function(name, order(Ordering::is_le)),
        OwnFunction::Greater => evaluator.with_custom_function(name, order(Ordering::is_gt)),
        OwnFunction::GreaterOrEqual => evaluator.with_custom_function(name, order(Ordering::is_ge)),
        OwnFunction::Equal => evaluator.with_custom_function(name, order(Ordering::is_eq)),
        OwnFunction::Within => evaluator.with_custom_function(name, places::within),
        OwnFunction::InBox => evaluator.with_custom_function(name, places::in_box),
        OwnFunction::Distance => evaluator.with_custom_function(name, places::distance),
        OwnFunction::Now => {
            let now = Term::from(Literal::new_typed_literal(environment.now.clone(), xsd::DATE_TIME));
            evaluator.with_custom_function(name, move |_| Some(now.clone()))
        }
        OwnFunction::Rand => {
            let random = random::RandomSequence::new(&environment.seed, "rand");
            evaluator.with_custom_function(name, move |_| Some(Literal::from(random.fraction()).into()))
        }
        OwnFunction::Uuid => {
            let random = random::RandomSequence::new(&environment.seed, "uuid");
            evaluator.with_custom_function(name, move |_| {
                Some(NamedNode::new_unchecked(format!("urn:uuid:{}", random.uuid())).into())
            })
        }
        OwnFunction::StrUuid => {
            let random = random::RandomSequence::new(&environment.seed, "struuid");
            evaluator.with_custom_function(name, move |_| Some(Literal::new_simple_literal(random.uuid()).into()))
        }
        OwnFunction::Solution => {
            let next = AtomicU64::new(0);
            evaluator.with_custom_function(name, move |_| Some(Literal::from(next.fetch_add(1, Relaxed)).into()))
        }
        OwnFunction::BNode => {
            let random = random::RandomSequence::new(&environment.seed, "bnode");
            evaluator.with_custom_function(name, move |arguments| text::blank_node(arguments, &random))
        }
        OwnFunction::Label => {
            let store = environment.store.clone();
            evaluator.with_custom_function(name, move |arguments| labels::label(&store, arguments))
        }
        OwnFunction::Regex => {
            let patterns = patterns.clone();
            evaluator.with_custom_function(name, move |arguments| patterns.matches(arguments))
        }
        OwnFunction::Replace => {
            let patterns = patterns.clone();
            evaluator.with_custom_function(name, move |arguments| patterns.replace(arguments))
        }
        OwnFunction::Iri => evaluator.with_custom_function(name, text::iri),
        OwnFunction::Concat => evaluator.with_custom_function(name, text::concat),
        OwnFunction::EncodeForUri => evaluator.with_custom_function(name, text::encode_for_uri),
    }
}

/// Evaluates `wikibase:decodeUri`: decodes percent-encoded bytes.
fn decode_uri(arguments: &[Term]) -> Option<Term> {
    let text = match arguments {
        [Term::Literal(literal)] => literal.value(),
        [Term::NamedNode(node)] => node.as_str(),
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok()).filter(|_| byte == b'%');
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = after.get(2..).unwrap_or(&[]);
            }
            None => bytes.push(byte),
        }
    }
    Some(Literal::new_simple_literal(String::from_utf8_lossy(&bytes)).into())
}

/// Evaluates `wikibase:isSomeValue`: returns whether a value is the placeholder for an unknown value.
fn is_some_value(arguments: &[Term]) -> Option<Term> {
    let some = match arguments {
        [Term::BlankNode(_)] => true,
        [Term::NamedNode(node)] => node.as_str().contains("/.well-known/genid/"),
        [_] => false,
        _ => return None,
    };
    Some(Literal::from(some).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_namespaces_are_known() {
        for namespace in GEO {
            assert!(exists(&NamedNode::new_unchecked(format!("{namespace}distance"))));
            assert!(exists(&NamedNode::new_unchecked(format!("{namespace}sfWithin"))));
            assert!(!exists(&NamedNode::new_unchecked(format!("{namespace}nothing"))));
        }
    }

    #[test]
    fn uris_are_decoded() {
        let text = |value: &str| Term::from(Literal::new_simple_literal(value));
        assert_eq!(decode_uri(&[text("a%20b%C3%A9%zz%")]), Some(text("a bé%zz%")));
    }
}
