//! Writes the assignment of triples to graphs, if named graphs exist.

use super::TripleBuildError;
use super::columns::{column, distinct};
use crate::layout;
use terrapin_base::external_sort::{RecordBuffer, SpillBuffer, SpillScratch};
use terrapin_snapshot::SnapshotWriter;

/// The number of the default graph; it sorts after all named ones.
const DEFAULT: u32 = u32::MAX;

/// Writes the graphs; `triples` are those of the default graph. Returns the triples of all graphs.
pub fn write(
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
    triples: RecordBuffer<[u32; 3]>,
    quads: RecordBuffer<[u32; 4]>,
) -> Result<RecordBuffer<[u32; 3]>, TripleBuildError> {
    const CHUNK: usize = 1 << 16;
    let (mut all, mut together) = (SpillBuffer::new(scratch), SpillBuffer::new(scratch));
    for chunk in triples.as_slice().chunks(CHUNK) {
        together.extend(chunk)?;
        all.extend(&chunk.iter().map(|&[s, p, o]| [DEFAULT, s, p, o]).collect::<Vec<_>>())?;
    }
    for chunk in quads.as_slice().chunks(CHUNK) {
        together.extend(&chunk.iter().map(|&[_, s, p, o]| [s, p, o]).collect::<Vec<_>>())?;
        all.extend(chunk)?;
    }
    drop((triples, quads));

    let mut quads = all.seal()?;
    for (order, (names, turn)) in layout::GRAPH_ORDERS.into_iter().zip([[1, 2, 3], [2, 3, 1], [3, 1, 2]]).enumerate() {
        let [a, b, c] = turn;
        quads = quads.sort(scratch, move |quad| [quad[0], quad[a], quad[b], quad[c]])?;
        if order == 0 {
            starts(writer, quads.as_slice())?;
        }
        for (name, at) in names.into_iter().zip(turn) {
            column(writer, name, distinct(quads.as_slice()).map(|quad| quad[at].into()))?;
        }
    }
    Ok(together.seal()?)
}

/// Writes the graph names and the start of each graph's triples; the default graph is last.
fn starts(writer: &mut SnapshotWriter, quads: &[[u32; 4]]) -> Result<(), TripleBuildError> {
    let (mut names, mut starts, mut len): (Vec<u64>, Vec<u64>, u64) = (Vec::new(), Vec::new(), 0);
    let mut last = None;
    for &[graph, ..] in distinct(quads) {
        if graph != DEFAULT && last.replace(graph) != Some(graph) {
            names.push(graph.into());
            starts.push(len);
        }
        len += 1;
    }
    let of_default = quads.partition_point(|quad| quad[0] != DEFAULT);
    starts.push(distinct(&quads[..of_default]).count() as u64);
    starts.push(len);
    column(writer, layout::GRAPHS, names.into_iter())?;
    column(writer, layout::GRAPH_STARTS, starts.into_iter())
}
