//! Parses documents: the structure of tags, and the meaning of their attributes.

use super::meter::Meter;
use super::value;
use crate::chunk::{Chunk, ChunkRecord, ChunkSpan};
use crate::element::{
    MAX_MEMBERS, MAX_TAGS, MAX_WAY_NODES, NO_COORDINATE, SourceElementType, SourceHeader, SourceMeta,
};
use crate::error::{LoaderError, XmlProblem};
use crate::limits::MAX_ELEMENT;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesDecl, BytesStart, Event};
use std::borrow::Cow;
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// Maximum nesting depth; far more than the format has.
const MAX_DEPTH: usize = 64;

/// The parser's position in the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum XmlParserState {
    BeforeRoot,
    InRoot,
    /// In `<create>`, `<modify>` or `<delete>`.
    InSection,
    InElement,
    AfterRoot,
}

/// Tags that are not part of the format, including their content.
struct Unknown {
    count: u64,
    /// Name and line of the first one.
    first: (String, u64),
}

/// Known tags on the level of the elements that contain no elements.
const BESIDE: [&str; 8] = ["bounds", "bound", "note", "meta", "changeset", "user", "remark", "gpx_file"];

/// Known tags within elements that servers of Overpass API add to the format.
const WITHIN: [&str; 2] = ["bounds", "center"];

/// A parser that reads a document sequentially.
pub(crate) struct XmlParser<R> {
    reader: quick_xml::Reader<Meter<R>>,
    buffer: Vec<u8>,
    file: Arc<Path>,
    /// Whether the document is an osmChange document.
    changes: bool,
    /// Whether the current block is `<delete>`.
    deleted: bool,
    /// Whether the current block is `<create>`.
    created: bool,
    header: SourceHeader,
    /// Tags that are not part of the format.
    unknown: Option<Unknown>,
    state: XmlParserState,
    /// Depth within a skipped tag, counting that tag; 0 outside.
    skipped: usize,
    current: Option<ChunkRecord>,
    chunk: Chunk,
    /// The chunk's size before the current element.
    size_before: usize,
    /// Numbers of tags and of nodes or members of the current element so far.
    parts: [usize; 2],
}

impl<R: BufRead> XmlParser<R> {
    /// Creates a parser for a document with elements.
    pub(crate) fn new(reader: R, file: Arc<Path>) -> Self {
        let mut reader = quick_xml::Reader::from_reader(Meter::new(reader));
        reader.config_mut().check_end_names = true;
        Self {
            reader,
            buffer: Vec::new(),
            file,
            changes: false,
            deleted: false,
            created: false,
            header: SourceHeader::default(),
            unknown: None,
            state: XmlParserState::BeforeRoot,
            skipped: 0,
            current: None,
            chunk: Chunk::default(),
            size_before: 0,
            parts: [0; 2],
        }
    }

    /// Creates a parser for a document with changes.
    pub(crate) fn of_changes(reader: R, file: Arc<Path>) -> Self {
        Self { changes: true, ..Self::new(reader, file) }
    }

