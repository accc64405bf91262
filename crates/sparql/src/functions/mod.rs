//! The functions that the evaluator lacks: those of WDQS, those of GeoSPARQL under both namespaces, and the crate's
//! own, which rewritten queries call. Each file contains related functions.

pub(crate) mod aggregates;
mod called;
pub(crate) mod dates;
pub(crate) mod exact;
pub(crate) mod labels;
pub(crate) mod numbers;
mod patterns;
mod places;
mod random;
mod text;
mod wide;

pub(crate) use called::Called;
pub(crate) use text::{Patterns, check_pattern};

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use spareval::QueryEvaluator;

use super::environment::Environment;
use super::geo;
use terrapin_sparql_syntax::algebra::{Expression, Function};

/// The namespace of the crate's own functions.
const OWN: &str = "urn:terrapin:function:";
/// The namespaces of GeoSPARQL's functions: the standard's, and the one that WDQS uses.
const GEO: [&str; 2] =
    ["http://www.opengis.net/def/function/geosparql/", "http://www.opengis.net/def/geosparql/function/"];
const WIKIBASE: &str = "http://wikiba.se/ontology#";

/// The crate's own functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Own {
    InDays,
    Minus,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Now,
    Rand,
    Uuid,
    StrUuid,
    Solution,
    BNode,
    Within,
    InBox,
    Distance,
    Label,
    Regex,
    Replace,
    Iri,
    Concat,
    EncodeForUri,
}

const NAMES: [(Own, &str); 22] = [
    (Own::InDays, "in-days"),
    (Own::Minus, "minus"),
    (Own::Less, "less"),
    (Own::LessOrEqual, "less-or-equal"),
    (Own::Greater, "greater"),
    (Own::GreaterOrEqual, "greater-or-equal"),
    (Own::Equal, "equal"),
    (Own::Now, "now"),
    (Own::Rand, "rand"),
    (Own::Uuid, "uuid"),
    (Own::StrUuid, "struuid"),
    (Own::Solution, "solution"),
    (Own::BNode, "bnode"),
    (Own::Within, "within"),
    (Own::InBox, "in-box"),
    (Own::Distance, "distance"),
    (Own::Label, "label"),
    (Own::Regex, "regex"),
    (Own::Replace, "replace"),
    (Own::Iri, "iri"),
    (Own::Concat, "concat"),
    (Own::EncodeForUri, "encode-for-uri"),
];

/// Builds a call of one of the crate's own functions.
fn call(function: Own, arguments: Vec<Expression>) -> Expression {
    let name = NAMES.iter().find(|(own, _)| *own == function).map_or("", |(_, name)| name);
    Expression::Call(Function::Custom(NamedNode::new_unchecked(format!("{OWN}{name}"))), arguments)
}

/// Returns whether one of the crate's own functions returns strings, IRIs, blank nodes, dates or truth values, but
/// never numbers.
fn gives_text_or_truth(name: &NamedNode) -> bool {
    let own = name.as_str().strip_prefix(OWN).and_then(|name| NAMES.iter().find(|(_, own)| *own == name));
    own.is_some_and(|(own, _)| match own {
        Own::Less
        | Own::LessOrEqual
        | Own::Greater
        | Own::GreaterOrEqual
        | Own::Equal
        | Own::Now
        | Own::Uuid
        | Own::StrUuid
        | Own::BNode
        | Own::Within
        | Own::InBox
        | Own::Label
        | Own::Regex
        | Own::Replace
        | Own::Iri
        | Own::Concat
        | Own::EncodeForUri => true,
        Own::InDays | Own::Minus | Own::Rand | Own::Solution | Own::Distance => false,
    })
}

/// Returns the arguments of a call of one of the crate's own functions.
pub(crate) fn arguments_of(expression: &Expression, function: Own) -> Option<&[Expression]> {
    match expression {
        Expression::Call(Function::Custom(name), arguments) => {
            let name = name.as_str().strip_prefix(OWN)?;
            NAMES.contains(&(function, name)).then_some(&arguments[..])
        }
        _ => None,
    }
}

/// The implementation of a function.
enum ResolvedFunction {
    /// A cast of the evaluator.
    Cast,
    Own(Own),
    Plain(geo::Function),
    Geo(geo::Function),
}

/// Returns the local name of a GeoSPARQL function in either namespace.
pub(crate) fn geo_name(iri: &str) -> Option<&str> {
    GEO.iter().find_map(|namespace| iri.strip_prefix(namespace))
}

