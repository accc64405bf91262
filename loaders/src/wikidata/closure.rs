//! Finds the entities that queries touch: the links between entities in each query, and the candidates of each variable
//! in the links of the dumps.
//!
//! The links of a query are evaluated one after another, each time one with a known end: an entity, or a variable that
//! has candidates. A link narrows the candidates of variables at its ends if it is required; a repeated link, such as
//! that of `wdt:P279*`, is followed to its end in the direction from the known end. Filters are ignored, so that the
//! candidates contain all solutions.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::number::{Number, number};

/// An end of a link in a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEnd {
    /// An entity, by id.
    Entity(String),
    /// A variable.
    Variable(u32),
    /// A literal, or anything else that is no entity.
    Value,
}

/// A link between entities in a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryLink {
    /// The entity with the statement.
    pub subject: LinkEnd,
    /// The ids of the properties, of which one suffices.
    pub properties: Vec<String>,
    /// Whether it may be repeated, also zero times.
    pub repeated: bool,
    /// The value.
    pub object: LinkEnd,
    /// Whether every solution has it.
    pub required: bool,
}

/// The links of one alternative of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryLinks {
    /// The links.
    pub links: Vec<QueryLink>,
    /// The entities of variables in VALUES.
    pub given: Vec<(u32, Vec<String>)>,
}

/// What queries use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryUses {
    /// The number of queries that were read.
    pub queries: usize,
    /// The number of queries that cannot be read.
    pub unread: usize,
    /// The links of the queries, by alternative.
    pub links: Vec<QueryLinks>,
    /// Entities by id.
    pub entities: BTreeSet<String>,
    /// Properties of statements.
    pub properties: BTreeSet<String>,
    /// Properties of qualifiers.
    pub qualifiers: BTreeSet<String>,
    /// Whether a query uses references.
    pub references: bool,
    /// Language codes of labels.
    pub languages: BTreeSet<String>,
}

impl QueryUses {
    /// Returns the properties that connect entities in queries.
    pub fn followed(&self) -> BTreeSet<String> {
        self.links.iter().flat_map(|query| &query.links).flat_map(|link| link.properties.iter().cloned()).collect()
    }
}

/// The links of the dumps by property: subject and object, or 0 for a value that is no entity.
#[derive(Debug, Default)]
pub(super) struct LinkTable {
    by_property: BTreeMap<Number, LinkLists>,
}

/// The links of one property, sorted from both ends.
#[derive(Debug, Default)]
struct LinkLists {
    by_subject: Vec<(Number, Number)>,
    by_object: Vec<(Number, Number)>,
}

impl LinkTable {
    /// Adds a link.
    pub(super) fn add(&mut self, property: Number, from: Number, to: Number) {
        self.by_property.entry(property).or_default().by_subject.push((from, to));
    }

    /// Returns the number of links.
    pub(super) fn len(&self) -> usize {
        self.by_property.values().map(|lists| lists.by_subject.len()).sum()
    }

    fn sort(&mut self) {
        for lists in self.by_property.values_mut() {
            lists.by_subject.sort_unstable();
            lists.by_subject.dedup();
            lists.by_object = lists.by_subject.iter().map(|&(from, to)| (to, from)).collect();
            lists.by_object.sort_unstable();
        }
    }

    /// Returns the other ends of the links at `known`.
    fn at(&self, property: Number, known: Number, backwards: bool) -> impl Iterator<Item = Number> + '_ {
        let lists = self.by_property.get(&property);
        let list: &[(Number, Number)] = match lists {
            None => &[],
            Some(lists) if backwards => &lists.by_object,
            Some(lists) => &lists.by_subject,
        };
        let first = list.partition_point(|(end, _)| *end < known);
        list.iter().skip(first).take_while(move |(end, _)| *end == known).map(|(_, other)| *other)
    }
}

/// The report of a closure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClosureReport {
    /// The number of queries that were read.
    pub queries: usize,
    /// The number of queries that could not be read.
    pub unread: usize,
    /// The number of alternatives of queries, such as the sides of UNION.
    pub alternatives: usize,
    /// The number of alternatives with a link that was left out: it has no known end and too many statements.
    pub open: usize,
    /// The number of alternatives with candidates for every required link.
    pub answerable: usize,
    /// The number of links in the dumps by properties that the queries follow.
    pub links: usize,
    /// The number of entities that the closure takes.
    pub entities: usize,
}

