//! The caches of one query for the data of elements.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::Literal;
use rustc_hash::FxHashMap;
use terrapin_osm::{BoundingBox, ElementType, KeyId, Ordinal, Osm, PairId, Remembered, TagPage};
use terrapin_triples::{ReadError, TermId, TripleView};

use super::ElementSource;
use super::naming::{ComputedNode, ElementNode};
use super::shape::{ElementShape, lacks_ways};

/// The key with integer values: osm2rdf writes `osmkey:admin_level 8`.
pub(super) const NUMBERS: &str = "admin_level";
/// Maximum bytes of cached shapes.
const SHAPES: usize = 64 << 20;
/// Maximum number of cached boxes, for relations and for pages each.
const BOXES: usize = 1 << 20;
/// Estimated bytes of a cached value.
const ENTRY: i64 = 40;

/// Predicates and objects.
type Told = Rc<[(TermId, TermId)]>;
type Pages = Remembered<TagPage, Box<dyn FnMut(u32) -> Arc<TagPage>>>;

/// The caches of one query.
pub struct Session {
    elements: Arc<ElementSource>,
    tags: [RefCell<Pages>; 3],
    values: RefCell<FxHashMap<PairId, TermId>>,
    literals: RefCell<FxHashMap<u64, TermId>>,
    shapes: RefCell<ShapeCache>,
    told: RefCell<Option<(ComputedNode, Told)>>,
    bounds: RefCell<FxHashMap<Ordinal, BoundingBox>>,
    pages: RefCell<BoxCache>,
    numbers: Range<PairId>,
}

#[derive(Default)]
struct BoxCache {
    kept: FxHashMap<(ElementType, u32), Rc<[BoundingBox]>>,
    number: usize,
}

#[derive(Default)]
struct ShapeCache {
    kept: FxHashMap<ElementNode, Option<Rc<ElementShape>>>,
    bytes: usize,
}

impl Session {
    /// Creates empty caches.
    pub fn new(elements: &Arc<ElementSource>) -> Rc<Session> {
        let pages = |kind| {
            let osm = Arc::clone(elements.osm());
            let load: Box<dyn FnMut(u32) -> Arc<TagPage>> = Box::new(move |page| osm.tag_page(kind, page));
            RefCell::new(Remembered::new(load))
        };
        let osm = elements.osm();
        Rc::new(Session {
            elements: Arc::clone(elements),
            tags: ElementType::ALL.map(pages),
            values: RefCell::default(),
            literals: RefCell::default(),
            shapes: RefCell::default(),
            told: RefCell::default(),
            bounds: RefCell::default(),
            pages: RefCell::default(),
            numbers: osm.key(NUMBERS).map_or(0..0, |key| osm.pairs_of(key)),
        })
    }

    /// Returns the elements.
    pub fn elements(&self) -> &Arc<ElementSource> {
        &self.elements
    }

    /// Returns the element pages.
    pub fn osm(&self) -> &Osm {
        self.elements.osm()
    }

    /// Calls `f` with the tags of an element, in ascending order.
    pub fn with_tags<R>(&self, element: ElementNode, f: impl FnOnce(&[PairId]) -> R) -> R {
        let ElementNode { kind, ordinal } = element;
        let (page, slot) = self.osm().place(kind, ordinal);
        f(self.tags[kind as usize].borrow_mut().get(page).tags(slot))
    }

    /// Returns the element's tag within a range of tags, such as those of one key.
    pub fn tag(&self, element: ElementNode, pairs: &Range<PairId>) -> Option<PairId> {
        self.with_tags(element, |tags| {
            let at = tags.partition_point(|&tag| tag < pairs.start);
            tags.get(at).copied().filter(|tag| *tag < pairs.end)
        })
    }

    /// Builds the shape of an element without the cache.
    pub fn make_shape(&self, element: ElementNode) -> Option<ElementShape> {
        let tags = self.with_tags(element, <[PairId]>::to_vec);
        ElementShape::of(self.osm(), element, &tags)
    }

    /// Returns the term of a tag's value.
    pub fn value(&self, view: &TripleView, pair: PairId) -> Result<TermId, ReadError> {
        if let Some(id) = self.values.borrow().get(&pair) {
            return Ok(*id);
        }
        let literal = self.osm().with_value(pair, |value| match number(value) {
            Some(number) if self.numbers.contains(&pair) => Literal::from(number),
            _ => Literal::new_simple_literal(value),
        });
        let id = view.id(&literal.into());
        view.hold(ENTRY)?;
        self.values.borrow_mut().insert(pair, id);
        Ok(id)
    }

    /// Returns the tag with this key and value, if it exists in the snapshot.
    pub fn pair(&self, key: KeyId, value: &Literal) -> Option<PairId> {
        let text = value.value();
        let simple = value.language().is_none() && value.datatype() == oxrdf::vocab::xsd::STRING;
        let integer = value.datatype() == oxrdf::vocab::xsd::INTEGER;
        let numeric = self.osm().pairs_of(key) == self.numbers && number(text).is_some();
        let written = (simple && !numeric) || (integer && numeric);
        written.then(|| self.osm().pair(self.osm().key_name(key), text)).flatten()
    }

