//! The nodes of a pattern before they are placed in a program, and their placement.

use super::condition::{BindValue, ProgramCondition};
use super::operand::Slot;
use super::program::{PlannedStep, ProgramStep};
use super::scope::{BlockScope, Mask};

/// A step or a group of steps that has no index in the program yet.
pub(super) enum PlanNode {
    Step(ProgramStep, f64),
    Optional(Vec<PlanNode>),
    Union(Vec<Vec<PlanNode>>),
    Filter(PatternTest),
    /// Sets a slot if the nodes have a solution.
    Exists(Slot, Vec<PlanNode>),
}

/// A condition with the nodes of its patterns.
pub(super) enum PatternTest {
    And(Vec<PatternTest>),
    Or(Vec<PatternTest>),
    Not(Box<PatternTest>),
    Exists(Vec<PlanNode>),
    Plain(ProgramCondition),
}

/// A sequence of nodes, each with the slots that are always bound after it.
pub(super) type Sequence = Vec<(PlanNode, Mask)>;

/// The steps that have been placed.
#[derive(Default)]
pub(super) struct ProgramLayout {
    /// The steps of all blocks.
    pub steps: Vec<PlannedStep>,
}

impl ProgramLayout {
    /// Adds a step.
    pub fn push(&mut self, step: ProgramStep, estimate: f64, depth: usize) {
        self.steps.push(PlannedStep { step, estimate, depth });
    }

    /// Replaces a placeholder that was added before its targets were known.
    fn put(&mut self, at: usize, step: ProgramStep) {
        if let Some(planned) = self.steps.get_mut(at) {
            planned.step = step;
        }
    }

    /// Places nodes.
    pub fn lay(&mut self, nodes: Vec<PlanNode>, scope: &mut BlockScope, depth: usize) {
        for node in nodes {
            match node {
                PlanNode::Step(step, estimate) => self.push(step, estimate, depth),
                PlanNode::Optional(body) => {
                    let flag = scope.flags;
                    scope.flags += 1;
                    let at = self.steps.len();
                    self.push(ProgramStep::Optional { flag, end: 0 }, f64::NAN, depth);
                    self.lay(body, scope, depth + 1);
                    self.push(ProgramStep::Matched { flag }, f64::NAN, depth);
                    let end = self.steps.len();
                    self.put(at, ProgramStep::Optional { flag, end });
                }
                PlanNode::Union(branches) => {
                    let at = self.steps.len();
                    self.push(ProgramStep::Union(Vec::new()), f64::NAN, depth);
                    let (mut starts, mut ends) = (Vec::new(), Vec::new());
                    for branch in branches {
                        starts.push(self.steps.len());
                        self.lay(branch, scope, depth + 1);
                        ends.push(self.steps.len());
                        self.push(ProgramStep::Go(0), f64::NAN, depth);
                    }
                    let end = self.steps.len();
                    self.put(at, ProgramStep::Union(starts));
                    for at in ends {
                        self.put(at, ProgramStep::Go(end));
                    }
                }
                PlanNode::Filter(test) => {
                    let condition = self.condition(test, scope, depth);
                    self.push(ProgramStep::Filter(condition), f64::NAN, depth);
                }
                PlanNode::Exists(slot, body) => {
                    let value = BindValue::Exists(self.exists(body, scope, depth));
                    self.push(ProgramStep::Bind { slot, value }, f64::NAN, depth);
                }
            }
        }
    }

    fn condition(&mut self, test: PatternTest, scope: &mut BlockScope, depth: usize) -> ProgramCondition {
        let mut all = |tests: Vec<PatternTest>| tests.into_iter().map(|t| self.condition(t, scope, depth)).collect();
        match test {
            PatternTest::And(tests) => ProgramCondition::And(all(tests)),
            PatternTest::Or(tests) => ProgramCondition::Or(all(tests)),
            PatternTest::Not(test) => ProgramCondition::Not(Box::new(self.condition(*test, scope, depth))),
            PatternTest::Plain(condition) => condition,
            PatternTest::Exists(body) => ProgramCondition::Exists(self.exists(body, scope, depth)),
        }
    }

    /// Places the nodes of an EXISTS before the step that tests it; solutions jump over them. Returns the index of the
    /// first step.
    fn exists(&mut self, body: Vec<PlanNode>, scope: &mut BlockScope, depth: usize) -> usize {
        let at = self.steps.len();
        self.push(ProgramStep::Go(0), f64::NAN, depth);
        self.lay(body, scope, depth + 1);
        self.push(ProgramStep::Found, f64::NAN, depth + 1);
        let end = self.steps.len();
        self.put(at, ProgramStep::Go(end));
        at + 1
    }
}

/// Returns the largest number of steps that follow each other in nodes.
pub(super) fn depth(nodes: &[PlanNode]) -> usize {
    let of_node = |node: &PlanNode| match node {
        PlanNode::Step(..) => 1,
        PlanNode::Optional(body) | PlanNode::Exists(_, body) => 2 + depth(body),
        PlanNode::Union(branches) => 2 + branches.iter().map(|branch| depth(branch)).max().unwrap_or(0),
        PlanNode::Filter(test) => 1 + depth_of_test(test),
    };
    nodes.iter().map(of_node).sum()
}

fn depth_of_test(test: &PatternTest) -> usize {
    match test {
        PatternTest::And(tests) | PatternTest::Or(tests) => tests.iter().map(depth_of_test).max().unwrap_or(0),
        PatternTest::Not(test) => depth_of_test(test),
        PatternTest::Exists(body) => depth(body),
        PatternTest::Plain(_) => 0,
    }
}

/// Returns the nodes without their masks.
pub(super) fn strip(sequence: Sequence) -> Vec<PlanNode> {
    sequence.into_iter().map(|(node, _)| node).collect()
}
