//! Rewrites patterns on OpenStreetMap elements to relations over the element pages.
//!
//! A pattern is rewritten only if it refers to elements explicitly:
//! - Its predicate is one of osm2rdf's.
//! - Its object is a class of elements.
//! - Its subject is an element, or a variable that a joined pattern may bind to elements.
//!
//! A pattern with a variable subject and predicate matches stored triples only. It therefore has the same meaning and
//! cost as in a snapshot without elements.

use std::rc::Rc;
use std::sync::Arc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Variable};

use super::asked::{AskedOf, is_class, is_named};
use super::register::register;
use super::scope::bound;
use crate::elements::vocabulary::{ElementProperty, GEO, Predicate};
use crate::elements::{
    Among, CandidateSide, DistanceRelation, ElementSource, EndCandidates, SaidEnd, Session, StatementEndRelation,
    relation,
};
use crate::functions::geo_name;
use crate::geo::Unit;
use terrapin_sparql_syntax::algebra::{
    Binary, Expression, Function, Helper, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern,
};
use terrapin_sparql_syntax::shorten;
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns, on_patterns_below};
use terrapin_triples::{Computed, TripleView};

/// Splits alternative paths with predicates of elements into unions, because paths are evaluated over stored triples.
/// Integer literals in tag patterns become `xsd:integer`, the type of such tag values.
pub fn split(pattern: &mut QueryPattern) {
    if let QueryPattern::Graph { .. } | QueryPattern::Service { .. } = pattern {
        return;
    }
    on_patterns_below(NodeMut::Pattern(pattern), &mut |below| split(below));
    if let QueryPattern::Bgp { patterns } = pattern {
        for triple in patterns {
            if let (NamedNodePattern::NamedNode(node), TermPattern::Literal(value)) =
                (&triple.predicate, &mut triple.object)
                && matches!(Predicate::of(node.as_str()), Some(Predicate::Tag(_)))
            {
                whole(value);
            }
        }
    }
    let of_elements = matches!(pattern, QueryPattern::Path { path: Path::Alternative(..), .. });
    if of_elements && let QueryPattern::Path { subject, path, object } = std::mem::take(pattern) {
        *pattern = alternatives(subject, path, object);
    }
}

/// Splits a path into a union if its alternatives refer to elements.
fn alternatives(subject: TermPattern, path: Path, object: TermPattern) -> QueryPattern {
    match path {
        Path::Alternative(a, b) if speaks(&a) || speaks(&b) => {
            let left = Box::new(alternatives(subject.clone(), *a, object.clone()));
            QueryPattern::Union { left, right: Box::new(alternatives(subject, *b, object)) }
        }
        path => QueryPattern::Path { subject, path, object },
    }
}

/// Returns whether a path contains a predicate of elements.
fn speaks(path: &Path) -> bool {
    match path {
        Path::NamedNode(node) => Predicate::of(node.as_str()).is_some_and(|predicate| predicate.is_of_elements()),
        Path::NegatedPropertySet(_) => false,
        Path::Reverse(inner) | Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
            speaks(inner)
        }
        Path::Sequence(a, b) | Path::Alternative(a, b) => speaks(a) || speaks(b),
    }
}

/// Returns whether a pattern refers to elements anywhere.
pub(crate) fn speak(pattern: &QueryPattern) -> bool {
    let mut found = false;
    on_patterns(pattern, &mut |pattern| {
        found |= match pattern {
            QueryPattern::Bgp { patterns } => patterns.iter().any(|triple| {
                let named = may_be_named(&triple.subject) || is_class(&triple.object);
                named || matches!(&triple.predicate, NamedNodePattern::NamedNode(node) if speaks(&node.clone().into()))
            }),
            QueryPattern::Path { path, .. } => speaks(path),
            QueryPattern::Values { rows, .. } => rows.iter().flatten().flatten().any(is_term_named),
            QueryPattern::Extend { expression: Expression::NamedNode(node), .. } => is_named(node),
            _ => false,
        };
    });
    found
}

