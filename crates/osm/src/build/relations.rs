//! Sorts relations along the Hilbert curve by the middle of the box of their nodes and ways, then by id. Members that
//! are relations do not affect the order, because their positions are not known yet.

use terrapin_base::external_sort::{RowsView, SortRows, Sorted, SortedStream, Sorter};

use super::gather::{Newest, TagTable};
use super::join::{Joined, join};
use super::pages::{ElementPages, corners, middle, write_pages};
use super::payload::{RawMember, get_members, get_tags, put_members, put_tags};
use super::records::{
    BoxEntry, ElementRecord, ElementReference, FoundBox, FoundNode, ParentLink, Placed, ReferenceAnswer,
};
use super::{BuildContext, ElementBuildError};
use crate::page::{self, PageLists};
use crate::{BoundingBox, ElementRef, ElementType, RelationMember};

const NODE: usize = ElementType::Node as usize;
const WAY: usize = ElementType::Way as usize;
const RELATION: usize = ElementType::Relation as usize;

/// Relations handled at once.
const WINDOW: usize = 1 << 12;

/// Returns the references of relations to nodes and ways, numbered in reading order. Those to nodes are numbered after
/// the existing ones.
pub(super) fn references(
    newest: &Newest,
    nodes: &mut Sorter<ElementReference>,
    ways: &mut Sorter<ElementReference>,
) -> Result<(), ElementBuildError> {
    newest.relations.for_each(|blocks| {
        for block in blocks {
            for relation in &block.rows.records {
                let (_, mut reader) = get_tags(block.rows.payload(relation));
                for member in get_members(&mut reader, relation.parts()) {
                    let sorter = match member.kind {
                        NODE => &mut *nodes,
                        WAY => &mut *ways,
                        _ => continue,
                    };
                    let number = sorter.len();
                    sorter.extend(&[ElementReference { id: member.value, number }])?;
                }
            }
        }
        Ok(())
    })
}

/// Returns the next answer of a stream.
fn next<F: terrapin_base::external_sort::Sortable>(stream: &mut SortedStream<'_, F>) -> Result<F, ElementBuildError> {
    Ok(stream.take(1)?.records.first().copied().unwrap_or_default())
}

/// Sorts relations; members that are relations keep their ids.
fn sort(
    context: &BuildContext<'_>,
    newest: &Newest,
    nodes: &mut SortedStream<'_, FoundNode>,
    ways: &mut SortedStream<'_, FoundBox>,
) -> Result<Sorted<Placed>, ElementBuildError> {
    let mut sorter = Sorter::new(context.scratch);
    newest.relations.for_each(|blocks| {
        for block in blocks {
            let table = TagTable::of(block.head, context.pairs);
            let (mut rows, mut payload) = (SortRows::default(), Vec::new());
            for relation in &block.rows.records {
                let (tags, mut reader) = get_tags(block.rows.payload(relation));
                let mut members: Vec<RawMember> = get_members(&mut reader, relation.parts()).collect();
                let mut area = BoundingBox::EMPTY;
                for member in &mut members {
                    member.role = context.roles.new_number(member.role);
                    match member.kind {
                        NODE => {
                            let found = next(nodes)?;
                            if found.element().ordinal().is_some() {
                                area.extend(found.coord);
                            }
                            member.value = found.element().0 as i64;
                        }
                        WAY => {
                            let found = next(ways)?;
                            if let Some([south, west, north, east]) = found.corners {
                                area.union(&BoundingBox { south, west, north, east });
                            }
                            member.value = found.element().0 as i64;
                        }
                        _ => {}
                    }
                }
                payload.clear();
                put_tags(&mut payload, &table.pairs(tags));
                put_members(&mut payload, members.into_iter());
                let element = ElementRecord { key: middle(&area), ..*relation };
                rows.push(Placed { element, corners: corners(&area) }, &payload);
            }
            sorter.append(rows.view())?;
        }
        Ok::<_, ElementBuildError>(())
    })?;
    Ok(sorter.finish()?)
}

/// Finds the members that are relations, by the ids of all.
fn join_relations(
    context: &BuildContext<'_>,
    relations: &Sorted<Placed>,
) -> Result<Joined<FoundBox>, ElementBuildError> {
    let (mut entries, mut references) = (Sorter::new(context.scratch), Sorter::new(context.scratch));
    let (mut stream, mut ordinal) = (relations.stream(), 0);
    loop {
        let window = stream.take(WINDOW)?;
        if window.records.is_empty() {
            break;
        }
        for relation in window.records {
            entries.extend(&[BoxEntry { id: relation.element.id, ordinal, corners: relation.corners }])?;
            ordinal += 1;
            let (_, mut reader) = get_tags(window.payload(relation));
            for member in get_members(&mut reader, relation.element.parts()).filter(|m| m.kind == RELATION) {
                let number = references.len();
                references.extend(&[ElementReference { id: member.value, number }])?;
            }
        }
    }
    let entries = entries.finish()?;
    join(context.scratch, ElementType::Relation, &entries, references.finish()?, context.level)
}

/// Returns the members of some relations, with members that are relations resolved.
fn resolve(
    relations: RowsView<'_, Placed>,
    found: &mut SortedStream<'_, FoundBox>,
) -> Result<Vec<Vec<RelationMember>>, ElementBuildError> {
    let mut all = Vec::with_capacity(relations.records.len());
    for relation in relations.records {
        let (_, mut reader) = get_tags(relations.payload(relation));
        let mut members = Vec::with_capacity(relation.element.parts());
        for RawMember { kind, role, value } in get_members(&mut reader, relation.element.parts()) {
            let element = if kind == RELATION { next(found)?.element() } else { ElementRef(value as u64) };
            members.push(RelationMember { kind: ElementType::ALL[kind], element, role });
        }
        all.push(members);
    }
    Ok(all)
}

/// The pages of relations, the resolved ids, and the relations that contain each node, way and relation.
pub(super) type WrittenRelations = (ElementPages, Joined<FoundBox>, [Sorted<ParentLink>; 3]);

/// Writes the pages of relations. `nodes` and `ways` answer the references to these.
pub(super) fn write(
    context: &BuildContext<'_>,
    newest: &Newest,
    nodes: &mut SortedStream<'_, FoundNode>,
    ways: &mut SortedStream<'_, FoundBox>,
) -> Result<WrittenRelations, ElementBuildError> {
    context.progress.phase("placing relations", newest.relations.len());
    let relations = sort(context, newest, nodes, ways)?;
    let joined = join_relations(context, &relations)?;
    let mut found = joined.found.stream();
    let mut links = ElementType::ALL.map(|_| Sorter::new(context.scratch));
    let written = write_pages(
        context,
        ElementType::Relation,
        &relations,
        |window| resolve(window, &mut found),
        |relations, first, members| {
            let (mut lists, mut links) = (PageLists::new(), Vec::new());
            for (ordinal, members) in (first..).zip(members) {
                for member in members {
                    lists.push(*member);
                    let link = member.element.ordinal().map(|child| ParentLink { child, parent: ordinal });
                    links.extend(link.map(|link| (member.kind, link)));
                }
                lists.close();
            }
            let ids: Vec<i64> = relations.records.iter().map(|r| r.element.id).collect();
            (page::encode_relations(&ids, &lists), links)
        },
        |found| found.into_iter().try_for_each(|(kind, link)| Ok(links[kind as usize].extend(&[link])?)),
    )?;
    drop(found);
    let [of_nodes, of_ways, of_relations] = links;
    Ok((written, joined, [of_nodes.finish()?, of_ways.finish()?, of_relations.finish()?]))
}
