//! Finds the end of a query by brackets, quotes, comments and the words that may follow, without a parser. Therefore an
//! invalid query also has an end.

use crate::language::{HEADS, QueryLanguage, SETTINGS, TAGS};

/// The result of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scan {
    /// The query ends at this byte.
    End(usize),
    /// Something is not closed; the query extends to the end of the text.
    Unclosed,
}

/// Detects the language at the start of a text. This is stricter than [`crate::language::of`] and rejects prose.
pub fn begins(text: &str) -> Option<QueryLanguage> {
    let at = skip(text, 0, true);
    let code = &text[at..];
    if is_clause(code) {
        return Some(QueryLanguage::Sparql);
    }
    let at = skip(text, 0, false);
    let code = &text[at..];
    (is_setting(code) || is_statement(code)).then_some(QueryLanguage::OverpassQl)
}

/// Returns whether a query is more than a fragment: it requests output.
pub fn is_whole(query: &str, language: QueryLanguage) -> bool {
    match language {
        QueryLanguage::Sparql => {
            query.contains('{') && query.contains('}') || query.to_ascii_lowercase().contains("describe")
        }
        QueryLanguage::OverpassQl if query.contains("</osm-script>") || query.contains("<print") => true,
        QueryLanguage::OverpassQl => {
            let out = query.rfind("out").unwrap_or_default();
            query[..out].contains(';') && query[out..].contains(';')
        }
    }
}

/// Finds the end of a query that begins with the text.
pub fn end(text: &str, language: QueryLanguage) -> Scan {
    let code = skip(text, 0, language == QueryLanguage::Sparql);
    match language {
        QueryLanguage::Sparql => sparql_end(text, code),
        QueryLanguage::OverpassQl if text[code..].starts_with('<') && !text[code..].starts_with("<;") => {
            xml_end(text, code)
        }
        QueryLanguage::OverpassQl => overpass_end(text, code),
    }
}

