//! Encoding pages in parallel and writing them in order.

use std::ops::Range;

use super::BuildError;
use super::batch::Record;
use super::place::{Placed, ResolvedMember, corners};
use super::resolve::{Entry, Ids, Links, Resolved, windows};
use super::tags::{PairNumbers, Posting, page as compressed, posting};
use crate::layout::{self, IDS_ON_PAGE, Part};
use crate::page::{self, Lists};
use crate::{BoundingBox, ElementType, Member, MetaRef, PairId, codec, hilbert};
use terrapin_base::Progress;
use terrapin_base::external_sort::SpillBuffer;
use terrapin_snapshot::{Error, PageWriter, Writer};

/// Pages encoded at once.
const PAGES: usize = 512;

/// What all page writers need.
pub struct Parts<'a> {
    /// zstd's level.
    pub level: i32,
    /// Hears of every page.
    pub progress: &'a dyn Progress,
    /// All elements' tags as numbers of the blocks.
    pub tags: &'a [u32],
    /// What those numbers are.
    pub pairs: &'a PairNumbers,
    /// Who the users are.
    pub users: &'a Users,
}

/// The ordinals of every page.
fn page_ranges(kind: ElementType, count: u64) -> Vec<Range<u64>> {
    let size = layout::page_size(kind);
    (0..count.div_ceil(size)).map(|p| p * size..count.min((p + 1) * size)).collect()
}

fn slice<'a, T>(items: &'a [T], range: &Range<u64>) -> &'a [T] {
    &items[range.start as usize..range.end as usize]
}

