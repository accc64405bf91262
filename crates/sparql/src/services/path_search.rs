//! `SERVICE pathSearch:` of QLever: all paths between nodes, over edges that a pattern in the service's group defines.
//! Documentation: <https://docs.qlever.dev/path-search/>.
//!
//! A path has no node twice. Paths are numbered from 0 in the order in which they are found: from each source, edges in
//! the order of their ends, depth first. The order is our own, because QLever defines none.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

use super::shared::{ground, work};
use super::{DerivedRows, Result, ServiceParameters};
use crate::order::canonical;
use crate::row::Row;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::in_scope;
use terrapin_sparql_syntax::vocabulary::PATH_SEARCH;

/// The name of the service.
const NAME: &str = "pathSearch:";

/// One end of the paths.
#[derive(Debug, Clone)]
enum SearchSide {
    /// These terms; every node if there are none.
    Terms(Vec<Term>),
    /// Every node; a column has the end of each path.
    Column(Variable),
}

impl SearchSide {
    fn column(&self) -> Option<&Variable> {
        match self {
            SearchSide::Column(variable) => Some(variable),
            SearchSide::Terms(_) => None,
        }
    }
}

/// A search for paths.
#[derive(Debug, Clone)]
pub(crate) struct PathSearch {
    sources: SearchSide,
    targets: SearchSide,
    start: Variable,
    end: Variable,
    path: Variable,
    edge: Variable,
    properties: Vec<Variable>,
    /// Whether every source is combined with every target; otherwise the first with the first, and so on.
    cartesian: bool,
    /// The maximum number of paths that reach a node, for each source.
    paths_per_target: Option<usize>,
    /// The maximum number of edges of a path.
    depth: usize,
}

/// Receives a path as the ends of its edges and their rows.
type PathSink<'s> = dyn FnMut(&[(usize, usize)]) -> Result<()> + 's;

/// The edges, by the numbers of their nodes.
struct EdgeTable<'r> {
    nodes: Vec<&'r Term>,
    numbers: FxHashMap<&'r Term, usize>,
    /// For each node its outgoing edges: the end and the row.
    outgoing: Vec<Vec<(usize, usize)>>,
}

