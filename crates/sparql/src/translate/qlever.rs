//! Replaces QLever's predicates and services by patterns of SPARQL 1.1.

use oxrdf::Variable;

use super::{Result, Translator};
use crate::functions::Called;
use crate::services::qlever::QleverService;
use crate::services::spatial_search::SpatialSearch;
use crate::waiting::Waiting;
use terrapin_sparql_syntax::Dialect;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::vocabulary::{MATERIALIZED_VIEW, NEAREST_NEIGHBORS, QL};

impl Translator {
    pub(super) fn triples(&mut self, triples: Vec<TriplePattern>) -> Result<Waiting> {
        if self.from != Dialect::Qlever || self.to == Dialect::Qlever {
            return Ok((QueryPattern::Bgp { patterns: triples }, Vec::new()));
        }
        let (mut plain, mut joined, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
        for triple in triples {
            let NamedNodePattern::NamedNode(predicate) = &triple.predicate else {
                plain.push(triple);
                continue;
            };
            let iri = predicate.as_str();
            if let Some(search) = SpatialSearch::of_triple(&triple)? {
                self.is_changed = true;
                waiting.extend(search.pending(&mut Called::default(), self.to != Dialect::Wdqs));
                continue;
            }
            if iri.strip_prefix(QL) == Some("has-predicate") {
                self.is_changed = true;
                joined.push(self.has_predicate(triple));
                continue;
            }
            if [QL, MATERIALIZED_VIEW, NEAREST_NEIGHBORS].iter().any(|space| iri.starts_with(space)) {
                return Err(self.lacks(&format!("the predicate {predicate}")));
            }
            plain.push(triple);
        }
        let mut pattern = QueryPattern::Bgp { patterns: plain };
        for other in joined {
            pattern = if pattern.is_unit() { other } else { QueryPattern::join(pattern, other) };
        }
        Ok((pattern, waiting))
    }

    /// Replaces `?s ql:has-predicate ?p` by `{ SELECT DISTINCT ?s ?p { ?s ?p ?o } }`.
    fn has_predicate(&mut self, triple: TriplePattern) -> QueryPattern {
        let object = self.helper();
        let mut shown: Vec<Variable> = Vec::new();
        for term in [&triple.subject, &triple.object] {
            if let TermPattern::Variable(variable) = term {
                shown.push(variable.clone());
            }
        }
        let predicate = match triple.object {
            TermPattern::NamedNode(node) => NamedNodePattern::NamedNode(node),
            TermPattern::Variable(variable) => NamedNodePattern::Variable(variable),
            _ => NamedNodePattern::Variable(self.helper()),
        };
        let triple = TriplePattern { subject: triple.subject, predicate, object: object.into() };
        let pattern = QueryPattern::project(QueryPattern::Bgp { patterns: vec![triple] }, shown);
        QueryPattern::Distinct { inner: Box::new(pattern) }
    }

    /// Replaces a spatial search by its filters. The others have no equivalent.
    pub(super) fn qlever_service(
        &mut self,
        service: QleverService,
        inner: QueryPattern,
        projected: &[Variable],
    ) -> Result<Waiting> {
        self.is_changed = true;
        match service {
            QleverService::Paths => Err(self.lacks("SERVICE pathSearch:")),
            QleverService::Text => Err(self.lacks("SERVICE textSearch:")),
            QleverService::Spatial => {
                let mut search = SpatialSearch::new(inner)?;
                if search.nearest.is_some() {
                    return Err(self.lacks("spatialSearch:numNearestNeighbors"));
                }
                let inner = self.settled(std::mem::take(&mut search.inner), projected)?;
                Ok((inner, search.pending(&mut Called::default(), self.to != Dialect::Wdqs)))
            }
        }
    }
}
