//! Sorts ways by the middle of their box along the Hilbert curve, then by id.

use rayon::prelude::*;
use terrapin_base::external_sort::{SortRows, Sorted, SortedStream, Sorter};

use super::gather::{Newest, TagTable};
use super::pages::{ElementPages, corners, middle, write_pages};
use super::payload::{get_nodes, get_tags, put_nodes, put_tags};
use super::records::{BoxEntry, ElementRecord, ElementReference, FoundNode, ParentLink, Placed, ReferenceAnswer};
use super::{BuildContext, ElementBuildError};
use crate::page::{self, PageLists};
use crate::{BoundingBox, ElementRef, ElementType};

/// Returns the nodes that ways refer to, numbered from 0.
pub(super) fn references(newest: &Newest, references: &mut Sorter<ElementReference>) -> Result<(), ElementBuildError> {
    newest.ways.for_each(|blocks| {
        let ids: Vec<Vec<i64>> = blocks
            .par_iter()
            .map(|block| {
                let mut ids = Vec::new();
                for way in &block.rows.records {
                    let (_, mut reader) = get_tags(block.rows.payload(way));
                    ids.extend(get_nodes(&mut reader, way.parts()));
                }
                ids
            })
            .collect();
        for ids in ids {
            let first = references.len();
            let numbered: Vec<ElementReference> =
                (first..).zip(ids).map(|(number, id)| ElementReference { id, number }).collect();
            references.extend(&numbered)?;
        }
        Ok(())
    })
}

/// Sorts ways; `found` answers the references of all.
fn sort(
    context: &BuildContext<'_>,
    newest: &Newest,
    found: &mut SortedStream<'_, FoundNode>,
) -> Result<Sorted<Placed>, ElementBuildError> {
    let mut sorter = Sorter::new(context.scratch);
    newest.ways.for_each(|blocks| {
        let mut nodes = Vec::with_capacity(blocks.len());
        for block in blocks {
            let count = block.rows.records.iter().map(ElementRecord::parts).sum();
            nodes.push(found.take(count)?.records.to_vec());
        }
        let placed: Vec<SortRows<Placed>> = blocks
            .par_iter()
            .zip(&nodes)
            .map(|(block, nodes)| {
                let table = TagTable::of(block.head, context.pairs);
                let (mut rows, mut payload, mut rest) = (SortRows::default(), Vec::new(), &nodes[..]);
                for way in &block.rows.records {
                    let (mine, others) = rest.split_at(way.parts().min(rest.len()));
                    rest = others;
                    payload.clear();
                    put_tags(&mut payload, &table.pairs(get_tags(block.rows.payload(way)).0));
                    put_nodes(&mut payload, mine.iter().map(|node| node.element().0 as i64));
                    let mut area = BoundingBox::EMPTY;
                    let present = mine.iter().filter(|node| node.element().ordinal().is_some());
                    present.for_each(|node| area.extend(node.coord));
                    let element = ElementRecord { key: middle(&area), ..*way };
                    rows.push(Placed { element, corners: corners(&area) }, &payload);
                }
                rows
            })
            .collect();
        for rows in placed {
            context.progress.advance(rows.records.len() as u64);
            sorter.append(rows.view())?;
        }
        Ok::<_, ElementBuildError>(())
    })?;
    Ok(sorter.finish()?)
}

/// The pages of ways, their ids, and which ways each node is in.
pub(super) type WrittenWays = (ElementPages, Sorted<BoxEntry>, Sorted<ParentLink>);

/// Writes the pages of ways. `found` answers the references of all, which are its first records.
pub(super) fn write(
    context: &BuildContext<'_>,
    newest: &Newest,
    found: &mut SortedStream<'_, FoundNode>,
) -> Result<WrittenWays, ElementBuildError> {
    context.progress.phase("placing ways", newest.ways.len());
    let ways = sort(context, newest, found)?;
    let (mut entries, mut links) = (Sorter::new(context.scratch), Sorter::new(context.scratch));
    let written = write_pages(
        context,
        ElementType::Way,
        &ways,
        |_| Ok(Vec::<()>::new()),
        |ways, first, _| {
            let (mut ids, mut lists, mut entries, mut links) = (Vec::new(), PageLists::new(), Vec::new(), Vec::new());
            for (ordinal, way) in (first..).zip(ways.records) {
                let (_, mut reader) = get_tags(ways.payload(way));
                for node in get_nodes(&mut reader, way.element.parts()).map(|bits| ElementRef(bits as u64)) {
                    lists.push(node);
                    links.extend(node.ordinal().map(|child| ParentLink { child, parent: ordinal }));
                }
                lists.close();
                ids.push(way.element.id);
                entries.push(BoxEntry { id: way.element.id, ordinal, corners: way.corners });
            }
            (page::encode_ways(&ids, &lists), (entries, links))
        },
        |(found, linked)| {
            entries.extend(&found)?;
            Ok(links.extend(&linked)?)
        },
    )?;
    Ok((written, entries.finish()?, links.finish()?))
}
