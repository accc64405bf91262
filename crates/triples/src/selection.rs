//! The graphs that a query reads triples from.

use super::store::Triples;
use super::{GraphTriples, Store, TermId};

/// The graphs that triples are read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum GraphSelection {
    /// All graphs together, each triple once.
    #[default]
    All,
    /// The default graph of the dataset.
    Default,
    /// A named graph of the dataset.
    Named(TermId),
}

/// The dataset of a query.
#[derive(Debug, Clone)]
pub struct Dataset {
    /// The graphs that form the default graph, one after the other; `None` is the triples in no named graph.
    pub default: Vec<Option<TermId>>,
    /// The named graphs; `None` for all.
    pub named: Option<Vec<TermId>>,
}

/// The source of the next triples.
enum TripleSource<'a> {
    All(Triples<'a>),
    Graph(GraphTriples<'a>),
}

/// An iterator over the selected triples of a pattern.
pub(super) struct SelectedTriples<'a> {
    store: &'a Store,
    pattern: [Option<TermId>; 3],
    now: Option<TripleSource<'a>>,
    /// The remaining graphs.
    rest: &'a [Option<TermId>],
}

impl<'a> SelectedTriples<'a> {
    /// Finds the triples in all graphs together.
    #[inline]
    pub fn in_all(store: &'a Store, pattern: [Option<TermId>; 3]) -> Self {
        let [subject, predicate, object] = pattern;
        let triples = store.triples(subject, predicate, object);
        SelectedTriples { store, pattern, now: Some(TripleSource::All(triples)), rest: &[] }
    }

    /// Finds the triples in one graph and then in others. Without a first graph, there are none.
    pub fn in_graphs(
        store: &'a Store,
        pattern: [Option<TermId>; 3],
        first: Option<Option<TermId>>,
        rest: &'a [Option<TermId>],
    ) -> Self {
        let triples = first.and_then(|name| Some(store.graphs()?.triples(name, pattern)));
        SelectedTriples { store, pattern, now: triples.map(TripleSource::Graph), rest }
    }
}

impl Iterator for SelectedTriples<'_> {
    /// A triple, or `None` at the end of a graph that is followed by another.
    type Item = Option<[TermId; 3]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.now.as_mut()? {
            TripleSource::All(triples) => triples.next().map(Some),
            TripleSource::Graph(triples) => {
                if let Some(triple) = triples.next() {
                    return Some(Some(triple));
                }
                let (&name, rest) = self.rest.split_first()?;
                self.rest = rest;
                self.now = Some(TripleSource::Graph(self.store.graphs()?.triples(name, self.pattern)));
                Some(None)
            }
        }
    }
}
