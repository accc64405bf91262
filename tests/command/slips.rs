//! Tests typical mistakes at a shell: the messages, and that nothing happens that was not requested.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::{TRIPLES, Town, terrapin};
use serde_json::Value;

/// Runs the program in the town's folder; returns exit status, standard output and standard error.
fn run(town: &Town, args: &[&str]) -> (i32, String, String) {
    let output = terrapin().current_dir(town.path("")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

const NODES: &str = "[out:json];node[amenity=cafe];out;";
const TOWNS: &str = "SELECT ?x { ?x wdt:P31 wd:Q3957 }";

#[test]
fn a_slip_is_told_with_what_was_meant() {
    let town = Town::with_triples();
    std::fs::write(town.path("q.overpassql"), NODES).unwrap();
    let osm = std::fs::read(town.path("town.osm")).unwrap();
    std::fs::write(town.path("elements.nt.xml"), &osm).unwrap();
    std::fs::write(town.path("dump.json"), "[\n{\"id\": \"Q1\"}\n]\n").unwrap();
    let load = |options: &[&'static str]| [&["load"], options, &["--out", "out.terrapin"]].concat();
    for (args, status, says) in [
        (
            vec!["query", NODES, "town.terrapin"],
            2,
            "pass the snapshot before the query: terrapin query town.terrapin '[out:json];",
        ),
        (vec!["query", "-f", "q.overpassql", NODES], 2, "pass the snapshot before the query"),
        (vec!["feedback", TOWNS, "town.terrapin"], 2, "pass the snapshot before the query"),
        (vec!["query", "town.terrapin", "q.overpassql"], 2, "pass -f q.overpassql to read the query from it"),
        (vec!["query", "town.terrapin", "node(1);", "out;"], 2, "put the query in single quotes"),
        (vec!["query", "http://example.org/a.terrapin", NODES], 2, "curl -LO http://example.org/a.terrapin"),
        (vec!["info", "https://example.org/a.terrapin"], 2, "files are not downloaded"),
        (vec!["town.terrapin", NODES], 2, "start with a command: terrapin info town.terrapin"),
        (vec!["serve", "town.terrapin", "--port", "9000"], 2, "--bind 127.0.0.1:9000"),
        (vec!["serve", "town.terrapin", "--port=9000"], 2, "--bind 127.0.0.1:9000"),
        (vec!["serve", "town.terrapin", "--bind", "9000"], 2, "--bind 127.0.0.1:9000"),
        (vec!["serve", "town.terrapin", "--bind", "localhost:9000"], 2, "--bind 127.0.0.1:9000"),
        (load(&["town.osm"]), 2, "--osm town.osm"),
        (load(&["town.nt"]), 2, "--rdf town.nt"),
        (load(&["http://example.org/a.osm.pbf"]), 2, "curl -LO http://example.org/a.osm.pbf"),
        (load(&["--osm", "http://example.org/a.osm.pbf"]), 2, "curl -LO http://example.org/a.osm.pbf"),
        (load(&["--osm", "town.nt"]), 3, "town.nt: RDF, not OpenStreetMap's elements: --rdf"),
        (load(&["--osm", "dump.json"]), 3, "--wikidata loads dumps of Wikidata's entities"),
        (load(&["--rdf", "town.osm"]), 3, "OpenStreetMap's elements, not triples: --osm"),
        (load(&["--wikidata", "elements.nt.xml"]), 3, "OpenStreetMap's elements, not triples: --osm"),
    ] {
        let (code, out, err) = run(&town, &args);
        assert_eq!((code, out.as_str()), (status, ""), "{args:?}: {err}");
        assert!(err.contains(says), "{args:?}: {err}");
    }
    assert!(!town.path("out.terrapin").exists());
    let (_, _, err) = run(&town, &["serve", "town.terrapin", "--bind", "9000", "--json"]);
    let error: Value = serde_json::from_str(&err).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains("--bind 127.0.0.1:9000"), "{err}");
}

#[test]
fn the_language_of_a_query_shows() {
    let town = Town::with_triples();
    let expected = run(&town, &["query", "town.terrapin", "--lang", "sparql", TOWNS]);
    assert!(expected.0 == 0 && expected.1.contains("wd:Q1"), "{expected:?}");
    for args in [
        vec!["query", "town.terrapin", TOWNS],
        vec!["query", "town.terrapin", "--lang", "SPARQL", TOWNS],
        vec!["query", "town.terrapin", "# Towns\nselect ?x { ?x wdt:P31 wd:Q3957 }"],
    ] {
        assert_eq!(run(&town, &args), expected, "{args:?}");
    }
    let (status, out, _) = run(&town, &["query", "town.terrapin", "--lang", "OverpassQL", NODES]);
    assert!(status == 0 && out.contains("\"elements\""), "{out}");
    // A text that begins like neither language is treated as OverpassQL.
    let (status, _, err) = run(&town, &["query", "town.terrapin", "nod(1);out;"]);
    assert!(status == 1 && err.contains("Unknown type \"nod\""), "{err}");
}

#[test]
fn the_program_says_what_it_is() {
    let town = Town::new();
    let (status, out, _) = run(&town, &["--version"]);
    assert_eq!((status, &out), (0, &run(&town, &["version"]).1));
    for part in ["terrapin 0.", "\ncommit ", "\ntarget ", "\nfeatures ", "\nsnapshot formats  writes 3, reads 3 to 3\n"]
    {
        assert!(out.contains(part), "{out}");
    }
    assert_eq!(run(&town, &["-V"]).1.lines().count(), 1);
}

#[test]
fn shells_and_man_know_the_command_line() {
    let town = Town::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (status, out, err) = run(&town, &["completions", shell]);
        assert!(status == 0 && out.contains("terrapin") && out.contains("overpassnl"), "{shell}: {err}");
    }
    // Runs the completion in bash itself.
    let (_, script, _) = run(&town, &["completions", "bash"]);
    std::fs::write(town.path("completions"), script).unwrap();
    let ask = "source ./completions; COMP_WORDS=(terrapin lo); COMP_CWORD=1; _terrapin terrapin lo terrapin; echo ${COMPREPLY[@]}";
    if let Ok(done) = Command::new("bash").args(["-c", ask]).current_dir(town.path("")).output() {
        let said = String::from_utf8_lossy(&done.stdout);
        assert_eq!(said.trim(), "load", "{}", String::from_utf8_lossy(&done.stderr));
    }
    let (status, page, err) = run(&town, &["man", "eval", "jsonl"]);
    assert_eq!(status, 0, "{err}");
    assert!(page.contains(".TH terrapin-eval-jsonl 1") && page.contains("\\-\\-extract"), "{page}");
    assert_eq!(run(&town, &["man", "nothing"]).0, 2);
    assert_eq!(run(&town, &["man", "--out", "man1"]).0, 0);
    for page in ["terrapin.1", "terrapin-query.1", "terrapin-eval-compare.1"] {
        assert!(town.path("man1").join(page).exists(), "{page}");
    }
}

#[test]
fn a_pipe_that_is_closed_early_ends_a_command_in_silence() {
    let town = Town::with_triples();
    let many =
        TRIPLES.to_owned() + &(0..20_000).map(|i| format!("<http://x/{i}> <http://y> \"{i}\" .\n")).collect::<String>();
    std::fs::write(town.path("many.nt"), many).unwrap();
    assert_eq!(run(&town, &["load", "--rdf", "many.nt", "--out", "many.terrapin"]).0, 0);
    for args in [
        &["query", "many.terrapin", "SELECT * { ?s ?p ?o }"][..],
        &["query", "many.terrapin", "--format", "csv", "SELECT * { ?s ?p ?o }"],
        &["completions", "bash"],
        &["man", "load"],
    ] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
        let mut child =
            child.args(args).current_dir(town.path("")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Reads one line and closes the pipe, like `head -1`.
        let mut line = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(0), ""), "{args:?}");
        assert!(!line.is_empty(), "{args:?}");
    }
    // A closed pipe for warnings is also no error.
    std::fs::write(town.path("gold"), "node(1);out;\n").unwrap();
    std::fs::write(town.path("pred"), "no query\n").unwrap();
    let score = "\"$0\" eval overpassnl town.terrapin --gold gold --pred pred --out run --no-cache 2>&1 >/dev/null | true; echo ${PIPESTATUS[0]}";
    let program = assert_cmd::cargo::cargo_bin("terrapin");
    if let Ok(done) = Command::new("bash").arg("-c").arg(score).arg(program).current_dir(town.path("")).output() {
        assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "0");
    }
}
