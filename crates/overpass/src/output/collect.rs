//! Collects only the ids and counts of an answer, which the scoring of benchmarks compares.

use std::io;

use super::{AnswerWriter, DiffAction, OutCounts, OutputItem};

/// An answer that keeps each element's type and id, and the counts of `out count`, in order.
#[derive(Debug, Clone, Default)]
pub struct Collect {
    /// Type and id of every element; elements written without their id are left out.
    pub ids: Vec<(String, i64)>,
    /// The result of each `out count`.
    pub counts: Vec<OutCounts>,
    /// The reason why the query was stopped.
    pub remark: Option<String>,
    written: u64,
}

impl AnswerWriter for Collect {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.written += 1;
        if let Some(id) = item.id {
            self.ids.push((item.type_name.to_owned(), id));
        }
        Ok(())
    }

    fn action(&mut self, _action: DiffAction) -> io::Result<()> {
        Ok(())
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.written += 1;
        self.counts.push(*counts);
        Ok(())
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.remark = Some(text.to_owned());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        "application/json"
    }

    fn started(&self) -> bool {
        false
    }
}
