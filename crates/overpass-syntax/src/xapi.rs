//! Translates queries of the extended API (XAPI), which older programs still send, to OverpassXML:
//! `node[amenity=cafe|bar][bbox=14.4,35.8,14.6,36.0]`.
//!
//! The expected translations are those of the compatibility layer of Overpass API 0.7.62:
//! <https://wiki.openstreetmap.org/wiki/Overpass_API/XAPI_Compatibility_Layer>. Its grammar:
//!
//! ```text
//! query     = "map?bbox=" box | type predicate*
//! type      = "node" | "way" | "relation" | "*"
//! predicate = "[bbox=" box "]" | "[@meta]" | "[@user=" name "]" | "[@uid=" id "]" | "[@newer=" time "]"
//!           | "[@timeout=" seconds "]" | "[@maxsize=" bytes "]" | "[@date=" time "]" | "[@bbox=" box "]"
//!           | "[" key "=" ("*" | value ("|" value)*) "]"
//! box       = left "," bottom "," right "," top         degrees
//! ```
//!
//! The reference treats `@maxsize` (also called `@element-limit`), `@date`, `@bbox` and all unlisted words that begin
//! with `@` as keys of tags, so that the result is empty. Here, the former are settings, and the latter are rejected.
//!
//! A backslash removes the special meaning of the character after it. Ways are returned with their nodes. Without
//! `@meta`, versions, times, changesets and users are left out, except for `map`.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter, Write};

/// The reason why a query is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XapiProblem {
    /// The position of the first byte that cannot be parsed, from 0.
    pub at: usize,
    /// The reference's message, or an own one if it reports none.
    pub message: &'static str,
}

impl Display for XapiProblem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {} of the query)", self.message, self.at + 1)
    }
}

impl std::error::Error for XapiProblem {}

const NO_TYPE: &str = "Query must start with 'node', 'way', 'relation', or '*'";
const NO_SETTING: &str = "Unknown setting. Known are @meta, @user, @uid, @newer, @timeout, @maxsize, @date and @bbox.";
const NO_BOX: &str = "Expected 'bbox=left,bottom,right,top', four numbers in degrees.";

/// The conditions and settings of a query.
#[derive(Debug, Default)]
struct Predicates<'a> {
    bbox: Option<[&'a str; 4]>,
    meta: bool,
    /// The attributes of `osm-script` in the XML form.
    settings: BTreeMap<&'static str, String>,
    /// The conditions in the XML form, in the order of the query.
    conditions: String,
}

/// Translates a query to OverpassXML. If `meta`, the result has metadata even if the query does not request it.
///
/// # Errors
/// Returns an error if the query does not match the grammar.
pub fn translate(query: &str, meta: bool) -> Result<String, XapiProblem> {
    if let Some(bbox) = query.strip_prefix("map?bbox=") {
        return map(bbox).ok_or(XapiProblem { at: query.len() - bbox.len(), message: NO_BOX });
    }
    let types = ["node", "way", "relation", "*"];
    let Some(kind) = types.into_iter().find(|kind| query.starts_with(kind)) else {
        return Err(XapiProblem { at: 0, message: NO_TYPE });
    };
    let mut predicates = predicates(query, kind.len())?;
    predicates.meta |= meta;
    let print = if predicates.meta { "<print mode=\"meta\"/>" } else { "<print/>" };
    let asked = |kind: &str| format!("<query type=\"{kind}\">{}{}</query>", predicates.bbox(), predicates.conditions);
    let query = match kind {
        "way" => format!("<union>{}<recurse type=\"way-node\"/></union>{print}", asked("way")),
        "*" => format!(
            "{}<union><item/>{}<recurse type=\"way-node\"/></union>{print}{}{print}",
            asked("node"),
            asked("way"),
            asked("relation"),
        ),
        kind => format!("{}{print}", asked(kind)),
    };
    if predicates.settings.is_empty() {
        return Ok(query);
    }
    let settings: String = predicates.settings.iter().map(|(name, value)| format!(" {name}=\"{value}\"")).collect();
    Ok(format!("<osm-script{settings}>{query}</osm-script>"))
}

/// Returns a query in OverpassXML for all nodes in a box, the ways with one of these nodes, all nodes of these ways,
/// and the relations of both, with metadata. `bbox` is left, bottom, right and top in degrees. Returns `None` if it is
/// not.
pub fn map(bbox: &str) -> Option<String> {
    let bbox = bbox_query(sides(bbox)?);
    Some(format!(
        "<union>{bbox}<recurse type=\"node-relation\" into=\"foo\"/><recurse type=\"node-way\"/>\
         <recurse type=\"way-node\" into=\"foo\"/><recurse type=\"way-relation\"/></union><print mode=\"meta\"/>"
    ))
}

