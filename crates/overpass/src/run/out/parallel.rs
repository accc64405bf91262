//! Prints large answers on all cores. Answers are in order of id, but elements are stored in spatial order, so that
//! consecutive elements are on different pages. Therefore a batch is printed in spatial order, by pages and in
//! parallel, and then assembled in the order of the answer. The output does not depend on the number of threads.

use std::io;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::RunContext;
use super::writer::{ElementWriter, OutScratch, WrittenParts};
use crate::OverpassFailure;
use crate::output::{Buffer, Renderer, disconnected};
use crate::reader::StoreReader;
use terrapin_budget as budget;
use terrapin_osm::radix;
use terrapin_osm::{ElementType, Ordinal, Osm};

/// The maximum number of elements of each type in memory at once. Relations with the geometry of all members are large.
const BATCH: [usize; 3] = [1 << PLACE_BITS, 1 << 14, 1 << 8];

/// The number of bits for the index of an element in its batch; the other bits are for ordinals.
const PLACE_BITS: u32 = 16;

/// The minimum number of pieces of a batch, so that all threads get work.
const PIECES: usize = 16;

/// The maximum number of elements that a thread prints at once, by type.
const PIECE: [usize; 3] = [1 << 11, 1 << 9, 1 << 4];

/// Elements printed one after another, and the end of each.
struct PrintedElements {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl PrintedElements {
    fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

/// Writes the elements of one type in the order of `list`.
pub(super) fn write(
    ctx: &mut RunContext,
    osm: &Osm,
    renderer: &Renderer,
    shown: WrittenParts,
    kind: ElementType,
    list: &[(i64, Ordinal)],
) -> Result<(), OverpassFailure> {
    let current = budget::current();
    let writers = Mutex::new(Vec::new());
    for batch in list.chunks(BATCH[kind as usize]) {
        budget::check();
        let piece_len = PIECE[kind as usize].min(batch.len().div_ceil(PIECES));
        let mut by_place: Vec<u64> = (0..).zip(batch).map(|(at, &(_, ordinal))| ordinal << PLACE_BITS | at).collect();
        radix::sort(&mut by_place, |&element| element >> PLACE_BITS);
        let at = |element: u64| (element & ((1 << PLACE_BITS) - 1)) as usize;
        let print = |elements: &[u64]| {
            // Reuses writers in order to keep their cached pages.
            let kept = writers.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut writer = kept.unwrap_or_else(|| ElementWriter {
                reader: StoreReader::new(osm),
                shown,
                scratch: OutScratch::default(),
            });
            let mut nowhere = io::sink();
            let mut buffer = Buffer::new(&mut nowhere);
            let mut ends = Vec::with_capacity(elements.len());
            for &element in elements {
                let (id, ordinal) = batch[at(element)];
                writer.element(kind, ordinal, id, |item| (renderer.element)(&mut buffer, item));
                ends.push(buffer.held());
            }
            writers.lock().unwrap_or_else(PoisonError::into_inner).push(writer);
            PrintedElements { bytes: buffer.into_bytes(), ends }
        };
        let pieces: Vec<PrintedElements> =
            by_place.par_chunks(piece_len).map(|part| current.share(|| print(part))).collect();
        let mut places = vec![0_u32; batch.len()];
        (0..).zip(&by_place).for_each(|(place, &element)| places[at(element)] = place);
        let join = |places: &[u32]| {
            let printed = || places.iter().map(|&p| pieces[p as usize / piece_len].get(p as usize % piece_len));
            let len = printed().map(|bytes| bytes.len() + renderer.between.len()).sum();
            let mut bytes = Vec::with_capacity(len);
            for element in printed() {
                if !bytes.is_empty() {
                    bytes.extend_from_slice(renderer.between.as_bytes());
                }
                bytes.extend_from_slice(element);
            }
            (bytes, places.len())
        };
        let joined: Vec<(Vec<u8>, usize)> =
            places.par_chunks(piece_len).map(|part| current.share(|| join(part))).collect();
        for (bytes, elements) in &joined {
            ctx.answer.rendered(bytes, *elements as u64).map_err(disconnected)?;
        }
    }
    Ok(())
}
