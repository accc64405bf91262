//! Join ordering: a greedy search from the most promising first items, by the snapshot's cardinalities. Each step takes
//! the item that leaves the fewest solutions.

use super::condition::FilterCondition;
use super::estimate::{PatternCardinality, rough};
use super::order::{PlannedPattern, Planner};
use super::scope::{self, Variables};
use terrapin_budget::checkpoint;
use terrapin_sparql_syntax::algebra::QueryPattern;

/// A pattern to be joined.
enum JoinItem {
    Single(Single),
    Other(Other),
}

/// A triple pattern or relation.
struct Single {
    pattern: QueryPattern,
    counted: PatternCardinality,
}

/// Any other pattern.
struct Other {
    pattern: QueryPattern,
    possible: Variables,
    /// Estimated number of its solutions if it is evaluated alone.
    rows: f64,
    /// Whether it may be evaluated per solution of all other items, at any position in the order.
    fits: bool,
}

impl Other {
    /// Returns whether it may be evaluated per solution that binds `known`.
    fn fits(&self, known: &Variables) -> bool {
        self.fits || scope::fits(&self.pattern, known)
    }
}

/// Number of first items to try.
const BEGINNINGS: usize = 5;

/// For joins with more items than this, only one first item is tried.
const LONG: usize = 50;

/// Cost of one lookup, in triples. An index nested loop does one lookup per solution, a hash join one per side.
const ASKING: f64 = 2.0;

/// A hash join is considered above this number of solutions.
const MANY: f64 = 2000.0;

/// Estimated number of solutions at which the existence of one is taken as certain.
const ENOUGH: f64 = 100.0;

impl JoinItem {
    fn variables(&self) -> &Variables {
        match self {
            JoinItem::Single(single) => &single.counted.variables,
            JoinItem::Other(other) => &other.possible,
        }
    }

    /// Returns whether the item has certainly no solution.
    fn is_none(&self) -> bool {
        match self {
            JoinItem::Single(single) => single.counted.count == Some(0),
            JoinItem::Other(other) => matches!(&other.pattern, QueryPattern::Values { rows, .. } if rows.is_empty()),
        }
    }
}

/// Determines for each item whether it may be evaluated per solution of all others.
fn find_fitting(items: &mut [JoinItem], bound: &Variables) {
    for i in 0..items.len() {
        if !matches!(items.get(i), Some(JoinItem::Other(_))) {
            continue;
        }
        let others = items.iter().enumerate().filter(|(j, _)| *j != i);
        let entry = others.fold(bound.clone(), |entry, (_, item)| {
            checkpoint();
            entry.or(item.variables())
        });
        if let Some(JoinItem::Other(other)) = items.get_mut(i) {
            other.fits = scope::fits(&other.pattern, &entry);
        }
    }
}

/// An order of the items with its estimated cost.
struct JoinOrder {
    items: Vec<usize>,
    cost: f64,
}

