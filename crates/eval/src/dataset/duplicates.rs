//! Finds duplicate questions and queries, within a split and, worse, between splits.

use std::collections::BTreeMap;

use super::pairs::GoldPair;
use super::{BenchmarkFinding, FindingKind};
use crate::language::QueryLanguage;
use crate::metrics::exact_match;
use terrapin_sparql::{Dialect, syntax};

/// Reports the pairs with a question or query that occurs in an earlier pair, as written or normalized; once for its
/// own split and once for each other.
pub fn duplicates(pairs: &[GoldPair]) -> Vec<BenchmarkFinding> {
    let mut findings = Vec::new();
    let question = |pair: &GoldPair| pair.question.clone();
    let query = |pair: &GoldPair| pair.query.trim().to_owned();
    find(
        pairs,
        question,
        normal_question,
        [FindingKind::DuplicateQuestion, FindingKind::LeakQuestion],
        "question",
        &mut findings,
    );
    find(pairs, query, normal_query, [FindingKind::DuplicateQuery, FindingKind::LeakQuery], "query", &mut findings);
    findings
}

fn find(
    pairs: &[GoldPair],
    written: impl Fn(&GoldPair) -> String,
    normal: impl Fn(&GoldPair) -> String,
    [within, between]: [FindingKind; 2],
    what: &str,
    findings: &mut Vec<BenchmarkFinding>,
) {
    // The first pair with it in each split.
    let mut known: BTreeMap<String, BTreeMap<&str, &GoldPair>> = BTreeMap::new();
    for pair in pairs {
        let normal = normal(pair);
        if normal.is_empty() {
            continue;
        }
        let splits = known.entry(normal).or_default();
        for (split, first) in splits.iter() {
            let how = if written(first) == written(pair) { "the same" } else { "the same, once normalised," };
            let kind = if *split == pair.split { within } else { between };
            findings.push(BenchmarkFinding::of(
                pair,
                kind,
                format!("the {what} is {how} as that of {}", first.place()),
            ));
        }
        splits.entry(&pair.split).or_insert(pair);
    }
}

/// Normalises a question: lower case, no punctuation, single spaces.
pub(super) fn normal_question(pair: &GoldPair) -> String {
    let letters = pair.question.to_lowercase();
    let words = letters.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Normalises a query: OverpassQL as in OverpassNL's exact match; SPARQL by its algebra, which ignores white space,
/// comments, prefixes and the case of keywords.
pub(super) fn normal_query(pair: &GoldPair) -> String {
    match pair.language() {
        QueryLanguage::OverpassQl => exact_match::normalized(&pair.query),
        QueryLanguage::Sparql => match syntax::parse(&pair.query, Dialect::Auto) {
            Ok(parsed) => {
                let mut text = format!("{:?}", parsed.query);
                parsed.named.iter().for_each(|named| text += &format!("{named:?}"));
                text
            }
            Err(_) => pair.query.split_whitespace().collect::<Vec<_>>().join(" "),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(split: &str, line: usize, question: &str, query: &str, lang: Option<&str>) -> GoldPair {
        let (split, question, query) = (split.to_owned(), question.to_owned(), query.to_owned());
        GoldPair { split, line, question, query, lang: lang.map(str::to_owned), ..GoldPair::default() }
    }

    fn found(pairs: &[GoldPair]) -> Vec<(FindingKind, usize, String)> {
        duplicates(pairs).into_iter().map(|f| (f.kind, f.line, f.message)).collect()
    }

    #[test]
    fn the_same_in_another_writing() {
        let pairs = [
            pair("train", 1, "Cafés in Malta?", "[out:json];node(1);out;", None),
            pair("train", 2, "Bars", "node(2);out;", None),
            pair("dev", 1, "cafés  in malta", "[out:xml]; node(1); out;", None),
            pair("dev", 2, "", "node(3);out;", None),
            pair("dev", 3, "", "node(4);out;", None),
            pair("dev", 4, "Pubs", "node(3);out;", None),
        ];
        let found = found(&pairs);
        let kinds: Vec<(FindingKind, usize)> = found.iter().map(|(kind, line, _)| (*kind, *line)).collect();
        assert_eq!(
            kinds,
            [(FindingKind::LeakQuestion, 1), (FindingKind::LeakQuery, 1), (FindingKind::DuplicateQuery, 4)]
        );
        assert_eq!(found[0].2, "the question is the same, once normalised, as that of train line 1");
        assert_eq!(found[2].2, "the query is the same as that of dev line 2");
    }

    #[test]
    fn sparql_is_compared_by_what_it_means() {
        let sparql = Some("sparql");
        let pairs = [
            pair("a", 1, "x", "SELECT ?x { ?x wdt:P31 wd:Q5 }", sparql),
            pair(
                "b",
                1,
                "y",
                "# people\nselect ?x where { ?x <http://www.wikidata.org/prop/direct/P31> wd:Q5 . }",
                sparql,
            ),
            pair("b", 2, "z", "SELECT ?x { ?x wdt:P31 wd:Q6 }", sparql),
        ];
        assert_eq!(found(&pairs).into_iter().map(|(kind, ..)| kind).collect::<Vec<_>>(), [FindingKind::LeakQuery]);
    }
}
