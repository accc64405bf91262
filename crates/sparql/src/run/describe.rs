//! DESCRIBE. For stored terms, writes their triples and those of the blank nodes that they lead to. For elements, writes
//! their computed and stored triples, with those of their members.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::{NamedOrBlankNode, Term, Triple};
use rustc_hash::FxHashSet;

use super::{QueryRun, Result, gone};
use crate::answer::ResultSink;
use crate::blank::BlankLabels;
use crate::elements::{ElementSource, Session, named, told};
use crate::guard::read;
use crate::row::Row;
use crate::tables::Tables;
use terrapin_triples::{ReadError, TermId, TripleView};

/// Approximate size in bytes of an entry in the set of described terms.
const DESCRIBED_BYTES: i64 = 32;

/// The output of a DESCRIBE query.
struct DescribeGraph<'s> {
    sink: &'s mut dyn ResultSink,
    labels: BlankLabels,
    rows: u64,
}

impl QueryRun<'_> {
    /// Writes the description of each term in the query's solutions. Returns the number of triples.
    pub(super) fn describe(&self, tables: &Tables, sink: &mut dyn ResultSink) -> Result<u64> {
        let plan = &self.rewritten.plan;
        let mut graph = DescribeGraph { sink, labels: BlankLabels::default(), rows: 0 };
        let view = self.view();
        let mut described = FxHashSet::default();
        match self.elements() {
            Some(elements) => {
                let mut rows = self.rows(plan, tables)?;
                self.of_elements(elements, &mut rows, &mut graph)?;
                rows.iter().try_for_each(|row| self.stored(&view, row, &mut described, &mut graph))?;
            }
            None => self.each_row(plan, tables, |row| self.stored(&view, row, &mut described, &mut graph))?,
        }
        view.check().map_err(read)?;
        Ok(graph.rows)
    }

    /// Writes the stored triples of the terms in a solution, and of the blank nodes that they lead to. Terms that are
    /// `described` already are skipped.
    fn stored(
        &self,
        view: &TripleView,
        row: &[Option<Term>],
        described: &mut FxHashSet<TermId>,
        graph: &mut DescribeGraph<'_>,
    ) -> Result<()> {
        let mut open = Vec::new();
        for term in row.iter().flatten() {
            let id = view.id(term);
            if described.insert(id) {
                view.hold(DESCRIBED_BYTES).map_err(read)?;
                open.push(id);
            }
        }
        while let Some(subject) = open.pop() {
            for stored in view.triples(Some(subject), None, None) {
                let stored = stored.map_err(read)?;
                let Some(triple) = triple(view, stored).map_err(read)? else { continue };
                // Blank nodes are described as well, because no other query can address them.
                let [.., object] = stored;
                if triple.object.is_blank_node() && described.insert(object) {
                    view.hold(DESCRIBED_BYTES).map_err(read)?;
                    open.push(object);
                }
                self.write(graph, triple)?;
            }
        }
        Ok(())
    }

    fn write(&self, graph: &mut DescribeGraph<'_>, triple: Triple) -> Result<()> {
        self.count(&mut graph.rows)?;
        graph.sink.triple(&graph.labels.triple(triple)).map_err(gone)
    }

    /// Removes the elements from `rows` and writes the description of each.
    fn of_elements(
        &self,
        elements: &Arc<ElementSource>,
        rows: &mut [Row],
        graph: &mut DescribeGraph<'_>,
    ) -> Result<()> {
        let view = self.view();
        let session = Session::new(elements);
        let (mut seen, mut open) = (HashSet::new(), VecDeque::new());
        for value in rows.iter_mut().flatten() {
            terrapin_budget::checkpoint();
            let known = value.as_ref().map(|term| view.id(term)).filter(|&id| view.computed_number(id).is_some());
            if let Some(id) = known {
                *value = None;
                if seen.insert(id) {
                    open.push_back(id);
                }
            }
        }
        while let Some(subject) = open.pop_front() {
            for (predicate, object) in said(&view, &session, subject).map_err(read)? {
                let triple = triple(&view, [subject, predicate, object]).map_err(read)?;
                let Some(triple) = triple else { continue };
                // Blank nodes are described as well, because no other query can address them.
                if triple.object.is_blank_node() && seen.insert(object) {
                    open.push_back(object);
                }
                self.write(graph, triple)?;
            }
        }
        view.check().map_err(read)
    }
}

/// Returns the computed and the stored triples of a subject, each once.
fn said(
    view: &TripleView,
    session: &Rc<Session>,
    subject: TermId,
) -> std::result::Result<BTreeSet<(TermId, TermId)>, ReadError> {
    let mut said = BTreeSet::new();
    if let Some(of) = named(view, subject) {
        said.extend(told(session, view, of)?.iter());
    }
    for stored in view.triples(Some(subject), None, None) {
        let [_, predicate, object] = stored?;
        said.insert((predicate, object));
    }
    Ok(said)
}

fn triple(view: &TripleView, triple: [TermId; 3]) -> std::result::Result<Option<Triple>, ReadError> {
    let [subject, predicate, object] = triple.map(|id| view.term(id));
    let subject = match subject? {
        Term::NamedNode(node) => NamedOrBlankNode::from(node),
        Term::BlankNode(node) => node.into(),
        Term::Literal(_) | Term::Triple(_) => return Ok(None),
    };
    let Term::NamedNode(predicate) = predicate? else { return Ok(None) };
    Ok(Some(Triple { subject, predicate, object: object? }))
}
