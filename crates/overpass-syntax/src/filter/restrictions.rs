//! Parses the restrictions of recursions: a role, positions and numbers of ways. Like the reference, checks all of them
//! for every type of recursion.

use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::code::OverpassCode;

/// The restrictions of a recursion.
pub(crate) struct Restrictions {
    /// The role that members must have.
    pub role: Option<String>,
    /// The positions that nodes must have in a way.
    pub positions: Vec<i64>,
    /// The minimum number of ways.
    pub lower: u64,
    /// The maximum number of ways; `None` without a limit.
    pub upper: Option<u64>,
}

/// The reference's error for a role on a recursion that takes none.
const NO_ROLE: &str = "A role can only be specified for values \"relation-relation\", \"relation-backwards\",\"relation-way\", \"relation-node\", \"way-relation\",or \"node-relation\".";

/// The reference's error for positions on a recursion that takes none.
const NO_POSITION: &str = "A role can only be specified for values \"way-node\" or \"node-way\",";

/// Reads the restrictions of a recursion. Reports an error for each restriction that its type does not take.
pub(crate) fn restrictions(context: &mut CheckContext<'_>, takes_role: bool, takes_positions: bool) -> Restrictions {
    let element = context.element;
    let restricted = element.get("role-restricted") == "yes" || !element.get("role").is_empty();
    if restricted && !takes_role {
        context.refuse(OverpassCode::BadValue, NO_ROLE);
    }
    if !takes_positions && !element.get("pos").is_empty() {
        context.refuse(OverpassCode::BadValue, NO_POSITION);
    }
    let role = restricted.then(|| element.get("role").to_owned());
    let mut positions = Vec::new();
    for text in element.get("pos").split(',').filter(|text| takes_positions && !text.is_empty()) {
        match index(text) {
            Some(index) => positions.push(index),
            None => context.refuse(OverpassCode::BadValue, format!("Invalid pos '{text}' in positions list.")),
        }
    }
    let (lower, upper) = bounds(context);
    Restrictions { role, positions, lower, upper }
}

/// Parses a position such as `3` or `-1`. Ignores any text after the digits; rejects 0.
fn index(text: &str) -> Option<i64> {
    Some(integer(text)).filter(|&position| position != 0)
}

/// Reads `lower` and `upper`.
fn bounds(context: &mut CheckContext<'_>) -> (u64, Option<u64>) {
    let element = context.element;
    let number = |name: &str| element.find(name).filter(|text| !text.is_empty()).map(integer);
    let (lower, upper) = match (number("lower"), number("upper")) {
        // An empty range: without `lower` and `upper`, no node matches.
        (None, None) => return (1, Some(0)),
        (lower, upper) => (lower.unwrap_or(0), upper.unwrap_or(i64::MAX)),
    };
    if lower < 1 {
        context.refuse(OverpassCode::BadValue, "lower must be an integer greater or equal 1");
    } else if upper < lower {
        context.refuse(OverpassCode::BadValue, "upper must be an integer greater or equal lower");
    }
    (lower as u64, (upper < i64::from(u32::MAX)).then_some(upper as u64))
}
