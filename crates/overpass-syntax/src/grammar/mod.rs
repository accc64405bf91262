//! A grammar of OverpassQL for constrained decoding: a language model that follows it writes no syntax errors. All
//! repetitions are bounded, because small models otherwise repeat themselves without end. The rules of queries, filters
//! and functions come from the parser and its tables; a test checks that all statements and filters occur.
//!
//! A few conditions cannot be expressed by a grammar; [`sample_settings`] lists them.

mod evaluators;
mod filters;
mod words;

use terrapin_grammar::{DecodingGrammar, GrammarExpression, SampleSettings};

use crate::writer::expression::quoted;

/// The rules, without those made from tables and names.
const RULES: &str = include_str!("overpassql.gbnf");
/// The rules of expressions that also exist for contexts with an element.
const EXPRESSIONS: [&str; 10] = [
    "expression",
    "operation",
    "sum",
    "term",
    "closed",
    "geometry",
    "geometry-term",
    "call",
    "set-call",
    "geometry-call",
];
/// The rules of statements that also exist for queries with a box in their settings.
const BOXED: [&str; 15] = [
    "script",
    "statement",
    "plain",
    "result",
    "union",
    "operand",
    "foreach",
    "for",
    "complete",
    "compare",
    "if",
    "retro",
    "body",
    "block",
    "braces",
];
/// The rules of regular expressions that also exist in single quotes.
const REGULAR_EXPRESSIONS: [&str; 5] = ["regex", "piece", "atom", "bracket", "bracket-item"];

/// The names of a snapshot, or those for one question. If a list is empty, any name is allowed in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrammarNames {
    /// Keys with their values. A key without values takes any value.
    pub tags: Vec<(String, Vec<String>)>,
    /// Names of areas for `{{geocodeArea:...}}`.
    pub areas: Vec<String>,
}

/// Returns the grammar of OverpassQL without comments and without the XML form.
///
/// ```
/// use terrapin_overpass_syntax::grammar::{GrammarNames, overpass_grammar};
///
/// let names = GrammarNames { tags: vec![("amenity".to_owned(), vec!["cafe".to_owned()])], areas: Vec::new() };
/// let grammar = overpass_grammar(&names);
/// assert!(grammar.accepts("node[\"amenity\"=\"cafe\"]({{bbox}});out;"));
/// assert!(!grammar.accepts("node[\"amenity\"=\"caffe\"]({{bbox}});out;"));
/// ```
pub fn overpass_grammar(names: &GrammarNames) -> DecodingGrammar {
    let mut grammar = DecodingGrammar::parse(RULES);
    for ending in evaluators::endings() {
        grammar.add_variants(&EXPRESSIONS, ending);
    }
    grammar.add_variants(&BOXED, "boxed");
    grammar.add_alternative("result-boxed", GrammarExpression::Rule("unfiltered".to_owned()));
    grammar.add_variants(&REGULAR_EXPRESSIONS, "single");
    grammar.add_rules(DecodingGrammar::parse(&evaluators::rules()));
    grammar.add_rules(DecodingGrammar::parse(&filters::rules()));
    // `t["key"]` needs an element.
    grammar.add_alternative("closed-element", GrammarExpression::Rule("tag-value".to_owned()));
    grammar.add_alternative("closed-member", GrammarExpression::Rule("tag-value-member".to_owned()));
    if !names.areas.is_empty() {
        grammar.set("area-name", GrammarExpression::choice(names.areas.iter().map(GrammarExpression::literal)));
    }
    if !names.tags.is_empty() {
        restrict_tags(&mut grammar, &names.tags);
    }
    grammar
}

/// Returns the settings of samples that the parser accepts. Names of shortcuts must be defined by the query, properties
/// of a derived element must differ, and the south of a box must not be north of its north.
pub fn sample_settings() -> SampleSettings<'static> {
    SampleSettings {
        without: &["custom"],
        distinct: &["key-target", "id-target", "geometry-target", "generic-target"],
        examples: &[("bounds", &["35.8,14.18,36.09,14.58", "-19.2, -170, -18.9, -169.7", "50.6,7.0,50.6,7.0"])],
        ..SampleSettings::default()
    }
}

/// Restricts tag filters to the given keys and values.
fn restrict_tags(grammar: &mut DecodingGrammar, tags: &[(String, Vec<String>)]) {
    use GrammarExpression as Expr;
    let rule = |name: &str| Expr::Rule(name.to_owned());
    grammar.set("known-key", Expr::choice(tags.iter().map(|(key, _)| Expr::literal(quoted(key)))));
    grammar.set("tag-key", rule("known-key"));
    grammar.remove("key-matching");
    let mut tests = Vec::new();
    for (at, (key, values)) in tags.iter().enumerate() {
        let name = format!("tag-{}", at + 1);
        let values = match values.is_empty() {
            true => rule("text"),
            false => Expr::choice(values.iter().map(|value| Expr::literal(quoted(value)))),
        };
        let sign = Expr::choice(["!=", "="].map(Expr::literal));
        grammar.set(&name, Expr::Sequence(vec![Expr::literal(quoted(key)), sign, values]));
        tests.push(rule(&name));
    }
    grammar.set("equality", Expr::choice(tests));
}

