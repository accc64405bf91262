//! KVS, key-value similarity: the common keys, values and key-value pairs in two queries' tag filters.

use std::collections::BTreeSet;

use super::query_tree::QueryTree;
use terrapin_budget::checkpoints;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mention<'a> {
    /// A key or a value; the two are not distinguished.
    Word(&'a str),
    Pair(&'a str, &'a str),
}

/// Returns the share of common mentions in the larger set, 0 to 1; 1 if both sets are empty.
pub fn kvs(gold: &QueryTree, pred: &QueryTree) -> f64 {
    let (gold, pred) = (mentions(gold), mentions(pred));
    let larger = gold.len().max(pred.len());
    if larger == 0 {
        return 1.0;
    }
    gold.intersection(&pred).count() as f64 / larger as f64
}

fn mentions(tree: &QueryTree) -> BTreeSet<Mention<'_>> {
    let mut mentions = BTreeSet::new();
    for node in &tree.nodes {
        // A regular expression takes precedence over a plain text.
        let key = node.get("regk").or_else(|| node.get("k")).unwrap_or_default();
        let value = node.get("regv").or_else(|| node.get("v")).unwrap_or_default();
        checkpoints(node.attributes.len() + (key.len() + value.len()) / 16);
        mentions.extend([key, value].into_iter().filter(|word| !word.is_empty()).map(Mention::Word));
        if !key.is_empty() && !value.is_empty() {
            mentions.insert(Mention::Pair(key, value));
        }
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_pairs() {
        let tree = |filters: &str| QueryTree::of_xml(&format!("<osm-script>{filters}</osm-script>"));
        let cafes = tree(r#"<has-kv k="amenity" v="cafe"/>"#);
        let bars = tree(r#"<has-kv k="amenity" regv="bar"/><has-kv k="name"/>"#);
        assert_eq!(kvs(&cafes, &cafes), 1.0);
        // Common: amenity; all: amenity, bar, name, (amenity, bar).
        assert_eq!(kvs(&cafes, &bars), 0.25);
        assert_eq!(kvs(&cafes, &tree("")), 0.0);
        assert_eq!(kvs(&tree(""), &tree("<print/>")), 1.0);
    }
}
