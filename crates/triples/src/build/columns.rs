//! Writes the three permutations and the counts of the predicates.

use super::TripleBuildError;
use crate::layout::{self, Permutation};
use terrapin_base::external_sort::{RecordBuffer, SpillScratch};
use terrapin_snapshot::{ColumnWriter, SnapshotWriter};

/// Subject, predicate, object; rotated in the other permutations.
type Triple = [u32; 3];

/// Writes all sections; `terms` is the number of terms. Returns the numbers of distinct triples and predicates.
pub fn write(
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
    triples: RecordBuffer<Triple>,
    terms: u64,
) -> Result<(u64, u64), TripleBuildError> {
    // Sort by predicate first, because the other permutations store the predicates' indices.
    let triples = triples.sort(scratch, |&[s, p, o]| [p, o, s])?;
    let mut predicates: Vec<u32> = Vec::new();
    let mut objects: Vec<u64> = Vec::new();
    let mut starts = Vec::new();
    let mut last: Option<Triple> = None;
    let mut len = 0_u64;
    for &triple in distinct(triples.as_slice()) {
        let [_, p, o] = triple;
        let same = last.filter(|&[_, before, _]| before == p);
        if same.is_none() {
            predicates.push(p);
            objects.push(0);
            starts.push(len);
        }
        if same.is_none_or(|[_, _, before]| before != o)
            && let Some(n) = objects.last_mut()
        {
            *n += 1;
        }
        last = Some(triple);
        len += 1;
    }
    starts.push(len);
    column(writer, layout::PREDICATES, predicates.iter().map(|&p| p.into()))?;
    column(writer, layout::PREDICATE_OBJECTS, objects.into_iter())?;
    let [first, second, third] = layout::POS;
    column(writer, first, starts.into_iter())?;
    column(writer, second, distinct(triples.as_slice()).map(|t| t[2].into()))?;
    column(writer, third, distinct(triples.as_slice()).map(|t| t[0].into()))?;
    let place = |p: u32| predicates.partition_point(|&other| other < p) as u64;

    let triples = triples.sort(scratch, |t| *t)?;
    let mut subjects = vec![0_u64; predicates.len()];
    let mut last = None;
    for &[s, p, _] in distinct(triples.as_slice()) {
        if last != Some((s, p)) {
            last = Some((s, p));
            if let Some(n) = subjects.get_mut(place(p) as usize) {
                *n += 1;
            }
        }
    }
    column(writer, layout::PREDICATE_SUBJECTS, subjects.into_iter())?;
    permutation(writer, layout::SPO, triples.as_slice(), terms, 0, |t| [place(t[1]), t[2].into()])?;

    let triples = triples.sort(scratch, |&[s, p, o]| [o, s, p])?;
    permutation(writer, layout::OSP, triples.as_slice(), terms, 2, |t| [t[0].into(), place(t[1])])?;
    Ok((len, predicates.len() as u64))
}

/// Returns each triple once; equal ones must be adjacent.
pub fn distinct<T: Copy + PartialEq>(triples: &[T]) -> impl Iterator<Item = &T> {
    let mut last = None;
    triples.iter().filter(move |&&triple| last.replace(triple) != Some(triple))
}

/// Writes a permutation with any term as first component.
fn permutation(
    writer: &mut SnapshotWriter,
    names: Permutation,
    triples: &[Triple],
    terms: u64,
    first: usize,
    rest: impl Fn(&Triple) -> [u64; 2],
) -> Result<(), TripleBuildError> {
    let [starts, second, third] = names;
    let mut out = ColumnWriter::begin(writer, starts)?;
    let mut at = 0;
    let mut begun = 0;
    for triple in distinct(triples) {
        while begun <= u64::from(triple[first]) {
            out.push(writer, at)?;
            begun += 1;
        }
        at += 1;
    }
    for _ in begun..=terms {
        out.push(writer, at)?;
    }
    out.finish(writer)?;
    column(writer, second, distinct(triples).map(|t| rest(t)[0]))?;
    column(writer, third, distinct(triples).map(|t| rest(t)[1]))
}

/// Writes a column.
pub fn column(
    writer: &mut SnapshotWriter,
    name: &str,
    values: impl Iterator<Item = u64>,
) -> Result<(), TripleBuildError> {
    let mut out = ColumnWriter::begin(writer, name)?;
    for value in values {
        out.push(writer, value)?;
    }
    Ok(out.finish(writer)?)
}
