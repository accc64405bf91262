//! `SERVICE wikibase:mwapi` with `EntitySearch`: entities whose label or alias begins with a text, from the snapshot's
//! own labels, as <https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities> has them: items, unless `type`
//! says otherwise, the best known first. Names that are spelt a little otherwise follow, where there is room for them.
//! MediaWiki's other interfaces are not in a snapshot.

use std::cmp::Reverse;

use oxrdf::{Literal, NamedNodeRef, Term, Variable};
use rustc_hash::FxHashMap;

use super::{Parameters, Replacement, Result, Rows, Service, work};
use crate::environment::Environment;
use crate::functions::labels::Kind;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, TermPattern};
use terrapin_sparql_syntax::error::{Class, Code, Error};
use terrapin_sparql_syntax::vocabulary::{MWAPI, SERVICE_PARAM, WIKIBASE};
use terrapin_triples::{Store, TermId};

/// The service.
pub(super) const SERVICE: Service = Service {
    name: "wikibase:mwapi",
    iri: (WIKIBASE, "mwapi"),
    parameters: SERVICE_PARAM,
    rewrite: |_, parameters| Ok(Replacement::rows(Search::new(&parameters)?)),
};

/// How many are found where the query sets no limit, as the interface has it.
const LIMIT: usize = 50;

/// How many sitelinks an entity has: by how many projects it is known.
const SITELINKS: &str = "http://wikiba.se/ontology#sitelinks";

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Output {
    Item,
    Label,
    Ordinal,
}

/// A search.
#[derive(Debug, Clone)]
struct Search {
    text: String,
    language: String,
    /// What the names of entities begin with: `Q` for items.
    letter: char,
    limit: usize,
    outputs: Vec<(Variable, Output)>,
}

impl Rows for Search {
    fn variables(&self) -> Vec<Variable> {
        self.outputs.iter().map(|(variable, _)| variable.clone()).collect()
    }

    fn show_order(&mut self, variable: Variable) {
        self.outputs.push((variable, Output::Ordinal));
    }

    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>> {
        self.entities(&environment.store, budget)
    }
}

impl Search {
    /// Reads the service's parameters.
    fn new(parameters: &Parameters) -> Result<Search> {
        let api = parameters.text(WIKIBASE, "api")?.unwrap_or_default();
        if api != "EntitySearch" {
            let message = format!("wikibase:mwapi with '{api}' would need the live web");
            return Err(Error::new(Class::Unsupported, Code::LiveService, message)
                .help("a snapshot answers EntitySearch, from its labels and aliases"));
        }
        parameters.needed(MWAPI, "search")?;
        let mut outputs = Vec::new();
        for triple in &parameters.triples {
            let (TermPattern::Variable(variable), NamedNodePattern::NamedNode(predicate)) =
                (&triple.subject, &triple.predicate)
            else {
                continue;
            };
            let output = match predicate.as_str().strip_prefix(WIKIBASE) {
                Some("apiOutputItem") => Output::Item,
                Some("apiOutput") => Output::Label,
                Some("apiOrdinal") => Output::Ordinal,
                _ => continue,
            };
            outputs.push((variable.clone(), output));
        }
        let letter = match parameters.text(MWAPI, "type")?.as_deref() {
            None | Some("item") => 'Q',
            Some("property") => 'P',
            Some("lexeme" | "form" | "sense") => 'L',
            Some(other) => {
                let message = format!("wikibase:mwapi: there is no type '{other}' of entities");
                return Err(parameters.wrong(message));
            }
        };
        Ok(Search {
            letter,
            text: parameters.text(MWAPI, "search")?.unwrap_or_default().to_lowercase(),
            language: parameters.text(MWAPI, "language")?.unwrap_or_else(|| "en".to_owned()).to_lowercase(),
            limit: parameters.number(WIKIBASE, "limit")?.unwrap_or(LIMIT),
            outputs,
        })
    }

    /// Whether an entity is of the type that is asked for.
    fn is_wanted(&self, store: &Store, entity: TermId) -> bool {
        name(store, entity).is_some_and(|name| name.starts_with(self.letter))
    }