impl Predicates<'_> {
    fn bbox(&self) -> String {
        self.bbox.map(bbox_query).unwrap_or_default()
    }
}

fn bbox_query([left, bottom, right, top]: [&str; 4]) -> String {
    format!("<bbox-query s=\"{bottom}\" n=\"{top}\" w=\"{left}\" e=\"{right}\"/>")
}

/// Splits a text into four numbers. The parser checks whether they are on the globe.
fn sides(bbox: &str) -> Option<[&str; 4]> {
    let mut sides = [""; 4];
    let mut given = bbox.split(',');
    for side in &mut sides {
        *side = given.next()?.trim();
        side.parse::<f64>().ok().filter(|degrees| degrees.is_finite())?;
    }
    given.next().is_none().then_some(sides)
}

fn predicates(query: &str, mut at: usize) -> Result<Predicates<'_>, XapiProblem> {
    let mut found = Predicates::default();
    while at < query.len() {
        let here = |message| Err(XapiProblem { at, message });
        let Some(rest) = query[at..].strip_prefix('[') else {
            return here("Text before '[' found.");
        };
        let Some(end) = unescaped(rest, "]") else {
            return here("Expected ']' after value.");
        };
        let predicate = &rest[..end];
        at += end + 2;
        if predicate == "@meta" {
            found.meta = true;
            continue;
        }
        let here = |message| Err(XapiProblem { at: at - predicate.len() - 1, message });
        let Some(equals) = unescaped(predicate, "=") else {
            return here("Expected '=' after key.");
        };
        let (key, value) = (&predicate[..equals], &predicate[equals + 1..]);
        match key {
            "bbox" | "@bbox" if found.bbox.is_some() => return here("At most one bbox allowed."),
            "bbox" | "@bbox" => match sides(value) {
                Some(sides) => found.bbox = Some(sides),
                None => return here(NO_BOX),
            },
            "@user" | "@uid" | "@newer" => condition(&mut found.conditions, key, value),
            _ if key.starts_with('@') => {
                let Some(name) = setting(key) else { return here(NO_SETTING) };
                // As in the reference, the last setting with a name applies. Without a value, it unsets an earlier one.
                match quoted(&unescape(value)) {
                    value if value.is_empty() => _ = found.settings.remove(name),
                    value => _ = found.settings.insert(name, value),
                }
            }
            _ => condition(&mut found.conditions, key, value),
        }
    }
    Ok(found)
}

/// Returns the attribute of a setting in the XML form.
fn setting(key: &str) -> Option<&'static str> {
    Some(match key {
        "@timeout" => "timeout",
        "@maxsize" | "@element-limit" => "element-limit",
        "@date" => "date",
        _ => return None,
    })
}

/// Writes a condition on elements.
fn condition(to: &mut String, key: &str, value: &str) {
    let plain = quoted(&unescape(value));
    let _ = match key {
        "@user" => write!(to, "<user name=\"{plain}\"/>"),
        "@uid" => write!(to, "<user uid=\"{plain}\"/>"),
        "@newer" => write!(to, "<newer than=\"{plain}\"/>"),
        _ => {
            let key = quoted(&unescape(key));
            if value == "*" {
                write!(to, "<has-kv k=\"{key}\"/>")
            } else if unescaped(value, "|").is_some() {
                write!(to, "<has-kv k=\"{key}\" regv=\"^({plain})$\"/>")
            } else {
                write!(to, "<has-kv k=\"{key}\" v=\"{plain}\"/>")
            }
        }
    };
}

/// Returns the position of the first of these signs that has no backslash before it.
fn unescaped(text: &str, signs: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let is_it = !escaped && signs.contains(c);
        escaped = !escaped && c == '\\';
        is_it.then_some(at)
    })
}

fn unescape(text: &str) -> String {
    let mut escaped = false;
    let kept = |c: &char| {
        escaped = !escaped && *c == '\\';
        !escaped
    };
    text.chars().filter(kept).collect()
}

