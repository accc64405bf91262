//! Replaces triple patterns whose predicates have entailed triples.

use std::rc::Rc;
use std::sync::Arc;

use oxrdf::{NamedNode, Variable};
use rustc_hash::FxHashMap;

use super::places::{PlaceIndex, geo_property};
use super::rdfs::{EntailedTypes, HierarchyPairs, InheritedPairs};
use super::regime::{Entailment, GEO};
use super::schema::{Direction, RdfsSchema};
use super::topology::TopologicalPairs;
use crate::plan::{name_blank, register};
use terrapin_sparql_syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::shorten;
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns_below};
use terrapin_triples::{ReadError, TermId, TermRelation, TripleView};

/// Rewrites the triple patterns outside of GRAPH.
///
/// # Errors
/// Returns an error if a limit of the query is reached or the snapshot is damaged.
pub(crate) fn rewrite(
    pattern: &mut QueryPattern,
    view: &mut TripleView,
    entailment: Entailment,
) -> Result<(), ReadError> {
    if entailment.is_simple() {
        return Ok(());
    }
    let schema = RdfsSchema::new(view);
    let mut rewriter =
        EntailmentRewriter { view, entailment, schema, relations: FxHashMap::default(), index: None, failed: None };
    rewriter.pattern(pattern);
    rewriter.failed.map_or(Ok(()), Err)
}

struct EntailmentRewriter<'v> {
    view: &'v mut TripleView,
    entailment: Entailment,
    schema: RdfsSchema,
    /// The relations of each predicate so far.
    relations: FxHashMap<TermId, Vec<usize>>,
    /// The stored geometries, once a pattern needs them.
    index: Option<Rc<PlaceIndex>>,
    failed: Option<ReadError>,
}

