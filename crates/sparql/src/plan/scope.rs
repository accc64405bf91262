//! Which variables a pattern binds, and whether it may be asked with some of them bound already.

use oxrdf::Variable;
use rustc_hash::FxHashMap;

use terrapin_sparql_syntax::algebra::{Expression, Pattern};
use terrapin_sparql_syntax::walk::{on_exists, on_in_scope, on_variables};

/// A set of variables, each with about how many values it may have: all subjects of a predicate, for instance; 0 where
/// nothing is known of that.
#[derive(Debug, Clone, Default)]
pub struct Variables(FxHashMap<Variable, u64>);

impl Variables {
    /// Whether a variable is among them.
    pub fn has(&self, variable: &Variable) -> bool {
        self.0.contains_key(variable)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// About how many values a variable may have; 0 where that is not known.
    pub fn values(&self, variable: &Variable) -> u64 {
        self.0.get(variable).copied().unwrap_or(0)
    }

    /// Adds a variable.
    pub fn add(&mut self, variable: &Variable) {
        self.add_with(variable, 0);
    }

    /// Adds a variable that may have so many values. Where several say so, the fewest count.
    pub fn add_with(&mut self, variable: &Variable, values: u64) {
        match self.0.get_mut(variable) {
            None => {
                self.0.insert(variable.clone(), values);
            }
            Some(before) if *before == 0 || (values != 0 && values < *before) => *before = values,
            Some(_) => {}
        }
    }

    /// Those in this or the other.
    pub fn or(&self, other: &Variables) -> Variables {
        self.clone().with(other)
    }

    /// These and the other's, without a copy of these: a long chain of patterns has many.
    fn with(mut self, other: &Variables) -> Variables {
        other.0.iter().for_each(|(variable, values)| self.add_with(variable, *values));
        self
    }

    /// Those in both.
    pub fn and(&self, other: &Variables) -> Variables {
        Variables(self.0.iter().filter(|(v, _)| other.has(v)).map(|(v, values)| (v.clone(), *values)).collect())
    }

    /// How many are in both.
    pub fn common(&self, other: &Variables) -> usize {
        self.0.keys().filter(|variable| other.has(variable)).count()
    }

    /// Whether the other has all of them.
    pub fn is_within(&self, other: &Variables) -> bool {
        self.0.keys().all(|variable| other.has(variable))
    }

    /// All of them in the order of their names.
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

/// The variables that a pattern may bind, and those that it binds in every solution.
pub fn bound(pattern: &Pattern) -> (Variables, Variables) {
    match pattern {
        Pattern::Bgp { .. } | Pattern::Relation { .. } => {
            let all = in_scope(pattern);
            (all.clone(), all)
        }
        Pattern::Join { left, right } | Pattern::Lateral { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.with(&d))
        }
        Pattern::LeftJoin { left, right, .. } | Pattern::LeftLateral { left, right, .. } => {
            let (possible, certain) = bound(left);
            (possible.with(&bound(right).0), certain)
        }
        Pattern::Union { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.and(&d))
        }
        Pattern::Filter { inner, .. }
        | Pattern::Distinct { inner }
        | Pattern::Reduced { inner }
        | Pattern::Slice { inner, .. }
        | Pattern::OrderBy { inner, .. } => bound(inner),
        Pattern::Minus { left, .. } => bound(left),
        Pattern::Extend { inner, variable, .. } => {
            let (mut possible, certain) = bound(inner);
            possible.add(variable);
            (possible, certain)
        }
        Pattern::Values { variables, rows } => {
            let certain = variables.iter().enumerate();
            let certain = certain.filter(|(i, _)| rows.iter().all(|row| row.get(*i).is_some_and(Option::is_some)));
            (variables.iter().cloned().collect(), certain.map(|(_, v)| v.clone()).collect())
        }
        Pattern::Project { inner, variables } => {
            let (possible, certain) = bound(inner);
            let shown: Variables = variables.iter().cloned().collect();
            (possible.and(&shown), certain.and(&shown))
        }
        Pattern::Group { inner, variables, aggregates } => {
            let (possible, certain) = bound(inner);
            let keys: Variables = variables.iter().cloned().collect();
            let mut all = possible.and(&keys);
            aggregates.iter().for_each(|(variable, _)| all.add(variable));
            (all, certain.and(&keys))
        }
        Pattern::Path { .. }
        | Pattern::Table { .. }
        | Pattern::Include { .. }
        | Pattern::Graph { .. }
        | Pattern::Service { .. } => (in_scope(pattern), Variables::default()),
    }
}

