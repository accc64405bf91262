//! `incomplete-containment`: the chain of `wdt:P131` to a place finds fewer items than lie in the place's area.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use oxrdf::{Term, Triple, Variable};
use terrapin_budget::Limits;
use terrapin_sparql::syntax::{self, SparqlToken, TokenKind};
use terrapin_sparql::{Dialect, Environment, ResultSink, SparqlBounds, SparqlSettings, prepare};

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "incomplete-containment",
        severity: LintSeverity::Warning,
        summary: "A chain of wdt:P131 to a place finds fewer items than have their coordinates in its area.",
    },
    check,
};

/// The maximum number of chains of a query that are compared.
const CHAINS: usize = 3;
/// The maximum time of one count.
const TIME: Duration = Duration::from_secs(10);

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let Some(environment) = lint.environment else { return };
    for chain in chains(lint.text, &lint.tokens).into_iter().take(CHAINS) {
        let Some(offer) = offer(lint.text, &lint.tokens, &chain, environment, &Limits::default()) else { continue };
        let message = format!(
            "the chain finds {} items, and {} items have their coordinates in the area of {}",
            offer.by_chain, offer.by_geometry, chain.place
        );
        findings.add(chain.range.clone(), message).nearest.push(offer.pattern);
    }
}

/// A query whose containment by `wdt:P131` finds fewer items than containment by geometry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ContainmentOffer {
    /// The place, such as `wd:Q233`.
    pub place: String,
    /// Number of items that the chain finds.
    pub by_chain: u64,
    /// Number of items that have their coordinates (`P625`) in an area of the place.
    pub by_geometry: u64,
    /// The patterns of containment by geometry.
    pub pattern: String,
    /// The query with these patterns in place of the chain.
    pub query: String,
}

/// Compares the chains of `wdt:P131` of a query with containment by geometry. Returns `None` if the query has no such
/// chain, and an offer if the area of the first place has more items. Both counts have all other patterns of the query.
/// If a count reaches a limit, there is no offer.
pub fn containment_by_geometry(
    text: &str,
    environment: &Environment,
    limits: &Limits,
) -> Option<Option<ContainmentOffer>> {
    let tokens = syntax::read_tokens(text, Dialect::Auto);
    let first = chains(text, &tokens).into_iter().next()?;
    Some(offer(text, &tokens, &first, environment, limits))
}

/// A chain in a query: `?item wdt:P131* wd:Q233`.
struct ContainmentChain {
    item: String,
    place: String,
    /// The bytes of the path and the place.
    range: Range<usize>,
    /// The byte after the `{` of the innermost group.
    group: usize,
}