/// Returns whether a DESCRIBE query names an element.
pub(crate) fn describes(pattern: &QueryPattern) -> bool {
    let mut found = false;
    on_patterns(pattern, &mut |pattern| {
        found |=
            matches!(pattern, QueryPattern::Extend { expression: Expression::NamedNode(node), .. } if is_named(node));
    });
    found
}

/// Returns whether a term has the form of an element or a geometry.
fn may_be_named(term: &TermPattern) -> bool {
    matches!(term, TermPattern::NamedNode(node) if is_named(node))
}

fn is_term_named(term: &Term) -> bool {
    matches!(term, Term::NamedNode(node) if is_named(node))
}

/// Rewrites the triple patterns on elements to relations.
pub fn rewrite(pattern: &mut QueryPattern, view: &mut TripleView, elements: &Arc<ElementSource>) {
    ElementRewriter {
        view,
        elements,
        session: None,
        relations: Vec::new(),
        said: None,
        saying: 0,
        asked: AskedOf::default(),
        apart: true,
    }
    .pattern(pattern);
}

struct ElementRewriter<'v> {
    view: &'v mut TripleView,
    elements: &'v Arc<ElementSource>,
    session: Option<Rc<Session>>,
    /// The relations by predicate, for reuse.
    relations: Vec<(Predicate, usize)>,
    /// The relations of statement nodes to subject, predicate and object. `saying` counts the patterns that use them.
    said: Option<[usize; 3]>,
    saying: usize,
    /// The constraints on variables from the surrounding patterns, which must all hold.
    asked: AskedOf,
    /// Whether the constraints of the next pattern have yet to be added to `asked`.
    apart: bool,
}

