//! Tables: parts of a pattern that are solved separately, and lookups of their rows.

use std::rc::Rc;

use super::{KeptTable, Machine, StepFlow};
use crate::guard::read;
use crate::native::frame::BlockFrame;
use crate::native::operand::Slot;
use crate::native::program::{ProgramBlock, TableLookup};
use crate::native::table::SolutionTable;
use terrapin_budget::ExceededLimit;
use terrapin_triples::{ReadError, TermId};

/// Number of rows that are computed to test whether a table is empty. A smaller table is then complete.
const FEW: usize = 1000;

impl Machine<'_> {
    /// Returns a table for the values of the slots `given`. It is computed at its first use and when these values have
    /// changed. If it would have more than `most` rows, only these are computed and the table is not cached.
    pub(super) fn table(
        &mut self,
        frame: &BlockFrame<'_>,
        number: usize,
        key: &[usize],
        given: &[Slot],
        most: usize,
    ) -> Option<Rc<SolutionTable>> {
        let cached = self.tables.get_mut(number)?;
        if let Some(KeptTable { given: values, table }) = cached {
            if given.iter().map(|slot| frame.get(*slot)).eq(values.iter().copied()) {
                return Some(Rc::clone(table));
            }
            let held = SolutionTable::row_bytes(table.width()) * table.len() as i64;
            *cached = None;
            self.release(held);
        }
        let given: Box<[Option<TermId>]> = given.iter().map(|slot| frame.get(*slot)).collect();
        let program = self.program;
        let &block = program.tables.get(number)?;
        let width = program.blocks.get(block).map_or(0, ProgramBlock::width);
        let mut table = SolutionTable::new(width);
        let view = self.view;
        let mut more = false;
        let full = ExceededLimit::Memory(SolutionTable::row_bytes(width).unsigned_abs() * u64::from(u32::MAX));
        self.block(block, &given, &mut |row| {
            if table.len() == most {
                more = true;
                return Ok(false);
            }
            view.hold(SolutionTable::row_bytes(width)).map_err(read)?;
            match table.push(row) {
                true => Ok(true),
                false => Err(read(full.into())),
            }
        });
        if self.failure.is_some() {
            return None;
        }
        if more {
            if let Err(error) = view.hold(-(SolutionTable::row_bytes(width) * table.len() as i64)) {
                let _ = self.fail(error);
                return None;
            }
            return Some(Rc::new(table));
        }
        table.index(key);
        let table = Rc::new(table);
        if let Some(place) = self.tables.get_mut(number) {
            *place = Some(KeptTable { given, table: Rc::clone(&table) });
        }
        Some(table)
    }

    /// Returns whether no row of a table removes the solution.
    #[inline]
    pub(super) fn minus(
        &mut self,
        frame: &BlockFrame<'_>,
        lookup: &TableLookup,
        shares: bool,
    ) -> Result<bool, StepFlow> {
        let TableLookup { table, slots, key, given } = lookup;
        let table = self.table(frame, *table, key, given, usize::MAX).ok_or(StepFlow::Stop)?;
        let meets = self.meets(frame, &table, slots, key, shares).map_err(|error| self.fail(error))?;
        Ok(!meets)
    }

    /// Returns whether a table has rows.
    #[inline]
    pub(super) fn any(&mut self, frame: &BlockFrame<'_>, table: usize, given: &[Slot]) -> Result<bool, StepFlow> {
        let table = self.table(frame, table, &[], given, FEW).ok_or(StepFlow::Stop)?;
        Ok(table.len() > 0)
    }

    pub(super) fn probe(&mut self, frame: &mut BlockFrame<'_>, at: usize, lookup: &TableLookup) -> StepFlow {
        let TableLookup { table, slots, key, given } = lookup;
        let Some(table) = self.table(frame, *table, key, given, usize::MAX) else { return StepFlow::Stop };
        let mut next = table.first(key, |column| slots.get(column).and_then(|slot| frame.get(*slot)));
        while let Some(row) = next {
            if let Err(error) = self.view.work(1) {
                return self.fail(error);
            }
            let flow = self.row(frame, at, slots, table.row(row));
            if flow != StepFlow::More {
                return flow;
            }
            next = table.after(key, row);
        }
        StepFlow::More
    }

    /// Returns whether a row of a table is compatible with a solution and shares a bound variable with it. If `shares`,
    /// every row does.
    pub(super) fn meets(
        &self,
        frame: &BlockFrame<'_>,
        table: &SolutionTable,
        slots: &[Slot],
        key: &[usize],
        shares: bool,
    ) -> Result<bool, ReadError> {
        let mut next = table.first(key, |column| slots.get(column).and_then(|slot| frame.get(*slot)));
        while let Some(row) = next {
            self.view.work(1)?;
            let mut common = shares;
            let fits = slots.iter().zip(table.row(row)).all(|(slot, value)| match (frame.get(*slot), value) {
                (Some(a), Some(b)) => {
                    common = true;
                    a == *b
                }
                _ => true,
            });
            if fits && common {
                return Ok(true);
            }
            next = table.after(key, row);
        }
        Ok(false)
    }
}
