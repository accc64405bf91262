//! Writes GeoJSON, as a feature collection (RFC 7946) or as a text sequence (RFC 8142). The features are those that
//! osmtogeojson makes from the answer in JSON. A feature may need elements from the end of the answer, such as the
//! nodes of its ways or the ways of its relation. Therefore the elements are buffered in a compact form until all are
//! there; then the features stream.
//!
//! ```text
//! collect.rs   buffers the elements until the last one has arrived
//! record.rs    the compact form of an element
//! index.rs     all elements without duplicates, and their memberships
//! features.rs  the elements that become features, with their geometry
//! lines.rs     joins the lines of routes
//! print.rs     prints a feature
//! shape.rs     prints the geometry of a feature
//! sink.rs      passes features to a program
//! ```

mod collect;
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
use super::{COPYRIGHT, ItemSource, OutputHeader};
use collect::{FeatureCollector, FeatureReceiver};
use features::FeatureSink;
use print::GeoJsonFeature;

/// The layout of the features in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeoJsonLayout {
    /// One object that contains all features: `application/geo+json`.
    Collection,
    /// One feature per line, each after the character RS: `application/geo+json-seq`.
    Sequence,
}

/// An answer in GeoJSON.
pub(super) type GeoJson<'a> = FeatureCollector<GeoJsonTextWriter<'a>>;

impl<'a> GeoJson<'a> {
    pub(super) fn new(
        layout: GeoJsonLayout,
        items: Option<&'a dyn ItemSource>,
        header: OutputHeader,
        out: &'a mut dyn Write,
    ) -> Self {
        let data_time = header.data_time;
        let buffer = Buffer::new(out);
        FeatureCollector::of(GeoJsonTextWriter {
            layout,
            items,
            data_time,
            buffer,
            features: 0,
            whole: 0,
            remark: None,
        })
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
pub(super) struct GeoJsonTextWriter<'a> {
    layout: GeoJsonLayout,
    /// The source of item descriptions.
    items: Option<&'a dyn ItemSource>,
    /// The time of the data, in seconds since 1970.
    data_time: i64,
    buffer: Buffer<'a>,
    features: u64,
    /// The end of the last complete feature in the buffer. A limit may cut the feature after it.
    whole: usize,
    remark: Option<String>,
}

impl FeatureReceiver for GeoJsonTextWriter<'_> {
    fn begin(&mut self) {
        if self.layout == GeoJsonLayout::Collection {
            let b = &mut self.buffer;
            b.text("{\"type\":\"FeatureCollection\",\"generator\":\"Terrapin ");
            b.text(env!("CARGO_PKG_VERSION"));
            b.text("\",\"copyright\":\"");
            b.text(COPYRIGHT);
            b.text("\",\"timestamp\":\"");
            b.time(self.data_time);
            b.text("\",\"features\":[");
        }
        self.whole = self.buffer.held();
    }

    fn remark(&mut self, text: &str) {
        self.remark = Some(text.to_owned());
    }

    fn finish(&mut self) -> io::Result<()> {
        let remark = self.remark.take();
        self.buffer.bytes.truncate(self.whole);
        let begun = self.buffer.started() || self.whole > 0;
        match self.layout {
            GeoJsonLayout::Collection => {
                if !begun {
                    self.begin();
                }
                self.buffer.text("\n]");
                if let Some(remark) = &remark {
                    self.buffer.text(",\"remark\":");
                    print::quoted(&mut self.buffer.bytes, remark);
                }
                self.buffer.text("}\n");
            }
            GeoJsonLayout::Sequence => {
                if let Some(remark) = &remark {
                    self.buffer.text("\u{1e}{\"type\":\"FeatureCollection\",\"features\":[],\"remark\":");
                    print::quoted(&mut self.buffer.bytes, remark);
                    self.buffer.text("}\n");
                }
            }
        }
        self.buffer.flush()
    }

    fn written(&self) -> u64 {
        self.features
    }

    fn content_type(&self) -> &'static str {
        content_type(self.layout)
    }

    fn started(&self) -> bool {
        self.buffer.started()
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
