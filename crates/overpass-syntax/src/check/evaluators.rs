//! Checks the elements of evaluators, and defines the table of functions.

use super::super::element::{Evaluator, SyntaxElement};
use super::super::tree::*;
use super::CheckContext;
use crate::ElementMeaning;
use crate::code::OverpassCode;

/// The result type of an evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Container,
    Geometry,
}

impl Type {
    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Container => "container",
            Type::Geometry => "geometry",
        }
    }
}

/// The arguments of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvaluatorArguments {
    /// No arguments.
    None,
    /// One evaluator.
    One(Type),
    /// Two evaluators.
    Two(Type),
    /// One evaluator or more.
    Many(Type),
    /// One evaluator, applied to each element of a set.
    Each(Type),
    /// A key.
    Key,
    /// `nodes`, `ways`, ...: the elements of the set to count.
    SetCount,
    /// Optionally `nodes`, `ways` or `relations`.
    Members,
    /// A role, and optionally `nodes`, `ways` or `relations`.
    Role,
}

/// The context that a function needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    Element,
    Member,
}

/// The definition of a function.
#[derive(Debug)]
pub(crate) struct Spec {
    /// Its QL name.
    pub name: &'static str,
    /// Its name in the XML form.
    pub element: &'static str,
    /// `type` of `eval-prop-count`.
    pub property: &'static str,
    /// The function.
    pub function: EvaluatorFunction,
    /// The arguments.
    pub arguments: EvaluatorArguments,
    /// The result type.
    pub returns: Type,
    /// The context that it needs.
    pub needs: Needs,
}

const fn spec(
    name: &'static str,
    element: &'static str,
    function: EvaluatorFunction,
    arguments: EvaluatorArguments,
    needs: Needs,
) -> Spec {
    let returns = match arguments {
        EvaluatorArguments::One(Type::Geometry)
        | EvaluatorArguments::Many(Type::Geometry)
        | EvaluatorArguments::Each(Type::Geometry) => Type::Geometry,
        _ => match function {
            EvaluatorFunction::Geom | EvaluatorFunction::Pt => Type::Geometry,
            EvaluatorFunction::Keys => Type::Container,
            _ => Type::String,
        },
    };
    let property = match function {
        EvaluatorFunction::CountTags => "tags",
        EvaluatorFunction::CountMembers => "members",
        EvaluatorFunction::CountDistinctMembers => "distinct_members",
        EvaluatorFunction::CountByRole => "by_role",
        EvaluatorFunction::CountDistinctByRole => "distinct_by_role",
        _ => "",
    };
    Spec { name, element, property, function, arguments, returns, needs }
}

use EvaluatorArguments::{Each, Many, One, Two};
use Type::{Geometry, String as Text};

const NONE: EvaluatorArguments = EvaluatorArguments::None;
const ELEMENT: Needs = Needs::Element;
const MEMBER: Needs = Needs::Member;
const NOTHING: Needs = Needs::Nothing;

