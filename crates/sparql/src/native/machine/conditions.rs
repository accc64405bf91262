//! Evaluates conditions.

use super::{Machine, StepFlow};
use crate::native::condition::{AmongValue, Leaf, ProgramCondition, equal};
use crate::native::frame::BlockFrame;
use terrapin_budget as budget;

impl Machine<'_> {
    /// Returns whether a condition holds; `None` if it is an error in SPARQL. The `Err` is the step's result.
    pub(super) fn holds(
        &mut self,
        frame: &mut BlockFrame<'_>,
        condition: &ProgramCondition,
    ) -> Result<Option<bool>, StepFlow> {
        let all = |machine: &mut Self, frame: &mut BlockFrame<'_>, conditions: &[ProgramCondition], stop: bool| {
            let mut result = Some(!stop);
            for condition in conditions {
                match machine.holds(frame, condition)? {
                    Some(value) if value == stop => return Ok(Some(stop)),
                    Some(_) => {}
                    None => result = None,
                }
            }
            Ok(result)
        };
        match condition {
            ProgramCondition::And(conditions) => all(self, frame, conditions, false),
            ProgramCondition::Or(conditions) => all(self, frame, conditions, true),
            ProgramCondition::Not(condition) => Ok(self.holds(frame, condition)?.map(|value| !value)),
            ProgramCondition::Exists(start) => match self.run(frame, *start) {
                StepFlow::More => Ok(Some(false)),
                StepFlow::Enough => Ok(Some(true)),
                StepFlow::Stop => Err(StepFlow::Stop),
            },
            ProgramCondition::Bound(slot) => Ok(Some(frame.get(*slot).is_some())),
            ProgramCondition::Same(a, b) => Ok(frame.value(*a).zip(frame.value(*b)).map(|(a, b)| a == b)),
            ProgramCondition::Equal(a, b, leaf) => {
                let Some((a, b)) = frame.value(*a).zip(frame.value(*b)) else { return Ok(None) };
                match equal(self.view, a, b) {
                    Ok(Some(equal)) => Ok(Some(equal)),
                    Ok(None) => self.leaf(frame, leaf),
                    Err(error) => Err(self.fail(error)),
                }
            }
            ProgramCondition::Compared(comparison, leaf) => {
                budget::checkpoint();
                match comparison.holds(self.view, |slot| frame.get(slot)) {
                    Some(holds) => Ok(Some(holds)),
                    None => self.leaf(frame, leaf),
                }
            }
            ProgramCondition::Calculated(comparison, leaf) => match comparison.holds(self.view, |slot| frame.get(slot))
            {
                Ok(Some(holds)) => Ok(Some(holds)),
                Ok(None) => self.leaf(frame, leaf),
                Err(error) => Err(self.fail(error)),
            },
            ProgramCondition::Text(test, leaf) => {
                budget::checkpoint();
                match test.holds(self.view, self.patterns, |slot| frame.get(slot)) {
                    Ok(Some(holds)) => Ok(Some(holds)),
                    Ok(None) => self.leaf(frame, leaf),
                    Err(error) => Err(self.fail(error)),
                }
            }
            ProgramCondition::Among(value, constants) => {
                budget::checkpoints(4);
                let term = match value {
                    AmongValue::Slot(slot) => frame.get(*slot).map(|id| self.view.term(id)).transpose(),
                    AmongValue::Leaf(leaf) => leaf.term(self.view, self.evaluator, |slot| frame.get(slot)),
                };
                let term = term.map_err(|error| self.fail(error))?;
                Ok(term.and_then(|term| constants.contain(&term)))
            }
            ProgramCondition::Leaf(leaf) => self.leaf(frame, leaf),
        }
    }

    pub(super) fn leaf(&mut self, frame: &BlockFrame<'_>, leaf: &Leaf) -> Result<Option<bool>, StepFlow> {
        leaf.holds(self.view, self.evaluator, |slot| frame.get(slot)).map_err(|error| self.fail(error))
    }
}