    /// Returns the name of the root tag.
    fn root_name(&self) -> &'static str {
        if self.changes { "osmChange" } else { "osm" }
    }

    /// Returns the header as read so far.
    pub(crate) fn header(&self) -> &SourceHeader {
        &self.header
    }

    /// Counts a tag that is not part of the format.
    fn note_unknown(&mut self, name: &str, line: u64) {
        match &mut self.unknown {
            Some(unknown) => unknown.count += 1,
            None => self.unknown = Some(Unknown { count: 1, first: (cut(name), line) }),
        }
    }

    /// Returns the header after the whole document has been read.
    pub(crate) fn into_header(mut self) -> SourceHeader {
        if let Some(Unknown { count, first: (name, line) }) = self.unknown {
            let warning = match count {
                1 => format!("1 tag that is no part of the format left out: <{name}> in line {line}"),
                _ => format!("{count} tags that are no part of the format left out, the first <{name}> in line {line}"),
            };
            self.header.warnings.push(warning);
        }
        self.header
    }

    /// Reads until the first element begins.
    pub(crate) fn head(&mut self) -> Result<(), LoaderError> {
        while self.current.is_none() && self.step()? {}
        Ok(())
    }

    /// Returns the next elements, or `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Result<Chunk, LoaderError>> {
        loop {
            if self.chunk.is_full() && self.current.is_none() {
                break;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Some(Err(error)),
            }
        }
        let chunk = std::mem::take(&mut self.chunk);
        (!chunk.is_empty()).then_some(Ok(chunk))
    }

    /// Reads one tag or text. Returns false at the end of the document.
    fn step(&mut self) -> Result<bool, LoaderError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        let meter = self.reader.get_mut();
        meter.renew();
        let (offset, line) = (meter.bytes, meter.lines + 1);
        let result = match self.reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) if self.state == XmlParserState::AfterRoot => Ok(false),
            Ok(Event::Eof) => Err(XmlProblem::Ends(self.root_name())),
            Ok(Event::Start(tag)) => self.start(&tag, line).map(|()| true),
            Ok(Event::Empty(tag)) => self.start(&tag, line).map(|()| self.end()).map(|()| true),
            Ok(Event::End(_)) => {
                self.end();
                Ok(true)
            }
            Ok(Event::Decl(declaration)) => encoding(&declaration).map(|()| true),
            Ok(_) => Ok(true),
            Err(error) => Err(error.into()),
        };
        self.buffer = buffer;
        result.map_err(|problem| LoaderError::Xml { file: self.file.to_path_buf(), line, offset, problem })
    }

    fn start(&mut self, tag: &BytesStart<'_>, line: u64) -> Result<(), XmlProblem> {
        if self.skipped > 0 {
            self.skipped += 1;
            return if self.skipped < MAX_DEPTH { Ok(()) } else { Err(XmlProblem::Depth) };
        }
        let name = tag.name().into_inner();
        match self.state {
            XmlParserState::BeforeRoot => {
                self.root(name, tag)?;
                self.state = XmlParserState::InRoot;
            }
            XmlParserState::InRoot | XmlParserState::InSection => match name {
                "node" | "way" | "relation" if self.changes && self.state == XmlParserState::InRoot => {
                    return Err(XmlProblem::NoSection);
                }
                "node" => self.element(SourceElementType::Node, tag)?,
                "way" => self.element(SourceElementType::Way, tag)?,
                "relation" => self.element(SourceElementType::Relation, tag)?,
                "create" | "modify" | "delete" if !self.changes => return Err(XmlProblem::Changes),
                "create" | "modify" | "delete" if self.state == XmlParserState::InRoot => {
                    self.deleted = name == "delete";
                    self.created = name == "create";
                    self.state = XmlParserState::InSection;
                }
                "create" | "modify" | "delete" => return Err(XmlProblem::Depth),
                // An error, because elements in an unknown block would silently have no effect.
                _ if self.state == XmlParserState::InSection || self.changes && !BESIDE.contains(&name) => {
                    return Err(XmlProblem::Section(cut(name)));
                }
                "action" => return Err(XmlProblem::Diff),
                _ => {
                    self.about(name, tag)?;
                    if name == "remark" {
                        if self.header.warnings.is_empty() {
                            self.header.warnings.push(REMARK.to_owned());
                        }
                    } else if !BESIDE.contains(&name) {
                        self.note_unknown(name, line);
                    }
                    self.skipped = 1;
                }
            },
            XmlParserState::InElement => {
                self.part(name, tag, line)?;
                self.skipped = 1;
            }
            XmlParserState::AfterRoot => return Err(XmlProblem::Behind(self.root_name())),
        }
        Ok(())
    }

    fn end(&mut self) {
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if let Some(record) = self.current.take() {
            self.chunk.push(record);
            self.state = if self.changes { XmlParserState::InSection } else { XmlParserState::InRoot };
        } else {
            self.state = if self.state == XmlParserState::InSection {
                XmlParserState::InRoot
            } else {
                XmlParserState::AfterRoot
            };
        }
    }

    fn root(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        match name {
            _ if name == self.root_name() => {}
            "osmChange" => return Err(XmlProblem::Changes),
            _ if self.changes => return Err(XmlProblem::NoChanges(cut(name))),
            _ => return Err(XmlProblem::Root(cut(name))),
        }
        for attribute in attributes(tag) {
            let (key, value) = attribute?;
            match key {
                "version" if value != "0.6" => return Err(XmlProblem::Version(value.into_owned())),
                "generator" => self.header.writing_program = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads metadata of the file from a tag on the level of the elements. Bounding boxes are informative only, so an
    /// invalid one is ignored.
    fn about(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        let mut sides = [None; 4];
        for attribute in attributes(tag) {
            let (key, value) = attribute?;
            let side = match (name, key) {
                ("bounds", "minlat") => 0,
                ("bounds", "minlon") => 1,
                ("bounds", "maxlat") => 2,
                ("bounds", "maxlon") => 3,
                ("bound", "box") => {
                    for (side, (slot, text)) in sides.iter_mut().zip(value.split(',')).enumerate() {
                        *slot = value::coordinate(text.trim(), LIMITS[side % 2]);
                    }
                    continue;
                }
                ("meta", "osm_base") => {
                    self.header.replication_timestamp = value::timestamp(&value);
                    continue;
                }
                _ => continue,
            };
            sides[side] = value::coordinate(&value, LIMITS[side % 2]);
        }
        if let [Some(south), Some(west), Some(north), Some(east)] = sides {
            let [s, w, n, e] = self.header.bbox.unwrap_or([south, west, north, east]);
            self.header.bbox = Some([s.min(south), w.min(west), n.max(north), e.max(east)]);
        }
        Ok(())
    }

    fn element(&mut self, kind: SourceElementType, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        let (mut id, mut lat, mut lon) = (None, None, None);
        let mut meta = SourceMeta { version: 0, timestamp: 0, changeset: 0, uid: 0, user: "", visible: !self.deleted };
        let mut user = ChunkSpan::default();
        let (mut known, mut versioned) = (false, false);
        self.size_before = self.chunk.size();
        self.parts = [0; 2];
        for attribute in attributes(tag) {
            let (key, value) = attribute?;
            let bad = || XmlProblem::value(key, &value);
            match key {
                "id" => id = Some(value.parse().map_err(|_| bad())?),
                "lat" if kind == SourceElementType::Node => lat = Some(latitude(&value)?),
                "lon" if kind == SourceElementType::Node => lon = Some(longitude(&value)?),
                _ => {
                    let whole = || value.parse::<i64>().map_err(|_| bad());
                    match key {
                        "version" => {
                            meta.version = u32::try_from(whole()?.max(0)).map_err(|_| bad())?;
                            versioned = true;
                        }
                        "timestamp" => meta.timestamp = value::timestamp(&value).ok_or_else(bad)?,
                        "changeset" => meta.changeset = whole()?,
                        "uid" => meta.uid = whole()?.max(0),
                        "user" => user = self.chunk.span(&value),
                        "visible" if value == "true" => meta.visible = true,
                        "visible" if value == "false" => meta.visible = false,
                        "visible" => return Err(bad()),
                        _ => continue,
                    }
                    known = true;
                }
            }
        }
        let id = id.ok_or(XmlProblem::Missing("id"))?;
        // The version determines which of two changes is newer. Editors write version 0 for elements that they create.
        match (versioned, meta.version) {
            (false, _) if self.changes => return Err(XmlProblem::Missing("version")),
            (true, 0) if self.changes && !self.created => return Err(XmlProblem::Unversioned),
            _ => {}
        }
        self.header.history |= !meta.visible;
        let (lat, lon) = match (kind, lat, lon) {
            (SourceElementType::Node, Some(lat), Some(lon)) => (lat, lon),
            (SourceElementType::Node, None, Some(_)) if meta.visible => return Err(XmlProblem::Missing("lat")),
            (SourceElementType::Node, Some(_), None) if meta.visible => return Err(XmlProblem::Missing("lon")),
            // In a change, a visible node without a position is an error: its newest version would be incomplete.
            (SourceElementType::Node, None, None) if meta.visible && self.changes => {
                return Err(XmlProblem::Missing("lat"));
            }
            _ => (NO_COORDINATE, NO_COORDINATE),
        };
        let meta = known.then_some(meta);
        self.current = Some(ChunkRecord { kind, id, lat, lon, located: false, meta, user, tags_end: 0, items_end: 0 });
        self.state = XmlParserState::InElement;
        Ok(())
    }

    /// Reads a child: a tag, a node of a way or a member of a relation.
    fn part(&mut self, name: &str, tag: &BytesStart<'_>, line: u64) -> Result<(), XmlProblem> {
        let Some(record) = &self.current else { return Ok(()) };
        let (list, most, what) = match (name, record.kind) {
            ("nd", SourceElementType::Way) => (1, MAX_WAY_NODES, "nodes"),
            ("member", SourceElementType::Relation) => (1, MAX_MEMBERS, "members"),
            ("tag", _) => (0, MAX_TAGS, "tags"),
            // Skipping them would change the element.
            ("nd", kind) => return Err(XmlProblem::Misplaced { tag: "nd", element: name_of(kind) }),
            ("member", kind) => return Err(XmlProblem::Misplaced { tag: "member", element: name_of(kind) }),
            _ => {
                if !WITHIN.contains(&name) {
                    self.note_unknown(name, line);
                }
                return Ok(());
            }
        };
        if self.parts[list] == most {
            return Err(XmlProblem::TooMany { what, most });
        }
        self.parts[list] += 1;
        match name {
            "tag" => self.tag(tag)?,
            "nd" => self.node_ref(tag)?,
            _ => self.member(tag)?,
        }
        if self.chunk.size() - self.size_before > MAX_ELEMENT {
            return Err(XmlProblem::Size);
        }
        Ok(())
    }

    fn tag(&mut self, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        let (mut k, mut v) = (None, None);
        for attribute in attributes(tag) {
            match attribute? {
                ("k", value) => k = Some(value),
                ("v", value) => v = Some(value),
                _ => {}
            }
        }
        self.chunk.tag(&k.ok_or(XmlProblem::Missing("k"))?, &v.ok_or(XmlProblem::Missing("v"))?);
        Ok(())
    }

    /// Reads a node of a way, with its location if there is one.
    fn node_ref(&mut self, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        let (mut id, mut lat, mut lon) = (None, None, None);
        for attribute in attributes(tag) {
            match attribute? {
                ("ref", value) => id = Some(value.parse().map_err(|_| XmlProblem::value("ref", &value))?),
                ("lat", value) => lat = Some(latitude(&value)?),
                ("lon", value) => lon = Some(longitude(&value)?),
                _ => {}
            }
        }
        let location = lat.zip(lon);
        if let Some(record) = &mut self.current {
            record.located |= location.is_some();
        }
        let location = location.unwrap_or((NO_COORDINATE, NO_COORDINATE));
        self.chunk.node_ref(id.ok_or(XmlProblem::Missing("ref"))?, location);
        Ok(())
    }

    /// Reads a member of a relation.
    fn member(&mut self, tag: &BytesStart<'_>) -> Result<(), XmlProblem> {
        let (mut kind, mut id, mut role) = (None, None, Cow::Borrowed(""));
        for attribute in attributes(tag) {
            match attribute? {
                ("type", value) => {
                    kind = Some(match value.as_ref() {
                        "node" => SourceElementType::Node,
                        "way" => SourceElementType::Way,
                        "relation" => SourceElementType::Relation,
                        _ => return Err(XmlProblem::value("type", &value)),
                    });
                }
                ("ref", value) => id = Some(value.parse().map_err(|_| XmlProblem::value("ref", &value))?),
                ("role", value) => role = value,
                _ => {}
            }
        }
        let (kind, id) = (kind.ok_or(XmlProblem::Missing("type"))?, id.ok_or(XmlProblem::Missing("ref"))?);
        self.chunk.member(kind, id, &role);
        Ok(())
    }
}

/// The warning for a document that a server of Overpass API may not have completed.
const REMARK: &str = "the document has a <remark>, which Overpass API servers write when a query is aborted: \
                      elements may be missing";

/// Returns the first 40 characters of a name for error messages, without control characters that a terminal would
/// interpret.
fn cut(name: &str) -> String {
    name.chars().take(40).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn name_of(kind: SourceElementType) -> &'static str {
    match kind {
        SourceElementType::Node => "node",
        SourceElementType::Way => "way",
        SourceElementType::Relation => "relation",
    }
}

/// The highest latitude and longitude in 1e-7 degrees.
const LIMITS: [i32; 2] = [900_000_000, 1_800_000_000];

fn latitude(text: &str) -> Result<i32, XmlProblem> {
    value::coordinate(text, LIMITS[0]).ok_or_else(|| XmlProblem::value("lat", text))
}

fn longitude(text: &str) -> Result<i32, XmlProblem> {
    value::coordinate(text, LIMITS[1]).ok_or_else(|| XmlProblem::value("lon", text))
}

/// Iterates over names and unescaped values.
fn attributes<'t>(tag: &'t BytesStart<'_>) -> impl Iterator<Item = Result<(&'t str, Cow<'t, str>), XmlProblem>> {
    let mut attributes = tag.attributes();
    // The check for duplicates takes quadratic time in the number of attributes, which the input controls.
    attributes.with_checks(false);
    attributes.map(|attribute| {
        let attribute = attribute.map_err(|error| XmlProblem::Syntax(error.to_string()))?;
        Ok((attribute.key.into_inner(), attribute.normalized_value(XmlVersion::Implicit1_0)?))
    })
}

fn encoding(declaration: &BytesDecl<'_>) -> Result<(), XmlProblem> {
    match declaration.encoding() {
        None => Ok(()),
        Some(Ok(name)) if name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("us-ascii") => Ok(()),
        Some(Ok(name)) => Err(XmlProblem::Encoding(name.into_owned())),
        Some(Err(error)) => Err(XmlProblem::Syntax(error.to_string())),
    }
}
