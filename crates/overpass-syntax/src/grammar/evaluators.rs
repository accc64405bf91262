//! Makes the rules of calls in evaluators from the parser's table of functions: for each context the functions that
//! have what they need in it, and for each shape of arguments the functions that take it.

use std::fmt::Write;

use crate::check::evaluators::Spec;
use crate::check::{EvaluatorArguments, Needs, Type};

/// A context of an evaluator.
struct CallContext {
    /// The ending of its rules' names.
    ending: &'static str,
    has_element: bool,
    has_member: bool,
    /// The ending of the rules in a function that runs on each element of a set.
    each: &'static str,
}

const CONTEXTS: [CallContext; 3] = [
    CallContext { ending: "", has_element: false, has_member: false, each: "-element" },
    CallContext { ending: "-element", has_element: true, has_member: false, each: "-element" },
    CallContext { ending: "-member", has_element: true, has_member: true, each: "-member" },
];

/// Returns the endings of the rules' names for contexts with an element, and with a member of one.
pub(super) fn endings() -> impl Iterator<Item = &'static str> {
    CONTEXTS.iter().filter_map(|context| context.ending.strip_prefix('-'))
}

/// Returns the rules `call`, `set-call` and `geometry-call` of all contexts.
pub(super) fn rules() -> String {
    let mut rules = String::new();
    for context in &CONTEXTS {
        let of = |is_wanted: &dyn Fn(&Spec) -> bool| calls(context, is_wanted);
        let (calls, on_sets, geometries) = (
            of(&|spec| spec.returns == Type::String && !is_of_set(spec)),
            of(&|spec| spec.returns == Type::String && is_of_set(spec)),
            of(&|spec| spec.returns == Type::Geometry),
        );
        for (name, calls) in [("call", calls), ("set-call", on_sets), ("geometry-call", geometries)] {
            let _ = writeln!(rules, "{name}{} ::= {calls}", context.ending);
        }
    }
    rules
}

/// Returns whether a function runs on a set, which may be named before it.
fn is_of_set(spec: &Spec) -> bool {
    matches!(spec.arguments, EvaluatorArguments::Each(_) | EvaluatorArguments::SetCount)
}

/// Returns the calls of the wanted functions in a context: one alternative for each shape of arguments.
fn calls(context: &CallContext, is_wanted: &dyn Fn(&Spec) -> bool) -> String {
    let mut shapes: Vec<(String, Vec<&str>)> = Vec::new();
    let fits = |spec: &Spec| match spec.needs {
        Needs::Nothing => true,
        Needs::Element => context.has_element,
        Needs::Member => context.has_member,
    };
    for spec in Spec::all().filter(|spec| fits(spec) && is_wanted(spec)) {
        let arguments = arguments(spec, context);
        match shapes.iter_mut().find(|(shape, _)| *shape == arguments) {
            Some((_, names)) => names.push(spec.name),
            None => shapes.push((arguments, vec![spec.name])),
        }
    }
    let alternatives: Vec<String> = shapes
        .into_iter()
        .map(|(arguments, names)| format!("({}) ws \"(\" ws {arguments} \")\"", super::words::alternatives(names)))
        .collect();
    alternatives.join(" | ")
}

/// Returns the arguments of a function, up to the closing bracket.
fn arguments(spec: &Spec, context: &CallContext) -> String {
    // What per_member and per_vertex evaluate has a member, in any context.
    let runs_on_members = matches!(spec.element, "eval-per-member" | "eval-per-vertex");
    let inner = if runs_on_members { "-member" } else { context.ending };
    match spec.arguments {
        EvaluatorArguments::None => String::new(),
        EvaluatorArguments::One(kind) => format!("{}{inner} ws", rule(kind)),
        EvaluatorArguments::Two(kind) => format!("{0}{inner} comma {0}{inner} ws", rule(kind)),
        EvaluatorArguments::Many(kind) => format!("{0}{inner} (comma {0}{inner}){{0,10}} ws", rule(kind)),
        EvaluatorArguments::Each(kind) => format!("{}{} ws", rule(kind), context.each),
        EvaluatorArguments::Key => "key ws".to_owned(),
        EvaluatorArguments::SetCount => "counted-type ws".to_owned(),
        EvaluatorArguments::Members => "(member-type ws)?".to_owned(),
        EvaluatorArguments::Role => "role (comma member-type)? ws".to_owned(),
    }
}

/// Returns the name of the rule for arguments of a type.
fn rule(kind: Type) -> &'static str {
    match kind {
        Type::Geometry => "geometry",
        Type::String | Type::Container => "expression",
    }
}
