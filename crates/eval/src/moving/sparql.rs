//! Moves a pair in SPARQL: items of Wikidata that the snapshot lacks are replaced by items in the same role: objects or
//! subjects of the same property, so that they are of the classes that the property has.

use std::collections::BTreeMap;
use std::ops::Range;

use oxrdf::NamedNode;
use terrapin_sparql::labelled::{IdentifierKind, label_of};
use terrapin_sparql::syntax::algebra::{NamedNodePattern, Path, QueryPattern, TermPattern};
use terrapin_sparql::syntax::walk::{AsNode, QueryNode};
use terrapin_sparql::syntax::{self, SparqlToken, TokenKind};
use terrapin_sparql::{Dialect, Environment};
use terrapin_triples::{EntityId, EntityKind, Store, TermId};

use super::draw::Draw;
use super::edits::{QueryEdit, apply};
use super::question;
use super::{AttemptResult, QuestionState, Replacement, ReplacementKind};
use crate::dataset::GoldPair;

/// Maximum number of triples of a property that are read.
const TRIPLES: usize = 20_000;
/// Number of the most used items among which one is drawn.
const DRAWN: usize = 40;
/// From this attempt on, the most used items come first.
const MOST_USED: u32 = 4;

/// The role of an item in a triple: the property, and whether the item is its object.
type ItemRole = (NamedNode, bool);

/// The items of a snapshot.
pub(super) struct ItemIndex<'a> {
    store: Option<&'a Store>,
}

