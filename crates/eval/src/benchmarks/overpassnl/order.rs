//! Order-aware scores of OverpassQL: for gold queries with an `out` that names its order.

use terrapin_overpass::syntax::Script;
use terrapin_overpass::syntax::pieces::{Piece, pieces};

use crate::benchmarks::order;
use crate::metrics::execution::ExecutionResults;
use crate::metrics::query_tree::QueryTree;
use crate::record::ResultRecord;

/// Adds the order-aware scores if the gold query, with its tree and text, names an order. `pred` is missing if the
/// prediction failed. A count has no order.
pub fn score(
    script: Option<&Script>,
    text: &str,
    gold_results: &ExecutionResults,
    pred: Option<&ExecutionResults>,
    record: &mut ResultRecord,
) {
    if script.is_none() || !names_order(text) {
        return;
    }
    let Some(gold) = gold_results.in_order() else { return };
    let pred = pred.and_then(ExecutionResults::in_order).unwrap_or_default();
    order::set(&gold, &pred, record);
}

/// Reports whether an `out` of a query, in OverpassQL or XML, names the order by id. That is the default, so it is read
/// from the text. `qt` does not count: it is the fastest order, not one that a question asks for.
fn names_order(text: &str) -> bool {
    if text.trim_start().starts_with('<') {
        let tree = QueryTree::of_xml(text);
        return tree.nodes.iter().any(|node| node.name == "print" && node.get("order") == Some("id"));
    }
    // The token before, and whether the statement is an `out`.
    let (mut before, mut is_out, mut brackets) = ("", false, 0_usize);
    for piece in pieces(text).into_iter().filter(Piece::is_token) {
        match piece.text {
            "[" => brackets += 1,
            "]" => brackets = brackets.saturating_sub(1),
            ";" | "{" | "}" => is_out = false,
            "out" if brackets == 0 && before != "." => is_out = true,
            "asc" if is_out && before != "." => return true,
            _ => {}
        }
        before = piece.text;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_named_in_an_out() {
        for query in ["node[a];out body asc 5;", "node[a];out;>;out skel asc;", "node[a]->.x;.x out /* . */ asc;"] {
            assert!(names_order(query), "{query}");
        }
        for query in [
            "node[a];out;",
            "node[a];out qt;",
            "node[qt=asc];out;",
            "node[a];out count;",
            "node[a];out /* asc */;",
            "node[a];out; // out asc",
            "node[out=asc];out;",
            "node[\"out asc\"];out;",
            "node[a=\"order=\\\"id\\\"\"];out;",
            "node.out.asc;out;",
        ] {
            assert!(!names_order(query), "{query}");
        }
        let xml = |print: &str| format!("<osm-script><query type=\"node\"/>{print}</osm-script>");
        assert!(names_order(&xml("<print order=\"id\"/>")) && !names_order(&xml("<print order=\"quadtile\"/>")));
        assert!(!names_order(&xml("<!-- <print order=\"id\"/> --><print/>")));
    }
}
