//! The features of OverpassQL: the sections of its reference on the OpenStreetMap wiki.
//!
//! OverpassNL's paper counts 41 "major syntax features" after that page, and does not list them. The page has these: 7
//! settings, 8 block statements, 12 standalone statements, 13 filters, and evaluators, which count as one.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::metrics::query_tree::{QueryTree, TreeNode};

/// A feature of OverpassQL.
#[derive(Debug)]
pub struct OverpassFeature {
    /// Its name, as in a query where possible.
    pub name: &'static str,
    /// Its group: `setting`, `block`, `statement`, `filter` or `evaluator`.
    pub group: &'static str,
    /// Reports whether an element of the XML form uses it. The second argument is the parent's name.
    uses: fn(&TreeNode, &str) -> bool,
}

/// A feature with the number of queries that use it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureCount {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: &'static str,
    /// The number of queries that use it.
    pub queries: usize,
    /// Their share, 0 to 1.
    pub share: f64,
}

const fn feature(name: &'static str, group: &'static str, uses: fn(&TreeNode, &str) -> bool) -> OverpassFeature {
    OverpassFeature { name, group, uses }
}

fn is_script(node: &TreeNode) -> bool {
    node.name == "osm-script"
}

/// Reports whether an element is a filter of a query with several filters.
fn in_query(parent: &str) -> bool {
    parent == "query"
}

/// Reports whether an element recurses in a direction, as a statement.
fn recurses(node: &TreeNode, parent: &str, direction: &str) -> bool {
    node.name == "recurse" && !in_query(parent) && node.get("type") == Some(direction)
}

/// The directions of recursions that are statements.
const DIRECTIONS: [&str; 4] = ["up", "up-rel", "down", "down-rel"];

/// All features, in the order of the reference.
pub static FEATURES: [OverpassFeature; 41] = [
    feature("[timeout]", "setting", |node, _| is_script(node) && node.get("timeout").is_some()),
    feature("[maxsize]", "setting", |node, _| is_script(node) && node.get("element-limit").is_some()),
    feature("[out]", "setting", |node, _| is_script(node) && node.get("output").is_some()),
    feature("[bbox]", "setting", |node, _| is_script(node) && node.get("bbox").is_some()),
    feature("[date]", "setting", |node, _| is_script(node) && node.get("date").is_some() && node.get("from").is_none()),
    feature("[diff]", "setting", |node, _| {
        is_script(node) && node.get("from").is_some() && node.get("augmented").is_none()
    }),
    feature("[adiff]", "setting", |node, _| is_script(node) && node.get("augmented").is_some()),
    feature("union", "block", |node, _| node.name == "union"),
    feature("difference", "block", |node, _| node.name == "difference"),
    feature("if", "block", |node, _| node.name == "if"),
    feature("foreach", "block", |node, _| node.name == "foreach"),
    feature("for", "block", |node, _| node.name == "for"),
    feature("complete", "block", |node, _| node.name == "complete"),
    feature("retro", "block", |node, _| node.name == "retro"),
    feature("compare", "block", |node, _| node.name == "compare"),
    feature("out", "statement", |node, _| node.name == "print"),
    feature("item", "statement", |node, parent| node.name == "item" && !in_query(parent)),
    feature("<", "statement", |node, parent| recurses(node, parent, "up")),
    feature("<<", "statement", |node, parent| recurses(node, parent, "up-rel")),
    feature(">", "statement", |node, parent| recurses(node, parent, "down")),
    feature(">>", "statement", |node, parent| recurses(node, parent, "down-rel")),
    feature("is_in", "statement", |node, _| node.name == "coord-query"),
    feature("map_to_area", "statement", |node, _| node.name == "map-to-area"),
    feature("timeline", "statement", |node, _| node.name == "timeline"),
    feature("local", "statement", |node, _| node.name == "localize"),
    feature("convert", "statement", |node, _| node.name == "convert"),
    feature("make", "statement", |node, _| node.name == "make"),
    feature("[tag]", "filter", |node, _| node.name == "has-kv"),
    feature("(bbox)", "filter", |node, _| node.name == "bbox-query"),
    feature("(recurse)", "filter", |node, parent| {
        let direction = node.get("type").unwrap_or_default();
        node.name == "recurse" && (in_query(parent) || !DIRECTIONS.contains(&direction))
    }),
    feature(".set", "filter", |node, parent| node.name == "item" && in_query(parent)),
    feature("(id)", "filter", |node, _| node.name == "id-query"),
    feature("(around)", "filter", |node, _| node.name == "around"),
    feature("(poly)", "filter", |node, _| node.name == "polygon-query"),
    feature("(newer)", "filter", |node, _| node.name == "newer"),
    feature("(changed)", "filter", |node, _| node.name == "changed"),
    feature("(user)", "filter", |node, _| node.name == "user"),
    feature("(area)", "filter", |node, _| node.name == "area-query"),
    feature("(pivot)", "filter", |node, _| node.name == "pivot"),
    feature("(if)", "filter", |node, _| node.name == "filter"),
    feature("evaluator", "evaluator", |node, _| node.name.starts_with("eval-")),
];

