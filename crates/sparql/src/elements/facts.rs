//! Single-valued properties of an element (type, geometry, size, metadata), and the WKT of a geometry.

use std::rc::Rc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use terrapin_osm::{ElementType, MetaRef};
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::links::links;
use super::naming::{Element, Named};
use super::relation::{all, id, named, none, one, or_failed};
use super::session::Session;
use super::vocabulary::{CHANGESET, Fact, class, of_class};
use crate::geo::{metres, square_metres};
use crate::moment::Moment;

/// The relation of one [`Fact`]: each subject has at most one value.
pub struct Facts {
    session: Rc<Session>,
    fact: Fact,
}

impl Facts {
    /// Creates the relation of `fact`.
    pub fn new(session: Rc<Session>, fact: Fact) -> Facts {
        Facts { session, fact }
    }

    /// Returns the element types that can have the fact.
    fn kinds(&self) -> &'static [ElementType] {
        match self.fact {
            Fact::Area => &[ElementType::Way, ElementType::Relation],
            Fact::Length => &[ElementType::Way],
            Fact::Complete => &[ElementType::Relation],
            _ => &ElementType::ALL,
        }
    }

    /// Returns the value of the fact for `of`, or `None` if it has none.
    pub fn of(&self, view: &View, of: Named) -> Result<Option<TermId>, ReadError> {
        let session = &self.session;
        let literal = |literal: Option<Literal>| Ok(literal.map(|literal| view.id(&literal.into())));
        let number = |number: i64| (number != 0).then(|| Literal::from(number));
        let at = of.element();
        match (self.fact, of) {
            (Fact::Wkt, Named::Geometry(_) | Named::Centroid(_)) => {
                let shape = session.shape(view, at)?;
                session.literal(view, of.number(), || match of {
                    Named::Centroid(_) => shape?.centroid(),
                    _ => shape?.wkt(),
                })
            }
            (Fact::Wkt, _) => Ok(None),
            (_, Named::Geometry(_) | Named::Centroid(_) | Named::Member(..) | Named::Said(..)) => Ok(None),
            (Fact::Type, _) => Ok(Some(view.id(&NamedNode::new_unchecked(class(at.kind)).into()))),
            (Fact::Geometry, _) => self.placed(view, at, Named::Geometry(at)),
            (Fact::Centroid, _) => self.placed(view, at, Named::Centroid(at)),
            (Fact::Area, _) => {
                let shape = session.shape(view, at)?.filter(|shape| shape.is_area());
                literal(shape.map(|shape| Literal::from(square_metres(&shape.geometry))))
            }
            (Fact::Length, _) => {
                let shape = session.shape(view, at)?.filter(|_| at.kind == ElementType::Way);
                literal(shape.and_then(|shape| metres(&shape.geometry)).map(Literal::from))
            }
            (Fact::Complete, _) => {
                let known = at.kind == ElementType::Relation && !session.bounds(at).is_empty();
                literal(known.then(|| Literal::from(self.is_complete(at))))
            }
            (Fact::Tags, _) => {
                let tags = session.with_tags(at, <[u32]>::to_vec);
                literal(number(tags.iter().map(|&tag| 1 + links(session.osm(), tag) as i64).sum()))
            }
            (Fact::Version, _) => literal(number(self.meta(at).version.into())),
            (Fact::Changeset, _) => {
                let changeset = self.meta(at).changeset;
                let iri = || NamedNode::new_unchecked(format!("{CHANGESET}{changeset}"));
                Ok((changeset != 0).then(|| view.id(&iri().into())))
            }
            (Fact::Uid, _) => literal(number(self.meta(at).uid)),
            (Fact::User, _) => {
                let name = session.osm().user_name(self.meta(at).user);
                literal((!name.is_empty()).then(|| Literal::new_simple_literal(name)))
            }
            (Fact::Timestamp, _) => {
                let seconds = self.meta(at).timestamp;
                // osm2rdf writes no time zone.
                let text = || Moment::at(seconds).lexical().trim_end_matches('Z').to_owned();
                let time = || Literal::new_typed_literal(text(), xsd::DATE_TIME);
                literal((seconds != 0).then(time))
            }
        }
    }

    /// Returns whether the extract contains all members of a relation.
    fn is_complete(&self, at: Element) -> bool {
        let (page, slot) = self.session.osm().place(at.kind, at.ordinal);
        let page = self.session.osm().relation_page(page);
        page.members(slot).iter().all(|member| member.element.ordinal().is_some())
    }

    fn meta(&self, at: Element) -> MetaRef {
        let (page, slot) = self.session.osm().place(at.kind, at.ordinal);
        self.session.osm().meta_page(at.kind, page).meta(slot)
    }

    /// Returns the id of the geometry or centroid `what` of an element, or `None` if the element has no coordinates.
    fn placed(&self, view: &View, at: Element, what: Named) -> Result<Option<TermId>, ReadError> {
        match self.session.bounds(at).is_empty() {
            true => Ok(None),
            false => id(view, what).map(Some),
        }
    }

    /// Returns the subject of a value if it follows from the value's name: `Some(None)` if no subject has it, `None` if
    /// all subjects must be scanned.
    fn backwards(&self, view: &View, object: TermId) -> Option<Option<Named>> {
        match (self.fact, named(view, object)) {
            (Fact::Geometry, Some(Named::Geometry(at))) | (Fact::Centroid, Some(Named::Centroid(at))) => {
                Some(Some(Named::Element(at)))
            }
            (Fact::Geometry | Fact::Centroid, _) => Some(None),
            _ => None,
        }
    }

    /// Iterates over all possible subjects, in the order of the elements.
    fn subjects<'a>(
        &self,
        view: &'a View,
        kinds: &'static [ElementType],
    ) -> Box<dyn Iterator<Item = Result<Named, ReadError>> + 'a> {
        match self.fact {
            Fact::Wkt => {
                let centroids = all(view, &self.session, kinds).map(|at| at.map(Named::Centroid));
                Box::new(all(view, &self.session, kinds).map(|at| at.map(Named::Geometry)).chain(centroids))
            }
            _ => Box::new(all(view, &self.session, kinds).map(|at| at.map(Named::Element))),
        }
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
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
            if self.fact == Fact::Type {
                let Some(kind) = kind_of(view, object)? else { return Ok(none()) };
                kinds = &ElementType::ALL[kind as usize..=kind as usize];
                let subjects = all(view, &self.session, kinds);
                return Ok(Box::new(subjects.map(move |at| Ok((id(view, Named::Element(at?))?, object)))));
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
fn kind_of(view: &View, id: TermId) -> Result<Option<ElementType>, ReadError> {
    Ok(match view.term(id)? {
        Term::NamedNode(node) => of_class(node.as_str()),
        _ => None,
    })
}

impl Relation for Facts {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &View, subject: End, object: End) -> f64 {
        let count =
            |kinds: &[ElementType]| kinds.iter().map(|&kind| self.session.osm().count(kind)).sum::<u64>() as f64;
        let inverse = matches!(self.fact, Fact::Geometry | Fact::Centroid);
        match (subject, object) {
            (End::Free, End::Term(class)) if self.fact == Fact::Type => {
                kind_of(view, class).ok().flatten().map_or(0.0, |kind| count(&[kind]))
            }
            (End::Free, End::Term(_) | End::Bound) if inverse => 1.0,
            // A scan visits all subjects, even if few match.
            (End::Free, _) => count(self.kinds()),
            // WKT is expensive to produce: a higher estimate puts the other patterns of the element first.
            (_, End::Free) if self.fact == Fact::Wkt => 1.5,
            (_, End::Free) => 1.0,
            _ => 0.5,
        }
    }
}
