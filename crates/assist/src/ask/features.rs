//! The first map features of an answer to OverpassQL.

use std::io;

use serde_json::value::RawValue;

use terrapin_budget as budget;
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::output::{MapFeature, MapFeatureSink, Recording};

/// Maximum features of a result.
const FEATURES: usize = 20_000;
/// Maximum bytes of all features of a result.
pub const BYTES: usize = 16 << 20;

/// The number of features of an answer, and the first of them.
#[derive(Default)]
pub struct FirstFeatures {
    /// Number of all features.
    pub total: u64,
    /// The first features, as JSON.
    pub shapes: Vec<Box<RawValue>>,
    bytes: usize,
}

impl FirstFeatures {
    /// Converts a recorded answer to features.
    ///
    /// # Errors
    /// Returns an error if the answer has no form as GeoJSON.
    pub fn of(recording: &Recording) -> Result<FirstFeatures, OverpassFailure> {
        let mut features = FirstFeatures::default();
        recording.features(&mut features)?;
        Ok(features)
    }
}

impl MapFeatureSink for FirstFeatures {
    fn feature(&mut self, feature: &MapFeature<'_>) -> io::Result<()> {
        budget::checkpoint();
        self.total += 1;
        self.bytes += feature.text.len();
        if self.shapes.len() < FEATURES && self.bytes <= BYTES {
            self.shapes.push(RawValue::from_string(feature.text.to_owned())?);
        }
        Ok(())
    }
}
