//! Which variables a pattern binds, and whether it may be asked with some of them bound already.

use oxrdf::Variable;
use rustc_hash::FxHashMap;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use terrapin_sparql_syntax::walk::{children, on_variables};

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

/// The variables of a triple pattern.
pub fn of_triple(triple: &TriplePattern) -> Variables {
    let mut out = Variables::default();
    for term in [&triple.subject, &triple.object] {
        if let TermPattern::Variable(variable) = term {
            out.add(variable);
        }
    }
    if let NamedNodePattern::Variable(variable) = &triple.predicate {
        out.add(variable);
    }
    out
}

/// The variables that a pattern may bind, and those that it binds in every solution.
pub fn bound(pattern: &GraphPattern) -> (Variables, Variables) {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            let all = patterns.iter().fold(Variables::default(), |all, triple| all.with(&of_triple(triple)));
            (all.clone(), all)
        }
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.with(&d))
        }
        GraphPattern::LeftJoin { left, right, .. } => {
            let (possible, certain) = bound(left);
            (possible.with(&bound(right).0), certain)
        }
        GraphPattern::Union { left, right } => {
            let ((a, b), (c, d)) = (bound(left), bound(right));
            (a.with(&c), b.and(&d))
        }
        GraphPattern::Filter { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. }
        | GraphPattern::OrderBy { inner, .. } => bound(inner),
        GraphPattern::Minus { left, .. } => bound(left),
        GraphPattern::Extend { inner, variable, .. } => {
            let (mut possible, certain) = bound(inner);
            possible.add(variable);
            (possible, certain)
        }
        GraphPattern::Values { variables, bindings } => {
            let certain = variables.iter().enumerate();
            let certain = certain.filter(|(i, _)| bindings.iter().all(|row| row.get(*i).is_some_and(Option::is_some)));
            (variables.iter().cloned().collect(), certain.map(|(_, v)| v.clone()).collect())
        }
        GraphPattern::Project { inner, variables } => {
            let (possible, certain) = bound(inner);
            let shown: Variables = variables.iter().cloned().collect();
            (possible.and(&shown), certain.and(&shown))
        }
        GraphPattern::Group { inner, variables, aggregates } => {
            let (possible, certain) = bound(inner);
            let keys: Variables = variables.iter().cloned().collect();
            let mut all = possible.and(&keys);
            aggregates.iter().for_each(|(variable, _)| all.add(variable));
            (all, certain.and(&keys))
        }
        GraphPattern::Path { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => {
            let mut all = Variables::default();
            pattern.on_in_scope_variable(|variable| all.add(variable));
            (all, Variables::default())
        }
    }
}

/// Whether a pattern gives the same when it is asked once for each solution of another one, with the variables of
/// `entry` perhaps bound by that, as when it is solved alone and then joined.
pub fn fits(pattern: &GraphPattern, entry: &Variables) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => true,
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            fits(left, entry) && fits(right, entry)
        }
        GraphPattern::Union { left, right } => fits(left, entry) && fits(right, entry),
        GraphPattern::Filter { inner, expr } => fits(inner, entry) && expression_fits(expr, &bound(inner).1, entry),
        GraphPattern::Extend { inner, variable, expression } => {
            fits(inner, entry) && !entry.has(variable) && expression_fits(expression, &bound(inner).1, entry)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            let ((_, certain), (possible, always)) = (bound(left), bound(right));
            // What the left side binds only sometimes would be bound by the right side, or not, depending on who asks.
            fits(left, entry)
                && fits(right, entry)
                && possible.and(entry).is_within(&certain)
                && expression.as_ref().is_none_or(|e| expression_fits(e, &certain.or(&always), entry))
        }
        // What the sides have in common must not become more.
        GraphPattern::Minus { left, right } => {
            fits(left, entry) && is_plain(right) && bound(right).0.and(entry).is_within(&bound(left).1)
        }
        _ => false,
    }
}

/// Whether a pattern gives the same whatever is known around it, so that it may be solved apart.
pub fn is_plain(pattern: &GraphPattern) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => true,
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right } => is_plain(left) && is_plain(right),
        GraphPattern::Project { inner, .. } | GraphPattern::Distinct { inner } => is_plain(inner),
        _ => false,
    }
}

/// Whether an expression sees the same values in both cases.
fn expression_fits(expression: &Expression, certain: &Variables, entry: &Variables) -> bool {
    let mut fit = true;
    on_variables(expression, &mut |variable| fit &= certain.has(variable) || !entry.has(variable));
    let mut patterns = Vec::new();
    of_exists(expression, &mut patterns);
    fit && patterns.into_iter().all(|pattern| exists_fits(pattern, certain, entry))
}

/// The patterns of the EXISTS in an expression.
fn of_exists<'e>(expression: &'e Expression, out: &mut Vec<&'e GraphPattern>) {
    if let Expression::Exists(pattern) = expression {
        out.push(pattern);
    }
    children(expression).into_iter().for_each(|child| of_exists(child, out));
}

/// Whether the pattern of an EXISTS is asked with the same values of its variables in both cases.
fn exists_fits(pattern: &GraphPattern, certain: &Variables, entry: &Variables) -> bool {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Values { .. } => bound(pattern).0.and(entry).is_within(certain),
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            exists_fits(left, certain, entry) && exists_fits(right, certain, entry)
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            exists_fits(left, certain, entry)
                && exists_fits(right, certain, entry)
                && expression.as_ref().is_none_or(|e| expression_fits(e, certain, entry))
        }
        GraphPattern::Filter { inner, expr } => {
            exists_fits(inner, certain, entry) && expression_fits(expr, certain, entry)
        }
        _ => false,
    }
}
