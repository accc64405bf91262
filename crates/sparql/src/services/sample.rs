//! `SERVICE bd:sample` and `bd:slice`: some of the matches of a triple pattern. The seed of a sample is derived from
//! snapshot and query; a slice consists of consecutive matches in the order of their terms.

use oxrdf::{Term, Variable};

use super::shared::{ground, work};
use super::{Result, ServiceParameters, ServiceReplacement, SolutionRows, SparqlService};
use crate::environment::Environment;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::{BD, SERVICE_PARAM};
use terrapin_triples::TermId;

/// Selects random matches.
pub(super) const SAMPLE: SparqlService = SparqlService {
    name: "bd:sample",
    iri: (BD, "sample"),
    parameters: SERVICE_PARAM,
    rewrite: |_, parameters| Ok(ServiceReplacement::rows(SampleService::new(parameters, true)?)),
};

/// Selects consecutive matches, from the first one or an offset on.
pub(super) const SLICE: SparqlService = SparqlService {
    name: "bd:slice",
    iri: (BD, "slice"),
    parameters: SERVICE_PARAM,
    rewrite: |_, parameters| Ok(ServiceReplacement::rows(SampleService::new(parameters, false)?)),
};

/// Default number of matches in a sample.
const LIMIT: usize = 100;

/// A sample or a slice.
#[derive(Debug, Clone)]
struct SampleService {
    triple: TriplePattern,
    random: bool,
    offset: usize,
    limit: usize,
    seed: String,
}

impl SampleService {
    /// Reads the service's parameters.
    fn new(mut parameters: ServiceParameters, random: bool) -> Result<SampleService> {
        parameters.service = "bd:sample or bd:slice";
        if parameters.triples.len() != 1 || !parameters.others.is_empty() {
            let message = "bd:sample and bd:slice take one triple pattern";
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message));
        }
        let Some(triple) = parameters.triples.pop() else {
            return Err(parameters.wrong("bd:sample and bd:slice take one triple pattern".to_owned()));
        };
        let (offset, limit) = if random { ("", "sample.limit") } else { ("slice.offset", "slice.limit") };
        Ok(SampleService {
            triple,
            random,
            offset: parameters.number(BD, offset)?.unwrap_or(0),
            limit: parameters.number(BD, limit)?.unwrap_or(if random { LIMIT } else { usize::MAX }),
            seed: parameters.text(BD, "sample.seed")?.unwrap_or_default(),
        })
    }

    fn parts(&self) -> [Option<Variable>; 3] {
        let term = |term: &TermPattern| match term {
            TermPattern::Variable(variable) => Some(variable.clone()),
            _ => None,
        };
        let predicate = match &self.triple.predicate {
            NamedNodePattern::Variable(variable) => Some(variable.clone()),
            NamedNodePattern::NamedNode(_) => None,
        };
        [term(&self.triple.subject), predicate, term(&self.triple.object)]
    }

    fn key(&self, environment: &Environment, number: u64) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&environment.seed).update(self.seed.as_bytes()).update(&number.to_le_bytes());
        hasher.finalize().as_bytes().iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte))
    }
}

impl SolutionRows for SampleService {
    fn variables(&self) -> Vec<Variable> {
        let mut variables: Vec<Variable> = Vec::new();
        for variable in self.parts().into_iter().flatten() {
            if !variables.contains(&variable) {
                variables.push(variable);
            }
        }
        variables
    }

    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>> {
        let store = &environment.store;
        let given = [
            ground(&self.triple.subject),
            match &self.triple.predicate {
                NamedNodePattern::NamedNode(node) => Some(Term::from(node.clone())),
                NamedNodePattern::Variable(_) => None,
            },
            ground(&self.triple.object),
        ];
        let mut ids: [Option<TermId>; 3] = [None; 3];
        for (id, term) in ids.iter_mut().zip(&given) {
            if let Some(term) = term {
                *id = store.id(term.as_ref());
                if id.is_none() {
                    return Ok(Vec::new());
                }
            }
        }
        let parts = self.parts();
        let columns = self.variables();
        // Matches are selected by a key: random for a sample, the position for a slice.
        let mut chosen: Vec<(u64, u64, [TermId; 3])> = Vec::new();
        for (number, triple) in store.triples(ids[0], ids[1], ids[2]).enumerate() {
            work(budget, 1)?;
            let value = |variable: &Variable| {
                let mut same = parts.iter().zip(triple).filter(|(p, _)| p.as_ref() == Some(variable)).map(|(_, id)| id);
                let first = same.next()?;
                same.all(|id| id == first).then_some(first)
            };
            if !columns.iter().all(|c| value(c).is_some()) {
                continue;
            }
            let key = if self.random { self.key(environment, number as u64) } else { 0 };
            chosen.push((key, number as u64, triple));
            let most = self.offset.saturating_add(self.limit);
            if self.random && chosen.len() > most.saturating_mul(2).saturating_add(1024) {
                chosen.sort_unstable();
                chosen.truncate(most);
            } else if !self.random && chosen.len() >= most {
                break;
            }
        }
        chosen.sort_unstable();
        let mut chosen: Vec<_> = chosen.into_iter().skip(self.offset).take(self.limit).collect();
        chosen.sort_unstable_by_key(|(_, number, _)| *number);
        let row = |(_, _, triple): &(u64, u64, [TermId; 3])| {
            let value = |column: &Variable| {
                let at = parts.iter().position(|p| p.as_ref() == Some(column))?;
                store.term(*triple.get(at)?)
            };
            columns.iter().map(value).collect()
        };
        Ok(chosen.iter().map(row).collect())
    }
}
