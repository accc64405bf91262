//! Makes a query that two programs answer differently as small as it can be.

use std::time::{Duration, Instant};

use crate::compare::AnswerDifference;
use crate::piece::QueryPiece;

/// Maximum number of queries that are run to shrink one query.
const MOST: usize = 600;

/// The maximum time for shrinking a query.
const LONGEST: Duration = Duration::from_secs(20);

/// The smallest form found that still differs in the same way; `differs` asks both.
pub fn shrink(
    query: &QueryPiece,
    difference: AnswerDifference,
    mut differs: impl FnMut(&str) -> Option<AnswerDifference>,
) -> QueryPiece {
    let mut best = query.clone();
    let mut asked = 0;
    let end = Instant::now() + LONGEST;
    'again: loop {
        let length = best.to_string().len();
        for smaller in best.smaller() {
            let text = smaller.to_string();
            if text.len() >= length {
                continue;
            }
            asked += 1;
            if asked > MOST || Instant::now() >= end {
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
