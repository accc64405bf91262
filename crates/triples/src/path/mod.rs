//! Property paths as relations: the nodes that a walk reaches, each once. Evaluated over term numbers, from the cheaper
//! end.
//!
//! The empty walk leads from a node to itself. Only subjects and objects of triples are nodes. SPARQL 1.1 would also
//! include terms of the query; existing evaluators do not.
//!
//! These are the semantics of `*`, `+`, `?` and `|`. A sequence outside these keeps duplicate solutions and must stay a
//! join; a negated set outside them also keeps duplicates ([`NegatedSet`]).

mod automaton;
mod graph;
mod search;

use std::cell::RefCell;
use std::sync::Arc;

use oxrdf::NamedNode;
use rustc_hash::FxHashMap;
use spargebra::algebra::PropertyPathExpression;

use self::automaton::{Automaton, PathStep};
use self::graph::PathGraph;
use self::search::{meet, walk};
use super::{End, GraphSelection, Pairs, ReadError, TermId, TermRelation, TripleView};

/// Number of tests of a node against others before all nodes it reaches are computed and cached.
const PATIENCE: u32 = 3;

/// Maximum total number of nodes in cached results.
const CACHED_NODES: usize = 1 << 22;
/// Overhead of a cached result, in nodes.
const ENTRY: usize = 8;

/// The pairs of nodes that a walk along a property path connects.
pub struct PathRelation {
    forward: Automaton,
    backward: Automaton,
    cache: RefCell<PathCache>,
}

/// Cached results: queries look up the same ends repeatedly.
#[derive(Default)]
struct PathCache {
    nodes: usize,
    results: FxHashMap<PathEnd, Arc<[TermId]>>,
    asked: FxHashMap<PathEnd, PathTestCount>,
}

/// The graphs that are walked, the node where walks begin, and whether they go backward.
type PathEnd = (GraphSelection, TermId, bool);

/// The number of tests of a node against others, and their cost.
#[derive(Clone, Copy, Default)]
struct PathTestCount {
    times: u32,
    /// Units of work spent.
    spent: u64,
    /// The largest budget given so far to computing all nodes that it reaches.
    given: u64,
}

impl PathRelation {
    /// Creates the relation of a path.
    pub fn new(path: &PropertyPathExpression, view: &TripleView) -> PathRelation {
        PathRelation {
            forward: Automaton::new(path, view, false),
            backward: Automaton::new(path, view, true),
            cache: RefCell::default(),
        }
    }

    /// Returns the nodes at the other end of the walks from `node`, ascending.
    fn ends(&self, view: &TripleView, node: TermId, backward: bool) -> Result<Arc<[TermId]>, ReadError> {
        if let Some(found) = self.cache.borrow().results.get(&(view.selected(), node, backward)) {
            view.work(1)?;
            return Ok(Arc::clone(found));
        }
        let automaton = if backward { &self.backward } else { &self.forward };
        let found = walk(view, automaton, node, u64::MAX)?.unwrap_or_default();
        self.keep(view, node, backward, found)
    }

    /// Caches a result, if the cache has room.
    fn keep(
        &self,
        view: &TripleView,
        node: TermId,
        backward: bool,
        found: Vec<TermId>,
    ) -> Result<Arc<[TermId]>, ReadError> {
        let found: Arc<[TermId]> = found.into();
        let mut cache = self.cache.borrow_mut();
        let size = found.len() + ENTRY;
        if cache.nodes + size <= CACHED_NODES {
            view.hold(size as i64 * 8)?;
            cache.nodes += size;
            cache.results.insert((view.selected(), node, backward), Arc::clone(&found));
        }
        Ok(found)
    }

    /// Returns whether a walk connects two nodes, if the cache contains the answer.
    fn known(&self, view: &TripleView, subject: TermId, object: TermId) -> Option<bool> {
        let cache = self.cache.borrow();
        let ends = [(subject, false, object), (object, true, subject)];
        ends.iter().find_map(|&(node, backward, other)| {
            let found = cache.results.get(&(view.selected(), node, backward))?;
            Some(found.binary_search(&other).is_ok())
        })
    }

    /// Returns whether a walk connects two nodes; `known` is the cached answer.
    fn connects(
        &self,
        view: &TripleView,
        subject: TermId,
        object: TermId,
        known: Option<bool>,
    ) -> Result<bool, ReadError> {
        if let Some(known) = known {
            view.work(1)?;
            return Ok(known);
        }
        // A query that tests many nodes against one is better served by the set of all nodes that this one reaches.
        // That set may be much larger than needed; therefore computing it gets at most the work already spent on single
        // tests.
        let ends = [(object, true, subject), (subject, false, object)];
        for (node, backward, other) in ends {
            let asked = {
                let mut cache = self.cache.borrow_mut();
                let asked = cache.asked.entry((view.selected(), node, backward)).or_default();
                asked.times += 1;
                if asked.times < PATIENCE || asked.spent < asked.given * 2 {
                    continue;
                }
                asked.given = asked.spent;
                *asked
            };
            let automaton = if backward { &self.backward } else { &self.forward };
            if let Some(found) = walk(view, automaton, node, asked.given)? {
                return Ok(self.keep(view, node, backward, found)?.binary_search(&other).is_ok());
            }
        }
        let (met, spent) = meet(view, &self.forward, &self.backward, subject, object)?;
        let mut cache = self.cache.borrow_mut();
        for (node, backward, _) in ends {
            cache.asked.entry((view.selected(), node, backward)).or_default().spent += spent;
        }
        Ok(met)
    }

