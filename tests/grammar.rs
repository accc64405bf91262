//! `terrapin grammar`, and the grammar on OverpassNL's gold queries, which is skipped if the shared data is missing.

use terrapin::overpass::syntax::grammar::{GrammarNames, OverpassGrammar};
use terrapin::overpass::turbo;

use crate::common::skip::{self, Need};
use crate::common::{Town, place, terrapin};

/// Every gold query of train and dev that parses is accepted but one, which has `!~` between evaluators. It parses, but
/// has no meaning.
#[test]
fn gold_queries_are_accepted() {
    let folder = place::shared().join("data/overpassnl");
    if !folder.is_dir() {
        return skip::skipped(Need::Shared, format_args!("no queries in {}", folder.display()));
    }
    let grammar = OverpassGrammar::new(&GrammarNames::default());
    let (mut valid, mut refused) = (0, Vec::new());
    for name in ["train", "dev"] {
        let text = std::fs::read_to_string(folder.join(format!("dataset.{name}.query"))).expect("queries");
        for query in text.lines() {
            let Ok(expanded) = turbo::with_stand_ins(query) else { continue };
            if terrapin::overpass::parse(&expanded).is_err() {
                continue;
            }
            valid += 1;
            if !grammar.accepts(query.trim()) {
                refused.push(query.to_owned());
            }
        }
    }
    println!("{valid} valid queries, {} refused", refused.len());
    assert!(valid > 7_000 && refused.len() <= 1, "{} of {valid}:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn the_grammar_has_the_names_of_the_snapshot() {
    let town = Town::new();
    let snapshot = town.snapshot();
    let run = |args: &[&str]| {
        let output = terrapin().arg("grammar").args(args).arg("--snapshot").arg(&snapshot).output().expect("a run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let gbnf = run(&[]);
    assert!(gbnf.contains("\"\\\"amenity\\\"\"") && gbnf.contains("\"\\\"cafe\\\"\""), "{gbnf}");
    assert!(gbnf.contains("area-name ::= \"Ladle\"\n"), "{gbnf}");
    let question = run(&["--question", "where is a cafe", "--format", "lark"]);
    assert!(question.contains("\"\\\"cafe\\\"\"") && !question.contains("residential"), "{question}");
}

#[test]
fn the_grammar_needs_no_snapshot() {
    let output = terrapin().arg("grammar").output().expect("a run");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("root ::= "));
    let output = terrapin().args(["grammar", "--question", "cafes"]).output().expect("a run");
    assert_eq!(output.status.code(), Some(2), "a question needs a snapshot");
}
