//! Compares the counts of a manifest with its sections. The counts determine the size of tables and pages and the
//! length of reads. Anyone may sign a manifest; therefore a count that is too high for its sections is reported as
//! damage before the first read.

use terrapin_snapshot::{ElementCounts, Error, PagedSection, SectionColumn, Snapshot};

use super::ElementType;
use super::layout::{self, PAIRS_ON_PAGE, PageSection, Paged, page_size};

/// Compares all counts with the lengths of their sections. Reads a few bytes of each section, independent of the file's
/// length.
///
/// # Errors
/// Returns an error for the first count that does not match.
pub(super) fn check(snapshot: &Snapshot, counts: &ElementCounts) -> Result<(), Error> {
    for (kind, count) in ElementType::ALL.into_iter().zip([counts.nodes, counts.ways, counts.relations]) {
        pages(snapshot, Paged::Elements(kind, PageSection::Core), kind.name(), count, page_size(kind))?;
    }
    pages(snapshot, Paged::Values, "tag", counts.tags, PAIRS_ON_PAGE as u64)?;
    column(snapshot, layout::KEY_PAIRS, "key", counts.keys, 1)?;
    column(snapshot, layout::USER_IDS, "user", counts.users, 1)?;
    column(snapshot, layout::AREAS, "area", counts.areas, 0)?;
    for (kind, missing) in ElementType::ALL.into_iter().zip(counts.missing) {
        column(snapshot, layout::missing(kind), "missing element", missing, 0)?;
    }
    Ok(())
}

/// Checks that a section has as many pages as `count` entries need.
fn pages(snapshot: &Snapshot, section: Paged, what: &str, count: u64, on_page: u64) -> Result<(), Error> {
    let there = PagedSection::announced(snapshot, section.name())?.unwrap_or(0);
    match count.div_ceil(on_page) == there {
        true => Ok(()),
        false => Err(differs(section.name(), what, count, &format!("{there} pages of {on_page}"))),
    }
}

/// Checks that a column has `count` values plus `more` additional ones.
fn column(snapshot: &Snapshot, name: &str, what: &str, count: u64, more: u64) -> Result<(), Error> {
    match SectionColumn::announced(snapshot, name)? {
        Some(there) if count.checked_add(more) != Some(there) => {
            Err(differs(name, what, count, &format!("{}", there.saturating_sub(more))))
        }
        _ => Ok(()),
    }
}

fn differs(section: &str, what: &str, count: u64, there: &str) -> Error {
    Error::damaged("manifest", format!("its {what} count is {count}, and the section {section} has {there}"))
}
