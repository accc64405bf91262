//! Interprets calls of functions: `name(...)`, also on a set.

use super::super::QlParser;
use super::super::expression::{Branch, Id, TokenTree};
use super::EvaluatorContext;
use crate::ElementTreeNode;
use crate::check::{EvaluatorArguments, Needs, Spec, Type};
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::suggest;

impl<'a> QlParser<'a> {
    /// Interprets `name(...)`, with the set before it.
    pub(super) fn call(
        &mut self,
        tree: &TokenTree<'a>,
        id: Id,
        set: Option<String>,
        place: EvaluatorContext,
    ) -> Option<ElementTreeNode> {
        let branch = tree.at(id);
        let name = tree.text(branch.left);
        let Some(spec) = Spec::by_name(name) else {
            let (span, message) = (tree.at(branch.left).token.span(), format!("Function \"{name}\" not known"));
            self.builder.diagnostics.parse(OverpassCode::UnknownFunction, branch.line, span, message);
            match suggest::function(name) {
                Some(call) => self.builder.diagnostics.help(Some(format!("did you mean {call}?"))),
                None => self.builder.diagnostics.suggest(suggest::nearest(name, Spec::names()), Some(span)),
            }
            return None;
        };
        if let Some((code, message)) = refusal(spec, set.is_some(), branch.right != 0, place) {
            self.complain(branch, code, message);
            return None;
        }
        let (mut element, operands) = self.arguments(tree, id, spec, place)?;
        if is_of_set(spec) {
            element = element.with("from", set.unwrap_or_else(|| "_".to_owned()));
        }
        self.fits(&element, spec.returns, place).then(|| self.operation(element, operands))
    }

    /// Creates the element of a call, with its arguments.
    fn arguments(
        &mut self,
        tree: &TokenTree<'a>,
        id: Id,
        spec: &'static Spec,
        place: EvaluatorContext,
    ) -> Option<(SyntaxElement, Vec<ElementTreeNode>)> {
        let branch = tree.at(id);
        let right = branch.right;
        let mut element = SyntaxElement::new(spec.element, branch.line, tree.span(id));
        if !spec.property.is_empty() {
            element = element.with("type", spec.property);
        }
        let mut operands = Vec::new();
        match spec.arguments {
            EvaluatorArguments::None => {}
            EvaluatorArguments::One(wanted) | EvaluatorArguments::Each(wanted) => {
                let missing = || format!("{}(...) needs an argument", spec.name);
                operands.extend(self.argument((tree, branch), right, inside(spec, wanted, place), missing));
            }
            EvaluatorArguments::Two(wanted) => operands = self.two_arguments(tree, branch, spec, place.wanting(wanted)),
            EvaluatorArguments::Many(wanted) => {
                let missing = || format!("Every argument of {}(...) must be an evaluator", spec.name);
                for item in tree.items(right) {
                    operands.extend(self.argument((tree, tree.at(item)), item, place.wanting(wanted), missing));
                }
            }
            EvaluatorArguments::Key => {
                let key = self.word(tree, right);
                if key.is_none() {
                    let message = format!("{}(key) needs a simple string as argument", spec.name);
                    self.complain(branch, OverpassCode::WrongArgument, message);
                }
                element = element.with("k", key?);
            }
            EvaluatorArguments::SetCount => element = element.with("type", self.counted_type(tree, branch)?),
            EvaluatorArguments::Members => {
                if right != 0 {
                    element = self.members(tree, branch, right, spec, element, "an")?;
                }
            }
            EvaluatorArguments::Role => element = self.role(tree, branch, spec, element)?,
        }
        Some((element, operands))
    }

    /// Interprets one argument. Adds an error if it is missing.
    fn argument(
        &mut self,
        (tree, branch): (&TokenTree<'a>, Branch<'a>),
        id: Id,
        place: EvaluatorContext,
        missing: impl FnOnce() -> String,
    ) -> Option<ElementTreeNode> {
        let operand = self.evaluate(tree, id, place);
        if operand.is_none() {
            self.complain(branch, OverpassCode::WrongArgument, missing());
        }
        operand
    }

    fn two_arguments(
        &mut self,
        tree: &TokenTree<'a>,
        branch: Branch<'a>,
        spec: &Spec,
        place: EvaluatorContext,
    ) -> Vec<ElementTreeNode> {
        let comma = tree.at(branch.right);
        if comma.token.text != "," || comma.left == 0 || comma.right == 0 {
            self.complain(branch, OverpassCode::WrongArgument, format!("{}(...) needs two arguments", spec.name));
            return Vec::new();
        }
        let sides = [("First", comma.left), ("Second", comma.right)].into_iter();
        let operands = sides.filter_map(|(ordinal, side)| {
            // This is the reference's spelling.
            let word = if spec.name == "pt" { "evaluator" } else { "evualator" };
            let missing = || format!("{ordinal} argument of {}(...) must be an {word}", spec.name);
            // As in the reference, which here prints the column instead of the line.
            let line = match (spec.name, ordinal) {
                ("pt", _) | (_, "First") => branch.line,
                _ => self.tokens.column(branch.token.start),
            };
            self.argument((tree, branch.at_line(line)), side, place, missing)
        });
        operands.collect()
    }

