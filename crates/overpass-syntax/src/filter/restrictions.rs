//! What recursions are narrowed down by: a role, positions, numbers. The reference looks at all of it whatever the type.

use crate::check::Context;
use crate::check::numbers::integer;
use crate::code::Code;

/// What a recursion is narrowed down by.
pub(crate) struct Restrictions {
    /// The role that members must have.
    pub role: Option<String>,
    /// The positions that nodes must have in a way.
    pub positions: Vec<i64>,
    /// The least number of ways.
    pub lower: u64,
    /// The greatest, where there is one.
    pub upper: Option<u64>,
}

/// What the reference says about a role where there are no roles.
const NO_ROLE: &str = "A role can only be specified for values \"relation-relation\", \"relation-backwards\",\"relation-way\", \"relation-node\", \"way-relation\",or \"node-relation\".";

/// What the reference says about positions where there are none.
const NO_POSITION: &str = "A role can only be specified for values \"way-node\" or \"node-way\",";

/// What narrows a recursion down, and the errors about what its type does not take.
pub(crate) fn restrictions(context: &mut Context<'_>, takes_role: bool, takes_positions: bool) -> Restrictions {
    let element = context.element;
    let restricted = element.get("role-restricted") == "yes" || !element.get("role").is_empty();
    if restricted && !takes_role {
        context.refuse(Code::BadValue, NO_ROLE);
    }
    if !takes_positions && !element.get("pos").is_empty() {
        context.refuse(Code::BadValue, NO_POSITION);
    }
    let role = restricted.then(|| element.get("role").to_owned());
    let mut positions = Vec::new();
    for text in element.get("pos").split(',').filter(|text| takes_positions && !text.is_empty()) {
        match index(text) {
            Some(index) => positions.push(index),
            None => context.refuse(Code::BadValue, format!("Invalid pos '{text}' in positions list.")),
        }
    }
    let (lower, upper) = bounds(context);
    Restrictions { role, positions, lower, upper }
}

/// `3`, `-1`; whatever follows the digits does not count.
fn index(text: &str) -> Option<i64> {
    Some(integer(text)).filter(|&position| position != 0)
}

/// What `lower` and `upper` say.
fn bounds(context: &mut Context<'_>) -> (u64, Option<u64>) {
    let element = context.element;
    let number = |name: &str| element.find(name).filter(|text| !text.is_empty()).map(integer);
    let (lower, upper) = match (number("lower"), number("upper")) {
        // No node is in so few ways.
        (None, None) => return (1, Some(0)),
        (lower, upper) => (lower.unwrap_or(0), upper.unwrap_or(i64::MAX)),
    };
    if lower < 1 {
        context.refuse(Code::BadValue, "lower must be an integer greater or equal 1");
    } else if upper < lower {
        context.refuse(Code::BadValue, "upper must be an integer greater or equal lower");
    }
    (lower as u64, (upper < i64::from(u32::MAX)).then_some(upper as u64))
}
