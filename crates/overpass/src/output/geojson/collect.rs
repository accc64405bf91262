//! Buffers the elements of an answer until the last one has arrived, then converts them to features.

use std::io;

use super::features::{self, FeatureSink};
use super::index::GeoJsonIndex;
use super::record::{self, GeoJsonRecords};
use crate::output::{AnswerWriter, OutCounts, OutputItem, Projection, Renderer};

/// A receiver of all features of an answer. The defaults are those of a program, which reads no bytes.
pub(crate) trait FeatureReceiver: FeatureSink {
    /// Called once, before the first feature.
    fn begin(&mut self) {}

    /// Adds a remark that the query was stopped. A program gets its error instead.
    fn remark(&mut self, _text: &str) {}

    /// Writes the rest of the answer.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns the number of features written so far.
    fn written(&self) -> u64;

    /// Returns the answer's media type, empty if there are no bytes.
    fn content_type(&self) -> &'static str {
        ""
    }

    /// Returns whether bytes have reached the underlying writer.
    fn started(&self) -> bool {
        false
    }
}

/// The writer of an answer whose features go to a receiver.
pub(crate) struct FeatureCollector<R> {
    records: GeoJsonRecords,
    /// The receiver.
    pub(super) to: R,
}

impl<R: FeatureReceiver> FeatureCollector<R> {
    /// Creates the writer for a receiver.
    pub fn of(to: R) -> Self {
        FeatureCollector { records: GeoJsonRecords::default(), to }
    }
}

impl<R: FeatureReceiver> AnswerWriter for FeatureCollector<R> {
    /// Requires ids: duplicates of an element are detected by its id.
    fn projection(&self) -> Projection {
        Projection { every_id: true, ..Projection::ALL }
    }

    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.records.push(item);
        Ok(())
    }

    fn renderer(&self) -> Option<Renderer> {
        Some(record::renderer())
    }

    fn rendered(&mut self, bytes: &[u8], _elements: u64) -> io::Result<()> {
        self.records.extend(bytes);
        Ok(())
    }

    /// Ignores the counts: they have no geometry.
    fn count(&mut self, _counts: &OutCounts) -> io::Result<()> {
        Ok(())
    }

    fn complete(&mut self) -> io::Result<()> {
        let records = std::mem::take(&mut self.records);
        self.to.begin();
        features::write(&GeoJsonIndex::of(&records), &mut self.to)
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.to.remark(text);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.finish()
    }

    fn written(&self) -> u64 {
        self.to.written()
    }

    fn content_type(&self) -> &'static str {
        self.to.content_type()
    }

    fn started(&self) -> bool {
        self.to.started()
    }
}
