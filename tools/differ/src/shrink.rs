//! Makes a query that two programs answer differently as small as it can be.

use crate::compare::Difference;
use crate::piece::Piece;

/// The most queries that are asked to make one smaller.
const MOST: usize = 600;

/// The smallest form found that still differs in the same way; `differs` asks both.
pub fn shrink(query: &Piece, difference: Difference, mut differs: impl FnMut(&str) -> Option<Difference>) -> Piece {
    let mut best = query.clone();
    let mut asked = 0;
    'again: loop {
        let length = best.to_string().len();
        for smaller in best.smaller() {
            let text = smaller.to_string();
            if text.len() >= length {
                continue;
            }
            asked += 1;
            if asked > MOST {
                return best;
            }
            if differs(&text) == Some(difference) {
                best = smaller;
                continue 'again;
            }
        }
        return best;
    }
}