impl ElementRewriter<'_> {
    fn pattern(&mut self, pattern: &mut QueryPattern) {
        if let QueryPattern::Graph { .. } | QueryPattern::Service { .. } = pattern {
            return;
        }
        let outer = std::mem::take(&mut self.apart).then(|| self.asked.clone());
        if outer.is_some() {
            self.asked.add(pattern, self.view);
        }
        self.below(pattern);
        if let QueryPattern::Filter { inner, condition } = pattern {
            for place in self.near(condition, inner) {
                **inner = QueryPattern::join(std::mem::take(&mut **inner), place);
            }
        }
        if let QueryPattern::Bgp { patterns } = pattern
            && patterns.iter().any(|triple| self.asks(triple))
        {
            *pattern = self.triples(std::mem::take(patterns));
        }
        if let Some(outer) = outer {
            self.asked = outer;
        }
    }

    /// Rewrites the patterns inside a pattern. Outer constraints apply inside if each solution of the outer pattern is
    /// composed of solutions of the inner ones.
    fn below(&mut self, pattern: &mut QueryPattern) {
        match pattern {
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                self.pattern(left);
                self.pattern(right);
            }
            QueryPattern::Union { left, right } => {
                for side in [left, right] {
                    self.apart = true;
                    self.pattern(side);
                }
            }
            QueryPattern::Filter { inner, condition: expression } | QueryPattern::Extend { inner, expression, .. } => {
                let beside = self.beside(inner);
                self.pattern(inner);
                self.within(beside, NodeMut::Expression(expression));
            }
            QueryPattern::LeftJoin { left, right, condition } => {
                let beside = self.beside(left);
                let mut both = beside.clone();
                both.add(right, self.view);
                self.pattern(left);
                self.with(beside, |rewriter| rewriter.pattern(right));
                if let Some(condition) = condition {
                    self.within(both, NodeMut::Expression(condition));
                }
            }
            QueryPattern::Minus { left, right } => {
                let beside = self.beside(left);
                self.pattern(left);
                self.with(beside, |rewriter| rewriter.pattern(right));
            }
            pattern => self.within(AskedOf::default(), NodeMut::Pattern(pattern)),
        }
    }

    /// Returns the constraints that may be pushed into an OPTIONAL, MINUS or EXISTS: only those on variables that the
    /// pattern on its left always binds. A solution must survive without the right side.
    fn beside(&self, left: &QueryPattern) -> AskedOf {
        let mut asked = self.asked.of_those(&bound(left).1);
        asked.add(left, self.view);
        asked
    }

    /// Rewrites the patterns below a node, each separately, with the constraints `asked`.
    fn within(&mut self, asked: AskedOf, node: NodeMut<'_>) {
        self.with(asked, |rewriter| {
            on_patterns_below(node, &mut |below| {
                rewriter.apart = true;
                rewriter.pattern(below);
            });
        });
    }

    /// Runs `rewrite` with the constraints `asked` in place of the current ones.
    fn with(&mut self, asked: AskedOf, rewrite: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.asked, asked);
        self.apart = true;
        rewrite(self);
        self.apart = false;
        self.asked = outer;
    }

    /// Joins triple patterns; those on elements become relations.
    fn triples(&mut self, patterns: Vec<TriplePattern>) -> QueryPattern {
        let (asking, stored): (Vec<_>, Vec<_>) = patterns.into_iter().partition(|triple| self.asks(triple));
        let mut joined = (!stored.is_empty()).then_some(QueryPattern::Bgp { patterns: stored });
        for triple in asking {
            let one = self.triple(triple);
            joined = Some(match joined {
                Some(before) => QueryPattern::join(before, one),
                None => one,
            });
        }
        joined.unwrap_or_default()
    }

    /// Returns whether a triple pattern matches elements.
    fn asks(&self, triple: &TriplePattern) -> bool {
        match &triple.predicate {
            NamedNodePattern::NamedNode(node) => match Predicate::of(node.as_str()) {
                Some(Predicate::Fact(ElementProperty::Type)) => {
                    is_class(&triple.object) || self.is_named(&triple.object) || self.is_named(&triple.subject)
                }
                known => known.is_some(),
            },
            NamedNodePattern::Variable(_) => self.is_named(&triple.subject),
        }
    }

    /// Returns whether a term is an element or another computed node, or a variable that may be bound to one.
    fn is_named(&self, term: &TermPattern) -> bool {
        match term {
            TermPattern::NamedNode(node) => self.elements.number(&Term::from(node.clone())).is_some(),
            term => self.asked.may_be_named(term),
        }
    }

    fn session(&mut self) -> Rc<Session> {
        let elements = self.elements;
        Rc::clone(self.session.get_or_insert_with(|| Session::new(elements)))
    }

    fn triple(&mut self, triple: TriplePattern) -> QueryPattern {
        let TriplePattern { subject, predicate, object } = triple;
        match predicate {
            NamedNodePattern::NamedNode(node) => match Predicate::of(node.as_str()) {
                Some(predicate) => {
                    let number = self.relation(predicate, node, [&subject, &object]);
                    QueryPattern::Relation { subject, number, object }
                }
                None => QueryPattern::Bgp { patterns: vec![TriplePattern { subject, predicate: node.into(), object }] },
            },
            NamedNodePattern::Variable(variable) => self.any(subject, variable, object),
        }
    }

    /// Returns the relations that prefilter a spatial or distance condition by bounding boxes.
    fn near(&mut self, condition: &Expression, inner: &QueryPattern) -> Vec<QueryPattern> {
        let texts = self.relations.iter().find(|(predicate, _)| *predicate == Predicate::Fact(ElementProperty::Wkt));
        let Some(&(_, texts)) = texts else { return Vec::new() };
        // Stored geometries are not in the element pages, so that the prefilter would miss them.
        if self.view.store().predicate(self.view.id(&wkt().into())).triples > 0 {
            return Vec::new();
        }
        let (mut out, mut open) = (Vec::new(), vec![condition]);
        while let Some(condition) = open.pop() {
            if let Expression::Binary(Binary::And, a, b) = condition {
                open.extend([&**a, &**b]);
                continue;
            }
            let Some((metres, a, b)) = reach(condition) else { continue };
            let [of_a, of_b] = [a, b].map(|variable| geometry(inner, texts, variable));
            let (subject, object, literal) = match (of_a, of_b) {
                (Some(a), Some(b)) => (a, b, false),
                (Some(a), None) => match place(b, inner) {
                    Some(b) => (a, b, true),
                    None => continue,
                },
                (None, Some(b)) => match place(a, inner) {
                    Some(a) => (b, a, true),
                    None => continue,
                },
                (None, None) => continue,
            };
            let objects = (!literal).then(|| self.side(&object));
            let near = DistanceRelation::new(self.session(), metres, self.side(&subject), objects);
            let label = if metres > 0.0 { format!("within {metres} m of") } else { "may meet".to_owned() };
            out.push(QueryPattern::Relation { subject, number: register(Box::new(near), label, self.view), object });
        }
        out
    }

    /// Returns the number of a predicate's relation; creates the relation if necessary.
    fn relation(&mut self, predicate: Predicate, node: NamedNode, ends: [&TermPattern; 2]) -> usize {
        // Spatial relations are not shared, because their candidates depend on their ends.
        let is_shared = !matches!(predicate, Predicate::Spatial(_));
        let same = self.relations.iter().find(|(other, _)| is_shared && *other == predicate);
        if let Some((_, number)) = same {
            return *number;
        }
        let session = self.session();
        let label = shorten(node.as_str());
        let stored = self.view.id(&node.into());
        let [subjects, objects] = ends.map(|end| self.asked.of(end));
        let ends = || EndCandidates {
            subjects: Rc::new(Among::new(Rc::clone(&session), subjects)),
            objects: Rc::new(Among::new(Rc::clone(&session), objects)),
        };
        let made = relation(&predicate, &session, self.view, Some(stored), ends);
        let number = register(made, label, self.view);
        self.relations.push((predicate, number));
        number
    }

    /// Returns the candidates for a geometry.
    fn side(&mut self, geometry: &TermPattern) -> CandidateSide {
        let session = self.session();
        let of = self.asked.geometry(geometry);
        let asked = of.map_or(&[][..], |(element, _)| self.asked.of(element));
        CandidateSide { among: Rc::new(Among::new(session, asked)), centroids: of.map(|(_, centroids)| centroids) }
    }

    /// Rewrites a pattern with a variable predicate: the union of an element's computed and stored triples.
    fn any(&mut self, subject: TermPattern, predicate: Variable, object: TermPattern) -> QueryPattern {
        let session = self.session();
        let view = &mut *self.view;
        let [of, with_predicate, with_object] = *self.said.get_or_insert_with(|| {
            [
                (SaidEnd::Subject, "has the triple"),
                (SaidEnd::Predicate, "has the predicate"),
                (SaidEnd::Object, "has the object"),
            ]
            .map(|(end, label)| {
                register(Box::new(StatementEndRelation::new(Rc::clone(&session), end)), label.to_owned(), view)
            })
        });
        let said = TermPattern::from(Variable::from(Helper::Said(self.saying)));
        self.saying += 1;
        let end = |number, object| QueryPattern::Relation { subject: said.clone(), number, object };
        let ends = QueryPattern::join(end(with_predicate, predicate.clone().into()), end(with_object, object.clone()));
        let computed = QueryPattern::Relation { subject: subject.clone(), number: of, object: said.clone() };
        let stored = TriplePattern { subject, predicate: predicate.into(), object };
        let right = Box::new(QueryPattern::Bgp { patterns: vec![stored] });
        QueryPattern::Union { left: Box::new(QueryPattern::join(computed, ends)), right }
    }
}

