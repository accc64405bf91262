//! `SERVICE gas:service`: breadth-first search and shortest paths from given nodes over the links of a property.

use oxrdf::{Literal, Term, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::shared::{ground, work};
use super::{Result, ServiceParameters, ServiceReplacement, SolutionRows, SparqlService};
use crate::environment::Environment;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::GAS;
use terrapin_triples::{Store, TermId, TermKind};

/// The service.
pub(super) const SERVICE: SparqlService = SparqlService {
    name: "gas:service",
    iri: (GAS, "service"),
    parameters: "http://www.bigdata.com/rdf/gas#program",
    rewrite: |_, parameters| Ok(ServiceReplacement::rows(Traversal::new(&parameters)?)),
};

/// The direction in which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Reverse,
    Undirected,
}

/// A traversal. All links have the weight 1, so that breadth-first search and shortest paths have the same result.
#[derive(Debug, Clone)]
struct Traversal {
    from: Vec<Term>,
    targets: Vec<Term>,
    link: Option<Term>,
    direction: Direction,
    iterations: usize,
    visited: usize,
    /// The variables for the node, its distance, and its predecessor.
    outputs: [Option<Variable>; 3],
}

/// The visited nodes.
#[derive(Default)]
struct ReachedNodes {
    /// The nodes in the order in which they were found.
    order: Vec<TermId>,
    /// The distance in links and the predecessor of each node.
    of: FxHashMap<TermId, (u32, Option<TermId>)>,
}

impl ReachedNodes {
    /// Adds a node. Returns whether it is new.
    fn add(&mut self, node: TermId, depth: u32, before: Option<TermId>) -> bool {
        let std::collections::hash_map::Entry::Vacant(place) = self.of.entry(node) else { return false };
        place.insert((depth, before));
        self.order.push(node);
        true
    }
}

impl SolutionRows for Traversal {
    fn variables(&self) -> Vec<Variable> {
        self.outputs.iter().flatten().cloned().collect()
    }

    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>> {
        self.visited_nodes(&environment.store, budget)
    }
}

impl Traversal {
    /// Reads the service's parameters.
    fn new(parameters: &ServiceParameters) -> Result<Traversal> {
        let class = parameters.text(GAS, "gasClass")?.unwrap_or_default();
        let program = class.rsplit('.').next().unwrap_or("");
        if !matches!(program, "BFS" | "SSSP") {
            let message = format!("gas:service has no program '{class}'");
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
                .help("use BFS or SSSP"));
        }
        if parameters.get(GAS, "linkAttrType").is_some() {
            let message = "gas:service takes no weights of links (gas:linkAttrType)";
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message));
        }
        let terms = |name: &str| -> Result<Vec<Term>> {
            let ground = |term| {
                ground(term).ok_or_else(|| {
                    let message = format!("gas:service takes no variable for gas:{name}");
                    SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
                })
            };
            parameters.all(GAS, name).map(ground).collect()
        };
        parameters.needed(GAS, "in")?;
        let direction = match parameters.text(GAS, "traversalDirection")?.as_deref() {
            None | Some("Forward") => Direction::Forward,
            Some("Reverse") => Direction::Reverse,
            Some("Undirected") => Direction::Undirected,
            Some(other) => {
                return Err(parameters.wrong(format!("gas:traversalDirection is not a direction: '{other}'")));
            }
        };
        let output = |name| parameters.variable(GAS, name);
        Ok(Traversal {
            from: terms("in")?,
            targets: terms("target")?,
            link: terms("linkType")?.into_iter().next(),
            direction,
            iterations: parameters.number(GAS, "maxIterations")?.unwrap_or(usize::MAX),
            visited: parameters.number(GAS, "maxVisited")?.unwrap_or(usize::MAX),
            outputs: [output("out")?, output("out1")?, output("out2")?],
        })
    }

    /// Returns the visited nodes, ordered by distance, then by term.
    fn visited_nodes(&self, store: &Store, budget: &Budget) -> Result<Vec<Row>> {
        let link = match &self.link {
            None => None,
            Some(term) => match store.id(term.as_ref()) {
                Some(id) => Some(id),
                None => return Ok(self.start_rows()),
            },
        };
        let ids = |terms: &[Term]| terms.iter().filter_map(|t| store.id(t.as_ref())).collect::<Vec<TermId>>();
        let targets = ids(&self.targets);
        let ReachedNodes { mut order, of } = self.search(store, budget, link, ids(&self.from), &targets)?;
        if !self.targets.is_empty() {
            let mut on_path: FxHashSet<TermId> = FxHashSet::default();
            for target in targets {
                let mut at = of.contains_key(&target).then_some(target);
                while let Some(node) = at {
                    on_path.insert(node);
                    at = of.get(&node).and_then(|(_, before)| *before);
                }
            }
            order.retain(|node| on_path.contains(node));
        }
        let row = |node: &TermId| {
            let (depth, before) = of.get(node)?;
            let before = before.and_then(|before| store.term(before));
            Some(self.row([store.term(*node), Some(Literal::from(*depth).into()), before]))
        };
        Ok(order.iter().filter_map(row).collect())
    }

    /// Searches breadth-first until all targets are found.
    fn search(
        &self,
        store: &Store,
        budget: &Budget,
        link: Option<TermId>,
        from: Vec<TermId>,
        targets: &[TermId],
    ) -> Result<ReachedNodes> {
        let mut missing = targets.to_vec();
        let mut found = ReachedNodes::default();
        for node in &from {
            found.add(*node, 0, None);
        }
        let mut frontier = from;
        let mut depth = 0;
        while !frontier.is_empty() && (depth as usize) < self.iterations {
            depth += 1;
            frontier.sort_unstable();
            let next = found.order.len();
            for node in frontier {
                for neighbour in self.neighbours(store, node, link) {
                    work(budget, 1)?;
                    if found.of.len() >= self.visited {
                        return Ok(found);
                    }
                    if found.add(neighbour, depth, Some(node)) {
                        missing.retain(|target| *target != neighbour);
                    }
                }
                budget.memory(found.of.len() as u64 * 64).map_err(crate::guard::exceeded)?;
            }
            if !self.targets.is_empty() && missing.is_empty() {
                break;
            }
            frontier = found.order.get(next..).unwrap_or(&[]).to_vec();
        }
        Ok(found)
    }

    /// Selects the requested columns.
    fn row(&self, values: [Option<Term>; 3]) -> Row {
        self.outputs.iter().zip(values).filter(|(output, _)| output.is_some()).map(|(_, value)| value).collect()
    }

    /// Returns one row per start node, without any other column.
    fn start_rows(&self) -> Vec<Row> {
        let row = |term: &Term| self.row([Some(term.clone()), Some(Literal::from(0).into()), None]);
        self.from.iter().map(row).collect()
    }

    fn neighbours(&self, store: &Store, node: TermId, link: Option<TermId>) -> Vec<TermId> {
        let mut neighbours = Vec::new();
        if self.direction != Direction::Reverse {
            neighbours.extend(store.triples(Some(node), link, None).map(|[_, _, object]| object));
        }
        if self.direction != Direction::Forward {
            neighbours.extend(store.triples(None, link, Some(node)).map(|[subject, ..]| subject));
        }
        neighbours.retain(|id| !matches!(store.kind(*id), Some(TermKind::Literal | TermKind::Triple)));
        neighbours
    }
}