impl PathSearch {
    /// Reads the service's group. Returns the search and the pattern of the edges.
    pub fn new(inner: QueryPattern) -> Result<(PathSearch, QueryPattern)> {
        let parameters = ServiceParameters::new(NAME, "", inner);
        let wrong = |message: String| parameters.wrong(format!("{NAME} {message}"));
        let (mut sources, mut targets, mut properties) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cartesian, mut paths_per_target, mut depth) = (true, None, usize::MAX);
        let mut columns: FxHashMap<&str, Variable> = FxHashMap::default();
        let mut edges = Vec::new();
        for triple in &parameters.triples {
            let name = match &triple.predicate {
                NamedNodePattern::NamedNode(predicate) => predicate.as_str().strip_prefix(PATH_SEARCH),
                NamedNodePattern::Variable(_) => None,
            };
            let Some(name) = name else {
                edges.push(triple.clone());
                continue;
            };
            let value = &triple.object;
            let variable = || match value {
                TermPattern::Variable(variable) => Ok(variable.clone()),
                _ => Err(wrong(format!("takes a variable for {name}"))),
            };
            match name {
                "source" => sources.push(value),
                "target" => targets.push(value),
                "edgeProperty" => properties.push(variable()?),
                "start" | "end" | "pathColumn" | "edgeColumn" => {
                    if columns.insert(name, variable()?).is_some() {
                        return Err(wrong(format!("has {name} twice")));
                    }
                }
                "cartesian" => {
                    cartesian = boolean(value).ok_or_else(|| wrong(format!("takes true or false for {name}")))?
                }
                "numPathsPerTarget" => paths_per_target = Some(number(value).ok_or_else(|| whole(&wrong, name))?),
                "maxDepth" => depth = number(value).ok_or_else(|| whole(&wrong, name))?,
                "algorithm" => {
                    let all = format!("{PATH_SEARCH}allPaths");
                    if !matches!(value, TermPattern::NamedNode(node) if node.as_str() == all) {
                        return Err(wrong("has the algorithm pathSearch:allPaths only".to_owned()));
                    }
                }
                other => {
                    return Err(wrong(format!(
                        "has no parameter {other}: it has source, target, start, end, pathColumn, edgeColumn, \
                         edgeProperty, algorithm, cartesian, numPathsPerTarget and maxDepth"
                    )));
                }
            }
        }
        let mut column = |name: &str| columns.remove(name).ok_or_else(|| wrong(format!("needs the parameter {name}")));
        let (start, end, path, edge) = (column("start")?, column("end")?, column("pathColumn")?, column("edgeColumn")?);
        let (sources, targets) = (side(&sources, &wrong, "source")?, side(&targets, &wrong, "target")?);
        let search =
            PathSearch { sources, targets, start, end, path, edge, properties, cartesian, paths_per_target, depth };
        let mut pattern = QueryPattern::Bgp { patterns: edges };
        for other in parameters.others {
            pattern = if pattern.is_unit() { other } else { QueryPattern::join(pattern, other) };
        }
        search.check(&pattern).map_err(|message| wrong_parameter(&message))?;
        Ok((search, pattern))
    }

    /// Checks the parameters together with the pattern of the edges.
    fn check(&self, edges: &QueryPattern) -> std::result::Result<(), String> {
        let bound = in_scope(edges);
        if let Some(missing) = self.edge_columns().iter().find(|column| !bound.contains(*column)) {
            return Err(format!("needs {missing} in the pattern of the edges"));
        }
        let mut columns = FxHashSet::default();
        if let Some(twice) = self.variables().into_iter().find(|column| !columns.insert(column.clone())) {
            return Err(format!("has the variable {twice} for two parameters"));
        }
        match (&self.sources, &self.targets) {
            (SearchSide::Terms(sources), SearchSide::Terms(targets))
                if !self.cartesian && sources.len() != targets.len() =>
            {
                let (sources, targets) = (sources.len(), targets.len());
                Err(format!("with cartesian false has pairs, but {sources} sources and {targets} targets"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the columns that the pattern of the edges must have.
    pub fn edge_columns(&self) -> Vec<Variable> {
        let mut columns = vec![self.start.clone(), self.end.clone()];
        columns.extend(
            self.properties.iter().filter(|property| **property != self.start && **property != self.end).cloned(),
        );
        columns
    }

    /// Finds the paths from a source. `each` receives the numbers of their nodes' edges: end and row.
    fn paths_from(
        &self,
        edges: &EdgeTable<'_>,
        source: usize,
        targets: Option<&FxHashSet<usize>>,
        budget: &Budget,
        each: &mut PathSink<'_>,
    ) -> Result<()> {
        let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
        let mut on_path: FxHashSet<usize> = std::iter::once(source).collect();
        let mut path: Vec<(usize, usize)> = Vec::new();
        // For each node of the path, the position in its outgoing edges.
        let mut positions = vec![0];
        while let Some(position) = positions.last_mut() {
            work(budget, 1)?;
            let node = path.last().map_or(source, |(end, _)| *end);
            let next = edges.outgoing.get(node).and_then(|outgoing| outgoing.get(*position)).copied();
            *position += 1;
            let Some((end, row)) = next.filter(|_| path.len() < self.depth) else {
                positions.pop();
                if let Some((end, _)) = path.pop() {
                    on_path.remove(&end);
                }
                continue;
            };
            // An edge from the source to itself is a path of its own.
            let is_loop = end == source && path.is_empty();
            if on_path.contains(&end) && !is_loop {
                continue;
            }
            if let Some(most) = self.paths_per_target {
                let count = counts.entry(end).or_default();
                *count += 1;
                if *count > most {
                    continue;
                }
            }
            path.push((end, row));
            if targets.is_none_or(|targets| targets.contains(&end)) {
                each(&path)?;
            }
            if is_loop {
                path.pop();
                continue;
            }
            on_path.insert(end);
            positions.push(0);
        }
        Ok(())
    }
}

fn wrong_parameter(message: &str) -> SparqlError {
    let message = format!("{NAME} {message}");
    SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::ServiceParameter, message)
}

/// Reads one end of the paths.
fn side(values: &[&TermPattern], wrong: &dyn Fn(String) -> SparqlError, name: &str) -> Result<SearchSide> {
    if let [TermPattern::Variable(variable)] = values {
        return Ok(SearchSide::Column(variable.clone()));
    }
    let ground = |value: &&TermPattern| {
        ground(value).ok_or_else(|| wrong(format!("takes one variable, or any number of terms, for {name}")))
    };
    Ok(SearchSide::Terms(values.iter().map(ground).collect::<Result<_>>()?))
}

fn whole(wrong: &dyn Fn(String) -> SparqlError, name: &str) -> SparqlError {
    wrong(format!("takes a whole number for {name}"))
}

fn number(value: &TermPattern) -> Option<usize> {
    match value {
        TermPattern::Literal(literal) => literal.value().parse().ok(),
        _ => None,
    }
}

fn boolean(value: &TermPattern) -> Option<bool> {
    match value {
        TermPattern::Literal(literal) if literal.datatype() == xsd::BOOLEAN => literal.value().parse().ok(),
        _ => None,
    }
}

impl<'r> EdgeTable<'r> {
    fn new(rows: &'r [Row], start: usize, end: usize) -> EdgeTable<'r> {
        let mut ends: Vec<(&Term, &Term, usize)> = Vec::new();
        for (row, values) in rows.iter().enumerate() {
            if let (Some(Some(from)), Some(Some(to))) = (values.get(start), values.get(end)) {
                ends.push((from, to, row));
            }
        }
        let order = |a: &Term, b: &Term| canonical(Some(a), Some(b));
        ends.sort_by(|a, b| order(a.0, b.0).then_with(|| order(a.1, b.1)).then(a.2.cmp(&b.2)));
        let mut edges = EdgeTable { nodes: Vec::new(), numbers: FxHashMap::default(), outgoing: Vec::new() };
        for (from, to, row) in ends {
            let (from, to) = (edges.number(from), edges.number(to));
            if let Some(outgoing) = edges.outgoing.get_mut(from) {
                outgoing.push((to, row));
            }
        }
        edges
    }

    fn number(&mut self, node: &'r Term) -> usize {
        let (nodes, outgoing) = (&mut self.nodes, &mut self.outgoing);
        *self.numbers.entry(node).or_insert_with(|| {
            nodes.push(node);
            outgoing.push(Vec::new());
            nodes.len() - 1
        })
    }
}

impl DerivedRows for PathSearch {
    fn variables(&self) -> Vec<Variable> {
        let mut columns = vec![self.start.clone(), self.end.clone(), self.path.clone(), self.edge.clone()];
        columns.extend([&self.sources, &self.targets].into_iter().filter_map(SearchSide::column).cloned());
        columns.extend(self.properties.iter().cloned());
        columns
    }

    fn rows(&self, columns: &[Variable], rows: &[Row], budget: &Budget) -> Result<Vec<Row>> {
        let column = |variable: &Variable| columns.iter().position(|column| column == variable);
        let (Some(start), Some(end)) = (column(&self.start), column(&self.end)) else { return Ok(Vec::new()) };
        let properties: Vec<Option<usize>> = self.properties.iter().map(column).collect();
        work(budget, rows.len() as u64)?;
        let edges = EdgeTable::new(rows, start, end);
        let numbers = |terms: &[Term]| -> Vec<Option<usize>> {
            terms.iter().map(|term| edges.numbers.get(term).copied()).collect()
        };
        let sources = match &self.sources {
            SearchSide::Terms(terms) if !terms.is_empty() => numbers(terms),
            _ => (0..edges.nodes.len())
                .filter(|node| !edges.outgoing.get(*node).is_none_or(Vec::is_empty))
                .map(Some)
                .collect(),
        };
        let targets = match &self.targets {
            SearchSide::Terms(terms) if !terms.is_empty() => Some(numbers(terms)),
            _ => None,
        };
        let in_pairs = !self.cartesian && targets.as_ref().is_some_and(|targets| targets.len() == sources.len());
        let all = targets.as_ref().map(|targets| targets.iter().flatten().copied().collect::<FxHashSet<usize>>());
        let (mut out, mut paths): (Vec<Row>, u64) = (Vec::new(), 0);
        for (at, source) in sources.into_iter().enumerate() {
            let Some(source) = source else { continue };
            let own = targets
                .as_ref()
                .filter(|_| in_pairs)
                .map(|targets| targets.get(at).copied().flatten().into_iter().collect::<FxHashSet<usize>>());
            let wanted = own.as_ref().or(all.as_ref());
            self.paths_from(&edges, source, wanted, budget, &mut |path| {
                let term = |node: usize| edges.nodes.get(node).map(|term| (*term).clone());
                let last = path.last().and_then(|(end, _)| term(*end));
                let mut from = source;
                for (edge, (to, row)) in path.iter().enumerate() {
                    let mut values = vec![
                        term(from),
                        term(*to),
                        Some(Literal::from(paths).into()),
                        Some(Literal::from(edge as u64).into()),
                    ];
                    values.extend(self.sources.column().map(|_| term(source)));
                    values.extend(self.targets.column().map(|_| last.clone()));
                    let value = |column: &Option<usize>| rows.get(*row)?.get((*column)?)?.clone();
                    values.extend(properties.iter().map(value));
                    out.push(values);
                    from = *to;
                }
                paths += 1;
                work(budget, path.len() as u64)?;
                budget.memory(out.len() as u64 * 256).map_err(crate::guard::exceeded)
            })?;
        }
        Ok(out)
    }
}
