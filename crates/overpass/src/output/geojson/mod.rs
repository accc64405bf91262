//! Writes GeoJSON, as a feature collection (RFC 7946) or as a text sequence (RFC 8142). The features are those that
//! osmtogeojson makes from the answer in JSON. A feature may need elements from the end of the answer, such as the
//! nodes of its ways or the ways of its relation. Therefore the elements are buffered in a compact form until all are
//! there; then the features stream.
//!
//! ```text
//! record.rs    the compact form of an element
//! index.rs     all elements without duplicates, and their memberships
//! features.rs  the elements that become features, with their geometry
//! lines.rs     joins the lines of routes
//! print.rs     prints a feature
//! shape.rs     prints the geometry of a feature
//! sink.rs      passes features to a program
//! ```

mod features;
mod index;
mod lines;
mod print;
mod record;
mod shape;
mod sink;
#[cfg(test)]
mod tests;

pub(crate) use sink::MapFeatureWriter;
pub use sink::{MapFeature, MapFeatureSink};

use std::io::{self, Write};

use super::buffer::Buffer;
use super::{AnswerWriter, COPYRIGHT, ItemSource, OutCounts, OutputHeader, OutputItem, Projection, Renderer};
use features::FeatureSink;
use index::GeoJsonIndex;
use print::GeoJsonFeature;
use record::GeoJsonRecords;

/// The layout of the features in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeoJsonLayout {
    /// One object that contains all features: `application/geo+json`.
    Collection,
    /// One feature per line, each after the character RS: `application/geo+json-seq`.
    Sequence,
}

/// An answer in GeoJSON.
pub(super) struct GeoJson<'a> {
    records: GeoJsonRecords,
    header: OutputHeader,
    text: GeoJsonTextWriter<'a>,
    remark: Option<String>,
}

impl<'a> GeoJson<'a> {
    pub(super) fn new(
        layout: GeoJsonLayout,
        items: Option<&'a dyn ItemSource>,
        header: OutputHeader,
        out: &'a mut dyn Write,
    ) -> Self {
        let text = GeoJsonTextWriter { layout, items, buffer: Buffer::new(out), features: 0, whole: 0 };
        GeoJson { records: GeoJsonRecords::default(), header, text, remark: None }
    }
}

impl AnswerWriter for GeoJson<'_> {
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
        self.text.begin(self.header.data_time);
        features::write(&GeoJsonIndex::of(&records), &mut self.text)
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        self.remark = Some(text.to_owned());
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.text.end(self.header.data_time, self.remark.take().as_deref());
        self.text.buffer.flush()
    }

    fn written(&self) -> u64 {
        self.text.features
    }

    fn content_type(&self) -> &'static str {
        content_type(self.text.layout)
    }

    fn started(&self) -> bool {
        self.text.buffer.started()
    }
}

/// Returns the media type of GeoJSON answers in this layout.
pub(super) fn content_type(layout: GeoJsonLayout) -> &'static str {
    match layout {
        GeoJsonLayout::Collection => "application/geo+json",
        GeoJsonLayout::Sequence => "application/geo+json-seq",
    }
}

/// The writer of the GeoJSON text.
struct GeoJsonTextWriter<'a> {
    layout: GeoJsonLayout,
    /// The source of item descriptions.
    items: Option<&'a dyn ItemSource>,
    buffer: Buffer<'a>,
    features: u64,
    /// The end of the last complete feature in the buffer. A limit may cut the feature after it.
    whole: usize,
}

impl GeoJsonTextWriter<'_> {
    fn begin(&mut self, data_time: i64) {
        if self.layout == GeoJsonLayout::Collection {
            let b = &mut self.buffer;
            b.text("{\"type\":\"FeatureCollection\",\"generator\":\"Terrapin ");
            b.text(env!("CARGO_PKG_VERSION"));
            b.text("\",\"copyright\":\"");
            b.text(COPYRIGHT);
            b.text("\",\"timestamp\":\"");
            b.time(data_time);
            b.text("\",\"features\":[");
        }
        self.whole = self.buffer.held();
    }

    fn end(&mut self, data_time: i64, remark: Option<&str>) {
        self.buffer.bytes.truncate(self.whole);
        let begun = self.buffer.started() || self.whole > 0;
        match self.layout {
            GeoJsonLayout::Collection => {
                if !begun {
                    self.begin(data_time);
                }
                self.buffer.text("\n]");
                if let Some(remark) = remark {
                    self.buffer.text(",\"remark\":");
                    print::quoted(&mut self.buffer.bytes, remark);
                }
                self.buffer.text("}\n");
            }
            GeoJsonLayout::Sequence => {
                if let Some(remark) = remark {
                    self.buffer.text("\u{1e}{\"type\":\"FeatureCollection\",\"features\":[],\"remark\":");
                    print::quoted(&mut self.buffer.bytes, remark);
                    self.buffer.text("}\n");
                }
            }
        }
    }
}

impl FeatureSink for GeoJsonTextWriter<'_> {
    fn add(&mut self, feature: &GeoJsonFeature<'_>) -> io::Result<()> {
        let b = &mut self.buffer;
        b.text(match self.layout {
            GeoJsonLayout::Collection if self.features == 0 => "\n",
            GeoJsonLayout::Collection => ",\n",
            GeoJsonLayout::Sequence => "\u{1e}",
        });
        feature.write(self.items, &mut b.bytes);
        if self.layout == GeoJsonLayout::Sequence {
            b.text("\n");
        }
        self.features += 1;
        b.settle()?;
        self.whole = self.buffer.held();
        Ok(())
    }
}
