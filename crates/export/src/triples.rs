//! Writes triples as N-Triples and N-Quads, in the order of the snapshot, which depends only on the triples.

use std::fmt::Write as _;
use std::io::Write;

use oxrdf::Term;
use rayon::prelude::*;
use terrapin_base::LoadProgress;
use terrapin_triples::{Store, TermId};

use super::ExportError;

/// The number of triples read before their lines are written.
const AT_ONCE: usize = 1 << 18;
/// The number of triples a thread formats at a time.
const PART: usize = 4096;

/// Writes all triples; with `quads`, those of named graphs have the name of the graph.
///
/// # Errors
/// The snapshot is damaged, the output fails, or named graphs exist without `quads`.
pub fn triples(
    store: &Store,
    quads: bool,
    out: &mut dyn Write,
    progress: &dyn LoadProgress,
) -> Result<(), ExportError> {
    progress.phase("writing triples", store.len());
    match store.graphs() {
        None => graph(store, None, store.triples(None, None, None), out, progress)?,
        Some(_) if !quads => return Err(ExportError::Graphs),
        Some(graphs) => {
            for name in graphs.names().map(Some).chain([None]) {
                graph(store, name, graphs.triples(name, [None; 3]), out, progress)?;
            }
        }
    }
    store.check()?;
    out.flush().map_err(ExportError::Output)
}

fn graph(
    store: &Store,
    name: Option<TermId>,
    mut triples: impl Iterator<Item = [TermId; 3]>,
    out: &mut dyn Write,
    progress: &dyn LoadProgress,
) -> Result<(), ExportError> {
    let end = name.map_or_else(|| " .\n".to_owned(), |name| format!(" {} .\n", written(store, name)));
    loop {
        let some: Vec<[TermId; 3]> = triples.by_ref().take(AT_ONCE).collect();
        if some.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = some.par_chunks(PART).map(|part| lines(store, part, &end)).collect();
        // Checked before anything is written, because damaged data reads as empty.
        store.check()?;
        texts.iter().try_for_each(|text| out.write_all(text.as_bytes())).map_err(ExportError::Output)?;
        progress.advance(some.len() as u64);
    }
}

fn written(store: &Store, term: TermId) -> String {
    store.term(term).map(|term: Term| term.to_string()).unwrap_or_default()
}

/// Formats triples as lines. Caches the texts of subjects and predicates, which repeat.
fn lines(store: &Store, triples: &[[TermId; 3]], end: &str) -> String {
    let mut text = String::new();
    let mut last: [Option<(TermId, String)>; 2] = [None, None];
    for [subject, predicate, object] in triples {
        for (term, last) in [subject, predicate].into_iter().zip(&mut last) {
            if last.as_ref().is_none_or(|(number, _)| number != term) {
                *last = Some((*term, written(store, *term)));
            }
            text.push_str(last.as_ref().map_or("", |(_, text)| text));
            text.push(' ');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{end}", written(store, *object));
    }
    text
}