    /// Returns the start nodes of walks, ascending; all nodes if the path accepts the empty walk.
    fn beginnings(&self, view: &TripleView) -> Result<Vec<TermId>, ReadError> {
        let store = view.store();
        let mut nodes = Vec::new();
        let first = &self.forward.states[0];
        let anywhere = first
            .moves
            .iter()
            .any(|(step, _)| matches!(step, PathStep::ForwardExcept(_) | PathStep::BackwardExcept(_)));
        if (self.forward.nullable() || anywhere) && view.selected() != GraphSelection::All {
            for triple in view.triples(None, None, None) {
                let [subject, _, object] = triple?;
                nodes.extend([subject, object]);
            }
            nodes.sort_unstable();
            nodes.dedup();
            view.hold(nodes.len() as i64 * 8)?;
            return Ok(nodes);
        }
        if self.forward.nullable() || anywhere {
            for number in 0..store.terms() {
                let id = TermId::of_snapshot(number);
                view.work(1)?;
                if store.is_node(id) {
                    nodes.push(id);
                }
            }
            return Ok(nodes);
        }
        for (step, _) in &first.moves {
            let (predicate, end) = match step {
                PathStep::Forward(predicate) => (predicate, 0),
                PathStep::Backward(predicate) => (predicate, 2),
                PathStep::ForwardExcept(_) | PathStep::BackwardExcept(_) => continue,
            };
            for triple in view.triples(None, Some(*predicate), None) {
                let node = triple?[end];
                if nodes.last() != Some(&node) {
                    nodes.push(node);
                }
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        view.hold(nodes.len() as i64 * 8)?;
        Ok(nodes)
    }

    /// Returns an iterator over all pairs.
    fn all<'a>(&'a self, view: &'a TripleView) -> Result<AllPairs<'a>, ReadError> {
        let nodes = self.beginnings(view)?;
        let graph = PathGraph::new(view, &self.forward, nodes.len())?;
        Ok(AllPairs { relation: self, view, graph, nodes: nodes.into_iter(), now: None })
    }
}

/// Returns the error as the only item.
fn failed<'a>(error: ReadError) -> Pairs<'a> {
    Box::new(std::iter::once(Err(error)))
}

impl TermRelation for PathRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        // Like the evaluator: a term in no triple has no path, not even the empty one.
        let strange = || [subject, object].into_iter().flatten().any(|end| !view.is_node(end));
        let known = subject.zip(object).and_then(|(subject, object)| self.known(view, subject, object));
        if known.is_none() && strange() {
            return Box::new(std::iter::empty());
        }
        match (subject, object) {
            (Some(subject), Some(object)) => match self.connects(view, subject, object, known) {
                Ok(true) => Box::new(std::iter::once(Ok((subject, object)))),
                Ok(false) => Box::new(std::iter::empty()),
                Err(error) => failed(error),
            },
            (Some(node), None) | (None, Some(node)) => {
                let backward = subject.is_none();
                match self.ends(view, node, backward) {
                    Ok(ends) => Box::new(PathEndIterator { ends, at: 0 }.map(move |end| {
                        view.work(1)?;
                        Ok(if backward { (end, node) } else { (node, end) })
                    })),
                    Err(error) => failed(error),
                }
            }
            (None, None) => match self.all(view) {
                Ok(pairs) => Box::new(pairs),
                Err(error) => failed(error),
            },
        }
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        // Walks fan out by the factor of one step, and rarely further than a few steps.
        let fan = |automaton: &Automaton| {
            let first = &automaton.states[0];
            let steps: f64 = first.moves.iter().map(|(step, _)| fan_out(view, step)).sum();
            let repeated = automaton.states.iter().any(|s| s.moves.iter().any(|(_, to)| automaton.states[*to] == *s));
            let more = if repeated { 4.0 } else { 1.0 };
            (steps * more).max(0.1) + f64::from(u8::from(first.accepts))
        };
        let nodes = view.store().terms() as f64;
        match (subject, object) {
            (End::Free, End::Free) => {
                if self.forward.nullable() {
                    nodes * fan(&self.forward)
                } else {
                    self.starts(view) * fan(&self.forward)
                }
            }
            (End::Free, End::Term(node)) => self.degree(view, &self.backward, node),
            (End::Term(node), End::Free) => self.degree(view, &self.forward, node),
            (End::Free, _) => fan(&self.backward),
            (_, End::Free) => fan(&self.forward),
            _ => 0.5,
        }
    }
}

