//! Runs `out`: writes a set type by type, in order of id or of quadtile.

mod changes;
mod parallel;
mod writer;

use std::io;
use std::sync::Arc;

use rayon::prelude::*;

use super::diff::DiffPhase;
use super::{RunContext, uses_areas};
use crate::OverpassFailure;
use crate::introsort;
use crate::output::{AnswerWriter, DiffAction, OutCounts, OutputItem, disconnected};
use crate::quadtile;
use crate::reader::StoreReader;
use crate::set::{AreaOrdinal, Derived, ElementSet};
use crate::sorted;
use crate::syntax::{Detail, Out, OutputOrder};
use terrapin_budget as budget;
use terrapin_osm::areas::RELATION_AREAS;
use terrapin_osm::radix;
use terrapin_osm::{ElementType, Ordinal};
use writer::{ElementWriter, OutScratch, WrittenParts};

/// The number of elements written between two checks of the budget.
const STEP: usize = 256;

/// The minimum number of elements of each type to print them on all cores.
const PARALLEL: [usize; 3] = [1 << 10, 1 << 8, 1 << 4];

/// The number of ids that a thread looks up at once. Fewer than twice as many ids are looked up on one core.
const IDS_AT_ONCE: usize = 1 << 14;

/// Runs the `out` at position `place` of the text.
pub fn run(ctx: &mut RunContext, out: &Out, place: usize) -> Result<(), OverpassFailure> {
    if !ctx.weak.is_empty() {
        return Ok(());
    }
    let frame = match ctx.diff.as_ref().map(|diff| diff.phase) {
        None => None,
        Some(DiffPhase::Older | DiffPhase::Newer) => return changes::run(ctx, out, place),
        Some(DiffPhase::Initial) => Some("show_initial"),
        Some(DiffPhase::Final) => Some("show_final"),
    };
    if out.limit == Some(0) {
        // Not even a count is written.
        return Ok(());
    }
    let (set, osm) = ctx.shown(&out.from);
    if out.detail == Detail::Count {
        let counts = counts(ctx, &set, !out.noids);
        return framed(ctx.answer, frame, |answer| answer.count(&counts)).map_err(disconnected);
    }
    let mut left = out.limit.unwrap_or(u64::MAX);
    let shown = WrittenParts::of(out, ctx.answer.projection());
    let renderer = if frame.is_some() { None } else { ctx.answer.renderer() };
    let bare = ctx.diff.as_ref().map(|diff| Arc::clone(&diff.bare)).unwrap_or_default();
    let reader = ctx.reader.take().filter(|reader| std::ptr::eq(reader.osm(), osm));
    let reader = reader.unwrap_or_else(|| StoreReader::new(osm));
    let mut writer = ElementWriter { reader, shown, scratch: OutScratch::default() };
    for kind in ElementType::ALL {
        let list = ordered(&mut writer.reader, kind, set.part(kind), out.order, left);
        left -= list.len() as u64;
        match &renderer {
            Some(renderer) if list.len() >= PARALLEL[kind as usize] => {
                parallel::write(ctx, osm, renderer, shown, kind, &list)?
            }
            _ => one_by_one(ctx, &mut writer, frame, &bare, kind, &list)?,
        }
    }
    let mut area_writer =
        ElementWriter { reader: StoreReader::new(ctx.current), shown, scratch: OutScratch::default() };
    for (id, relation) in areas(&mut area_writer.reader, &set.areas, out.order, left) {
        left -= 1;
        area_writer
            .area(relation, id, |item| framed(ctx.answer, frame, |answer| answer.element(item)))
            .map_err(disconnected)?;
    }
    for derived in derived(&set, out.order, left) {
        budget::checkpoints(16);
        writer
            .derived(derived, |item| framed(ctx.answer, frame, |answer| answer.element(item)))
            .map_err(disconnected)?;
    }
    ctx.reader = Some(writer.reader);
    Ok(())
}

