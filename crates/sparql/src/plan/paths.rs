//! Property paths become triple patterns whose predicates are relations, sequences of them joins; blank nodes become
//! variables, which is what they mean, so that patterns can be moved about; conditions on places become patterns, too.

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::{AggregateExpression, GraphPattern, OrderExpression, PropertyPathExpression as Path};
use spargebra::term::{TermPattern, TriplePattern};

use super::near;
use terrapin_sparql_syntax::walk::map_exists;
use terrapin_triples::View;
use terrapin_triples::path::{NegatedSet, PathRelation};

/// What the relations of paths are called: a number follows.
const NAMESPACE: &str = "urn:terrapin:path:";

/// Rewrites the paths and blank nodes of a pattern.
pub fn rewrite(pattern: GraphPattern, view: &mut View) -> GraphPattern {
    Rewriter { view, paths: Vec::new(), middles: 0 }.pattern(pattern)
}

struct Rewriter<'v> {
    view: &'v mut View,
    /// Paths that have a relation: equal ones share it, and what it has looked up.
    paths: Vec<(Path, NamedNode)>,
    middles: usize,
}

/// The variable that a blank node stands for. No query can name it.
fn variable(label: &str) -> TermPattern {
    Variable::new_unchecked(format!(".blank.{label}")).into()
}

fn term(term: TermPattern) -> TermPattern {
    match term {
        TermPattern::BlankNode(node) => variable(node.as_str()),
        term => term,
    }
}

impl Rewriter<'_> {
    fn boxed(&mut self, mut pattern: Box<GraphPattern>) -> Box<GraphPattern> {
        *pattern = self.pattern(std::mem::take(&mut *pattern));
        pattern
    }

    fn pattern(&mut self, pattern: GraphPattern) -> GraphPattern {
        match pattern {
            GraphPattern::Bgp { patterns } => GraphPattern::Bgp {
                patterns: patterns
                    .into_iter()
                    .map(|t| TriplePattern { subject: term(t.subject), predicate: t.predicate, object: term(t.object) })
                    .collect(),
            },
            GraphPattern::Path { subject, path, object } => self.path(term(subject), path, term(object)),
            GraphPattern::Join { left, right } => {
                GraphPattern::Join { left: self.boxed(left), right: self.boxed(right) }
            }
            GraphPattern::Lateral { left, right } => {
                GraphPattern::Lateral { left: self.boxed(left), right: self.boxed(right) }
            }
            GraphPattern::LeftJoin { left, right, expression } => GraphPattern::LeftJoin {
                left: self.boxed(left),
                right: self.boxed(right),
                expression: expression.map(|e| map_exists(e, &mut |p| self.pattern(p))),
            },
            GraphPattern::Filter { expr, inner } => {
                let mut inner = self.boxed(inner);
                let patterns = near::patterns(&expr, &inner, self.view);
                if !patterns.is_empty() {
                    inner =
                        Box::new(GraphPattern::Join { left: inner, right: Box::new(GraphPattern::Bgp { patterns }) });
                }
                GraphPattern::Filter { expr: map_exists(expr, &mut |p| self.pattern(p)), inner }
            }
            GraphPattern::Union { left, right } => {
                GraphPattern::Union { left: self.boxed(left), right: self.boxed(right) }
            }
            GraphPattern::Extend { inner, variable, expression } => GraphPattern::Extend {
                inner: self.boxed(inner),
                variable,
                expression: map_exists(expression, &mut |p| self.pattern(p)),
            },
            GraphPattern::Minus { left, right } => {
                GraphPattern::Minus { left: self.boxed(left), right: self.boxed(right) }
            }
            GraphPattern::OrderBy { inner, expression } => GraphPattern::OrderBy {
                inner: self.boxed(inner),
                expression: expression
                    .into_iter()
                    .map(|order| match order {
                        OrderExpression::Asc(e) => OrderExpression::Asc(map_exists(e, &mut |p| self.pattern(p))),
                        OrderExpression::Desc(e) => OrderExpression::Desc(map_exists(e, &mut |p| self.pattern(p))),
                    })
                    .collect(),
            },
            GraphPattern::Project { inner, variables } => GraphPattern::Project { inner: self.boxed(inner), variables },
            GraphPattern::Distinct { inner } => GraphPattern::Distinct { inner: self.boxed(inner) },
            GraphPattern::Reduced { inner } => GraphPattern::Reduced { inner: self.boxed(inner) },
            GraphPattern::Slice { inner, start, length } => {
                GraphPattern::Slice { inner: self.boxed(inner), start, length }
            }
            GraphPattern::Group { inner, variables, aggregates } => GraphPattern::Group {
                inner: self.boxed(inner),
                variables,
                aggregates: aggregates
                    .into_iter()
                    .map(|(variable, aggregate)| match aggregate {
                        AggregateExpression::FunctionCall { name, expr, distinct } => {
                            let expr = map_exists(expr, &mut |p| self.pattern(p));
                            (variable, AggregateExpression::FunctionCall { name, expr, distinct })
                        }
                        count @ AggregateExpression::CountSolutions { .. } => (variable, count),
                    })
                    .collect(),
            },
            // There are no graphs for the one, and the other is somebody else's.
            pattern @ (GraphPattern::Values { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. }) => {
                pattern
            }
        }
    }

    fn path(&mut self, subject: TermPattern, path: Path, object: TermPattern) -> GraphPattern {
        match path {
            Path::NamedNode(predicate) => triple(subject, predicate, object),
            Path::Reverse(path) => self.path(object, *path, subject),
            Path::Sequence(first, second) => {
                let middle = variable(&format!("path.{}", self.middles));
                self.middles += 1;
                GraphPattern::Join {
                    left: Box::new(self.path(subject, *first, middle.clone())),
                    right: Box::new(self.path(middle, *second, object)),
                }
            }
            path => {
                let relation = self.relation(path);
                triple(subject, relation, object)
            }
        }
    }

    fn relation(&mut self, path: Path) -> NamedNode {
        if let Some((_, name)) = self.paths.iter().find(|(other, _)| *other == path) {
            return name.clone();
        }
        let name = NamedNode::new_unchecked(format!("{NAMESPACE}{}", self.paths.len()));
        match &path {
            Path::NegatedPropertySet(except) => {
                let relation = NegatedSet::new(except, self.view);
                self.view.register(name.clone(), Box::new(relation));
            }
            path => {
                let relation = PathRelation::new(path, self.view);
                self.view.register(name.clone(), Box::new(relation));
            }
        }
        self.paths.push((path, name.clone()));
        name
    }
}

fn triple(subject: TermPattern, predicate: NamedNode, object: TermPattern) -> GraphPattern {
    GraphPattern::Bgp { patterns: vec![TriplePattern { subject, predicate: predicate.into(), object }] }
}
