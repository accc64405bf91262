//! The language of a text, guessed by its beginning: for hints, counts and replies of models.

/// A query language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryLanguage {
    /// OverpassQL or its XML form.
    OverpassQl,
    /// SPARQL.
    Sparql,
}

impl QueryLanguage {
    /// Parses the name of a language, ignoring case.
    pub fn named(name: &str) -> Option<QueryLanguage> {
        match name.to_ascii_lowercase().as_str() {
            "overpassql" | "overpass" | "ql" => Some(QueryLanguage::OverpassQl),
            "sparql" => Some(QueryLanguage::Sparql),
            _ => None,
        }
    }

    /// Returns the name, which [`QueryLanguage::named`] parses.
    pub fn name(self) -> &'static str {
        match self {
            QueryLanguage::OverpassQl => "overpassql",
            QueryLanguage::Sparql => "sparql",
        }
    }
}

impl std::str::FromStr for QueryLanguage {
    type Err = String;

    fn from_str(name: &str) -> Result<QueryLanguage, String> {
        QueryLanguage::named(name).ok_or_else(|| "expected overpassql or sparql".to_owned())
    }
}

/// First words of OverpassQL's statements, before a filter, a set or a block.
pub(crate) const HEADS: &[&str] = &[
    "node",
    "way",
    "rel",
    "relation",
    "nwr",
    "nw",
    "nr",
    "wr",
    "area",
    "derived",
    "is_in",
    "timeline",
    "foreach",
    "for",
    "if",
    "complete",
    "retro",
    "compare",
    "local",
    "map_to_area",
];
/// First words of statements that are followed by other words.
const VERBS: &[&str] = &["out", "make", "convert"];
/// Settings, in brackets.
pub(crate) const SETTINGS: &[&str] = &["out", "timeout", "maxsize", "bbox", "date", "diff", "adiff"];
/// First elements of the XML form.
pub(crate) const TAGS: &[&str] = &[
    "osm-script",
    "?xml",
    "union",
    "query",
    "id-query",
    "bbox-query",
    "area-query",
    "around",
    "polygon-query",
    "coord-query",
    "recurse",
    "print",
    "item",
    "foreach",
    "for",
    "if",
    "difference",
    "complete",
    "retro",
    "make",
    "convert",
    "map-to-area",
    "is-in",
    "timeline",
    "compare",
    "!--",
];
/// First words of SPARQL.
const CLAUSES: &[&str] = &["select", "ask", "construct", "describe", "prefix", "base"];

/// Detects the language of a text by its beginning; returns `None` if it does not begin like a query.
pub fn of(text: &str) -> Option<QueryLanguage> {
    let (text, hash) = after_comments(text.trim_start_matches('\u{feff}'));
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if CLAUSES.contains(&word.to_ascii_lowercase().as_str()) {
        let follows = rest.starts_with(|c: char| c.is_whitespace() || "(*?$<{#".contains(c));
        // SQL begins the same way, but has no braces.
        let is_sparql = follows && (rest.contains('{') || word.eq_ignore_ascii_case("describe"));
        return is_sparql.then_some(QueryLanguage::Sparql);
    }
    // A named subquery of QLever in front of SELECT.
    if word.eq_ignore_ascii_case("with") && rest.trim_start().starts_with('%') {
        return Some(QueryLanguage::Sparql);
    }
    (!hash && is_overpass(word, rest)).then_some(QueryLanguage::OverpassQl)
}

/// Returns whether a text begins like a query of this language.
pub fn looks_like(text: &str, language: QueryLanguage) -> bool {
    of(text) == Some(language)
}

fn is_overpass(word: &str, rest: &str) -> bool {
    let next = rest.trim_start();
    if VERBS.contains(&word) {
        return rest.starts_with([' ', ';', '\n', '\t', '\r']);
    }
    if !word.is_empty() {
        return HEADS.contains(&word) && next.starts_with(['[', '(', '.', ';', '-', '{']);
    }
    if let Some(setting) = next.strip_prefix('[') {
        let setting = setting.trim_start();
        return SETTINGS
            .iter()
            .any(|name| setting.strip_prefix(name).is_some_and(|s| s.trim_start().starts_with([':', ']'])));
    }
    if let Some(tag) = next.strip_prefix('<') {
        return tag.starts_with([';', '<', '-', ')']) || TAGS.iter().any(|name| tag.starts_with(name));
    }
    next.starts_with("{{") || next.starts_with(['(', '.', ';', '>'])
}

/// Returns the text after comments of either language, and whether one of them is a SPARQL comment.
fn after_comments(text: &str) -> (&str, bool) {
    let (mut rest, mut hash) = (text.trim_start(), false);
    loop {
        let skipped = if rest.starts_with('#') {
            hash = true;
            // A comment of SPARQL also ends at a carriage return.
            rest.find(['\n', '\r']).unwrap_or(rest.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inside) = rest.strip_prefix("/*") {
            inside.find("*/").map_or(rest.len(), |end| end + 4)
        } else {
            return (rest, hash);
        };
        rest = rest.get(skipped..).unwrap_or_default().trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_told_from_what_is_none() {
        for query in [
            "node[amenity=cafe];out;",
            "[out:json][timeout:25];(node(1);way(2););out;",
            "[bbox];node;out;",
            "(node;<;);out;",
            "{{geocodeArea:Spoon}}->.a;node(area.a);out;",
            "// all cafes\n/* of the town */ nwr [amenity];out;",
            "<osm-script><id-query type=\"node\" ref=\"1\"/><print/></osm-script>",
            "area->.a;out;",
            ".a out;",
            "out body;",
            "make x a=1;out;",
        ] {
            assert_eq!(of(query), Some(QueryLanguage::OverpassQl), "{query}");
        }
        for query in [
            "SELECT * { ?s ?p ?o }",
            "select(count(*) as ?n) {}",
            "#defaultView:Map\nSELECT ?x {}",
            "# one\r# two\rSELECT ?x {}",
            "PREFIX wd: <http://www.wikidata.org/entity/>\nASK {}",
            "DESCRIBE wd:Q1",
        ] {
            assert_eq!(of(query), Some(QueryLanguage::Sparql), "{query}");
        }
        for other in [
            "",
            "   ",
            "Here is the query:",
            "for all nodes in the town",
            "```overpassql\nnode;out;\n```",
            "\"node[amenity=cafe];out;\"",
            "{\"prediction\": \"node;out;\"}",
            "[\"node;out;\"]",
            "[QUERY] SELECT 1 [/QUERY]",
            "id,prediction",
            "<think>a node</think>",
            "area of the town",
            "outside",
            "selection",
            "SELECT * FROM node WHERE amenity = 'cafe';",
            "Select all nodes",
            "malta.terrapin",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
