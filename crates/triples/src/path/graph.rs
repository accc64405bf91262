//! The triples of a path's steps as adjacency lists of small numbers. If walks start at very many nodes, each node is
//! visited many times. Reading its triples once and marking it in an array is then many times faster.

use std::collections::HashMap;

use super::automaton::{Automaton, PathStep};
use crate::{ReadError, TermId, TripleView};

/// Maximum number of triples, and of marks: 64 MiB of marks.
const MOST: u64 = 1 << 24;
/// Maximum number of triples for each start node; beyond it, walks may visit only few of them.
const FEW: u64 = 64;

/// The adjacency list of one kind of step.
struct Neighbours {
    /// The start of each node's neighbours, and the end.
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl Neighbours {
    /// Builds the list from pairs, which it sorts.
    fn new(mut pairs: Vec<(u32, u32)>, nodes: usize) -> Neighbours {
        pairs.sort_unstable();
        let mut starts = vec![0; nodes + 1];
        for (from, _) in &pairs {
            starts[*from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        Neighbours { starts, ends: pairs.into_iter().map(|(_, to)| to).collect() }
    }

    fn of(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// The walks of a path over numbered nodes.
pub struct PathGraph<'v> {
    view: &'v TripleView,
    held: i64,
    /// All subjects and objects of triples with the path's predicates, ascending.
    nodes: Vec<TermId>,
    neighbours: Vec<Neighbours>,
    /// For each state, the adjacency lists to follow and the state that each leads to.
    moves: Vec<Vec<(usize, usize)>>,
    accepts: Vec<bool>,
    /// For each node and state, the last walk that visited it.
    marks: Vec<u32>,
    walk: u32,
    queue: Vec<(u32, usize)>,
}

impl<'v> PathGraph<'v> {
    /// Builds the graph for walks from `beginnings` nodes. Returns `None` if reading it would cost more than the walks.
    pub fn new(
        view: &'v TripleView,
        automaton: &Automaton,
        beginnings: usize,
    ) -> Result<Option<PathGraph<'v>>, ReadError> {
        let store = view.store();
        let mut steps: Vec<&PathStep> = Vec::new();
        let mut numbers: HashMap<&PathStep, usize> = HashMap::new();
        let mut triples = 0;
        for (step, _) in automaton.states.iter().flat_map(|state| &state.moves) {
            let (PathStep::Forward(predicate) | PathStep::Backward(predicate)) = step else { return Ok(None) };
            numbers.entry(step).or_insert_with(|| {
                triples += store.predicate(*predicate).triples;
                steps.push(step);
                steps.len() - 1
            });
        }
        let marks = 2 * triples * automaton.states.len() as u64;
        if marks > MOST || triples > FEW * beginnings as u64 {
            return Ok(None);
        }
        // The triples twice, as ids and as pairs, and the marks.
        let held = triples as i64 * 48 + marks as i64 * 4;
        view.hold(held)?;
        let mut pairs: Vec<Vec<(TermId, TermId)>> = Vec::new();
        for step in &steps {
            let (PathStep::Forward(predicate) | PathStep::Backward(predicate)) = step else { return Ok(None) };
            let turned = matches!(step, PathStep::Backward(_));
            let all = view.triples(None, Some(*predicate), None);
            let pair = |[subject, _, object]: [TermId; 3]| if turned { (object, subject) } else { (subject, object) };
            pairs.push(all.map(|triple| triple.map(pair)).collect::<Result<_, _>>()?);
        }
        let mut nodes: Vec<TermId> = pairs.iter().flatten().flat_map(|(from, to)| [*from, *to]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let number = |node: &TermId| nodes.binary_search(node).unwrap_or_default() as u32;
        let small = |pairs: Vec<(TermId, TermId)>| pairs.iter().map(|(from, to)| (number(from), number(to))).collect();
        let neighbours = pairs.into_iter().map(|pairs| Neighbours::new(small(pairs), nodes.len())).collect();
        let moves = automaton.states.iter().map(|s| s.moves.iter().map(|(step, to)| (numbers[step], *to)).collect());
        Ok(Some(PathGraph {
            view,
            held,
            neighbours,
            moves: moves.collect(),
            accepts: automaton.states.iter().map(|state| state.accepts).collect(),
            marks: vec![0; nodes.len() * automaton.states.len()],
            walk: 0,
            queue: Vec::new(),
            nodes,
        }))
    }

    /// Returns all nodes that walks from `node` reach, ascending.
    pub fn walk(&mut self, node: TermId) -> Result<Vec<TermId>, ReadError> {
        let Ok(begin) = self.nodes.binary_search(&node) else {
            return Ok(if self.accepts[0] { vec![node] } else { Vec::new() });
        };
        self.walk += 1;
        let mut found = Vec::new();
        if self.accepts[0] {
            found.push(begin as u32);
        }
        self.marks[begin * self.accepts.len()] = self.walk;
        self.queue.push((begin as u32, 0));
        while let Some((node, state)) = self.queue.pop() {
            for &(step, to) in &self.moves[state] {
                let next = self.neighbours[step].of(node);
                self.view.work(1 + next.len() as u64)?;
                for &next in next {
                    let mark = &mut self.marks[next as usize * self.accepts.len() + to];
                    if *mark != self.walk {
                        *mark = self.walk;
                        self.queue.push((next, to));
                        if self.accepts[to] {
                            found.push(next);
                        }
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found.into_iter().map(|node| self.nodes[node as usize]).collect())
    }
}

impl Drop for PathGraph<'_> {
    fn drop(&mut self) {
        // Releasing memory cannot exceed a limit.
        let _ = self.view.hold(-self.held);
    }
}
