//! Counts what OverpassQL queries use, in their XML form.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::super::pairs::GoldPair;
use super::distribution::Distribution;
use super::distribution::ranked;
use super::features::{FEATURES, FeatureCount, used};
use crate::benchmarks::overpassnl::tree;
use crate::metrics::is_python_space;
use crate::metrics::query_tree::{QueryTree, TreeNode};
use terrapin_overpass::turbo;

/// In how many queries a feature has to occur in OverpassNL's paper.
const COMMON: usize = 20;
/// The number of keys to list.
const TOP: usize = 20;
/// Attributes with names that a query's author chose.
const NAMES: [&str; 8] = ["into", "from", "k", "v", "regk", "regv", "name", "role"];

/// The statistics of OverpassQL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverpassStatistics {
    /// The number of queries.
    pub queries: usize,
    /// The number of queries that are invalid, shortcuts replaced.
    pub invalid: usize,
    /// The syntactic units of each query: the different subtrees of its XML form, with all attributes. This definition gives
    /// the mean of OverpassNL's paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Distribution>,
    /// The elements of each query's XML form: OverpassNL's measure of difficulty `xml_components`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elements: Option<Distribution>,
    /// The different subtrees of each query, without set names, time limits, keys and values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_subtrees: Option<Distribution>,
    /// The number of templates: queries without keys, values, set names and digits.
    pub templates: usize,
    /// The number of different keys.
    pub keys: usize,
    /// The number of different values.
    pub values: usize,
    /// The number of different pairs of a key and a value.
    pub pairs: usize,
    /// The most frequent keys, with the number of queries.
    pub top_keys: Vec<(String, usize)>,
    /// The number of features of the language.
    pub features_total: usize,
    /// The number of features that occur.
    pub features_used: usize,
    /// The number of features that occur in at least 20 queries.
    pub features_common: usize,
    /// Every feature.
    pub features: Vec<FeatureCount>,
    /// The number of queries with each kind of shortcut, such as `geocodeArea`.
    pub shortcuts: BTreeMap<String, usize>,
}

/// The identity of a subtree: its name, its attributes, and the classes of its children.
type SubtreeShape<'a> = (&'a str, Vec<(&'a str, &'a str)>, Vec<usize>);

/// The counted properties of one query.
struct QueryUse {
    invalid: bool,
    units: u64,
    elements: u64,
    subtrees: u64,
    template: String,
    mentions: Vec<(String, String)>,
    features: BTreeSet<usize>,
    shortcuts: BTreeSet<String>,
}

/// Computes the statistics of pairs in OverpassQL.
pub(super) fn statistics(pairs: &[&GoldPair]) -> OverpassStatistics {
    let uses: Vec<QueryUse> = pairs.par_iter().map(|pair| use_of(&pair.query)).collect();
    let (mut keys, mut values, mut tags) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    let (mut features, mut shortcuts) = (vec![0_usize; FEATURES.len()], BTreeMap::new());
    for query in &uses {
        let own: BTreeSet<&String> = query.mentions.iter().map(|(key, _)| key).filter(|key| !key.is_empty()).collect();
        own.into_iter().for_each(|key| *keys.entry(key.clone()).or_insert(0) += 1);
        for (key, value) in &query.mentions {
            if !value.is_empty() {
                values.insert(value);
                if !key.is_empty() {
                    tags.insert((key, value));
                }
            }
        }
        for number in &query.features {
            if let Some(count) = features.get_mut(*number) {
                *count += 1;
            }
        }
        query.shortcuts.iter().for_each(|name| *shortcuts.entry(name.clone()).or_insert(0) += 1);
    }
    let share = |count: usize| crate::stored(count as f64 / pairs.len().max(1) as f64);
    let counted = FEATURES.iter().zip(&features);
    OverpassStatistics {
        queries: pairs.len(),
        invalid: uses.iter().filter(|query| query.invalid).count(),
        units: Distribution::of(uses.iter().map(|query| query.units)),
        elements: Distribution::of(uses.iter().map(|query| query.elements)),
        distinct_subtrees: Distribution::of(uses.iter().map(|query| query.subtrees)),
        templates: uses.iter().map(|query| &query.template).collect::<BTreeSet<_>>().len(),
        keys: keys.len(),
        values: values.len(),
        pairs: tags.len(),
        top_keys: ranked(keys, TOP),
        features_total: FEATURES.len(),
        features_used: features.iter().filter(|count| **count > 0).count(),
        features_common: features.iter().filter(|count| **count >= COMMON).count(),
        features: counted
            .map(|(feature, count)| FeatureCount {
                name: feature.name,
                group: feature.group,
                queries: *count,
                share: share(*count),
            })
            .collect(),
        shortcuts,
    }
}

fn use_of(query: &str) -> QueryUse {
    let text = query.trim_matches(is_python_space);
    let tree = tree(text);
    let expanded = crate::benchmarks::overpassnl::without_shortcuts(text);
    QueryUse {
        invalid: terrapin_overpass::parse(&expanded).is_err(),
        units: distinct_subtrees(&tree, true) as u64,
        elements: tree.nodes.len() as u64,
        subtrees: distinct_subtrees(&tree, false) as u64,
        template: template(&tree),
        mentions: tree.nodes.iter().filter_map(mention).collect(),
        features: used(&tree),
        shortcuts: turbo::shortcuts(text).filter_map(shortcut).collect(),
    }
}

