//! Sorts nodes along the Hilbert curve, then by id.

use rayon::prelude::*;
use terrapin_base::external_sort::{SortRows, Sorted, Sorter};

use super::BuildContext;
use super::gather::{Newest, TagTable};
use super::pages::{ElementPages, write_pages};
use super::payload::{get_tags, put_tags};
use super::records::{ElementRecord, NodeEntry};
use super::{ElementBuildError, hilbert};
use crate::{ElementType, page};

/// Sorts nodes, and the positions that only ways knew.
pub(super) fn sort(context: &BuildContext<'_>, newest: &Newest) -> Result<Sorted<ElementRecord>, ElementBuildError> {
    context.progress.phase("sorting nodes", newest.nodes.len());
    let mut sorter = Sorter::new(context.scratch);
    let mut located = newest.located.stream();
    newest.nodes.for_each(|blocks| {
        let settled: Vec<SortRows<ElementRecord>> = blocks
            .par_iter()
            .map(|block| {
                let table = TagTable::of(block.head, context.pairs);
                let (mut rows, mut payload) = (SortRows::default(), Vec::new());
                for node in &block.rows.records {
                    let tags = block.rows.payload(node);
                    payload.clear();
                    if !tags.is_empty() {
                        put_tags(&mut payload, &table.pairs(get_tags(tags).0));
                    }
                    rows.push(*node, &payload);
                }
                rows
            })
            .collect();
        for rows in settled {
            let last = rows.records.last().map_or(i64::MIN, |node| node.id);
            let known = |id| rows.records.binary_search_by_key(&id, |node| node.id).is_ok();
            add_located(&mut sorter, &mut located, last, known)?;
            context.progress.advance(rows.records.len() as u64);
            sorter.append(rows.view())?;
        }
        Ok::<_, ElementBuildError>(())
    })?;
    add_located(&mut sorter, &mut located, i64::MAX, |_| false)?;
    Ok(sorter.finish()?)
}

/// Adds the nodes, up to an id, that only occur in ways of the source, as in files with locations on ways.
fn add_located(
    sorter: &mut Sorter<ElementRecord>,
    located: &mut terrapin_base::external_sort::SortedStream<'_, super::records::WayNodePosition>,
    last: i64,
    known: impl Fn(i64) -> bool,
) -> Result<(), ElementBuildError> {
    let mut before = None;
    loop {
        let window = located.take_while(1 << 16, |node| node.id <= last)?;
        if window.records.is_empty() {
            return Ok(());
        }
        for node in window.records {
            if before.replace(node.id) != Some(node.id) && !known(node.id) {
                // No user: this number is never assigned.
                sorter.extend(&[ElementRecord {
                    key: node.key,
                    id: node.id,
                    user: u32::MAX,
                    ..ElementRecord::default()
                }])?;
            }
        }
    }
}

/// Writes the pages of nodes. Also returns the ids.
pub(super) fn write(
    context: &BuildContext<'_>,
    nodes: Sorted<ElementRecord>,
) -> Result<(ElementPages, Sorted<NodeEntry>), ElementBuildError> {
    let mut entries = Sorter::new(context.scratch);
    let written = write_pages(
        context,
        ElementType::Node,
        &nodes,
        |_| Ok(Vec::<()>::new()),
        |nodes, first, _| {
            let entry = |(ordinal, node): (u64, &ElementRecord)| NodeEntry {
                id: node.id,
                ordinal,
                coord: hilbert::position(node.key),
            };
            let entries: Vec<NodeEntry> = (first..).zip(nodes.records).map(entry).collect();
            let positions: Vec<_> = entries.iter().map(|entry| (entry.id, entry.coord)).collect();
            (page::encode_nodes(&positions), entries)
        },
        |found| Ok(entries.extend(&found)?),
    )?;
    Ok((written, entries.finish()?))
}
