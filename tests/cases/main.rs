//! The table of features: a test for every case file under `tests/cases/overpass`, and `docs/reference/features.md`,
//! which is written from them. `file.rs` describes the format of case files. `cargo test --workspace --test cases --
//! foreach` runs the files with this word in their path.
//!
//! | variable | effect |
//! |---|---|
//! | `TERRAPIN_WRITE=1` | rewrites `docs/reference/features.md` and `mistakes.txt`: `make features` |
//! | `TERRAPIN_REFERENCE=command` | replaces every expected answer with that of a reference |
//!
//! The command gets a query on its standard input and `answer`, `xml`, `pretty` or `compact` as its first argument. It
//! writes the answer to its standard output and errors to its standard error. Its data is `world.osm`.

#[path = "../common/mod.rs"]
mod common;
mod file;
mod mistakes;
mod page;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, LazyLock};

use common::place;
use file::{CaseFile, TestCase};
use libtest_mimic::{Arguments, Failed, Trial};
use terrapin::geocoder::AreaLookup;
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::{BoundingBox, Osm};
use terrapin::overpass::Limits;
use terrapin::overpass::convert::{ConversionForm, convert};
use terrapin::overpass::turbo::{self, ShortcutValues};
use terrapin::overpass::{parse, run};
use terrapin::snapshot::Snapshot;

/// The data of the cases.
static WORLD: LazyLock<Arc<Osm>> =
    LazyLock::new(|| open(&std::fs::read_to_string(file::folder().join("world.osm")).expect("the data of the cases")));

fn main() -> ExitCode {
    let files = file::all().into_iter().map(|file| Trial::test(file.name(), move || cases_of(file)));
    let others =
        [Trial::test("written::features", page_is_current), Trial::test("written::mistakes", mistakes::explained)];
    libtest_mimic::run(&Arguments::from_args(), files.chain(others).collect()).exit_code()
}

