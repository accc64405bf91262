//! What the reference keeps of an element: its filters are read before they are written, so that their numbers are
//! printed anew, and what is not valid is left out.

use crate::{Element, Node, number_text};

/// Attributes in the order in which they are written.
pub(super) type Values = Vec<(String, String)>;

/// Whether it is a condition on tags or on a set: these come before the other filters of a query.
fn comes_first(node: &Node) -> bool {
    matches!(node.element.name.as_ref(), "has-kv" | "item")
}

/// The filters of a query in the order in which they are written.
pub(super) fn sorted_filters(query: &Node) -> impl Iterator<Item = &Node> {
    let first = query.children.iter().filter(|node| comes_first(node));
    first.chain(query.children.iter().filter(|node| !comes_first(node)))
}

/// The filter of a query that has only one, if it is not a condition on tags or on a set.
pub(super) fn single(query: &Node) -> Option<&Node> {
    match query.children.as_slice() {
        [only] if !comes_first(only) => Some(only),
        _ => None,
    }
}

/// The attributes of an element.
pub(super) fn values(element: &Element) -> Values {
    let get = |name: &str| element.get(name);
    let mut list = List(Vec::new());
    match element.name.as_ref() {
        "id-query" => {
            list.always("type", get("type"));
            ids(element, &mut list);
        }
        "bbox-query" => {
            for side in ["s", "w", "n", "e"] {
                list.always(side, number(get(side)));
            }
        }
        "around" => {
            list.some("from", get("from"));
            list.always("radius", number(get("radius")));
            if !get("lat").is_empty() || !get("lon").is_empty() {
                list.always("lat", number(get("lat")));
                list.always("lon", number(get("lon")));
            }
            let line: Vec<String> = get("polyline").split(',').filter(|n| !n.trim().is_empty()).map(number).collect();
            list.some("polyline", line.join(","));
        }
        "polygon-query" => list.always("bounds", bounds(get("bounds"))),
        "area-query" => {
            list.some("from", get("from"));
            let id = crate::integer(get("ref"));
            if id > 0 {
                list.always("ref", id.to_string());
            }
        }
        "pivot" => list.some("from", get("from")),
        "recurse" if !matches!(get("type"), "down" | "down-rel" | "up" | "up-rel") => {
            recurse_filter(element, &mut list)
        }
        "user" => user(element, &mut list),
        "newer" => list.always("than", moment(get("than"))),
        "changed" => {
            for name in ["since", "until"] {
                // What is too short to be a moment is not kept at all.
                if get(name).len() >= "2020-02-20T20:20:20".len() {
                    list.always(name, moment(get(name)));
                }
            }
        }
        "item" => {
            let from = element.find("from").or(element.find("set"));
            list.always("from", from.unwrap_or("_"));
            list.always("into", if get("into").is_empty() { "_" } else { get("into") });
        }
        "eval-set-count" => {
            list.always("from", get("from"));
            list.always("type", if get("type") == "nodes" { "node" } else { get("type") });
        }
        name => {
            list.0.extend(element.attributes.iter().map(|(name, value)| (name.to_string(), value.clone())));
            if name != "set-prop" && !name.starts_with("eval-") {
                list.0.sort();
            }
        }
    }
    list.0
}

fn ids(element: &Element, list: &mut List) {
    let mut ids: Vec<u64> = element.all("ref").map(|id| crate::integer(id) as u64).collect();
    ids.retain(|id| *id != 0);
    ids.sort_unstable();
    ids.dedup();
    for (i, id) in ids.iter().enumerate() {
        let name = if i == 0 { "ref".to_owned() } else { format!("ref_{i}") };
        list.0.push((name, id.to_string()));
    }
}

struct List(Values);

impl List {
    fn always(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    fn some(&mut self, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.always(name, value);
        }
    }
}

fn recurse_filter(element: &Element, list: &mut List) {
    list.some("from", element.get("from"));
    list.always(
        "type",
        match element.get("type") {
            "" => "void",
            kind => kind,
        },
    );
    list.some("role", element.get("role"));
    list.some("role-restricted", element.get("role-restricted"));
    let mut positions: Vec<i64> =
        element.get("pos").split(',').filter(|p| !p.trim().is_empty()).map(crate::integer).collect();
    positions.sort_unstable();
    list.some("pos", positions.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    for name in ["lower", "upper"] {
        let value = element.get(name);
        if !value.is_empty() {
            list.always(name, crate::integer(value).to_string());
        }
    }
}

fn user(element: &Element, list: &mut List) {
    list.some("type", element.get("type"));
    let mut names: Vec<&str> = element.all("name").filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mut ids: Vec<i64> = element.all("uid").map(crate::integer).filter(|id| *id != 0).collect();
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (stem, values) in [("name", names), ("uid", ids)] {
        for (i, value) in values.iter().enumerate() {
            let name = if values.len() == 1 { stem.to_owned() } else { format!("{stem}_{}", i + 1) };
            list.always(&name, *value);
        }
    }
    list.some("criterion", element.get("criterion"));
}

/// A number as it is printed.
fn number(text: &str) -> String {
    number_text(crate::float(text))
}

/// A polygon's points, two spaces between them.
fn bounds(text: &str) -> String {
    let mut rest = text.trim_start();
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let (value, length) = crate::float_prefix(rest);
        if length == 0 {
            if numbers.len() % 2 == 1 {
                // A longitude that is no number is 0, and the last.
                numbers.push("0".to_owned());
            }
            break;
        }
        numbers.push(number_text(value));
        rest = rest[length..].trim_start();
    }
    let points: Vec<String> = numbers.chunks_exact(2).map(|point| point.join(" ")).collect();
    points.join("  ")
}

/// A moment; what is none is the earliest there is.
fn moment(text: &str) -> String {
    let digits = crate::timestamp(text).and_then(|_| text.get(.."2020-02-20T20:20:20".len()));
    format!("{}Z", digits.unwrap_or("0000-00-00T00:00:00"))
}
