//! Groups and sorts the solutions of a block.

use super::Machine;
use crate::guard::read;
use crate::native::frame::Sink;
use crate::native::groups::Groups;
use crate::native::program::{Arrangement, GroupingStep, ProgramBlock};
use crate::native::sorted::SortedRows;
use terrapin_triples::TermId;

impl<'a> Machine<'a> {
    /// Runs a block with grouped solutions.
    pub(super) fn groups(
        &mut self,
        block: &'a ProgramBlock,
        group: &GroupingStep,
        given: &[Option<TermId>],
        sink: &mut Sink<'_>,
    ) {
        let view = self.view;
        let mut groups = Groups::new(group);
        self.solutions(block, given, &mut |row| groups.add(view, row).map(|()| true).map_err(read));
        if self.failure.is_some() {
            return;
        }
        let held = groups.held();
        self.pass_on(groups.finish(view), sink);
        self.release(held);
    }

    /// Runs a block with ORDER BY, OFFSET or LIMIT.
    pub(super) fn arranged(
        &mut self,
        block: &'a ProgramBlock,
        arrangement: &Arrangement,
        given: &[Option<TermId>],
        sink: &mut Sink<'_>,
    ) {
        let Arrangement { start, length, .. } = *arrangement;
        let end = length.map_or(usize::MAX, |length| start.saturating_add(length));
        if length == Some(0) {
            return;
        }
        if arrangement.keys.is_empty() {
            let mut count = 0;
            self.solutions(block, given, &mut |row| {
                count += 1;
                Ok((count <= start || sink(row)?) && count < end)
            });
            return;
        }
        let view = self.view;
        let mut rows = SortedRows::new(arrangement);
        self.solutions(block, given, &mut |row| rows.add(view, row).map(|()| true).map_err(read));
        if self.failure.is_some() {
            return;
        }
        match rows.finish(view) {
            Ok(sorted) => self.pass_on(sorted.into_iter().take(end).skip(start), sink),
            Err(error) => self.failure = Some(read(error)),
        }
        self.release(rows.held());
    }

    /// Passes rows to the sink until it needs no more.
    pub(super) fn pass_on<R: AsRef<[Option<TermId>]>>(&mut self, rows: impl Iterator<Item = R>, sink: &mut Sink<'_>) {
        for row in rows {
            match self.view.work(1).map_err(read).and_then(|()| sink(row.as_ref())) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }

    /// Returns memory to the query's limit.
    pub(super) fn release(&mut self, bytes: i64) {
        if let Err(error) = self.view.hold(-bytes) {
            let _ = self.fail(error);
        }
    }
}
