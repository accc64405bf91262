//! The nodes of a pattern before they are placed in a program, and their placement.

use super::condition::Condition;
use super::fallback::Fallback;
use super::limits::MOST_STEPS;
use super::program::{Planned, Step};
use super::scope::{Mask, Scope};

/// A step or a group of steps that has no index in the program yet.
pub(super) enum Node {
    Step(Step, f64),
    Optional(Vec<Node>),
    Union(Vec<Vec<Node>>),
    Filter(Test),
}

/// A condition with the nodes of its patterns.
pub(super) enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Exists(Vec<Node>),
    Plain(Condition),
}

/// A sequence of nodes, each with the slots that are always bound after it.
pub(super) type Sequence = Vec<(Node, Mask)>;

/// The steps that have been placed.
#[derive(Default)]
pub(super) struct Layout {
    /// The steps of all blocks.
    pub steps: Vec<Planned>,
}

impl Layout {
    /// Adds a step.
    pub fn push(&mut self, step: Step, estimate: f64, depth: usize) {
        self.steps.push(Planned { step, estimate, depth });
    }

    /// Replaces a placeholder that was added before its targets were known.
    fn put(&mut self, at: usize, step: Step) {
        if let Some(planned) = self.steps.get_mut(at) {
            planned.step = step;
        }
    }

    /// Places nodes; returns an error if there are too many steps.
    pub fn lay(&mut self, nodes: Vec<Node>, scope: &mut Scope, depth: usize) -> Result<(), Fallback> {
        for node in nodes {
            if self.steps.len() > MOST_STEPS {
                return Err(Fallback::Steps);
            }
            match node {
                Node::Step(step, estimate) => self.push(step, estimate, depth),
                Node::Optional(body) => {
                    let flag = scope.flags;
                    scope.flags += 1;
                    let at = self.steps.len();
                    self.push(Step::Optional { flag, end: 0 }, f64::NAN, depth);
                    self.lay(body, scope, depth + 1)?;
                    self.push(Step::Matched { flag }, f64::NAN, depth);
                    let end = self.steps.len();
                    self.put(at, Step::Optional { flag, end });
                }
                Node::Union(branches) => {
                    let at = self.steps.len();
                    self.push(Step::Union(Vec::new()), f64::NAN, depth);
                    let (mut starts, mut ends) = (Vec::new(), Vec::new());
                    for branch in branches {
                        starts.push(self.steps.len());
                        self.lay(branch, scope, depth + 1)?;
                        ends.push(self.steps.len());
                        self.push(Step::Go(0), f64::NAN, depth);
                    }
                    let end = self.steps.len();
                    self.put(at, Step::Union(starts));
                    for at in ends {
                        self.put(at, Step::Go(end));
                    }
                }
                Node::Filter(test) => {
                    let condition = self.condition(test, scope, depth)?;
                    self.push(Step::Filter(condition), f64::NAN, depth);
                }
            }
        }
        Ok(())
    }

    fn condition(&mut self, test: Test, scope: &mut Scope, depth: usize) -> Result<Condition, Fallback> {
        let mut all = |tests: Vec<Test>| {
            tests.into_iter().map(|t| self.condition(t, scope, depth)).collect::<Result<Vec<_>, _>>()
        };
        Ok(match test {
            Test::And(tests) => Condition::And(all(tests)?),
            Test::Or(tests) => Condition::Or(all(tests)?),
            Test::Not(test) => Condition::Not(Box::new(self.condition(*test, scope, depth)?)),
            Test::Plain(condition) => condition,
            Test::Exists(body) => {
                // The steps of the pattern precede the filter; solutions jump over them.
                let at = self.steps.len();
                self.push(Step::Go(0), f64::NAN, depth);
                self.lay(body, scope, depth + 1)?;
                self.push(Step::Found, f64::NAN, depth + 1);
                let end = self.steps.len();
                self.put(at, Step::Go(end));
                Condition::Exists(at + 1)
            }
        })
    }
}

/// Returns the nodes without their masks.
pub(super) fn strip(sequence: Sequence) -> Vec<Node> {
    sequence.into_iter().map(|(node, _)| node).collect()
}
