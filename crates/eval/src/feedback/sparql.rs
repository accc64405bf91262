//! The same of a SPARQL query.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use oxrdf::{NamedNode, Term, Triple, Variable};

use super::{Feedback, Problem, Results, Warning, at, over};
use terrapin_budget::{self as budget, Budget, Limits, Stopped};
use terrapin_sparql::results::cell;
use terrapin_sparql::syntax::algebra::{NamedNodePattern, Path, Pattern, TermPattern};
use terrapin_sparql::syntax::{self, shorten, walk};
use terrapin_sparql::{Bounds, Class, Dialect, Environment, Error, Settings, Sink, prepare};

/// Letters of a value that are shown.
const LETTERS: usize = 60;
/// How many warnings are given.
const WARNINGS: usize = 10;
/// What a snapshot of Wikidata has of its own; other names are often a service's.
const WIKIDATA: &str = "http://www.wikidata.org/";

/// Looks at a SPARQL query: parses it, runs it, holds what it names against the data.
pub fn sparql_feedback(environment: &Environment, query: &str, sample: usize, run: bool, limits: &Limits) -> Feedback {
    let budget = Arc::new(Budget::new(limits));
    let told = budget::watched(&budget, || look(environment, query, sample, run, limits));
    let failed = |problem: Problem| Feedback { errors: vec![problem], ..Feedback::default() };
    match told {
        Ok(Ok(feedback)) => feedback,
        Ok(Err(error)) => failed(problem(query, &error)),
        Err(Stopped::Exceeded(exceeded)) => over(exceeded, "while it was looked at"),
        Err(Stopped::Panicked(panic)) => {
            let message = format!("looking at the query failed, by a fault of the program: {panic}");
            failed(at(query, None, "runtime error", "defect", message, None))
        }
    }
}

fn look(environment: &Environment, query: &str, sample: usize, run: bool, limits: &Limits) -> Result<Feedback, Error> {
    let prepared = prepare(query, &Settings::default())?;
    if !run {
        return Ok(Feedback { warnings: warnings(environment, query), ..Feedback::default() });
    }
    let mut seen = Seen { sample, names: Vec::new(), results: Results::default() };
    prepared.run(environment, &Bounds { limits: limits.clone(), rows: None }, &mut seen)?;
    Ok(Feedback { errors: Vec::new(), results: Some(seen.results), warnings: warnings(environment, query) })
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

/// Wikidata's names in the query that no triple of the data has.
fn warnings(environment: &Environment, query: &str) -> Vec<Warning> {
    let Ok(parsed) = syntax::parse(query, Dialect::Wdqs) else { return Vec::new() };
    let mut names = BTreeSet::new();
    let patterns = [&parsed.query.pattern].into_iter().chain(parsed.named.iter().map(|(_, pattern)| pattern));
    for pattern in patterns {
        walk::on_patterns(pattern, &mut |pattern| named(pattern, &mut names));
    }
    let is_missing =
        |name: &NamedNode| name.as_str().starts_with(WIKIDATA) && environment.store.id(name.as_ref().into()).is_none();
    let warning = |name: NamedNode| Warning {
        code: "no-such-term",
        message: format!("no triple has {}", shorten(name.as_str())),
        nearest: Vec::new(),
    };
    names.into_iter().filter(is_missing).map(warning).take(WARNINGS).collect()
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
