//! Property paths become relations, sequences of them joins; blank nodes become variables, which is what they mean, so
//! that patterns can be moved about; conditions on places become relations, too, and those on terms VALUES.

use oxrdf::Variable;

use super::register::register;
use super::{equal, near};
use terrapin_sparql_syntax::algebra::{Helper, Path, Pattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns_below};
use terrapin_triples::path::{NegatedSet, PathRelation};
use terrapin_triples::{Relation, View};

/// Rewrites the paths and blank nodes of a pattern.
pub fn rewrite(pattern: &mut Pattern, view: &mut View) {
    Rewriter { view, paths: Vec::new(), middles: 0 }.pattern(pattern);
}

struct Rewriter<'v> {
    view: &'v mut View,
    /// Paths that have a relation: equal ones share it, and what it has looked up.
    paths: Vec<(Path, usize)>,
    middles: usize,
}

/// A variable for a blank node.
fn name(term: &mut TermPattern) {
    if let TermPattern::BlankNode(node) = term {
        *term = Variable::from(Helper::Blank(node.as_str())).into();
    }
}

impl Rewriter<'_> {
    fn pattern(&mut self, pattern: &mut Pattern) {
        // There are no graphs for the one, and the other is somebody else's.
        if let Pattern::Graph { .. } | Pattern::Service { .. } = pattern {
            return;
        }
        on_patterns_below(NodeMut::Pattern(pattern), &mut |below| self.pattern(below));
        match pattern {
            Pattern::Bgp { patterns } => {
                for triple in patterns {
                    name(&mut triple.subject);
                    name(&mut triple.object);
                }
            }
            Pattern::Path { subject, object, .. } => {
                name(subject);
                name(object);
                if let Pattern::Path { subject, path, object } = std::mem::take(pattern) {
                    *pattern = self.path(subject, path, object);
                }
            }
            Pattern::Filter { inner, condition } => {
                for place in near::relations(condition, inner, self.view) {
                    **inner = Pattern::join(std::mem::take(&mut **inner), place);
                }
                equal::restrict(condition, inner);
            }
            _ => {}
        }
    }

    fn path(&mut self, subject: TermPattern, path: Path, object: TermPattern) -> Pattern {
        match path {
            Path::NamedNode(predicate) => {
                Pattern::Bgp { patterns: vec![TriplePattern { subject, predicate: predicate.into(), object }] }
            }
            Path::Reverse(path) => self.path(object, *path, subject),
            Path::Sequence(first, second) => {
                let middle = TermPattern::from(Variable::from(Helper::Middle(self.middles)));
                self.middles += 1;
                let first = self.path(subject, *first, middle.clone());
                Pattern::join(first, self.path(middle, *second, object))
            }
            path => Pattern::Relation { subject, number: self.relation(path), object },
        }
    }

    fn relation(&mut self, path: Path) -> usize {
        if let Some((_, number)) = self.paths.iter().find(|(other, _)| *other == path) {
            return *number;
        }
        let relation: Box<dyn Relation> = match &path {
            Path::NegatedPropertySet(except) => Box::new(NegatedSet::new(except, self.view)),
            path => Box::new(PathRelation::new(path, self.view)),
        };
        let number = register(relation, self.view);
        self.paths.push((path, number));
        number
    }
}