/// Returns the key and the value of a tag filter; a regular expression takes precedence over a plain text.
fn mention(node: &TreeNode) -> Option<(String, String)> {
    let of = |regular: &str, plain: &str| node.get(regular).or_else(|| node.get(plain)).unwrap_or_default().to_owned();
    (node.name == "has-kv").then(|| (of("regk", "k"), of("regv", "v")))
}

/// Returns the kind of a shortcut; definitions are of the kind `=`.
fn shortcut(inner: &str) -> Option<String> {
    let name = inner.split_once(':').map_or(inner, |(name, _)| name).trim();
    if name.contains('=') {
        return Some("=".to_owned());
    }
    // Uses of definitions have names of their own.
    let known = ["bbox", "center", "wsen", "date", "style", "data"];
    (known.contains(&name) || name.starts_with("geocode") || name.starts_with("nominatim")).then(|| name.to_owned())
}

/// Returns the number of different subtrees, with all attributes or without names that the author chose.
fn distinct_subtrees(tree: &QueryTree, with_names: bool) -> usize {
    let mut classes: BTreeMap<SubtreeShape<'_>, usize> = BTreeMap::new();
    let mut class_of = vec![0; tree.nodes.len()];
    for (number, node) in tree.nodes.iter().enumerate().rev() {
        let attributes = node.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let kept = attributes.filter(|(name, _)| with_names || !NAMES.contains(name) && *name != "timeout").collect();
        let children = node.children.iter().filter_map(|child| class_of.get(*child).copied()).collect();
        let next = classes.len();
        let class = *classes.entry((node.name.as_str(), kept, children)).or_insert(next);
        if let Some(known) = class_of.get_mut(number) {
            *known = class;
        }
    }
    classes.len()
}

/// Returns a query without keys, values, set names and digits.
fn template(tree: &QueryTree) -> String {
    let mut text = String::new();
    if !tree.nodes.is_empty() {
        write_template(tree, 0, &mut text);
    }
    text
}

fn write_template(tree: &QueryTree, root: usize, text: &mut String) {
    // The nodes are in document order, so that a stack of closing brackets suffices.
    let mut open = vec![(root, false)];
    while let Some((number, closes)) = open.pop() {
        let Some(node) = tree.nodes.get(number) else { continue };
        if closes {
            text.push(')');
            continue;
        }
        text.push('(');
        text.push_str(&node.name);
        for (name, value) in &node.attributes {
            text.push(' ');
            text.push_str(name);
            if !NAMES.contains(&name.as_str()) {
                text.push('=');
                text.extend(value.chars().filter(|c| !c.is_ascii_digit()));
            }
        }
        open.push((number, true));
        open.extend(node.children.iter().rev().map(|child| (*child, false)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(queries: &[&str]) -> OverpassStatistics {
        let pair = |query: &&str| GoldPair { query: (*query).to_owned(), ..GoldPair::default() };
        let pairs: Vec<GoldPair> = queries.iter().map(pair).collect();
        statistics(&pairs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn keys_values_and_templates() {
        let found = of(&[
            "[out:json];node[amenity=cafe](1,2,3,4)->.a;.a out;",
            "[out:json];node[shop=bakery](5,6,7,8)->.b;.b out;",
            "node[name][amenity~\"cafe|bar\"];out;",
            "node[;out;",
        ]);
        assert_eq!((found.queries, found.invalid), (4, 1));
        assert_eq!((found.keys, found.values, found.pairs), (3, 3, 3));
        assert_eq!(found.top_keys[0], ("amenity".to_owned(), 2));
        // The first two are one template.
        assert_eq!(found.templates, 3);
    }

    #[test]
    fn units_are_the_different_subtrees_of_the_xml_form() {
        // osm-script, union, two queries with a filter each, recurse, print.
        let found = of(&["(node[a=b];node[c=d];>;);out;"]);
        assert_eq!(found.elements.unwrap().mean, 8.0);
        assert_eq!(found.units.unwrap().mean, 8.0);
        // The queries are equal without their keys and values.
        assert_eq!(found.distinct_subtrees.unwrap().mean, 6.0);
        // The two equal filters are one unit, the queries differ by their types.
        let found = of(&["(node[a=b];way[a=b];);out;out;"]);
        assert_eq!((found.elements.unwrap().mean, found.units.unwrap().mean), (8.0, 6.0));
    }

    #[test]
    fn shortcuts_are_counted_by_kind() {
        let found =
            of(&["{{k=shop}}{{geocodeArea:Malta}}->.a;node[{{k}}](area.a)({{bbox}});out;", "node({{bbox}});out;"]);
        let expected = [("=", 1), ("bbox", 2), ("geocodeArea", 1)];
        assert_eq!(found.shortcuts, expected.map(|(name, count)| (name.to_owned(), count)).into());
        assert_eq!(found.invalid, 0);
    }
}
