//! Members of relations and nodes of ways. Each membership is a node of its own, with an element, a position and a
//! role.

use std::rc::Rc;

use oxrdf::{Literal, Term};
use terrapin_osm::ElementType;
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::naming::{Element, Named, element_iri};
use super::relation::{all, id, named, one, or_failed, sorted};
use super::session::Session;
use super::vocabulary::Membership;

/// Estimated number of members of a relation or a way.
const MANY: f64 = 12.0;

/// The role that osm2rdf writes for a member without one.
const NO_ROLE: &str = "member";

/// The relation of one [`Membership`] predicate.
pub struct Members {
    session: Rc<Session>,
    what: Membership,
}

impl Members {
    /// Creates the relation of a predicate.
    pub fn new(session: Rc<Session>, what: Membership) -> Members {
        Members { session, what }
    }

    /// Returns the types of the elements with the members.
    fn parents(&self) -> &'static [ElementType] {
        match self.what {
            Membership::OfRelation
            | Membership::Role
            | Membership::Id(Some(ElementType::Relation))
            | Membership::Position(Some(ElementType::Relation)) => &[ElementType::Relation],
            Membership::OfWay | Membership::Node | Membership::Id(Some(_)) | Membership::Position(Some(_)) => {
                &[ElementType::Way]
            }
            Membership::Id(None) | Membership::Position(None) => &[ElementType::Way, ElementType::Relation],
        }
    }

    /// Returns whether the predicate leads from an element to its members.
    fn leads(&self) -> bool {
        matches!(self.what, Membership::OfRelation | Membership::OfWay | Membership::Node)
    }

    /// Returns the values of the predicate for `of`.
    pub fn of(&self, view: &View, of: Named) -> Result<Vec<TermId>, ReadError> {
        let session = &self.session;
        let literal = |literal: Literal| vec![view.id(&literal.into())];
        let at = of.element();
        if !self.parents().contains(&at.kind) {
            return Ok(Vec::new());
        }
        Ok(match (self.what, of) {
            (Membership::OfRelation | Membership::OfWay | Membership::Node, Named::Element(at)) => {
                let places = 0..session.elements().members(at);
                places.map(|place| id(view, Named::Member(at, place))).collect::<Result<_, _>>()?
            }
            (Membership::Node | Membership::Id(_), Named::Member(..)) => self.element(view, of)?,
            (Membership::Position(_), Named::Member(_, place)) => literal(Literal::from(place as i64)),
            (Membership::Role, Named::Member(at, place)) => {
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
    fn element(&self, view: &View, member: Named) -> Result<Vec<TermId>, ReadError> {
        let Named::Member(at, place) = member else { return Ok(Vec::new()) };
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
            Some(ordinal) => id(view, Named::Element(Element { kind, ordinal }))?,
            None => {
                let missing = osm.ref_ids(kind, &[reference]).first().copied().unwrap_or_default();
                view.id(&Term::from(element_iri(kind, missing)))
            }
        }])
    }

    /// Returns candidates for the subjects of a value, or `None` if all subjects must be scanned.
    fn backwards(&self, view: &View, object: TermId) -> Option<Vec<Named>> {
        let osm = self.session.osm();
        match (self.what, named(view, object)?) {
            (Membership::OfRelation | Membership::OfWay | Membership::Node, Named::Member(at, _)) => {
                Some(vec![Named::Element(at)])
            }
            (Membership::Node | Membership::Id(_), Named::Element(at)) => {
                let mut parents = Vec::new();
                let kinds = self.parents();
                if at.kind == ElementType::Node && kinds.contains(&ElementType::Way) {
                    let ways = osm.ways_of_nodes(&[at.ordinal]);
                    parents.extend(ways.into_iter().map(|ordinal| Element { kind: ElementType::Way, ordinal }));
                }
                if kinds.contains(&ElementType::Relation) {
                    let relations = osm.relations_of(at.kind, &[at.ordinal]);
                    let kind = ElementType::Relation;
                    parents.extend(relations.into_iter().map(|ordinal| Element { kind, ordinal }));
                }
                let members =
                    |parent| (0..self.session.elements().members(parent)).map(move |n| Named::Member(parent, n));
                Some(parents.into_iter().flat_map(members).collect())
            }
            _ => None,
        }
    }

    /// Iterates over all possible subjects.
    fn subjects<'a>(&self, view: &'a View) -> Box<dyn Iterator<Item = Result<Named, ReadError>> + 'a> {
        let parents = all(view, &self.session, self.parents());
        let whole = self.leads();
        let nodes = !matches!(self.what, Membership::OfRelation | Membership::OfWay);
        let elements = std::sync::Arc::clone(self.session.elements());
        Box::new(parents.flat_map(move |at| -> Box<dyn Iterator<Item = Result<Named, ReadError>>> {
            match at {
                Err(error) => Box::new(std::iter::once(Err(error))),
                Ok(at) => {
                    let members = if nodes { elements.members(at) } else { 0 };
                    let members = (0..members).map(move |place| view.work(1).map(|()| Named::Member(at, place)));
                    Box::new(whole.then_some(Ok(Named::Element(at))).into_iter().chain(members))
                }
            }
        }))
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
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
        let pairs = move |of: Result<Named, ReadError>| -> Result<Pairs<'a>, ReadError> {
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

impl Relation for Members {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, _: &View, subject: End, object: End) -> f64 {
        let parents = || self.parents().iter().map(|&kind| self.session.osm().count(kind)).sum::<u64>() as f64;
        let leads = self.leads();
        let found = leads || matches!(self.what, Membership::Id(_));
        match (subject, object) {
            (End::Free, End::Term(_) | End::Bound) if found => 2.0,
            (End::Free, _) => parents() * MANY,
            (_, End::Free) if leads => MANY,
            (_, End::Free) => 1.0,
            _ => 0.5,
        }
    }
}