/// All functions.
const FUNCTIONS: [Spec; 50] = [
    spec("id", "eval-id", EvaluatorFunction::Id, NONE, ELEMENT),
    spec("type", "eval-type", EvaluatorFunction::Type, NONE, ELEMENT),
    spec("version", "eval-version", EvaluatorFunction::Version, NONE, ELEMENT),
    spec("timestamp", "eval-timestamp", EvaluatorFunction::Timestamp, NONE, ELEMENT),
    spec("changeset", "eval-changeset", EvaluatorFunction::Changeset, NONE, ELEMENT),
    spec("uid", "eval-uid", EvaluatorFunction::Uid, NONE, ELEMENT),
    spec("user", "eval-user", EvaluatorFunction::User, NONE, ELEMENT),
    spec("is_tag", "eval-is-tag", EvaluatorFunction::IsTag, EvaluatorArguments::Key, ELEMENT),
    spec("keys", "eval-all-keys", EvaluatorFunction::Keys, NONE, ELEMENT),
    spec("lat", "eval-lat", EvaluatorFunction::Lat, NONE, ELEMENT),
    spec("lon", "eval-lon", EvaluatorFunction::Lon, NONE, ELEMENT),
    spec("length", "eval-length", EvaluatorFunction::Length, NONE, ELEMENT),
    spec("is_closed", "eval-is-closed", EvaluatorFunction::IsClosed, NONE, ELEMENT),
    spec("geom", "eval-geometry", EvaluatorFunction::Geom, NONE, ELEMENT),
    spec("count_tags", "eval-prop-count", EvaluatorFunction::CountTags, NONE, ELEMENT),
    spec("count_members", "eval-prop-count", EvaluatorFunction::CountMembers, EvaluatorArguments::Members, ELEMENT),
    spec(
        "count_distinct_members",
        "eval-prop-count",
        EvaluatorFunction::CountDistinctMembers,
        EvaluatorArguments::Members,
        ELEMENT,
    ),
    spec("count_by_role", "eval-prop-count", EvaluatorFunction::CountByRole, EvaluatorArguments::Role, ELEMENT),
    spec(
        "count_distinct_by_role",
        "eval-prop-count",
        EvaluatorFunction::CountDistinctByRole,
        EvaluatorArguments::Role,
        ELEMENT,
    ),
    spec("per_member", "eval-per-member", EvaluatorFunction::PerMember, One(Text), ELEMENT),
    spec("per_vertex", "eval-per-vertex", EvaluatorFunction::PerVertex, One(Text), ELEMENT),
    spec("pos", "eval-pos", EvaluatorFunction::Pos, NONE, MEMBER),
    spec("mtype", "eval-membertype", EvaluatorFunction::MemberType, NONE, MEMBER),
    spec("ref", "eval-ref", EvaluatorFunction::Ref, NONE, MEMBER),
    spec("role", "eval-role", EvaluatorFunction::Role, NONE, MEMBER),
    spec("angle", "eval-angle", EvaluatorFunction::Angle, NONE, MEMBER),
    spec("center", "eval-center", EvaluatorFunction::Center, One(Geometry), NOTHING),
    spec("trace", "eval-trace", EvaluatorFunction::Trace, One(Geometry), NOTHING),
    spec("hull", "eval-hull", EvaluatorFunction::Hull, One(Geometry), NOTHING),
    spec("pt", "eval-point", EvaluatorFunction::Pt, Two(Text), NOTHING),
    spec("lstr", "eval-linestring", EvaluatorFunction::Lstr, Many(Geometry), NOTHING),
    spec("poly", "eval-polygon", EvaluatorFunction::Poly, Many(Geometry), NOTHING),
    spec("number", "eval-number", EvaluatorFunction::Number, One(Text), NOTHING),
    spec("is_number", "eval-is-number", EvaluatorFunction::IsNumber, One(Text), NOTHING),
    spec("suffix", "eval-suffix", EvaluatorFunction::Suffix, One(Text), NOTHING),
    spec("date", "eval-date", EvaluatorFunction::Date, One(Text), NOTHING),
    spec("is_date", "eval-is-date", EvaluatorFunction::IsDate, One(Text), NOTHING),
    spec("abs", "eval-abs", EvaluatorFunction::Abs, One(Text), NOTHING),
    spec("lrs_in", "eval-lrs-in", EvaluatorFunction::LrsIn, Two(Text), NOTHING),
    spec("lrs_isect", "eval-lrs-isect", EvaluatorFunction::LrsIsect, Two(Text), NOTHING),
    spec("lrs_union", "eval-lrs-union", EvaluatorFunction::LrsUnion, Two(Text), NOTHING),
    spec("lrs_min", "eval-lrs-min", EvaluatorFunction::LrsMin, One(Text), NOTHING),
    spec("lrs_max", "eval-lrs-max", EvaluatorFunction::LrsMax, One(Text), NOTHING),
    spec("count", "eval-set-count", EvaluatorFunction::Count, EvaluatorArguments::SetCount, NOTHING),
    spec("u", "eval-union", EvaluatorFunction::Union, Each(Text), NOTHING),
    spec("min", "eval-min", EvaluatorFunction::Min, Each(Text), NOTHING),
    spec("max", "eval-umax", EvaluatorFunction::Max, Each(Text), NOTHING),
    spec("sum", "eval-sum", EvaluatorFunction::Sum, Each(Text), NOTHING),
    spec("set", "eval-set", EvaluatorFunction::Set, Each(Text), NOTHING),
    spec("gcat", "eval-geom-concat", EvaluatorFunction::Gcat, Each(Geometry), NOTHING),
];

