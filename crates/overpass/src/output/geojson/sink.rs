//! Passes the features of an answer to a program, one by one.

use std::io;

use super::collect::{FeatureCollector, FeatureReceiver};
use super::features::FeatureSink;
use super::print::GeoJsonFeature;
use crate::output::ItemSource;

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
pub(crate) type MapFeatureWriter<'a> = FeatureCollector<PassedFeatures<'a>>;

impl<'a> MapFeatureWriter<'a> {
    /// Creates the writer; features describe the Wikidata items of `items`.
    pub(crate) fn new(items: Option<&'a dyn ItemSource>, sink: &'a mut dyn MapFeatureSink) -> Self {
        FeatureCollector::of(PassedFeatures { items, sink, text: Vec::new(), written: 0 })
    }
}

/// The features passed so far.
pub(crate) struct PassedFeatures<'a> {
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

impl FeatureReceiver for PassedFeatures<'_> {
    fn written(&self) -> u64 {
        self.written
    }
}
