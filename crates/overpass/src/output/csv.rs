//! Writes `[out:csv(...)]`: one line per element, one column per field.

use std::io::{self, Write};

use super::buffer::Buffer;
use super::{AnswerWriter, OutCounts, OutputItem, Projection, Renderer};
use crate::set::DegreePosition;
use crate::syntax::{CsvField, CsvSettings};
use terrapin_osm::Coord;

/// The media type. Without the charset, clients take text for ISO 8859-1 (RFC 2616, section 3.7.1).
pub(super) const CONTENT_TYPE: &str = "text/csv; charset=utf-8";

/// An answer in CSV.
pub(super) struct Csv<'a> {
    buffer: Buffer<'a>,
    settings: CsvSettings,
    columns: Vec<CsvColumn>,
    written: u64,
}

impl<'a> Csv<'a> {
    pub(super) fn new(settings: CsvSettings, out: &'a mut dyn Write) -> Self {
        let columns = settings.fields.iter().map(CsvColumn::of).collect();
        let mut csv = Csv { buffer: Buffer::new(out), settings, columns, written: 0 };
        if csv.settings.header {
            csv.line(|b, field| match field {
                CsvField::Tag(key) => quoted(b, key),
                CsvField::Special(name) => {
                    b.text("@");
                    b.text(name);
                }
            });
        }
        csv
    }

    fn line(&mut self, write: impl FnMut(&mut Buffer<'_>, &CsvField)) {
        line(&mut self.buffer, &self.settings, write);
    }
}

/// Writes one line, each column with `write`.
fn line(b: &mut Buffer<'_>, settings: &CsvSettings, mut write: impl FnMut(&mut Buffer<'_>, &CsvField)) {
    for (i, field) in settings.fields.iter().enumerate() {
        if i > 0 {
            b.text(&settings.separator);
        }
        write(b, field);
    }
    b.text("\n");
}

/// The field of an element in a column.
#[derive(Debug, Clone)]
enum CsvColumn {
    Tag(String),
    Id,
    Type,
    TypeNumber,
    Latitude,
    Longitude,
    Version,
    Timestamp,
    Changeset,
    Uid,
    User,
    Nothing,
}

impl CsvColumn {
    fn of(field: &CsvField) -> CsvColumn {
        match field {
            CsvField::Tag(key) => CsvColumn::Tag(key.clone()),
            CsvField::Special(name) => match name.as_str() {
                "id" => CsvColumn::Id,
                "type" => CsvColumn::Type,
                "otype" => CsvColumn::TypeNumber,
                "lat" => CsvColumn::Latitude,
                "lon" => CsvColumn::Longitude,
                "version" => CsvColumn::Version,
                "timestamp" => CsvColumn::Timestamp,
                "changeset" => CsvColumn::Changeset,
                "uid" => CsvColumn::Uid,
                "user" => CsvColumn::User,
                _ => CsvColumn::Nothing,
            },
        }
    }

    fn is_meta(&self) -> bool {
        use CsvColumn::{Changeset, Timestamp, Uid, User, Version};
        matches!(self, Version | Timestamp | Changeset | Uid | User)
    }

    fn write(&self, b: &mut Buffer<'_>, item: &OutputItem<'_>, place: &ElementPosition) {
        match self {
            CsvColumn::Tag(key) => {
                if let Some(value) = item.tags.and_then(|tags| tags.get(key)) {
                    quoted(b, value);
                }
            }
            CsvColumn::Id => {
                if let Some(id) = item.id {
                    b.id(item, id);
                }
            }
            CsvColumn::Type => b.text(item.type_name),
            CsvColumn::TypeNumber => b.text(match item.type_name {
                "node" => "1",
                "way" => "2",
                "relation" => "3",
                _ => "4",
            }),
            CsvColumn::Latitude => place.write(b, false),
            CsvColumn::Longitude => place.write(b, true),
            column => {
                let Some(meta) = &item.meta else { return };
                match column {
                    CsvColumn::Version => b.unsigned(u64::from(meta.version)),
                    CsvColumn::Timestamp => b.version_time(meta.timestamp),
                    CsvColumn::Changeset => b.integer(meta.changeset),
                    CsvColumn::Uid => b.integer(meta.uid),
                    CsvColumn::User => quoted(b, meta.user),
                    _ => {}
                }
            }
        }
    }
}

/// Writes one element.
fn render(b: &mut Buffer<'_>, columns: &[CsvColumn], separator: &str, item: &OutputItem<'_>) {
    let place = ElementPosition::of(item);
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            b.text(separator);
        }
        column.write(b, item, &place);
    }
    b.text("\n");
}

impl AnswerWriter for Csv<'_> {
    fn projection(&self) -> Projection {
        Projection {
            tags: self.columns.iter().any(|column| matches!(column, CsvColumn::Tag(_))),
            parts: false,
            meta: self.columns.iter().any(CsvColumn::is_meta),
            every_id: false,
        }
    }

    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.written += 1;
        render(&mut self.buffer, &self.columns, &self.settings.separator, item);
        self.buffer.settle()
    }

    fn renderer(&self) -> Option<Renderer> {
        let (columns, separator) = (self.columns.clone(), self.settings.separator.clone());
        let element = Box::new(move |b: &mut Buffer<'_>, item: &OutputItem<'_>| render(b, &columns, &separator, item));
        Some(Renderer { element, between: "" })
    }

    fn rendered(&mut self, bytes: &[u8], elements: u64) -> io::Result<()> {
        self.written += elements;
        self.buffer.pass(bytes)
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.written += 1;
        self.line(|b, field| {
            let CsvField::Special(name) = field else { return };
            match name.as_str() {
                "id" if counts.with_id => b.text("0"),
                "type" => b.text("count"),
                "otype" => b.text("4"),
                "count" => b.unsigned(counts.total()),
                "count:nodes" => b.unsigned(counts.nodes),
                "count:ways" => b.unsigned(counts.ways),
                "count:relations" => b.unsigned(counts.relations),
                "count:areas" => b.unsigned(counts.areas.unwrap_or_default()),
                _ => {}
            }
        });
        self.buffer.settle()
    }

    /// Ignores the remark: the format has no place for it.
    fn remark(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.buffer.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        CONTENT_TYPE
    }

    fn started(&self) -> bool {
        self.buffer.started()
    }
}

/// The point that represents an element, depending on its geometry.
enum ElementPosition {
    None,
    Exact(Coord),
    Computed(DegreePosition),
}

impl ElementPosition {
    fn of(item: &OutputItem<'_>) -> ElementPosition {
        if let Some(c) = item.position {
            ElementPosition::Exact(c)
        } else if let Some(p) = item.center.or(item.label) {
            ElementPosition::Computed(p)
        } else {
            ElementPosition::None
        }
    }

    fn write(&self, b: &mut Buffer<'_>, longitude: bool) {
        match *self {
            ElementPosition::None => {}
            ElementPosition::Exact(c) => b.degrees(if longitude { c.lon } else { c.lat }),
            ElementPosition::Computed(p) => b.float(if longitude { p.lon } else { p.lat }),
        }
    }
}

/// Writes a text, quoted if it contains a comma, a quotation mark or a line break, regardless of the separator.
fn quoted(b: &mut Buffer<'_>, text: &str) {
    if !text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n')) {
        return b.text(text);
    }
    b.text("\"");
    for byte in text.bytes() {
        if byte == b'"' {
            b.text("\"");
        }
        b.bytes.push(byte);
    }
    b.text("\"");
}
