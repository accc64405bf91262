//! Writes all versions of all elements to sections of their own: sorted by id and version, in compressed pages of
//! columns.
//!
//! Tags, users and roles refer to the snapshot's tables; nodes of ways and members are ids. The pages of the current
//! state do not refer to versions.

use rayon::prelude::*;
use terrapin_base::codec::{self, ByteReader, put_delta};
use terrapin_base::external_sort::{SortRows, Sorted, Sorter, SpillScratch};
use terrapin_budget as budget;
use terrapin_snapshot::{PageWriter, SnapshotWriter};

use super::pages::compressed;
use super::payload::{RawMember, get_members, get_tags, is_whole, put_members, put_tags};
use super::records::{Bare, ElementRecord};
use super::tables::{Roles, UserTable};
use super::{ElementBuildError, hilbert};
use crate::{Coord, ElementType, layout};

/// A page that has reached this number of versions ends with the current element: no element is on two pages.
const VERSIONS: usize = 1024;
/// Pages encoded at once.
const PAGES: usize = 64;
/// Times handled at once.
const TIMES: usize = 1 << 16;

/// Writes the versions of all types.
pub struct VersionWriter<'a> {
    writer: &'a mut SnapshotWriter,
    level: i32,
    users: &'a UserTable,
    roles: &'a Roles,
    times: Sorter<Bare>,
    kind: ElementType,
    pages: Option<PageWriter>,
    directory: Vec<u8>,
    rows: SortRows<ElementRecord>,
    waiting: Vec<SortRows<ElementRecord>>,
}

impl<'a> VersionWriter<'a> {
    /// Creates a writer that has not written anything yet.
    pub fn new(
        scratch: &SpillScratch,
        writer: &'a mut SnapshotWriter,
        level: i32,
        users: &'a UserTable,
        roles: &'a Roles,
    ) -> VersionWriter<'a> {
        VersionWriter {
            writer,
            level,
            users,
            roles,
            times: Sorter::new(scratch),
            kind: ElementType::Node,
            pages: None,
            directory: Vec::new(),
            rows: SortRows::default(),
            waiting: Vec::new(),
        }
    }

    /// Begins with a type.
    pub fn begin(&mut self, kind: ElementType) -> Result<(), ElementBuildError> {
        self.kind = kind;
        self.pages = Some(PageWriter::begin(self.writer, layout::versions(kind))?);
        Ok(())
    }

    /// Takes in a version; they come by id and version, with pairs for tags.
    pub fn push(&mut self, version: &ElementRecord, payload: &[u8]) -> Result<(), ElementBuildError> {
        let full = self.rows.records.len() >= VERSIONS;
        if full && self.rows.records.last().is_some_and(|last| last.id != version.id) {
            self.waiting.push(std::mem::take(&mut self.rows));
            if self.waiting.len() >= PAGES {
                self.write()?;
            }
        }
        let mut version = *version;
        version.forget_unplaced();
        version.user = self.users.new_number(version.user);
        if self.kind == ElementType::Relation {
            let payload = self.with_roles(&version, payload);
            self.rows.push(version, &payload);
        } else {
            self.rows.push(version, payload);
        }
        Ok(())
    }

    /// Returns the payload of a relation with the table's numbers for roles.
    fn with_roles(&self, relation: &ElementRecord, payload: &[u8]) -> Vec<u8> {
        let (tags, mut reader) = get_tags(payload);
        let members = get_members(&mut reader, relation.parts());
        let mut out = Vec::with_capacity(payload.len());
        put_tags(&mut out, &tags);
        put_members(&mut out, members.map(|m| RawMember { role: self.roles.new_number(m.role), ..m }));
        out
    }

    /// Writes the pages that wait.
    fn write(&mut self) -> Result<(), ElementBuildError> {
        let (kind, level) = (self.kind, self.level);
        let frames: Vec<_> = self.waiting.par_iter().map(|rows| compressed(&encode(kind, rows), level)).collect();
        for (rows, frame) in self.waiting.drain(..).zip(frames) {
            let times = || rows.records.iter().map(|version| version.timestamp);
            let first = rows.records.first().map_or(0, |version| version.id);
            self.directory.extend(first.to_le_bytes());
            self.directory.extend(times().min().unwrap_or_default().to_le_bytes());
            self.directory.extend(times().max().unwrap_or_default().to_le_bytes());
            let times: Vec<Bare> = times().map(|time| Bare(time.into())).collect();
            self.times.extend(&times)?;
            if let Some(pages) = &mut self.pages {
                pages.push(self.writer, &frame?)?;
            }
        }
        Ok(())
    }

    /// Ends the type.
    pub fn end(&mut self) -> Result<(), ElementBuildError> {
        if !self.rows.records.is_empty() {
            self.waiting.push(std::mem::take(&mut self.rows));
        }
        self.write()?;
        if let Some(pages) = self.pages.take() {
            pages.finish(self.writer)?;
        }
        let directory = std::mem::take(&mut self.directory);
        Ok(self.writer.section(layout::version_pages(self.kind), &directory)?)
    }

    /// Writes when anything was written, each moment once.
    pub fn finish(self) -> Result<(), ElementBuildError> {
        self.writer.begin(layout::VERSION_TIMES)?;
        let times: Sorted<Bare> = self.times.finish()?;
        let (mut stream, mut last) = (times.stream(), None);
        loop {
            let window = stream.take(TIMES)?.records;
            if window.is_empty() {
                return Ok(());
            }
            for time in window.iter().filter(|time| last.replace(time.0) != Some(time.0)) {
                self.writer.append(&(time.0 as u32).to_le_bytes())?;
            }
        }
    }
}