impl Parts<'_> {
    /// Writes a section of pages: `encode` makes the content of each and something besides, which `each` gets in order.
    fn pages<R: Send>(
        &self,
        writer: &mut Writer,
        (kind, part): (ElementType, Part),
        count: u64,
        encode: impl Fn(&Range<u64>) -> (Vec<u8>, R) + Sync,
        mut each: impl FnMut(R) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let ranges = page_ranges(kind, count);
        let name = layout::paged(kind, part).0;
        self.progress.phase(&format!("writing {name}"), ranges.len() as u64);
        let mut pages = PageWriter::begin(writer, name)?;
        windows(
            &ranges,
            PAGES,
            |_, range| {
                let (content, besides) = encode(range);
                (compressed(&content, self.level), besides)
            },
            |(frame, besides)| {
                self.progress.advance(1);
                pages.push(writer, &frame?)?;
                each(besides)
            },
        )?;
        Ok(pages.finish(writer)?)
    }

    /// Ids and positions of nodes; gives the box of all.
    pub fn nodes(&self, writer: &mut Writer, nodes: &[Record]) -> Result<Option<BoundingBox>, BuildError> {
        let kind = ElementType::Node;
        let mut boxes = Vec::new();
        let mut all = BoundingBox::EMPTY;
        self.pages(
            writer,
            (kind, Part::Core),
            nodes.len() as u64,
            |range| {
                let nodes: Vec<_> = slice(nodes, range).iter().map(|n| (n.id, hilbert::position(n.key))).collect();
                let mut area = BoundingBox::EMPTY;
                nodes.iter().for_each(|n| area.extend(n.1));
                (page::encode_nodes(&nodes), area)
            },
            |area| {
                all.union(&area);
                boxes.push(corners(&area));
                Ok(())
            },
        )?;
        write_boxes(writer, kind, &boxes)?;
        Ok((!all.is_empty()).then_some(all))
    }

    /// Ids and nodes of ways.
    pub fn ways(
        &self,
        writer: &mut Writer,
        ways: &Placed,
        nodes: &[Resolved],
        missing: &[i64],
    ) -> Result<(), BuildError> {
        let records = ways.records.as_slice();
        let encode = |range: &Range<u64>| {
            let records = slice(records, range);
            let mut lists = Lists::new();
            for way in records {
                let nodes = &nodes[way.parts as usize..(way.parts + way.part_count) as usize];
                nodes.iter().for_each(|n| lists.push(n.reference(missing)));
                lists.close();
            }
            let ids: Vec<i64> = records.iter().map(|w| w.record.id).collect();
            (page::encode_ways(&ids, &lists), ())
        };
        self.pages(writer, (ElementType::Way, Part::Core), records.len() as u64, encode, Ok)?;
        self.boxes(writer, ElementType::Way, ways.boxes.as_slice())
    }

    /// Ids and members of relations.
    pub fn relations(
        &self,
        writer: &mut Writer,
        relations: &Placed,
        members: &[ResolvedMember],
        missing: &[Vec<i64>; 3],
        roles: &Roles,
    ) -> Result<(), BuildError> {
        let records = relations.records.as_slice();
        let encode = |range: &Range<u64>| {
            let records = slice(records, range);
            let mut lists = Lists::new();
            for relation in records {
                let members = &members[relation.parts as usize..(relation.parts + relation.part_count) as usize];
                for m in members {
                    let kind = ElementType::ALL[m.kind as usize];
                    let element = m.element.reference(&missing[m.kind as usize]);
                    lists.push(Member { kind, element, role: roles.new_number(m.role) });
                }
                lists.close();
            }
            let ids: Vec<i64> = records.iter().map(|r| r.record.id).collect();
            (page::encode_relations(&ids, &lists), ())
        };
        self.pages(writer, (ElementType::Relation, Part::Core), records.len() as u64, encode, Ok)?;
        self.boxes(writer, ElementType::Relation, relations.boxes.as_slice())
    }

    fn boxes(&self, writer: &mut Writer, kind: ElementType, boxes: &[[i32; 4]]) -> Result<(), BuildError> {
        let of_pages: Vec<[i32; 4]> = page_ranges(kind, boxes.len() as u64)
            .iter()
            .map(|range| {
                let mut area = BoundingBox::EMPTY;
                for &[south, west, north, east] in slice(boxes, range) {
                    area.union(&BoundingBox { south, west, north, east });
                }
                corners(&area)
            })
            .collect();
        write_boxes(writer, kind, &of_pages)
    }

    /// Metadata and tags, which all types have alike.
    pub fn common<T: Sync>(
        &self,
        writer: &mut Writer,
        kind: ElementType,
        elements: &[T],
        record: impl Fn(&T) -> &Record + Sync + Copy,
        postings: &mut SpillBuffer<Posting>,
    ) -> Result<(), BuildError> {
        let meta = |range: &Range<u64>| {
            let entries: Vec<MetaRef> = slice(elements, range)
                .iter()
                .map(record)
                .map(|r| MetaRef {
                    version: r.version,
                    timestamp: r.timestamp.into(),
                    changeset: r.changeset,
                    uid: 0,
                    user: self.users.new_number(r.user),
                })
                .collect();
            (page::encode_meta(&entries), ())
        };
        self.pages(writer, (kind, Part::Meta), elements.len() as u64, meta, Ok)?;
        let tags = |range: &Range<u64>| {
            let mut lists = Lists::new();
            let mut found = Vec::new();
            for (ordinal, r) in range.clone().zip(slice(elements, range).iter().map(record)) {
                let slots = &self.tags[r.tags as usize..r.tags as usize + r.tag_count as usize];
                let mut pairs: Vec<PairId> = slots.iter().map(|&slot| self.pairs.get(slot)).collect();
                pairs.sort_unstable();
                for pair in pairs {
                    lists.push(pair);
                    found.push(posting(pair, ordinal));
                }
                lists.close();
            }
            (page::encode_tags(&lists), found)
        };
        self.pages(writer, (kind, Part::Tags), elements.len() as u64, tags, |found| Ok(postings.extend(&found)?))
    }

    /// Parents, by type of parent.
    pub fn parents(
        &self,
        writer: &mut Writer,
        kind: ElementType,
        count: u64,
        links: &[&Links],
    ) -> Result<(), BuildError> {
        let encode = |range: &Range<u64>| {
            let parents: Vec<Lists<u64>> = links
                .iter()
                .map(|links| {
                    let mut rest = links.range(range.start, range.end);
                    let mut lists = Lists::new();
                    for ordinal in range.clone() {
                        let (mine, others) = rest.split_at(rest.partition_point(|l| l[0] == ordinal));
                        rest = others;
                        let mut last = None;
                        for link in mine.iter().filter(|l| last.replace(l[1]) != Some(l[1])) {
                            lists.push(link[1]);
                        }
                        lists.close();
                    }
                    lists
                })
                .collect();
            (page::encode_parents(&parents), ())
        };
        self.pages(writer, (kind, Part::Parents), count, encode, Ok)
    }

    /// The id index.
    pub fn ids(&self, writer: &mut Writer, kind: ElementType, ids: &Ids) -> Result<(), BuildError> {
        let size = layout::page_size(kind);
        let chunks: Vec<&[Entry]> = ids.entries().chunks(IDS_ON_PAGE).collect();
        let mut pages = PageWriter::begin(writer, layout::paged(kind, Part::Ids).0)?;
        windows(
            &chunks,
            PAGES,
            |_, chunk| {
                let mut content = Vec::new();
                let mut previous = 0;
                chunk.iter().for_each(|e| codec::put_delta(&mut content, &mut previous, e.id));
                previous = 0;
                chunk.iter().for_each(|e| codec::put_delta(&mut content, &mut previous, (e.ordinal / size) as i64));
                compressed(&content, self.level)
            },
            |frame| Ok(pages.push(writer, &frame?)?),
        )?;
        pages.finish(writer)?;
        let firsts: Vec<u8> = chunks.iter().flat_map(|c| c[0].id.to_le_bytes()).collect();
        Ok(writer.section(layout::first_ids(kind), &firsts)?)
    }
}

