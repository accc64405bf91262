//! The variables that a pattern binds, and whether it may be evaluated with some of them bound already.

use oxrdf::Variable;
use rustc_hash::FxHashMap;

use terrapin_sparql_syntax::algebra::{Expression, NamedNodePattern, QueryPattern};
use terrapin_sparql_syntax::walk::{on_exists, on_in_scope, on_variables};

/// A set of variables, each with an estimate of its distinct values, such as the subjects of a predicate; 0 if unknown.
#[derive(Debug, Clone, Default)]
pub struct Variables(FxHashMap<Variable, u64>);

impl Variables {
    /// Returns whether the set contains a variable.
    pub fn has(&self, variable: &Variable) -> bool {
        self.0.contains_key(variable)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the estimated number of values of a variable; 0 if unknown.
    pub fn values(&self, variable: &Variable) -> u64 {
        self.0.get(variable).copied().unwrap_or(0)
    }

    /// Adds a variable without an estimate.
    pub fn add(&mut self, variable: &Variable) {
        self.add_with(variable, 0);
    }

    /// Adds a variable with an estimate of its values; the lowest estimate counts.
    pub fn add_with(&mut self, variable: &Variable, values: u64) {
        match self.0.get_mut(variable) {
            None => {
                self.0.insert(variable.clone(), values);
            }
            Some(before) if *before == 0 || (values != 0 && values < *before) => *before = values,
            Some(_) => {}
        }
    }

    /// Returns the union.
    pub fn or(&self, other: &Variables) -> Variables {
        self.clone().with(other)
    }

    /// Returns the union and reuses this set, because long chains of patterns have many variables.
    fn with(mut self, other: &Variables) -> Variables {
        other.0.iter().for_each(|(variable, values)| self.add_with(variable, *values));
        self
    }

    /// Returns the intersection.
    pub fn and(&self, other: &Variables) -> Variables {
        Variables(self.0.iter().filter(|(v, _)| other.has(v)).map(|(v, values)| (v.clone(), *values)).collect())
    }

    /// Returns the size of the intersection.
    pub fn common(&self, other: &Variables) -> usize {
        self.0.keys().filter(|variable| other.has(variable)).count()
    }

    /// Returns whether this is a subset of the other.
    pub fn is_within(&self, other: &Variables) -> bool {
        self.0.keys().all(|variable| other.has(variable))
    }

    /// Returns the variables sorted by name.
    pub fn sorted(&self) -> Vec<Variable> {
        let mut out: Vec<Variable> = self.0.keys().cloned().collect();
        out.sort_unstable_by(|a, b| a.as_str().cmp(b.as_str()));
        out
    }
}

impl FromIterator<Variable> for Variables {
    fn from_iter<I: IntoIterator<Item = Variable>>(variables: I) -> Self {
        Variables(variables.into_iter().map(|variable| (variable, 0)).collect())
    }
}

/// Returns the variables that a pattern may bind, and those that it binds in every solution.
pub fn bound(pattern: &QueryPattern) -> (Variables, Variables) {
    match pattern {
        QueryPattern::Bgp { .. } | QueryPattern::Relation { .. } => {
            let all = in_scope(pattern);
            (all.clone(), all)
        }
        QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.with(&d))
        }
        QueryPattern::LeftJoin { left, right, .. } | QueryPattern::LeftLateral { left, right, .. } => {
            let (possible, certain) = bound(left);
            (possible.with(&bound(right).0), certain)
        }
        QueryPattern::Union { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.and(&d))
        }
        QueryPattern::Filter { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Reduced { inner }
        | QueryPattern::Slice { inner, .. }
        | QueryPattern::OrderBy { inner, .. } => bound(inner),
        QueryPattern::Minus { left, .. } => bound(left),
        QueryPattern::Extend { inner, variable, .. } => {
            let (mut possible, certain) = bound(inner);
            possible.add(variable);
            (possible, certain)
        }
        QueryPattern::Values { variables, rows } => {
            let certain = variables.iter().enumerate();
            let certain = certain.filter(|(i, _)| rows.iter().all(|row| row.get(*i).is_some_and(Option::is_some)));
            (variables.iter().cloned().collect(), certain.map(|(_, v)| v.clone()).collect())
        }
        QueryPattern::Project { inner, variables } => {
            let (possible, certain) = bound(inner);
            let shown: Variables = variables.iter().cloned().collect();
            (possible.and(&shown), certain.and(&shown))
        }
        QueryPattern::Group { inner, variables, aggregates } => {
            let (possible, certain) = bound(inner);
            let keys: Variables = variables.iter().cloned().collect();
            let mut all = possible.and(&keys);
            aggregates.iter().for_each(|(variable, _)| all.add(variable));
            (all, certain.and(&keys))
        }
        QueryPattern::Graph { name, inner } => {
            let (mut possible, mut certain) = bound(inner);
            if let NamedNodePattern::Variable(variable) = name {
                possible.add(variable);
                certain.add(variable);
            }
            (possible, certain)
        }
        QueryPattern::Path { .. }
        | QueryPattern::Table { .. }
        | QueryPattern::Include { .. }
        | QueryPattern::Service { .. } => (in_scope(pattern), Variables::default()),
    }
}

