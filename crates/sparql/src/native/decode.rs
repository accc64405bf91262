//! Converts term numbers to terms. Successive solutions often share values, and answers often repeat some.

use oxrdf::Term;

use terrapin_triples::{ReadError, TermId, TripleView};

/// Number of cached terms: a power of two.
const KEPT: usize = 1 << 10;
/// Number of solutions before terms are cached.
const FEW: u32 = 16;

/// Decodes the solutions of one query.
#[derive(Default)]
pub(crate) struct Decoder {
    ids: Vec<Option<TermId>>,
    terms: Vec<Option<Term>>,
    kept: Vec<Option<(TermId, Term)>>,
    rows: u32,
}

impl Decoder {
    /// Returns the terms of a solution.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn decode(&mut self, view: &TripleView, row: &[Option<TermId>]) -> Result<&[Option<Term>], ReadError> {
        if self.ids.len() != row.len() {
            self.ids = vec![None; row.len()];
            self.terms = vec![None; row.len()];
        }
        self.rows = self.rows.saturating_add(1);
        for ((id, last), term) in row.iter().zip(&mut self.ids).zip(&mut self.terms) {
            if id == last {
                continue;
            }
            *term = match *id {
                None => None,
                Some(id) => Some(Self::term(&mut self.kept, self.rows > FEW, view, id)?),
            };
            *last = *id;
        }
        Ok(&self.terms)
    }

    fn term(
        kept: &mut Vec<Option<(TermId, Term)>>,
        keep: bool,
        view: &TripleView,
        id: TermId,
    ) -> Result<Term, ReadError> {
        let (true, Some(number)) = (keep, id.number()) else { return view.term(id) };
        if kept.is_empty() {
            kept.resize(KEPT, None);
        }
        let Some(place) = kept.get_mut(number as usize % KEPT) else { return view.term(id) };
        if let Some((same, term)) = place
            && *same == id
        {
            return Ok(term.clone());
        }
        let term = view.term(id)?;
        *place = Some((id, term.clone()));
        Ok(term)
    }
}
