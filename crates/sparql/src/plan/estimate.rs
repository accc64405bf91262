//! Estimates the number of solutions of patterns from the snapshot's counts.

use oxrdf::Variable;

use super::reified::constant;
use super::scope::Variables;
use terrapin_sparql_syntax::algebra::{Helper, NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::convert;
use terrapin_triples::{End, PredicateCounts, TermId, TripleView};

/// Roughly estimates the number of solutions of a pattern that is solved alone, for comparisons.
pub fn rough(pattern: &QueryPattern, view: &TripleView) -> f64 {
    match pattern {
        QueryPattern::Bgp { patterns } => {
            let counts = patterns.iter().map(|triple| PatternCardinality::of_triple(triple, view));
            let rows = counts.map(|c| c.count.map_or(1000.0, |count| count as f64));
            rows.reduce(f64::min).unwrap_or(1.0)
        }
        QueryPattern::Join { left, right } => {
            if left.is_unit() {
                rough(right, view)
            } else {
                rough(left, view).min(rough(right, view))
            }
        }
        QueryPattern::Lateral { left, .. }
        | QueryPattern::LeftJoin { left, .. }
        | QueryPattern::LeftLateral { left, .. }
        | QueryPattern::Minus { left, .. } => rough(left, view),
        QueryPattern::Union { left, right } => rough(left, view) + rough(right, view),
        QueryPattern::Filter { inner, .. } => rough(inner, view) / 2.0,
        QueryPattern::Extend { inner, .. }
        | QueryPattern::OrderBy { inner, .. }
        | QueryPattern::Project { inner, .. }
        | QueryPattern::Graph { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Reduced { inner } => rough(inner, view),
        QueryPattern::Slice { inner, length, .. } => {
            length.map_or(f64::INFINITY, |length| length as f64).min(rough(inner, view))
        }
        QueryPattern::Group { variables, .. } if variables.is_empty() => 1.0,
        QueryPattern::Group { inner, .. } => rough(inner, view).sqrt(),
        QueryPattern::Values { rows, .. } => rows.len() as f64,
        QueryPattern::Path { .. }
        | QueryPattern::Relation { .. }
        | QueryPattern::Table { .. }
        | QueryPattern::Include { .. }
        | QueryPattern::Service { .. } => 1000.0,
    }
}

/// A position in a pattern.
#[derive(Debug, Clone)]
enum PatternOperand {
    Term(TermId),
    Variable(Variable),
}

impl PatternOperand {
    fn end(&self, bound: &Variables) -> End {
        match self {
            PatternOperand::Term(id) => End::Term(*id),
            PatternOperand::Variable(variable) if bound.has(variable) => End::Bound,
            PatternOperand::Variable(_) => End::Free,
        }
    }

    fn term(&self) -> Option<TermId> {
        match self {
            PatternOperand::Term(id) => Some(*id),
            PatternOperand::Variable(_) => None,
        }
    }
}

/// The cardinalities of a triple pattern or a relation.
#[derive(Debug, Clone)]
pub struct PatternCardinality {
    /// The variables of the pattern.
    pub variables: Variables,
    subject: PatternOperand,
    predicate: PatternOperand,
    object: PatternOperand,
    /// The number of triples that match its terms; `None` for a relation.
    pub count: Option<u64>,
    counts: PredicateCounts,
}

impl PatternCardinality {
    /// Looks up the counts of a triple pattern.
    pub fn of_triple(pattern: &TriplePattern, view: &TripleView) -> PatternCardinality {
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(node) => PatternOperand::Term(view.id(&node.clone().into())),
            NamedNodePattern::Variable(variable) => PatternOperand::Variable(variable.clone()),
        };
        PatternCardinality::new(&pattern.subject, predicate, &pattern.object, view)
    }

    /// Looks up the counts of a relation by its number.
    pub fn of_relation(
        subject: &TermPattern,
        number: usize,
        object: &TermPattern,
        view: &TripleView,
    ) -> PatternCardinality {
        PatternCardinality::new(subject, PatternOperand::Term(view.id(&convert::relation(number).into())), object, view)
    }

    fn new(
        subject: &TermPattern,
        predicate: PatternOperand,
        object: &TermPattern,
        view: &TripleView,
    ) -> PatternCardinality {
        let place = |term: &TermPattern| match term {
            TermPattern::NamedNode(node) => PatternOperand::Term(view.id(&node.clone().into())),
            TermPattern::Literal(literal) => PatternOperand::Term(view.id(&literal.clone().into())),
            // Earlier steps replace blank nodes by variables; a remaining one is treated the same way.
            TermPattern::BlankNode(node) => PatternOperand::Variable(Variable::new_unchecked(node.as_str())),
            TermPattern::Variable(variable) => PatternOperand::Variable(variable.clone()),
            TermPattern::Triple(triple) => match constant(triple) {
                Some(term) => PatternOperand::Term(view.id(&term)),
                None => PatternOperand::Variable(Helper::TripleTerm(usize::MAX).into()),
            },
        };
        let (subject, object) = (place(subject), place(object));
        let store = view.store();
        let related = predicate.term().is_some_and(|id| view.relation(id).is_some());
        let count = (!related).then(|| store.count(subject.term(), predicate.term(), object.term()));
        let counts = predicate.term().map(|id| store.predicate(id)).unwrap_or_default();
        let mut variables = Variables::default();
        for (place, values) in [(&subject, counts.subjects), (&predicate, 0), (&object, counts.objects)] {
            if let PatternOperand::Variable(variable) = place {
                variables.add_with(variable, values);
            }
        }
        PatternCardinality { variables, subject, predicate, object, count, counts }
    }

    /// Returns whether it can be evaluated with these variables bound.
    pub fn answers(&self, view: &TripleView, bound: &Variables) -> bool {
        let given = |place: &PatternOperand| place.end(bound) != End::Free;
        let relation = self.predicate.term().and_then(|id| view.relation(id));
        relation.is_none_or(|relation| relation.answers(given(&self.subject), given(&self.object)))
    }

    /// Estimates the number of solutions per evaluation with these variables bound.
    pub fn rows(&self, view: &TripleView, bound: &Variables) -> f64 {
        let (subject, object) = (self.subject.end(bound), self.object.end(bound));
        let Some(count) = self.count else {
            let relation = self.predicate.term().and_then(|id| view.relation(id));
            return relation.map_or(1.0, |relation| relation.estimate(view, subject, object));
        };
        let store = view.store();
        let mut rows = count as f64;
        // If the values of the smaller side were a subset of the other's, with equally many triples per value, the
        // larger number of values would count. This holds for subjects. Objects differ in their number of triples, and
        // frequent ones are more likely on both sides. The geometric mean is used for objects; it is the same in either
        // join order.
        let others = |place: &PatternOperand| match place {
            PatternOperand::Variable(variable) => bound.values(variable) as f64,
            PatternOperand::Term(_) => 0.0,
        };
        let known = self.predicate.term().is_some();
        if subject == End::Bound {
            let values = if known { self.counts.subjects } else { store.terms() / 2 } as f64;
            rows /= values.max(others(&self.subject)).max(1.0);
        }
        let mut narrow = |place: &PatternOperand, values: u64| {
            let (values, others) = (values as f64, others(place));
            rows /= if others == 0.0 { values } else { (values * others).sqrt() }.max(1.0);
        };
        if object == End::Bound {
            narrow(&self.object, if known { self.counts.objects } else { store.terms() / 2 });
        }
        if self.predicate.end(bound) == End::Bound {
            narrow(&self.predicate, 64);
        }
        // The same variable as subject and object: few triples have the same term in both positions.
        if let (PatternOperand::Variable(a), PatternOperand::Variable(b)) = (&self.subject, &self.object)
            && a == b
            && subject == End::Free
        {
            rows /= 1000.0;
        }
        rows
    }
}
