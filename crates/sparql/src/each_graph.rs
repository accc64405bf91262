//! GRAPH with a variable, solved in one named graph after the other.

use oxrdf::Variable;

use super::solve::Plan;
use terrapin_sparql_syntax::algebra::Pattern;
use terrapin_sparql_syntax::walk::on_in_scope;

/// A pattern that is solved in each named graph by itself.
#[derive(Debug)]
pub(crate) struct EachGraph {
    /// The variable that says which graph it is.
    pub name: Variable,
    /// The pattern.
    pub inner: Pattern,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// What gives the names of all graphs.
    pub names: Plan,
}

impl EachGraph {
    /// A pattern in the graphs of a name.
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

    /// The columns of its solutions.
    pub fn columns(&self) -> Vec<Variable> {
        let name = (!self.variables.contains(&self.name)).then_some(&self.name);
        self.variables.iter().chain(name).cloned().collect()
    }
}
