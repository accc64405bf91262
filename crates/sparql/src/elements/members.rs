//! Members of relations and nodes of ways. Each membership is a node of its own, with an element, a position and a
//! role.

use std::rc::Rc;

use oxrdf::{Literal, Term};
use terrapin_osm::ElementType;
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::naming::{ComputedNode, ElementNode, element_iri};
use super::relation::{all, id, named, one, or_failed, sorted};
use super::session::Session;
use super::vocabulary::MembershipPredicate;

/// Estimated number of members of a relation or a way.
const MANY: f64 = 12.0;

/// The role that osm2rdf writes for a member without one.
const NO_ROLE: &str = "member";

/// The relation of one [`Membership`] predicate.
pub struct MembershipRelation {
    session: Rc<Session>,
    what: MembershipPredicate,
}

impl MembershipRelation {
    /// Creates the relation of a predicate.
    pub fn new(session: Rc<Session>, what: MembershipPredicate) -> MembershipRelation {
        MembershipRelation { session, what }
    }

    /// Returns the types of the elements with the members.
    fn parents(&self) -> &'static [ElementType] {
        match self.what {
            MembershipPredicate::OfRelation
            | MembershipPredicate::Role
            | MembershipPredicate::Id(Some(ElementType::Relation))
            | MembershipPredicate::Position(Some(ElementType::Relation)) => &[ElementType::Relation],
            MembershipPredicate::OfWay
            | MembershipPredicate::Node
            | MembershipPredicate::Id(Some(_))
            | MembershipPredicate::Position(Some(_)) => &[ElementType::Way],
            MembershipPredicate::Id(None) | MembershipPredicate::Position(None) => {
                &[ElementType::Way, ElementType::Relation]
            }
        }
    }

    /// Returns whether the predicate leads from an element to its members.
    fn leads(&self) -> bool {
        matches!(self.what, MembershipPredicate::OfRelation | MembershipPredicate::OfWay | MembershipPredicate::Node)
    }

    /// Returns the values of the predicate for `of`.
    pub fn of(&self, view: &TripleView, of: ComputedNode) -> Result<Vec<TermId>, ReadError> {
        let session = &self.session;
        let literal = |literal: Literal| vec![view.id(&literal.into())];
        let at = of.element();
        if !self.parents().contains(&at.kind) {
            return Ok(Vec::new());
        }
        Ok(match (self.what, of) {
            (
                MembershipPredicate::OfRelation | MembershipPredicate::OfWay | MembershipPredicate::Node,
                ComputedNode::Element(at),
            ) => {
                let places = 0..session.elements().members(at);
                places.map(|place| id(view, ComputedNode::Member(at, place))).collect::<Result<_, _>>()?
            }
            (MembershipPredicate::Node | MembershipPredicate::Id(_), ComputedNode::Member(..)) => {
                self.element(view, of)?
            }
            (MembershipPredicate::Position(_), ComputedNode::Member(_, place)) => literal(Literal::from(place as i64)),
            (MembershipPredicate::Role, ComputedNode::Member(at, place)) => {
                let (page, slot) = session.osm().place(at.kind, at.ordinal);
                let page = session.osm().relation_page(page);
                let member = page.members(slot).get(place as usize);
                member.map_or_else(Vec::new, |member| {
                    let role = session.osm().role(member.role);
                    literal(Literal::new_simple_literal(if role.is_empty() { NO_ROLE } else { role }))
                })
            }
            _ => Vec::new(),
        })
    }

    /// Returns the element that a member refers to, even if the extract lacks it.
    fn element(&self, view: &TripleView, member: ComputedNode) -> Result<Vec<TermId>, ReadError> {
        let ComputedNode::Member(at, place) = member else { return Ok(Vec::new()) };
        let osm = self.session.osm();
        let (page, slot) = osm.place(at.kind, at.ordinal);
        let of_way = || Some((ElementType::Node, *osm.way_page(page).nodes(slot).get(place as usize)?));
        let found = match at.kind {
            ElementType::Node => None,
            ElementType::Way => of_way(),
            ElementType::Relation => {
                let page = osm.relation_page(page);
                page.members(slot).get(place as usize).map(|member| (member.kind, member.element))
            }
        };
        let Some((kind, reference)) = found else { return Ok(Vec::new()) };
        Ok(vec![match reference.ordinal() {
            Some(ordinal) => id(view, ComputedNode::Element(ElementNode { kind, ordinal }))?,
            None => {
                let missing = osm.ref_ids(kind, &[reference]).first().copied().unwrap_or_default();
                view.id(&Term::from(element_iri(kind, missing)))
            }
        }])
    }

    /// Returns candidates for the subjects of a value, or `None` if all subjects must be scanned.
    fn backwards(&self, view: &TripleView, object: TermId) -> Option<Vec<ComputedNode>> {
        let osm = self.session.osm();
        match (self.what, named(view, object)?) {
            (
                MembershipPredicate::OfRelation | MembershipPredicate::OfWay | MembershipPredicate::Node,
                ComputedNode::Member(at, _),
            ) => Some(vec![ComputedNode::Element(at)]),
            (MembershipPredicate::Node | MembershipPredicate::Id(_), ComputedNode::Element(at)) => {
                let mut parents = Vec::new();
                let kinds = self.parents();
                if at.kind == ElementType::Node && kinds.contains(&ElementType::Way) {
                    let ways = osm.ways_of_nodes(&[at.ordinal]);
                    parents.extend(ways.into_iter().map(|ordinal| ElementNode { kind: ElementType::Way, ordinal }));
                }
                if kinds.contains(&ElementType::Relation) {
                    let relations = osm.relations_of(at.kind, &[at.ordinal]);
                    let kind = ElementType::Relation;
                    parents.extend(relations.into_iter().map(|ordinal| ElementNode { kind, ordinal }));
                }
                let members =
                    |parent| (0..self.session.elements().members(parent)).map(move |n| ComputedNode::Member(parent, n));
                Some(parents.into_iter().flat_map(members).collect())
            }
            _ => None,
        }
    }

    /// Iterates over all possible subjects.
    fn subjects<'a>(&self, view: &'a TripleView) -> Box<dyn Iterator<Item = Result<ComputedNode, ReadError>> + 'a> {
        let parents = all(view, &self.session, self.parents());
        let whole = self.leads();
        let nodes = !matches!(self.what, MembershipPredicate::OfRelation | MembershipPredicate::OfWay);
        let elements = std::sync::Arc::clone(self.session.elements());
        Box::new(parents.flat_map(move |at| -> Box<dyn Iterator<Item = Result<ComputedNode, ReadError>>> {
            match at {
                Err(error) => Box::new(std::iter::once(Err(error))),
                Ok(at) => {
                    let members = if nodes { elements.members(at) } else { 0 };
                    let members = (0..members).map(move |place| view.work(1).map(|()| ComputedNode::Member(at, place)));
                    Box::new(whole.then_some(Ok(ComputedNode::Element(at))).into_iter().chain(members))
                }
            }
        }))
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        let fits = move |value: &TermId| object.is_none_or(|object| object == *value);
        if let Some(subject) = subject {
            let Some(of) = named(view, subject) else { return Ok(one(None)) };
            let values = self.of(view, of)?;
            view.work(1 + values.len() as u64)?;
            return Ok(sorted(values.into_iter().filter(fits).map(|value| (subject, value)).collect()));
        }
        let pairs = move |of: Result<ComputedNode, ReadError>| -> Result<Pairs<'a>, ReadError> {
            let of = of?;
            let values = self.of(view, of)?;
            let values: Vec<TermId> = values.into_iter().filter(fits).collect();
            if values.is_empty() {
                return Ok(one(None));
            }
            let subject = id(view, of)?;
            Ok(sorted(values.into_iter().map(|value| (subject, value)).collect()))
        };
        if let Some(known) = object.and_then(|object| self.backwards(view, object)) {
            view.work(known.len() as u64)?;
            return Ok(Box::new(known.into_iter().flat_map(move |of| or_failed(pairs(Ok(of))))));
        }
        Ok(Box::new(self.subjects(view).flat_map(move |of| or_failed(pairs(of)))))
    }
}

impl TermRelation for MembershipRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, _: &TripleView, subject: End, object: End) -> f64 {
        let parents = || self.parents().iter().map(|&kind| self.session.osm().count(kind)).sum::<u64>() as f64;
        let leads = self.leads();
        let found = leads || matches!(self.what, MembershipPredicate::Id(_));
        match (subject, object) {
            (End::Free, End::Term(_) | End::Bound) if found => 2.0,
            (End::Free, _) => parents() * MANY,
            (_, End::Free) if leads => MANY,
            (_, End::Free) => 1.0,
            _ => 0.5,
        }
    }
}
