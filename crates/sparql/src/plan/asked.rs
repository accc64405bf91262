//! What patterns that have to hold together ask of the elements that variables stand for. By this the relations of
//! geometries know among which elements they are to look.

use oxrdf::{Term, Variable};
use rustc_hash::FxHashMap;

use super::scope::Variables;
use crate::elements::Asked;
use crate::elements::vocabulary::{Fact, Predicate, of_class};
use terrapin_sparql_syntax::algebra::{NamedNodePattern, Pattern, TermPattern, TriplePattern};
use terrapin_triples::View;

/// What is asked of variables.
#[derive(Debug, Clone, Default)]
pub struct AskedOf {
    elements: FxHashMap<Variable, Vec<Asked>>,
    /// Whose geometries variables stand for, and whether they are centroids.
    geometries: FxHashMap<Variable, (TermPattern, bool)>,
}

impl AskedOf {
    /// Adds what a pattern asks in every one of its solutions.
    pub fn add(&mut self, pattern: &Pattern, view: &View) {
        match pattern {
            Pattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.add_triple(triple, view)),
            Pattern::Join { left, right } | Pattern::Lateral { left, right } => {
                self.add(left, view);
                self.add(right, view);
            }
            Pattern::LeftJoin { left: inner, .. }
            | Pattern::Minus { left: inner, .. }
            | Pattern::Filter { inner, .. }
            | Pattern::Extend { inner, .. } => self.add(inner, view),
            _ => {}
        }
    }

    fn add_triple(&mut self, triple: &TriplePattern, view: &View) {
        let (TermPattern::Variable(subject), NamedNodePattern::NamedNode(node)) = (&triple.subject, &triple.predicate)
        else {
            return;
        };
        let Some(predicate) = Predicate::of(node.as_str()) else { return };
        if let (Predicate::Fact(fact @ (Fact::Geometry | Fact::Centroid)), TermPattern::Variable(geometry)) =
            (&predicate, &triple.object)
        {
            let whose = (triple.subject.clone(), *fact == Fact::Centroid);
            self.geometries.insert(geometry.clone(), whose);
        }
        // A stored triple may say it of other elements, too.
        let predicate_id = view.id(&node.clone().into());
        let is_stored = |object| view.store().count(None, Some(predicate_id), object) > 0;
        let asked = match (predicate, &triple.object) {
            (Predicate::Fact(Fact::Type), TermPattern::NamedNode(class)) => {
                let Some(kind) = of_class(class.as_str()) else { return };
                (!is_stored(Some(view.id(&class.clone().into())))).then_some(Asked::Type(kind))
            }
            (Predicate::Tag(key), TermPattern::Literal(value)) => match view.term(view.id(&value.clone().into())) {
                Ok(Term::Literal(value)) => (!is_stored(None)).then_some(Asked::Tag(key, value)),
                _ => None,
            },
            (Predicate::Tag(key) | Predicate::Link(key), _) => (!is_stored(None)).then_some(Asked::Key(key)),
            _ => None,
        };
        self.elements.entry(subject.clone()).or_default().extend(asked);
    }

    /// What is asked of some of the variables.
    pub fn of_those(&self, variables: &Variables) -> AskedOf {
        let elements = self.elements.iter().filter(|(variable, _)| variables.has(variable));
        let geometries = self.geometries.iter().filter(|(variable, _)| variables.has(variable));
        AskedOf {
            elements: elements.map(|(variable, asked)| (variable.clone(), asked.clone())).collect(),
            geometries: geometries.map(|(variable, whose)| (variable.clone(), whose.clone())).collect(),
        }
    }

    /// What is asked of the element that a term stands for.
    pub fn of(&self, element: &TermPattern) -> &[Asked] {
        match element {
            TermPattern::Variable(variable) => self.elements.get(variable).map_or(&[], |asked| asked),
            _ => &[],
        }
    }

    /// Whose geometry a term stands for, and whether that is the centroid, where it is asked for by that.
    pub fn geometry(&self, geometry: &TermPattern) -> Option<(&TermPattern, bool)> {
        match geometry {
            TermPattern::Variable(variable) => self.geometries.get(variable).map(|(of, centroid)| (of, *centroid)),
            _ => None,
        }
    }
}