/// Returns the position after white space and comments.
fn skip(text: &str, mut at: usize, is_sparql: bool) -> usize {
    loop {
        let rest = &text[at..];
        let code = rest.trim_start();
        at += rest.len() - code.len();
        let line = || code.find('\n').unwrap_or(code.len());
        at += match code.as_bytes() {
            [b'#', ..] if is_sparql => line(),
            [b'/', b'/', ..] if !is_sparql => line(),
            [b'/', b'*', ..] if !is_sparql => {
                code.get(2..).and_then(|c| c.find("*/")).map_or(code.len(), |end| end + 4)
            }
            _ => return at,
        };
    }
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn is_setting(code: &str) -> bool {
    let Some(setting) = code.strip_prefix('[') else { return false };
    let setting = setting.trim_start();
    let name = word(setting);
    SETTINGS.contains(&name) && setting[name.len()..].trim_start().starts_with([':', ']'])
}

/// Parameters of `out`.
const OUT: &[&str] =
    &["ids", "skel", "body", "tags", "meta", "noids", "geom", "bb", "center", "asc", "qt", "count", "ids_only"];
/// Returns whether a statement of OverpassQL, or the XML form, begins here.
fn is_statement(code: &str) -> bool {
    let name = word(code);
    let rest = &code[name.len()..];
    let next = rest.trim_start();
    match name {
        "" => match code.as_bytes() {
            [b'{', b'{', ..] | [b';', ..] => true,
            [b'(', ..] => {
                let inside = code.trim_start_matches(|c: char| c == '(' || c.is_whitespace());
                !inside.starts_with('(') && is_statement(inside)
            }
            [b'.', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'_' | b';'),
            [b'>', ..] => code.trim_start_matches('>').trim_start().starts_with([';', '-', '.', ')']),
            [b'<', ..] => {
                let tag = code.trim_start_matches('<');
                tag.trim_start().starts_with([';', '-', ')']) || is_tag(tag)
            }
            _ => false,
        },
        "_" => next.starts_with([';', '-']),
        "out" => statement(next).is_some_and(|modes| modes.split_whitespace().all(is_out_mode)),
        "make" | "convert" => statement(next)
            .is_some_and(|text| text.contains('=') || !text.is_empty() && !text.contains(char::is_whitespace)),
        name => {
            let follows = match next.as_bytes() {
                [b'[' | b'(' | b';' | b'{', ..] | [b'-', b'>', ..] => true,
                [b'.', next, ..] => next.is_ascii_alphabetic() || *next == b'_',
                _ => false,
            };
            follows && HEADS.contains(&name)
        }
    }
}

/// Returns the rest of a statement up to its semicolon, if that is within 10,000 bytes.
fn statement(text: &str) -> Option<&str> {
    const LONGEST: usize = 10_000;
    text.bytes().take(LONGEST).position(|byte| byte == b';').map(|end| &text[..end])
}

/// Returns whether an element of the XML form begins here. `<query>` without attributes does not count, because models
/// put it around queries.
fn is_tag(tag: &str) -> bool {
    !tag.starts_with("query>") && TAGS.iter().any(|name| tag.starts_with(name))
}

fn is_out_mode(mode: &str) -> bool {
    let bare = mode.split(['(', ',']).next().unwrap_or_default();
    bare.is_empty() || OUT.contains(&bare) || bare.bytes().all(|byte| byte.is_ascii_digit() || b".-)".contains(&byte))
}

/// Finds the end of OverpassQL: the first position after a statement where no further statement begins.
fn overpass_end(text: &str, begin: usize) -> Scan {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (begin, 0_usize);
    let mut settings = is_setting(&text[begin..]);
    while at < bytes.len() {
        let is_boundary = match bytes[at] {
            quote @ (b'"' | b'\'') => {
                match string_end(bytes, at, quote) {
                    Some(end) => at = end,
                    None => return Scan::Unclosed,
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') || bytes.get(at + 1) == Some(&b'*') => {
                at = skip(text, at, false).max(at + 1);
                continue;
            }
            b'{' if bytes.get(at + 1) == Some(&b'{') => {
                match text[at..].find("}}") {
                    Some(end) => at += end + 2,
                    None => return Scan::Unclosed,
                }
                continue;
            }
            b'(' | b'[' | b'{' => {
                depth += 1;
                false
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                bytes[at] == b'}' && depth == 0
            }
            b';' => depth == 0,
            _ => false,
        };
        at += 1;
        if !is_boundary {
            continue;
        }
        let end = at;
        at = skip(text, at, false);
        if at == bytes.len() {
            return Scan::End(at);
        }
        // The first statement may follow the settings.
        let goes_on = is_statement(&text[at..]) || bytes[at] == b'}' || text[at..].starts_with("else");
        if !goes_on && !settings {
            return Scan::End(end);
        }
        settings = false;
    }
    if depth == 0 { Scan::End(text.len()) } else { Scan::Unclosed }
}

/// Returns the position after a string with backslash escapes, which must not cross a blank line.
fn string_end(bytes: &[u8], begin: usize, quote: u8) -> Option<usize> {
    let mut at = begin + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            byte if *byte == quote => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Finds the end of the XML form: after the last closing bracket of a tag.
fn xml_end(text: &str, begin: usize) -> Scan {
    let rest = &text[begin..];
    let end =
        rest.find("</osm-script>").map(|at| at + "</osm-script>".len()).or_else(|| rest.rfind('>').map(|at| at + 1));
    end.map_or(Scan::Unclosed, |end| Scan::End(begin + end))
}

/// Returns whether a SPARQL query begins here.
fn is_clause(code: &str) -> bool {
    let name = word(code);
    let rest = &code[name.len()..];
    let next = &rest[skip(rest, 0, true)..];
    let follows = |words: &[&str]| {
        let word = word(next);
        words.iter().any(|known| word.eq_ignore_ascii_case(known))
    };
    match name.to_ascii_lowercase().as_str() {
        "select" => next.starts_with(['?', '$', '*', '(']) || follows(&["distinct", "reduced"]),
        "ask" => next.starts_with('{') || follows(&["where", "from"]),
        "construct" => next.starts_with('{') || follows(&["where", "from"]),
        "describe" => next.starts_with(['?', '$', '*', '<']) || next[word(next).len()..].starts_with(':'),
        "prefix" => {
            let prefix = next.find(':').filter(|at| !next[..*at].contains(char::is_whitespace));
            prefix.is_some_and(|at| next[at + 1..].trim_start().starts_with('<'))
        }
        "base" => next.starts_with('<'),
        _ => false,
    }
}

/// Words that may follow a group.
const TAIL: &[&str] = &[
    "order", "by", "asc", "desc", "limit", "offset", "group", "having", "values", "bindings", "as", "distinct",
    "where", "from", "named",
];

/// Finds the end of SPARQL: after the last group and its solution modifiers.
fn sparql_end(text: &str, begin: usize) -> Scan {
    let bytes = text.as_bytes();
    // DESCRIBE needs no group.
    let head = text[begin..].find('{').map_or(text.len(), |at| begin + at);
    let described = find_word(&text[begin..head], "describe").map(|at| begin + at + "describe".len());
    let (mut at, mut end, mut depth, mut groups, mut takes_name) = (begin, begin, 0_usize, 0, true);
    while at < bytes.len() {
        let is_tail = depth == 0 && (groups > 0 || described.is_some_and(|described| described <= at));
        let rest = &text[at..];
        let length = match bytes[at] {
            byte if byte.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            quote @ (b'"' | b'\'') if !is_tail => match literal(rest, quote) {
                Some(length) => length,
                None => return Scan::Unclosed,
            },
            b'<' => match rest[1..].find(['>', ' ', '\n', '"', '{', '}', '<']) {
                Some(close) if bytes[at + 1 + close] == b'>' => close + 2,
                _ if is_tail => return Scan::End(end),
                _ => 1,
            },
            b'{' | b'(' => {
                depth += 1;
                1
            }
            b'}' | b')' => {
                groups += usize::from(bytes[at] == b'}' && depth == 1);
                depth = depth.saturating_sub(1);
                1
            }
            _ if !is_tail => rest.chars().next().map_or(1, char::len_utf8),
            b'?' | b'$' if !word(&rest[1..]).is_empty() => 1 + word(&rest[1..]).len(),
            b'*' if groups == 0 => 1,
            byte if byte.is_ascii_digit() => word(rest).len(),
            _ => {
                let name = word(rest);
                let behind = &rest[name.len()..];
                let is_call = !name.is_empty() && behind.starts_with('(');
                if is_call || TAIL.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                    // The query extends to this word only if its argument follows.
                    takes_name = true;
                    at += name.len();
                    continue;
                }
                let local = behind.strip_prefix(':').map(word).filter(|local| takes_name && !local.is_empty());
                match local {
                    Some(local) => name.len() + 1 + local.len(),
                    None => return Scan::End(end),
                }
            }
        };
        at += length;
        end = at;
        takes_name = described.is_some() && groups == 0;
    }
    if depth > 0 || groups == 0 && described.is_none() { Scan::Unclosed } else { Scan::End(text.len()) }
}

/// Returns the length of the literal at the start of the text.
fn literal(text: &str, quote: u8) -> Option<usize> {
    let triple = if quote == b'"' { "\"\"\"" } else { "'''" };
    match text.strip_prefix(triple) {
        Some(inside) => inside.find(triple).map(|end| end + 6),
        None => string_end(text.as_bytes(), 0, quote),
    }
}

/// Returns the position of a whole word, ignoring case.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let is_apart = |c: char| !c.is_alphanumeric() && c != ':' && c != '/' && c != '_';
    lower.match_indices(word).map(|(at, _)| at).find(|at| {
        lower[..*at].chars().next_back().is_none_or(is_apart) && lower[at + word.len()..].starts_with(is_apart)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QL: QueryLanguage = QueryLanguage::OverpassQl;

    /// Splits a text after the query at its start.
    fn cut(text: &str, language: QueryLanguage) -> Option<(&str, &str)> {
        match end(text, language) {
            Scan::End(end) => Some((text[..end].trim(), text[end..].trim())),
            Scan::Unclosed => None,
        }
    }

    #[test]
    fn queries_end_where_no_statement_follows() {
        for query in [
            "node[amenity=cafe];out;",
            "[out:json][timeout:25];\n(\n  node(1);\n  way(2);\n);\n(._;>;);\nout body qt;",
            "// a; b\n[out:json]; /* c */ node[\"a\"=\"b; It\"];out geom;",
            "{{geocodeArea:St. Julian's}}->.a;node(area.a);out center;",
            "foreach.a{out;}\nnode(1);out 5;",
            "if(count(nodes)>1){out;}else{out ids;}",
            "make x a=1,b=\"It; is\";out;",
            "way(1);>->.n;.n out skel;",
        ] {
            assert_eq!(begins(query), Some(QL), "{query}");
            assert_eq!(cut(query, QL), Some((query, "")), "{query}");
            for prose in
                ["\n\nThis finds; it does.", "\n(Note: all of it.)", "\nIf you want more, say so; I can.", "\n* a; b"]
            {
                assert_eq!(cut(&format!("{query}{prose}"), QL), Some((query, prose.trim())), "{query}");
            }
        }
        assert_eq!(end("node[amenity=cafe;out;", QL), Scan::Unclosed);
        assert_eq!(end("node[\"a=b];out;", QL), Scan::Unclosed);
        let xml = "<osm-script><query type=\"node\"/><print/></osm-script>";
        assert_eq!(cut(&format!("{xml}\nThat is <all>."), QL), Some((xml, "That is <all>.")));
    }

    #[test]
    fn sparql_ends_behind_its_modifiers() {
        for query in [
            "SELECT * { ?s ?p ?o }",
            "PREFIX wd: <http://www.wikidata.org/entity/>\nSELECT ?a (COUNT(*) AS ?n) WHERE { ?a ?b wd:Q1 } GROUP BY ?a\nHAVING (?n > 1)\nORDER BY DESC(?n) ?a LIMIT 10 OFFSET 5",
            "#defaultView:Map\nSELECT ?x { ?x ?y \"}\" . FILTER(?x < 5 && STR(?y) > 'b\\'') } # all\nLIMIT 5",
            "ASK { ?a ?b <http://x/#y> }",
            "CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c }",
            "CONSTRUCT WHERE { ?a ?b ?c } LIMIT 1",
            "DESCRIBE wd:Q1 wd:Q2",
            "DESCRIBE ?a WHERE { ?a ?b ?c }",
            "SELECT ?a { ?a ?b ?c } VALUES ?a { wd:Q1 UNDEF }",
            "select(count(*) as ?n) {}",
        ] {
            assert_eq!(begins(query), Some(QueryLanguage::Sparql), "{query}");
            assert_eq!(cut(query, QueryLanguage::Sparql), Some((query, "")), "{query}");
            for prose in
                ["\n\nThis finds {all}.", "\nIn words: the items.", "\nBy the way, it is (not) tried.", "\n- ?a is: b"]
            {
                let text = format!("{query}{prose}");
                assert_eq!(cut(&text, QueryLanguage::Sparql).map(|(cut, _)| cut), Some(query), "{text}");
            }
        }
        for open in ["SELECT ?a { ?a ?b ?c", "SELECT ?a { ?a ?b \"c }", "SELECT ?a WHERE"] {
            assert_eq!(end(open, QueryLanguage::Sparql), Scan::Unclosed, "{open}");
        }
    }

    #[test]
    fn prose_begins_no_query() {
        for prose in [
            "Select all museums in { Malta }",
            "(The query follows.)",
            "for all nodes in the town",
            "out of memory; sorry",
            "make sure that it runs; then",
            "area of the town",
            "the node. Then",
            "> quoted",
            ". Then",
            "...",
            "Ask somebody else {",
            "[QUERY]",
            "[1] a source",
            "Prefix: none",
            "",
        ] {
            assert_eq!(begins(prose), None, "{prose}");
        }
        // Thousands of brackets do not overflow the stack.
        assert_eq!(begins(&"(".repeat(200_000)), None);
    }
}