fn in_scope(pattern: &Pattern) -> Variables {
    let mut all = Variables::default();
    on_in_scope(pattern, &mut |variable| all.add(variable));
    all
}

/// Whether a pattern gives the same when it is asked once for each solution of another one, with the variables of
/// `entry` perhaps bound by that, as when it is solved alone and then joined.
pub fn fits(pattern: &Pattern, entry: &Variables) -> bool {
    match pattern {
        Pattern::Bgp { .. } | Pattern::Relation { .. } | Pattern::Values { .. } => true,
        Pattern::Join { left, right } | Pattern::Lateral { left, right } => fits(left, entry) && fits(right, entry),
        Pattern::Union { left, right } => fits(left, entry) && fits(right, entry),
        Pattern::Filter { inner, condition } => {
            fits(inner, entry) && expression_fits(condition, &bound(inner).1, entry)
        }
        Pattern::Extend { inner, variable, expression } => {
            fits(inner, entry) && !entry.has(variable) && expression_fits(expression, &bound(inner).1, entry)
        }
        Pattern::LeftJoin { left, right, condition } => {
            let ((_, certain), (possible, always)) = (bound(left), bound(right));
            // What the left side binds only sometimes would be bound by the right side, or not, depending on who asks.
            fits(left, entry)
                && fits(right, entry)
                && possible.and(entry).is_within(&certain)
                && condition.as_ref().is_none_or(|e| expression_fits(e, &certain.or(&always), entry))
        }
        // What the sides have in common must not become more.
        Pattern::Minus { left, right } => {
            fits(left, entry) && is_plain(right) && bound(right).0.and(entry).is_within(&bound(left).1)
        }
        _ => false,
    }
}

/// Whether a pattern gives the same whatever is known around it, so that it may be solved apart.
pub fn is_plain(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Bgp { .. } | Pattern::Relation { .. } | Pattern::Values { .. } => true,
        Pattern::Join { left, right } | Pattern::Lateral { left, right } | Pattern::Union { left, right } => {
            is_plain(left) && is_plain(right)
        }
        Pattern::Project { inner, .. } | Pattern::Distinct { inner } => is_plain(inner),
        _ => false,
    }
}

/// Whether an expression sees the same values in both cases.
fn expression_fits(expression: &Expression, certain: &Variables, entry: &Variables) -> bool {
    let mut fit = true;
    on_variables(expression, &mut |variable| fit &= certain.has(variable) || !entry.has(variable));
    on_exists(expression, &mut |pattern| fit = fit && exists_fits(pattern, certain, entry));
    fit
}

/// Whether the pattern of an EXISTS is asked with the same values of its variables in both cases.
fn exists_fits(pattern: &Pattern, certain: &Variables, entry: &Variables) -> bool {
    match pattern {
        Pattern::Bgp { .. } | Pattern::Relation { .. } | Pattern::Values { .. } => {
            bound(pattern).0.and(entry).is_within(certain)
        }
        Pattern::Join { left, right }
        | Pattern::Lateral { left, right }
        | Pattern::Union { left, right }
        | Pattern::Minus { left, right } => exists_fits(left, certain, entry) && exists_fits(right, certain, entry),
        Pattern::LeftJoin { left, right, condition } => {
            exists_fits(left, certain, entry)
                && exists_fits(right, certain, entry)
                && condition.as_ref().is_none_or(|e| expression_fits(e, certain, entry))
        }
        Pattern::Filter { inner, condition } => {
            exists_fits(inner, certain, entry) && expression_fits(condition, certain, entry)
        }
        _ => false,
    }
}
