//! Passes the features of an answer to a program, one by one.

use std::io;

use super::features::{self, FeatureSink};
use super::index::GeoJsonIndex;
use super::print::GeoJsonFeature;
use super::record::{self, GeoJsonRecords};
use crate::output::{AnswerWriter, ItemSource, OutCounts, OutputItem, Projection, Renderer};

/// A feature of an answer, as GeoJSON (RFC 7946).
#[derive(Debug, Clone, Copy)]
pub struct MapFeature<'a> {
    /// `node`, `way`, `relation`, or the type name that a query gave.
    pub type_name: &'a str,
    /// The id of the element.
    pub id: i64,
    /// The feature.
    pub text: &'a str,
    /// Its geometry.
    pub geometry: &'a str,
}

/// A receiver of features: areas, then lines, then points.
///
/// An `Err` ends the query, with the error of a disconnected client.
pub trait MapFeatureSink {
    /// Receives one feature.
    fn feature(&mut self, feature: &MapFeature<'_>) -> io::Result<()>;
}

/// The writer of an answer for a sink.
pub(crate) struct MapFeatureWriter<'a> {
    records: GeoJsonRecords,
    to: PassedFeatures<'a>,
}

impl<'a> MapFeatureWriter<'a> {
    pub(crate) fn new(items: Option<&'a dyn ItemSource>, sink: &'a mut dyn MapFeatureSink) -> MapFeatureWriter<'a> {
        let to = PassedFeatures { items, sink, text: Vec::new(), written: 0 };
        MapFeatureWriter { records: GeoJsonRecords::default(), to }
    }
}

/// The features passed so far.
struct PassedFeatures<'a> {
    items: Option<&'a dyn ItemSource>,
    sink: &'a mut dyn MapFeatureSink,
    text: Vec<u8>,
    written: u64,
}

impl FeatureSink for PassedFeatures<'_> {
    fn add(&mut self, feature: &GeoJsonFeature<'_>) -> io::Result<()> {
        self.text.clear();
        let geometry = feature.write(self.items, &mut self.text);
        let text = std::str::from_utf8(&self.text).map_err(io::Error::other)?;
        self.written += 1;
        let GeoJsonFeature { type_name, id, .. } = *feature;
        self.sink.feature(&MapFeature { type_name, id, text, geometry: text.get(geometry).unwrap_or_default() })
    }
}

impl AnswerWriter for MapFeatureWriter<'_> {
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
        features::write(&GeoJsonIndex::of(&records), &mut self.to)
    }

    /// Ignores the remark: a stopped query is an error.
    fn remark(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn written(&self) -> u64 {
        self.to.written
    }

    /// Returns an empty media type: there are no bytes.
    fn content_type(&self) -> &'static str {
        ""
    }

    fn started(&self) -> bool {
        false
    }
}
