//! The links of patterns while a query is read: joins, optional links, and the owners of statements.

use std::collections::{BTreeMap, BTreeSet};

use terrapin_loaders::wikidata::closure::{GivenEntities, LinkEnd, QueryLink, QueryLinks};

/// The maximum number of alternatives of a query; further ones are followed together, as optional links.
pub(super) const ALTERNATIVES: usize = 32;

/// The links of an alternative before statements are replaced by the entities that have them.
#[derive(Clone, Default)]
pub(super) struct OpenLinks {
    pub(super) links: Vec<QueryLink>,
    pub(super) given: Vec<GivenEntities>,
    /// The entities that have statements, by statement.
    pub(super) owners: BTreeMap<LinkEnd, LinkEnd>,
    /// The ends of triples that are no links of entities, such as labels.
    pub(super) others: Vec<[LinkEnd; 2]>,
    pub(super) unfollowed: bool,
}

impl OpenLinks {
    /// Replaces the numbers of variables.
    pub(super) fn renumbered(self, number: &mut dyn FnMut(u32) -> u32) -> OpenLinks {
        let OpenLinks { mut links, mut given, owners, mut others, unfollowed } = self;
        let mut renumber = |end: &mut LinkEnd| {
            if let LinkEnd::Variable(variable) = end {
                *variable = number(*variable);
            }
        };
        for link in &mut links {
            renumber(&mut link.subject);
            renumber(&mut link.object);
        }
        others.iter_mut().flatten().for_each(&mut renumber);
        let owners = owners.into_iter().map(|(mut statement, mut entity)| {
            renumber(&mut statement);
            renumber(&mut entity);
            (statement, entity)
        });
        let owners = owners.collect();
        given.iter_mut().for_each(|given| given.variable = number(given.variable));
        OpenLinks { links, given, owners, others, unfollowed }
    }
}

/// Returns the links of an alternative of a query.
pub(super) fn query_links(open: OpenLinks) -> QueryLinks {
    let unfollowed = open.unfollowed || has_loose_ends(&open);
    let OpenLinks { links, given, .. } = resolved(open);
    QueryLinks { links, given, unfollowed }
}

/// Replaces statements by the entities that have them.
fn resolved(mut open: OpenLinks) -> OpenLinks {
    for link in &mut open.links {
        for end in [&mut link.subject, &mut link.object] {
            if let Some(owner) = open.owners.get(&*end) {
                *end = owner.clone();
            }
        }
    }
    open
}

/// Returns whether a triple that is no link of entities has a variable to which no link leads, such as `?x` in
/// `?x rdfs:label "Valletta"@en`.
fn has_loose_ends(open: &OpenLinks) -> bool {
    let mut beside: BTreeMap<&LinkEnd, Vec<&LinkEnd>> = BTreeMap::new();
    for [a, b] in &open.others {
        beside.entry(a).or_default().push(b);
        beside.entry(b).or_default().push(a);
    }
    let given: Vec<LinkEnd> = open.given.iter().map(|given| LinkEnd::Variable(given.variable)).collect();
    let linked = open.links.iter().flat_map(|link| [&link.subject, &link.object]);
    let entities = beside.keys().copied().filter(|end| matches!(end, LinkEnd::Entity(_)));
    let mut reached: BTreeSet<&LinkEnd> = linked.chain(open.owners.keys()).chain(&given).chain(entities).collect();
    // A literal leads nowhere.
    reached.remove(&LinkEnd::Value);
    let mut work: Vec<&LinkEnd> = reached.iter().copied().collect();
    while let Some(end) = work.pop() {
        let near = beside.get(end).into_iter().flatten().copied();
        work.extend(near.filter(|end| **end != LinkEnd::Value && reached.insert(*end)));
    }
    beside.into_keys().any(|end| matches!(end, LinkEnd::Variable(_)) && !reached.contains(end))
}

/// Joins the links of two patterns.
pub(super) fn both(mut left: OpenLinks, right: OpenLinks) -> OpenLinks {
    left.links.extend(right.links);
    left.given.extend(right.given);
    left.owners.extend(right.owners);
    left.others.extend(right.others);
    left.unfollowed |= right.unfollowed;
    left
}

/// Merges alternatives to one with optional links. Each may have another entity with the same statement.
pub(super) fn merged(alternatives: Vec<OpenLinks>) -> OpenLinks {
    let mut all = alternatives.into_iter().map(resolved).fold(OpenLinks::default(), both);
    all.links.iter_mut().for_each(|link| link.required = false);
    all.given.iter_mut().for_each(|given| given.required = false);
    all
}

/// Merges the alternatives over the maximum number.
pub(super) fn bounded(mut alternatives: Vec<OpenLinks>) -> Vec<OpenLinks> {
    if alternatives.len() > ALTERNATIVES {
        let rest = alternatives.split_off(ALTERNATIVES - 1);
        alternatives.push(merged(rest));
    }
    alternatives
}

/// Joins each alternative of one side with each of the other, or with all of them as optional links if there would be
/// too many.
pub(super) fn joined(left: Vec<OpenLinks>, right: Vec<OpenLinks>) -> Vec<OpenLinks> {
    if left.len().saturating_mul(right.len()) > ALTERNATIVES {
        let all = merged(right);
        return left.into_iter().map(|left| both(left, all.clone())).collect();
    }
    left.iter().flat_map(|left| right.iter().map(|right| both(left.clone(), right.clone()))).collect()
}