/// Returns the numbers in [`FEATURES`] of the features that a query uses.
pub(super) fn used(tree: &QueryTree) -> BTreeSet<usize> {
    let mut parents = vec![""; tree.nodes.len()];
    for node in &tree.nodes {
        for child in &node.children {
            if let Some(parent) = parents.get_mut(*child) {
                *parent = &node.name;
            }
        }
    }
    let uses =
        |feature: &OverpassFeature| tree.nodes.iter().zip(&parents).any(|(node, parent)| (feature.uses)(node, parent));
    FEATURES.iter().enumerate().filter(|(_, feature)| uses(feature)).map(|(number, _)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::benchmarks::overpassnl::tree;

    fn names(query: &str) -> Vec<&'static str> {
        used(&tree(query)).into_iter().filter_map(|number| FEATURES.get(number)).map(|feature| feature.name).collect()
    }

    #[test]
    fn features_are_those_of_the_tree() {
        assert_eq!(
            names("[timeout:25][out:json];node[amenity=cafe](1,2,3,4);out;"),
            ["[timeout]", "[out]", "out", "[tag]", "(bbox)"]
        );
        assert_eq!(names("(way(1);>;);out;"), ["union", "out", ">", "(id)"]);
        assert_eq!(
            names("node(1);way(bn);is_in->.a;way(area.a)(if:count_tags()>1);(._;<;);out;"),
            ["union", "out", "item", "<", "is_in", "(recurse)", "(id)", "(area)", "(if)", "evaluator"]
        );
        assert_eq!(names("[adiff:\"2015-01-01T00:00:00Z\"];way(1);out;"), ["[adiff]", "out", "(id)"]);
        assert_eq!(names("way[x]->.a;node[y]->.b;node.b(w.a);out count;"), ["out", "[tag]", "(recurse)", ".set"]);
        // A text is not a feature.
        assert_eq!(names("node[name=\"foreach(around)\"];out;"), ["out", "[tag]"]);
    }

    #[test]
    fn every_feature_has_one_name_and_can_be_used() {
        let names: BTreeSet<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        assert_eq!(names.len(), FEATURES.len());
        let queries = [
            "[maxsize:9][bbox:1,2,3,4][date:\"2015-01-01T00:00:00Z\"];node(newer:\"2015-01-01T00:00:00Z\")(user:\"a\");out;",
            "[diff:\"2015-01-01T00:00:00Z\"];(node[a];-node[b];);out;foreach(out;);for(t[\"a\"])(out;);complete(>;);",
            "if(1==1){out;}node[a];<<;map_to_area;timeline(node,1);local;convert a x=1;make b y=2;out;",
            "compare(delta:id())(out;);retro(\"2015-01-01T00:00:00Z\")(out;);node(1);out;",
            "node(poly:\"1 2 3 4 5 6\")(around:9,1,2)(changed:\"2015-01-01T00:00:00Z\");area(1)->.p;way(pivot.p);out;",
            "[timeout:1][out:json];way[a](1,2,3,4);node(w);(._;);is_in(1,2);way(area);<;>;>>;node.a(1)(if:1);out;",
            "[adiff:\"2015-01-01T00:00:00Z\"];out;",
            "node.x[a];out;",
        ];
        let mut all = BTreeSet::new();
        queries.iter().for_each(|query| all.extend(used(&tree(query))));
        let missing: Vec<&str> =
            FEATURES.iter().enumerate().filter(|(number, _)| !all.contains(number)).map(|(_, f)| f.name).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
