//! Writing answers: a file a format. Each streams; none holds the answer in memory.
//!
//! Everything here is layout: what is written of an element has been decided by the caller, who fills an [`OutputItem`]. It
//! knows nothing of the store, of sets or of evaluators.

mod buffer;
mod bytes;
mod collect;
mod csv;
mod custom;
mod geojson;
mod html;
mod item;
mod json;
mod popup;
mod recording;
#[cfg(test)]
mod tests;
mod xml;

pub use buffer::Buffer;
pub use collect::Collect;
pub use custom::{MOVED_HEAD, PAGE_HEAD};
pub use geojson::Layout;
pub use item::{Counts, MemberGeometry, MemberItem, Meta, OutputItem, Tags};
pub use recording::{Cursor, Entry, Recording, RecordingScratch};

use std::fmt;
use std::io::{self, Write};

use super::syntax::OutputFormat;
use super::{Class, Code, Diagnostic, Failure};
use terrapin_osm::BoundingBox;

/// The licence line of every answer.
const COPYRIGHT: &str =
    "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL.";

/// What stands at the head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The time of the data, seconds since 1970.
    pub data_time: i64,
    /// The time of the areas where the query uses areas, seconds since 1970.
    pub areas_time: Option<i64>,
    /// The query's own box.
    pub bounds: Option<BoundingBox>,
}

/// What a format has room for: the rest need not be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// Tags.
    pub tags: bool,
    /// The nodes of ways and the members of relations.
    pub parts: bool,
    /// Version, timestamp, changeset and user.
    pub meta: bool,
    /// The id even where the query leaves it out.
    pub every_id: bool,
}

impl Projection {
    /// Everything.
    pub const ALL: Projection = Projection { tags: true, parts: true, meta: true, every_id: false };
}

/// Prints one element.
pub type PrintElement = dyn Fn(&mut Buffer<'_>, &OutputItem<'_>) + Send + Sync;

/// How a format prints elements: those of a large answer are printed on all cores and then handed to
/// [`Answer::rendered`] in order.
pub struct Renderer {
    /// Prints one element.
    pub element: Box<PrintElement>,
    /// What stands between elements.
    pub between: &'static str,
}

/// What stands around elements in the answer to a query with two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Action {
    /// What follows was done: `create`, `modify`, `delete`; `show_initial` and `show_final` in the block of a `compare`.
    Begin(&'static str),
    End,
    Old,
    EndOld,
    New,
    EndNew,
}

/// Where `out` writes. Nothing reaches the underlying writer before the first element, count or the end.
///
/// An `Err` says that the answer cannot be written any more: its reader has gone.
pub trait Answer {
    /// What the format has room for.
    fn projection(&self) -> Projection {
        Projection::ALL
    }
    /// Writes one element.
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()>;
    /// The format's renderer, where it prints elements at all.
    fn renderer(&self) -> Option<Renderer> {
        None
    }
    /// Writes some elements that the format's renderer printed, with what stands between them.
    fn rendered(&mut self, _bytes: &[u8], _elements: u64) -> io::Result<()> {
        Err(io::Error::other("this format prints no elements"))
    }
    /// Writes what stands around elements in the answer to a query with two moments.
    fn action(&mut self, _action: Action) -> io::Result<()> {
        Err(io::Error::other("this format has no actions"))
    }
    /// Writes the answer of `out count`.
    fn count(&mut self, counts: &Counts) -> io::Result<()>;
    /// Writes what had to wait for the last element; called once, within the query's bounds.
    fn complete(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Notes that the query was stopped; at most once, after the last element.
    fn remark(&mut self, text: &str) -> io::Result<()>;
    /// Writes what is left. Nothing may follow.
    fn finish(&mut self) -> io::Result<()>;
    /// How many elements and counts, or features, were written.
    fn written(&self) -> u64;
    /// The answer's media type.
    fn content_type(&self) -> &'static str;
    /// Whether bytes have gone to the underlying writer, so that an error can only be a remark.
    fn started(&self) -> bool;
}

/// Tells of the items of Wikidata that elements are linked with, which nothing here knows.
pub trait Items: fmt::Debug {
    /// Appends what the items are that the value of a tag `wikidata` names, as an object of JSON; else appends nothing and
    /// gives `false`.
    fn put_item(&self, tag: &str, out: &mut Vec<u8>) -> bool;
}

/// How an answer is written.
#[derive(Debug, Clone, Copy)]
pub enum Form<'a> {
    /// As the query asks for it.
    Asked(&'a OutputFormat),
    /// As GeoJSON, whatever the query asks for.
    GeoJson(Layout),
    /// As GeoJSON whose features tell of the items that they are linked with.
    WithItems(Layout, &'a dyn Items),
}

impl Form<'_> {
    /// The media type of answers in this form.
    pub fn content_type(self) -> &'static str {
        match self {
            Form::Asked(OutputFormat::Xml) => "application/osm3s+xml",
            Form::Asked(OutputFormat::Json) => "application/json",
            Form::Asked(OutputFormat::Csv(_)) => csv::CONTENT_TYPE,
            Form::Asked(OutputFormat::Custom | OutputFormat::Popup(_)) => html::CONTENT_TYPE,
            Form::GeoJson(layout) | Form::WithItems(layout, _) => geojson::content_type(layout),
        }
    }
}

/// The answer in this form. Formats that are not there yet are an `unsupported` error.
pub fn answer<'a>(form: Form<'a>, header: Header, out: &'a mut dyn Write) -> Result<Box<dyn Answer + 'a>, Failure> {
    Ok(match form {
        Form::Asked(OutputFormat::Xml) => Box::new(xml::Xml::new(header, out)),
        Form::Asked(OutputFormat::Json) => Box::new(json::Json::new(header, out)),
        Form::Asked(OutputFormat::Csv(settings)) => Box::new(csv::Csv::new(settings.clone(), out)),
        Form::Asked(OutputFormat::Custom) => Box::new(custom::Custom::new(header, out)),
        Form::Asked(OutputFormat::Popup(blocks)) => Box::new(popup::Popup::new(blocks, out)),
        Form::GeoJson(layout) => Box::new(geojson::GeoJson::new(layout, None, header, out)),
        Form::WithItems(layout, items) => Box::new(geojson::GeoJson::new(layout, Some(items), header, out)),
    })
}

/// The error for an answer whose reader has gone.
pub fn disconnected(error: io::Error) -> Failure {
    Diagnostic {
        class: Class::Runtime,
        code: Code::ClientGone,
        line: 0,
        span: None,
        message: format!("The answer could not be written: {error}"),
        help: None,
    }
    .into()
}
