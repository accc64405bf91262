//! Tags: `osmkey:` and the value, `osm2rdfkey:` and the item of Wikidata that the value names.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::{NamedNode, Term};
use percent_encoding::percent_decode_str;
use terrapin_osm::{ElementType, KeyId, Ordinal, PairId, radix};
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::naming::{Element, Named};
use super::relation::{element, id, listed, none, one, or_failed, sorted};
use super::session::Session;
use super::vocabulary::ITEM;

/// Of an element that is known the share that has a key that is asked for.
const HAS_KEY: f64 = 0.7;
/// The share that has a value, too.
const HAS_VALUE: f64 = 0.1;

/// The key that a name in an IRI stands for; what IRIs cannot have is written with percent signs.
pub fn key(session: &Session, name: &str) -> Option<KeyId> {
    let osm = session.osm();
    osm.key(name).or_else(|| osm.key(&percent_decode_str(name).decode_utf8().ok()?))
}

/// What is known of the elements with a key.
struct Keyed {
    session: Rc<Session>,
    key: Option<KeyId>,
    pairs: Range<PairId>,
}

impl Keyed {
    fn new(session: Rc<Session>, name: &str) -> Keyed {
        let key = key(&session, name);
        let pairs = key.map_or(0..0, |key| session.osm().pairs_of(key));
        Keyed { session, key, pairs }
    }

    fn lists(&self) -> [Arc<[Ordinal]>; 3] {
        ElementType::ALL.map(|kind| self.key.map_or_else(|| [].into(), |key| self.session.osm().key_posting(kind, key)))
    }

    fn len(&self) -> f64 {
        let osm = self.session.osm();
        let count = |key| ElementType::ALL.iter().map(|&kind| osm.key_posting_len(kind, key)).sum::<u64>();
        self.key.map_or(0.0, |key| count(key) as f64)
    }

    fn count(&self, pair: PairId) -> f64 {
        ElementType::ALL.iter().map(|&kind| self.session.osm().posting_len(kind, pair)).sum::<u64>() as f64
    }

    /// About how many pairs there are, where `count` knows how many elements have a value.
    fn estimate(&self, subject: End, object: End, count: impl FnOnce(TermId) -> f64) -> f64 {
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

/// Elements and the values of a key.
pub struct Tag(Keyed);

impl Tag {
    /// The values of the key with this name.
    pub fn new(session: Rc<Session>, name: &str) -> Tag {
        Tag(Keyed::new(session, name))
    }

    /// The tag whose value a term is.
    fn pair(&self, view: &View, value: TermId) -> Result<Option<PairId>, ReadError> {
        let Term::Literal(literal) = view.term(value)? else { return Ok(None) };
        Ok(self.0.key.and_then(|key| self.0.session.pair(key, &literal)))
    }

    fn of(&self, view: &View, at: Element) -> Result<Option<TermId>, ReadError> {
        self.0.session.tag(at, &self.0.pairs).map(|pair| self.0.session.value(view, pair)).transpose()
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
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
                Box::new(listed(view, lists).map(move |at| Ok((id(view, Named::Element(at?))?, object))))
            }
            (None, None) => Box::new(listed(view, self.0.lists()).filter_map(move |at| {
                let pair = || {
                    let at = at?;
                    let Some(value) = self.of(view, at)? else { return Ok(None) };
                    Ok(Some((id(view, Named::Element(at))?, value)))
                };
                pair().transpose()
            })),
        })
    }
}

impl Relation for Tag {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &View, subject: End, object: End) -> f64 {
        self.0.estimate(subject, object, |value| {
            self.pair(view, value).ok().flatten().map_or(0.0, |pair| self.0.count(pair))
        })
    }
}

/// Elements and the items that the values of a key name, one or several with semicolons between them.
pub struct Link {
    keyed: Keyed,
    /// The values that name several: an item's number, and the tag.
    several: OnceCell<Vec<(u64, PairId)>>,
}

/// The items that a value names.
fn items(value: &str) -> impl Iterator<Item = u64> + '_ {
    value.split(';').filter_map(|part| item(part.trim()))
}

