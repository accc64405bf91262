//! The sets that statements read and write, and warnings about sets that are only read or only filled.

use std::collections::BTreeSet;

use terrapin_diagnostic::QueryWarning;

use super::code::{LintCode, warning};
use crate::syntax::{EvaluatorExpression, ExprKind, Script, SourceSpan, Statement, StatementKind, on_statements};

/// The maximum number of sets to name as alternatives.
const NEAREST: usize = 5;

/// A warning, and the range of the statement that it is about.
pub type SpannedWarning = (SourceSpan, QueryWarning);

/// Returns a warning if the query outputs nothing. Its range goes from the last statement to the end of `text`.
pub fn no_output(text: &str, script: &Script) -> Option<SpannedWarning> {
    if script.statements.iter().any(outputs) {
        return None;
    }
    let start = script.statements.last().map_or(0, |last| last.span.start);
    let span = SourceSpan { start, end: text.trim_end().len() };
    Some((span, warning(LintCode::NoOutput, "nothing is output: add `out;`".to_owned(), Vec::new())))
}

/// Returns a warning for each named set that is filled and never read, with the first statement that fills it. The set
/// of a loop is for its body, and may be left unread there. A union or a difference takes the results of its operands
/// from any set.
pub fn unused(script: &Script) -> Vec<SpannedWarning> {
    let read = script.statements.iter().flat_map(read_within).collect();
    let mut unused = UnusedSets { read, seen: BTreeSet::new(), warnings: Vec::new() };
    unused.block(&script.statements, false);
    unused.warnings
}

struct UnusedSets<'s> {
    /// The sets that any statement reads.
    read: BTreeSet<&'s str>,
    /// The sets that have a warning.
    seen: BTreeSet<&'s str>,
    warnings: Vec<SpannedWarning>,
}

impl<'s> UnusedSets<'s> {
    fn block(&mut self, statements: &'s [Statement], are_operands: bool) {
        for statement in statements {
            let has_operands = matches!(statement.kind, StatementKind::Union(_) | StatementKind::Difference(_));
            let blocks = statement.kind.blocks();
            let is_loop = !has_operands && blocks.iter().any(|block| !block.is_empty());
            if let Some(into) = statement.kind.result_set().filter(|set| *set != "_")
                && !is_loop
                && !are_operands
                && !self.read.contains(into.as_str())
                && self.seen.insert(into)
            {
                let message = format!("the set .{into} is filled and never used or output");
                self.warnings.push((statement.span, warning(LintCode::UnusedSet, message, Vec::new())));
            }
            for inner in blocks {
                self.block(inner, has_operands);
            }
        }
    }
}

/// Returns a warning for each named set that is read and never filled, with the first statement that reads it.
pub fn unfilled(script: &Script) -> Vec<SpannedWarning> {
    let filled: BTreeSet<&str> = script.statements.iter().flat_map(written_within).collect();
    let nearest = || filled.iter().filter(|set| **set != "_").map(|set| format!(".{set}")).take(NEAREST).collect();
    let mut seen = BTreeSet::new();
    let mut warnings = Vec::new();
    on_statements(&script.statements, &mut |statement| {
        for set in read(statement) {
            if set != "_" && !filled.contains(set) && seen.insert(set) {
                let message = format!("the set .{set} is used and never filled");
                warnings.push((statement.span, warning(LintCode::UnfilledSet, message, nearest())));
            }
        }
    });
    warnings
}

/// Returns the sets that a statement reads itself: as input, in filters and in expressions.
pub fn read(statement: &Statement) -> BTreeSet<&str> {
    let mut sets: BTreeSet<&str> = statement.kind.input_set().into_iter().map(String::as_str).collect();
    if let StatementKind::Query(query) = &statement.kind {
        sets.extend(query.filters.iter().filter_map(|filter| filter.kind.set()).map(String::as_str));
    }
    for expression in statement.kind.expressions() {
        in_expression(expression, &mut sets);
    }
    sets
}

/// Returns the sets that a statement or its blocks read.
pub fn read_within(statement: &Statement) -> BTreeSet<&str> {
    let mut sets = read(statement);
    for inner in statement.kind.blocks().into_iter().flatten() {
        sets.append(&mut read_within(inner));
    }
    sets
}

/// Returns the sets that a statement or its blocks write.
pub fn written_within(statement: &Statement) -> BTreeSet<&str> {
    let mut sets: BTreeSet<&str> = statement.kind.result_set().into_iter().map(String::as_str).collect();
    for inner in statement.kind.blocks().into_iter().flatten() {
        sets.append(&mut written_within(inner));
    }
    sets
}

fn in_expression<'a>(expression: &'a EvaluatorExpression, sets: &mut BTreeSet<&'a str>) {
    match &expression.kind {
        ExprKind::SetKey { set, .. } => {
            sets.insert(set);
        }
        ExprKind::Call { set, args, .. } => {
            sets.extend(set.as_deref());
            // Aggregates without a set read the default set.
            if set.is_none() {
                sets.insert("_");
            }
            args.iter().for_each(|argument| in_expression(argument, sets));
        }
        ExprKind::Tag(inner) | ExprKind::Unary { operand: inner, .. } => in_expression(inner, sets),
        ExprKind::Binary { left, right, .. } => {
            in_expression(left, sets);
            in_expression(right, sets);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            in_expression(condition, sets);
            in_expression(then, sets);
            in_expression(otherwise, sets);
        }
        ExprKind::Fixed(_) | ExprKind::GenericTag => {}
    }
}

/// Returns whether a statement or one in its blocks outputs something.
pub fn outputs(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::Out(_) | StatementKind::Local(_))
        || statement.kind.blocks().into_iter().flatten().any(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        let script = crate::parse(text).expect("a query");
        let all = no_output(text, &script).into_iter().chain(unused(&script)).chain(unfilled(&script));
        all.map(|(_, warning)| warning.code).collect()
    }

    #[test]
    fn sets_that_go_nowhere() {
        assert!(codes("node[a]->.x;.x out;").is_empty());
        // Expressions name sets without a dot before them.
        assert!(codes("node[a]->.x;make c n=x.count(nodes);out;").is_empty());
        assert_eq!(codes("make c n=x.count(nodes);out;"), ["unfilled-set"]);
        assert_eq!(codes("node[a]->.xy;node[b]->.x;.x out;"), ["unused-set"]);
        assert_eq!(codes("node[a]->.x;.x->.y;.y out;"), [""; 0]);
        assert_eq!(codes("node(area.town);out;"), ["unfilled-set"]);
        assert_eq!(codes("node[a];"), ["no-output"]);
        assert!(codes("node[a]->.x;foreach.x->.y{node(1);out;}").is_empty());
        assert!(codes("(node[a]->.x;way[a];);out;").is_empty());
        let xml = "<query type=\"node\" into=\"x\"><has-kv k=\"a\"/></query><print/>";
        assert_eq!(codes(xml), ["unused-set"]);
        // A part of a longer name is not the name, and neither is a quoted text.
        assert_eq!(codes("node[a]->.x;node[b]->.ax;.ax out;node[\"x\"];out;"), ["unused-set"]);
        let many: String = (0..20_000).map(|n| format!("node[a]->.s{n};.s{n} out;")).collect();
        assert!(codes(&many).is_empty());
    }
}
