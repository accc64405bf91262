//! CodeBLEU of two SPARQL queries, as the authors of Instruct-to-SPARQL compute it. They run codebleu 0.7.0 with Python
//! as the language. The input is Python's representation of rdflib's parse of both queries, or the queries themselves
//! if rdflib cannot parse one. Four scores have equal weights: BLEU, recall-based BLEU with Python's keywords, syntax
//! trees and data flows by tree-sitter's Python parser.

mod comments;
mod ngram;
mod rdflib;
mod tree;

use super::is_python_space;

/// Stack size in bytes for parsing a query.
const STACK: usize = 64 << 20;

/// The four scores, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeBleu {
    /// BLEU over words.
    pub ngram: f64,
    /// Recall-based BLEU over weighted words.
    pub weighted: f64,
    /// Common subtrees.
    pub syntax: f64,
    /// Share of common data flows; 1 if no flow is common.
    pub dataflow: f64,
    /// Whether rdflib parses both queries; otherwise the query texts are compared.
    pub parsed: bool,
}

impl CodeBleu {
    /// Returns the mean of the four scores.
    pub fn score(&self) -> f64 {
        0.25 * self.ngram + 0.25 * self.weighted + 0.25 * self.syntax + 0.25 * self.dataflow
    }
}

/// Compares two queries. Returns `None` for an empty prediction, which the published code scores 0.
pub fn codebleu(gold: &str, pred: &str) -> Option<CodeBleu> {
    if pred.is_empty() {
        return None;
    }
    // The recursion may go as deep as Python's own stack permits, which is more than a pool thread's stack can hold.
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK);
        let thread = reader.spawn_scoped(scope, || queries(gold, pred)).ok()?;
        thread.join().ok()?
    })
}

fn queries(gold: &str, pred: &str) -> Option<CodeBleu> {
    // Anonymous blank nodes never match, not even if the same query is parsed twice.
    match (rdflib::printed(gold, "N"), rdflib::printed(pred, "M")) {
        (Some(gold), Some(pred)) => compared(&gold, &pred, true),
        _ => compared(gold, pred, false),
    }
}

fn compared(gold: &str, pred: &str, parsed: bool) -> Option<CodeBleu> {
    let [gold, pred] = [gold, pred].map(|text| text.trim_matches(is_python_space));
    let words = |text| -> Vec<&str> { str::split(text, is_python_space).filter(|w| !w.is_empty()).collect() };
    let (gold_words, pred_words) = (words(gold), words(pred));
    // Python's representation contains no comments.
    let program = |text: &str| if parsed { text.to_owned() } else { comments::without(text) };
    let [gold, pred] = [gold, pred].map(program);
    let (gold_tree, pred_tree) = (tree::parse(&gold)?, tree::parse(&pred)?);
    Some(CodeBleu {
        ngram: ngram::bleu(&gold_words, &pred_words),
        weighted: ngram::weighted(&gold_words, &pred_words),
        syntax: tree::syntax(&gold_tree, &pred_tree),
        dataflow: tree::flow((&gold, &gold_tree), (&pred, &pred_tree)),
        parsed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_prints() {
        let printed = |query| rdflib::printed(query, "N").unwrap_or_default();
        let verb = |part: &str| format!("PathAlternative_{{'part': [PathSequence_{{'part': [PathElt_{{{part}}}]}}]}}");
        let x = "rdflib.term.Variable('x')";
        assert_eq!(
            printed("PREFIX a: <b>\nSELECT DISTINCT ?x { ?x a:p* \"it's\\n\"@en # comment\n}"),
            format!(
                "[[PrefixDecl_{{'prefix': 'a', 'iri': rdflib.term.URIRef('b')}}], SelectQuery_{{'modifier': 'DISTINCT', \
                 'projection': [vars_{{'var': {x}}}], 'where': GroupGraphPatternSub_{{'part': [TriplesBlock_{{'triples': \
                 [ParseResults([{x}, {}, literal_{{'string': rdflib.term.Literal(\"it's\\n\"), 'lang': 'en'}}], {{}})]}}]}}}}]",
                verb("'part': pname_{'prefix': 'a', 'localname': 'p'}, 'mod': '*'")
            )
        );
        assert!(printed("SELECT * { [] ?p -2 , 1e3 }").contains(
            "ParseResults([rdflib.term.BNode('N0000000000000000000000000000001'), rdflib.term.Variable('p'), \
             rdflib.term.Literal('-2', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#integer')), \
             rdflib.term.BNode('N0000000000000000000000000000001'), rdflib.term.Variable('p'), \
             rdflib.term.Literal('1000.0', datatype=rdflib.term.URIRef('http://www.w3.org/2001/XMLSchema#double'))]"
        ));
    }

    #[test]
    fn what_rdflib_cannot_parse() {
        for query in [
            "",
            "SELECT ?x { ?x ?y }",
            "SELECT ?x { ?x ?p -1.5 }",
            "SELECT ?x { [ :p ?x ] :q 2 }",
            "SELECT ?x WITH { SELECT ?x { ?x ?y ?z } } AS %a { INCLUDE %a }",
            "SELECT ?x { ?x wdt:[property:instance of] ?y }",
        ] {
            assert_eq!(rdflib::printed(query, "N"), None, "{query}");
        }
        // These depths exceed Python's stack.
        let deep = |n: usize| {
            let query = format!("SELECT * {{ FILTER{}?a{} }}", "(".repeat(n), ")".repeat(n));
            codebleu(&query, &query).unwrap().parsed
        };
        assert!(deep(20) && !deep(40) && !deep(1000));
    }

    #[test]
    fn texts_of_any_depth_are_compared() {
        for open in ["(", "[", "{", "-", "not ", "lambda:", "a(", "a[", "if a:\n"] {
            for many in [1000, 10_000] {
                let text = open.repeat(many);
                assert!(codebleu(&text, &text).is_some(), "{open} x {many}");
            }
        }
    }

    #[test]
    fn a_text_deeper_than_the_stack_is_compared() {
        // The height of the tree depends on how tree-sitter was compiled.
        let text = "(".repeat(300_000);
        let compared = codebleu(&text, &text).map(|bleu| bleu.syntax);
        assert!(compared == Some(0.0) || compared == Some(1.0), "{compared:?}");
    }

    #[test]
    fn the_same_and_almost_the_same() {
        let query = "SELECT ?x { ?x wdt:P31 wd:Q5 }";
        let same = codebleu(query, query).unwrap();
        assert_eq!((same.parsed, same.score()), (true, 1.0));
        // One word of the printed text differs; the trees and flows are equal.
        let other = codebleu(query, "SELECT ?x { ?x wdt:P31 wd:Q6 }").unwrap();
        assert_eq!((other.syntax, other.dataflow), (1.0, 1.0));
        assert!(other.ngram < 1.0 && other.score() > 0.8, "{other:?}");
        assert_eq!(codebleu(query, ""), None);
        assert!(!codebleu(query, "SELECT").unwrap().parsed);
    }
}