fn write_boxes(writer: &mut Writer, kind: ElementType, boxes: &[[i32; 4]]) -> Result<(), BuildError> {
    let bytes: Vec<u8> = boxes.iter().flatten().flat_map(|n| n.to_le_bytes()).collect();
    Ok(writer.section(layout::boxes(kind), &bytes)?)
}

fn write_table<T: serde::Serialize>(writer: &mut Writer, name: &str, table: &T, level: i32) -> Result<(), BuildError> {
    let bytes = bincode::serde::encode_to_vec(table, bincode::config::standard())
        .map_err(|e| Error::damaged(name, e.to_string()))?;
    let mut pages = PageWriter::begin(writer, name)?;
    pages.push(writer, &compressed(&bytes, level)?)?;
    Ok(pages.finish(writer)?)
}

/// Ids that are not there, a page a type.
pub fn write_missing(writer: &mut Writer, missing: &[Vec<i64>; 3], level: i32) -> Result<(), BuildError> {
    let mut pages = PageWriter::begin(writer, layout::MISSING.0)?;
    for ids in missing {
        let mut content = Vec::new();
        let mut previous = 0;
        ids.iter().for_each(|&id| codec::put_delta(&mut content, &mut previous, id));
        pages.push(writer, &compressed(&content, level)?)?;
    }
    Ok(pages.finish(writer)?)
}

/// A table brought into order, and where each entry went.
fn sorted<T: Ord>(all: Vec<T>) -> (Vec<T>, Vec<u32>) {
    let mut entries: Vec<(T, usize)> = all.into_iter().enumerate().map(|(i, t)| (t, i)).collect();
    entries.sort_unstable();
    let mut numbers = vec![0; entries.len()];
    entries.iter().enumerate().for_each(|(new, (_, old))| numbers[*old] = new as u32);
    (entries.into_iter().map(|e| e.0).collect(), numbers)
}

/// Users by id and name; number 0 is nobody.
pub struct Users {
    all: Vec<(i64, Box<str>)>,
    numbers: Vec<u32>,
}

impl Users {
    /// From users as the blocks numbered them.
    pub fn sorted(all: Vec<(i64, Box<str>)>) -> Users {
        let (mut all, mut numbers) = sorted(all);
        let nobody = (0, Box::from(""));
        match all.binary_search(&nobody) {
            // Anonymous edits of old have names or negative ids that sort before nobody: nobody still comes first.
            Ok(at) => {
                all[..=at].rotate_right(1);
                numbers.iter_mut().for_each(|n| match (*n as usize).cmp(&at) {
                    std::cmp::Ordering::Less => *n += 1,
                    std::cmp::Ordering::Equal => *n = 0,
                    std::cmp::Ordering::Greater => {}
                });
            }
            Err(_) => {
                all.insert(0, nobody);
                numbers.iter_mut().for_each(|n| *n += 1);
            }
        }
        Users { all, numbers }
    }

    fn new_number(&self, old: u32) -> u32 {
        // Nodes that only ways knew were never numbered.
        self.numbers.get(old as usize).copied().unwrap_or_default()
    }

    /// How many, without nobody.
    pub fn len(&self) -> u64 {
        self.all.len() as u64 - 1
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut Writer, level: i32) -> Result<(), BuildError> {
        write_table(writer, layout::USERS.0, &self.all, level)
    }
}

/// Roles in byte order.
pub struct Roles {
    all: Vec<Box<str>>,
    numbers: Vec<u32>,
}

impl Roles {
    /// From roles as the blocks numbered them.
    pub fn sorted(all: Vec<Box<str>>) -> Roles {
        let (all, numbers) = sorted(all);
        Roles { all, numbers }
    }

    fn new_number(&self, old: u32) -> u32 {
        self.numbers[old as usize]
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut Writer, level: i32) -> Result<(), BuildError> {
        write_table(writer, layout::ROLES.0, &self.all, level)
    }
}
