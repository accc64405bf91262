//! Feedback on a SPARQL query.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use oxrdf::vocab::xsd;
use oxrdf::{NamedNode, Term, Triple, Variable};

use super::failure::{failed, over, panicked};
use super::names::{IriRole, QueryNames};
use super::{Feedback, FeedbackRequest, FeedbackResults, QueryIdentifiers};
use terrapin_budget::{self as budget, Budget, ExceededLimit, Limits, StopReason};
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, LocatedDiagnostic, QueryWarning};
use terrapin_osm::Osm;
use terrapin_overpass::lint;
use terrapin_sparql::results::cell;
use terrapin_sparql::syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql::syntax::{self, ParsedQuery, shorten, walk};
use terrapin_sparql::{
    Dialect, Environment, Extension, ResultSink, SparqlBounds, SparqlError, SparqlSettings, prepare,
};
use terrapin_sparql::{WITHOUT_TRIPLES, asked_key, asks_numbers, meant_predicates, names_elements};

/// The maximum length of a shown value in characters.
const LETTERS: usize = 60;
/// The maximum number of warnings. One more gives the number of the rest.
const WARNINGS: usize = 100;
/// The maximum number of the data's predicates compared with an unknown one.
const PREDICATES: usize = 100_000;
/// The code of a class without instances.
const NO_SUCH_CLASS: &str = "no-such-class";
/// The code of a missing graph.
const NO_SUCH_GRAPH: &str = "no-such-graph";
/// The maximum number of shown predicates with the same local name.
const NAMESAKES: usize = 3;

/// Parses and runs a SPARQL query and compares its names with the data.
pub(super) fn feedback(environment: &Environment, asked: &FeedbackRequest<'_>) -> Feedback {
    let budget = Arc::new(Budget::new(&asked.limits));
    let told = budget::watched(&budget, || look(environment, asked, &budget));
    match told {
        Ok(Ok(feedback)) => feedback,
        Ok(Err(FeedbackFailure::Query(error))) => failed([LocatedDiagnostic::new(error.erase(), asked.query)]),
        Ok(Err(FeedbackFailure::Bound(exceeded))) | Err(StopReason::Exceeded(exceeded)) => {
            over(exceeded, "while it was looked at")
        }
        Err(StopReason::Panicked(panic)) => panicked(&panic),
    }
}

/// Returns warnings about the names in a SPARQL query that the snapshot lacks, each with its `name`.
///
/// # Errors
/// Returns an error if a limit is reached or the comparison panics.
pub fn missing_names(environment: &Environment, query: &str, limits: &Limits) -> Result<Vec<QueryWarning>, StopReason> {
    let budget = Arc::new(Budget::new(limits));
    budget::watched(&budget, || warnings(environment, query, Dialect::Auto, &budget))?.map_err(StopReason::Exceeded)
}

/// Returns the error of a SPARQL query about triples on a snapshot without them.
pub fn without_triples() -> Feedback {
    let message = "the query is SPARQL, and this snapshot has no triples";
    failed([Diagnostic::new(DiagnosticClass::Static, "no-triples", message).help(WITHOUT_TRIPLES).into()])
}

/// The reason why a query has no results.
enum FeedbackFailure {
    Query(SparqlError),
    Bound(ExceededLimit),
}

impl From<SparqlError> for FeedbackFailure {
    fn from(error: SparqlError) -> FeedbackFailure {
        FeedbackFailure::Query(error)
    }
}

impl From<ExceededLimit> for FeedbackFailure {
    fn from(exceeded: ExceededLimit) -> FeedbackFailure {
        FeedbackFailure::Bound(exceeded)
    }
}

fn look(environment: &Environment, asked: &FeedbackRequest<'_>, budget: &Budget) -> Result<Feedback, FeedbackFailure> {
    let FeedbackRequest { query, sample, run, limits, dialect, .. } = asked;
    let prepared = prepare(query, &SparqlSettings { dialect: *dialect, ..SparqlSettings::default() })?;
    if !*run {
        return Ok(Feedback { warnings: warnings(environment, query, *dialect, budget)?, ..Feedback::default() });
    }
    let mut seen = SampleCollector { sample: *sample, names: Vec::new(), results: FeedbackResults::default() };
    prepared.run(environment, &SparqlBounds { limits: limits.clone(), rows: None }, &mut seen)?;
    let warnings = warnings(environment, query, *dialect, budget)?;
    Ok(Feedback { results: Some(seen.results), warnings, ..Feedback::default() })
}

/// Counts results and keeps the first as lines.
struct SampleCollector {
    sample: usize,
    names: Vec<String>,
    results: FeedbackResults,
}

impl SampleCollector {
    fn see(&mut self, line: impl FnOnce() -> String) {
        self.results.count += 1;
        if self.results.sample.len() < self.sample {
            self.results.sample.push(line());
        }
    }
}

fn short(term: &Term) -> String {
    let text = cell(term);
    let short: String = text.chars().take(LETTERS).collect();
    if short.len() < text.len() { short + "..." } else { short }
}

