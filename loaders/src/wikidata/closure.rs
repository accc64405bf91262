//! Finds the entities that queries touch: the links between entities in each query, and the candidates of each variable
//! in the links of the dumps.
//!
//! The required links of a query are evaluated first, each time the one with the fewest candidates at a known end: an
//! entity, or a variable that has candidates. They narrow the candidates of variables at their ends. A repeated link,
//! such as that of `wdt:P279*`, is followed to its end in the direction from the known end. Optional links then add
//! candidates to variables that no required link has, until none is new. Each is followed from the end that is reached
//! over fewer other links, and from both if they are equally near, but not back from candidates that it added: that would
//! lead to entities that no solution has. Filters are ignored, so that the candidates contain all solutions.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;

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
    /// The ids of properties that lead from the object to the subject, as alternatives to these.
    pub inverse: Vec<String>,
    /// Whether it may be repeated, also zero times.
    pub repeated: bool,
    /// The value.
    pub object: LinkEnd,
    /// Whether every solution has it.
    pub required: bool,
}

/// The entities that VALUES gives a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenEntities {
    /// The variable.
    pub variable: u32,
    /// The entities, by id.
    pub ids: Vec<String>,
    /// Whether the variable has one of them in every solution.
    pub required: bool,
}

/// The links of one alternative of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryLinks {
    /// The links.
    pub links: Vec<QueryLink>,
    /// The entities of variables in VALUES.
    pub given: Vec<GivenEntities>,
    /// Whether the alternative has links that cannot be followed, such as one with a variable as its predicate.
    pub unfollowed: bool,
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
        let links = self.links.iter().flat_map(|query| &query.links);
        links.flat_map(|link| link.properties.iter().chain(&link.inverse).cloned()).collect()
    }

    /// Returns the links and entities as text, for digests: a line for each.
    pub(super) fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for query in &self.links {
            let _ = writeln!(text, "alternative{}", if query.unfollowed { " unfollowed" } else { "" });
            for GivenEntities { variable, ids, required } in &query.given {
                let _ = writeln!(text, "values ?{variable} {}{}", ids.join(" "), marked(*required));
            }
            for QueryLink { subject, properties, inverse, repeated, object, required } in &query.links {
                let inverse: Vec<String> = inverse.iter().map(|id| format!("^{id}")).collect();
                let path = properties.iter().chain(&inverse).map(String::as_str).collect::<Vec<_>>().join("|");
                let star = if *repeated { "*" } else { "" };
                let (subject, object) = (subject.canonical(), object.canonical());
                let _ = writeln!(text, "link {subject} {path}{star} {object}{}", marked(*required));
            }
        }
        self.entities.iter().for_each(|id| text.extend(["entity ", id, "\n"]));
        text
    }
}

fn marked(required: bool) -> &'static str {
    if required { "" } else { " optional" }
}

impl LinkEnd {
    fn canonical(&self) -> String {
        match self {
            LinkEnd::Entity(id) => id.clone(),
            LinkEnd::Variable(variable) => format!("?{variable}"),
            LinkEnd::Value => "value".to_owned(),
        }
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

    /// Returns the links of a property as subject and object, or as object and subject.
    fn all(&self, property: Number, is_inverse: bool) -> impl Iterator<Item = (Number, Number)> + '_ {
        let lists = self.by_property.get(&property).into_iter();
        lists.flat_map(move |lists| if is_inverse { &lists.by_object } else { &lists.by_subject }).copied()
    }

    /// Returns the number of links of a property to values.
    fn values(&self, property: Number) -> usize {
        self.by_property.get(&property).map_or(0, |lists| lists.by_object.partition_point(|(end, _)| *end == 0))
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
    /// The number of alternatives with a link that was left out: it cannot be followed, or it has no known end and is
    /// repeated or has too many statements.
    pub open: usize,
    /// The number of alternatives with candidates for every required link.
    pub answerable: usize,
    /// The number of links in the dumps by properties that the queries follow.
    pub links: usize,
    /// The number of entities that the closure takes.
    pub entities: usize,
}

/// Returns the entities that queries touch, with the report. Links without a known end are left out if they are repeated
/// or have more than `open_links` statements.
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
            open: query.unfollowed,
            open_links: usize::try_from(open_links).unwrap_or(usize::MAX),
        };
        candidates.follow(query);
        report.answerable += usize::from(!candidates.empty && !candidates.open);
        report.open += usize::from(candidates.open);
        taken.extend(candidates.all);
        candidates.variables.into_values().for_each(|variable| taken.extend(variable.numbers));
    }
    taken.remove(&0);
    report.entities = taken.len();
    (taken, report)
}

