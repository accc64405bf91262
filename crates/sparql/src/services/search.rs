//! `SERVICE wikibase:mwapi` with `EntitySearch`: entities with a label or alias that begins with a text, from the
//! snapshot's own labels. It follows <https://www.wikidata.org/w/api.php?action=help&modules=wbsearchentities>: items
//! unless `type` is given, the best known first. Fuzzy matches follow if the limit allows. MediaWiki's other interfaces
//! are not available, because a snapshot has no data for them.

use oxrdf::{Literal, Variable};

use super::{Result, ServiceParameters, ServiceReplacement, SolutionRows, SparqlService};
use crate::environment::Environment;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_entities::{self as entities, EntityKind, Languages, find};
use terrapin_sparql_syntax::algebra::{NamedNodePattern, TermPattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::{MWAPI, SERVICE_PARAM, WIKIBASE};
use terrapin_triples::Store;

/// The service.
pub(super) const SERVICE: SparqlService = SparqlService {
    name: "wikibase:mwapi",
    iri: (WIKIBASE, "mwapi"),
    parameters: SERVICE_PARAM,
    rewrite: |_, parameters| Ok(ServiceReplacement::rows(SearchService::new(&parameters)?)),
};

/// Default number of results, as in MediaWiki's interface.
const LIMIT: usize = 50;

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchServiceColumn {
    Item,
    Label,
    Ordinal,
}

/// A search.
#[derive(Debug, Clone)]
struct SearchService {
    text: String,
    language: String,
    kind: EntityKind,
    limit: usize,
    outputs: Vec<(Variable, SearchServiceColumn)>,
}

impl SolutionRows for SearchService {
    fn variables(&self) -> Vec<Variable> {
        self.outputs.iter().map(|(variable, _)| variable.clone()).collect()
    }

    fn show_order(&mut self, variable: Variable) {
        self.outputs.push((variable, SearchServiceColumn::Ordinal));
    }

    fn rows(&self, environment: &Environment, _: &Budget) -> Result<Vec<Row>> {
        Ok(self.entities(&environment.store))
    }
}

impl SearchService {
    /// Reads the service's parameters.
    fn new(parameters: &ServiceParameters) -> Result<SearchService> {
        let api = parameters.text(WIKIBASE, "api")?.unwrap_or_default();
        if api != "EntitySearch" {
            let message = format!("wikibase:mwapi with '{api}' needs the live web");
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::LiveService, message)
                .help("use EntitySearch, which a snapshot answers from its labels and aliases"));
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
                Some("apiOutputItem") => SearchServiceColumn::Item,
                Some("apiOutput") => SearchServiceColumn::Label,
                Some("apiOrdinal") => SearchServiceColumn::Ordinal,
                _ => continue,
            };
            outputs.push((variable.clone(), output));
        }
        let kind = match parameters.text(MWAPI, "type")?.as_deref() {
            None | Some("item") => EntityKind::Item,
            Some("property") => EntityKind::Property,
            Some("lexeme" | "form" | "sense") => EntityKind::Lexeme,
            Some(other) => {
                let message = format!("wikibase:mwapi: unknown entity type '{other}'");
                return Err(parameters.wrong(message));
            }
        };
        Ok(SearchService {
            kind,
            text: parameters.text(MWAPI, "search")?.unwrap_or_default(),
            language: parameters.text(MWAPI, "language")?.unwrap_or_else(|| "en".to_owned()).to_lowercase(),
            limit: parameters.number(WIKIBASE, "limit")?.unwrap_or(LIMIT),
            outputs,
        })
    }

    fn entities(&self, store: &Store) -> Vec<Row> {
        let languages = [self.language.clone()];
        let found = find(
            store,
            &entities::EntityQuery {
                text: &self.text,
                kind: self.kind,
                languages: Languages::These(&languages),
                limit: self.limit,
                descriptions: false,
                slips: true,
            },
        );
        let rows = found.into_iter().enumerate().map(|(number, found)| {
            let value = |output: &SearchServiceColumn| match output {
                SearchServiceColumn::Item => found.id.term(store).and_then(|id| store.term(id)),
                SearchServiceColumn::Label => {
                    let (text, language) = (found.text.clone(), self.language.clone());
                    Some(Literal::new_language_tagged_literal_unchecked(text, language).into())
                }
                SearchServiceColumn::Ordinal => Some(Literal::from(number as u64).into()),
            };
            self.outputs.iter().map(|(_, output)| value(output)).collect()
        });
        rows.collect()
    }
}
