//! Replaces `gas:service` by a property path, if the query uses only the visited nodes.

use std::collections::HashMap;

use oxrdf::Variable;

use super::{Result, Translator};
use crate::services::ServiceParameters;
use terrapin_sparql_syntax::ParsedQuery;
use terrapin_sparql_syntax::algebra::{Expression, NamedNodePattern, Path, QueryPattern, TermPattern};
use terrapin_sparql_syntax::vocabulary::GAS;
use terrapin_sparql_syntax::walk::{QueryNode, on_in_scope};

/// Maximum number of iterations that are written as nested optional steps.
const MAX_STEPS: usize = 32;

/// Counts the places of each variable in patterns, expressions and projections.
pub(super) fn places(parsed: &ParsedQuery) -> HashMap<Variable, usize> {
    let mut places = HashMap::new();
    let patterns = [&parsed.query.pattern].into_iter().chain(parsed.named.iter().map(|(_, pattern)| pattern));
    let mut open: Vec<QueryNode<'_>> = patterns.map(QueryNode::Pattern).collect();
    while let Some(node) = open.pop() {
        let mut add = |variable: &Variable| *places.entry(variable.clone()).or_default() += 1;
        match node {
            QueryNode::Expression(Expression::Variable(variable) | Expression::Bound(variable)) => add(variable),
            QueryNode::Pattern(QueryPattern::Extend { variable, .. }) => add(variable),
            QueryNode::Pattern(QueryPattern::Group { variables, aggregates, .. }) => {
                variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).for_each(add);
            }
            QueryNode::Pattern(
                QueryPattern::Graph { name: NamedNodePattern::Variable(variable), .. }
                | QueryPattern::Service { name: NamedNodePattern::Variable(variable), .. },
            ) => add(variable),
            // The other patterns with variables of their own.
            QueryNode::Pattern(
                pattern @ (QueryPattern::Bgp { .. }
                | QueryPattern::Path { .. }
                | QueryPattern::Values { .. }
                | QueryPattern::Include { .. }
                | QueryPattern::Project { .. }),
            ) => on_in_scope(pattern, &mut add),
            _ => {}
        }
        node.children(&mut |child| open.push(child));
    }
    places
}

impl Translator {
    pub(super) fn traversal(&mut self, inner: QueryPattern) -> Result<QueryPattern> {
        self.is_changed = true;
        let parameters = ServiceParameters::new("gas:service", "http://www.bigdata.com/rdf/gas#program", inner);
        for output in ["out1", "out2"] {
            if let Some(TermPattern::Variable(variable)) = parameters.get(GAS, output)
                && self.places.get(variable).is_none_or(|places| *places > 1)
            {
                return Err(self.lacks(&format!("gas:{output} (the distance or predecessor of a node)")));
            }
        }
        for parameter in ["target", "maxVisited", "linkAttrType"] {
            if parameters.get(GAS, parameter).is_some() {
                return Err(self.lacks(&format!("gas:{parameter}")));
            }
        }
        let text = |name| match parameters.get(GAS, name) {
            Some(TermPattern::Literal(literal)) => Some(literal.value().to_owned()),
            Some(TermPattern::NamedNode(node)) => Some(node.as_str().to_owned()),
            _ => None,
        };
        let class = text("gasClass").unwrap_or_default();
        if !matches!(class.rsplit('.').next(), Some("BFS" | "SSSP")) {
            return Err(self.lacks(&format!("the program '{class}' of gas:service")));
        }
        if !parameters.triples.is_empty() || !parameters.others.is_empty() {
            return Err(self.lacks("gas:service with patterns other than its parameters"));
        }
        let link = match parameters.get(GAS, "linkType") {
            Some(TermPattern::NamedNode(link)) => Path::NamedNode(link.clone()),
            _ => return Err(self.lacks("gas:service without gas:linkType")),
        };
        let back = |path: Path| Path::Reverse(Box::new(path));
        let step = match text("traversalDirection").as_deref() {
            None | Some("Forward") => link,
            Some("Reverse") => back(link),
            Some("Undirected") => Path::Alternative(Box::new(link.clone()), Box::new(back(link))),
            Some(other) => return Err(self.lacks(&format!("gas:traversalDirection '{other}'"))),
        };
        let path = match text("maxIterations").map(|steps| steps.trim().parse::<usize>()) {
            None => Path::ZeroOrMore(Box::new(step)),
            Some(Ok(steps)) if (1..=MAX_STEPS).contains(&steps) => {
                let mut path = Path::ZeroOrOne(Box::new(step.clone()));
                for _ in 1..steps {
                    let longer = Path::Sequence(Box::new(step.clone()), Box::new(path));
                    path = Path::ZeroOrOne(Box::new(longer));
                }
                path
            }
            Some(_) => return Err(self.lacks("gas:maxIterations with that number")),
        };
        let (Some(from), Some(TermPattern::Variable(out))) = (parameters.get(GAS, "in"), parameters.get(GAS, "out"))
        else {
            return Err(self.lacks("gas:service without gas:in and gas:out"));
        };
        if parameters.all(GAS, "in").count() > 1 {
            return Err(self.lacks("gas:service from several nodes"));
        }
        Ok(QueryPattern::Path { subject: from.clone(), path, object: out.clone().into() })
    }
}
