//! Names of elements, geometries and members. Each name is computed from a number, and the number from the name, so
//! that no name is stored.

use oxrdf::{BlankNode, NamedNode, Term};
use terrapin_osm::{ElementType, Ordinal};

use super::ElementSource;
use super::vocabulary::{ELEMENTS, GEOMETRY};
use terrapin_triples::Computed;

/// An element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementNode {
    /// Its type.
    pub kind: ElementType,
    /// Its index among the elements of its type.
    pub ordinal: Ordinal,
}

/// A computed node of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputedNode {
    /// An element.
    Element(ElementNode),
    /// The geometry of an element.
    Geometry(ElementNode),
    /// The centroid of an element's geometry.
    Centroid(ElementNode),
    /// A member of a relation or a node of a way, by its position.
    Member(ElementNode, u64),
    /// A statement node: the number of its subject, and its index among the subject's triples.
    Said(u64, u64),
}

/// Number of bits of a member's position or a statement's index.
const PLACE: u32 = 20;
/// Number of bits of an ordinal.
const ORDINAL: u32 = 36;
/// Prefixes of the local names of geometries, by element type.
const PREFIXES: [&str; 3] = ["osmnode_", "osmway_", "osmrel_"];
/// Prefixes of the local names of centroids, by element type.
const CENTROIDS: [&str; 3] = ["osm_node_centroid_", "osmway_centroid_", "osmrel_centroid_"];
/// Prefixes of the blank node labels of members, by element type.
const MEMBERS: [&str; 3] = ["", "osmway", "osmrel"];
/// Prefix of the blank node labels of statements.
const SAID: &str = "said";
/// Maximum number of triples of a subject that is not an element.
const FEW: u64 = 3;
/// Maximum number of triples of an element.
pub const MOST_SAID: u64 = 1 << PLACE;

impl ComputedNode {
    /// Returns the number of the node. Numbers of one kind and element type are in the order of the elements.
    pub fn number(self) -> u64 {
        let (what, ElementNode { kind, ordinal }, place) = match self {
            ComputedNode::Element(element) => (0, element, 0),
            ComputedNode::Geometry(element) => (1, element, 0),
            ComputedNode::Centroid(element) => (2, element, 0),
            ComputedNode::Member(element, place) => (3, element, place),
            // For an element the index uses the bits of the position. Other subjects use those bits already, so that
            // each index is a class of its own.
            ComputedNode::Said(of, place) => {
                return match of >> (ORDINAL + PLACE) {
                    kind @ 0..3 => (4 * 3 + kind) << (ORDINAL + PLACE) | (of & !(!0 << (ORDINAL + PLACE))) | place,
                    class => {
                        let (what, kind) = (class / 3, class % 3);
                        ((5 + (what - 1) * FEW + place) * 3 + kind) << (ORDINAL + PLACE)
                            | (of & !(!0 << (ORDINAL + PLACE)))
                    }
                };
            }
        };
        (what * 3 + kind as u64) << (ORDINAL + PLACE) | ordinal << PLACE | place
    }

    /// Returns the element that the node is or belongs to.
    pub fn element(self) -> ElementNode {
        match self {
            ComputedNode::Element(at)
            | ComputedNode::Geometry(at)
            | ComputedNode::Centroid(at)
            | ComputedNode::Member(at, _) => at,
            ComputedNode::Said(of, _) => at(of),
        }
    }

    /// Returns the node with a number; the inverse of [`Self::number`].
    pub fn of(number: u64) -> Option<ComputedNode> {
        let (class, element, place) = (number >> (ORDINAL + PLACE), at(number), number & ((1 << PLACE) - 1));
        let with_class = |class: u64| class << (ORDINAL + PLACE) | (number & !(!0 << (ORDINAL + PLACE)));
        match class / 3 {
            0 => Some(ComputedNode::Element(element)),
            1 => Some(ComputedNode::Geometry(element)),
            2 => Some(ComputedNode::Centroid(element)),
            3 => Some(ComputedNode::Member(element, place)),
            4 => Some(ComputedNode::Said(with_class(class % 3) - place, place)),
            more @ 5..14 => {
                let (what, said) = ((more - 5) / FEW + 1, (more - 5) % FEW);
                Some(ComputedNode::Said(with_class(what * 3 + class % 3), said))
            }
            _ => None,
        }
    }
}

/// Returns the element in a number.
fn at(number: u64) -> ElementNode {
    let kind = ElementType::ALL[(number >> (ORDINAL + PLACE)) as usize % 3];
    ElementNode { kind, ordinal: number >> PLACE & ((1 << ORDINAL) - 1) }
}

/// Builds an IRI from a namespace, a prefix and an id.
fn iri(namespace: &str, prefix: &str, id: i64) -> Term {
    NamedNode::new_unchecked(format!("{namespace}{prefix}{id}")).into()
}

/// Returns the IRI of the element with this id.
pub fn element_iri(kind: ElementType, id: i64) -> NamedNode {
    NamedNode::new_unchecked(format!("{}{id}", ELEMENTS[kind as usize]))
}

/// Parses an id in its canonical form; rejects `+1`, `01` and `-0`.
fn id(text: &str) -> Option<i64> {
    let id: i64 = text.parse().ok()?;
    let plain = text.bytes().next().is_some_and(|first| first != b'+' && (first != b'0' || text.len() == 1));
    (plain && !text.starts_with("-0")).then_some(id)
}