    /// Returns the element type that `count` counts.
    fn counted_type(&mut self, tree: &TokenTree<'a>, branch: Branch<'a>) -> Option<String> {
        const TYPES: [&str; 8] = ["nodes", "ways", "relations", "deriveds", "nwr", "nw", "wr", "nr"];
        let right = branch.right;
        let counted = self.word(tree, right).filter(|_| TYPES.contains(&tree.text(right)));
        if counted.is_none() {
            let message = "\"count\" accepts only one of \"nodes\", \"ways\", \"relations\", \"deriveds\", \"nwr\", \"nw\", \"wr\", or \"nr\" as type argument.";
            self.complain(branch, OverpassCode::WrongArgument, message);
            let meant = suggest::nearest(tree.text(right), TYPES.into_iter());
            self.builder.diagnostics.suggest(meant, Some(tree.at(right).token.span()));
        }
        counted
    }

    /// Adds a role and, if there is a second argument, the type of the members with this role.
    fn role(
        &mut self,
        tree: &TokenTree<'a>,
        branch: Branch<'a>,
        spec: &Spec,
        element: SyntaxElement,
    ) -> Option<SyntaxElement> {
        let items = tree.items(branch.right);
        let role = items.first().and_then(|&item| self.word(tree, item));
        if role.is_none() {
            let message = format!("{}() needs a single literal expression as argument for the wanted role", spec.name);
            self.complain(branch, OverpassCode::WrongArgument, message);
        }
        let element = element.with("role", role?);
        match items.get(1) {
            Some(&kind) => self.members(tree, branch, kind, spec, element, "second"),
            None => Some(element),
        }
    }

    /// Adds `nodes`, `ways` or `relations` for the functions that count members.
    fn members(
        &mut self,
        tree: &TokenTree<'a>,
        branch: Branch<'a>,
        id: Id,
        spec: &Spec,
        element: SyntaxElement,
        which: &str,
    ) -> Option<SyntaxElement> {
        let kind = self.word(tree, id).filter(|kind| ["nodes", "ways", "relations"].contains(&kind.as_str()));
        if kind.is_none() {
            let message = format!(
                "{}(...) can only have one of the words nodes, ways, or relations as {which} argument",
                spec.name
            );
            self.complain(branch, OverpassCode::WrongArgument, message);
        }
        Some(element.with("members_type", kind?))
    }

    /// Returns a single word, string or number.
    fn word(&self, tree: &TokenTree<'a>, id: Id) -> Option<String> {
        let branch = tree.at(id);
        (id != 0 && branch.left == 0 && branch.right == 0).then(|| branch.token.value())
    }
}

/// Returns whether a function runs on the elements of a set.
fn is_of_set(spec: &Spec) -> bool {
    matches!(spec.arguments, EvaluatorArguments::Each(_) | EvaluatorArguments::SetCount)
}

/// Checks a call without interpreting its arguments. Returns the error's code and message, if there is an error.
fn refusal(spec: &Spec, has_set: bool, has_arguments: bool, place: EvaluatorContext) -> Option<(OverpassCode, String)> {
    let name = spec.name;
    let wrong = |message: String| Some((OverpassCode::WrongArgument, message));
    if has_set && !is_of_set(spec) {
        return wrong(format!("{name}(...) cannot have an input set"));
    }
    match spec.arguments {
        EvaluatorArguments::None if has_arguments => {
            return wrong(format!("{name}(...) does not accept any arguments"));
        }
        EvaluatorArguments::None | EvaluatorArguments::Members => {}
        _ if has_arguments => {}
        EvaluatorArguments::Each(_) => return wrong(format!("{name}(...) needs an argument")),
        EvaluatorArguments::Role if place.element => {
            return wrong(format!("{name}() must have the name of the wanted role as argument"));
        }
        EvaluatorArguments::Role => {}
        EvaluatorArguments::One(_)
        | EvaluatorArguments::Two(_)
        | EvaluatorArguments::Many(_)
        | EvaluatorArguments::Key
        | EvaluatorArguments::SetCount => {
            return wrong(format!("{name}(...) must have one or more arguments"));
        }
    }
    let lacks = match spec.needs {
        Needs::Element if !place.element => "an element",
        Needs::Member if !place.member => "an element's member",
        Needs::Nothing | Needs::Element | Needs::Member => return None,
    };
    Some((OverpassCode::WrongContext, format!("{name}(...) must be called in a context where it can evaluate {lacks}")))
}

/// Returns the context of the arguments of a call in the context `place`.
fn inside(spec: &Spec, wanted: Type, place: EvaluatorContext) -> EvaluatorContext {
    let mut inside = place.wanting(wanted);
    inside.element |= matches!(spec.arguments, EvaluatorArguments::Each(_));
    inside.member |= matches!(spec.element, "eval-per-member" | "eval-per-vertex");
    inside
}