impl Planner<'_> {
    /// Plans a join under a filter's conditions.
    pub(super) fn group(
        &mut self,
        pattern: QueryPattern,
        conditions: &[FilterCondition],
        bound: &Variables,
    ) -> PlannedPattern {
        let mut items = self.items(pattern);
        if items.iter().any(JoinItem::is_none) {
            let all = items.iter().fold(Variables::default(), |all, item| all.or(item.variables()));
            return PlannedPattern::none(&all);
        }
        find_fitting(&mut items, bound);
        match items.len() {
            0 => PlannedPattern { pattern: QueryPattern::default(), rows: 1.0 },
            1 => match items.remove(0) {
                JoinItem::Single(Single { pattern, counted }) => {
                    PlannedPattern { pattern, rows: counted.rows(self.view, bound) }
                }
                JoinItem::Other(other) => self.pattern(other.pattern, bound),
            },
            _ => {
                let order = self.best(&items, conditions, bound);
                self.chain(items, order, conditions, bound)
            }
        }
    }

    /// Splits a join into its items, from left to right.
    fn items(&self, pattern: QueryPattern) -> Vec<JoinItem> {
        let mut items = Vec::new();
        let mut open = vec![pattern];
        while let Some(pattern) = open.pop() {
            match pattern {
                QueryPattern::Join { left, right } => open.extend([*right, *left]),
                QueryPattern::Bgp { patterns } => items.extend(patterns.into_iter().map(|triple| {
                    let counted = PatternCardinality::of_triple(&triple, self.view);
                    JoinItem::Single(Single { pattern: QueryPattern::Bgp { patterns: vec![triple] }, counted })
                })),
                QueryPattern::Relation { subject, number, object } => {
                    let counted = PatternCardinality::of_relation(&subject, number, &object, self.view);
                    let pattern = QueryPattern::Relation { subject, number, object };
                    items.push(JoinItem::Single(Single { pattern, counted }));
                }
                pattern => {
                    let (possible, _) = scope::bound(&pattern);
                    let rows = rough(&pattern, self.view);
                    items.push(JoinItem::Other(Other { pattern, possible, rows, fits: false }));
                }
            }
        }
        items
    }

    /// Returns the estimated solutions of an item per input solution with `bound` bound, and the cost for all `rows`
    /// input solutions.
    fn step(&self, item: &JoinItem, rows: f64, bound: &Variables) -> (f64, f64) {
        match item {
            JoinItem::Single(Single { counted, .. }) => {
                let fan = counted.rows(self.view, bound);
                let loops = rows * (ASKING + fan);
                // The alternative is a hash join: scan the item once and probe with the other side.
                let hashed = counted.count.map_or(f64::INFINITY, |count| count as f64 + rows);
                (fan, loops.min(hashed))
            }
            JoinItem::Other(other) => {
                let common = other.possible.common(bound) as i32;
                let fan = other.rows / 100_f64.powi(common).max(1.0);
                if common > 0 && other.fits(bound) {
                    (fan, rows * (ASKING + fan))
                } else {
                    (fan, other.rows + rows * fan.max(1.0))
                }
            }
        }
    }

    fn answers(&self, item: &JoinItem, bound: &Variables) -> bool {
        match item {
            JoinItem::Single(single) => single.counted.answers(self.view, bound),
            JoinItem::Other(_) => true,
        }
    }

    /// Returns the cheapest of the greedy orders from the most promising first items.
    fn best(&self, items: &[JoinItem], conditions: &[FilterCondition], bound: &Variables) -> Vec<usize> {
        let solutions = |item: &JoinItem| {
            self.step(item, 1.0, bound).0 * FilterCondition::left(conditions, bound, item.variables())
        };
        let mut beginnings: Vec<(bool, f64, usize)> =
            (0..items.len()).map(|i| (!self.answers(&items[i], bound), solutions(&items[i]), i)).collect();
        beginnings.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        // A greedy order takes quadratic time in the number of items.
        beginnings.truncate(if items.len() > LONG { 1 } else { BEGINNINGS });
        let orders = beginnings.into_iter().map(|(_, _, first)| self.greedy(items, first, conditions, bound));
        orders.min_by(|a, b| a.cost.total_cmp(&b.cost)).map_or_else(|| (0..items.len()).collect(), |order| order.items)
    }

    fn greedy(&self, items: &[JoinItem], first: usize, conditions: &[FilterCondition], bound: &Variables) -> JoinOrder {
        let mut order = JoinOrder { items: Vec::with_capacity(items.len()), cost: 0.0 };
        let mut known = bound.clone();
        let mut rows = 1.0_f64;
        let mut next = Some(first);
        while let Some(item) = next {
            let (fan, cost) = self.step(&items[item], rows, &known);
            order.cost += if self.answers(&items[item], &known) { cost } else { f64::INFINITY };
            rows = (rows * fan * FilterCondition::left(conditions, &known, items[item].variables())).max(1e-3);
            known = known.or(items[item].variables());
            order.items.push(item);
            // Prefer items that can be evaluated, then those that share a variable, then those that leave the fewest
            // solutions.
            next = (0..items.len())
                .filter(|i| !order.items.contains(i))
                .map(|i| {
                    checkpoint();
                    let apart = items[i].variables().common(&known) == 0;
                    let (fan, cost) = self.step(&items[i], rows, &known);
                    let fan = fan * FilterCondition::left(conditions, &known, items[i].variables());
                    (!self.answers(&items[i], &known), apart, fan + cost / rows / 8.0, i)
                })
                .min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)))
                .map(|(.., i)| i);
        }
        order
    }

    /// Builds the pattern that joins the items in an order.
    fn chain(
        &mut self,
        items: Vec<JoinItem>,
        order: Vec<usize>,
        conditions: &[FilterCondition],
        bound: &Variables,
    ) -> PlannedPattern {
        let mut items: Vec<Option<JoinItem>> = items.into_iter().map(Some).collect();
        let mut known = bound.clone();
        // An item that shares no variable with the current chain begins a new one.
        let mut chains: Vec<PlannedPattern> = Vec::new();
        let mut own = Variables::default();
        let mut now: Option<PlannedPattern> = None;
        for i in order {
            let Some(item) = items.get_mut(i).and_then(Option::take) else { continue };
            let variables = item.variables().clone();
            let apart = variables.common(&own) == 0 && variables.common(bound) == 0 && !variables.is_empty();
            if apart && let Some(chain) = now.take_if(|_| !own.is_empty()) {
                chains.push(chain);
                own = Variables::default();
            }
            let mut next = match now.take() {
                None => self.first(item, bound),
                Some(part) => {
                    let shares = variables.common(&known.or(&own)) > 0;
                    self.append(part, item, &known.or(&own), shares)
                }
            };
            next.rows = (next.rows * FilterCondition::left(conditions, &known, &variables)).max(1e-3);
            own = own.or(&variables);
            known = known.or(&variables);
            now = Some(next);
        }
        chains.extend(now);
        // The smaller side of a product comes first: if it has no solution, the other side is not evaluated.
        chains.sort_by(|a, b| a.rows.total_cmp(&b.rows));
        let joined = chains.into_iter().reduce(|left, right| {
            let rows = left.rows * right.rows;
            PlannedPattern { pattern: QueryPattern::join(left.pattern, right.pattern), rows }
        });
        joined.unwrap_or_else(|| PlannedPattern { pattern: QueryPattern::default(), rows: 1.0 })
    }

    fn first(&mut self, item: JoinItem, bound: &Variables) -> PlannedPattern {
        match item {
            JoinItem::Single(Single { pattern, counted }) => {
                PlannedPattern { pattern, rows: counted.rows(self.view, bound) }
            }
            JoinItem::Other(other) if other.fits(bound) => self.pattern(other.pattern, bound),
            JoinItem::Other(other) => self.pattern(other.pattern, &Variables::default()),
        }
    }

    fn append(&mut self, part: PlannedPattern, item: JoinItem, known: &Variables, shares: bool) -> PlannedPattern {
        let (fan, _) = self.step(&item, part.rows, known);
        let rows = (part.rows * fan).max(1e-3);
        let (right, lateral) = match item {
            JoinItem::Single(Single { pattern, counted }) => {
                let loops = part.rows * (ASKING + fan);
                let hashed = counted.count.map_or(f64::INFINITY, |count| count as f64 + part.rows);
                // If one solution suffices, a nested loop stops there, while a hash join must first build its table.
                let needed = if self.first { (ENOUGH / rows).min(1.0) } else { 1.0 };
                let hash = shares && part.rows > MANY && hashed * 2.0 < loops * needed;
                if hash { (pattern, false) } else { (pattern, true) }
            }
            JoinItem::Other(other) if shares && other.fits(known) => (self.pattern(other.pattern, known).pattern, true),
            JoinItem::Other(other) => (self.pattern(other.pattern, &Variables::default()).pattern, false),
        };
        let (left, right) = (Box::new(part.pattern), Box::new(right));
        let pattern = if lateral { QueryPattern::Lateral { left, right } } else { QueryPattern::Join { left, right } };
        PlannedPattern { pattern, rows }
    }
}
