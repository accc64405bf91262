//! Finds near duplicates: questions and queries that are similar, not equal.
//!
//! Two questions are as similar as their sets of word trigrams (lower case, without punctuation): the Jaccard index.
//! Two queries of one language are as similar as the mean of two Jaccard indexes: that of their token trigrams, and that
//! of their subtrees. Tokens and subtrees are those of the syntax tree: the XML form of OverpassQL, the algebra of
//! SPARQL. Output formats and time limits are left out. A query that cannot be parsed has its words instead.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::duplicates::{normal_query, normal_question};
use super::pairs::GoldPair;
use super::statistics::plain_words;
use super::{BenchmarkFinding, FindingKind};
use crate::benchmarks::overpassnl::tree;
use crate::language::QueryLanguage;
use crate::metrics::is_python_space;
use crate::metrics::query_tree::QueryTree;
use terrapin_sparql::syntax::walk::{AsNode, QueryNode};
use terrapin_sparql::{Dialect, syntax};

/// The length of n-grams.
const N: usize = 3;
/// The default similarity from which two texts are near duplicates.
pub const NEAR: f64 = 0.9;
/// A tolerance for products of a threshold and a number of elements.
const ROUNDING: f64 = 1e-9;

/// A set of hashes, sorted.
type HashList = Vec<u64>;

/// The parts of a pair that are compared.
struct ComparedPair {
    question: HashList,
    /// The language of the query.
    language: QueryLanguage,
    tokens: HashList,
    subtrees: HashList,
}

/// Two similar pairs, by their numbers; the first is the smaller one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearPair {
    /// The earlier pair.
    pub first: usize,
    /// The later pair.
    pub second: usize,
    /// The similarity of their questions, if it reaches the threshold.
    pub question: Option<f64>,
    /// The similarity of their queries, if it reaches the threshold.
    pub query: Option<f64>,
}

/// Returns the pairs with questions or queries of a similarity of at least `threshold`, including equal ones.
///
/// # Panics
/// Does not panic; a threshold of at most 0.5 is raised to 0.51, because the search relies on common tokens.
pub fn near_pairs(pairs: &[GoldPair], threshold: f64) -> Vec<NearPair> {
    let threshold = threshold.max(0.51);
    let compared: Vec<ComparedPair> = pairs.par_iter().map(ComparedPair::new).collect();
    let questions: Vec<&HashList> = compared.iter().map(|pair| &pair.question).collect();
    let tokens: Vec<&HashList> = compared.iter().map(|pair| &pair.tokens).collect();
    let mut found: BTreeMap<(usize, usize), (Option<f64>, Option<f64>)> = BTreeMap::new();
    for (first, second) in candidates(&questions, threshold) {
        if let (Some(a), Some(b)) = (compared.get(first), compared.get(second)) {
            let similarity = jaccard(&a.question, &b.question);
            if similarity >= threshold {
                found.entry((first, second)).or_default().0 = Some(similarity);
            }
        }
    }
    // The mean of two indexes reaches the threshold only if each reaches this.
    for (first, second) in candidates(&tokens, 2.0 * threshold - 1.0) {
        if let (Some(a), Some(b)) = (compared.get(first), compared.get(second))
            && a.language == b.language
        {
            let similarity = (jaccard(&a.tokens, &b.tokens) + jaccard(&a.subtrees, &b.subtrees)) / 2.0;
            if similarity >= threshold {
                found.entry((first, second)).or_default().1 = Some(similarity);
            }
        }
    }
    let near = |((first, second), (question, query))| NearPair { first, second, question, query };
    found.into_iter().map(near).collect()
}

/// Reports near duplicates between splits that are not equal, each pair of the later split once for questions and once
/// for queries, with the most similar pair.
pub fn near_duplicates(pairs: &[GoldPair], threshold: f64) -> Vec<BenchmarkFinding> {
    let mut best: BTreeMap<(usize, FindingKind), (f64, usize)> = BTreeMap::new();
    for near in near_pairs(pairs, threshold) {
        let (Some(first), Some(second)) = (pairs.get(near.first), pairs.get(near.second)) else { continue };
        if first.split == second.split {
            continue;
        }
        for (similarity, kind) in [(near.question, FindingKind::NearQuestion), (near.query, FindingKind::NearQuery)] {
            let Some(similarity) = similarity else { continue };
            let normal = if kind == FindingKind::NearQuestion { normal_question } else { normal_query };
            // Equal ones are findings of their own.
            if normal(first) == normal(second) {
                continue;
            }
            let known = best.entry((near.second, kind)).or_insert((similarity, near.first));
            if similarity > known.0 {
                *known = (similarity, near.first);
            }
        }
    }
    let finding = |((second, kind), (similarity, first)): (&(usize, FindingKind), &(f64, usize))| {
        let (pair, other) = (pairs.get(*second)?, pairs.get(*first)?);
        let what = if *kind == FindingKind::NearQuestion { "question" } else { "query" };
        let message = format!("the {what} is similar ({similarity:.2}) to that of {}", other.place());
        Some(BenchmarkFinding::of(pair, *kind, message))
    };
    best.iter().filter_map(finding).collect()
}

