//! Passes the elements of an answer to a program, without a format in between.

use std::io;

use super::{AnswerWriter, DiffAction, OutCounts, OutputItem};

/// A receiver of elements and counts, in the order in which a query prints them.
///
/// An `Err` ends the query, with the error of a disconnected client.
pub trait ElementSink {
    /// Receives one element, with the parts that the query prints.
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()>;
    /// Receives the result of `out count`.
    fn count(&mut self, counts: &OutCounts) -> io::Result<()>;
}

/// The writer of an answer for a sink.
pub(crate) struct SinkWriter<'a> {
    sink: &'a mut dyn ElementSink,
    written: u64,
}

impl<'a> SinkWriter<'a> {
    pub(crate) fn new(sink: &'a mut dyn ElementSink) -> SinkWriter<'a> {
        SinkWriter { sink, written: 0 }
    }
}

impl AnswerWriter for SinkWriter<'_> {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.written += 1;
        self.sink.element(item)
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.written += 1;
        self.sink.count(counts)
    }

    /// Ignores the marker: a sink gets the elements of both moments.
    fn action(&mut self, _action: DiffAction) -> io::Result<()> {
        Ok(())
    }

    /// Ignores the remark: a stopped query is an error.
    fn remark(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.written
    }

    /// Returns an empty media type: there are no bytes.
    fn content_type(&self) -> &'static str {
        ""
    }

    fn started(&self) -> bool {
        false
    }
}