/// Encodes a page: one column after another, then the payloads.
fn encode(kind: ElementType, rows: &SortRows<ElementRecord>) -> Vec<u8> {
    let mut out = Vec::new();
    codec::put(&mut out, rows.records.len() as u64);
    let mut column = |field: &dyn Fn(&ElementRecord) -> i64| {
        let mut previous = 0;
        rows.records.iter().for_each(|version| put_delta(&mut out, &mut previous, field(version)));
    };
    column(&|v| v.id);
    column(&|v| v.version.into());
    column(&|v| v.timestamp.into());
    column(&|v| v.changeset);
    column(&|v| v.user.into());
    column(&|v| v.parts.into());
    if kind == ElementType::Node {
        column(&|v| hilbert::position(v.key).lat.into());
        column(&|v| hilbert::position(v.key).lon.into());
    }
    column(&|v| rows.payload(v).len() as i64);
    rows.records.iter().for_each(|version| out.extend_from_slice(rows.payload(version)));
    out
}

/// Decodes the output of [`encode`]; returns `None` for bytes that it cannot have written.
pub fn decode(kind: ElementType, bytes: &[u8]) -> Option<SortRows<ElementRecord>> {
    let mut reader = ByteReader::new(bytes);
    // Every column has at least a byte for each version.
    let columns = if kind == ElementType::Node { 9 } else { 7 };
    let count = usize::try_from(reader.get()?).ok().filter(|&count| count <= bytes.len() / columns)?;
    budget::charge((count * (columns * size_of::<i64>() + size_of::<ElementRecord>())) as u64);
    let mut column = || -> Option<Vec<i64>> {
        let (mut previous, mut column) = (0, Vec::with_capacity(count));
        for _ in 0..count {
            column.push(reader.get_delta(&mut previous)?);
        }
        Some(column)
    };
    let (ids, versions, timestamps) = (column()?, column()?, column()?);
    let (changesets, users, parts) = (column()?, column()?, column()?);
    let positions = if kind == ElementType::Node { Some((column()?, column()?)) } else { None };
    let lengths = column()?;
    let mut rows = SortRows::default();
    for at in 0..count {
        let payload = reader.take(usize::try_from(lengths[at]).ok()?)?;
        let key = positions
            .as_ref()
            .map_or(0, |(lats, lons)| hilbert::key(Coord { lat: lats[at] as i32, lon: lons[at] as i32 }));
        let version = ElementRecord {
            key,
            id: ids[at],
            changeset: changesets[at],
            timestamp: timestamps[at] as u32,
            version: versions[at] as u32,
            user: users[at] as u32,
            parts: parts[at] as u32,
            ..ElementRecord::default()
        };
        if !is_whole(payload, kind, version.parts()) {
            return None;
        }
        rows.push(version, payload);
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let mut rows = SortRows::default();
        let coord = Coord { lat: -190_533_783, lon: -1_698_780_495 };
        let first =
            ElementRecord { key: hilbert::key(coord), id: 5, version: 1, timestamp: 7, ..ElementRecord::default() };
        let mut gone =
            ElementRecord { id: 5, version: 2, timestamp: 9, user: 3, changeset: 8, ..ElementRecord::default() };
        gone.delete();
        rows.push(first, &[1, 4]);
        rows.push(gone, &[]);
        let bytes = encode(ElementType::Node, &rows);
        let read = decode(ElementType::Node, &bytes).unwrap();
        assert_eq!(read.records.len(), 2);
        assert_eq!(hilbert::position(read.records[0].key), coord);
        assert_eq!(read.payload(&read.records[0]), [1, 4]);
        assert!(read.records[1].is_deleted() && read.records[1].changeset == 8 && read.records[1].user == 3);
        assert!((0..bytes.len()).all(|cut| decode(ElementType::Node, &bytes[..cut]).is_none()));
    }
}
