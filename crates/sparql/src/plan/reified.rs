//! Triple terms in patterns. A triple term without variables is a term like any other. One with variables becomes a
//! variable with three relations to its subject, predicate and object, which are evaluated after the pattern that binds
//! it.

use std::sync::Arc;

use oxrdf::{Term, Triple, Variable};

use super::register::register;
use super::scope::bound;
use terrapin_sparql_syntax::algebra::{Helper, NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermKind, TermRelation, TripleView};

/// A component of a triple term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TripleComponent {
    Subject,
    Predicate,
    Object,
}

impl TripleComponent {
    fn of(self, triple: Triple) -> Term {
        match self {
            TripleComponent::Subject => triple.subject.into(),
            TripleComponent::Predicate => triple.predicate.into(),
            TripleComponent::Object => triple.object,
        }
    }
}

/// The relation of triple terms to one of their components.
struct ComponentRelation(TripleComponent);

impl ComponentRelation {
    fn pair(
        &self,
        view: &TripleView,
        subject: TermId,
        object: Option<TermId>,
    ) -> Result<Option<(TermId, TermId)>, ReadError> {
        view.work(1)?;
        if view.kind(subject)? != TermKind::Triple {
            return Ok(None);
        }
        let Term::Triple(triple) = view.term(subject)? else { return Ok(None) };
        let component = view.id(&self.0.of(*triple));
        Ok(object.is_none_or(|object| object == component).then_some((subject, component)))
    }
}

impl TermRelation for ComponentRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        let pair = subject.map_or(Ok(None), |subject| self.pair(view, subject, object));
        Box::new(pair.transpose().into_iter())
    }

    fn estimate(&self, _: &TripleView, _: End, object: End) -> f64 {
        match object {
            End::Free => 1.0,
            End::Bound | End::Term(_) => 0.1,
        }
    }

    fn answers(&self, subject_given: bool, _: bool) -> bool {
        subject_given
    }
}

/// Rewrites the triple terms of one query.
#[derive(Default)]
pub struct TripleTerms {
    /// The numbers of the relations to subject, predicate and object.
    relations: Option<[usize; 3]>,
    /// Number of triple terms so far.
    terms: usize,
}

/// Returns the term of a triple term without variables.
pub fn constant(triple: &TriplePattern) -> Option<Term> {
    Triple::try_from(triple.clone()).ok().map(Term::from)
}

impl TripleTerms {
    /// Replaces the triple terms with variables in joined triples.
    pub fn rewrite(&mut self, patterns: &mut Vec<TriplePattern>, view: &mut TripleView) -> Option<QueryPattern> {
        let is_reified = |term: &TermPattern| matches!(term, TermPattern::Triple(_));
        if !patterns.iter().any(|triple| is_reified(&triple.subject) || is_reified(&triple.object)) {
            return None;
        }
        if patterns.iter().any(|triple| is_reified(&triple.subject)) {
            // No triple has a triple term as its subject.
            let variables = bound(&QueryPattern::Bgp { patterns: std::mem::take(patterns) }).0.sorted();
            return Some(QueryPattern::Values { variables, rows: Arc::default() });
        }
        let mut relations = Vec::new();
        for triple in patterns.iter_mut() {
            self.term(&mut triple.object, view, &mut relations);
        }
        let triples = QueryPattern::Bgp { patterns: std::mem::take(patterns) };
        Some(relations.into_iter().fold(triples, QueryPattern::join))
    }

    /// Replaces the triple terms with variables at the ends of a path. Returns their relations.
    pub fn ends(&mut self, ends: [&mut TermPattern; 2], view: &mut TripleView) -> Vec<QueryPattern> {
        let mut relations = Vec::new();
        for end in ends {
            self.term(end, view, &mut relations);
        }
        relations
    }

    /// Replaces a triple term with variables by a variable, and adds its relations.
    fn term(&mut self, term: &mut TermPattern, view: &mut TripleView, out: &mut Vec<QueryPattern>) {
        if !matches!(term, TermPattern::Triple(_)) {
            return;
        }
        let node = TermPattern::from(Variable::from(Helper::TripleTerm(self.terms)));
        let TermPattern::Triple(triple) = std::mem::replace(term, node.clone()) else { return };
        if constant(&triple).is_some() {
            *term = TermPattern::Triple(triple);
            return;
        }
        self.terms += 1;
        let TriplePattern { subject, predicate, object } = *triple;
        let [of_subject, of_predicate, of_object] = *self.relations.get_or_insert_with(|| {
            [
                (TripleComponent::Subject, "is a triple term with the subject"),
                (TripleComponent::Predicate, "is a triple term with the predicate"),
                (TripleComponent::Object, "is a triple term with the object"),
            ]
            .map(|(component, label)| register(Box::new(ComponentRelation(component)), label.to_owned(), view))
        });
        let predicate = match predicate {
            NamedNodePattern::NamedNode(node) => node.into(),
            NamedNodePattern::Variable(variable) => variable.into(),
        };
        for (number, mut object) in [(of_subject, subject), (of_predicate, predicate), (of_object, object)] {
            let mut inner = Vec::new();
            self.term(&mut object, view, &mut inner);
            out.push(QueryPattern::Relation { subject: node.clone(), number, object });
            out.append(&mut inner);
        }
    }
}
