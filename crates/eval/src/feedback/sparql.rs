//! The same of a SPARQL query.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use oxrdf::vocab::xsd;
use oxrdf::{NamedNode, Term, Triple, Variable};

use super::{Feedback, Problem, Results, Warning, at, over};
use terrapin_budget::{self as budget, Budget, Exceeded, Limits, Stopped};
use terrapin_overpass::lint;
use terrapin_sparql::results::cell;
use terrapin_sparql::syntax::algebra::{NamedNodePattern, Path, Pattern, TermPattern, TriplePattern};
use terrapin_sparql::syntax::{self, shorten, walk};
use terrapin_sparql::{Bounds, Class, Dialect, Environment, Error, Settings, Sink, prepare};
use terrapin_sparql::{asked_key, asks_numbers, meant_predicates};

/// Letters of a value that are shown.
const LETTERS: usize = 60;
/// How many warnings are given.
const WARNINGS: usize = 10;
/// What a snapshot of Wikidata has of its own; other names are often a service's.
const WIKIDATA: &str = "http://www.wikidata.org/";

/// Looks at a SPARQL query: parses it, runs it, holds what it names against the data.
pub fn sparql_feedback(environment: &Environment, query: &str, sample: usize, run: bool, limits: &Limits) -> Feedback {
    let budget = Arc::new(Budget::new(limits));
    let told = budget::watched(&budget, || look(environment, query, sample, run, limits, &budget));
    let failed = |problem: Problem| Feedback { errors: vec![problem], ..Feedback::default() };
    match told {
        Ok(Ok(feedback)) => feedback,
        Ok(Err(Failed::Query(error))) => failed(problem(query, &error)),
        Ok(Err(Failed::Bound(exceeded))) | Err(Stopped::Exceeded(exceeded)) => over(exceeded, "while it was looked at"),
        Err(Stopped::Panicked(panic)) => {
            let message = format!("looking at the query failed, by a fault of the program: {panic}");
            failed(at(query, None, "runtime error", "defect", message, None))
        }
    }
}

/// Why nothing can be said of a query.
enum Failed {
    Query(Error),
    Bound(Exceeded),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Query(error)
    }
}

impl From<Exceeded> for Failed {
    fn from(exceeded: Exceeded) -> Failed {
        Failed::Bound(exceeded)
    }
}

fn look(
    environment: &Environment,
    query: &str,
    sample: usize,
    run: bool,
    limits: &Limits,
    budget: &Budget,
) -> Result<Feedback, Failed> {
    let prepared = prepare(query, &Settings::default())?;
    if !run {
        return Ok(Feedback { warnings: warnings(environment, query, budget)?, ..Feedback::default() });
    }
    let mut seen = Seen { sample, names: Vec::new(), results: Results::default() };
    prepared.run(environment, &Bounds { limits: limits.clone(), rows: None }, &mut seen)?;
    let warnings = warnings(environment, query, budget)?;
    Ok(Feedback { errors: Vec::new(), results: Some(seen.results), warnings })
}

/// In the words that errors of OverpassQL have, too.
fn problem(query: &str, error: &Error) -> Problem {
    let class = match error.class {
        Class::Syntax => "parse error",
        Class::Unsupported => "static error",
        Class::Limit | Class::Internal => "runtime error",
    };
    let place = error.place.map(|place| (place.start, place.end));
    at(query, place, class, error.code.name(), error.message.clone(), error.help.clone())
}

/// Counts what comes, and keeps the first of it as lines.
struct Seen {
    sample: usize,
    names: Vec<String>,
    results: Results,
}