impl PathRelation {
    fn starts(&self, view: &TripleView) -> f64 {
        let count = |step: &PathStep| match step {
            PathStep::Forward(p) => view.store().predicate(*p).subjects as f64,
            PathStep::Backward(p) => view.store().predicate(*p).objects as f64,
            PathStep::ForwardExcept(_) | PathStep::BackwardExcept(_) => view.store().terms() as f64,
        };
        self.forward.states[0].moves.iter().map(|(step, _)| count(step)).sum()
    }

    /// Estimates the number of nodes that walks from `node` reach; exact if cached.
    fn degree(&self, view: &TripleView, automaton: &Automaton, node: TermId) -> f64 {
        let store = view.store();
        let first = &automaton.states[0];
        let mut steps = 0.0;
        for (step, to) in &first.moves {
            let count = match step {
                PathStep::Forward(p) => store.count(Some(node), Some(*p), None),
                PathStep::Backward(p) => store.count(None, Some(*p), Some(node)),
                PathStep::ForwardExcept(_) => store.count(Some(node), None, None),
                PathStep::BackwardExcept(_) => store.count(None, None, Some(node)),
            } as f64;
            let further: f64 = automaton.states[*to].moves.iter().map(|(step, _)| fan_out(view, step)).sum();
            steps += count * (1.0 + further.min(20.0));
        }
        steps + f64::from(u8::from(first.accepts))
    }
}

/// Estimates the number of nodes that one step leads to.
fn fan_out(view: &TripleView, step: &PathStep) -> f64 {
    let store = view.store();
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    match step {
        PathStep::Forward(p) => {
            let counts = store.predicate(*p);
            ratio(counts.triples, counts.subjects)
        }
        PathStep::Backward(p) => {
            let counts = store.predicate(*p);
            ratio(counts.triples, counts.objects)
        }
        PathStep::ForwardExcept(_) | PathStep::BackwardExcept(_) => ratio(store.len(), store.terms()),
    }
}

/// An iterator over a shared list.
struct PathEndIterator {
    ends: Arc<[TermId]>,
    at: usize,
}

impl Iterator for PathEndIterator {
    type Item = TermId;

    fn next(&mut self) -> Option<TermId> {
        let end = self.ends.get(self.at).copied();
        self.at += 1;
        end
    }
}

/// An iterator over the walks from one node after another.
struct AllPairs<'a> {
    relation: &'a PathRelation,
    view: &'a TripleView,
    graph: Option<PathGraph<'a>>,
    nodes: std::vec::IntoIter<TermId>,
    now: Option<(TermId, PathEndIterator)>,
}

impl AllPairs<'_> {
    /// Returns the nodes that walks from `node` reach. They are cached unless they are the node alone, because queries
    /// for all pairs usually look some of them up again.
    fn ends(&mut self, node: TermId) -> Result<Arc<[TermId]>, ReadError> {
        let found = match &mut self.graph {
            Some(graph) => graph.walk(node)?,
            None => walk(self.view, &self.relation.forward, node, u64::MAX)?.unwrap_or_default(),
        };
        if found == [node] {
            return Ok(found.into());
        }
        self.relation.keep(self.view, node, false, found)
    }
}

impl Iterator for AllPairs<'_> {
    type Item = Result<(TermId, TermId), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((node, ends)) = &mut self.now
                && let Some(end) = ends.next()
            {
                return Some(self.view.work(1).map(|()| (*node, end)));
            }
            let node = self.nodes.next()?;
            match self.ends(node) {
                Ok(ends) => self.now = Some((node, PathEndIterator { ends, at: 0 })),
                Err(error) => {
                    self.nodes = Vec::new().into_iter();
                    self.now = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// The pairs of triples with any predicate except some; duplicates are kept if several predicates connect two nodes.
pub struct NegatedSet {
    except: Vec<TermId>,
}

impl NegatedSet {
    /// Creates the relation that excludes these predicates.
    pub fn new(except: &[NamedNode], view: &TripleView) -> NegatedSet {
        NegatedSet { except: except.iter().map(|name| view.id(&name.clone().into())).collect() }
    }
}

impl TermRelation for NegatedSet {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        let triples = view.triples(subject, None, object).filter_map(|triple| match triple {
            Ok([_, predicate, _]) if self.except.contains(&predicate) => None,
            Ok([subject, _, object]) => Some(Ok((subject, object))),
            Err(error) => Some(Err(error)),
        });
        if subject.is_none() {
            return Box::new(triples);
        }
        // The file is ordered by predicate; the result must be ordered by object.
        match triples.collect::<Result<Vec<_>, _>>() {
            Ok(mut pairs) => {
                pairs.sort_unstable();
                Box::new(pairs.into_iter().map(Ok))
            }
            Err(error) => failed(error),
        }
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let store = view.store();
        let known = |end| match end {
            End::Term(id) => Some(id),
            End::Bound | End::Free => None,
        };
        let count = store.count(known(subject), None, known(object)) as f64;
        let bound = [subject, object].into_iter().filter(|end| *end == End::Bound).count() as i32;
        count / (store.terms() as f64).max(1.0).powi(bound)
    }
}
