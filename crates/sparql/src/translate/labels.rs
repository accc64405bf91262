//! Replaces the label service by an OPTIONAL for each language, and the last part of the IRI where no label exists.

use oxrdf::{Literal, NamedNode, Variable};

use super::{MAX_COPIED, MAX_INCLUDED, Result, Translator};
use crate::functions::labels::LabelKind;
use crate::plan::bound;
use crate::services::label;
use terrapin_sparql_syntax::algebra::{
    Binary, Expression, Function, NamedNodePattern, QueryPattern, TermPattern, TriplePattern, Unary,
};
use terrapin_sparql_syntax::in_scope;
use terrapin_sparql_syntax::walk::{NodeMut, nodes, on_patterns_below};

impl Translator {
    /// Adds the labels of the service with the group `inner` to a pattern.
    pub(super) fn labels(
        &mut self,
        group: QueryPattern,
        inner: &QueryPattern,
        projected: &[Variable],
    ) -> Result<QueryPattern> {
        self.is_changed = true;
        let (languages, wanted) = label::requests(inner, &self.language, projected);
        let scope = in_scope(&group);
        let (mut pattern, mut made): (QueryPattern, Vec<Variable>) = (group, Vec::new());
        for (of, kind, target) in wanted {
            if !scope.contains(&of) || scope.contains(&target) || made.contains(&target) {
                continue;
            }
            if kind == LabelKind::AltLabel {
                return Err(self.lacks(&format!("the joined alternative labels {target}")));
            }
            let mut values: Vec<Expression> = Vec::new();
            let mut tried: Vec<&str> = Vec::new();
            for language in languages.split(',').map(str::trim) {
                // A language that is named twice is a fallback of itself.
                if tried.contains(&language) {
                    continue;
                }
                tried.push(language);
                let value = self.helper();
                pattern = self.labelled(pattern, &of, kind, language, &value)?;
                values.push(value.into());
            }
            if kind == LabelKind::Label {
                values.push(local_name(&of));
            }
            made.push(target.clone());
            pattern = QueryPattern::extend(pattern, target, Expression::Coalesce(values));
        }
        Ok(pattern)
    }

    /// Adds `OPTIONAL { ?of rdfs:label ?value FILTER(LANG(?value) = "en") }` where `of` has a value: for a variable
    /// that is bound in an OPTIONAL or a UNION only, within that.
    fn labelled(
        &mut self,
        pattern: QueryPattern,
        of: &Variable,
        kind: LabelKind,
        language: &str,
        value: &Variable,
    ) -> Result<QueryPattern> {
        if is_unbound(&pattern, of) {
            return Ok(pattern);
        }
        if self.is_certain(&pattern, of) {
            let predicate = NamedNodePattern::NamedNode(NamedNode::new_unchecked(kind.predicate()));
            let triple = TriplePattern { subject: of.clone().into(), predicate, object: value.clone().into() };
            let tag = Expression::Call(Function::Lang, vec![value.clone().into()]);
            let language = Literal::new_simple_literal(language.trim()).into();
            return Ok(QueryPattern::LeftJoin {
                left: Box::new(pattern),
                right: Box::new(QueryPattern::Bgp { patterns: vec![triple] }),
                condition: Some(Expression::binary(Binary::Equal, tag, language)),
            });
        }
        match pattern {
            QueryPattern::LeftJoin { left, right, condition } if !in_scope(&left).contains(of) => {
                let right = Box::new(self.labelled(*right, of, kind, language, value)?);
                Ok(QueryPattern::LeftJoin { left, right, condition })
            }
            QueryPattern::LeftJoin { left, right, condition } if !in_scope(&right).contains(of) => {
                let left = Box::new(self.labelled(*left, of, kind, language, value)?);
                Ok(QueryPattern::LeftJoin { left, right, condition })
            }
            QueryPattern::Minus { left, right } => {
                let left = Box::new(self.labelled(*left, of, kind, language, value)?);
                Ok(QueryPattern::Minus { left, right })
            }
            QueryPattern::Filter { inner, condition } => {
                Ok(QueryPattern::filter(self.labelled(*inner, of, kind, language, value)?, condition))
            }
            QueryPattern::Extend { inner, variable, expression } if variable != *of => {
                let inner = self.labelled(*inner, of, kind, language, value)?;
                Ok(QueryPattern::extend(inner, variable, expression))
            }
            QueryPattern::Union { left, right } => {
                let mut side = |side: Box<QueryPattern>| -> Result<Box<QueryPattern>> {
                    match in_scope(&side).contains(of) {
                        true => Ok(Box::new(self.labelled(*side, of, kind, language, value)?)),
                        false => Ok(side),
                    }
                };
                Ok(QueryPattern::Union { left: side(left)?, right: side(right)? })
            }
            QueryPattern::Join { left, right } => {
                let in_left = in_scope(&left).contains(of);
                match (in_left, in_scope(&right).contains(of)) {
                    (true, false) => {
                        let left = Box::new(self.labelled(*left, of, kind, language, value)?);
                        Ok(QueryPattern::Join { left, right })
                    }
                    (false, true) => {
                        let right = Box::new(self.labelled(*right, of, kind, language, value)?);
                        Ok(QueryPattern::Join { left, right })
                    }
                    _ => self.labelled_if_bound(QueryPattern::Join { left, right }, of, kind, language, value),
                }
            }
            QueryPattern::Project { inner, mut variables } => {
                let inner = self.labelled(*inner, of, kind, language, value)?;
                variables.push(value.clone());
                Ok(QueryPattern::project(inner, variables))
            }
            other => self.labelled_if_bound(other, of, kind, language, value),
        }
    }