impl Spec {
    /// Returns the function with a QL name.
    pub fn by_name(name: &str) -> Option<&'static Spec> {
        FUNCTIONS.iter().find(|spec| spec.name == name)
    }

    /// Iterates over all functions.
    pub fn all() -> impl Iterator<Item = &'static Spec> {
        FUNCTIONS.iter()
    }

    /// Iterates over the names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|spec| spec.name)
    }
}

/// Returns the function of an element.
pub(crate) fn by_element(element: &SyntaxElement) -> Option<&'static Spec> {
    let name = element.name.as_ref();
    FUNCTIONS
        .iter()
        .find(|spec| spec.element == name && (spec.property.is_empty() || spec.property == element.get("type")))
}

/// The elements of evaluators that are neither functions nor binary operators.
pub(crate) const OTHERS: [&str; 7] =
    ["eval-fixed", "eval-value", "eval-generic", "eval-set-key", "eval-not", "eval-negate", "eval-ternary"];

/// Returns whether an evaluator has this element name.
pub(crate) fn is_known(name: &str) -> bool {
    OTHERS.contains(&name) || operator_sign(name).is_some() || FUNCTIONS.iter().any(|spec| spec.element == name)
}

/// The binary operators, with their elements.
const BINARY: [(&str, &str, BinaryOperator); 12] = [
    ("||", "eval-or", BinaryOperator::Or),
    ("&&", "eval-and", BinaryOperator::And),
    ("==", "eval-equal", BinaryOperator::Equal),
    ("!=", "eval-not-equal", BinaryOperator::NotEqual),
    ("<", "eval-less", BinaryOperator::Less),
    ("<=", "eval-less-equal", BinaryOperator::LessEqual),
    (">", "eval-greater", BinaryOperator::Greater),
    (">=", "eval-greater-equal", BinaryOperator::GreaterEqual),
    ("+", "eval-plus", BinaryOperator::Plus),
    ("-", "eval-minus", BinaryOperator::Minus),
    ("*", "eval-times", BinaryOperator::Times),
    ("/", "eval-divided-by", BinaryOperator::Divided),
];

/// Iterates over the elements of all binary operators and functions, each with the `type` attribute that distinguishes
/// it from others of the same name.
pub(crate) fn elements() -> impl Iterator<Item = (&'static str, &'static str)> {
    let operators = BINARY.iter().map(|(_, element, _)| (*element, ""));
    operators.chain(FUNCTIONS.iter().map(|spec| (spec.element, spec.property)))
}

/// Returns the element of a binary operator.
pub(crate) fn operator_element(sign: &str) -> Option<&'static str> {
    BINARY.iter().find(|(known, ..)| *known == sign).map(|(_, element, _)| *element)
}

/// Returns the binary operator of an element.
pub(crate) fn operator_sign(element: &str) -> Option<&'static str> {
    BINARY.iter().find(|(_, known, _)| *known == element).map(|(sign, ..)| *sign)
}

/// Returns the QL name of an element's function.
pub(crate) fn function_name(element: &SyntaxElement) -> Option<&'static str> {
    by_element(element).map(|spec| spec.name)
}

