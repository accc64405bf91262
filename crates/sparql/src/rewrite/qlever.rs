//! Rewrites the special predicates and services of QLever.

use oxrdf::{Literal, NamedNode, Variable};

use super::{PatternScope, QueryRewriter, Result};
use crate::services::path_search::PathSearch;
use crate::services::qlever::QleverService;
use crate::services::spatial_search::SpatialSearch;
use crate::services::text_search::{TextSearch, internal_predicate};
use crate::services::{ServiceRows, qlever};
use crate::solve::SolvePlan;
use crate::waiting::{Pending, Waiting};
use terrapin_sparql_syntax::algebra::{
    Binary, Expression, Function, Helper, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern,
};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::in_scope;
use terrapin_sparql_syntax::vocabulary::{MATERIALIZED_VIEW, MAX_DISTANCE, NEAREST_NEIGHBORS, QL};
use terrapin_sparql_syntax::walk::QueryNode;

impl QueryRewriter<'_> {
    /// Rewrites triples. `ql:has-predicate` becomes a path of one step, which planning replaces by a relation.
    pub(super) fn triples(&mut self, mut triples: Vec<TriplePattern>) -> Result<Waiting> {
        let (mut joined, mut waiting) = (Vec::new(), Vec::new());
        for search in TextSearch::take(&mut triples)? {
            joined.push(self.table(ServiceRows::Service(Box::new(search))));
        }
        let mut plain = Vec::with_capacity(triples.len());
        for triple in triples {
            let NamedNodePattern::NamedNode(predicate) = &triple.predicate else {
                plain.push(triple);
                continue;
            };
            if let Some(search) = SpatialSearch::of_triple(&triple)? {
                waiting.extend(search.pending(&mut self.functions, true));
                continue;
            }
            match special(predicate)? {
                None => plain.push(triple),
                Some("has-predicate") => {
                    let path = Path::NamedNode(predicate.clone());
                    joined.push(QueryPattern::Path { subject: triple.subject, path, object: triple.object });
                }
                Some("langtag") => waiting.push(language(&triple)?),
                Some(_) => return Err(internal_predicate(predicate)),
            }
        }
        let mut pattern = QueryPattern::Bgp { patterns: plain };
        for other in joined {
            pattern = if pattern.is_unit() { other } else { QueryPattern::join(pattern, other) };
        }
        Ok((pattern, waiting))
    }

    /// Rewrites a service of QLever. `left` is the pattern that it is joined to.
    pub(super) fn qlever_service(
        &mut self,
        service: QleverService,
        left: QueryPattern,
        inner: QueryPattern,
        scope: &PatternScope,
    ) -> Result<Waiting> {
        let found = match service {
            QleverService::Text => {
                let mut found = QueryPattern::default();
                for search in TextSearch::of_service(inner)? {
                    let table = self.table(ServiceRows::Service(Box::new(search)));
                    found = join(found, table);
                }
                found
            }
            QleverService::Paths => {
                let (search, edges) = PathSearch::new(inner)?;
                let columns = search.edge_columns();
                let edges = self.top(QueryPattern::project(edges, columns.clone()), scope)?;
                let of = self.tables.len();
                self.tables.push(ServiceRows::Plan(Box::new(SolvePlan::of(edges))));
                self.table(ServiceRows::Derived { of, columns, rows: Box::new(search) })
            }
            QleverService::Spatial => {
                let mut search = SpatialSearch::new(inner)?;
                let inner = self.settled(std::mem::take(&mut search.inner), scope)?;
                if let Some(most) = search.nearest {
                    if !in_scope(&left).contains(&search.left) {
                        let message = format!(
                            "spatialSearch: with numNearestNeighbors follows, in its group, the patterns that bind \
                             the left variable {}",
                            search.left
                        );
                        return Err(SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::ServiceParameter, message));
                    }
                    let order = Variable::from(Helper::Distance(self.nearest));
                    self.nearest += 1;
                    let nearest = search.nearest_of(&mut self.functions, left, inner, most, order);
                    return Ok((nearest, Vec::new()));
                }
                return Ok((join(left, inner), search.pending(&mut self.functions, true)));
            }
        };
        Ok((join(left, found), Vec::new()))
    }
}

fn join(left: QueryPattern, right: QueryPattern) -> QueryPattern {
    match (left, right) {
        (unit, other) | (other, unit) if unit.is_unit() => other,
        (left, right) => QueryPattern::join(left, right),
    }
}

/// Returns an error if a path has a special predicate, which no triple of a snapshot has.
pub(super) fn check_path(path: &Path) -> Result<()> {
    let mut open = vec![QueryNode::Path(path)];
    while let Some(node) = open.pop() {
        if let QueryNode::Path(Path::NamedNode(predicate)) = node
            && (special(predicate)?.is_some() || predicate.as_str().starts_with(MAX_DISTANCE))
        {
            let message = format!("the predicate {predicate} is special in QLever and cannot be part of a path");
            let error = SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message);
            return Err(error.help("use it alone, as the predicate of a triple"));
        }
        node.children(&mut |child| open.push(child));
    }
    Ok(())
}

/// Returns the local name of a special predicate.
fn special(predicate: &NamedNode) -> Result<Option<&str>> {
    let iri = predicate.as_str();
    if iri.starts_with(MATERIALIZED_VIEW) {
        return Err(qlever::refused(predicate).unwrap_or_else(|| internal_predicate(predicate)));
    }
    if iri.starts_with(NEAREST_NEIGHBORS) {
        let message = format!("{predicate} is deprecated in QLever and not supported");
        let error = SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message);
        return Err(error.help("use SERVICE spatialSearch: with spatialSearch:numNearestNeighbors"));
    }
    Ok(iri.strip_prefix(QL))
}

/// Reads `?literal ql:langtag ql:@en`.
fn language(triple: &TriplePattern) -> Result<Pending> {
    let language = match &triple.object {
        TermPattern::NamedNode(tag) => tag.as_str().rsplit('@').next().map(str::to_owned),
        TermPattern::Literal(tag) => Some(tag.value().trim_start_matches('@').to_owned()),
        _ => None,
    };
    let (TermPattern::Variable(of), Some(language)) = (&triple.subject, language) else {
        let message = "ql:langtag takes a variable as its subject and a language as its object";
        return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
            .help("use FILTER(LANG(?label) = \"en\"), or @en@rdfs:label"));
    };
    let tag = Expression::Call(Function::Lang, vec![of.clone().into()]);
    let language = Literal::new_simple_literal(language.to_ascii_lowercase()).into();
    let expression = Expression::binary(Binary::Equal, tag, language);
    Ok(Pending { needs: vec![of.clone()], expression, variable: None })
}
