//! Builds the state of a history at a moment from the versions in a snapshot: the sections of elements and posting
//! lists. They equal those of a load up to that moment. Values, users and roles are those of the snapshot.

use std::sync::Arc;

use rayon::prelude::*;
use terrapin_base::external_sort::{RecordSpool, SortRows, Sorted, SpillScratch, SpoolWriter};
use terrapin_base::progress::Quiet;
use terrapin_budget as budget;
use terrapin_snapshot::{ElementCounts, Error, PagedSection, Snapshot, SnapshotWriter};

use super::elements::write_elements;
use super::gather::{BlockTags, LeftOut, Newest};
use super::postings::write_postings;
use super::records::ElementRecord;
use super::tables::{Roles, UserTable, write_keys, write_missing};
use super::values::PairNumbers;
use super::versions::decode;
use super::{BuildContext, ElementBuildError};
use crate::tags::KeyTable;
use crate::{ElementType, layout};

/// Pages are read once: to make them small is dearer than to write them.
const LEVEL: i32 = 1;
/// Pages of versions decoded at once.
const PAGES: usize = 64;

/// The tables of a snapshot that its states share.
pub struct Tables {
    /// The keys.
    pub keys: KeyTable,
    /// Number of users, including the entry for no user.
    pub users: u32,
    /// Number of roles.
    pub roles: u32,
}

/// Writes the sections of the state at a moment, in seconds since 1970. `counts` are those of the snapshot. Returns the
/// numbers of elements in the state.
///
/// # Errors
/// Returns an error if the snapshot is damaged or a temporary file fails.
pub fn write_state(
    snapshot: &Arc<Snapshot>,
    tables: Tables,
    counts: ElementCounts,
    moment: i64,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
) -> Result<ElementCounts, ElementBuildError> {
    let mut spools = Vec::new();
    for kind in ElementType::ALL {
        spools.push(seen_at(snapshot, kind, moment, scratch)?);
    }
    let mut spools = spools.into_iter();
    let mut next = || spools.next().unwrap_or_default();
    let newest = Newest {
        nodes: next(),
        located: Sorted::default(),
        ways: next(),
        relations: next(),
        left_out: LeftOut::default(),
    };
    let (pairs, users, roles) =
        (PairNumbers::none(scratch)?, UserTable::numbered(tables.users), Roles::numbered(tables.roles));
    let (progress, metadata) = (&Quiet, true);
    let context =
        BuildContext { scratch, level: LEVEL, progress, pairs: &pairs, users: &users, roles: &roles, metadata };
    let elements = write_elements(&context, writer, newest)?;
    for (kind, missing) in ElementType::ALL.into_iter().zip(&elements.missing) {
        write_missing(writer, kind, missing)?;
    }
    let keys = write_postings(&context, writer, tables.keys, &elements.postings)?;
    write_keys(writer, &keys)?;
    let [nodes, ways, relations] = elements.counts;
    let missing = elements.missing.map(|ids| ids.len() as u64);
    Ok(ElementCounts { nodes, ways, relations, areas: 0, missing, ..counts })
}

/// Returns the elements of a type at a moment, by id: the last version of each that is not later, unless it is a
/// deletion.
fn seen_at(
    snapshot: &Arc<Snapshot>,
    kind: ElementType,
    moment: i64,
    scratch: &SpillScratch,
) -> Result<RecordSpool<BlockTags, ElementRecord>, ElementBuildError> {
    let (name, fault) = (layout::versions(kind), Arc::default());
    let pages = PagedSection::open(snapshot, name, &fault)?;
    let mut spool = SpoolWriter::new(scratch);
    let numbers: Vec<u64> = (0..pages.len()).collect();
    let current = budget::current();
    for numbers in numbers.chunks(PAGES) {
        let read = numbers.par_iter().map(|&page| {
            current.share(|| {
                let rows = decode(kind, &pages.read(page)?);
                let rows =
                    rows.ok_or_else(|| Error::damaged(name, format!("page {page} is not what this format writes")))?;
                budget::checkpoint();
                Ok(last_until(&rows, moment))
            })
        });
        for rows in read.collect::<Vec<Result<_, Error>>>() {
            spool.push(BlockTags::Pairs, rows?)?;
        }
    }
    fault.check()?;
    Ok(spool.finish()?)
}

/// Returns the last version of every element until a moment.
fn last_until(rows: &SortRows<ElementRecord>, moment: i64) -> SortRows<ElementRecord> {
    let mut seen = SortRows::default();
    for versions in rows.records.chunk_by(|a, b| a.id == b.id) {
        let last = versions.iter().rfind(|version| i64::from(version.timestamp) <= moment);
        if let Some(version) = last.filter(|version| !version.is_deleted()) {
            seen.push(*version, rows.payload(version));
        }
    }
    seen
}
