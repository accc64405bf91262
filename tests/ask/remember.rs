//! `terrapin ask --query` and `--remember`: a right query without a model, kept as an example.

use crate::common::{Town, terrapin};

#[test]
fn corrections_are_kept_as_examples() {
    let town = Town::new();
    let (snapshot, kept) = (town.snapshot(), town.path("corrections.jsonl"));
    let ask = |question: &str, args: &[&str]| {
        let mut command = terrapin();
        command.arg("ask").arg(&snapshot).arg(question).args(args);
        command.assert()
    };
    let file = kept.to_str().expect("a path");
    let right = "node[amenity=cafe];out;";
    ask("Where are cafes?", &["--query", right]).success();
    assert!(!kept.exists(), "it is off by default");
    ask("Where are cafes?", &["--query", right, "--wrong", "shop", "--remember", file]).success();
    let line = "{\"question\":\"Where are cafes?\",\"wrong\":\"shop\",\"query\":\"node[amenity=cafe];out;\",\"lang\":\"overpassql\"}\n";
    assert_eq!(std::fs::read_to_string(&kept).expect("a file"), line);
    ask("Where are cafes?", &["--query", "nod[amenity=cafe];out;", "--remember", file]).code(1);
    ask("Where are cafes?", &["--remember", file]).code(2);
    assert_eq!(std::fs::read_to_string(&kept).expect("a file"), line, "queries with errors are not kept");
    let found = ask("Where are the cafes?", &["--examples", file, "--model", "nearest", "--show-steps"]).success();
    let steps = String::from_utf8_lossy(&found.get_output().stderr).into_owned();
    assert!(steps.contains(right), "{steps}");
}