    /// How near a name is to the text: 0 for the same, 1 where it begins with it, 2 or more for so many letters more or
    /// less or others that it is misspelt by; nothing where that is too many.
    fn nearness(&self, name: &str, budget: &Budget) -> Result<Option<u8>> {
        if let Some(rest) = name.strip_prefix(&self.text) {
            return Ok(Some(u8::from(!rest.is_empty())));
        }
        let misspelt = match self.text.chars().count() {
            // So short a text is near to everything; so long a one is no name.
            0..=3 | 101.. => return Ok(None),
            4..=7 => 1,
            _ => 2,
        };
        // A letter has at most four bytes.
        if name.len().abs_diff(self.text.len()) > 4 * misspelt {
            return Ok(None);
        }
        work(budget, self.text.len() as u64)?;
        let distance = strsim::osa_distance(name, &self.text);
        Ok(u8::try_from(distance).ok().filter(|_| distance <= misspelt).map(|distance| 1 + distance))
    }

    /// The entities: exact matches first, then names that begin so, then those that are spelt a little otherwise; of each
    /// labels before aliases; among equals those with the most sitelinks, then those of which most is said, then in the
    /// order of their numbers.
    fn entities(&self, store: &Store, budget: &Budget) -> Result<Vec<Row>> {
        // The best rank of each entity and the text that has it.
        let mut found: FxHashMap<TermId, (u8, String)> = FxHashMap::default();
        for (kind, base) in [(Kind::Label, 0), (Kind::AltLabel, 1)] {
            let Some(predicate) = store.id(NamedNodeRef::new_unchecked(kind.predicate()).into()) else { continue };
            for [entity, _, object] in store.triples(None, Some(predicate), None) {
                work(budget, 1)?;
                let Some(Term::Literal(literal)) = store.term(object) else { continue };
                if !literal.language().is_some_and(|l| l.eq_ignore_ascii_case(&self.language)) {
                    continue;
                }
                let Some(nearness) = self.nearness(&literal.value().to_lowercase(), budget)? else { continue };
                if !self.is_wanted(store, entity) {
                    continue;
                }
                let rank = base + 2 * nearness;
                if found.get(&entity).is_none_or(|(known, _)| rank < *known) {
                    found.insert(entity, (rank, literal.value().to_owned()));
                }
            }
        }
        let mut order: Vec<(u8, Reverse<Known>, TermId, String)> =
            found.into_iter().map(|(id, (rank, text))| (rank, Reverse(known(store, id)), id, text)).collect();
        order.sort_unstable();
        order.truncate(self.limit);
        let rows = order.into_iter().enumerate().map(|(number, (_, _, id, text))| {
            let value = |output: &Output| match output {
                Output::Item => store.term(id),
                Output::Label => {
                    Some(Literal::new_language_tagged_literal_unchecked(text.clone(), self.language.clone()).into())
                }
                Output::Ordinal => Some(Literal::from(number as u64).into()),
            };
            self.outputs.iter().map(|(_, output)| value(output)).collect()
        });
        Ok(rows.collect())
    }
}

/// How well an entity is known: its sitelinks, what is said of it, and the number in its name, of which the least was
/// given first.
type Known = (u64, u64, Reverse<u64>);

fn known(store: &Store, entity: TermId) -> Known {
    let sitelinks = store.id(NamedNodeRef::new_unchecked(SITELINKS).into()).and_then(|predicate| {
        let [_, _, count] = store.triples(Some(entity), Some(predicate), None).next()?;
        match store.term(count)? {
            Term::Literal(count) => count.value().parse().ok(),
            _ => None,
        }
    });
    let number = name(store, entity).and_then(|name| name.get(1..)?.parse().ok()).unwrap_or(u64::MAX);
    (sitelinks.unwrap_or(0), store.count(Some(entity), None, None), Reverse(number))
}

/// The last part of an entity's IRI, such as `Q64`.
fn name(store: &Store, entity: TermId) -> Option<String> {
    let Some(Term::NamedNode(node)) = store.term(entity) else { return None };
    node.as_str().rsplit('/').next().map(str::to_owned)
}