/// Returns the groups of near duplicates: for each pair the number of the first one of its group.
pub fn groups(pairs: &[GoldPair], threshold: f64) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..pairs.len()).collect();
    for near in near_pairs(pairs, threshold) {
        let (a, b) = (root(&parents, near.first), root(&parents, near.second));
        if let Some(parent) = parents.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
    }
    (0..pairs.len()).map(|index| root(&parents, index)).collect()
}

fn root(parents: &[usize], mut index: usize) -> usize {
    while let Some(parent) = parents.get(index).filter(|parent| **parent != index) {
        index = *parent;
    }
    index
}

/// Returns the pairs of sets that may have a Jaccard index of at least `threshold`.
///
/// Such sets have one of their rarest elements in common: the first `n - ceil(threshold * n) + 1` of each set of `n`
/// elements in a common order (Bayardo, Ma and Srikant, Scaling Up All Pairs Similarity Search, 2007).
fn candidates(sets: &[&HashList], threshold: f64) -> BTreeSet<(usize, usize)> {
    let mut frequency: BTreeMap<u64, usize> = BTreeMap::new();
    sets.iter().flat_map(|set| set.iter()).for_each(|element| *frequency.entry(*element).or_default() += 1);
    let mut known: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (index, set) in sets.iter().enumerate() {
        let mut elements: Vec<u64> = set.to_vec();
        elements.sort_unstable_by_key(|element| (frequency.get(element).copied().unwrap_or_default(), *element));
        let prefix = elements.len() - (threshold * elements.len() as f64 - ROUNDING).ceil().max(0.0) as usize + 1;
        for element in elements.iter().take(prefix) {
            let others = known.entry(*element).or_default();
            for other in others.iter() {
                let length = sets.get(*other).map_or(0, |other| other.len());
                // Sets of very different sizes have a low index.
                if length.min(set.len()) as f64 + ROUNDING >= threshold * length.max(set.len()) as f64 {
                    found.insert((*other, index));
                }
            }
            others.push(index);
        }
    }
    found
}

/// Returns the size of the intersection over that of the union; 1 for two empty sets.
fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = a.iter().filter(|element| b.binary_search(element).is_ok()).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

impl ComparedPair {
    fn new(pair: &GoldPair) -> ComparedPair {
        let language = pair.language();
        let (tokens, subtrees) = match language {
            _ if !pair.is_run_here() => words(&pair.query),
            QueryLanguage::OverpassQl => of_tree(&tree(pair.query.trim_matches(is_python_space)), &pair.query),
            QueryLanguage::Sparql => of_sparql(&pair.query),
        };
        ComparedPair { question: ngrams(&plain_words(&pair.question)), language, tokens, subtrees }
    }
}

/// Returns the hashes of the n-grams of a sequence; a shorter sequence is one n-gram.
fn ngrams<T: Hash>(items: &[T]) -> HashList {
    if items.is_empty() {
        return Vec::new();
    }
    sorted(items.windows(N.min(items.len())).map(hash))
}

fn sorted(hashes: impl Iterator<Item = u64>) -> HashList {
    hashes.collect::<BTreeSet<u64>>().into_iter().collect()
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the words of a text that is not parsed.
fn words(text: &str) -> (HashList, HashList) {
    let words: Vec<&str> = text.split_whitespace().collect();
    (ngrams(&words), sorted(words.iter().map(hash)))
}

/// Returns the token n-grams and the subtrees of an XML form.
fn of_tree(tree: &QueryTree, text: &str) -> (HashList, HashList) {
    if tree.nodes.len() < 2 {
        return words(text);
    }
    let mut tokens: Vec<&str> = Vec::new();
    // The first element has the settings.
    for node in tree.nodes.iter().skip(1) {
        tokens.push(&node.name);
        tokens.extend(node.attributes.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty()));
    }
    let mut hashes = vec![0; tree.nodes.len()];
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        let children: Vec<u64> = node.children.iter().filter_map(|child| hashes.get(*child).copied()).collect();
        let attributes: &[(String, String)] = if index == 0 { &[] } else { &node.attributes };
        if let Some(known) = hashes.get_mut(index) {
            *known = hash((&node.name, attributes, children));
        }
    }
    (ngrams(&tokens), sorted(hashes.into_iter()))
}

