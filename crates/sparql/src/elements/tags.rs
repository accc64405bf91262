//! `osmkey:` relations: from an element to the value of a tag.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::Term;
use percent_encoding::percent_decode_str;
use terrapin_osm::{ElementType, KeyId, Ordinal, PairId};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::naming::{ComputedNode, ElementNode};
use super::relation::{element, id, listed, none, one, or_failed};
use super::session::Session;

/// Estimated share of known elements with the queried key.
const HAS_KEY: f64 = 0.7;
/// Estimated share of known elements with the queried key and value.
const HAS_VALUE: f64 = 0.1;

/// Returns the key of a local name in an IRI; the name may be percent-encoded.
pub fn key(session: &Session, name: &str) -> Option<KeyId> {
    let osm = session.osm();
    osm.key(name).or_else(|| osm.key(&percent_decode_str(name).decode_utf8().ok()?))
}

/// The index of the elements with one key.
pub(super) struct Keyed {
    pub(super) session: Rc<Session>,
    pub(super) key: Option<KeyId>,
    pub(super) pairs: Range<PairId>,
}

impl Keyed {
    pub(super) fn new(session: Rc<Session>, name: &str) -> Keyed {
        let key = key(&session, name);
        let pairs = key.map_or(0..0, |key| session.osm().pairs_of(key));
        Keyed { session, key, pairs }
    }

    pub(super) fn lists(&self) -> [Arc<[Ordinal]>; 3] {
        ElementType::ALL.map(|kind| self.key.map_or_else(|| [].into(), |key| self.session.osm().key_posting(kind, key)))
    }

    fn len(&self) -> f64 {
        let osm = self.session.osm();
        let count = |key| ElementType::ALL.iter().map(|&kind| osm.key_posting_len(kind, key)).sum::<u64>();
        self.key.map_or(0.0, |key| count(key) as f64)
    }

    pub(super) fn count(&self, pair: PairId) -> f64 {
        ElementType::ALL.iter().map(|&kind| self.session.osm().posting_len(kind, pair)).sum::<u64>() as f64
    }

    /// Estimates the number of pairs; `count` returns the number of elements with a given value.
    pub(super) fn estimate(&self, subject: End, object: End, count: impl FnOnce(TermId) -> f64) -> f64 {
        match (subject, object) {
            _ if self.pairs.is_empty() => 0.0,
            (End::Free, End::Term(value)) => count(value),
            (End::Free, End::Bound) => (self.len() / f64::from(self.pairs.len() as u32)).max(1.0),
            (End::Free, End::Free) => self.len(),
            (_, End::Free) => HAS_KEY,
            _ => HAS_VALUE,
        }
    }
}

/// The relation from elements to the values of one key.
pub struct KeyRelation(Keyed);

impl KeyRelation {
    /// Creates the relation of the key with this name.
    pub fn new(session: Rc<Session>, name: &str) -> KeyRelation {
        KeyRelation(Keyed::new(session, name))
    }

    /// Returns the tag with the value `value`.
    fn pair(&self, view: &TripleView, value: TermId) -> Result<Option<PairId>, ReadError> {
        let Term::Literal(literal) = view.term(value)? else { return Ok(None) };
        Ok(self.0.key.and_then(|key| self.0.session.pair(key, &literal)))
    }

    fn of(&self, view: &TripleView, at: ElementNode) -> Result<Option<TermId>, ReadError> {
        self.0.session.tag(at, &self.0.pairs).map(|pair| self.0.session.value(view, pair)).transpose()
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        let session = &self.0.session;
        Ok(match (subject, object) {
            (Some(subject), object) => {
                view.work(1)?;
                let value = element(view, subject).map(|at| self.of(view, at)).transpose()?.flatten();
                one(value.filter(|value| object.is_none_or(|object| object == *value)).map(|value| (subject, value)))
            }
            (None, Some(object)) => {
                let Some(pair) = self.pair(view, object)? else { return Ok(none()) };
                let lists = ElementType::ALL.map(|kind| session.osm().posting(kind, pair));
                Box::new(listed(view, lists).map(move |at| Ok((id(view, ComputedNode::Element(at?))?, object))))
            }
            (None, None) => Box::new(listed(view, self.0.lists()).filter_map(move |at| {
                let pair = || {
                    let at = at?;
                    let Some(value) = self.of(view, at)? else { return Ok(None) };
                    Ok(Some((id(view, ComputedNode::Element(at))?, value)))
                };
                pair().transpose()
            })),
        })
    }
}

impl TermRelation for KeyRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        self.0.estimate(subject, object, |value| {
            self.pair(view, value).ok().flatten().map_or(0.0, |pair| self.0.count(pair))
        })
    }
}
