//! The first map features of an answer to OverpassQL.

use std::io::{self, Write};

use serde_json::value::RawValue;

use terrapin_budget as budget;
use terrapin_overpass::OverpassFailure;
use terrapin_overpass::output::{AnswerFormat, GeoJsonLayout, RECORD_SEPARATOR, Recording, RecordingCursor};

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
    /// The feature that is being written.
    current: Vec<u8>,
}

impl FirstFeatures {
    /// Converts a recorded answer to features.
    ///
    /// # Errors
    /// Returns an error if the answer has no form as GeoJSON.
    pub fn of(recording: &Recording) -> Result<FirstFeatures, OverpassFailure> {
        let mut features = FirstFeatures::default();
        let form = AnswerFormat::GeoJson(GeoJsonLayout::Sequence);
        recording.write(form, &mut RecordingCursor::default(), u64::MAX, &mut features)?;
        features.end_feature();
        Ok(features)
    }

    fn end_feature(&mut self) {
        let text = self.current.trim_ascii();
        if !text.is_empty() {
            budget::checkpoint();
            self.total += 1;
            self.bytes += text.len();
            if self.shapes.len() < FEATURES && self.bytes <= BYTES {
                let text = String::from_utf8_lossy(text).into_owned();
                self.shapes.extend(RawValue::from_string(text).ok());
            }
        }
        self.current.clear();
    }
}

impl Write for FirstFeatures {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        for (number, piece) in part.split(|byte| *byte == RECORD_SEPARATOR).enumerate() {
            if number > 0 {
                self.end_feature();
            }
            budget::charge(piece.len() as u64);
            self.current.extend_from_slice(piece);
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
