//! Automaton of a property path, over steps from node to node.
//!
//! States are sets of positions in the expression with the same continuation: `(a|b)*` has one state, not two, so that
//! a node is visited once. Built by Glushkov's method (first, last and following positions; no empty transitions).

use std::rc::Rc;

use oxrdf::NamedNode;
use rustc_hash::{FxHashMap, FxHashSet};
use spargebra::algebra::PropertyPathExpression as Path;

use crate::{TermId, TripleView};

/// A step between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// From the subject of a triple to its object.
    Forward(TermId),
    /// From the object to the subject.
    Backward(TermId),
    /// From subject to object by any predicate except these.
    ForwardExcept(Box<[TermId]>),
    /// From object to subject by any predicate except these.
    BackwardExcept(Box<[TermId]>),
}

/// A state with its transitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutomatonState {
    /// Steps and their target states.
    pub moves: Vec<(PathStep, usize)>,
    /// Whether a walk may end here.
    pub accepts: bool,
}

/// The automaton; state 0 is the start.
#[derive(Debug, Clone)]
pub struct Automaton {
    /// The states.
    pub states: Vec<AutomatonState>,
}

/// The position sets of a part of the expression.
struct PositionSets {
    nullable: bool,
    first: Vec<usize>,
    last: Vec<usize>,
}

struct AutomatonBuilder<'v> {
    view: &'v TripleView,
    steps: Vec<PathStep>,
    /// Following positions by position; repeated alternatives share one list.
    following: Vec<Rc<[usize]>>,
    nothing: Rc<[usize]>,
}

impl Automaton {
    /// Builds the automaton of the walks from a path's subject to its object, or `backward`.
    pub fn new(path: &Path, view: &TripleView, backward: bool) -> Automaton {
        let mut builder = AutomatonBuilder { view, steps: Vec::new(), following: Vec::new(), nothing: Rc::from([]) };
        let part = builder.part(path, backward);
        let mut last = vec![false; builder.steps.len()];
        part.last.iter().for_each(|&position| last[position] = true);
        // Positions with the same continuation and acceptance form one state.
        let mut kinds: Vec<(&[usize], bool)> = vec![(&part.first, part.nullable)];
        let mut known: FxHashMap<(&[usize], bool), usize> = kinds.iter().map(|kind| (*kind, 0)).collect();
        let mut known_lists: FxHashMap<(*const usize, usize, bool), usize> = FxHashMap::default();
        let mut state_of = Vec::with_capacity(builder.steps.len());
        for (following, accepts) in builder.following.iter().zip(last) {
            // A shared list needs no second comparison.
            let state = *known_lists.entry((following.as_ptr(), following.len(), accepts)).or_insert_with(|| {
                *known.entry((following, accepts)).or_insert_with(|| {
                    kinds.push((following, accepts));
                    kinds.len() - 1
                })
            });
            state_of.push(state);
        }
        let states = kinds
            .iter()
            .map(|&(following, accepts)| {
                let mut seen = FxHashSet::default();
                let moves = following.iter().map(|&position| (builder.steps[position].clone(), state_of[position]));
                AutomatonState { moves: moves.filter(|to| seen.insert(to.clone())).collect(), accepts }
            })
            .collect();
        Automaton { states }
    }

    /// Returns whether the empty walk is accepted.
    pub fn nullable(&self) -> bool {
        self.states[0].accepts
    }
}

impl AutomatonBuilder<'_> {
    fn step(&mut self, step: PathStep) -> PositionSets {
        let position = self.steps.len();
        self.steps.push(step);
        self.following.push(self.nothing.clone());
        PositionSets { nullable: false, first: vec![position], last: vec![position] }
    }

    fn follow(&mut self, last: &[usize], first: &[usize]) {
        let mut made: FxHashMap<(*const usize, usize), Rc<[usize]>> = FxHashMap::default();
        for &position in last {
            let following = &mut self.following[position];
            let longer = made.entry((following.as_ptr(), following.len())).or_insert_with(|| {
                let mut all = [following, first].concat();
                all.sort_unstable();
                all.dedup();
                all.into()
            });
            *following = longer.clone();
        }
    }

    fn predicate(&self, name: &NamedNode) -> TermId {
        self.view.id(&name.clone().into())
    }

    fn part(&mut self, path: &Path, backward: bool) -> PositionSets {
        match path {
            Path::NamedNode(name) => {
                let predicate = self.predicate(name);
                self.step(if backward { PathStep::Backward(predicate) } else { PathStep::Forward(predicate) })
            }
            Path::NegatedPropertySet(names) => {
                let mut except: Vec<TermId> = names.iter().map(|name| self.predicate(name)).collect();
                except.sort_unstable();
                let except = except.into();
                self.step(if backward { PathStep::BackwardExcept(except) } else { PathStep::ForwardExcept(except) })
            }
            Path::Reverse(inner) => self.part(inner, !backward),
            Path::Sequence(a, b) => {
                let (a, b) = if backward { (b, a) } else { (a, b) };
                let (mut a, b) = (self.part(a, backward), self.part(b, backward));
                self.follow(&a.last, &b.first);
                if a.nullable {
                    a.first.extend_from_slice(&b.first);
                }
                let mut last = b.last;
                if b.nullable {
                    last.extend_from_slice(&a.last);
                }
                PositionSets { nullable: a.nullable && b.nullable, first: a.first, last }
            }
            Path::Alternative(a, b) => {
                let (mut a, b) = (self.part(a, backward), self.part(b, backward));
                a.first.extend(b.first);
                a.last.extend(b.last);
                PositionSets { nullable: a.nullable || b.nullable, ..a }
            }
            Path::ZeroOrOne(inner) => PositionSets { nullable: true, ..self.part(inner, backward) },
            Path::ZeroOrMore(inner) => {
                let inner = self.part(inner, backward);
                self.follow(&inner.last, &inner.first);
                PositionSets { nullable: true, ..inner }
            }
            Path::OneOrMore(inner) => {
                let inner = self.part(inner, backward);
                self.follow(&inner.last, &inner.first);
                inner
            }
        }
    }
}
