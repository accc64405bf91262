//! A grammar of OverpassQL for constrained decoding: a language model that follows it writes no syntax errors. All
//! repetitions are bounded, because small models otherwise repeat themselves without end. The words of queries and the
//! functions of evaluators come from the parser's tables; a test checks that all statements and filters occur.
//!
//! The grammar is wider than the language: numbers may be out of range, and a setting may occur twice.

mod expression;
mod gbnf;
mod lark;
mod matcher;

pub use expression::{GrammarExpression, OverpassGrammar};

use crate::check::evaluators::Spec;
use crate::convert::expression::quoted;
use crate::vocabulary;

/// The rules, without those made from tables and names.
const RULES: &str = include_str!("overpassql.gbnf");

/// The names of a snapshot, or those for one question. If a list is empty, any name is allowed in its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrammarNames {
    /// Keys with their values. A key without values takes any value.
    pub tags: Vec<(String, Vec<String>)>,
    /// Names of areas for `{{geocodeArea:...}}`.
    pub areas: Vec<String>,
}

impl OverpassGrammar {
    /// Returns the grammar of OverpassQL without comments and without the XML form.
    ///
    /// ```
    /// use terrapin_overpass_syntax::grammar::{GrammarNames, OverpassGrammar};
    ///
    /// let names = GrammarNames { tags: vec![("amenity".to_owned(), vec!["cafe".to_owned()])], areas: Vec::new() };
    /// let grammar = OverpassGrammar::new(&names);
    /// assert!(grammar.accepts("node[\"amenity\"=\"cafe\"]({{bbox}});out;"));
    /// assert!(!grammar.accepts("node[\"amenity\"=\"caffe\"]({{bbox}});out;"));
    /// assert!(grammar.gbnf().starts_with("root ::= "));
    /// assert!(grammar.lark().contains("\nstart: "));
    /// ```
    pub fn new(names: &GrammarNames) -> OverpassGrammar {
        let mut grammar = gbnf::parse(RULES);
        // Longer words first, for engines that take the first match.
        let words = |mut words: Vec<&str>| {
            words.sort_by_key(|word| std::cmp::Reverse(word.len()));
            GrammarExpression::choice(words.into_iter().map(GrammarExpression::literal))
        };
        grammar.set("query-type", words(vocabulary::queries().collect()));
        grammar.set("function", words(Spec::names().chain(["t"]).collect()));
        if !names.areas.is_empty() {
            grammar.set("area-name", GrammarExpression::choice(names.areas.iter().map(GrammarExpression::literal)));
        }
        if !names.tags.is_empty() {
            grammar.restrict_tags(&names.tags);
        }
        grammar
    }

    /// Replaces the rule of tag filters by the given keys and values.
    fn restrict_tags(&mut self, tags: &[(String, Vec<String>)]) {
        use GrammarExpression as Expr;
        let rule = |name: &str| Expr::Rule(name.to_owned());
        let keys = tags.iter().map(|(key, _)| Expr::literal(quoted(key)));
        self.set("known-key", Expr::choice(keys));
        let mut filters = vec![
            rule("known-key"),
            Expr::Sequence(vec![Expr::literal("!"), rule("known-key")]),
            Expr::Sequence(vec![
                rule("known-key"),
                Expr::choice(["!~", "~"].map(Expr::literal)),
                rule("string"),
                Expr::Repeat(Box::new(Expr::literal(",i")), 0, 1),
            ]),
        ];
        for (at, (key, values)) in tags.iter().enumerate() {
            let name = format!("tag-{}", at + 1);
            let values = match values.is_empty() {
                true => rule("string"),
                false => Expr::choice(values.iter().map(|value| Expr::literal(quoted(value)))),
            };
            let sign = Expr::choice(["!=", "="].map(Expr::literal));
            self.set(&name, Expr::Sequence(vec![Expr::literal(quoted(key)), sign, values]));
            filters.push(rule(&name));
        }
        self.set("tag-filter", Expr::choice(filters));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_and_filter_is_in_the_grammar() {
        let grammar = OverpassGrammar::new(&GrammarNames::default());
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
            let grammar = OverpassGrammar::new(&names);
            assert_eq!(grammar.undefined(), Vec::<String>::new());
            assert!(gbnf::parse(&grammar.gbnf()) == grammar, "the written form is not the same grammar");
        }
    }

    #[test]
    fn queries_are_accepted_and_other_texts_are_not() {
        let grammar = OverpassGrammar::new(&GrammarNames::default());
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
        for text in ["", "nod[a];", "node[a]", "node[a;out;", "out;;;;;", "select * { ?s ?p ?o }", "node[a](aruond:1);"]
        {
            assert!(!grammar.accepts(text), "{text}");
        }
    }

    #[test]
    fn known_names_replace_others() {
        let tags =
            vec![("amenity".to_owned(), vec!["cafe".to_owned(), "a\"b".to_owned()]), ("name".to_owned(), vec![])];
        let grammar = OverpassGrammar::new(&GrammarNames { tags, areas: vec!["Malta".to_owned()] });
        for text in ["node[\"amenity\"=\"a\\\"b\"];", "node[\"name\"=\"x\"][!\"amenity\"];", "{{geocodeArea:Malta}};"] {
            assert!(grammar.accepts(text), "{text}");
        }
        for text in ["node[\"amenity\"=\"bar\"];", "node[\"shop\"];", "{{geocodeArea:Gozo}};"] {
            assert!(!grammar.accepts(text), "{text}");
        }
    }

    #[test]
    fn lark_has_its_own_syntax() {
        let lark = OverpassGrammar::new(&GrammarNames::default()).lark();
        assert!(lark.contains("ws: /[ \\n\\t]{1,8}/?\n"), "{lark}");
        assert!(!lark.contains("::=") && !lark.contains("area-shortcut"), "{lark}");
    }
}