impl ResultSink for SampleCollector {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.names = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        let names = std::mem::take(&mut self.names);
        let pair = |(name, value): (&String, &Option<Term>)| Some(format!("{name}={}", short(value.as_ref()?)));
        self.see(|| names.iter().zip(values).filter_map(pair).collect::<Vec<_>>().join(" "));
        self.names = names;
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.see(|| value.to_string());
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        self.see(|| {
            let parts: [Term; 3] =
                [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
            parts.iter().map(short).collect::<Vec<_>>().join(" ")
        });
        Ok(())
    }
}

/// Returns warnings about predicates, classes, graphs and other IRIs that are missing from the data, and about tags
/// that no element has.
fn warnings(
    environment: &Environment,
    query: &str,
    dialect: Dialect,
    budget: &Budget,
) -> Result<Vec<QueryWarning>, ExceededLimit> {
    let Ok(parsed) = syntax::parse(query, dialect) else { return Ok(Vec::new()) };
    let tags = tags_of(&parsed);
    let names = QueryNames::of(&parsed);
    let mut warnings = Vec::new();
    if parsed.extensions.contains(&Extension::Ungrouped) {
        let message = "a projected variable is neither grouped nor in an aggregate: one of its values is taken, where \
                       SPARQL 1.1 and the Wikidata Query Service refuse the query";
        warnings.push(QueryWarning::new("ungrouped", message));
    }
    for (name, roles) in &names.roles {
        budget::checkpoint();
        let found = match &environment.elements {
            Some(elements) if roles.contains(&IriRole::Predicate) && speaks_of_elements(name) => {
                of_elements(elements.osm(), name, &tags, budget)?
            }
            Some(_) if names_elements(name) => Vec::new(),
            _ => missing(environment, &names, name, roles).into_iter().collect(),
        };
        for mut found in found {
            found.name = Some(shorten(name.as_str()));
            if warnings.iter().all(|other| (other.code, &other.message) != (found.code, &found.message)) {
                warnings.push(found);
            }
        }
    }
    for name in &names.unknown_services {
        let name = shorten(name.as_str());
        let message = format!("a snapshot has no answers of the service {name}");
        warnings.push(QueryWarning { name: Some(name), ..QueryWarning::new("no-such-service", message) });
    }
    // The earlier warnings are the most important.
    let left = warnings.len().saturating_sub(WARNINGS);
    if left > 0 {
        warnings.truncate(WARNINGS);
        let message = format!("{left} more names of the query are not in the data");
        warnings.push(QueryWarning::new("more-names", message));
    }
    Ok(warnings)
}

/// Returns the predicates of elements in a query with their values.
fn tags_of(parsed: &ParsedQuery) -> BTreeSet<(NamedNode, Option<(String, bool)>)> {
    let mut tags = BTreeSet::new();
    let patterns = [&parsed.query.pattern].into_iter().chain(parsed.named.iter().map(|(_, pattern)| pattern));
    for pattern in patterns {
        walk::on_patterns(pattern, &mut |pattern| {
            if let QueryPattern::Bgp { patterns } = pattern {
                tags.extend(patterns.iter().filter_map(tag));
            }
        });
    }
    tags
}

/// Returns the identifiers of a query; `None` if it cannot be parsed.
pub(super) fn identifiers(environment: &Environment, query: &str, dialect: Dialect) -> Option<QueryIdentifiers> {
    let parsed = syntax::parse(query, dialect).ok()?;
    let names = QueryNames::of(&parsed);
    let mut found = QueryIdentifiers { count: names.roles.len(), unknown: BTreeSet::new() };
    for (name, roles) in &names.roles {
        let is_unknown = match &environment.elements {
            Some(elements) if roles.contains(&IriRole::Predicate) && speaks_of_elements(name) => {
                let has_no_key = |key: String| lint::tag_absence(elements.osm(), &key, None).is_some();
                meant_predicates(name).is_some() || asked_key(name).is_some_and(has_no_key)
            }
            Some(_) if names_elements(name) => false,
            // A class without instances is known.
            _ => absence(environment, &names, name, roles).is_some_and(|(code, _)| code != NO_SUCH_CLASS),
        };
        if is_unknown {
            found.unknown.insert(shorten(name.as_str()));
        }
    }
    found.count += names.unknown_services.len();
    found.unknown.extend(names.unknown_services.iter().map(|name| shorten(name.as_str())));
    let Some(elements) = &environment.elements else { return Some(found) };
    for (name, value) in tags_of(&parsed) {
        let (Some(key), Some((value, true))) = (asked_key(&name), value) else { continue };
        found.count += 1;
        if lint::tag_absence(elements.osm(), &key, Some(&value)).is_some() {
            found.unknown.insert(format!("{} {value:?}", shorten(name.as_str())));
        }
    }
    Some(found)
}

/// Reports whether a predicate is one of elements, or probably meant to be.
fn speaks_of_elements(name: &NamedNode) -> bool {
    names_elements(name) || meant_predicates(name).is_some()
}