/// Returns the entities that queries touch, with the report. Links without a known end and with more than `open_links`
/// statements are left out.
pub(super) fn close(uses: &QueryUses, mut table: LinkTable, open_links: u64) -> (HashSet<Number>, ClosureReport) {
    table.sort();
    let mut taken: HashSet<Number> = uses.entities.iter().filter_map(|id| number(id)).collect();
    let mut report = ClosureReport {
        queries: uses.queries,
        unread: uses.unread,
        alternatives: uses.links.len(),
        links: table.len(),
        ..ClosureReport::default()
    };
    for query in &uses.links {
        let mut candidates = Candidates {
            table: &table,
            variables: BTreeMap::new(),
            all: HashSet::new(),
            empty: false,
            open: false,
            open_links,
        };
        candidates.follow(query);
        report.answerable += usize::from(!candidates.empty && !candidates.open);
        report.open += usize::from(candidates.open);
        taken.extend(candidates.all);
        candidates.variables.into_values().for_each(|numbers| taken.extend(numbers));
    }
    taken.remove(&0);
    report.entities = taken.len();
    (taken, report)
}

/// The candidates of the variables of a query.
struct Candidates<'a> {
    table: &'a LinkTable,
    open_links: u64,
    variables: BTreeMap<u32, HashSet<Number>>,
    /// The entities on the way of repeated links.
    all: HashSet<Number>,
    /// A required link has no candidates.
    empty: bool,
    /// A link was left out.
    open: bool,
}