/// Converts a literal of any XSD integer type to `xsd:integer`, because tag values have that type.
fn whole(value: &mut Literal) {
    const TYPES: [NamedNodeRef<'_>; 12] = [
        xsd::BYTE,
        xsd::SHORT,
        xsd::INT,
        xsd::LONG,
        xsd::NON_NEGATIVE_INTEGER,
        xsd::NON_POSITIVE_INTEGER,
        xsd::NEGATIVE_INTEGER,
        xsd::POSITIVE_INTEGER,
        xsd::UNSIGNED_BYTE,
        xsd::UNSIGNED_SHORT,
        xsd::UNSIGNED_INT,
        xsd::UNSIGNED_LONG,
    ];
    if TYPES.contains(&value.datatype()) {
        *value = Literal::new_typed_literal(value.value(), xsd::INTEGER);
    }
}

/// Returns the predicate from a geometry to its WKT.
fn wkt() -> NamedNode {
    NamedNode::new_unchecked(format!("{GEO}asWKT"))
}

/// Returns the maximum distance in metres that a condition allows, and the two geometries.
fn reach(condition: &Expression) -> Option<(f64, &Expression, &Expression)> {
    let (distance, most) = match condition {
        Expression::Binary(Binary::Less | Binary::LessOrEqual, distance, most) => (&**distance, &**most),
        Expression::Binary(Binary::Greater | Binary::GreaterOrEqual, most, distance) => (&**distance, &**most),
        lie => {
            let (name, [a, b]) = call(lie)? else { return None };
            return MEETING.contains(&name).then_some((0.0, a, b));
        }
    };
    let Expression::Literal(most) = most else { return None };
    let most: f64 = most.value().parse().ok().filter(|most: &f64| *most >= 0.0 && *most < 1e6)?;
    match call(distance)? {
        ("metricDistance", [a, b]) => Some((most, a, b)),
        ("distance", [a, b]) => Some((most * 1000.0, a, b)),
        ("distance", [a, b, Expression::NamedNode(unit)]) => match Unit::from_iri(unit.as_str())? {
            Unit::Metres(metres) => Some((most * metres, a, b)),
            Unit::Degrees(_) | Unit::Own => None,
        },
        _ => None,
    }
}