/// Warns about a predicate, or values of it, that no element has.
fn of_elements(
    osm: &Arc<Osm>,
    name: &NamedNode,
    tags: &BTreeSet<(NamedNode, Option<(String, bool)>)>,
    budget: &Budget,
) -> Result<Vec<QueryWarning>, ExceededLimit> {
    if let Some(meant) = meant_predicates(name) {
        let message = format!("no element has {}", shorten(name.as_str()));
        let nearest = meant.iter().map(|iri| shorten(iri)).collect();
        return Ok(vec![QueryWarning { nearest, ..QueryWarning::new("no-such-predicate", message) }]);
    }
    let Some(key) = asked_key(name) else { return Ok(Vec::new()) };
    let asked = tags.iter().filter(|(asked, _)| asked == name);
    let mut values: Vec<Option<&(String, bool)>> = asked.map(|(_, value)| value.as_ref()).collect();
    if values.is_empty() {
        values.push(None);
    }
    let mut warnings = Vec::new();
    for value in values {
        let of_numbers = value.filter(|(text, is_text)| *is_text && asks_numbers(name) && text.parse::<i64>().is_ok());
        if let Some((number, _)) = of_numbers {
            let message = format!("{key} has whole numbers, '{number}' is a text");
            let nearest = vec![format!("{} {number}", shorten(name.as_str()))];
            warnings.push(QueryWarning { nearest, ..QueryWarning::new("number-as-text", message) });
            continue;
        }
        let found = lint::tag_warning(osm, &key, value.map(|(text, _)| &**text), budget)?;
        warnings.extend(found);
    }
    Ok(warnings)
}

/// Warns about the roles of a name that the triples lack.
fn missing(
    environment: &Environment,
    names: &QueryNames,
    name: &NamedNode,
    roles: &BTreeSet<IriRole>,
) -> Option<QueryWarning> {
    let (code, message) = absence(environment, names, name, roles)?;
    let is_predicate = roles.contains(&IriRole::Predicate) && code != NO_SUCH_CLASS && code != NO_SUCH_GRAPH;
    let nearest = if is_predicate { namesakes(environment, name) } else { Vec::new() };
    Some(QueryWarning { nearest, ..QueryWarning::new(code, message) })
}

/// Returns the code and message of the first role of a name that the triples lack.
fn absence(
    environment: &Environment,
    names: &QueryNames,
    name: &NamedNode,
    roles: &BTreeSet<IriRole>,
) -> Option<(&'static str, String)> {
    let store = &environment.store;
    let short = shorten(name.as_str());
    let no_graph = || Some((NO_SUCH_GRAPH, format!("there is no graph {short}")));
    let Some(id) = store.id(name.as_ref().into()) else {
        // The roles are in order: the first is the graph only if there is neither a predicate nor a class.
        return match roles.first() {
            Some(IriRole::Graph) if !roles.contains(&IriRole::Term) => no_graph(),
            _ => Some(("no-such-term", format!("no triple has {short}"))),
        };
    };
    if roles.contains(&IriRole::Predicate) && store.predicate(id).triples == 0 {
        return Some(("no-such-predicate", format!("no triple has the predicate {short}")));
    }
    if roles.contains(&IriRole::Class) {
        let gives = |predicate: &NamedNode| {
            let predicate = store.id(predicate.as_ref().into());
            predicate.is_some_and(|predicate| store.count(None, Some(predicate), Some(id)) > 0)
        };
        let mut by = names.classes.iter().filter(|(class, _)| class == name).map(|(_, predicate)| predicate).peekable();
        // A variable's value may be a class by any predicate.
        if by.peek().is_some() && !by.any(gives) {
            return Some((NO_SUCH_CLASS, format!("nothing is of the class {short}")));
        }
    }
    let has_graph = || store.graphs().is_some_and(|graphs| graphs.has(id));
    if roles.contains(&IriRole::Graph) && !has_graph() {
        return no_graph();
    }
    None
}

/// Returns the data's predicates with the same local name, most frequent first, as candidates for a wrong namespace.
fn namesakes(environment: &Environment, name: &NamedNode) -> Vec<String> {
    let local = |iri: &str| iri.rsplit(['/', '#', ':']).next().unwrap_or_default().to_lowercase();
    let wanted = local(name.as_str());
    if wanted.is_empty() {
        return Vec::new();
    }
    let store = &environment.store;
    let mut found: Vec<(u64, NamedNode)> = Vec::new();
    for id in store.predicates().take(PREDICATES) {
        budget::checkpoint();
        if let Some(Term::NamedNode(other)) = store.term(id)
            && other != *name
            && local(other.as_str()) == wanted
        {
            found.push((store.predicate(id).triples, other));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    found.iter().take(NAMESAKES).map(|(count, name)| format!("{} ({count})", shorten(name.as_str()))).collect()
}

/// Returns the predicate and value of a pattern for a tag, and whether the value is a plain text.
fn tag(triple: &TriplePattern) -> Option<(NamedNode, Option<(String, bool)>)> {
    let NamedNodePattern::NamedNode(name) = &triple.predicate else { return None };
    let value = match &triple.object {
        TermPattern::Literal(value) => Some((value.value().to_owned(), value.datatype() == xsd::STRING)),
        _ => None,
    };
    asked_key(name).map(|_| (name.clone(), value))
}