/// Returns the chains from a variable to a place.
fn chains(text: &str, tokens: &[SparqlToken]) -> Vec<ContainmentChain> {
    let slice = |token: &SparqlToken| text.get(token.start..token.end).unwrap_or_default();
    let word = |at: usize| tokens.get(at).map_or("", slice);
    let (mut groups, mut subject, mut begins, mut found) = (Vec::new(), None, true, Vec::new());
    // The open parentheses of a FILTER or BIND, after which triples follow without a dot.
    let mut parentheses: Option<usize> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match slice(token) {
            "(" => parentheses = parentheses.map(|open| open + 1),
            ")" => {
                parentheses = parentheses.map(|open| open.saturating_sub(1));
                if parentheses == Some(0) {
                    (parentheses, begins) = (None, true);
                }
            }
            "{" => {
                groups.push(token.end);
                (parentheses, begins) = (None, true);
            }
            "}" => {
                groups.pop();
                begins = true;
            }
            "." => begins = true,
            "wdt:P131" if !matches!(word(at.wrapping_sub(1)), "/" | "|" | "^" | "(" | "!") => {
                let mut end = at + 1;
                loop {
                    match word(end) {
                        "*" | "+" | "?" => end += 1,
                        "/" if word(end + 1) == "wdt:P131" => end += 2,
                        _ => break,
                    }
                }
                let place = word(end);
                if let (Some(item), Some(group), true) = (subject, groups.last(), is_item(place)) {
                    found.push(ContainmentChain {
                        item: String::from(item),
                        place: place.to_owned(),
                        range: token.start..tokens[end].end,
                        group: *group,
                    });
                }
            }
            text if begins => {
                subject = (token.kind == TokenKind::Variable).then_some(text);
                let is_constraint = text.eq_ignore_ascii_case("FILTER") || text.eq_ignore_ascii_case("BIND");
                parentheses = is_constraint.then_some(0);
                begins = false;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn is_item(text: &str) -> bool {
    text.strip_prefix("wd:Q").is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

/// Returns an offer if geometry finds more items.
fn offer(
    text: &str,
    tokens: &[SparqlToken],
    chain: &ContainmentChain,
    environment: &Environment,
    limits: &Limits,
) -> Option<ContainmentOffer> {
    let ContainmentChain { item, place, range, group } = chain;
    let free = |name: &str| {
        let taken = |name: &str| tokens.iter().any(|token| text.get(token.start + 1..token.end) == Some(name));
        (0..)
            .map(|number| if number == 0 { name.to_owned() } else { format!("{name}{number}") })
            .find(|name| !taken(name))
    };
    let (position, area, shape) = (free("position")?, free("area")?, free("shape")?);
    let filter = format!("FILTER(geof:sfWithin(?{position}, ?{shape}))");
    let of_area = format!("?{area} osm2rdfkey:wikidata {place} ; geo:hasGeometry/geo:asWKT ?{shape} .");
    let by_position = format!("wdt:P625 ?{position}");
    let (start, between, end) = (text.get(..*group)?, text.get(*group..range.start)?, text.get(range.end..)?);
    let query = format!("{start} {of_area} {filter} {between}{by_position}{end}");
    let by_chain = count(text, item, environment, limits)?;
    let by_geometry = count(&query, item, environment, limits)?;
    let pattern = format!("{of_area} {item} {by_position} . {filter}");
    (by_geometry > by_chain).then(|| ContainmentOffer { place: place.clone(), by_chain, by_geometry, pattern, query })
}

/// Counts the items that a query's pattern finds, without its solution modifiers. Returns `None` if it has named
/// subqueries, or cannot be counted within the limits.
fn count(text: &str, item: &str, environment: &Environment, limits: &Limits) -> Option<u64> {
    let tokens = syntax::read_tokens(text, Dialect::Auto);
    let slice = |token: &SparqlToken| text.get(token.start..token.end).unwrap_or_default();
    let select = tokens.iter().find(|token| slice(token).eq_ignore_ascii_case("select"))?;
    if tokens.iter().any(|token| token.kind == TokenKind::Named) {
        return None;
    }
    let open = tokens.iter().find(|token| slice(token) == "{")?;
    let mut depth = 0;
    let close = tokens.iter().find(|token| {
        match slice(token) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && slice(token) == "}"
    })?;
    let (prologue, body) = (text.get(..select.start)?, text.get(open.start..close.end)?);
    let counting = format!("{prologue} SELECT (COUNT(DISTINCT {item}) AS ?terrapin_count) {body}");
    let prepared = prepare(&counting, &SparqlSettings::default()).ok()?;
    let own = Instant::now() + TIME;
    let deadline = Some(limits.deadline.map_or(own, |deadline| deadline.min(own)));
    let bounds = SparqlBounds { limits: Limits { deadline, ..limits.clone() }, rows: None };
    let mut value = CountedValue(None);
    prepared.run(environment, &bounds, &mut value).ok()?;
    value.0
}

/// Keeps the number of the only solution.
struct CountedValue(Option<u64>);

impl ResultSink for CountedValue {
    fn variables(&mut self, _: &[Variable]) -> io::Result<()> {
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        if let [Some(Term::Literal(value))] = values {
            self.0 = value.value().parse().ok();
        }
        Ok(())
    }

    fn boolean(&mut self, _: bool) -> io::Result<()> {
        Ok(())
    }

    fn triple(&mut self, _: &Triple) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_lead_from_a_variable_to_a_place() {
        for (text, expected) in [
            ("SELECT * { ?x wdt:P31 wd:Q5 ; wdt:P131* wd:Q1 . }", Some(("?x", "wdt:P131* wd:Q1"))),
            ("SELECT * { ?y wdt:P31 wd:Q5 . ?x wdt:P131/wdt:P131* wd:Q1 }", Some(("?x", "wdt:P131/wdt:P131* wd:Q1"))),
            ("SELECT * { { ?x wdt:P131 wd:Q1 } UNION { ?x a ?b } }", Some(("?x", "wdt:P131 wd:Q1"))),
            ("SELECT * { ?x wdt:P276/wdt:P131* wd:Q1 }", None),
            ("SELECT * { ?x wdt:P131* ?y }", None),
            ("SELECT * { wd:Q2 wdt:P131* wd:Q1 }", None),
            ("SELECT * { ?x ^wdt:P131 wd:Q1 }", None),
            ("SELECT * { ?x wdt:P131/wdt:P17 wd:Q1 }", None),
            ("SELECT * { ?x (wdt:P131|wdt:P276) wd:Q1 }", None),
            // The comparisons of a filter look like an IRI.
            (
                "SELECT * { FILTER(?a<?b&&?c>?d) ?x wdt:P131 wd:Q1 FILTER(?a<?b) FILTER(?c>?d) }",
                Some(("?x", "wdt:P131 wd:Q1")),
            ),
            ("SELECT * { FILTER(?a<?b) ?x wdt:P131 wd:Q1 . FILTER(?c>?d) }", Some(("?x", "wdt:P131 wd:Q1"))),
        ] {
            let found = chains(text, &syntax::read_tokens(text, Dialect::Auto));
            let first = found.first().map(|chain| (chain.item.as_str(), &text[chain.range.clone()]));
            assert_eq!(first, expected, "{text}");
        }
    }
}
