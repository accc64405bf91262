//! `needless-recursion`: the nodes of ways are added although `out geom` prints their positions.

use terrapin_overpass::syntax::{Detail, Recurse, Statement, StatementKind};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "needless-recursion",
        severity: LintSeverity::Note,
        summary: "The members of elements are output although out geom already prints their geometry.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    for pair in lint.script.statements.windows(2) {
        let [first, second] = pair else { continue };
        let StatementKind::Out(out) = &second.kind else { continue };
        let adds = match &first.kind {
            StatementKind::Union(union) => {
                // Authors and versions of members are not part of the geometry.
                let is_wanted = out.detail == Detail::Meta;
                union.into == out.from && out.geometry.full && !is_wanted && adds_members(&union.members)
            }
            _ => false,
        };
        if adds {
            let message = "`out geom` prints the geometry of ways and relations without their members".to_owned();
            findings.add(first.span, message);
        }
    }
    for triple in lint.script.statements.windows(3) {
        let [first, second, third] = triple else { continue };
        if let (StatementKind::Out(first), StatementKind::Recursion(down), StatementKind::Out(third)) =
            (&first.kind, &second.kind, &third.kind)
            && first.geometry.full
            && is_down(down.kind)
            // The same holds for their tags.
            && matches!(third.detail, Detail::Skel | Detail::Ids)
            && down.from == first.from
            && down.into == third.from
        {
            let message = "the `out geom` before it prints the geometry without the members".to_owned();
            findings.add(second.span, message);
        }
    }
}

/// Returns whether a union has a set, and the members of the same set.
fn adds_members(members: &[Statement]) -> bool {
    let [item, down] = members else { return false };
    let (StatementKind::Item(item), StatementKind::Recursion(down)) = (&item.kind, &down.kind) else { return false };
    // The operand's result is the set of the item.
    is_down(down.kind) && (down.from == item.from || down.from == item.into)
}

fn is_down(kind: Recurse) -> bool {
    matches!(kind, Recurse::Down | Recurse::DownRel)
}
