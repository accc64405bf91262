//! Limits on the input of the evaluator's own optimiser (`sparopt`). It compares every pair of joined patterns at every
//! position and does not check the budget: 390 patterns take minutes.

use terrapin_sparql_syntax::algebra::QueryPattern;
use terrapin_sparql_syntax::walk::on_patterns;

/// Maximum number of patterns in one join. 48 patterns with three variables each take 0.3 s. Larger joins run in their
/// written order; this may be slow, but respects the timeout.
const MOST_JOINED: usize = 48;

/// Returns whether the optimiser needs only fractions of a second for a pattern.
pub fn is_quick(pattern: &QueryPattern) -> bool {
    let mut quick = true;
    on_patterns(pattern, &mut |pattern| quick = quick && joined(pattern) <= MOST_JOINED);
    quick
}

/// Returns the number of patterns that the optimiser sees in one join at the top of a pattern, including those inside
/// GRAPH.
fn joined(pattern: &QueryPattern) -> usize {
    let (mut open, mut joined) = (vec![pattern], 0);
    while let Some(pattern) = open.pop() {
        match pattern {
            QueryPattern::Join { left, right } => open.extend([&**left, &**right]),
            QueryPattern::Graph { inner, .. } => open.push(inner),
            QueryPattern::Bgp { patterns } => joined += patterns.len(),
            _ => joined += 1,
        }
        if joined > MOST_JOINED {
            break;
        }
    }
    joined
}