/// Runs the cases of a file.
fn cases_of(mut file: CaseFile) -> Result<(), Failed> {
    if let Ok(reference) = std::env::var("TERRAPIN_REFERENCE") {
        ask_reference(&mut file, &WORLD, &reference);
    }
    let mut wrong = Vec::new();
    for case in &file.cases {
        let own = case.section("data").map(open);
        let problems = check(case, own.as_ref().unwrap_or(&WORLD));
        match (problems.is_empty(), case.pending) {
            (true, true) => wrong.push(format!("\"{}\": is right now; take off the mark \"pending\"", case.title)),
            (false, false) => wrong.push(format!("\"{}\":\n{}", case.title, problems.join("\n"))),
            _ => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}: {}", file.path.display(), wrong.join("\n")).into()) }
}

fn page_is_current() -> Result<(), Failed> {
    let path = place::root().join("docs/reference/features.md");
    let page = page::write(&file::all());
    if std::env::var_os("TERRAPIN_WRITE").is_some() {
        std::fs::write(&path, &page)?;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    if found == page { Ok(()) } else { Err("docs/reference/features.md is outdated: run `make features`".into()) }
}

/// Loads OpenStreetMap XML and opens the snapshot.
fn open(data: &str) -> Arc<Osm> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (osm, out) = (folder.path().join("data.osm"), folder.path().join("data.terrapin"));
    std::fs::write(&osm, data).expect("written");
    load(&LoadOptions { osm: Some(osm), memory: 1 << 26, ..LoadOptions::new(out.clone()) }, &Quiet).expect("it loads");
    Arc::new(Osm::open(Arc::new(Snapshot::open(&out).expect("a snapshot"))).expect("its elements"))
}

/// Returns the deviations from the expected results.
fn check(case: &TestCase, osm: &Osm) -> Vec<String> {
    let mut problems = Vec::new();
    let query = expand(&case.query, osm);
    let found = answer(&query, osm);
    for (name, expected) in &case.sections {
        let found = match name.as_str() {
            "answer" => found.0.clone(),
            "error" => found.1.clone(),
            "xml" => converted(&query, ConversionForm::Xml),
            "pretty" => converted(&query, ConversionForm::Pretty),
            "compact" => converted(&query, ConversionForm::Compact),
            "data" => continue,
            "reference" => {
                if *expected == found.0 {
                    problems.push("  there is no difference to the reference any more".to_owned());
                }
                continue;
            }
            other => panic!("{}: no section is called \"{other}\"", case.title),
        };
        if found != *expected {
            problems.push(format!("  -- {name}, expected\n{expected}\n  -- found\n{found}"));
        }
    }
    if case.section("error").is_none() && !found.1.is_empty() && case.section("answer").is_some() {
        problems.push(format!("  -- error, not expected\n{}", found.1));
    }
    problems
}

/// Returns the query with its shortcuts expanded; the bounding box is that of the town.
fn expand(query: &str, osm: &Osm) -> String {
    let bbox = Some(BoundingBox { south: 100_000_000, west: 200_000_000, north: 100_100_000, east: 200_100_000 });
    let areas = AreaLookup::new(osm);
    let surroundings = ShortcutValues { bbox, now: 1_628_467_200, places: &areas };
    match turbo::expand(query, &surroundings) {
        Ok(text) => text.into_owned(),
        Err(problem) => panic!("{query}: {problem}"),
    }
}

/// Returns the answer and the errors.
fn answer(query: &str, osm: &Osm) -> (String, String) {
    let mut body = Vec::new();
    let result = parse(query).and_then(|script| run(osm, &script, &Limits::default(), &mut body));
    let errors = result.err().map(|failure| failure.to_string()).unwrap_or_default();
    (plain(&String::from_utf8(body).expect("UTF-8")), errors)
}

fn converted(query: &str, form: ConversionForm) -> String {
    convert(query, form).map_or_else(|failure| failure.to_string(), |converted| converted.text.trim_end().to_owned())
}

/// Returns an answer without the lines that name the program and the licence.
fn plain(answer: &str) -> String {
    let names = ["\"generator\":", "<osm version=", "\"copyright\":", "<note>The data included"];
    let lines: Vec<&str> = answer
        .trim_end()
        .lines()
        .filter(|line| !names.iter().any(|name| line.trim_start().starts_with(name)))
        .collect();
    lines.join("\n")
}

/// Replaces the expected results of a case file with those of the reference.
fn ask_reference(file: &mut CaseFile, osm: &Osm, command: &str) {
    for case in &mut file.cases {
        if case.section("data").is_some() {
            println!("{}, \"{}\": left, it has its own data", file.path.display(), case.title);
            continue;
        }
        let query = expand(&case.query, osm);
        let forms: Vec<String> = ["xml", "pretty", "compact"].map(str::to_owned).to_vec();
        for form in forms.iter().filter(|form| case.section(form).is_some()).cloned().collect::<Vec<_>>() {
            let (text, _) = reference(command, &form, &query);
            case.set(&form, text.trim_end().to_owned());
        }
        let converts = forms.iter().any(|form| case.section(form).is_some());
        if converts && case.section("answer").is_none() {
            continue;
        }
        let (text, errors) = reference(command, "answer", &query);
        let differs = case.section("reference").is_some();
        let text = plain(&text);
        if differs {
            case.set("reference", text);
        } else if case.section("answer").is_some() || case.section("error").is_none() {
            case.set("answer", text);
        }
        let errors: Vec<&str> = errors.lines().filter(|line| line.contains(" error: ")).collect();
        if !errors.is_empty() && !differs {
            case.set("error", errors.join("\n"));
        }
    }
    std::fs::write(&file.path, file::write(file)).expect("a case file can be written");
}

fn reference(command: &str, what: &str, query: &str) -> (String, String) {
    let mut child = Command::new(command)
        .arg(what)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the reference runs");
    child.stdin.take().expect("an input").write_all(query.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr))
}