impl ElementSource {
    /// Returns the element with an id, if the snapshot has it.
    fn find(&self, kind: ElementType, text: &str) -> Option<ElementNode> {
        Some(ElementNode { kind, ordinal: self.osm().find(kind, id(text)?)? })
    }

    /// Returns the OpenStreetMap id of an element.
    pub(crate) fn id(&self, element: ElementNode) -> i64 {
        self.osm().ids(element.kind, &[element.ordinal]).first().copied().unwrap_or_default()
    }

    /// Returns the number of members of a relation, or of nodes of a way.
    pub(super) fn members(&self, element: ElementNode) -> u64 {
        let (page, slot) = self.osm().place(element.kind, element.ordinal);
        let count = match element.kind {
            ElementType::Node => 0,
            ElementType::Way => self.osm().way_page(page).nodes(slot).len(),
            ElementType::Relation => self.osm().relation_page(page).members(slot).len(),
        };
        // The position of a member must fit into its bits.
        (count as u64).min(1 << PLACE)
    }

    fn of_iri(&self, iri: &str) -> Option<ComputedNode> {
        for kind in ElementType::ALL {
            if let Some(text) = iri.strip_prefix(ELEMENTS[kind as usize]) {
                return self.find(kind, text).map(ComputedNode::Element);
            }
        }
        let name = iri.strip_prefix(GEOMETRY)?;
        for kind in ElementType::ALL {
            if let Some(text) = name.strip_prefix(CENTROIDS[kind as usize]) {
                return self.find(kind, text).map(ComputedNode::Centroid);
            }
            if let Some(text) = name.strip_prefix(PREFIXES[kind as usize]) {
                return self.find(kind, text).map(ComputedNode::Geometry);
            }
        }
        None
    }

    fn of_label(&self, label: &str) -> Option<ComputedNode> {
        let kinds = [ElementType::Way, ElementType::Relation];
        if let Some(number) = label.strip_prefix(SAID) {
            return ComputedNode::of(number.parse().ok()?).filter(|named| matches!(named, ComputedNode::Said(..)));
        }
        let (kind, rest) = kinds.into_iter().find_map(|k| Some((k, label.strip_prefix(MEMBERS[k as usize])?)))?;
        let (id, place) = rest.split_once('m')?;
        let element = self.find(kind, id)?;
        let place = place.parse().ok().filter(|place: &u64| *place < self.members(element))?;
        Some(ComputedNode::Member(element, place))
    }
}

impl Computed for ElementSource {
    fn term(&self, number: u64) -> Option<Term> {
        let named = ComputedNode::of(number)?;
        let element = named.element();
        if element.ordinal >= self.osm().count(element.kind) {
            return None;
        }
        let (id, kind) = (self.id(element), element.kind as usize);
        Some(match named {
            ComputedNode::Element(_) => iri(ELEMENTS[kind], "", id),
            ComputedNode::Geometry(_) => iri(GEOMETRY, PREFIXES[kind], id),
            ComputedNode::Centroid(_) => iri(GEOMETRY, CENTROIDS[kind], id),
            ComputedNode::Member(_, place) => BlankNode::new_unchecked(format!("{}{id}m{place}", MEMBERS[kind])).into(),
            ComputedNode::Said(..) => BlankNode::new_unchecked(format!("{SAID}{number}")).into(),
        })
    }

    fn number(&self, term: &Term) -> Option<u64> {
        let named = match term {
            Term::NamedNode(node) => self.of_iri(node.as_str()),
            Term::BlankNode(node) => self.of_label(node.as_str()),
            Term::Literal(_) | Term::Triple(_) => None,
        };
        named.map(ComputedNode::number)
    }

    fn is_shadowed(&self) -> bool {
        self.shadowed
    }

    fn check(&self) -> Result<(), terrapin_snapshot::Error> {
        self.osm().check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back() {
        for kind in ElementType::ALL {
            let most =
                ComputedNode::Said(ComputedNode::Element(ElementNode { kind, ordinal: 7 }).number(), MOST_SAID - 1);
            assert_eq!(ComputedNode::of(most.number()), Some(most));
            for ordinal in [0, 1, 12_345_678_901] {
                let element = ElementNode { kind, ordinal };
                for named in [
                    ComputedNode::Element(element),
                    ComputedNode::Geometry(element),
                    ComputedNode::Centroid(element),
                    ComputedNode::Member(element, 3),
                ] {
                    assert_eq!(ComputedNode::of(named.number()), Some(named));
                    for said in [0, FEW - 1] {
                        let said = ComputedNode::Said(named.number(), said);
                        assert_eq!((ComputedNode::of(said.number()), said.element()), (Some(said), element));
                        assert!(said.number() < (1 << 62) - 1);
                    }
                    assert!(named.number() < (1 << 62) - 1);
                }
            }
        }
    }

    #[test]
    fn an_id_is_written_in_one_way() {
        assert_eq!(["1", "-5", "0"].map(id), [Some(1), Some(-5), Some(0)]);
        assert_eq!(["01", "+1", "-0", "", "x", "1 "].map(id), [None; 6]);
    }
}
