//! Writes answers, one module per format. Each format streams; none keeps the whole answer in memory.
//!
//! Formats only decide the layout. The caller chooses the parts of an element to print and fills an [`OutputItem`].
//! This module does not use the store, sets or evaluators.

mod buffer;
mod bytes;
mod csv;
mod custom;
mod geojson;
mod html;
mod item;
mod json;
mod popup;
mod recording;
mod sink;
#[cfg(test)]
mod tests;
mod value;
mod xml;

pub use buffer::Buffer;
pub use custom::{MOVED_HEAD, PAGE_HEAD};
pub(crate) use geojson::MapFeatureWriter;
pub use geojson::{GeoJsonLayout, MapFeature, MapFeatureSink};
pub use item::{ItemTags, MemberGeometry, MemberItem, OutCounts, OutputItem, OutputMeta};
pub use recording::{Recording, RecordingCursor, RecordingEntry, RecordingScratch};
pub use sink::ElementSink;
pub(crate) use sink::SinkWriter;

use std::fmt;
use std::io::{self, Write};

use super::syntax::OutputFormat;
use super::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure};
use terrapin_osm::BoundingBox;

/// The licence line of every answer.
const COPYRIGHT: &str =
    "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL.";

/// The metadata at the head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputHeader {
    /// The time of the data, seconds since 1970.
    pub data_time: i64,
    /// The time of the areas, in seconds since 1970, if the query uses areas.
    pub areas_time: Option<i64>,
    /// The global bounding box of the query.
    pub bounds: Option<BoundingBox>,
}

/// The parts of an element that a format prints. Other parts need not be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// Tags.
    pub tags: bool,
    /// The nodes of ways and the members of relations.
    pub parts: bool,
    /// Version, timestamp, changeset and user.
    pub meta: bool,
    /// The id, even if the query leaves it out.
    pub every_id: bool,
}

impl Projection {
    /// All parts.
    pub const ALL: Projection = Projection { tags: true, parts: true, meta: true, every_id: false };
}

/// Prints one element.
pub type PrintElement = dyn Fn(&mut Buffer<'_>, &OutputItem<'_>) + Send + Sync;

/// The way a format prints elements. The elements of a large answer are printed on all cores and then passed to
/// [`AnswerWriter::rendered`] in order.
pub struct Renderer {
    /// Prints one element.
    pub element: Box<PrintElement>,
    /// The separator between elements.
    pub between: &'static str,
}

/// A marker around elements in the answer to a query with two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DiffAction {
    /// The action on the elements that follow: `create`, `modify`, `delete`; in the block of a `compare`,
    /// `show_initial` and `show_final`.
    Begin(&'static str),
    End,
    Old,
    EndOld,
    New,
    EndNew,
}

/// The writer of an answer, used by `out`. Passes no bytes to the underlying writer before the first element, the first
/// count or the end.
///
/// An `Err` means that the answer cannot be written any more because the client has disconnected.
pub trait AnswerWriter {
    /// Returns the parts of elements that the format prints.
    fn projection(&self) -> Projection {
        Projection::ALL
    }
    /// Writes one element.
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()>;
    /// Returns the format's renderer; `None` if elements cannot be printed one by one.
    fn renderer(&self) -> Option<Renderer> {
        None
    }
    /// Writes elements that the format's renderer printed, including the separators between them.
    fn rendered(&mut self, _bytes: &[u8], _elements: u64) -> io::Result<()> {
        Err(io::Error::other("this format prints no elements"))
    }
    /// Writes a marker around elements in the answer to a query with two moments.
    fn action(&mut self, _action: DiffAction) -> io::Result<()> {
        Err(io::Error::other("this format has no actions"))
    }
    /// Writes the answer of `out count`.
    fn count(&mut self, counts: &OutCounts) -> io::Result<()>;
    /// Writes the parts that depend on all elements. Called once, while the query's limits still apply.
    fn complete(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Adds a remark that the query was stopped. Called at most once, after the last element.
    fn remark(&mut self, text: &str) -> io::Result<()>;
    /// Writes the rest of the answer. No other call may follow.
    fn finish(&mut self) -> io::Result<()>;
    /// Returns the number of elements and counts, or of features, written so far.
    fn written(&self) -> u64;
    /// Returns the answer's media type.
    fn content_type(&self) -> &'static str;
    /// Returns whether bytes have reached the underlying writer. If so, an error can only be reported as a remark.
    fn started(&self) -> bool;
}

/// A source of descriptions of the Wikidata items that elements link to.
pub trait ItemSource: fmt::Debug {
    /// Appends a JSON object that describes the item named by the value of a `wikidata` tag. If the item is unknown,
    /// appends no bytes and returns `false`.
    fn put_item(&self, tag: &str, out: &mut Vec<u8>) -> bool;
}

/// The output format of an answer.
#[derive(Debug, Clone, Copy)]
pub enum AnswerFormat<'a> {
    /// The format that the query sets.
    Asked(&'a OutputFormat),
    /// GeoJSON, regardless of the query's format.
    GeoJson(GeoJsonLayout),
    /// GeoJSON, in which features describe their linked Wikidata items.
    WithItems(GeoJsonLayout, &'a dyn ItemSource),
}

impl AnswerFormat<'_> {
    /// Returns the media type of answers in this form.
    pub fn content_type(self) -> &'static str {
        match self {
            AnswerFormat::Asked(OutputFormat::Xml) => "application/osm3s+xml",
            AnswerFormat::Asked(OutputFormat::Json) => "application/json",
            AnswerFormat::Asked(OutputFormat::Csv(_)) => csv::CONTENT_TYPE,
            AnswerFormat::Asked(OutputFormat::Custom | OutputFormat::Popup(_)) => html::CONTENT_TYPE,
            AnswerFormat::GeoJson(layout) | AnswerFormat::WithItems(layout, _) => geojson::content_type(layout),
        }
    }
}

/// Returns a writer of answers in this form.
pub fn answer<'a>(
    form: AnswerFormat<'a>,
    header: OutputHeader,
    out: &'a mut dyn Write,
) -> Result<Box<dyn AnswerWriter + 'a>, OverpassFailure> {
    Ok(match form {
        AnswerFormat::Asked(OutputFormat::Xml) => Box::new(xml::Xml::new(header, out)),
        AnswerFormat::Asked(OutputFormat::Json) => Box::new(json::JsonAnswerWriter::new(header, out)),
        AnswerFormat::Asked(OutputFormat::Csv(settings)) => Box::new(csv::Csv::new(settings.clone(), out)),
        AnswerFormat::Asked(OutputFormat::Custom) => Box::new(custom::Custom::new(header, out)),
        AnswerFormat::Asked(OutputFormat::Popup(blocks)) => Box::new(popup::Popup::new(blocks, out)),
        AnswerFormat::GeoJson(layout) => Box::new(geojson::GeoJson::new(layout, None, header, out)),
        AnswerFormat::WithItems(layout, items) => Box::new(geojson::GeoJson::new(layout, Some(items), header, out)),
    })
}

/// Returns the error for an answer to a disconnected client.
pub fn disconnected(error: io::Error) -> OverpassFailure {
    let message = format!("The answer could not be written: {error}");
    OverpassDiagnostic::new(DiagnosticClass::Runtime, OverpassCode::ClientGone, message).into()
}
