//! Estimates the number of solutions of patterns from the snapshot's counts.

use oxrdf::Variable;

use super::scope::Variables;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, Pattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::convert;
use terrapin_triples::{End, PredicateCounts, TermId, View};

/// Roughly estimates the number of solutions of a pattern that is solved alone, for comparisons.
pub fn rough(pattern: &Pattern, view: &View) -> f64 {
    match pattern {
        Pattern::Bgp { patterns } => {
            let counts = patterns.iter().map(|triple| Counted::of_triple(triple, view));
            let rows = counts.map(|c| c.count.map_or(1000.0, |count| count as f64));
            rows.reduce(f64::min).unwrap_or(1.0)
        }
        Pattern::Join { left, right } => {
            if left.is_unit() {
                rough(right, view)
            } else {
                rough(left, view).min(rough(right, view))
            }
        }
        Pattern::Lateral { left, .. }
        | Pattern::LeftJoin { left, .. }
        | Pattern::LeftLateral { left, .. }
        | Pattern::Minus { left, .. } => rough(left, view),
        Pattern::Union { left, right } => rough(left, view) + rough(right, view),
        Pattern::Filter { inner, .. } => rough(inner, view) / 2.0,
        Pattern::Extend { inner, .. }
        | Pattern::OrderBy { inner, .. }
        | Pattern::Project { inner, .. }
        | Pattern::Distinct { inner }
        | Pattern::Reduced { inner } => rough(inner, view),
        Pattern::Slice { inner, length, .. } => {
            length.map_or(f64::INFINITY, |length| length as f64).min(rough(inner, view))
        }
        Pattern::Group { variables, .. } if variables.is_empty() => 1.0,
        Pattern::Group { inner, .. } => rough(inner, view).sqrt(),
        Pattern::Values { rows, .. } => rows.len() as f64,
        Pattern::Path { .. }
        | Pattern::Relation { .. }
        | Pattern::Table { .. }
        | Pattern::Include { .. }
        | Pattern::Graph { .. }
        | Pattern::Service { .. } => 1000.0,
    }
}

/// A position in a pattern.
#[derive(Debug, Clone)]
enum Operand {
    Term(TermId),
    Variable(Variable),
}

impl Operand {
    fn end(&self, bound: &Variables) -> End {
        match self {
            Operand::Term(id) => End::Term(*id),
            Operand::Variable(variable) if bound.has(variable) => End::Bound,
            Operand::Variable(_) => End::Free,
        }
    }

    fn term(&self) -> Option<TermId> {
        match self {
            Operand::Term(id) => Some(*id),
            Operand::Variable(_) => None,
        }
    }
}

/// The cardinalities of a triple pattern or a relation.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The variables of the pattern.
    pub variables: Variables,
    subject: Operand,
    predicate: Operand,
    object: Operand,
    /// The number of triples that match its terms; `None` for a relation.
    pub count: Option<u64>,
    counts: PredicateCounts,
}

impl Counted {
    /// Looks up the counts of a triple pattern.
    pub fn of_triple(pattern: &TriplePattern, view: &View) -> Counted {
        let predicate = match &pattern.predicate {
            NamedNodePattern::NamedNode(node) => Operand::Term(view.id(&node.clone().into())),
            NamedNodePattern::Variable(variable) => Operand::Variable(variable.clone()),
        };
        Counted::new(&pattern.subject, predicate, &pattern.object, view)
    }

    /// Looks up the counts of a relation by its number.
    pub fn of_relation(subject: &TermPattern, number: usize, object: &TermPattern, view: &View) -> Counted {
        Counted::new(subject, Operand::Term(view.id(&convert::relation(number).into())), object, view)
    }

    fn new(subject: &TermPattern, predicate: Operand, object: &TermPattern, view: &View) -> Counted {
        let place = |term: &TermPattern| match term {
            TermPattern::NamedNode(node) => Operand::Term(view.id(&node.clone().into())),
            TermPattern::Literal(literal) => Operand::Term(view.id(&literal.clone().into())),
            // Earlier steps replace blank nodes by variables; a remaining one is treated the same way.
            TermPattern::BlankNode(node) => Operand::Variable(Variable::new_unchecked(node.as_str())),
            TermPattern::Variable(variable) => Operand::Variable(variable.clone()),
        };
        let (subject, object) = (place(subject), place(object));
        let store = view.store();
        let related = predicate.term().is_some_and(|id| view.relation(id).is_some());
        let count = (!related).then(|| store.count(subject.term(), predicate.term(), object.term()));
        let counts = predicate.term().map(|id| store.predicate(id)).unwrap_or_default();
        let mut variables = Variables::default();
        for (place, values) in [(&subject, counts.subjects), (&predicate, 0), (&object, counts.objects)] {
            if let Operand::Variable(variable) = place {
                variables.add_with(variable, values);
            }
        }
        Counted { variables, subject, predicate, object, count, counts }
    }

    /// Returns whether it can be evaluated with these variables bound.
    pub fn answers(&self, view: &View, bound: &Variables) -> bool {
        let given = |place: &Operand| place.end(bound) != End::Free;
        let relation = self.predicate.term().and_then(|id| view.relation(id));
        relation.is_none_or(|relation| relation.answers(given(&self.subject), given(&self.object)))
    }

    /// Estimates the number of solutions per evaluation with these variables bound.
    pub fn rows(&self, view: &View, bound: &Variables) -> f64 {
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
        let others = |place: &Operand| match place {
            Operand::Variable(variable) => bound.values(variable) as f64,
            Operand::Term(_) => 0.0,
        };
        let known = self.predicate.term().is_some();
        if subject == End::Bound {
            let values = if known { self.counts.subjects } else { store.terms() / 2 } as f64;
            rows /= values.max(others(&self.subject)).max(1.0);
        }
        let mut narrow = |place: &Operand, values: u64| {
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
        if let (Operand::Variable(a), Operand::Variable(b)) = (&self.subject, &self.object)
            && a == b
            && subject == End::Free
        {
            rows /= 1000.0;
        }
        rows
    }
}