/// Returns the result type of an evaluator element: that of its function, or string for operators and constants.
pub(crate) fn evaluator_type(element: &SyntaxElement) -> Type {
    by_element(element).map_or(Type::String, |spec| spec.returns)
}

/// Checks an evaluator element and returns its meaning.
pub(crate) fn part(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let name = element.name.as_ref();
    if let Some((_, _, operator)) = BINARY.iter().find(|(_, known, _)| *known == name) {
        return Some(ElementMeaning::Evaluator(Evaluator::Binary(*operator)));
    }
    Some(ElementMeaning::Evaluator(match name {
        "eval-fixed" => Evaluator::Fixed(element.get("v").to_owned()),
        "eval-value" => Evaluator::Tag,
        "eval-generic" => Evaluator::Generic,
        "eval-set-key" => {
            let key = element.get("key").to_owned();
            if key.is_empty() {
                let message = "\"eval-set-key\" needs a nonempty key in attribute \"key\" to evaluate.";
                context.refuse(OverpassCode::BadValue, message);
            }
            Evaluator::SetKey { set: element.set("from"), key }
        }
        "eval-not" => Evaluator::Unary(UnaryOperator::Not),
        "eval-negate" => Evaluator::Unary(UnaryOperator::Minus),
        "eval-ternary" => Evaluator::Ternary,
        _ => call(context)?,
    }))
}

fn call(context: &mut CheckContext<'_>) -> Option<Evaluator> {
    let element = context.element;
    let Some(spec) = by_element(element) else {
        if element.name == "eval-prop-count" {
            let allowed = "\"tags\", \"members\", \"distinct_members\", \"by_role\", or \"distinct_by_role\" strings";
            context.refuse_value("type", allowed);
        }
        return None;
    };
    let mut words = Vec::new();
    match spec.arguments {
        EvaluatorArguments::Key => words.push(element.get("k").to_owned()),
        EvaluatorArguments::SetCount => {
            let kind = element.get("type");
            if !["nodes", "ways", "relations", "deriveds", "nwr", "nw", "wr", "nr"].contains(&kind) {
                context.refuse_value(
                    "type",
                    "\"nodes\", \"ways\", \"relations\", \"deriveds\", \"nwr\", \"nw\", \"wr\", or \"nr\" strings",
                );
            }
            words.push(kind.to_owned());
        }
        EvaluatorArguments::Members => {}
        EvaluatorArguments::Role => words.push(element.get("role").to_owned()),
        _ => {}
    }
    if matches!(spec.arguments, EvaluatorArguments::Members | EvaluatorArguments::Role) {
        match element.get("members_type") {
            "" | "all" => {}
            kind @ ("nodes" | "ways" | "relations") => words.push(kind.to_owned()),
            _ => context.refuse_value("members_type", "\"all\", \"nodes\", \"ways\", or \"relations\" strings"),
        }
    }
    let of_set = matches!(spec.arguments, EvaluatorArguments::Each(_) | EvaluatorArguments::SetCount);
    let set = of_set.then(|| element.set("from"));
    Some(Evaluator::Call { function: spec.function, set, words })
}

/// Returns the minimum and maximum number of an evaluator's operands.
pub(crate) fn operands(evaluator: &Evaluator) -> (usize, usize) {
    match evaluator {
        Evaluator::Fixed(_) | Evaluator::Generic | Evaluator::SetKey { .. } => (0, 0),
        Evaluator::Tag | Evaluator::Unary(_) => (1, 1),
        Evaluator::Binary(_) => (2, 2),
        Evaluator::Ternary => (3, 3),
        Evaluator::Call { function, .. } => {
            match FUNCTIONS.iter().find(|spec| spec.function == *function).map(|spec| spec.arguments) {
                Some(EvaluatorArguments::One(_) | EvaluatorArguments::Each(_)) => (1, 1),
                Some(EvaluatorArguments::Two(_)) => (2, 2),
                Some(EvaluatorArguments::Many(_)) => (0, usize::MAX),
                _ => (0, 0),
            }
        }
    }
}