    /// Returns the id of the literal of a computed node, made at the first request and then cached.
    pub fn literal(
        &self,
        view: &TripleView,
        number: u64,
        make: impl FnOnce() -> Option<Literal>,
    ) -> Result<Option<TermId>, ReadError> {
        if let Some(id) = self.literals.borrow().get(&number) {
            return Ok(Some(*id));
        }
        let Some(literal) = make() else { return Ok(None) };
        let id = view.id(&literal.into());
        view.hold(ENTRY)?;
        self.literals.borrow_mut().insert(number, id);
        Ok(Some(id))
    }

    /// Returns the shape of an element, or `None` if it has no geometry.
    pub fn shape(&self, view: &TripleView, element: ElementNode) -> Result<Option<Rc<ElementShape>>, ReadError> {
        if element.kind != ElementType::Node
            && let Some(kept) = self.shapes.borrow().kept.get(&element)
        {
            return Ok(kept.clone());
        }
        let shape = self.make_shape(element).map(Rc::new);
        let points = shape.as_ref().map_or(0, |shape| shape.points());
        view.work(1 + points as u64 / 64)?;
        if element.kind == ElementType::Node {
            return Ok(shape);
        }
        let bytes = 128 + 96 * points;
        let mut shapes = self.shapes.borrow_mut();
        if shapes.bytes + bytes > SHAPES {
            view.hold(-(shapes.bytes as i64))?;
            *shapes = ShapeCache::default();
        }
        view.hold(bytes as i64)?;
        shapes.bytes += bytes;
        shapes.kept.insert(element, shape.clone());
        Ok(shape)
    }

    /// Returns the cached triples of `of`. Only the last subject is cached.
    pub fn told(&self, of: ComputedNode) -> Option<Told> {
        self.told.borrow().as_ref().filter(|(last, _)| *last == of).map(|(_, told)| Rc::clone(told))
    }

    /// Caches the triples of `of` in place of those of the previous subject.
    pub fn keep_told(&self, of: ComputedNode, told: &Told) {
        *self.told.borrow_mut() = Some((of, Rc::clone(told)));
    }

    /// Returns the boxes of the elements on a page.
    pub fn page_bounds(&self, view: &TripleView, kind: ElementType, page: u32) -> Result<Rc<[BoundingBox]>, ReadError> {
        if let Some(kept) = self.pages.borrow().kept.get(&(kind, page)) {
            return Ok(Rc::clone(kept));
        }
        let osm = self.osm();
        let begin = u64::from(page) * osm.page_size(kind);
        let elements = begin..(begin + osm.page_size(kind)).min(osm.count(kind));
        let made: Rc<[BoundingBox]> = elements.map(|ordinal| self.bounds(ElementNode { kind, ordinal })).collect();
        let bytes = |boxes: usize| (boxes * size_of::<BoundingBox>()) as i64;
        let mut pages = self.pages.borrow_mut();
        if pages.number + made.len() > BOXES {
            view.hold(-bytes(pages.number))?;
            *pages = BoxCache::default();
        }
        view.hold(bytes(made.len()))?;
        pages.number += made.len();
        pages.kept.insert((kind, page), Rc::clone(&made));
        Ok(made)
    }

    /// Returns the bounding box of an element; it is empty if the element has no geometry.
    pub fn bounds(&self, element: ElementNode) -> BoundingBox {
        let ElementNode { kind, ordinal } = element;
        let (page, slot) = self.osm().place(kind, ordinal);
        let mut bounds = BoundingBox::EMPTY;
        match kind {
            ElementType::Node => {
                if let Some(coord) = self.osm().node_page(page).coords.get(slot) {
                    bounds.extend(*coord);
                }
            }
            ElementType::Way => {
                self.osm().way_page(page).coords(slot).iter().for_each(|coord| bounds.extend(*coord));
            }
            ElementType::Relation => {
                if let Some(kept) = self.bounds.borrow().get(&ordinal) {
                    return *kept;
                }
                let relation = self.osm().relation_page(page);
                let lacking = self.with_tags(element, |tags| lacks_ways(self.osm(), element, tags));
                for member in relation.members(slot).iter().filter(|_| !lacking) {
                    if let (ElementType::Node | ElementType::Way, Some(ordinal)) =
                        (member.kind, member.element.ordinal())
                    {
                        bounds.union(&self.bounds(ElementNode { kind: member.kind, ordinal }));
                    }
                }
                let mut kept = self.bounds.borrow_mut();
                if kept.len() >= BOXES {
                    kept.clear();
                }
                kept.insert(ordinal, bounds);
            }
        }
        bounds
    }
}

/// Parses an integer in its canonical form.
fn number(text: &str) -> Option<i64> {
    text.parse().ok().filter(|number: &i64| number.to_string() == text)
}