/// Returns the local name and the arguments of a call of a GeoSPARQL function.
fn call(expression: &Expression) -> Option<(&str, &[Expression])> {
    let Expression::Call(Function::Custom(name), arguments) = expression else { return None };
    Some((geo_name(name.as_str())?, arguments))
}

/// Functions that imply intersecting bounding boxes.
const MEETING: [&str; 8] =
    ["sfContains", "sfCrosses", "sfEquals", "sfIntersects", "sfOverlaps", "sfTouches", "sfWithin", "ehCovers"];

/// Returns the geometry node of a WKT variable, if a relation binds the variable in every solution.
fn geometry(pattern: &QueryPattern, texts: usize, text: &Expression) -> Option<TermPattern> {
    let Expression::Variable(variable) = text else { return None };
    match pattern {
        QueryPattern::Relation { subject, number, object: TermPattern::Variable(object) } => {
            (*number == texts && object == variable).then(|| subject.clone())
        }
        QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
            geometry(left, texts, text).or_else(|| geometry(right, texts, text))
        }
        QueryPattern::LeftJoin { left: inner, .. }
        | QueryPattern::Minus { left: inner, .. }
        | QueryPattern::Filter { inner, .. }
        | QueryPattern::Extend { inner, .. } => geometry(inner, texts, text),
        _ => None,
    }
}

/// Returns a literal, or a variable that is bound in every solution.
fn place(expression: &Expression, pattern: &QueryPattern) -> Option<TermPattern> {
    match expression {
        Expression::Literal(literal) => Some(literal.clone().into()),
        Expression::Variable(variable) => bound(pattern).1.has(variable).then(|| variable.clone().into()),
        _ => None,
    }
}
