//! The candidates for one end of a relation, restricted by the query's conditions on their type and tags. Nearby
//! candidates are found in an R-tree of their boxes if they are few enough, otherwise page by page.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::Literal;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};
use terrapin_osm::{BoundingBox, ElementType, KeyId, Ordinal, PairId};
use terrapin_triples::{ReadError, TripleView};

use super::naming::ElementNode;
use super::session::Session;
use super::tags;

/// Maximum number of elements in an R-tree.
const MOST: u64 = 1 << 20;
/// Estimated bytes of an R-tree entry.
const ENTRY: i64 = 96;

/// A condition of the query on an element.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementCondition {
    /// The element has this type.
    Type(ElementType),
    /// The element has a tag with this key.
    Key(String),
    /// The element has this tag.
    Tag(String, Literal),
}

/// Elements with their bounding boxes, in the order of their names.
pub type Found<'a> = Box<dyn Iterator<Item = Result<(ElementNode, BoundingBox), ReadError>> + 'a>;

type Entry = GeomWithData<Rectangle<[i64; 2]>, ElementNode>;

/// The elements that meet the type conditions and the most selective tag condition.
pub struct Among {
    session: Rc<Session>,
    kinds: [bool; 3],
    tag: Option<SelectiveTag>,
    lists: OnceCell<[Arc<[Ordinal]>; 3]>,
    /// Number of elements with boxes examined page by page; the R-tree is built once this reaches the number of
    /// candidates.
    looked: Cell<u64>,
    tree: OnceCell<RTree<Entry>>,
}

/// The most selective tag condition.
#[derive(Clone, Copy)]
enum SelectiveTag {
    Key(KeyId),
    Pair(PairId),
    /// A tag that no element has.
    Nothing,
}

impl Among {
    /// Selects the candidates by conditions.
    pub fn new(session: Rc<Session>, asked: &[ElementCondition]) -> Among {
        let mut kinds = [true; 3];
        let mut fewest: Option<(u64, SelectiveTag)> = None;
        for asked in asked {
            if let ElementCondition::Type(kind) = asked {
                ElementType::ALL
                    .into_iter()
                    .filter(|other| other != kind)
                    .for_each(|other| kinds[other as usize] = false);
                continue;
            }
            let tag = SelectiveTag::of(&session, asked);
            let count = ElementType::ALL.into_iter().map(|kind| tag.count(&session, kind)).sum();
            if fewest.is_none_or(|(before, _)| count < before) {
                fewest = Some((count, tag));
            }
        }
        let (lists, looked, tree) = (OnceCell::new(), Cell::new(0), OnceCell::new());
        Among { session, kinds, tag: fewest.map(|(_, tag)| tag), lists, looked, tree }
    }

    /// Returns whether a tag condition restricts the candidates.
    pub fn is_of_tags(&self) -> bool {
        self.tag.is_some()
    }

    /// Returns the number of candidates.
    pub fn len(&self) -> u64 {
        let count = |kind| match self.tag {
            Some(tag) => tag.count(&self.session, kind),
            None => self.session.osm().count(kind),
        };
        self.kinds().map(count).sum()
    }

