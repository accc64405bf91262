//! TreeS, tree similarity: the share of subtrees of the gold query's XML form found in the prediction's, ignoring set
//! names, time limits, keys and values.

use std::collections::{BTreeMap, BTreeSet};

use super::query_tree::{QueryTree, TreeNode};
use terrapin_budget::checkpoints;

/// The ignored attributes.
const IGNORED: [&str; 7] = ["into", "from", "timeout", "k", "v", "regk", "regv"];

/// The identity of a subtree: name, attributes in any order, and the classes of the children in order.
type Shape<'a> = (&'a str, BTreeMap<&'a str, &'a str>, Vec<usize>);
/// The further conditions: the attributes in document order, and the text, which is the white space before the first
/// child. Therefore a subtree with children only matches at the same depth.
type Occurrence<'a> = (usize, Vec<(&'a str, &'a str)>, &'a str);

/// Returns the share of the gold's subtrees found in the prediction, 0 to 1. One subtree of the prediction matches any
/// number of equal ones; extra subtrees have no cost.
pub fn trees(gold: &QueryTree, pred: &QueryTree) -> f64 {
    let mut classes = BTreeMap::new();
    let gold = places(gold, &mut classes);
    let pred: BTreeSet<Occurrence> = places(pred, &mut classes).into_iter().collect();
    let found = gold.iter().filter(|place| pred.contains(place)).count();
    found as f64 / gold.len().max(1) as f64
}

/// Returns every subtree's class and position. Children follow their parents, so a backward pass meets them first.
fn places<'a>(tree: &'a QueryTree, classes: &mut BTreeMap<Shape<'a>, usize>) -> Vec<Occurrence<'a>> {
    let mut class_of = vec![0; tree.nodes.len()];
    let mut places = Vec::with_capacity(tree.nodes.len());
    for (number, node) in tree.nodes.iter().enumerate().rev() {
        checkpoints(1 + node.attributes.len() + node.children.len());
        let counted = counted(node);
        let children = node.children.iter().filter_map(|child| class_of.get(*child).copied()).collect();
        let next = classes.len();
        let class = *classes.entry((&node.name, counted.iter().copied().collect(), children)).or_insert(next);
        if let Some(known) = class_of.get_mut(number) {
            *known = class;
        }
        places.push((class, counted, node.text.as_str()));
    }
    places
}

fn counted(node: &TreeNode) -> Vec<(&str, &str)> {
    let counts = |(name, _): &&(String, String)| !IGNORED.contains(&name.as_str());
    node.attributes.iter().filter(counts).map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(gold: &str, pred: &str) -> f64 {
        trees(&QueryTree::of_xml(gold), &QueryTree::of_xml(pred))
    }

    #[test]
    fn sets_keys_and_values_do_not_count() {
        assert_eq!(score(r#"<q into="a"><h k="x" v="1"/></q>"#, r#"<q into="b"><h k="y"/></q>"#), 1.0);
        assert_eq!(score(r#"<q><h mode="a"/></q>"#, r#"<q><h mode="b"/></q>"#), 0.0);
    }

    #[test]
    fn one_answers_for_many_and_more_is_free() {
        assert_eq!(score("<q><h/><h/><h/></q>", "<q><h/></q>"), 0.75);
        assert_eq!(score("<q><h/></q>", "<q><h/><h/><h/></q>"), 0.5);
    }

    #[test]
    fn depth_counts_where_there_are_children() {
        assert_eq!(
            score("<s>\n <q>\n  <h/>\n </q>\n</s>", "<s>\n <u>\n  <q>\n   <h/>\n  </q>\n </u>\n</s>"),
            1.0 / 3.0
        );
    }
}