/// The candidates of a variable.
#[derive(Debug, Default)]
struct VariableCandidates {
    /// The entities; 0 stands for values that are no entities.
    numbers: HashSet<Number>,
    /// Whether they are those of a required link, to which optional links add none.
    fixed: bool,
}

/// The candidates of the variables of a query.
struct Candidates<'a> {
    table: &'a LinkTable,
    open_links: usize,
    variables: BTreeMap<u32, VariableCandidates>,
    /// The entities on the way of repeated links.
    all: HashSet<Number>,
    /// A required link has no candidates.
    empty: bool,
    /// A link was left out.
    open: bool,
}

/// A link of a query with its properties by number.
struct FollowedLink<'q> {
    link: &'q QueryLink,
    properties: LinkProperties,
    /// Whether an optional link is followed from its subject.
    from_subject: bool,
    /// Whether an optional link is followed from its object.
    from_object: bool,
    /// The subjects, then the objects, that an optional link added: it is not followed back from them.
    added: [HashSet<Number>; 2],
}

impl<'q> FollowedLink<'q> {
    fn of(link: &'q QueryLink) -> FollowedLink<'q> {
        let numbers = |ids: &[String]| ids.iter().filter_map(|id| number(id)).collect();
        let properties = LinkProperties { properties: numbers(&link.properties), inverse: numbers(&link.inverse) };
        FollowedLink { link, properties, from_subject: false, from_object: false, added: Default::default() }
    }
}

/// The properties of a link by number.
struct LinkProperties {
    properties: Vec<Number>,
    inverse: Vec<Number>,
}

impl LinkProperties {
    /// Returns the properties, each with whether it leads from the object to the subject.
    fn all(&self) -> impl Iterator<Item = (Number, bool)> + '_ {
        let inverse = self.inverse.iter().map(|&property| (property, true));
        self.properties.iter().map(|&property| (property, false)).chain(inverse)
    }
}

