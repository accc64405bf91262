//! The filters of a query in QL.

use super::canonical::values;
use super::expression::{self, quoted};
use crate::{Element, Node};

/// The word with which a query begins that is a single filter.
pub(super) fn query_type(element: &Element) -> Option<&'static str> {
    Some(match element.name.as_ref() {
        "bbox-query" | "around" | "polygon-query" | "area-query" => "node",
        "pivot" => "wr",
        "id-query" | "user" => match element.get("type") {
            "way" => "way",
            "relation" => "relation",
            "area" => "area",
            _ => "node",
        },
        "recurse" => match element.get("type") {
            "relation-relation" | "relation-backwards" | "way-relation" | "node-relation" => "relation",
            "relation-way" | "node-way" => "way",
            _ => "node",
        },
        _ => return None,
    })
}

/// A filter with its brackets.
pub(super) fn write(node: &Node) -> String {
    let element = &node.element;
    let values = values(element);
    let get = |name: &str| values.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let from = dotted(element, "from");
    match element.name.as_ref() {
        "item" => format!(".{}", get("from")),
        "has-kv" => tag(element),
        "id-query" => {
            let ids: Vec<&str> =
                values.iter().filter(|(name, _)| name.starts_with("ref")).map(|(_, value)| value.as_str()).collect();
            let word = if ids.len() == 1 { "" } else { "id:" };
            format!("({word}{})", ids.join(","))
        }
        "bbox-query" => format!("({},{},{},{})", get("s"), get("w"), get("n"), get("e")),
        "around" => {
            let mut text = format!("(around{from}:{}", get("radius"));
            let point = if get("lat").is_empty() { String::new() } else { format!("{},{}", get("lat"), get("lon")) };
            for part in [point.as_str(), get("polyline")].into_iter().filter(|part| !part.is_empty()) {
                text.push(',');
                text.push_str(part);
            }
            text + ")"
        }
        "polygon-query" => format!("(poly:{})", quoted(get("bounds"))),
        "area-query" if get("ref").is_empty() => format!("(area{from})"),
        "area-query" => format!("(area:{})", get("ref")),
        "pivot" => format!("(pivot{from})"),
        "recurse" => recurse(get, &from),
        "user" => {
            let several = |stem: &str| -> Vec<String> {
                let of_stem = values.iter().filter(|(name, _)| name.starts_with(stem));
                of_stem.map(|(_, value)| if stem == "uid" { value.clone() } else { quoted(value) }).collect()
            };
            let touched = if get("criterion") == "touched" { "_touched" } else { "" };
            let (names, ids) = (several("name"), several("uid"));
            if names.is_empty() {
                format!("(uid{touched}:{})", ids.join(","))
            } else {
                format!("(user{touched}:{})", names.join(","))
            }
        }
        "newer" => format!("(newer:{})", quoted(get("than"))),
        "changed" => match (get("since"), get("until")) {
            ("", "") => "(changed)".to_owned(),
            (since, "") => format!("(changed:{})", quoted(since)),
            (since, until) => format!("(changed:{},{})", quoted(since), quoted(until)),
        },
        "filter" => format!("(if:{})", node.children.first().map(expression::write).unwrap_or_default()),
        _ => String::new(),
    }
}

/// `.set`, unless it is the default one.
pub(super) fn dotted(element: &Element, name: &str) -> String {
    match element.get(name) {
        "" | "_" => String::new(),
        set => format!(".{set}"),
    }
}

fn recurse<'a>(get: impl Fn(&str) -> &'a str, from: &str) -> String {
    let word = match get("type") {
        "way-node" => "w",
        "node-way" | "node-relation" => "bn",
        "way-relation" => "bw",
        "relation-backwards" => "br",
        "way-count" => "way_cnt",
        "way-link" => "way_link",
        _ => "r",
    };
    let (lower, upper) = (get("lower"), get("upper"));
    let argument = if !lower.is_empty() {
        match upper {
            "" | "4294967295" => format!(":{lower}-"),
            upper if upper == lower => format!(":{lower}"),
            upper => format!(":{lower}-{upper}"),
        }
    } else if !get("pos").is_empty() {
        format!(":{}", get("pos"))
    } else if !get("role").is_empty() || get("role-restricted") == "yes" {
        format!(":{}", quoted(get("role")))
    } else {
        String::new()
    };
    format!("({word}{from}{argument})")
}

/// `["key"="value"]`
fn tag(element: &Element) -> String {
    let not = if element.get("modv") == "not" { "!" } else { "" };
    let key_pattern = element.get("regk");
    let key = if key_pattern.is_empty() { quoted(element.get("k")) } else { format!("~{}", quoted(key_pattern)) };
    let case = if element.get("case") == "ignore" { ",i" } else { "" };
    match (element.get("regv"), element.get("v")) {
        ("", "") => format!("[{key}]"),
        ("", value) => format!("[{key}{not}={}]", quoted(value)),
        (pattern, _) => format!("[{key}{not}~{}{case}]", quoted(pattern)),
    }
}
