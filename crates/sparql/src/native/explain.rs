//! Describes how a program was run: one step a line, with its expected and actual number of solutions.

use std::fmt::Write as _;

use super::condition::{AmongValue, BindValue, ProgramCondition};
use super::operand::{GraphOperand, ProgramOperand, Slot};
use super::program::{Program, ProgramBlock, ProgramStep, TableLookup};
use terrapin_triples::{ReadError, TermId, TripleView};

/// Formats the blocks of a program, those of its tables first. `counts` contains the number of solutions of each step.
///
/// # Errors
/// Returns an error if the snapshot is damaged.
pub fn explain(program: &Program, view: &TripleView, counts: &[u64]) -> Result<String, ReadError> {
    let mut out = String::new();
    for (number, block) in program.blocks.iter().enumerate() {
        let explained = Explained { program, view, counts, block };
        match program.tables.iter().position(|&table| table == number) {
            Some(table) => {
                let _ = writeln!(out, "  kept as {table}:");
                explained.steps("    ", &mut out)?;
            }
            None => explained.steps("  ", &mut out)?,
        }
    }
    Ok(out)
}

struct Explained<'e> {
    program: &'e Program,
    view: &'e TripleView,
    counts: &'e [u64],
    block: &'e ProgramBlock,
}

impl Explained<'_> {
    fn steps(&self, indent: &str, out: &mut String) -> Result<(), ReadError> {
        // The expected number of solutions so far, for each depth.
        let mut expected = vec![1.0_f64];
        let mut at = self.block.start;
        while let Some(planned) = self.program.steps.get(at) {
            expected.truncate(planned.depth + 1);
            while expected.len() <= planned.depth {
                expected.push(expected.last().copied().unwrap_or(1.0));
            }
            if let Some(text) = self.text(&planned.step)? {
                let _ = write!(out, "{indent}{}{text}", "  ".repeat(planned.depth));
                let factor = if planned.estimate.is_nan() { 1.0 } else { planned.estimate };
                let rows = expected.last().copied().unwrap_or(1.0) * factor;
                if let Some(last) = expected.last_mut() {
                    *last = rows;
                }
                let actual = self.counts.get(at).copied().unwrap_or(0);
                let _ = writeln!(out, "  [about {} solutions expected, {actual} found]", rounded(rows));
            }
            if matches!(planned.step, ProgramStep::Emit) {
                break;
            }
            at += 1;
        }
        Ok(())
    }

    fn text(&self, step: &ProgramStep) -> Result<Option<String>, ReadError> {
        let names = |slots: &[Slot]| slots.iter().map(|slot| self.name(*slot)).collect::<Vec<_>>().join(" ");
        Ok(Some(match step {
            ProgramStep::Triple([subject, predicate, object]) => {
                format!("{} {} {}", self.operand(*subject)?, self.operand(*predicate)?, self.operand(*object)?)
            }
            ProgramStep::InGraph(graph, [subject, predicate, object]) => format!(
                "{} {} {} in {}",
                self.operand(*subject)?,
                self.operand(*predicate)?,
                self.operand(*object)?,
                match graph {
                    GraphOperand::All => "all graphs".to_owned(),
                    GraphOperand::Default => "the default graph".to_owned(),
                    GraphOperand::Named(name) => format!("graph {}", self.operand(*name)?),
                }
            ),
            ProgramStep::Graphs(name) => format!("graph {}", self.operand(*name)?),
            ProgramStep::Equate { graph, slot } => format!("{} = {}", self.name(*slot), self.name(*graph)),
            ProgramStep::Optional { .. } => "optional".to_owned(),
            ProgramStep::Union(branches) => format!("one of {}", branches.len()),
            ProgramStep::Values { slots, rows } => format!("values {} ({} rows)", names(slots), rows.len()),
            ProgramStep::Probe(TableLookup { table, slots, key, .. }) => {
                let key: Vec<Slot> = key.iter().filter_map(|&column| slots.get(column).copied()).collect();
                format!("join with {table} on {}", if key.is_empty() { "nothing".to_owned() } else { names(&key) })
            }
            ProgramStep::Minus { lookup, .. } => format!("without {}", lookup.table),
            ProgramStep::Any { table, .. } => format!("only if {table} has rows"),
            ProgramStep::Filter(condition) => format!("filter {}", self.condition(condition)?),
            ProgramStep::Bind { slot, value } => match value {
                BindValue::Operand(place) => format!("bind {} = {}", self.name(*slot), self.operand(*place)?),
                BindValue::Exists(_) => format!("bind {} = exists (the steps above)", self.name(*slot)),
                BindValue::Calculated(_, leaf) | BindValue::Leaf(leaf) => format!("bind {} = {leaf}", self.name(*slot)),
            },
            ProgramStep::Once => "once for each distinct solution".to_owned(),
            ProgramStep::Emit if self.block.group.is_some() => "group".to_owned(),
            ProgramStep::Emit if self.block.is_distinct() => "distinct solution".to_owned(),
            ProgramStep::Emit => "solution".to_owned(),
            ProgramStep::Matched { .. } | ProgramStep::Go(_) | ProgramStep::Found => return Ok(None),
        }))
    }

    fn name(&self, slot: Slot) -> String {
        self.block.slots.get(slot).map_or_else(|| "?".to_owned(), ToString::to_string)
    }

    fn operand(&self, place: ProgramOperand) -> Result<String, ReadError> {
        match place {
            ProgramOperand::Slot(slot) => Ok(self.name(slot)),
            ProgramOperand::Term(id) => self.term(id),
        }
    }

    fn term(&self, id: TermId) -> Result<String, ReadError> {
        if let Some(label) = self.view.relation_label(id) {
            return Ok(label.to_owned());
        }
        Ok(self.view.term(id)?.to_string())
    }

    fn condition(&self, condition: &ProgramCondition) -> Result<String, ReadError> {
        let all = |conditions: &[ProgramCondition], with: &str| {
            let texts = conditions.iter().map(|c| self.condition(c)).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("({})", texts.join(with)))
        };
        match condition {
            ProgramCondition::And(conditions) => all(conditions, " && "),
            ProgramCondition::Or(conditions) => all(conditions, " || "),
            ProgramCondition::Not(condition) => Ok(format!("!{}", self.condition(condition)?)),
            ProgramCondition::Exists(_) => Ok("exists (the steps above)".to_owned()),
            ProgramCondition::Bound(slot) => Ok(format!("bound({})", self.name(*slot))),
            ProgramCondition::Same(a, b) => Ok(format!("sameTerm({}, {})", self.operand(*a)?, self.operand(*b)?)),
            ProgramCondition::Equal(a, b, _) => Ok(format!("{} = {}", self.operand(*a)?, self.operand(*b)?)),
            ProgramCondition::Among(AmongValue::Slot(slot), constants) => {
                Ok(format!("{} IN ({} terms)", self.name(*slot), constants.len()))
            }
            ProgramCondition::Among(AmongValue::Leaf(leaf), constants) => {
                Ok(format!("{leaf} IN ({} terms)", constants.len()))
            }
            ProgramCondition::Compared(_, leaf)
            | ProgramCondition::Calculated(_, leaf)
            | ProgramCondition::Text(_, leaf)
            | ProgramCondition::Leaf(leaf) => Ok(leaf.to_string()),
        }
    }
}

/// Formats an estimate with few digits.
fn rounded(value: f64) -> String {
    if value >= 10.0 || value == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
