//! Search over nodes and states; each is visited once.

use rustc_hash::FxHashSet;

use super::automaton::{Automaton, PathStep};
use crate::{ReadError, TermId, TripleView};

/// The set of visited nodes and states: a hash set while small, then a bitmap.
struct VisitedSet<'v> {
    view: &'v TripleView,
    states: u64,
    few: FxHashSet<u64>,
    many: Vec<u64>,
    held: i64,
}

impl<'v> VisitedSet<'v> {
    fn new(view: &'v TripleView, automaton: &Automaton) -> VisitedSet<'v> {
        VisitedSet { view, states: automaton.states.len() as u64, few: FxHashSet::default(), many: Vec::new(), held: 0 }
    }

    /// Adds an entry and returns whether it is new. A node of the query alone has no triples and needs no mark.
    fn insert(&mut self, node: TermId, state: usize) -> Result<bool, ReadError> {
        let Some(number) = node.number() else { return Ok(true) };
        let place = number * self.states + state as u64;
        if !self.many.is_empty() {
            let Some(word) = self.many.get_mut((place / 64) as usize) else { return Ok(false) };
            let bit = 1 << (place % 64);
            let new = *word & bit == 0;
            *word |= bit;
            return Ok(new);
        }
        let new = self.few.insert(place);
        let words = self.view.store().terms() * self.states / 64 + 1;
        // An entry of the hash set takes about 16 bytes.
        if self.few.len() as u64 * 2 > words {
            self.held += words as i64 * 8;
            self.view.hold(words as i64 * 8)?;
            self.many = vec![0; words as usize];
            for place in std::mem::take(&mut self.few) {
                self.many[(place / 64) as usize] |= 1 << (place % 64);
            }
        }
        Ok(new)
    }
}

impl Drop for VisitedSet<'_> {
    fn drop(&mut self) {
        // Releasing memory cannot exceed a limit.
        let _ = self.view.hold(-self.held);
    }
}

/// Calls `each` for the nodes that a step leads to.
fn step(
    view: &TripleView,
    node: TermId,
    step: &PathStep,
    mut each: impl FnMut(TermId) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (triples, end, except) = match step {
        PathStep::Forward(predicate) => (view.triples(Some(node), Some(*predicate), None), 2, &[][..]),
        PathStep::Backward(predicate) => (view.triples(None, Some(*predicate), Some(node)), 0, &[][..]),
        PathStep::ForwardExcept(except) => (view.triples(Some(node), None, None), 2, &except[..]),
        PathStep::BackwardExcept(except) => (view.triples(None, None, Some(node)), 0, &except[..]),
    };
    for triple in triples {
        let triple = triple?;
        if except.is_empty() || except.binary_search(&triple[1]).is_err() {
            each(triple[end])?;
        }
    }
    Ok(())
}

/// Returns all nodes that walks from `node` reach, ascending, or `None` if that takes more units of work than `most`.
pub fn walk(
    view: &TripleView,
    automaton: &Automaton,
    node: TermId,
    most: u64,
) -> Result<Option<Vec<TermId>>, ReadError> {
    let mut seen = VisitedSet::new(view, automaton);
    let mut found = Vec::new();
    let mut queue = vec![(node, 0_usize)];
    seen.insert(node, 0)?;
    if automaton.nullable() {
        found.push(node);
    }
    let end = view.worked().saturating_add(most);
    while let Some((node, state)) = queue.pop() {
        if view.worked() > end {
            return Ok(None);
        }
        view.work(1)?;
        for (label, to) in &automaton.states[state].moves {
            step(view, node, label, |next| {
                if seen.insert(next, *to)? {
                    if automaton.states[*to].accepts {
                        found.push(next);
                    }
                    queue.push((next, *to));
                }
                Ok(())
            })?;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(Some(found))
}

/// One side of a bidirectional search.
struct SearchFrontier<'v, 'a> {
    automaton: &'a Automaton,
    seen: VisitedSet<'v>,
    now: Vec<(TermId, usize)>,
    next: Vec<(TermId, usize)>,
}

impl<'v, 'a> SearchFrontier<'v, 'a> {
    fn new(view: &'v TripleView, automaton: &'a Automaton, node: TermId) -> Result<Self, ReadError> {
        let mut seen = VisitedSet::new(view, automaton);
        seen.insert(node, 0)?;
        Ok(SearchFrontier { automaton, seen, now: vec![(node, 0)], next: Vec::new() })
    }

    /// Expands one more node. Returns whether a walk reaches `goal`, or `None` if no nodes are left.
    fn advance(&mut self, view: &TripleView, goal: TermId) -> Result<Option<bool>, ReadError> {
        if self.now.is_empty() {
            std::mem::swap(&mut self.now, &mut self.next);
        }
        let Some((node, state)) = self.now.pop() else { return Ok(None) };
        view.work(1)?;
        let automaton = self.automaton;
        for (label, to) in &automaton.states[state].moves {
            // Test the goal directly first, so that a node with very many neighbours need not be expanded to find it.
            if automaton.states[*to].accepts && holds(view, node, label, goal) {
                return Ok(Some(true));
            }
            step(view, node, label, |next| {
                if self.seen.insert(next, *to)? {
                    self.next.push((next, *to));
                }
                Ok(())
            })?;
        }
        Ok(Some(false))
    }
}

/// Returns whether a step leads from one node to the other.
fn holds(view: &TripleView, node: TermId, label: &PathStep, goal: TermId) -> bool {
    let other = |from, to, except: &[TermId]| {
        let mut triples = view.triples(Some(from), None, Some(to));
        // An exceeded limit is reported by the next unit of work.
        triples.any(|triple| triple.is_ok_and(|[_, predicate, _]| except.binary_search(&predicate).is_err()))
    };
    match label {
        PathStep::Forward(p) => view.has(node, *p, goal),
        PathStep::Backward(p) => view.has(goal, *p, node),
        PathStep::ForwardExcept(except) => other(node, goal, except),
        PathStep::BackwardExcept(except) => other(goal, node, except),
    }
}

/// Returns whether a walk leads from `subject` to `object`, and the units of work spent. The search alternates between
/// both ends, so that it costs at most twice the cheaper end.
pub fn meet(
    view: &TripleView,
    forward: &Automaton,
    backward: &Automaton,
    subject: TermId,
    object: TermId,
) -> Result<(bool, u64), ReadError> {
    if forward.nullable() && subject == object {
        return Ok((true, 0));
    }
    let before = view.worked();
    let mut fronts = [
        (SearchFrontier::new(view, forward, subject)?, object),
        (SearchFrontier::new(view, backward, object)?, subject),
    ];
    loop {
        for (front, goal) in &mut fronts {
            match front.advance(view, *goal)? {
                Some(true) => return Ok((true, view.worked() - before)),
                Some(false) => {}
                // This end has been searched exhaustively.
                None => return Ok((false, view.worked() - before)),
            }
        }
    }
}