impl EntailmentRewriter<'_> {
    fn pattern(&mut self, pattern: &mut QueryPattern) {
        if let QueryPattern::Graph { .. } | QueryPattern::Service { .. } = pattern {
            return;
        }
        on_patterns_below(NodeMut::Pattern(pattern), &mut |below| self.pattern(below));
        let QueryPattern::Bgp { patterns } = pattern else { return };
        let mut stored = Vec::new();
        let mut unions = Vec::new();
        for mut triple in std::mem::take(patterns) {
            name_blank(&mut triple.subject);
            name_blank(&mut triple.object);
            let entailed = self.entailed(&triple).unwrap_or_else(|error| {
                self.failed.get_or_insert(error);
                Vec::new()
            });
            if entailed.is_empty() {
                stored.push(triple);
                continue;
            }
            let first = QueryPattern::Bgp { patterns: vec![triple] };
            let union = |left, right| QueryPattern::Union { left: Box::new(left), right: Box::new(right) };
            unions.push(entailed.into_iter().fold(first, union));
        }
        *pattern = unions.into_iter().fold(QueryPattern::Bgp { patterns: stored }, QueryPattern::join);
    }

    /// Returns the patterns of the entailed triples that match a triple pattern.
    fn entailed(&mut self, triple: &TriplePattern) -> Result<Vec<QueryPattern>, ReadError> {
        let TriplePattern { subject, predicate, object } = triple;
        if let TermPattern::Triple(_) = subject {
            // No triple has a triple term as its subject.
            return Ok(Vec::new());
        }
        match predicate {
            NamedNodePattern::NamedNode(node) => {
                let relation =
                    |number| QueryPattern::Relation { subject: subject.clone(), number, object: object.clone() };
                Ok(self.relations(node)?.into_iter().map(relation).collect())
            }
            NamedNodePattern::Variable(variable) => self.of_all(subject, variable, object),
        }
    }

    /// Returns the entailed triples of all predicates that have some.
    fn of_all(
        &mut self,
        subject: &TermPattern,
        variable: &Variable,
        object: &TermPattern,
    ) -> Result<Vec<QueryPattern>, ReadError> {
        let mut predicates: Vec<TermId> = Vec::new();
        if self.entailment.rdfs {
            predicates.extend([self.schema.r#type, self.schema.sub_class, self.schema.sub_property]);
            let mut last = None;
            // The triples of a predicate are sorted by object.
            for triple in self.view.triples(None, Some(self.schema.sub_property), None) {
                let [_, _, above] = triple?;
                if last.replace(above) != Some(above) {
                    predicates.push(above);
                }
            }
            let above = RdfsSchema::closure(self.view, self.schema.sub_property, predicates, Direction::Up)?;
            predicates = above.into_iter().collect();
        }
        if self.entailment.geosparql {
            predicates.extend(crate::geo::topological_properties().map(|name| geo_property(self.view, name)));
        }
        let mut patterns = Vec::new();
        for predicate in predicates {
            let oxrdf::Term::NamedNode(node) = self.view.term(predicate)? else { continue };
            let row = vec![Some(node.clone().into())];
            for number in self.relations(&node)? {
                let relation = QueryPattern::Relation { subject: subject.clone(), number, object: object.clone() };
                let value =
                    QueryPattern::Values { variables: vec![variable.clone()], rows: Arc::new(vec![row.clone()]) };
                patterns.push(QueryPattern::join(value, relation));
            }
        }
        Ok(patterns)
    }

    /// Returns the numbers of the relations with the entailed triples of a predicate. No two contain the same triple.
    fn relations(&mut self, node: &NamedNode) -> Result<Vec<usize>, ReadError> {
        let predicate = self.view.id(&node.clone().into());
        if let Some(numbers) = self.relations.get(&predicate) {
            return Ok(numbers.clone());
        }
        let mut made: Vec<Box<dyn TermRelation>> = Vec::new();
        if self.entailment.rdfs {
            made.extend(self.of_rdfs(predicate)?);
        }
        if self.entailment.geosparql {
            made.extend(self.of_geosparql(predicate, node)?);
        }
        let label = format!("entailed {}", shorten(node.as_str()));
        let numbers: Vec<_> = made.into_iter().map(|made| register(made, label.clone(), self.view)).collect();
        self.relations.insert(predicate, numbers.clone());
        Ok(numbers)
    }

    fn of_rdfs(&self, predicate: TermId) -> Result<Option<Box<dyn TermRelation>>, ReadError> {
        let schema = self.schema;
        if predicate == schema.r#type {
            return Ok(Some(Box::new(EntailedTypes::new(schema))));
        }
        if predicate == schema.sub_class || predicate == schema.sub_property {
            return Ok(Some(Box::new(HierarchyPairs::new(schema, predicate))));
        }
        let mut below = RdfsSchema::closure(self.view, schema.sub_property, [predicate], Direction::Down)?;
        below.remove(&predicate);
        let below: Vec<_> = below.into_iter().collect();
        Ok((!below.is_empty()).then(|| Box::new(InheritedPairs::new(predicate, below)) as Box<dyn TermRelation>))
    }

    fn of_geosparql(
        &mut self,
        predicate: TermId,
        node: &NamedNode,
    ) -> Result<Option<Box<dyn TermRelation>>, ReadError> {
        let Some(name) = node.as_str().strip_prefix(GEO) else { return Ok(None) };
        if !crate::geo::topological_properties().any(|known| known == name)
            || !PlaceIndex::has_serializations(self.view)
        {
            return Ok(None);
        }
        if self.index.is_none() {
            let default = geo_property(self.view, "hasDefaultGeometry");
            let defaults = match self.entailment.rdfs {
                true => RdfsSchema::closure(self.view, self.schema.sub_property, [default], Direction::Down)?,
                false => [default].into(),
            };
            self.index = Some(Rc::new(PlaceIndex::new(defaults.into_iter().collect())));
        }
        let pairs = self.index.as_ref().and_then(|index| TopologicalPairs::new(predicate, name, index));
        Ok(pairs.map(|pairs| Box::new(pairs) as Box<dyn TermRelation>))
    }
}