fn known(name: &str) -> Option<ResolvedFunction> {
    if let Some(own) = name.strip_prefix(OWN) {
        return NAMES.iter().find(|(_, name)| *name == own).map(|(own, _)| ResolvedFunction::Own(*own));
    }
    if name == xsd::DATE_TIME.as_str() {
        return Some(ResolvedFunction::Plain(|arguments| dates::cast(arguments, false)));
    }
    if name == xsd::DATE.as_str() {
        return Some(ResolvedFunction::Plain(|arguments| dates::cast(arguments, true)));
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

/// Registers the functions that a query calls with the evaluator.
pub(crate) fn register(
    mut evaluator: QueryEvaluator,
    names: &[NamedNode],
    environment: &Arc<Environment>,
    patterns: &Arc<Patterns>,
) -> QueryEvaluator {
    evaluator = exact::register(evaluator);
    for name in names {
        let Some(known) = known(name.as_str()) else { continue };
        let name = name.clone();
        evaluator = match known {
            ResolvedFunction::Cast => evaluator,
            ResolvedFunction::Plain(function) => evaluator.with_custom_function(name, function),
            ResolvedFunction::Geo(function) => {
                evaluator.with_custom_function(name, move |arguments| geo::call(function, arguments))
            }
            ResolvedFunction::Own(own) => own_function(evaluator, name, own, environment, patterns),
        };
    }
    evaluator
}

fn own_function(
    evaluator: QueryEvaluator,
    name: NamedNode,
    own: Own,
    environment: &Arc<Environment>,
    patterns: &Arc<Patterns>,
) -> QueryEvaluator {
    use std::cmp::Ordering;
    let order = |test: fn(Ordering) -> bool| move |arguments: &[Term]| dates::compare(arguments, test);
    match own {
        Own::InDays => evaluator.with_custom_function(name, dates::in_days),
        Own::Minus => evaluator.with_custom_function(name, dates::minus),
        Own::Less => evaluator.with_custom_function(name, order(Ordering::is_lt)),
        Own::LessOrEqual => evaluator.with_custom_function(name, order(Ordering::is_le)),
        Own::Greater => evaluator.with_custom_function(name, order(Ordering::is_gt)),
        Own::GreaterOrEqual => evaluator.with_custom_function(name, order(Ordering::is_ge)),
        Own::Equal => evaluator.with_custom_function(name, order(Ordering::is_eq)),
        Own::Within => evaluator.with_custom_function(name, places::within),
        Own::InBox => evaluator.with_custom_function(name, places::in_box),
        Own::Distance => evaluator.with_custom_function(name, places::distance),
        Own::Now => {
            let now = Term::from(Literal::new_typed_literal(environment.now.clone(), xsd::DATE_TIME));
            evaluator.with_custom_function(name, move |_| Some(now.clone()))
        }
        Own::Rand => {
            let random = random::RandomSequence::new(&environment.seed, "rand");
            evaluator.with_custom_function(name, move |_| Some(Literal::from(random.fraction()).into()))
        }
        Own::Uuid => {
            let random = random::RandomSequence::new(&environment.seed, "uuid");
            evaluator.with_custom_function(name, move |_| {
                Some(NamedNode::new_unchecked(format!("urn:uuid:{}", random.uuid())).into())
            })
        }
        Own::StrUuid => {
            let random = random::RandomSequence::new(&environment.seed, "struuid");
            evaluator.with_custom_function(name, move |_| Some(Literal::new_simple_literal(random.uuid()).into()))
        }
        Own::Solution => {
            let next = AtomicU64::new(0);
            evaluator.with_custom_function(name, move |_| Some(Literal::from(next.fetch_add(1, Relaxed)).into()))
        }
        Own::BNode => {
            let random = random::RandomSequence::new(&environment.seed, "bnode");
            evaluator.with_custom_function(name, move |arguments| text::blank_node(arguments, &random))
        }
        Own::Label => {
            let store = environment.store.clone();
            evaluator.with_custom_function(name, move |arguments| labels::label(&store, arguments))
        }
        Own::Regex => {
            let patterns = patterns.clone();
            evaluator.with_custom_function(name, move |arguments| patterns.matches(arguments))
        }
        Own::Replace => {
            let patterns = patterns.clone();
            evaluator.with_custom_function(name, move |arguments| patterns.replace(arguments))
        }
        Own::Iri => evaluator.with_custom_function(name, text::iri),
        Own::Concat => evaluator.with_custom_function(name, text::concat),
        Own::EncodeForUri => evaluator.with_custom_function(name, text::encode_for_uri),
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
