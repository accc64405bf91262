//! Canonical labels of blank nodes, independent of how the triples were loaded.
//!
//! A label identifies a node within one file only. In the snapshot a node's label is derived from its triples by colour
//! refinement. All nodes start with the same colour. Each round replaces a node's colour by a hash (BLAKE3) of its
//! triples: the text of the other terms, and the colours of the other blank nodes. The rounds end when the number of
//! colours stops growing. The label is `b` and 32 hexadecimal digits of the colour.
//!
//! Nodes that keep the same colour are numbered (`-1`, `-2`, ...) by their labels in the files and the files' digests.
//! Nearly always, such nodes are interchangeable in the graph, so that the result does not depend on the files. If they
//! only share their colour (regular structures of several nodes), the result depends on the labels in the files: the
//! full canonicalization of RDFC-1.0 is not attempted.

use std::collections::BTreeSet;

/// Subject or object of a triple.
#[derive(Debug, Clone, Copy)]
pub enum TripleEnd {
    /// A blank node, by its index.
    Blank(u32),
    /// Another term, by the hash of its key.
    Term([u8; 16]),
}

/// Blank nodes and the triples that contain them.
#[derive(Default)]
pub struct BlankNodes {
    /// The label in the file, and the position of the file in the order of digests.
    pub nodes: Vec<(String, u32)>,
    /// Subject, hash of the predicate's key, object.
    pub triples: Vec<(TripleEnd, [u8; 16], TripleEnd)>,
}

type Colour = [u8; 16];

/// Returns the hash of a key.
pub fn digest(bytes: &[u8]) -> Colour {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    short
}

impl BlankNodes {
    /// Returns a label for each node; all are different.
    pub fn labels(mut self) -> Vec<String> {
        // A triple that was loaded twice counts once.
        let key = |side: TripleEnd| match side {
            TripleEnd::Blank(node) => (Some(node), [0; 16]),
            TripleEnd::Term(hash) => (None, hash),
        };
        self.triples.sort_unstable_by_key(|&(s, p, o)| (key(s), p, key(o)));
        self.triples.dedup_by_key(|&mut (s, p, o)| (key(s), p, key(o)));
        let mut colours = vec![[0; 16]; self.nodes.len()];
        let mut distinct = 0;
        loop {
            let next = self.refine(&colours);
            let now = next.iter().collect::<BTreeSet<_>>().len();
            colours = next;
            if now <= distinct || now == self.nodes.len() {
                break;
            }
            distinct = now;
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by(|&a, &b| (colours[a], &self.nodes[a]).cmp(&(colours[b], &self.nodes[b])));
        let mut labels = vec![String::new(); self.nodes.len()];
        let mut alike = 0;
        for (i, &node) in order.iter().enumerate() {
            alike = if i > 0 && colours[order[i - 1]] == colours[node] { alike + 1 } else { 0 };
            labels[node] = format!("b{}", terrapin_snapshot::hex(&colours[node]));
            if alike > 0 {
                labels[node].push_str(&format!("-{alike}"));
            }
        }
        labels
    }

    fn refine(&self, colours: &[Colour]) -> Vec<Colour> {
        // The triples of a node, as hashes. Sorting them removes the order of the triples.
        let mut said: Vec<(u32, Colour)> = Vec::with_capacity(self.triples.len());
        for (subject, predicate, object) in &self.triples {
            let mut tell = |of: &TripleEnd, role: u8, other: &TripleEnd| {
                let TripleEnd::Blank(node) = *of else { return };
                let (kind, colour) = match *other {
                    TripleEnd::Blank(other) if other == node => (0, [0; 16]),
                    TripleEnd::Blank(other) => (1, colours[other as usize]),
                    TripleEnd::Term(hash) => (2, hash),
                };
                said.push((node, digest(&[&[role, kind], &predicate[..], &colour].concat())));
            };
            tell(subject, 0, object);
            tell(object, 1, subject);
        }
        said.sort_unstable();
        let mut said = said.as_slice();
        let mut text = Vec::new();
        let nodes = colours.iter().zip(0_u32..);
        nodes
            .map(|(colour, node)| {
                let (of_node, others) = said.split_at(said.partition_point(|(n, _)| *n <= node));
                said = others;
                text.clear();
                text.extend_from_slice(colour);
                of_node.iter().for_each(|(_, what)| text.extend_from_slice(what));
                digest(&text)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(nodes: &[&str], triples: &[(&str, &str, &str)]) -> Vec<(String, String)> {
        let side = |name: &str| match nodes.iter().position(|n| *n == name) {
            Some(node) => TripleEnd::Blank(node as u32),
            None => TripleEnd::Term(digest(name.as_bytes())),
        };
        let blank = BlankNodes {
            nodes: nodes.iter().map(|n| ((*n).to_owned(), 0)).collect(),
            triples: triples.iter().map(|(s, p, o)| (side(s), digest(p.as_bytes()), side(o))).collect(),
        };
        let mut out: Vec<_> = nodes.iter().map(|n| (*n).to_owned()).zip(blank.labels()).collect();
        out.sort();
        out
    }

    #[test]
    fn labels_come_from_what_is_said() {
        let triples = [("x", "p", "y"), ("y", "p", "z"), ("z", "q", "A"), ("w", "q", "A")];
        let one = labels(&["x", "y", "z", "w"], &triples);
        let mut turned = triples;
        turned.reverse();
        assert_eq!(one, labels(&["w", "z", "y", "x"], &turned));
        assert_eq!(one.iter().map(|(_, label)| label).collect::<BTreeSet<_>>().len(), 4);
        // The same graph with other names has the same labels.
        let renamed =
            labels(&["a", "b", "c", "d"], &[("a", "p", "b"), ("b", "p", "c"), ("c", "q", "A"), ("d", "q", "A")]);
        assert!(one.iter().map(|(_, l)| l).collect::<BTreeSet<_>>() == renamed.iter().map(|(_, l)| l).collect());
        // Interchangeable nodes still get different labels.
        let twins = labels(&["x", "y"], &[("x", "p", "A"), ("y", "p", "A")]);
        assert_eq!(format!("{}-1", twins[0].1), twins[1].1);
    }
}