/// Writes elements of one type in the order of `list`. For elements in `bare`, only the id is written.
fn one_by_one(
    ctx: &mut RunContext,
    writer: &mut ElementWriter<'_>,
    frame: Option<&'static str>,
    bare: &ElementSet,
    kind: ElementType,
    list: &[(i64, Ordinal)],
) -> Result<(), OverpassFailure> {
    for (step, &(id, ordinal)) in list.iter().enumerate() {
        if step.is_multiple_of(STEP) {
            budget::check();
        }
        let write = |item: &OutputItem<'_>| framed(ctx.answer, frame, |answer| answer.element(item));
        if sorted::contains(bare.part(kind), ordinal) {
            writer.nameless(kind, id, write).map_err(disconnected)?;
        } else {
            writer.element(kind, ordinal, id, write).map_err(disconnected)?;
        }
    }
    Ok(())
}

/// Writes output, with an action around it if one is given.
fn framed(
    answer: &mut dyn AnswerWriter,
    frame: Option<&'static str>,
    write: impl FnOnce(&mut dyn AnswerWriter) -> io::Result<()>,
) -> io::Result<()> {
    let Some(frame) = frame else { return write(answer) };
    answer.action(DiffAction::Begin(frame))?;
    write(answer)?;
    answer.action(DiffAction::End)
}

fn counts(ctx: &RunContext, set: &ElementSet, with_id: bool) -> OutCounts {
    OutCounts {
        with_id,
        nodes: set.nodes.len() as u64,
        ways: set.ways.len() as u64,
        relations: set.relations.len() as u64,
        areas: uses_areas(&ctx.script.statements).then_some(set.areas.len() as u64),
    }
}

/// Returns ids and ordinals in the order of the answer, at most `limit` of them.
fn ordered(
    reader: &mut StoreReader<'_>,
    kind: ElementType,
    list: &[Ordinal],
    order: OutputOrder,
    limit: u64,
) -> Vec<(i64, Ordinal)> {
    if limit == 0 || list.is_empty() {
        return Vec::new();
    }
    let mut pairs: Vec<(i64, Ordinal)> = match order {
        OutputOrder::Asc => {
            let mut pairs: Vec<(i64, Ordinal)> = if list.len() < 2 * IDS_AT_ONCE {
                list.iter().map(|&ordinal| (reader.id(kind, ordinal), ordinal)).collect()
            } else {
                let osm = reader.osm();
                let current = budget::current();
                let part = |part: &'_ [Ordinal]| current.share(|| osm.ids(kind, part).into_iter().zip(part.to_vec()));
                list.par_chunks(IDS_AT_ONCE).flat_map_iter(part).collect()
            };
            radix::sort(&mut pairs, |&(id, _)| radix::signed(id));
            pairs
        }
        OutputOrder::Quadtile => quadtile::keyed(reader, kind, list).into_iter().map(|(_, id, o)| (id, o)).collect(),
    };
    pairs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    pairs
}

/// Returns the ids of areas and their relations, in the order of the answer, at most `limit` of them.
fn areas(reader: &mut StoreReader<'_>, list: &[AreaOrdinal], order: OutputOrder, limit: u64) -> Vec<(i64, Ordinal)> {
    let known = reader.osm().areas();
    let mut keyed: Vec<(quadtile::Key, i64, Ordinal)> = list
        .iter()
        .filter_map(|&area| {
            let relation = known.relation(area)?;
            let key = match order {
                OutputOrder::Asc => quadtile::Key::default(),
                OutputOrder::Quadtile => quadtile::area_key(known.shape(reader.osm(), area).bbox()),
            };
            Some((key, RELATION_AREAS + reader.id(ElementType::Relation, relation), relation))
        })
        .collect();
    keyed.sort_unstable();
    keyed.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    keyed.into_iter().map(|(_, id, relation)| (id, relation)).collect()
}

/// Returns the derived elements of a set, in the order of the answer, at most `limit` of them.
fn derived(set: &ElementSet, order: OutputOrder, limit: u64) -> Vec<&Arc<Derived>> {
    let mut derived: Vec<&Arc<Derived>> = set.derived.iter().collect();
    if order == OutputOrder::Asc {
        introsort::sort(&mut derived, |a, b| a.key() < b.key());
    }
    derived.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    derived
}