/// The number of an item, `Q42`.
fn item(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('Q')?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

impl Link {
    /// The items that the key with this name leads to.
    pub fn new(session: Rc<Session>, name: &str) -> Link {
        Link { keyed: Keyed::new(session, name), several: OnceCell::new() }
    }

    fn several(&self) -> &[(u64, PairId)] {
        self.several.get_or_init(|| {
            let mut several = Vec::new();
            let Some(key) = self.keyed.key else { return several };
            self.keyed.session.osm().for_values(key, |pair, value| {
                terrapin_budget::checkpoint();
                if value.contains(';') || value.trim() != value {
                    several.extend(items(value).map(|item| (item, pair)));
                }
            });
            several.sort_unstable();
            several.dedup();
            several
        })
    }

    /// The tags that name an item.
    fn tags(&self, view: &View, of: TermId) -> Result<Vec<PairId>, ReadError> {
        let Term::NamedNode(node) = view.term(of)? else { return Ok(Vec::new()) };
        let Some(number) = node.as_str().strip_prefix(ITEM).and_then(item) else { return Ok(Vec::new()) };
        let (osm, Some(key)) = (self.keyed.session.osm(), self.keyed.key) else { return Ok(Vec::new()) };
        let mut tags: Vec<PairId> = osm.pair(osm.key_name(key), &format!("Q{number}")).into_iter().collect();
        let several = self.several();
        let from = several.partition_point(|(other, _)| *other < number);
        tags.extend(several.iter().skip(from).take_while(|(other, _)| *other == number).map(|(_, pair)| *pair));
        Ok(tags)
    }

    /// The items of an element, ascending.
    fn of(&self, view: &View, at: Element) -> Vec<TermId> {
        let session = &self.keyed.session;
        let Some(pair) = session.tag(at, &self.keyed.pairs) else { return Vec::new() };
        let numbers: Vec<u64> = session.osm().with_value(pair, |value| items(value).collect());
        let iri = |number| NamedNode::new_unchecked(format!("{ITEM}Q{number}")).into();
        let mut ids: Vec<TermId> = numbers.into_iter().map(|number| view.id(&iri(number))).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn found<'a>(
        &'a self,
        view: &'a View,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        Ok(match (subject, object) {
            (Some(subject), object) => {
                view.work(1)?;
                let mut items = element(view, subject).map_or_else(Vec::new, |at| self.of(view, at));
                items.retain(|item| object.is_none_or(|object| object == *item));
                sorted(items.into_iter().map(|item| (subject, item)).collect())
            }
            (None, Some(object)) => {
                let tags = self.tags(view, object)?;
                let osm = self.keyed.session.osm();
                let list = |kind| -> Arc<[Ordinal]> {
                    let all: Vec<Ordinal> = tags.iter().flat_map(|&pair| osm.posting(kind, pair).to_vec()).collect();
                    radix::set(all).into()
                };
                let lists = ElementType::ALL.map(list);
                Box::new(listed(view, lists).map(move |at| Ok((id(view, Named::Element(at?))?, object))))
            }
            (None, None) => Box::new(listed(view, self.keyed.lists()).flat_map(move |at| {
                let pairs = || -> Result<Pairs<'a>, ReadError> {
                    let at = at?;
                    let subject = id(view, Named::Element(at))?;
                    Ok(sorted(self.of(view, at).into_iter().map(|item| (subject, item)).collect()))
                };
                or_failed(pairs())
            })),
        })
    }
}

impl Relation for Link {
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &View, subject: End, object: End) -> f64 {
        self.keyed.estimate(subject, object, |of| {
            let tags = self.tags(view, of).unwrap_or_default();
            tags.into_iter().map(|pair| self.keyed.count(pair)).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_items() {
        let named = |value: &str| items(value).collect::<Vec<u64>>();
        assert_eq!(named("Q42"), [42]);
        assert_eq!(named("Q1; Q7;nothing"), [1, 7]);
        assert_eq!(named("q1"), [] as [u64; 0]);
        assert_eq!(named("Q01;P31;Q;Qx;Q+3"), [] as [u64; 0]);
    }
}