impl Candidates<'_> {
    fn follow(&mut self, query: &QueryLinks) {
        let numbers =
            |given: &GivenEntities| -> HashSet<Number> { given.ids.iter().filter_map(|id| number(id)).collect() };
        for given in query.given.iter().filter(|given| given.required) {
            self.narrow(&LinkEnd::Variable(given.variable), numbers(given));
        }
        let (mut required, optional): (Vec<FollowedLink<'_>>, Vec<FollowedLink<'_>>) =
            query.links.iter().map(FollowedLink::of).partition(|followed| followed.link.required);
        while let Some(place) = (0..required.len()).min_by_key(|&place| required.get(place).map(|link| self.cost(link)))
        {
            let followed = required.remove(place);
            let Some(found) = self.pairs(&followed) else {
                self.open = true;
                continue;
            };
            self.empty |= found.is_empty();
            let (from, to): (HashSet<Number>, HashSet<Number>) = found.into_iter().unzip();
            self.narrow(&followed.link.subject, from);
            self.narrow(&followed.link.object, to);
        }
        for given in query.given.iter().filter(|given| !given.required) {
            self.widen(&LinkEnd::Variable(given.variable), &numbers(given));
        }
        self.follow_optional(optional);
    }

    /// Follows links that need not hold: they add candidates to variables that no required link has.
    fn follow_optional(&mut self, mut links: Vec<FollowedLink<'_>>) {
        loop {
            // A candidate that one link adds is a start for others. All links with a known end are found first, so that
            // the order in the query has no effect.
            for _ in 0..=links.len() {
                let mut grown = false;
                links.iter_mut().for_each(|link| grown |= self.find_directions(link));
                links.iter_mut().for_each(|link| grown |= self.add_ends(link));
                if !grown {
                    break;
                }
            }
            let costs = links.iter().map(|link| self.cost(link)).enumerate();
            let unknown = costs.filter(|(_, (has_no_start, _))| *has_no_start);
            let Some((place, _)) = unknown.min_by_key(|(_, cost)| *cost) else { return };
            let followed = links.remove(place);
            let Some(found) = self.pairs(&followed) else {
                self.open = true;
                continue;
            };
            let (from, to): (HashSet<Number>, HashSet<Number>) = found.into_iter().unzip();
            self.widen(&followed.link.subject, &from);
            self.widen(&followed.link.object, &to);
        }
    }

    /// Sets the ends from which an optional link is followed: those that are known first. Returns whether they are new.
    fn find_directions(&self, followed: &mut FollowedLink<'_>) -> bool {
        if followed.from_subject || followed.from_object {
            return false;
        }
        let FollowedLink { link, properties, .. } = &*followed;
        let is_known = |end, is_object| self.start_count(properties, end, is_object).is_some();
        let (from_subject, from_object) = (is_known(&link.subject, false), is_known(&link.object, true));
        (followed.from_subject, followed.from_object) = (from_subject, from_object);
        from_subject || from_object
    }

    /// Adds the ends of an optional link that are reached from its known ends; returns whether one is new.
    fn add_ends(&mut self, followed: &mut FollowedLink<'_>) -> bool {
        let FollowedLink { link, properties, from_subject, from_object, added } = followed;
        let [added_subjects, added_objects] = added;
        let others = |mut start: Vec<Number>, added: &HashSet<Number>| {
            start.retain(|start| !added.contains(start));
            start
        };
        let subject = self.starts(properties, &link.subject, false).filter(|_| *from_subject);
        let object = self.starts(properties, &link.object, true).filter(|_| *from_object);
        let subject = subject.map(|start| others(start, added_subjects));
        let object = object.map(|start| others(start, added_objects));
        let (fixed_subject, fixed_object) = (self.is_fixed(&link.subject), self.is_fixed(&link.object));
        let mut grown = false;
        let is_shorter = match (&subject, &object) {
            (Some(subject), Some(object)) => object.len() < subject.len(),
            (subject, _) => subject.is_none(),
        };
        for (start, other, other_is_fixed, backwards, added) in [
            (subject, &link.object, fixed_object, false, added_objects),
            (object, &link.subject, fixed_subject, true, added_subjects),
        ] {
            let Some(start) = start else { continue };
            // Between two fixed ends, only the way of a repeated link is new.
            if other_is_fixed && !(link.repeated && fixed_subject == fixed_object && backwards == is_shorter) {
                continue;
            }
            let found = self.ends(properties, link.repeated, &start, backwards);
            if link.repeated {
                self.all.extend(&found);
            }
            // Another link may have found some before.
            added.extend(found.iter().filter(|&&end| !self.has_candidate(other, end)));
            grown |= self.widen(other, &found);
        }
        grown
    }

    /// Returns whether an end gets no more candidates.
    fn is_fixed(&self, end: &LinkEnd) -> bool {
        match end {
            LinkEnd::Entity(_) | LinkEnd::Value => true,
            LinkEnd::Variable(variable) => self.variables.get(variable).is_some_and(|known| known.fixed),
        }
    }

    /// Returns whether an entity is a candidate of a variable.
    fn has_candidate(&self, end: &LinkEnd, entity: Number) -> bool {
        let LinkEnd::Variable(variable) = end else { return false };
        self.variables.get(variable).is_some_and(|known| known.numbers.contains(&entity))
    }

    /// Returns the number of entities or statements from which a link is followed; links with a known end come first.
    /// Repeated links without one come last, since they cannot be followed.
    fn cost(&self, FollowedLink { link, properties, .. }: &FollowedLink<'_>) -> (bool, usize) {
        let subject = self.start_count(properties, &link.subject, false);
        match subject.into_iter().chain(self.start_count(properties, &link.object, true)).min() {
            Some(known) => (false, known),
            None if link.repeated => (true, usize::MAX),
            None => (true, self.statements(properties)),
        }
    }

    /// Returns the number of statements of properties.
    fn statements(&self, properties: &LinkProperties) -> usize {
        let lists = properties.all().filter_map(|(property, _)| self.table.by_property.get(&property));
        lists.map(|lists| lists.by_subject.len()).sum()
    }

    /// Returns the number of candidates and of values from which a link can be followed at an end. `None` if the end is a
    /// literal, has no candidates yet, or may be a value that too many statements have.
    fn start_count(&self, properties: &LinkProperties, end: &LinkEnd, is_object: bool) -> Option<usize> {
        match end {
            LinkEnd::Entity(_) => Some(1),
            LinkEnd::Variable(variable) => {
                let known = &self.variables.get(variable)?.numbers;
                if !known.contains(&0) {
                    return Some(known.len());
                }
                let with_value = properties.all().filter(|(_, is_inverse)| *is_inverse != is_object);
                let values: usize = with_value.map(|(property, _)| self.table.values(property)).sum();
                (values <= self.open_links).then(|| known.len() + values)
            }
            LinkEnd::Value => None,
        }
    }

    /// Returns the candidates from which a link can be followed at an end.
    fn starts(&self, properties: &LinkProperties, end: &LinkEnd, is_object: bool) -> Option<Vec<Number>> {
        self.start_count(properties, end, is_object)?;
        match end {
            LinkEnd::Entity(id) => Some(number(id).into_iter().collect()),
            LinkEnd::Variable(variable) => Some(self.variables.get(variable)?.numbers.iter().copied().collect()),
            LinkEnd::Value => None,
        }
    }

    /// Returns whether an end can be an entity.
    fn fits(&self, end: &LinkEnd, found: Number) -> bool {
        match end {
            LinkEnd::Entity(id) => number(id) == Some(found),
            LinkEnd::Variable(variable) => {
                self.variables.get(variable).is_none_or(|known| known.numbers.contains(&found))
            }
            LinkEnd::Value => true,
        }
    }

    /// Returns the pairs of subject and object of a link that fit the candidates; `None` for a link without a known end
    /// that is repeated or has too many statements.
    fn pairs(&mut self, FollowedLink { link, properties, .. }: &FollowedLink<'_>) -> Option<Vec<(Number, Number)>> {
        let subject = self.start_count(properties, &link.subject, false);
        let backwards = match (subject, self.start_count(properties, &link.object, true)) {
            (Some(subject), Some(object)) => object < subject,
            (subject, _) => subject.is_none(),
        };
        let (start, other) = if backwards { (&link.object, &link.subject) } else { (&link.subject, &link.object) };
        let Some(start) = self.starts(properties, start, backwards) else {
            // All statements of the properties. They lack the solutions of a repeated link without a step: any entity.
            if link.repeated || self.statements(properties) > self.open_links {
                return None;
            }
            let all = properties.all().flat_map(|(property, is_inverse)| self.table.all(property, is_inverse));
            let fits = |&(from, to): &(Number, Number)| self.fits(&link.subject, from) && self.fits(&link.object, to);
            return Some(all.filter(fits).collect());
        };
        let put = |from: Number, to: Number| if backwards { (to, from) } else { (from, to) };
        if link.repeated {
            let reached = self.ends(properties, true, &start, backwards);
            let ends: Vec<Number> = reached.iter().copied().filter(|&end| self.fits(other, end)).collect();
            self.all.extend(&reached);
            let mut pairs = Vec::new();
            // The ends of a chain do not tell its start: all starts stay.
            if let Some(&first) = ends.first() {
                pairs.extend(start.iter().map(|&start| put(start, first)));
            }
            if let Some(&first) = start.first() {
                pairs.extend(ends.into_iter().map(|end| put(first, end)));
            }
            return Some(pairs);
        }
        let ends =
            start.iter().flat_map(|&start| self.steps(properties, start, backwards).map(move |end| (start, end)));
        Some(ends.filter(|&(_, end)| self.fits(other, end)).map(|(start, end)| put(start, end)).collect())
    }

    /// Returns the other ends of the statements of properties at an entity.
    fn steps<'s>(
        &'s self,
        properties: &'s LinkProperties,
        at: Number,
        backwards: bool,
    ) -> impl Iterator<Item = Number> + 's {
        properties.all().flat_map(move |(property, is_inverse)| self.table.at(property, at, backwards != is_inverse))
    }

    /// Returns the entities that properties lead to: in one step, or in any number of steps with the start.
    fn ends(&self, properties: &LinkProperties, repeated: bool, start: &[Number], backwards: bool) -> HashSet<Number> {
        if !repeated {
            return start.iter().flat_map(|&at| self.steps(properties, at, backwards)).collect();
        }
        let mut open: Vec<Number> = start.iter().copied().filter(|&at| at != 0).collect();
        let mut reached: HashSet<Number> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            open.extend(self.steps(properties, at, backwards).filter(|end| *end != 0 && reached.insert(*end)));
        }
        reached
    }

    /// Limits a variable to the ends of a required link.
    fn narrow(&mut self, end: &LinkEnd, found: HashSet<Number>) {
        let LinkEnd::Variable(variable) = end else { return };
        match self.variables.get_mut(variable) {
            Some(known) => known.numbers.retain(|number| found.contains(number)),
            None => drop(self.variables.insert(*variable, VariableCandidates { numbers: found, fixed: true })),
        }
    }

    /// Adds the ends of an optional link to a variable that no required link has; returns whether one is new.
    fn widen(&mut self, end: &LinkEnd, found: &HashSet<Number>) -> bool {
        let LinkEnd::Variable(variable) = end else { return false };
        let known = self.variables.entry(*variable).or_default();
        let before = known.numbers.len();
        if !known.fixed {
            known.numbers.extend(found);
        }
        known.numbers.len() > before
    }
}

#[cfg(test)]
mod tests;