/// Escapes a text for an XML attribute.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // Otherwise, they would be read as a space.
            '\n' | '\r' | '\t' => _ = write!(out, "&#{};", u32::from(c)),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// The reference's output, without its indentation.
    #[test]
    fn a_query_becomes_what_the_reference_makes_of_it() {
        for (query, expected) in [
            ("node[a=*]", "<query type=\"node\"><has-kv k=\"a\"/></query><print/>"),
            (
                "node[a=b][c=d]",
                "<query type=\"node\"><has-kv k=\"a\" v=\"b\"/><has-kv k=\"c\" v=\"d\"/></query><print/>",
            ),
            ("relation[a|b=c|d]", "<query type=\"relation\"><has-kv k=\"a|b\" regv=\"^(c|d)$\"/></query><print/>"),
            ("node[a\\]=b\\|c\\\\]", "<query type=\"node\"><has-kv k=\"a]\" v=\"b|c\\\"/></query><print/>"),
            ("node[a=<&\"'>]", "<query type=\"node\"><has-kv k=\"a\" v=\"&lt;&amp;&quot;'&gt;\"/></query><print/>"),
            (
                "way[@meta][@uid=3][bbox=7.1,51.2,7.2,51.3]",
                "<union><query type=\"way\"><bbox-query s=\"51.2\" n=\"51.3\" w=\"7.1\" e=\"7.2\"/><user uid=\"3\"/></query>\
                 <recurse type=\"way-node\"/></union><print mode=\"meta\"/>",
            ),
            (
                "*[@user=a|b]",
                "<query type=\"node\"><user name=\"a|b\"/></query><union><item/><query type=\"way\"><user name=\"a|b\"/>\
                 </query><recurse type=\"way-node\"/></union><print/><query type=\"relation\"><user name=\"a|b\"/></query>\
                 <print/>",
            ),
            (
                "node[@timeout=300][a=b]",
                "<osm-script timeout=\"300\"><query type=\"node\"><has-kv k=\"a\" v=\"b\"/></query><print/></osm-script>",
            ),
            (
                "way[@timeout=300][@timeout=100]",
                "<osm-script timeout=\"100\"><union><query type=\"way\"></query><recurse type=\"way-node\"/></union>\
                 <print/></osm-script>",
            ),
            ("node[@timeout=]", "<query type=\"node\"></query><print/>"),
        ] {
            assert_eq!(translate(query, false).as_deref(), Ok(expected), "{query}");
        }
        assert_eq!(translate("node[a=b]", true), translate("node[@meta][a=b]", false));
        for query in
            ["map?bbox=7.1,51.2,7.2,51.3", "*[name=*][bbox=7.1,51.2,7.2,51.3]", "way[@newer=2020-01-01T00:00:00Z]"]
        {
            let text = translate(query, false).expect(query);
            assert!(parse(&text).is_ok(), "{text}");
        }
    }

    #[test]
    fn settings_are_no_tags() {
        assert_eq!(translate("node[@bbox=1,2,3,4]", false), translate("node[bbox=1,2,3,4]", false));
        let all = "node[@maxsize=1000][@date=2020-01-01T00:00:00Z][@timeout=5][a=b]";
        assert_eq!(
            translate(all, false).as_deref(),
            Ok("<osm-script date=\"2020-01-01T00:00:00Z\" element-limit=\"1000\" timeout=\"5\"><query type=\"node\">\
                <has-kv k=\"a\" v=\"b\"/></query><print/></osm-script>")
        );
        let script = parse(&translate(all, false).unwrap()).unwrap();
        assert_eq!((script.settings.timeout, script.settings.maxsize), (5, 1000));
        let wrong = parse(&translate("node[@timeout=x][a=b]", false).unwrap()).unwrap_err();
        assert!(wrong.to_string().contains("timeout"), "{wrong}");
    }

    #[test]
    fn what_is_no_query_is_told_with_its_place() {
        fn wrong(query: &str) -> Result<String, (usize, &'static str)> {
            translate(query, false).map_err(|problem| (problem.at, problem.message))
        }
        assert_eq!(wrong(""), Err((0, NO_TYPE)));
        assert_eq!(wrong("map"), Err((0, NO_TYPE)));
        assert_eq!(wrong("nodes[a=b]"), Err((4, "Text before '[' found.")));
        assert_eq!(wrong("way[a=b]x"), Err((8, "Text before '[' found.")));
        assert_eq!(wrong("way[nd]"), Err((4, "Expected '=' after key.")));
        assert_eq!(wrong("node[a=b][c=d"), Err((9, "Expected ']' after value.")));
        assert_eq!(wrong("node[bbox=1,2,3,4][bbox=1,2,3,4]"), Err((19, "At most one bbox allowed.")));
        assert_eq!(wrong("node[bbox=1,2,3,4][@bbox=1,2,3,4]"), Err((19, "At most one bbox allowed.")));
        assert_eq!(wrong("node[a=b][@foo=1]"), Err((10, NO_SETTING)));
        for bbox in ["1,2,3", "a,b,c,d", "1,2,3,4,5", "1,2,3,inf", ""] {
            assert_eq!(wrong(&format!("map?bbox={bbox}")), Err((9, NO_BOX)), "{bbox}");
            assert_eq!(wrong(&format!("node[bbox={bbox}]")), Err((5, NO_BOX)), "{bbox}");
        }
    }
}