    /// Adds a label to the solutions of a pattern in which the variable has a value.
    fn labelled_if_bound(
        &mut self,
        pattern: QueryPattern,
        of: &Variable,
        kind: LabelKind,
        language: &str,
        value: &Variable,
    ) -> Result<QueryPattern> {
        if nodes(&pattern) > MAX_COPIED {
            return Err(self.lacks(&format!("the label service for {of}, which may have no value")));
        }
        let is_bound = Expression::Bound(of.clone());
        let without = QueryPattern::filter(pattern.clone(), Expression::not(is_bound.clone()));
        let with = self.labelled(QueryPattern::filter(pattern, is_bound), of, kind, language, value)?;
        Ok(QueryPattern::Union { left: Box::new(with), right: Box::new(without) })
    }

    /// Returns whether a variable certainly has a value in every solution of a pattern. If named subqueries include each
    /// other too often, it is not certain.
    pub(super) fn is_certain(&self, pattern: &QueryPattern, of: &Variable) -> bool {
        match pattern {
            QueryPattern::LeftJoin { left, .. } if self.is_certain(left, of) => true,
            QueryPattern::Filter { condition: Expression::Bound(variable), .. } if variable == of => true,
            QueryPattern::Extend { variable, expression: Expression::NamedNode(_), .. } if variable == of => true,
            pattern => {
                let mut copy = pattern.clone();
                let mut left = MAX_INCLUDED;
                self.expand(&mut copy, &mut left) && bound(&copy).1.has(of)
            }
        }
    }

    /// Replaces named subqueries by their patterns, and paths by triples with the same ends. Returns `false` if the copies
    /// have more than `left` nodes.
    fn expand(&self, pattern: &mut QueryPattern, left: &mut usize) -> bool {
        match pattern {
            QueryPattern::Path { subject, object, .. } => {
                let predicate = NamedNodePattern::NamedNode(NamedNode::new_unchecked("urn:terrapin:path"));
                let triple = TriplePattern { subject: subject.clone(), predicate, object: object.clone() };
                *pattern = QueryPattern::Bgp { patterns: vec![triple] };
                true
            }
            QueryPattern::Include { name, variables } => {
                let named = self.named.iter().find(|(known, _)| known == name).map(|(_, pattern)| pattern);
                let Some(less) = left.checked_sub(named.map_or(0, nodes)) else { return false };
                *left = less;
                let mut inner = named.cloned().unwrap_or_default();
                let is_whole = self.expand(&mut inner, left);
                *pattern = QueryPattern::project(inner, std::mem::take(variables));
                is_whole
            }
            other => {
                let mut is_whole = true;
                on_patterns_below(NodeMut::Pattern(other), &mut |below| {
                    is_whole = is_whole && self.expand(below, left);
                });
                is_whole
            }
        }
    }
}

/// Returns whether a variable has no value in any solution of a pattern, by its filter.
fn is_unbound(pattern: &QueryPattern, of: &Variable) -> bool {
    match pattern {
        QueryPattern::Filter { condition: Expression::Unary(Unary::Not, inner), .. } => {
            matches!(&**inner, Expression::Bound(variable) if variable == of)
        }
        _ => false,
    }
}

/// Returns the last part of an IRI; for another term its text.
fn local_name(of: &Variable) -> Expression {
    let text = |value: &str| Expression::from(Literal::new_simple_literal(value));
    let whole = Expression::Call(Function::Str, vec![of.clone().into()]);
    let is_iri = Expression::Call(Function::IsIri, vec![of.clone().into()]);
    let last = Expression::Call(Function::Replace, vec![whole.clone(), text("^.*[/#]"), text("")]);
    Expression::If(Box::new(is_iri), Box::new(last), Box::new(whole))
}

/// Returns the term of an expression that is a variable or a constant.
pub(super) fn operand(term: &TermPattern) -> Option<Expression> {
    match term {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(variable) => Some(variable.clone().into()),
        TermPattern::BlankNode(_) | TermPattern::Triple(_) => None,
    }
}
