//! Lookup of triples by named graph.

use std::ops::Range;
use std::sync::Arc;

use super::{TermId, layout};
use terrapin_snapshot::{Error, Fault, SectionColumn, Snapshot};

/// The graphs of a snapshot with named graphs.
pub struct Graphs {
    names: Box<[u64]>,
    /// The start of each graph's triples, with the default graph last, and the end.
    starts: Box<[u64]>,
    orders: [[SectionColumn; 3]; 3],
}

/// For each order, the component of a triple in each column.
const TURNS: [[usize; 3]; 3] = [[0, 1, 2], [1, 2, 0], [2, 0, 1]];

impl Graphs {
    /// Opens the graphs of a snapshot; returns `None` if it has no named ones.
    pub fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<Option<Graphs>, Error> {
        if snapshot.place(layout::GRAPHS).is_none() {
            return Ok(None);
        }
        let column = |name| SectionColumn::open(snapshot, name, fault);
        let order = |[a, b, c]: [&'static str; 3]| Ok::<_, Error>([column(a)?, column(b)?, column(c)?]);
        let [spo, pos, osp] = layout::GRAPH_ORDERS;
        let graphs = Graphs {
            names: column(layout::GRAPHS)?.values(),
            starts: column(layout::GRAPH_STARTS)?.values(),
            orders: [order(spo)?, order(pos)?, order(osp)?],
        };
        let end = graphs.starts.last().copied();
        let whole = graphs.orders.iter().flatten().all(|column| Some(column.len()) == end);
        if !whole || graphs.starts.len() != graphs.names.len() + 2 || !graphs.starts.is_sorted() {
            return Err(Error::damaged(layout::GRAPH_STARTS, "it does not fit the graphs"));
        }
        Ok(Some(graphs))
    }

    /// Returns the names of the named graphs, ascending.
    pub fn names(&self) -> impl Iterator<Item = TermId> + '_ {
        self.names.iter().map(|&name| TermId::of_snapshot(name))
    }

    /// Returns whether a graph of this name exists.
    pub fn has(&self, name: TermId) -> bool {
        self.place(Some(name)).is_some()
    }

    fn place(&self, name: Option<TermId>) -> Option<usize> {
        match name {
            None => Some(self.names.len()),
            Some(name) => self.names.binary_search(&name.number()?).ok(),
        }
    }

    /// Returns the triples of a graph that match a pattern; `None` is the default graph alone.
    pub fn triples(&self, graph: Option<TermId>, pattern: [Option<TermId>; 3]) -> GraphTriples<'_> {
        self.find(graph, pattern).unwrap_or(GraphTriples { columns: &self.orders[0], turn: TURNS[0], places: 0..0 })
    }

    fn find(&self, graph: Option<TermId>, pattern: [Option<TermId>; 3]) -> Option<GraphTriples<'_>> {
        let place = self.place(graph)?;
        let (mut from, mut to) = (*self.starts.get(place)?, *self.starts.get(place + 1)?);
        let order = match pattern.map(|term| term.is_some()) {
            [true, false, true] | [false, false, true] => 2,
            [true, ..] | [false, false, false] => 0,
            [false, true, _] => 1,
        };
        let (columns, turn) = (&self.orders[order], TURNS[order]);
        for (column, component) in columns.iter().zip(turn) {
            let Some(term) = pattern[component] else { break };
            (from, to) = column.equal_range(from, to, term.number()?);
        }
        Some(GraphTriples { columns, turn, places: from..to })
    }
}

/// An iterator over triples of a graph, as subject, predicate, object.
pub struct GraphTriples<'a> {
    columns: &'a [SectionColumn; 3],
    turn: [usize; 3],
    places: Range<u64>,
}

impl Iterator for GraphTriples<'_> {
    type Item = [TermId; 3];

    fn next(&mut self) -> Option<[TermId; 3]> {
        let at = self.places.next()?;
        let mut triple = [TermId::of_snapshot(0); 3];
        for (column, component) in self.columns.iter().zip(self.turn) {
            triple[component] = TermId::of_snapshot(column.get(at));
        }
        Some(triple)
    }
}
