//! Constraints on the elements that variables are bound to, collected from patterns that must hold together. They
//! restrict the candidates of spatial relations. They also decide whether a pattern with a variable predicate matches
//! elements.

use oxrdf::{NamedNode, Term, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::scope::Variables;
use crate::elements::vocabulary::{ELEMENTS, ElementProperty, GEOMETRY, MembershipPredicate, Predicate, of_class};
use crate::elements::{ElementCondition, named};
use terrapin_sparql_syntax::algebra::{Expression, NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_triples::TripleView;

/// The constraints on variables.
#[derive(Debug, Clone, Default)]
pub struct AskedOf {
    elements: FxHashMap<Variable, Vec<ElementCondition>>,
    /// For a variable bound to a geometry: its element, and whether the geometry is the centroid.
    geometries: FxHashMap<Variable, (TermPattern, bool)>,
    /// Variables that may be bound to an element or another computed node.
    named: FxHashSet<Variable>,
}

impl AskedOf {
    /// Adds the constraints that hold in every solution of a pattern.
    pub fn add(&mut self, pattern: &QueryPattern, view: &TripleView) {
        match pattern {
            QueryPattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.add_triple(triple, view)),
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                self.add(left, view);
                self.add(right, view);
            }
            QueryPattern::LeftJoin { left: inner, .. }
            | QueryPattern::Minus { left: inner, .. }
            | QueryPattern::Filter { inner, .. }
            | QueryPattern::Extend { inner, .. } => self.add(inner, view),
            _ => {}
        }
        self.add_named(pattern, view);
    }

    /// Adds the variables that the pattern itself may bind to elements.
    fn add_named(&mut self, pattern: &QueryPattern, view: &TripleView) {
        match pattern {
            QueryPattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.add_ends(triple)),
            QueryPattern::Extend { variable, expression: Expression::NamedNode(node), .. } if is_named(node) => {
                self.named.insert(variable.clone());
            }
            QueryPattern::Values { variables, rows } => {
                for (column, variable) in variables.iter().enumerate() {
                    let mut values = rows.iter().filter_map(|row| row.get(column)?.as_ref());
                    if values.any(|value| is_meant(value, view)) {
                        self.named.insert(variable.clone());
                    }
                }
            }
            // Constraints inside these patterns do not hold in every solution, but their variables may still be
            // elements.
            QueryPattern::Union { left, right } => {
                [left, right].into_iter().for_each(|side| self.add_names_of(side, view))
            }
            QueryPattern::Distinct { inner }
            | QueryPattern::Reduced { inner }
            | QueryPattern::Slice { inner, .. }
            | QueryPattern::OrderBy { inner, .. } => self.add_names_of(inner, view),
            QueryPattern::Project { inner, variables } | QueryPattern::Group { inner, variables, .. } => {
                let mut inside = AskedOf::default();
                inside.add(inner, view);
                self.named.extend(inside.named.into_iter().filter(|variable| variables.contains(variable)));
            }
            _ => {}
        }
    }

    /// Adds only the variables that a pattern may bind to elements, without its constraints.
    fn add_names_of(&mut self, pattern: &QueryPattern, view: &TripleView) {
        let mut inside = AskedOf::default();
        inside.add(pattern, view);
        self.named.extend(inside.named);
    }

    /// Adds the ends of a triple pattern that are elements according to its predicate.
    fn add_ends(&mut self, triple: &TriplePattern) {
        let NamedNodePattern::NamedNode(node) = &triple.predicate else { return };
        let Some(predicate) = Predicate::of(node.as_str()) else { return };
        let (subject, object) = match predicate {
            Predicate::Fact(ElementProperty::Type) => (is_class(&triple.object), false),
            Predicate::Fact(ElementProperty::Geometry | ElementProperty::Centroid) | Predicate::Spatial(_) => {
                (true, true)
            }
            Predicate::Member(what) => {
                (true, !matches!(what, MembershipPredicate::Role | MembershipPredicate::Position(_)))
            }
            Predicate::Tag(_) | Predicate::Link(_) | Predicate::Fact(_) => (true, false),
        };
        for (_, end) in [(subject, &triple.subject), (object, &triple.object)].into_iter().filter(|(is, _)| *is) {
            if let TermPattern::Variable(variable) = end {
                self.named.insert(variable.clone());
            }
        }
    }

    /// Returns whether a term is a variable that other patterns may bind to an element.
    pub fn may_be_named(&self, term: &TermPattern) -> bool {
        matches!(term, TermPattern::Variable(variable) if self.named.contains(variable))
    }

    fn add_triple(&mut self, triple: &TriplePattern, view: &TripleView) {
        let (TermPattern::Variable(subject), NamedNodePattern::NamedNode(node)) = (&triple.subject, &triple.predicate)
        else {
            return;
        };
        let Some(predicate) = Predicate::of(node.as_str()) else { return };
        if let (
            Predicate::Fact(fact @ (ElementProperty::Geometry | ElementProperty::Centroid)),
            TermPattern::Variable(geometry),
        ) = (&predicate, &triple.object)
        {
            let whose = (triple.subject.clone(), *fact == ElementProperty::Centroid);
            self.geometries.insert(geometry.clone(), whose);
        }
        // No constraint holds if stored triples also match: their subjects may be other elements.
        let predicate_id = view.id(&node.clone().into());
        let is_stored = |object| view.store().count(None, Some(predicate_id), object) > 0;
        let asked = match (predicate, &triple.object) {
            (Predicate::Fact(ElementProperty::Type), TermPattern::NamedNode(class)) => {
                let Some(kind) = of_class(class.as_str()) else { return };
                (!is_stored(Some(view.id(&class.clone().into())))).then_some(ElementCondition::Type(kind))
            }
            (Predicate::Tag(key), TermPattern::Literal(value)) => match view.term(view.id(&value.clone().into())) {
                Ok(Term::Literal(value)) => (!is_stored(None)).then_some(ElementCondition::Tag(key, value)),
                _ => None,
            },
            (Predicate::Tag(key) | Predicate::Link(key), _) => (!is_stored(None)).then_some(ElementCondition::Key(key)),
            _ => None,
        };
        self.elements.entry(subject.clone()).or_default().extend(asked);
    }

    /// Returns the constraints on a subset of the variables.
    pub fn of_those(&self, variables: &Variables) -> AskedOf {
        let elements = self.elements.iter().filter(|(variable, _)| variables.has(variable));
        let geometries = self.geometries.iter().filter(|(variable, _)| variables.has(variable));
        AskedOf {
            elements: elements.map(|(variable, asked)| (variable.clone(), asked.clone())).collect(),
            geometries: geometries.map(|(variable, whose)| (variable.clone(), whose.clone())).collect(),
            named: self.named.iter().filter(|variable| variables.has(variable)).cloned().collect(),
        }
    }

    /// Returns the constraints on an element.
    pub fn of(&self, element: &TermPattern) -> &[ElementCondition] {
        match element {
            TermPattern::Variable(variable) => self.elements.get(variable).map_or(&[], |asked| asked),
            _ => &[],
        }
    }

    /// Returns the element of a geometry, and whether it is the centroid, if a pattern links the two.
    pub fn geometry(&self, geometry: &TermPattern) -> Option<(&TermPattern, bool)> {
        match geometry {
            TermPattern::Variable(variable) => self.geometries.get(variable).map(|(of, centroid)| (of, *centroid)),
            _ => None,
        }
    }
}

/// Returns whether a value is an element, another computed node, or a class of elements.
fn is_meant(value: &Term, view: &TripleView) -> bool {
    match value {
        Term::NamedNode(node) => is_named(node),
        Term::BlankNode(_) => named(view, view.id(value)).is_some(),
        Term::Literal(_) | Term::Triple(_) => false,
    }
}

/// Returns whether an IRI has the form of an element, a geometry or a class of elements.
pub fn is_named(node: &NamedNode) -> bool {
    let iri = node.as_str();
    of_class(iri).is_some() || ELEMENTS.iter().chain([&GEOMETRY]).any(|space| iri.starts_with(space))
}

/// Returns whether a term is a class of elements.
pub fn is_class(term: &TermPattern) -> bool {
    matches!(term, TermPattern::NamedNode(node) if of_class(node.as_str()).is_some())
}