/// Returns the token n-grams and the subtrees of SPARQL.
fn of_sparql(query: &str) -> (HashList, HashList) {
    let Ok(parsed) = syntax::parse(query, Dialect::Auto) else { return words(query) };
    let tokens = syntax::read_tokens(query, Dialect::Auto);
    let texts = tokens.iter().filter_map(|token| query.get(token.start..token.end));
    let tokens: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    let mut subtrees = BTreeSet::new();
    let patterns = std::iter::once(&parsed.query.pattern).chain(parsed.named.iter().map(|(_, pattern)| pattern));
    let mut open: Vec<QueryNode<'_>> = patterns.map(AsNode::as_node).collect();
    while let Some(node) = open.pop() {
        subtrees.insert(match node {
            QueryNode::Pattern(pattern) => hash((0, pattern)),
            QueryNode::Expression(expression) => hash((1, expression)),
            QueryNode::SortKey(key) => hash((2, key)),
            QueryNode::Aggregate(call) => hash((3, call)),
            QueryNode::Path(path) => hash((4, path)),
        });
        // Triple patterns are parts of their group.
        if let QueryNode::Pattern(terrapin_sparql::syntax::algebra::QueryPattern::Bgp { patterns }) = node {
            subtrees.extend(patterns.iter().map(|triple| hash((5, triple))));
        }
        node.children(&mut |child| open.push(child));
    }
    (ngrams(&tokens), subtrees.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(split: &str, question: &str, query: &str, lang: Option<&str>) -> GoldPair {
        let (split, question, query) = (split.to_owned(), question.to_owned(), query.to_owned());
        GoldPair { split, line: 1, question, query, lang: lang.map(str::to_owned), ..GoldPair::default() }
    }

    /// All similarities, by comparing every two pairs.
    fn by_force(pairs: &[GoldPair], threshold: f64) -> Vec<(usize, usize)> {
        let compared: Vec<ComparedPair> = pairs.iter().map(ComparedPair::new).collect();
        let mut found = Vec::new();
        for (second, b) in compared.iter().enumerate() {
            for (first, a) in compared.iter().enumerate().take(second) {
                let query = (jaccard(&a.tokens, &b.tokens) + jaccard(&a.subtrees, &b.subtrees)) / 2.0;
                // Two empty questions have nothing in common.
                let question = if a.question.is_empty() { 0.0 } else { jaccard(&a.question, &b.question) };
                if question >= threshold || a.language == b.language && query >= threshold {
                    found.push((first, second));
                }
            }
        }
        found.sort_unstable();
        found
    }

    const LONG: &str = "[out:json];(node[amenity=cafe][name](1,2,3,4);way[amenity=cafe][name](1,2,3,4);rel[amenity=cafe][name](1,2,3,4););out center;";

    #[test]
    fn similar_queries_are_found_and_different_ones_are_not() {
        let pairs = [
            pair("train", "Show all cafes with a name in the box please", LONG, None),
            pair("dev", "Bars", &LONG.replace("out:json", "out:xml").replace(";", "; "), None),
            pair("dev", "show all cafes with a name in the box, please!", "node(1);out;", None),
            pair("dev", "Pubs", "node(2);out;", None),
        ];
        let findings = near_pairs(&pairs, NEAR);
        assert_eq!(findings.iter().map(|near| (near.first, near.second)).collect::<Vec<_>>(), [(0, 1), (0, 2)]);
        assert_eq!((findings[0].query, findings[0].question), (Some(1.0), None));
        assert_eq!(groups(&pairs, NEAR), [0, 0, 0, 3]);
        // Equal ones are reported as duplicates.
        assert_eq!(near_duplicates(&pairs, NEAR), []);
        let changed = [pairs[0].clone(), pair("dev", "", &LONG.replace("out center", "out ids"), None)];
        let findings = near_duplicates(&changed, 0.6);
        assert_eq!(findings.iter().map(|finding| finding.kind).collect::<Vec<_>>(), [FindingKind::NearQuery]);
        assert!(findings[0].message.starts_with("the query is similar (0."), "{}", findings[0].message);
    }

    #[test]
    fn sparql_is_compared_by_tokens_and_algebra() {
        let query = "SELECT ?x ?n WHERE { ?x wdt:P31 wd:Q515 ; wdt:P17 wd:Q233 ; wdt:P1082 ?n . FILTER(?n > 1000) } ORDER BY DESC(?n) LIMIT 10";
        let pairs = [
            pair("a", "", query, Some("sparql")),
            pair("b", "", &query.replace("1000", "2000"), Some("sparql")),
            pair("b", "", "ASK { wd:Q1 ?p ?o }", Some("sparql")),
            pair("b", "", "not a query", Some("sparql")),
        ];
        let found: Vec<(usize, usize)> =
            near_pairs(&pairs, 0.52).iter().map(|near| (near.first, near.second)).collect();
        assert_eq!(found, [(0, 1)]);
    }

    #[test]
    fn the_search_finds_what_comparing_all_finds() {
        let words = ["cafe", "bar", "pub", "school", "park"];
        let mut pairs = Vec::new();
        for (i, a) in words.iter().enumerate() {
            for (j, b) in words.iter().enumerate() {
                let query =
                    format!("(node[amenity={a}](1,2,3,4);way[amenity={b}][name](1,2,3,4););out {};", i * j % 3 + 1);
                pairs.push(pair("x", &format!("Show me every {a} and then every {b} in the old town"), &query, None));
            }
        }
        for threshold in [0.55, 0.7, 0.9] {
            let found: Vec<(usize, usize)> =
                near_pairs(&pairs, threshold).iter().map(|near| (near.first, near.second)).collect();
            assert_eq!(found, by_force(&pairs, threshold), "{threshold}");
            assert!(threshold > 0.6 || !found.is_empty());
        }
    }
}
