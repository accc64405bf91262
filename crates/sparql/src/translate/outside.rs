//! Filters of OPTIONAL and EXISTS that use variables from outside their braces, which QLever does not see. The values of
//! these variables are repeated within the braces:
//!
//! ```text
//! ?x wdt:P569 ?a OPTIONAL { ?x wdt:P570 ?b FILTER(?b > ?a) }
//! ?x wdt:P569 ?a OPTIONAL { { SELECT DISTINCT ?x ?a { ?x wdt:P569 ?a } } ?x wdt:P570 ?b FILTER(?b > ?a) }
//! ```
//!
//! Each solution outside joins with exactly one of the repeated rows if all repeated variables have values.

use std::collections::{BTreeSet, HashSet};

use oxrdf::Variable;

use super::{MAX_COPIED, Result, Translator};
use terrapin_sparql_syntax::algebra::{Expression, QueryPattern};
use terrapin_sparql_syntax::walk::{nodes, on_patterns, on_variables};
use terrapin_sparql_syntax::{Dialect, in_scope};

/// Returns a variable of an expression that a scope lacks.
fn missing(scope: &HashSet<Variable>, expression: &Expression) -> Option<Variable> {
    let mut outside = None;
    on_variables(expression, &mut |variable| {
        if !scope.contains(variable) {
            outside = Some(variable.clone());
        }
    });
    outside
}

impl Translator {
    /// Returns whether groups lose the variables from outside in this translation.
    fn loses_scope(&self) -> bool {
        self.from != Dialect::Qlever && self.to == Dialect::Qlever
    }

    /// Returns the pattern of an OPTIONAL whose condition sees all its variables. `outer` is the pattern to its left.
    pub(super) fn optional_scope(
        &mut self,
        outer: &QueryPattern,
        right: QueryPattern,
        condition: &Expression,
    ) -> Result<QueryPattern> {
        match self.loses_scope() {
            true => self.with_outside(Some(outer), right, &[condition], "an OPTIONAL whose FILTER"),
            false => Ok(right),
        }
    }

    /// Returns the pattern of an EXISTS whose conditions see all their variables. `outer` is the pattern of the group
    /// that contains the EXISTS.
    pub(super) fn exists_scope(&mut self, outer: Option<&QueryPattern>, pattern: QueryPattern) -> Result<QueryPattern> {
        if !self.loses_scope() {
            return Ok(pattern);
        }
        let (mut inner, mut conditions) = (pattern, Vec::new());
        while let QueryPattern::Filter { inner: filtered, condition } = inner {
            conditions.push(condition);
            inner = *filtered;
        }
        let all: Vec<&Expression> = conditions.iter().collect();
        let inner = self.with_outside(outer, inner, &all, "an EXISTS whose FILTER")?;
        let pattern = conditions.into_iter().rev().fold(inner, QueryPattern::filter);
        self.check_exists(&pattern)?;
        Ok(pattern)
    }

    /// Joins a pattern with the distinct values of the variables that its conditions use from outside, and of those that
    /// it shares with the pattern outside.
    fn with_outside(
        &mut self,
        outer: Option<&QueryPattern>,
        pattern: QueryPattern,
        conditions: &[&Expression],
        what: &str,
    ) -> Result<QueryPattern> {
        let scope = in_scope(&pattern);
        let Some(first) = conditions.iter().find_map(|condition| missing(&scope, condition)) else {
            return Ok(pattern);
        };
        let lacks = self.lacks(&format!("{what} uses {first} from outside"));
        let Some(outer) = outer.filter(|outer| nodes(*outer) <= MAX_COPIED) else { return Err(lacks) };
        let outer_scope = in_scope(outer);
        let mut repeated: BTreeSet<Variable> = scope.intersection(&outer_scope).cloned().collect();
        for condition in conditions {
            on_variables(condition, &mut |variable| {
                if !scope.contains(variable) {
                    repeated.insert(variable.clone());
                }
            });
        }
        if !repeated.iter().all(|variable| self.is_certain(outer, variable)) {
            return Err(lacks);
        }
        self.is_changed = true;
        let values = QueryPattern::project(outer.clone(), repeated.into_iter().collect());
        Ok(QueryPattern::join(QueryPattern::Distinct { inner: Box::new(values) }, pattern))
    }

    /// Rejects a pattern of EXISTS with a filter or an assignment that uses a variable from outside.
    fn check_exists(&self, pattern: &QueryPattern) -> Result<()> {
        let mut checked = Ok(());
        on_patterns(pattern, &mut |part| {
            let (inner, expression, what) = match part {
                QueryPattern::Filter { inner, condition } => (inner, condition, "an EXISTS whose FILTER"),
                QueryPattern::Extend { inner, expression, .. } => (inner, expression, "an EXISTS whose BIND"),
                _ => return,
            };
            if checked.is_ok()
                && let Some(variable) = missing(&in_scope(inner), expression)
            {
                checked = Err(self.lacks(&format!("{what} uses {variable} from outside")));
            }
        });
        checked
    }
}