    /// Iterates over the possible element types, nodes first.
    pub fn kinds(&self) -> impl Iterator<Item = ElementType> + '_ {
        ElementType::ALL.into_iter().filter(|&kind| self.kinds[kind as usize])
    }

    /// Returns the candidates with boxes that intersect `zone`. Pages are skipped if `passes` returns true for their
    /// box.
    pub fn near<'a>(
        &'a self,
        view: &'a TripleView,
        zone: BoundingBox,
        passes: impl Fn(&BoundingBox) -> bool + 'a,
    ) -> Result<Found<'a>, ReadError> {
        let few = self.is_of_tags() && self.len() <= MOST;
        if few && self.looked.get() >= self.len() {
            let tree = self.tree(view)?;
            let [south, west, north, east] = [zone.south, zone.west, zone.north, zone.east].map(i64::from);
            let within = AABB::from_corners([west, south], [east, north]);
            let met = tree.locate_in_envelope_intersecting(within);
            let mut met: Vec<(ElementNode, BoundingBox)> = met.map(|entry| (entry.data, of_entry(entry))).collect();
            view.work(1 + met.len() as u64)?;
            met.sort_unstable_by_key(|(at, _)| *at);
            return Ok(Box::new(met.into_iter().map(Ok)));
        }
        let pages = self
            .kinds()
            .flat_map(move |kind| self.session.osm().pages_in(kind, &zone).into_iter().map(move |page| (kind, page)));
        let pages = pages.filter(move |(kind, page)| !passes(&self.session.osm().page_box(*kind, *page)));
        Ok(Box::new(pages.flat_map(move |(kind, page)| {
            let (found, error) = match self.on_page(view, kind, page, &zone) {
                Ok(found) => (found, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            found.into_iter().map(Ok).chain(error)
        })))
    }

    /// Iterates over all candidates.
    pub fn all<'a>(&'a self, view: &'a TripleView) -> impl Iterator<Item = Result<ElementNode, ReadError>> + use<'a> {
        self.kinds().flat_map(move |kind| {
            let (list, count) = match self.tag {
                Some(_) => (Some(self.list(kind)), self.list(kind).len() as u64),
                None => (None, self.session.osm().count(kind)),
            };
            (0..count).map(move |at| {
                let ordinal = list.and_then(|list| list.get(at as usize).copied()).unwrap_or(at);
                view.work(1).map(|()| ElementNode { kind, ordinal })
            })
        })
    }

    /// Returns the candidates on a page.
    fn on_page(
        &self,
        view: &TripleView,
        kind: ElementType,
        page: u32,
        zone: &BoundingBox,
    ) -> Result<Vec<(ElementNode, BoundingBox)>, ReadError> {
        let osm = self.session.osm();
        let begin = u64::from(page) * osm.page_size(kind);
        let meets = |bounds: &BoundingBox| !bounds.is_empty() && zone.intersects(bounds);
        if !self.is_of_tags() {
            view.work(1)?;
            let boxes = self.session.page_bounds(view, kind, page)?;
            let met = boxes.iter().enumerate().filter(|(_, bounds)| meets(bounds));
            return Ok(met.map(|(at, bounds)| (ElementNode { kind, ordinal: begin + at as u64 }, *bounds)).collect());
        }
        let list = self.list(kind);
        let from = list.partition_point(|&ordinal| ordinal < begin);
        let asked = list.get(from..).unwrap_or_default();
        let asked =
            asked.get(..asked.partition_point(|&ordinal| ordinal < begin + osm.page_size(kind))).unwrap_or_default();
        let looked = 1 + asked.len() as u64;
        view.work(looked)?;
        self.looked.set(self.looked.get() + looked);
        let elements = asked.iter().map(|&ordinal| ElementNode { kind, ordinal });
        Ok(elements.map(|at| (at, self.session.bounds(at))).filter(|(_, bounds)| meets(bounds)).collect())
    }

    fn tree(&self, view: &TripleView) -> Result<&RTree<Entry>, ReadError> {
        if let Some(tree) = self.tree.get() {
            return Ok(tree);
        }
        view.hold(ENTRY * self.len() as i64)?;
        let mut entries = Vec::new();
        for at in self.all(view) {
            let at = at?;
            let bounds = self.session.bounds(at);
            if !bounds.is_empty() {
                entries.push(to_entry(at, &bounds));
            }
        }
        Ok(self.tree.get_or_init(|| RTree::bulk_load(entries)))
    }

    fn list(&self, kind: ElementType) -> &Arc<[Ordinal]> {
        let lists = self.lists.get_or_init(|| {
            ElementType::ALL.map(|kind| match self.tag {
                Some(tag) if self.kinds[kind as usize] => tag.list(&self.session, kind),
                _ => [].into(),
            })
        });
        &lists[kind as usize]
    }
}

impl SelectiveTag {
    fn of(session: &Session, asked: &ElementCondition) -> SelectiveTag {
        let (ElementCondition::Key(name) | ElementCondition::Tag(name, _)) = asked else {
            return SelectiveTag::Nothing;
        };
        let Some(key) = tags::key(session, name) else { return SelectiveTag::Nothing };
        let ElementCondition::Tag(_, value) = asked else { return SelectiveTag::Key(key) };
        session.pair(key, value).map_or(SelectiveTag::Nothing, SelectiveTag::Pair)
    }

    fn count(self, session: &Session, kind: ElementType) -> u64 {
        match self {
            SelectiveTag::Key(key) => session.osm().key_posting_len(kind, key),
            SelectiveTag::Pair(pair) => session.osm().posting_len(kind, pair),
            SelectiveTag::Nothing => 0,
        }
    }

    fn list(self, session: &Session, kind: ElementType) -> Arc<[Ordinal]> {
        match self {
            SelectiveTag::Key(key) => session.osm().key_posting(kind, key),
            SelectiveTag::Pair(pair) => session.osm().posting(kind, pair),
            SelectiveTag::Nothing => [].into(),
        }
    }
}

fn to_entry(at: ElementNode, bounds: &BoundingBox) -> Entry {
    let [south, west, north, east] = [bounds.south, bounds.west, bounds.north, bounds.east].map(i64::from);
    GeomWithData::new(Rectangle::from_corners([west, south], [east, north]), at)
}

fn of_entry(entry: &Entry) -> BoundingBox {
    let ([west, south], [east, north]) = (entry.geom().lower(), entry.geom().upper());
    // The corners were `i32` before they became `i64`.
    let side = |side: i64| i32::try_from(side).unwrap_or_default();
    BoundingBox { south: side(south), west: side(west), north: side(north), east: side(east) }
}
