//! GRAPH with a variable, evaluated for each named graph in turn.

use oxrdf::Variable;

use super::solve::Plan;
use terrapin_sparql_syntax::algebra::Pattern;
use terrapin_sparql_syntax::walk::on_in_scope;

/// A pattern that is evaluated separately in each named graph.
#[derive(Debug)]
pub(crate) struct EachGraph {
    /// The variable that is bound to the graph's name.
    pub name: Variable,
    /// The pattern.
    pub inner: Pattern,
    /// The variables of the pattern.
    pub variables: Vec<Variable>,
    /// The plan that lists the names of all graphs.
    pub names: Plan,
}

impl EachGraph {
    /// Creates the evaluation of `inner` in each graph that `name` can be bound to.
    pub fn new(name: Variable, inner: Pattern) -> EachGraph {
        let mut variables = Vec::new();
        on_in_scope(&inner, &mut |variable| {
            if !variables.contains(variable) {
                variables.push(variable.clone());
            }
        });
        let all = Pattern::Graph { name: name.clone().into(), inner: Box::default() };
        let names = Plan::of(Pattern::project(all, vec![name.clone()]));
        EachGraph { name, inner, variables, names }
    }

    /// Returns the columns of the solutions.
    pub fn columns(&self) -> Vec<Variable> {
        let name = (!self.variables.contains(&self.name)).then_some(&self.name);
        self.variables.iter().chain(name).cloned().collect()
    }
}
