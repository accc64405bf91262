//! Rewrites property paths to relations, and sequences of paths to joins. Blank nodes become equivalent variables, so
//! that patterns can be reordered. Conditions on positions become relations, and conditions that list terms become
//! VALUES.

use std::sync::Arc;

use oxrdf::{Term, Variable};

use super::has_predicate::{HasPredicate, is_has_predicate};
use super::register::register;
use super::reified::{TripleTerms, constant};
use super::{equal, near};
use terrapin_sparql_syntax::algebra::{Helper, Path, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns_below};
use terrapin_triples::path::{NegatedSet, PathRelation};
use terrapin_triples::{GraphSelection, TermRelation, TripleView};

/// Rewrites the paths and blank nodes of a pattern.
pub fn rewrite(pattern: &mut QueryPattern, view: &mut TripleView) {
    let reads_all = view.selected() == GraphSelection::All;
    PathRewriter { view, paths: Vec::new(), middles: 0, reads_all, reified: TripleTerms::default() }.pattern(pattern);
}

struct PathRewriter<'v> {
    view: &'v mut TripleView,
    /// The relations by path: equal paths share one relation and its cache.
    paths: Vec<(Path, usize)>,
    middles: usize,
    /// Whether the pattern reads all graphs together.
    reads_all: bool,
    reified: TripleTerms,
}

/// Returns the term of a pattern that is a constant.
fn ground(pattern: &TermPattern) -> Option<Term> {
    match pattern {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Triple(triple) => constant(triple),
        TermPattern::BlankNode(_) | TermPattern::Variable(_) => None,
    }
}

/// Returns whether a path may have length zero and therefore connects every node with itself.
fn is_nullable(path: &Path) -> bool {
    match path {
        Path::ZeroOrMore(_) | Path::ZeroOrOne(_) => true,
        Path::NamedNode(_) | Path::NegatedPropertySet(_) => false,
        Path::Reverse(inner) | Path::OneOrMore(inner) => is_nullable(inner),
        Path::Sequence(a, b) => is_nullable(a) && is_nullable(b),
        Path::Alternative(a, b) => is_nullable(a) || is_nullable(b),
    }
}

/// Replaces a blank node by a variable, and those in a triple term.
pub(crate) fn name_blank(term: &mut TermPattern) {
    match term {
        TermPattern::BlankNode(node) => *term = Variable::from(Helper::Blank(node.as_str())).into(),
        TermPattern::Triple(triple) => {
            name_blank(&mut triple.subject);
            name_blank(&mut triple.object);
        }
        TermPattern::NamedNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
    }
}

impl PathRewriter<'_> {
    fn pattern(&mut self, pattern: &mut QueryPattern) {
        let around = self.reads_all;
        self.reads_all &= !matches!(pattern, QueryPattern::Graph { .. });
        on_patterns_below(NodeMut::Pattern(pattern), &mut |below| self.pattern(below));
        self.reads_all = around;
        match pattern {
            QueryPattern::Bgp { patterns } => {
                for triple in patterns.iter_mut() {
                    name_blank(&mut triple.subject);
                    name_blank(&mut triple.object);
                }
                if let Some(rewritten) = self.reified.rewrite(patterns, self.view) {
                    *pattern = rewritten;
                }
            }
            QueryPattern::Path { subject, object, .. } => {
                name_blank(subject);
                name_blank(object);
                let parts = self.reified.ends([subject, object], self.view);
                if let QueryPattern::Path { subject, path, object } = std::mem::take(pattern) {
                    *pattern = parts.into_iter().fold(self.path(subject, path, object), QueryPattern::join);
                }
            }
            QueryPattern::Relation { subject, object, .. } => {
                let parts = self.reified.ends([subject, object], self.view);
                *pattern = parts.into_iter().fold(std::mem::take(pattern), QueryPattern::join);
            }
            QueryPattern::Filter { inner, condition } => {
                if self.reads_all {
                    for place in near::relations(condition, inner, self.view) {
                        **inner = QueryPattern::join(std::mem::take(&mut **inner), place);
                    }
                }
                equal::restrict(condition, inner);
            }
            _ => {}
        }
    }

    fn path(&mut self, subject: TermPattern, path: Path, object: TermPattern) -> QueryPattern {
        match path {
            Path::NamedNode(predicate) if is_has_predicate(&predicate) => {
                let number = self.relation(Path::NamedNode(predicate));
                QueryPattern::Relation { subject, number, object }
            }
            Path::NamedNode(predicate) => {
                QueryPattern::Bgp { patterns: vec![TriplePattern { subject, predicate: predicate.into(), object }] }
            }
            Path::Reverse(path) => self.path(object, *path, subject),
            Path::Sequence(first, second) => {
                let middle = TermPattern::from(Variable::from(Helper::Middle(self.middles)));
                self.middles += 1;
                let first = self.path(subject, *first, middle.clone());
                QueryPattern::join(first, self.path(middle, *second, object))
            }
            path => match self.without_steps(&subject, &path, &object) {
                Some(pattern) => pattern,
                None => QueryPattern::Relation { subject, number: self.relation(path), object },
            },
        }
    }

    /// Replaces a path of possible length zero from or to a constant that occurs in no triple. Such a path only
    /// connects the constant with itself (<https://www.w3.org/TR/sparql11-query/#defn_evalZeroOrOnePath>).
    fn without_steps(&self, subject: &TermPattern, path: &Path, object: &TermPattern) -> Option<QueryPattern> {
        let [from, to] = [subject, object].map(ground);
        let strange = |term: &Term| !self.view.store().is_node(self.view.id(term));
        if !is_nullable(path) || ![&from, &to].into_iter().flatten().any(strange) {
            return None;
        }
        let row = |variables: Vec<Variable>, values: Vec<Option<Term>>| QueryPattern::Values {
            variables,
            rows: Arc::new(vec![values]),
        };
        Some(match (from, to, subject, object) {
            (Some(from), Some(to), ..) if from == to => QueryPattern::default(),
            (Some(term), None, _, TermPattern::Variable(variable))
            | (None, Some(term), TermPattern::Variable(variable), _) => row(vec![variable.clone()], vec![Some(term)]),
            _ => QueryPattern::Values { variables: Vec::new(), rows: Arc::default() },
        })
    }

    fn relation(&mut self, path: Path) -> usize {
        if let Some((_, number)) = self.paths.iter().find(|(other, _)| *other == path) {
            return *number;
        }
        let relation: Box<dyn TermRelation> = match &path {
            Path::NamedNode(_) => Box::new(HasPredicate),
            Path::NegatedPropertySet(except) => Box::new(NegatedSet::new(except, self.view)),
            path => Box::new(PathRelation::new(path, self.view)),
        };
        let number = register(relation, path.to_string(), self.view);
        self.paths.push((path, number));
        number
    }
}