impl<'a> ItemIndex<'a> {
    pub fn new(environment: Option<&'a Environment>) -> ItemIndex<'a> {
        ItemIndex { store: environment.map(|environment| &*environment.store) }
    }

    /// Replaces the items that the snapshot lacks.
    pub fn moved(&self, pair: &GoldPair, seed: u64, attempt: u32) -> AttemptResult {
        let mut result = AttemptResult {
            query: pair.query.clone(),
            question: pair.question.clone(),
            bbox: pair.bbox.clone(),
            replacements: Vec::new(),
            state: QuestionState::Moved,
        };
        let Some(store) = self.store else { return result };
        let mut draw = Draw::new(seed, &[&pair.question, &pair.query, &attempt.to_string()]);
        let roles = roles(&pair.query);
        let mut known: BTreeMap<EntityId, Option<EntityId>> = BTreeMap::new();
        let mut edits = Vec::new();
        for token in syntax::read_tokens(&pair.query, Dialect::Auto) {
            let Some((id, range)) = item_of(&pair.query, &token) else { continue };
            if id.term(store).is_some_and(|term| store.is_node(term)) {
                continue;
            }
            let new = *known.entry(id).or_insert_with(|| {
                let roles = roles.get(&id).map(Vec::as_slice).unwrap_or_default();
                drawn(store, roles, attempt, &mut draw)
            });
            if let Some(new) = new {
                edits.push(QueryEdit { range, text: new.to_string() });
            }
        }
        for (old, new) in known {
            let is_named = new.and_then(|new| {
                let label = label_of(store, IdentifierKind::of_id(&new.to_string())?, &new.to_string(), "en")?;
                question::replaced(&result.question, &old.to_string(), &label)
            });
            // The snapshot has no label of an item that it lacks.
            let found = is_named.is_some();
            result.question = is_named.unwrap_or(result.question);
            if !found {
                result.state = result.state.max(QuestionState::Differs);
            }
            result.replacements.push(Replacement {
                kind: ReplacementKind::Item,
                old: old.to_string(),
                new: new.map_or_else(String::new, |new| new.to_string()),
                in_question: Some(found),
            });
        }
        result.query = apply(&pair.query, edits);
        result
    }
}

/// Returns the item of a token, `wd:Q64` or `<http://www.wikidata.org/entity/Q64>`, and the range of its identifier.
fn item_of(query: &str, token: &SparqlToken) -> Option<(EntityId, Range<usize>)> {
    let text = query.get(token.start..token.end)?;
    let (id, end) = match token.kind {
        TokenKind::Prefixed { colon } => {
            let (prefix, id) = text.split_at_checked(colon as usize + 1)?;
            (EntityId::parse(id).filter(|_| matches!(prefix, "wd:" | "entity:"))?, token.end)
        }
        TokenKind::Iri => (EntityId::of_iri(text.strip_prefix('<')?.strip_suffix('>')?)?, token.end - 1),
        _ => return None,
    };
    (id.kind == EntityKind::Item).then(|| (id, end - id.to_string().len()..end))
}

/// Draws an item in one of some roles; the most used ones in late attempts.
fn drawn(store: &Store, roles: &[ItemRole], attempt: u32, draw: &mut Draw) -> Option<EntityId> {
    for (property, is_object) in roles {
        let Some(property) = store.id(property.as_ref().into()) else { continue };
        let mut counts: BTreeMap<TermId, u64> = BTreeMap::new();
        for [subject, _, object] in store.triples(None, Some(property), None).take(TRIPLES) {
            *counts.entry(if *is_object { object } else { subject }).or_default() += 1;
        }
        let mut ranked: Vec<(u64, TermId)> = counts.into_iter().map(|(term, count)| (count, term)).collect();
        ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let items = ranked.into_iter().filter_map(|(_, term)| EntityId::of_term(store, term));
        let items: Vec<EntityId> = items.filter(|id| id.kind == EntityKind::Item).take(DRAWN).collect();
        let item = match attempt >= MOST_USED {
            true => items.get(attempt as usize - MOST_USED as usize).or_else(|| items.first()),
            false => draw.pick(&items),
        };
        if item.is_some() {
            return item.copied();
        }
    }
    None
}

/// Returns the roles of the items of a query.
fn roles(query: &str) -> BTreeMap<EntityId, Vec<ItemRole>> {
    let mut roles: BTreeMap<EntityId, Vec<ItemRole>> = BTreeMap::new();
    let Ok(parsed) = syntax::parse(query, Dialect::Auto) else { return roles };
    let mut add = |term: &TermPattern, property: &NamedNode, is_object: bool| {
        if let TermPattern::NamedNode(name) = term
            && let Some(id) = EntityId::of_iri(name.as_str())
        {
            roles.entry(id).or_default().push((property.clone(), is_object));
        }
    };
    let patterns = std::iter::once(&parsed.query.pattern).chain(parsed.named.iter().map(|(_, pattern)| pattern));
    let mut open: Vec<QueryNode<'_>> = patterns.map(AsNode::as_node).collect();
    while let Some(node) = open.pop() {
        match node {
            QueryNode::Pattern(QueryPattern::Bgp { patterns }) => {
                for triple in patterns {
                    let NamedNodePattern::NamedNode(property) = &triple.predicate else { continue };
                    add(&triple.subject, property, false);
                    add(&triple.object, property, true);
                }
            }
            QueryNode::Pattern(QueryPattern::Path { subject, path, object }) => {
                let properties = properties(path);
                // The last property leads to the object; the first comes from the subject.
                properties.iter().rev().for_each(|property| add(object, property, true));
                properties.iter().for_each(|property| add(subject, property, false));
            }
            _ => {}
        }
        node.children(&mut |child| open.push(child));
    }
    roles
}

/// Returns the properties of a path in their order; those of a reversed part are left out.
fn properties(path: &Path) -> Vec<&NamedNode> {
    let mut found = Vec::new();
    let mut open = vec![path];
    while let Some(path) = open.pop() {
        match path {
            Path::NamedNode(name) => found.push(name),
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => open.push(inner),
            Path::Sequence(left, right) | Path::Alternative(left, right) => {
                open.push(right);
                open.push(left);
            }
            Path::Reverse(_) | Path::NegatedPropertySet(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_from_names_and_iris() {
        let query =
            "SELECT * { wd:Q5 wdt:P31 <http://www.wikidata.org/entity/Q64>, <http://x.org/Q7>, wd:P17, rdfs:Q8 }";
        let found = syntax::read_tokens(query, Dialect::Auto).into_iter().filter_map(|token| item_of(query, &token));
        assert_eq!(found.map(|(_, range)| &query[range]).collect::<Vec<_>>(), ["Q5", "Q64"]);
    }

    #[test]
    fn items_have_the_roles_of_their_properties() {
        let found = roles("SELECT * { ?x wdt:P31/wdt:P279* wd:Q5 ; wdt:P57 wd:Q7 . wd:Q9 wdt:P17 ?y }");
        let of = |number: u64| {
            let id = EntityId { kind: EntityKind::Item, number };
            let short =
                |(property, is_object): &ItemRole| format!("{} {is_object}", syntax::shorten(property.as_str()));
            found.get(&id).map(|roles| roles.iter().map(short).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert!(of(5).contains(&"wdt:P279 true".to_owned()), "{:?}", of(5));
        assert_eq!(of(7), ["wdt:P57 true"]);
        assert_eq!(of(9), ["wdt:P17 false"]);
    }
}