impl Seen {
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

impl Sink for Seen {
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

/// Wikidata's names in the query that no triple of the data has, and tags that no element has.
fn warnings(environment: &Environment, query: &str, budget: &Budget) -> Result<Vec<Warning>, Exceeded> {
    let Ok(parsed) = syntax::parse(query, Dialect::Wdqs) else { return Ok(Vec::new()) };
    let (mut names, mut tags) = (BTreeSet::new(), BTreeSet::new());
    let patterns = [&parsed.query.pattern].into_iter().chain(parsed.named.iter().map(|(_, pattern)| pattern));
    for pattern in patterns {
        walk::on_patterns(pattern, &mut |pattern| {
            named(pattern, &mut names);
            if let Pattern::Bgp { patterns } = pattern {
                tags.extend(patterns.iter().filter_map(tag));
            }
        });
    }
    let is_stored = |name: &NamedNode| environment.store.id(name.as_ref().into()).is_some();
    let mut warnings = Vec::new();
    for name in names.into_iter().filter(|name| !is_stored(name)) {
        if warnings.len() == WARNINGS {
            break;
        }
        if name.as_str().starts_with(WIKIDATA) {
            let message = format!("no triple has {}", shorten(name.as_str()));
            warnings.push(Warning { code: "no-such-term", message, nearest: Vec::new() });
            continue;
        }
        let Some(elements) = &environment.elements else { continue };
        if let Some(meant) = meant_predicates(&name) {
            let message = format!("no element has {}", shorten(name.as_str()));
            let nearest = meant.iter().map(|iri| shorten(iri)).collect();
            warnings.push(Warning { code: "no-such-predicate", message, nearest });
            continue;
        }
        let Some(key) = asked_key(&name) else { continue };
        let asked = tags.iter().filter(|(asked, _)| *asked == name);
        let mut values: Vec<Option<&(String, bool)>> = asked.map(|(_, value)| value.as_ref()).collect();
        if values.is_empty() {
            values.push(None);
        }
        for value in values {
            let of_numbers =
                value.filter(|(text, is_text)| *is_text && asks_numbers(&name) && text.parse::<i64>().is_ok());
            if let Some((number, _)) = of_numbers {
                let message = format!("{key} has whole numbers, '{number}' is a text");
                let nearest = vec![format!("{} {number}", shorten(name.as_str()))];
                warnings.push(Warning { code: "number-as-text", message, nearest });
                continue;
            }
            let found = lint::tag_warning(elements.osm(), &key, value.map(|(text, _)| &**text), budget)?;
            warnings.extend(found.map(Warning::from).filter(|found| !warnings.contains(found)));
        }
    }
    warnings.truncate(WARNINGS);
    Ok(warnings)
}

/// The predicate and the value of a pattern that asks for a tag, and whether that is a plain text.
fn tag(triple: &TriplePattern) -> Option<(NamedNode, Option<(String, bool)>)> {
    let NamedNodePattern::NamedNode(name) = &triple.predicate else { return None };
    let value = match &triple.object {
        TermPattern::Literal(value) => Some((value.value().to_owned(), value.datatype() == xsd::STRING)),
        _ => None,
    };
    asked_key(name).map(|_| (name.clone(), value))
}

/// The names that stand in a pattern itself.
fn named(pattern: &Pattern, names: &mut BTreeSet<NamedNode>) {
    match pattern {
        Pattern::Bgp { patterns } => {
            for triple in patterns {
                names.extend([&triple.subject, &triple.object].into_iter().filter_map(name));
                if let NamedNodePattern::NamedNode(name) = &triple.predicate {
                    names.insert(name.clone());
                }
            }
        }
        Pattern::Path { subject, path, object } => {
            names.extend([subject, object].into_iter().filter_map(name));
            in_path(path, names);
        }
        _ => {}
    }
}

fn name(term: &TermPattern) -> Option<NamedNode> {
    match term {
        TermPattern::NamedNode(name) => Some(name.clone()),
        _ => None,
    }
}

fn in_path(path: &Path, names: &mut BTreeSet<NamedNode>) {
    match path {
        Path::NamedNode(name) => drop(names.insert(name.clone())),
        Path::Reverse(inner) | Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
            in_path(inner, names);
        }
        Path::Sequence(left, right) | Path::Alternative(left, right) => {
            in_path(left, names);
            in_path(right, names);
        }
        Path::NegatedPropertySet(_) => {}
    }
}