fn in_scope(pattern: &QueryPattern) -> Variables {
    let mut all = Variables::default();
    on_in_scope(pattern, &mut |variable| all.add(variable));
    all
}

/// Returns whether a pattern may be evaluated per solution of another one, with the variables `entry` possibly bound:
/// the result must equal that of evaluating it alone and then joining.
pub fn fits(pattern: &QueryPattern, entry: &Variables) -> bool {
    match pattern {
        QueryPattern::Bgp { .. } | QueryPattern::Relation { .. } | QueryPattern::Values { .. } => true,
        QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
            fits(left, entry) && fits(right, entry)
        }
        QueryPattern::Union { left, right } => fits(left, entry) && fits(right, entry),
        QueryPattern::Graph { inner, .. } => fits(inner, entry),
        QueryPattern::Filter { inner, condition } => {
            fits(inner, entry) && expression_fits(condition, &bound(inner).1, entry)
        }
        QueryPattern::Extend { inner, variable, expression } => {
            fits(inner, entry) && !entry.has(variable) && expression_fits(expression, &bound(inner).1, entry)
        }
        QueryPattern::LeftJoin { left, right, condition } => {
            let ((_, certain), (possible, always)) = (bound(left), bound(right));
            // An `entry` variable that the left side binds only sometimes could take its value from the right side
            // instead.
            fits(left, entry)
                && fits(right, entry)
                && possible.and(entry).is_within(&certain)
                && condition.as_ref().is_none_or(|e| expression_fits(e, &certain.or(&always), entry))
        }
        // Bound variables must not add to those that both sides of MINUS share.
        QueryPattern::Minus { left, right } => {
            fits(left, entry) && is_plain(right) && bound(right).0.and(entry).is_within(&bound(left).1)
        }
        _ => false,
    }
}

/// Returns whether the result of a pattern is independent of the surrounding bindings, so that it may be evaluated
/// alone.
pub fn is_plain(pattern: &QueryPattern) -> bool {
    match pattern {
        QueryPattern::Bgp { .. } | QueryPattern::Relation { .. } | QueryPattern::Values { .. } => true,
        QueryPattern::Join { left, right }
        | QueryPattern::Lateral { left, right }
        | QueryPattern::Union { left, right } => is_plain(left) && is_plain(right),
        QueryPattern::Project { inner, .. } | QueryPattern::Distinct { inner } | QueryPattern::Graph { inner, .. } => {
            is_plain(inner)
        }
        _ => false,
    }
}

/// Returns whether an expression sees the same values with and without `entry` bound.
fn expression_fits(expression: &Expression, certain: &Variables, entry: &Variables) -> bool {
    let mut fit = true;
    on_variables(expression, &mut |variable| fit &= certain.has(variable) || !entry.has(variable));
    on_exists(expression, &mut |pattern| fit = fit && exists_fits(pattern, certain, entry));
    fit
}

/// Returns whether the pattern of an EXISTS sees the same values with and without `entry` bound.
fn exists_fits(pattern: &QueryPattern, certain: &Variables, entry: &Variables) -> bool {
    match pattern {
        QueryPattern::Bgp { .. } | QueryPattern::Relation { .. } | QueryPattern::Values { .. } => {
            bound(pattern).0.and(entry).is_within(certain)
        }
        QueryPattern::Join { left, right }
        | QueryPattern::Lateral { left, right }
        | QueryPattern::Union { left, right }
        | QueryPattern::Minus { left, right } => {
            exists_fits(left, certain, entry) && exists_fits(right, certain, entry)
        }
        QueryPattern::LeftJoin { left, right, condition } => {
            exists_fits(left, certain, entry)
                && exists_fits(right, certain, entry)
                && condition.as_ref().is_none_or(|e| expression_fits(e, certain, entry))
        }
        QueryPattern::Filter { inner, condition } => {
            exists_fits(inner, certain, entry) && expression_fits(condition, certain, entry)
        }
        _ => false,
    }
}
