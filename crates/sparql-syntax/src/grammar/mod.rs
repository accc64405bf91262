//! A grammar of SPARQL for constrained decoding: a language model that follows it writes no syntax errors. All
//! repetitions are bounded, because small models otherwise repeat themselves without end. Functions with their numbers
//! of arguments and prefixes come from the parser's tables.
//!
//! The grammar is wider than the language where that depends on other parts of the query: a name after `INCLUDE` may be
//! undefined, `VALUES` may repeat a variable, and a label of a blank node may occur in two groups. It is narrower in
//! syntax that queries of Wikidata hardly use: nested aggregates, `FROM`, `BASE`, `LATERAL`, long strings, and prefixes
//! of one's own.

use std::collections::BTreeMap;

use terrapin_grammar::{DecodingGrammar, GrammarExpression, SampleSettings};

use crate::function;
use crate::prefixes;

/// The rules, without those made from tables and names.
const RULES: &str = include_str!("sparql.gbnf");
/// The rules of expressions that also exist in a form with aggregates.
const EXPRESSIONS: [&str; 12] = [
    "expression",
    "relation",
    "constant",
    "sum",
    "plain-sum",
    "signed",
    "primary",
    "bracketed",
    "closed",
    "list",
    "call",
    "function-call",
];
/// The ending of their names.
const AGGREGATED: &str = "aggregated";
/// Maximum number of arguments of a function that takes any number.
const MOST_ARGUMENTS: usize = 40;
/// Namespaces of Wikidata's items and properties.
const ENTITIES: &str = "http://www.wikidata.org/entity/";
const PROPERTIES: &str = "http://www.wikidata.org/prop/";

/// Ids of a snapshot, or those for one question. If a list is empty, any id is allowed in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SparqlNames {
    /// Items of Wikidata, such as `Q5`.
    pub items: Vec<String>,
    /// Properties of Wikidata, such as `P31`.
    pub properties: Vec<String>,
}

/// Returns the grammar of SPARQL in the dialect of the Wikidata Query Service.
///
/// ```
/// use terrapin_sparql_syntax::grammar::{SparqlNames, sparql_grammar};
///
/// let names = SparqlNames { properties: vec!["P31".to_owned()], ..SparqlNames::default() };
/// let grammar = sparql_grammar(&names);
/// assert!(grammar.accepts("SELECT ?city { ?city wdt:P31 wd:Q515 } LIMIT 3"));
/// assert!(!grammar.accepts("SELECT ?city { ?city wdt:P32 wd:Q515 } LIMIT 3"));
/// ```
pub fn sparql_grammar(names: &SparqlNames) -> DecodingGrammar {
    let mut grammar = DecodingGrammar::parse(RULES);
    set_functions(&mut grammar);
    grammar.add_variants(&EXPRESSIONS, AGGREGATED);
    // `aggregated` is the short name of `expression-aggregated`.
    grammar.set(AGGREGATED, rule("expression-aggregated"));
    grammar.add_alternative("call-aggregated", rule("aggregate"));
    set_prefixes(&mut grammar, names);
    grammar
}

/// Returns the settings of samples that the parser accepts: without names after `INCLUDE`, which the query must define,
/// and with different variables of tables, names of subqueries and labels of blank nodes.
pub fn sample_settings() -> SampleSettings<'static> {
    let distinct = &["table-name", "subquery-name", "blank-label"];
    SampleSettings { without: &["include"], distinct, ..SampleSettings::default() }
}

fn rule(name: &str) -> GrammarExpression {
    GrammarExpression::Rule(name.to_owned())
}

/// Returns a choice of literals, longer ones first, for engines that take the first match.
fn literals<'t>(texts: impl Iterator<Item = &'t str>) -> GrammarExpression {
    let mut texts: Vec<&str> = texts.collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    GrammarExpression::choice(texts.into_iter().map(GrammarExpression::literal))
}

/// Sets the rule of function calls: for each number of arguments the functions that take it.
fn set_functions(grammar: &mut DecodingGrammar) {
    let mut by_arity: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for (name, least, most) in function::builtins() {
        by_arity.entry((least, most.min(MOST_ARGUMENTS))).or_default().push(name);
    }
    let calls = by_arity.into_iter().map(|((least, most), mut names)| {
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let names = names.into_iter().map(|name| GrammarExpression::Keyword(name.to_owned()));
        GrammarExpression::Sequence(vec![
            GrammarExpression::choice(names),
            rule("ws"),
            GrammarExpression::literal("("),
            rule("ws"),
            arguments(least, most),
            rule("ws"),
            GrammarExpression::literal(")"),
        ])
    });
    grammar.set("function-call", GrammarExpression::choice(calls));
}

/// Returns the expression for `least` to `most` arguments.
fn arguments(least: usize, most: usize) -> GrammarExpression {
    let repeat = |of: GrammarExpression, least: usize, most: usize| {
        GrammarExpression::Repeat(Box::new(of), least as u32, most as u32)
    };
    let next = ["ws", ",", "ws", "expression"];
    let next = next.map(|part| if part == "," { GrammarExpression::literal(part) } else { rule(part) });
    if most == 0 {
        return rule("ws");
    }
    let (least_after, most_after) = (least.saturating_sub(1), most - 1);
    let all = GrammarExpression::Sequence(vec![
        rule("expression"),
        repeat(GrammarExpression::Sequence(next.into()), least_after, most_after),
    ]);
    let all = if most == 1 { rule("expression") } else { all };
    if least == 0 { repeat(all, 0, 1) } else { all }
}

/// Sets the rules of prefixed names; ids after Wikidata's prefixes are restricted to the given ones.
fn set_prefixes(grammar: &mut DecodingGrammar, names: &SparqlNames) {
    let is_item = |iri: &str| iri == ENTITIES && !names.items.is_empty();
    let is_property = |iri: &str| iri.starts_with(PROPERTIES) && !names.properties.is_empty();
    // With QLever's names a query is in QLever's dialect, which lacks what the grammar has of WDQS.
    let known = || prefixes::all().filter(|(_, iri)| !iri.contains("qlever.cs.uni-freiburg.de"));
    let of = |test: &dyn Fn(&str) -> bool| literals(known().filter(|(_, iri)| test(iri)).map(|(prefix, _)| prefix));
    grammar.set("prefix", of(&|iri| !is_item(iri) && !is_property(iri)));
    // Properties are entities too: `wd:P31`.
    let mut items = names.items.clone();
    items.extend(names.properties.iter().cloned());
    for (name, is_restricted, ids) in
        [("item", &is_item as &dyn Fn(&str) -> bool, &items), ("property-id", &is_property, &names.properties)]
    {
        if !known().any(|(_, iri)| is_restricted(iri)) {
            continue;
        }
        let ids = literals(ids.iter().map(String::as_str));
        grammar.set(name, GrammarExpression::Sequence(vec![of(is_restricted), GrammarExpression::literal(":"), ids]));
        grammar.add_alternative("prefixed", rule(name));
    }
}

#[cfg(test)]
mod tests;