#[cfg(test)]
mod tests {
    use terrapin_grammar::GrammarFormat;

    use super::*;
    use crate::vocabulary;

    #[test]
    fn every_statement_and_filter_is_in_the_grammar() {
        let grammar = overpass_grammar(&GrammarNames::default());
        let literals = grammar.literals();
        // `bbox` is a filter of the XML form only.
        let words = vocabulary::statements().chain(vocabulary::filters()).filter(|word| *word != "bbox");
        let lacking: Vec<&str> = words.filter(|word| !literals.contains(word)).collect();
        assert!(lacking.is_empty(), "{lacking:?}");
    }

    #[test]
    fn every_rule_is_defined_and_used() {
        let names = GrammarNames { tags: vec![("a".to_owned(), vec!["b".to_owned()])], areas: vec!["C".to_owned()] };
        for names in [GrammarNames::default(), names] {
            let grammar = overpass_grammar(&names);
            assert_eq!(grammar.undefined(), Vec::<String>::new());
            let written = grammar.render(GrammarFormat::Gbnf);
            assert!(DecodingGrammar::parse(&written) == grammar, "the written form is not the same grammar");
        }
    }

    #[test]
    fn queries_are_accepted_and_other_texts_are_not() {
        let grammar = overpass_grammar(&GrammarNames::default());
        for text in [
            "node[amenity=cafe];out;",
            "[out:json][timeout:25];{{geocodeArea:Malta}}->.a;(node[shop](area.a);way[shop](area.a););out center;",
            "way(around:50,35.9,14.5)[\"highway\"~\"^(a|b)$\",i]->.x;.x out geom qt;",
            "[out:csv(::id,name;false;\"|\")];node(1,2,3,4)[name];out;",
            "foreach.a->.b{.b out;}if(count(nodes)>0&&1!=2){out;}else{>;}",
            "make stat n=count(nodes),\"a b\"=sum(length())+1;out;",
            "(node[a];- .b;);out;is_in(35.9,14.5)->.c;",
        ] {
            assert!(crate::parse(&text.replace("{{geocodeArea:Malta}}", "area(1)")).is_ok(), "{text}");
            assert!(grammar.accepts(text), "{text}");
        }
        for text in [
            "[bbox:{{bbox}}];node;out;",
            "node(w)[~\"^a\"~\"[0-9]{2}\",i];out;",
            "/* cafes */ node[amenity=cafe]; // here\nout;",
            "[adiff:\"2016-01-01T00:00:00Z\"][out:xml];compare(delta:t[\"a\"]){out;}",
            "way(if:per_vertex(angle()>90)>0);for(keys()){out;}",
        ] {
            assert!(grammar.accepts(text), "{text}");
        }
        // Each of them has a word in a wrong place, or a value out of range.
        for text in [
            "node;out;",
            "way(w);",
            "node(bn);",
            "node(way_cnt:1);way(way_cnt:1);",
            "derived(1);",
            "node(91,0,92,1);",
            "node(1,2);",
            "node[name~\"(a\"];",
            "node[name~\"*\"];",
            "node[name~\"[z-a]\"];",
            "node(newer:\"yesterday\");",
            "[timeout:0];out;",
            "[out:json][diff:\"2016-01-01T00:00:00Z\"];out;",
            "(node[a];out;);",
            "(node[a];node[b];-node[c];);",
            "if(t[\"a\"]){out;}",
            "node[a](if:angle()>1);",
            "node[a](if:length);",
            "make a ::geom=1;",
            "complete(0){out;}",
            "<;out;",
            "out quirks;",
        ] {
            assert!(!grammar.accepts(text), "{text}");
            assert!(crate::parse(text).is_err(), "{text}");
        }
        for text in ["", "nod[a];", "node[a]", "node[a;out;", "out;;;;;", "select * { ?s ?p ?o }", "node[a](aruond:1);"]
        {
            assert!(!grammar.accepts(text), "{text}");
        }
    }

    #[test]
    fn known_names_replace_others() {
        let tags =
            vec![("amenity".to_owned(), vec!["cafe".to_owned(), "a\"b".to_owned()]), ("name".to_owned(), vec![])];
        let grammar = overpass_grammar(&GrammarNames { tags, areas: vec!["Malta".to_owned()] });
        for text in ["node[\"amenity\"=\"a\\\"b\"];", "node[\"name\"=\"x\"][!\"amenity\"];", "{{geocodeArea:Malta}};"] {
            assert!(grammar.accepts(text), "{text}");
        }
        for text in ["node[\"amenity\"=\"bar\"];", "node[\"shop\"];", "{{geocodeArea:Gozo}};"] {
            assert!(!grammar.accepts(text), "{text}");
        }
    }

    #[test]
    fn lark_has_its_own_syntax() {
        let lark = overpass_grammar(&GrammarNames::default()).render(GrammarFormat::Lark);
        assert!(lark.contains("ws: /[ \\n\\t\\r]{1,8}/? (comment ws)?\n"), "{lark}");
        assert!(!lark.contains("::=") && !lark.contains("area-shortcut"), "{lark}");
    }
}
