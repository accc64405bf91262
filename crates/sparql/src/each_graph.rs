//! GRAPH with a variable, evaluated for each named graph in turn.

use oxrdf::Variable;

use super::solve::SolvePlan;
use terrapin_sparql_syntax::algebra::QueryPattern;
use terrapin_sparql_syntax::walk::on_in_scope;

/// A pattern that is evaluated separately in each named graph.
#[derive(Debug)]
pub(crate) struct EachGraph {
    /// The variable that is bound to the graph's name.
    pub name: Variable,
    /// The pattern.
    pub inner: QueryPattern,
    /// The variables of the pattern.
    pub variables: Vec<Variable>,
    /// The plan that lists the names of all graphs.
    pub names: SolvePlan,
}

impl EachGraph {
    /// Creates the evaluation of `inner` in each graph that `name` can be bound to.
    pub fn new(name: Variable, inner: QueryPattern) -> EachGraph {
        let mut variables = Vec::new();
        on_in_scope(&inner, &mut |variable| {
            if !variables.contains(variable) {
                variables.push(variable.clone());
            }
        });
        let all = QueryPattern::Graph { name: name.clone().into(), inner: Box::default() };
        let names = SolvePlan::of(QueryPattern::project(all, vec![name.clone()]));
        EachGraph { name, inner, variables, names }
    }

    /// Returns the columns of the solutions.
    pub fn columns(&self) -> Vec<Variable> {
        let name = (!self.variables.contains(&self.name)).then_some(&self.name);
        self.variables.iter().chain(name).cloned().collect()
    }
}
