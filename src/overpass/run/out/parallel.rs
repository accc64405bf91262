//! Printing large answers on all cores. Answers come in order of id, elements lie in order of space: an element after
//! the other would be a page after the other. So a batch is printed in the order of space, by pages and in parallel, and
//! then put together in the order of the answer. What is written does not depend on the number of threads.

use std::io;

use rayon::prelude::*;

use super::{Context, Scratch, Shown, Writer};
use crate::osm::{ElementType, Ordinal};
use crate::overpass::Failure;
use crate::overpass::output::{Buffer, Renderer, gone};
use crate::overpass::reader::Reader;

/// Elements of each type in memory at once: relations with all their members' geometry are large.
const BATCH: [usize; 3] = [1 << 16, 1 << 14, 1 << 8];

/// Elements that a thread prints at once, by type.
const PIECE: [usize; 3] = [1 << 11, 1 << 9, 1 << 4];

/// Elements printed one after another, and where each ends.
struct Piece {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Piece {
    fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

/// Writes the elements of one type in the order of `list`.
pub(super) fn write(
    ctx: &mut Context,
    renderer: &Renderer,
    shown: Shown,
    kind: ElementType,
    list: &[(i64, Ordinal)],
) -> Result<(), Failure> {
    let osm = ctx.osm;
    let piece_len = PIECE[kind as usize];
    for batch in list.chunks(BATCH[kind as usize]) {
        ctx.budget.check()?;
        let mut by_place: Vec<(Ordinal, i64, u32)> =
            (0..).zip(batch).map(|(at, &(id, ordinal))| (ordinal, id, at)).collect();
        by_place.par_sort_unstable();
        let new_writer = || Writer { reader: Reader::new(osm), shown, scratch: Scratch::default() };
        let pieces: Vec<Piece> = by_place
            .par_chunks(piece_len)
            .map_init(new_writer, |writer, elements| {
                let mut nowhere = io::sink();
                let mut buffer = Buffer::new(&mut nowhere);
                let mut ends = Vec::with_capacity(elements.len());
                for &(ordinal, id, _) in elements {
                    writer.element(kind, ordinal, id, |item| renderer(&mut buffer, item));
                    ends.push(buffer.held());
                }
                Piece { bytes: buffer.into_bytes(), ends }
            })
            .collect();
        let mut places = vec![0_u32; batch.len()];
        (0..).zip(&by_place).for_each(|(place, &(_, _, at))| places[at as usize] = place);
        for place in places {
            let place = place as usize;
            ctx.answer.rendered(pieces[place / piece_len].get(place % piece_len)).map_err(gone)?;
        }
    }
    Ok(())
}
