//! Triples with a variable predicate and an element, a geometry or a member as the subject. A relation has only two
//! ends. Each triple is therefore reified as a statement node, and one relation maps that node to each end of the
//! triple.

use std::rc::Rc;

use oxrdf::NamedNode;
use terrapin_osm::ElementType;
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::facts::PropertyRelation;
use super::links::LinkRelation;
use super::members::MembershipRelation;
use super::naming::{ComputedNode, ElementNode, MOST_SAID};
use super::relation::{all, id, named, none, one, or_failed};
use super::session::Session;
use super::tags::KeyRelation;
use super::vocabulary::{FACTS, KEY, LINK, MEMBERSHIPS};

/// Estimated number of triples of an element.
const MANY: f64 = 20.0;

/// Returns all computed pairs of predicate and object of `of`, each once. Triples that the store also has are left out.
///
/// # Errors
/// Returns an error if a budget is exhausted, or the subject has more than [`MOST_SAID`] triples.
pub fn told(session: &Rc<Session>, view: &TripleView, of: ComputedNode) -> Result<Rc<[(TermId, TermId)]>, ReadError> {
    if let Some(told) = session.told(of) {
        return Ok(told);
    }
    let subject = id(view, of)?;
    let iri = |iri: String| view.id(&NamedNode::new_unchecked(iri).into());
    let mut out = Vec::new();
    for (fact, namespace, name) in FACTS {
        let value = PropertyRelation::new(Rc::clone(session), fact).of(view, of)?;
        out.extend(value.map(|value| (iri(format!("{namespace}{name}")), value)));
    }
    for (what, namespace, name) in MEMBERSHIPS {
        let values = MembershipRelation::new(Rc::clone(session), what).of(view, of)?;
        out.extend(values.into_iter().map(|value| (iri(format!("{namespace}{name}")), value)));
    }
    if let ComputedNode::Element(at) = of {
        let osm = session.osm();
        for pair in session.with_tags(at, <[u32]>::to_vec) {
            let key = osm.key_name(osm.key_of(pair));
            for namespace in [KEY, LINK] {
                let relation: Box<dyn TermRelation> = match namespace {
                    KEY => Box::new(KeyRelation::new(Rc::clone(session), key)),
                    _ => Box::new(LinkRelation::new(Rc::clone(session), key)),
                };
                for found in relation.pairs(view, Some(subject), None) {
                    out.push((iri(format!("{namespace}{}", written(key))), found?.1));
                }
            }
        }
    }
    view.work(out.len() as u64)?;
    if session.elements().speak_triples() {
        out.retain(|(predicate, object)| view.triples(Some(subject), Some(*predicate), Some(*object)).next().is_none());
    }
    if out.len() as u64 > MOST_SAID {
        return Err(ReadError::Relation("too many triples for DESCRIBE of one element".to_owned()));
    }
    out.sort_unstable();
    out.dedup();
    let out: Rc<[(TermId, TermId)]> = out.into();
    session.keep_told(of, &out);
    Ok(out)
}

/// An end of a triple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SaidEnd {
    Subject,
    Predicate,
    Object,
}

/// The relation between statement nodes and one end of their triples. For the subject, pairs are (subject, statement);
/// for the predicate and the object, (statement, end).
pub struct StatementEndRelation {
    session: Rc<Session>,
    end: SaidEnd,
}

impl StatementEndRelation {
    /// Creates the relation for one end.
    pub fn new(session: Rc<Session>, end: SaidEnd) -> StatementEndRelation {
        StatementEndRelation { session, end }
    }

    /// Returns the statement nodes of a subject.
    fn of<'a>(&self, view: &'a TripleView, of: ComputedNode, subject: TermId) -> Result<Pairs<'a>, ReadError> {
        let said = 0..told(&self.session, view, of)?.len() as u64;
        Ok(Box::new(said.map(move |place| Ok((subject, id(view, ComputedNode::Said(of.number(), place))?)))))
    }

    /// Returns the predicate or the object of a statement node.
    fn end(&self, view: &TripleView, said: TermId) -> Result<Option<TermId>, ReadError> {
        let Some(ComputedNode::Said(of, place)) = named(view, said) else { return Ok(None) };
        let Some(of) = ComputedNode::of(of) else { return Ok(None) };
        let told = told(&self.session, view, of)?;
        Ok(told.get(place as usize).map(|(predicate, object)| match self.end {
            SaidEnd::Predicate => *predicate,
            _ => *object,
        }))
    }

    /// Iterates over all possible subjects: elements, geometries, centroids and members.
    fn named<'a>(&'a self, view: &'a TripleView) -> impl Iterator<Item = Result<ComputedNode, ReadError>> + 'a {
        let elements = || all(view, &self.session, &ElementType::ALL);
        let members = elements().flat_map(|at| -> Box<dyn Iterator<Item = Result<ComputedNode, ReadError>>> {
            match at {
                Ok(at) => {
                    Box::new((0..self.session.elements().members(at)).map(move |n| Ok(ComputedNode::Member(at, n))))
                }
                Err(error) => Box::new(std::iter::once(Err(error))),
            }
        });
        let names: [fn(ElementNode) -> ComputedNode; 3] =
            [ComputedNode::Element, ComputedNode::Geometry, ComputedNode::Centroid];
        names.into_iter().flat_map(move |name| elements().map(move |at| at.map(name))).chain(members)
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        view.work(1)?;
        let fits = move |id: TermId| object.is_none_or(|object| object == id);
        Ok(match (self.end, subject) {
            (SaidEnd::Subject, Some(subject)) => match named(view, subject) {
                Some(of) => {
                    let pairs = self.of(view, of, subject)?;
                    Box::new(pairs.filter(move |pair| pair.as_ref().map_or(true, |(_, said)| fits(*said))))
                }
                None => none(),
            },
            (SaidEnd::Subject, None) => Box::new(self.named(view).flat_map(move |of| {
                let pairs = || -> Result<Pairs<'a>, ReadError> {
                    let of = of?;
                    self.of(view, of, id(view, of)?)
                };
                let pairs = or_failed(pairs());
                pairs.filter(move |pair| pair.as_ref().map_or(true, |(_, said)| fits(*said)))
            })),
            (_, Some(said)) => one(self.end(view, said)?.filter(|end| fits(*end)).map(|end| (said, end))),
            (_, None) => {
                return Err(ReadError::Relation("a request for triples of an element has no subject".to_owned()));
            }
        })
    }
}

/// Percent-encodes a tag key for use in an IRI.
fn written(key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:~@!$&()*+,;=/".contains(c);
    let mut out = String::new();
    for c in key.chars() {
        if plain(c) {
            out.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        }
    }
    out
}

impl TermRelation for StatementEndRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, _: &TripleView, subject: End, object: End) -> f64 {
        let all = || ElementType::ALL.map(|kind| self.session.osm().count(kind)).iter().sum::<u64>() as f64;
        match (self.end, subject, object) {
            (SaidEnd::Subject, End::Free, _) => all() * MANY,
            (SaidEnd::Subject, _, End::Free) => MANY,
            (_, _, End::Free) => 1.0,
            _ => 1.0 / MANY,
        }
    }

    fn answers(&self, subject_given: bool, _: bool) -> bool {
        self.end == SaidEnd::Subject || subject_given
    }
}