impl Candidates<'_> {
    fn follow(&mut self, query: &QueryLinks) {
        for (variable, ids) in &query.given {
            self.variables.insert(*variable, ids.iter().filter_map(|id| number(id)).collect());
        }
        let mut open: Vec<&QueryLink> = query.links.iter().collect();
        // Required links first: they narrow the candidates before optional ones widen the result.
        while !open.is_empty() {
            let cost = |link: &&QueryLink| {
                let known = [&link.subject, &link.object].into_iter().filter_map(|end| self.size(end)).min();
                (!link.required, known.is_none(), known.unwrap_or(usize::MAX))
            };
            let Some(next) = (0..open.len()).min_by_key(|&place| open.get(place).map(cost)) else { return };
            let link = open.swap_remove(next);
            let Some(found) = self.pairs(link) else {
                self.open = true;
                continue;
            };
            if link.required && found.is_empty() {
                self.empty = true;
            }
            let (from, to): (HashSet<Number>, HashSet<Number>) = found.into_iter().unzip();
            self.narrow(&link.subject, from, link.required);
            self.narrow(&link.object, to, link.required);
        }
    }

    /// Returns the number of candidates of an end; `None` for a variable without any yet and for values.
    fn size(&self, end: &LinkEnd) -> Option<usize> {
        match end {
            LinkEnd::Entity(_) => Some(1),
            LinkEnd::Variable(variable) => self.variables.get(variable).map(HashSet::len),
            LinkEnd::Value => None,
        }
    }

    fn known(&self, end: &LinkEnd) -> Option<Vec<Number>> {
        match end {
            LinkEnd::Entity(id) => Some(number(id).into_iter().collect()),
            LinkEnd::Variable(variable) => self.variables.get(variable).map(|known| known.iter().copied().collect()),
            LinkEnd::Value => None,
        }
    }

    /// Returns the pairs of subject and object of a link that fit the candidates; `None` for a link without a known end
    /// and with too many.
    fn pairs(&mut self, link: &QueryLink) -> Option<Vec<(Number, Number)>> {
        let properties: Vec<Number> = link.properties.iter().filter_map(|id| number(id)).collect();
        let (subject, object) = (self.known(&link.subject), self.known(&link.object));
        let backwards = match (&subject, &object) {
            (Some(subject), Some(object)) => object.len() < subject.len(),
            (None, Some(_)) => true,
            _ => false,
        };
        let (start, other) = if backwards { (object, subject) } else { (subject, object) };
        let other: Option<HashSet<Number>> = other.map(|other| other.into_iter().collect());
        let fits = |end: &Number| other.as_ref().is_none_or(|other| other.contains(end));
        let mut pairs = Vec::new();
        let Some(start) = start else {
            // No end is known: all links of the properties, one step for a repeated link.
            let lists = properties.iter().filter_map(|property| self.table.by_property.get(property));
            let lists: Vec<&[(Number, Number)]> = lists.map(|lists| &*lists.by_subject).collect();
            let most = usize::try_from(self.open_links).unwrap_or(usize::MAX);
            let number: usize = lists.iter().map(|list| list.len()).sum();
            return (number <= most).then(|| lists.concat());
        };
        let mut put = |from: Number, to: Number| pairs.push(if backwards { (to, from) } else { (from, to) });
        if link.repeated {
            let reached = self.reached(&start, &properties, backwards);
            let ends: Vec<Number> = reached.iter().copied().filter(|end| fits(end)).collect();
            self.all.extend(&reached);
            // The ends of a chain do not tell its start: all starts stay.
            if let Some(&first) = ends.first() {
                start.iter().for_each(|&start| put(start, first));
            }
            if let Some(&first) = start.first() {
                ends.into_iter().for_each(|end| put(first, end));
            }
            return Some(pairs);
        }
        for start in start {
            for &property in &properties {
                self.table.at(property, start, backwards).filter(|end| fits(end)).for_each(|end| put(start, end));
            }
        }
        Some(pairs)
    }

    /// Returns the entities that are reached in any number of steps, with the start.
    fn reached(&self, start: &[Number], properties: &[Number], backwards: bool) -> HashSet<Number> {
        let mut reached: HashSet<Number> = start.iter().copied().collect();
        let mut open: Vec<Number> = start.to_vec();
        while let Some(at) = open.pop() {
            for &property in properties {
                let next = self.table.at(property, at, backwards).filter(|end| *end != 0 && reached.insert(*end));
                // The set is borrowed by the filter.
                open.extend(next.collect::<Vec<_>>());
            }
        }
        reached
    }

    fn narrow(&mut self, end: &LinkEnd, found: HashSet<Number>, required: bool) {
        let LinkEnd::Variable(variable) = end else { return };
        match self.variables.get_mut(variable) {
            Some(known) if required => known.retain(|number| found.contains(number)),
            Some(_) => {}
            None => drop(self.variables.insert(*variable, found)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(letter: char, number: u32) -> String {
        format!("{letter}{number}")
    }

    fn table(links: &[(u32, u32, u32)]) -> LinkTable {
        let mut table = LinkTable::default();
        for &(from, property, to) in links {
            table.add(number(&id('P', property)).unwrap(), from, to);
        }
        table
    }

    fn link(subject: LinkEnd, property: u32, object: LinkEnd) -> QueryLink {
        QueryLink { subject, properties: vec![id('P', property)], repeated: false, object, required: true }
    }

    fn closed(links: Vec<QueryLink>, table: LinkTable) -> (Vec<Number>, usize) {
        closed_with(links, table, 2)
    }

    fn closed_with(links: Vec<QueryLink>, table: LinkTable, open_links: u64) -> (Vec<Number>, usize) {
        let uses = QueryUses { links: vec![QueryLinks { links, given: Vec::new() }], ..QueryUses::default() };
        let (taken, report) = close(&uses, table, open_links);
        let mut taken: Vec<Number> = taken.into_iter().collect();
        taken.sort_unstable();
        (taken, report.answerable)
    }

    /// Cities of a country, with their mayors: `?c wdt:P31/wdt:P279* wd:Q515; wdt:P17 wd:Q9; wdt:P6 ?m`.
    #[test]
    fn candidates_are_those_of_all_links() {
        use LinkEnd::{Entity, Variable};
        let data = [
            (1, 31, 515),
            (2, 31, 20),
            (3, 31, 515),
            (4, 31, 5),
            (20, 279, 21),
            (21, 279, 515),
            (1, 17, 9),
            (2, 17, 9),
            (3, 17, 8),
            (4, 17, 9),
            (1, 6, 100),
            (2, 6, 101),
            (3, 6, 102),
            (4, 6, 103),
        ];
        let class = QueryLink { repeated: true, ..link(Variable(1), 279, Entity("Q515".to_owned())) };
        let links = vec![
            link(Variable(0), 31, Variable(1)),
            class,
            link(Variable(0), 17, Entity("Q9".to_owned())),
            link(Variable(0), 6, Variable(2)),
        ];
        assert_eq!(closed(links.clone(), table(&data)), (vec![1, 2, 20, 21, 100, 101, 515], 1));
        // An optional link does not narrow.
        let mut optional = links;
        optional[3] = QueryLink { required: false, ..link(Variable(0), 99, Variable(2)) };
        assert_eq!(closed(optional, table(&data)), (vec![1, 2, 20, 21, 515], 1));
        assert_eq!(closed(vec![link(Variable(0), 17, Entity("Q7".to_owned()))], table(&data)), (vec![], 0));
    }

    #[test]
    fn links_without_a_known_end_take_all_of_a_property() {
        use LinkEnd::{Value, Variable};
        let data = [(1, 625, 0), (2, 625, 0)];
        assert_eq!(closed(vec![link(Variable(0), 625, Value)], table(&data)), (vec![1, 2], 1));
        assert_eq!(closed_with(vec![link(Variable(0), 625, Value)], table(&data), 1), (vec![], 0));
    }
}
