//! Single-valued properties of an element (type, geometry, size, metadata), and the WKT of a geometry.

use std::rc::Rc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use terrapin_osm::{ElementType, MetaRef};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::links::links;
use super::naming::{ComputedNode, ElementNode};
use super::relation::{all, id, named, none, one, or_failed};
use super::session::Session;
use super::vocabulary::{CHANGESET, ElementProperty, class, of_class};
use crate::geo::{metres, square_metres};
use crate::moment::Moment;

/// The relation of one [`Fact`]: each subject has at most one value.
pub struct PropertyRelation {
    session: Rc<Session>,
    fact: ElementProperty,
}

impl PropertyRelation {
    /// Creates the relation of `fact`.
    pub fn new(session: Rc<Session>, fact: ElementProperty) -> PropertyRelation {
        PropertyRelation { session, fact }
    }

    /// Returns the element types that can have the fact.
    fn kinds(&self) -> &'static [ElementType] {
        match self.fact {
            ElementProperty::Area => &[ElementType::Way, ElementType::Relation],
            ElementProperty::Length => &[ElementType::Way],
            ElementProperty::Complete => &[ElementType::Relation],
            _ => &ElementType::ALL,
        }
    }

    /// Returns the value of the fact for `of`, or `None` if it has none.
    pub fn of(&self, view: &TripleView, of: ComputedNode) -> Result<Option<TermId>, ReadError> {
        let session = &self.session;
        let literal = |literal: Option<Literal>| Ok(literal.map(|literal| view.id(&literal.into())));
        let number = |number: i64| (number != 0).then(|| Literal::from(number));
        let at = of.element();
        match (self.fact, of) {
            (ElementProperty::Wkt, ComputedNode::Geometry(_) | ComputedNode::Centroid(_)) => {
                let shape = session.shape(view, at)?;
                session.literal(view, of.number(), || match of {
                    ComputedNode::Centroid(_) => shape?.centroid(),
                    _ => shape?.wkt(),
                })
            }
            (ElementProperty::Wkt, _) => Ok(None),
            (
                _,
                ComputedNode::Geometry(_)
                | ComputedNode::Centroid(_)
                | ComputedNode::Member(..)
                | ComputedNode::Said(..),
            ) => Ok(None),
            (ElementProperty::Type, _) => Ok(Some(view.id(&NamedNode::new_unchecked(class(at.kind)).into()))),
            (ElementProperty::Geometry, _) => self.placed(view, at, ComputedNode::Geometry(at)),
            (ElementProperty::Centroid, _) => self.placed(view, at, ComputedNode::Centroid(at)),
            (ElementProperty::Area, _) => {
                let shape = session.shape(view, at)?.filter(|shape| shape.is_area());
                literal(shape.map(|shape| Literal::from(square_metres(&shape.geometry))))
            }
            (ElementProperty::Length, _) => {
                let shape = session.shape(view, at)?.filter(|_| at.kind == ElementType::Way);
                literal(shape.and_then(|shape| metres(&shape.geometry)).map(Literal::from))
            }
            (ElementProperty::Complete, _) => {
                let known = at.kind == ElementType::Relation && !session.bounds(at).is_empty();
                literal(known.then(|| Literal::from(self.is_complete(at))))
            }
            (ElementProperty::Tags, _) => {
                let tags = session.with_tags(at, <[u32]>::to_vec);
                literal(number(tags.iter().map(|&tag| 1 + links(session.osm(), tag) as i64).sum()))
            }
            (ElementProperty::Version, _) => literal(number(self.meta(at).version.into())),
            (ElementProperty::Changeset, _) => {
                let changeset = self.meta(at).changeset;
                let iri = || NamedNode::new_unchecked(format!("{CHANGESET}{changeset}"));
                Ok((changeset != 0).then(|| view.id(&iri().into())))
            }
            (ElementProperty::Uid, _) => literal(number(self.meta(at).uid)),
            (ElementProperty::User, _) => {
                let name = session.osm().user_name(self.meta(at).user);
                literal((!name.is_empty()).then(|| Literal::new_simple_literal(name)))
            }
            (ElementProperty::Timestamp, _) => {
                let seconds = self.meta(at).timestamp;
                // osm2rdf writes no time zone.
                let text = || Moment::at(seconds).lexical().trim_end_matches('Z').to_owned();
                let time = || Literal::new_typed_literal(text(), xsd::DATE_TIME);
                literal((seconds != 0).then(time))
            }
        }
    }

    /// Returns whether the extract contains all members of a relation.
    fn is_complete(&self, at: ElementNode) -> bool {
        let (page, slot) = self.session.osm().place(at.kind, at.ordinal);
        let page = self.session.osm().relation_page(page);
        page.members(slot).iter().all(|member| member.element.ordinal().is_some())
    }

    fn meta(&self, at: ElementNode) -> MetaRef {
        let (page, slot) = self.session.osm().place(at.kind, at.ordinal);
        self.session.osm().meta_page(at.kind, page).meta(slot)
    }

    /// Returns the id of the geometry or centroid `what` of an element, or `None` if the element has no coordinates.
    fn placed(&self, view: &TripleView, at: ElementNode, what: ComputedNode) -> Result<Option<TermId>, ReadError> {
        match self.session.bounds(at).is_empty() {
            true => Ok(None),
            false => id(view, what).map(Some),
        }
    }

    /// Returns the subject of a value if it follows from the value's name: `Some(None)` if no subject has it, `None` if
    /// all subjects must be scanned.
    fn backwards(&self, view: &TripleView, object: TermId) -> Option<Option<ComputedNode>> {
        match (self.fact, named(view, object)) {
            (ElementProperty::Geometry, Some(ComputedNode::Geometry(at)))
            | (ElementProperty::Centroid, Some(ComputedNode::Centroid(at))) => Some(Some(ComputedNode::Element(at))),
            (ElementProperty::Geometry | ElementProperty::Centroid, _) => Some(None),
            _ => None,
        }
    }

    /// Iterates over all possible subjects, in the order of the elements.
    fn subjects<'a>(
        &self,
        view: &'a TripleView,
        kinds: &'static [ElementType],
    ) -> Box<dyn Iterator<Item = Result<ComputedNode, ReadError>> + 'a> {
        match self.fact {
            ElementProperty::Wkt => {
                let centroids = all(view, &self.session, kinds).map(|at| at.map(ComputedNode::Centroid));
                Box::new(all(view, &self.session, kinds).map(|at| at.map(ComputedNode::Geometry)).chain(centroids))
            }
            _ => Box::new(all(view, &self.session, kinds).map(|at| at.map(ComputedNode::Element))),
        }
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        if let Some(subject) = subject {
            view.work(1)?;
            let value = named(view, subject).map(|of| self.of(view, of)).transpose()?.flatten();
            return Ok(one(value
                .filter(|value| object.is_none_or(|object| object == *value))
                .map(|value| (subject, value))));
        }
        let mut kinds = self.kinds();
        if let Some(object) = object {
            match self.backwards(view, object) {
                Some(None) => return Ok(none()),
                Some(Some(of)) => {
                    let value = self.of(view, of)?.filter(|value| *value == object);
                    let subject = id(view, of)?;
                    return Ok(one(value.map(|value| (subject, value))));
                }
                None => {}
            }
            if self.fact == ElementProperty::Type {
                let Some(kind) = kind_of(view, object)? else { return Ok(none()) };
                kinds = &ElementType::ALL[kind as usize..=kind as usize];
                let subjects = all(view, &self.session, kinds);
                return Ok(Box::new(subjects.map(move |at| Ok((id(view, ComputedNode::Element(at?))?, object)))));
            }
        }
        Ok(Box::new(self.subjects(view, kinds).filter_map(move |of| {
            let pair = || {
                let of = of?;
                let value = self.of(view, of)?.filter(|value| object.is_none_or(|object| object == *value));
                value.map(|value| Ok((id(view, of)?, value))).transpose()
            };
            pair().transpose()
        })))
    }
}

/// Returns the element type of a class.
fn kind_of(view: &TripleView, id: TermId) -> Result<Option<ElementType>, ReadError> {
    Ok(match view.term(id)? {
        Term::NamedNode(node) => of_class(node.as_str()),
        _ => None,
    })
}

impl TermRelation for PropertyRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let count =
            |kinds: &[ElementType]| kinds.iter().map(|&kind| self.session.osm().count(kind)).sum::<u64>() as f64;
        let inverse = matches!(self.fact, ElementProperty::Geometry | ElementProperty::Centroid);
        match (subject, object) {
            (End::Free, End::Term(class)) if self.fact == ElementProperty::Type => {
                kind_of(view, class).ok().flatten().map_or(0.0, |kind| count(&[kind]))
            }
            (End::Free, End::Term(_) | End::Bound) if inverse => 1.0,
            // A scan visits all subjects, even if few match.
            (End::Free, _) => count(self.kinds()),
            // WKT is expensive to produce: a higher estimate puts the other patterns of the element first.
            (_, End::Free) if self.fact == ElementProperty::Wkt => 1.5,
            (_, End::Free) => 1.0,
            _ => 0.5,
        }
    }
}
