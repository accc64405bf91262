//! Tests the program at a shell: output, errors and exit statuses.

use std::io::Read;
use std::process::{Command as Process, Stdio};

use crate::common::{TOWN, Town, terrapin};
use serde_json::Value;

/// Runs the program; returns exit status, standard output and standard error.
fn run<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> (i32, String, String) {
    run_with_input(args, "")
}

fn run_with_input<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>, input: &str) -> (i32, String, String) {
    let output = terrapin().args(args).write_stdin(input).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

fn query(town: &Town, args: &[&str]) -> (i32, String, String) {
    let snapshot = town.snapshot();
    run(["query", snapshot.to_str().unwrap()].iter().chain(args))
}

fn ids(answer: &str) -> Vec<i64> {
    let answer: Value = serde_json::from_str(answer).unwrap();
    answer["elements"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect()
}

#[test]
fn a_query_is_answered_in_the_form_it_asks_for() {
    let town = Town::new();
    let (status, out, err) = query(&town, &["[out:json];node[amenity=cafe];out;"]);
    assert_eq!((status, ids(&out), err.as_str()), (0, vec![1, 2, 3, 4], ""));
    assert!(out.contains("\"name\": \"Zur Mühle\""), "{out}");

    let (status, out, _) = query(&town, &["way[highway];out;"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("<?xml") && out.contains("<nd ref=\"13\"/>"), "{out}");

    let (status, out, _) = query(&town, &["[out:csv(::id,name;false;\",\")];node(1);out;"]);
    assert_eq!((status, out.as_str()), (0, "1,Bean & Leaf\n"));
}

#[test]
fn a_query_comes_from_the_command_line_a_file_or_standard_input() {
    let town = Town::new();
    let text = "[out:json];node(2);out;";
    std::fs::write(town.path("q.overpassql"), text).unwrap();
    let file = town.path("q.overpassql");
    assert_eq!(ids(&query(&town, &["-f", file.to_str().unwrap()]).1), [2]);
    let snapshot = town.snapshot();
    let (status, out, _) = run_with_input(["query", snapshot.to_str().unwrap(), "-"], text);
    assert_eq!((status, ids(&out)), (0, vec![2]));
}

#[test]
fn shortcuts_are_replaced() {
    let town = Town::new();
    let by_name = "[out:json];{{geocodeArea:Ladle}}->.a;node[amenity](area.a);out;";
    assert_eq!(ids(&query(&town, &[by_name]).1), [1, 2, 3]);
    let by_box = ["[out:json];node[amenity]({{bbox}});out;", "--bbox", "10,20,10.0015,20.0015"];
    assert_eq!(ids(&query(&town, &by_box).1), [1]);
    let (status, _, err) = query(&town, &["node({{bbox}});out;"]);
    assert_eq!(status, 1);
    assert!(err.contains("no bounding box was given") && err.contains("^^^^^^^^") && err.contains("--bbox"), "{err}");
    assert_eq!(query(&town, &["node({{bbox}});out;", "--bbox", "1,2,3"]).0, 2);
}

#[test]
fn a_wrong_query_is_shown_with_its_place() {
    let town = Town::new();
    let (status, out, err) = query(&town, &["[out:json];\nnod(1);out;"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("parse error") && err.contains("Unknown type \"nod\"") && err.contains("query:2:1"), "{err}");

    let (status, out, err) = query(&town, &["[out:json];\nnod(1);out;", "--json"]);
    assert_eq!((status, out.as_str()), (1, ""));
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(error["error"]["exit"], 1);
    assert_eq!(error["error"]["diagnostics"][0]["class"], "parse error");
    assert_eq!(error["error"]["diagnostics"][0]["position"]["line"], 2);
}

#[test]
fn a_wrong_command_line_is_status_2() {
    for args in [&["query"][..], &["frobnicate"], &["info", "--wrong", "x"], &[], &["load", "--osm", "x"]] {
        let (status, out, err) = run(args);
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains("Usage"), "{err}");
    }
    let (status, _, err) = run(["info", "--json"]);
    let error: Value = serde_json::from_str(&err).unwrap();
    assert_eq!((status, &error["error"]["code"]), (2, &"usage".into()));
    for help in [&["--help"][..], &["query", "--help"], &["--version"]] {
        assert_eq!(run(help).0, 0);
    }
    assert!(run(["--help"]).1.contains("Exit status"));
}

#[test]
fn the_version_names_the_commit_and_the_features() {
    let (status, out, _) = run(["--version"]);
    let value = |name: &str| out.lines().find_map(|line| line.strip_prefix(name)).expect(name).trim().to_owned();
    assert_eq!(status, 0);
    for (feature, built) in [("cache", cfg!(feature = "cache")), ("remote", cfg!(feature = "remote"))] {
        let (has, lacks) = match value("features").split_once("(without") {
            None => (value("features"), String::new()),
            Some((has, lacks)) => (has.to_owned(), lacks.to_owned()),
        };
        assert_eq!((has.contains(feature), lacks.contains(feature)), (built, !built), "{feature}: {out}");
    }
    let git =
        std::process::Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    match git.ok().filter(|git| git.status.success()) {
        Some(git) if option_env!("TERRAPIN_COMMIT").is_none() => {
            let commit = value("commit");
            assert!(commit.len() >= 12 && String::from_utf8_lossy(&git.stdout).starts_with(&commit), "{out}");
        }
        _ => assert_ne!(value("commit"), ""),
    }
}

#[test]
fn a_file_that_is_missing_broken_or_foreign_is_status_3() {
    let town = Town::new();
    let whole = std::fs::read(town.snapshot()).unwrap();
    let cases: [(&str, Option<&[u8]>, &str); 4] = [
        ("missing", None, "missing"),
        ("empty", Some(b""), "not a Terrapin snapshot"),
        ("foreign", Some(TOWN.as_bytes()), "not a Terrapin snapshot"),
        ("cut", Some(&whole[..whole.len() - 100]), "damaged snapshot"),
    ];
    for (name, content, words) in cases {
        let path = town.path(name);
        if let Some(content) = content {
            std::fs::write(&path, content).unwrap();
        }
        let path = path.to_str().unwrap();
        for command in [&["info", path][..], &["query", path, "node(1);out;"], &["serve", path]] {
            let (status, out, err) = run(command);
            assert_eq!((status, out.as_str()), (3, ""), "{command:?}: {err}");
            assert!(err.contains(words), "{err}");
        }
    }
    let out = town.path("out.terrapin");
    let out = out.to_str().unwrap();
    for (name, content) in
        [("no.osm.pbf", None), ("bad.osm.pbf", Some("not a PBF at all")), ("bad.osm", Some("<osm><node"))]
    {
        let source = town.path(name);
        if let Some(content) = content {
            std::fs::write(&source, content).unwrap();
        }
        let (status, _, err) = run(["load", "--osm", source.to_str().unwrap(), "--out", out]);
        assert_eq!(status, 3, "{err}");
        assert!(err.contains(name), "{err}");
        assert!(!town.path("out.terrapin").exists());
    }
}

#[test]
fn verify_finds_every_flipped_byte() {
    let town = Town::new();
    let whole = std::fs::read(town.snapshot()).unwrap();
    let broken = town.path("broken.terrapin");
    let (status, out, _) = run(["verify", town.snapshot().to_str().unwrap()]);
    assert!(status == 0 && out.contains("ok: "), "{out}");
    for i in 0..60 {
        let mut bytes = whole.clone();
        let at = i * (whole.len() - 1) / 59;
        bytes[at] ^= 0x10;
        std::fs::write(&broken, &bytes).unwrap();
        let path = broken.to_str().unwrap();
        let (status, out, err) = run(["verify", path]);
        assert!((status == 1 || status == 3) && out.is_empty(), "byte {at}: {out}{err}");
        let (status, _, err) = run(["query", path, "[out:json];nwr[~\".\"~\".\"];out geom meta;"]);
        assert!([0, 1, 3].contains(&status) && !err.contains("panicked"), "byte {at}: {err}");
    }
}

#[test]
fn a_pin_holds_only_its_own_snapshot() {
    let town = Town::new();
    let snapshot = town.snapshot();
    let snapshot = snapshot.to_str().unwrap();
    let info: Value = serde_json::from_str(&run(["info", snapshot, "--json"]).1).unwrap();
    assert_eq!(info["counts"]["nodes"], 8);
    assert_eq!(info["counts"]["areas"], 1);
    assert_eq!(info["data_timestamp"], "2020-01-06T12:00:00Z");
    let (digest, sha256) = (info["digest"].as_str().unwrap(), info["sources"][0]["sha256"].as_str().unwrap());
    let pin = |digest: &str| {
        format!(
            "name = \"town\"\ndigest = \"{digest}\"\nformat_version = {}\n\
             [[source]]\nname = \"town.osm\"\nsha256 = \"{sha256}\"\nbytes = {}\n",
            info["format_version"],
            TOWN.len()
        )
    };
    let file = town.path("pin.toml");
    let file = file.to_str().unwrap();
    std::fs::write(file, pin(digest)).unwrap();
    let (status, out, err) = run(["verify", snapshot, "--pin", file]);
    assert!(status == 0 && out.contains("equal to the pin `town`"), "{out}{err}");
    std::fs::write(file, pin(&"0".repeat(64))).unwrap();
    let (status, _, err) = run(["verify", snapshot, "--pin", file]);
    assert!(status == 1 && err.contains("its digest is"), "{err}");
    std::fs::write(file, "digest = 1").unwrap();
    assert_eq!(run(["verify", snapshot, "--pin", file]).0, 3);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let town = Town::new();
    let again = town.path("again.terrapin");
    let args = ["load", "--osm", town.path("town.osm").to_str().unwrap(), "--threads", "1", "--memory", "1MiB"]
        .map(str::to_owned);
    let (status, out, err) =
        run(args.into_iter().chain(["--json".into(), "--out".into(), again.to_str().unwrap().into()]));
    assert_eq!(status, 0, "{err}");
    let told: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["digest"].as_str().map(str::len), Some(64));
    assert_eq!(std::fs::read(again).unwrap(), std::fs::read(town.snapshot()).unwrap());
    let left = std::fs::read_dir(town.path("")).unwrap().count();
    assert_eq!(left, 3, "the source and two snapshots, nothing temporary");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let town = Town::new();
    for args in [
        vec!["query".into(), town.snapshot(), "[out:json];nwr[~\".\"~\".\"];out geom;".into()],
        vec!["info".into(), town.snapshot()],
        vec!["--help".into()],
    ] {
        let mut child = Process::new(assert_cmd::cargo::cargo_bin("terrapin"))
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_query_is_converted_and_what_is_wrong_with_it_is_told() {
    let xml = "<osm-script>\n  <id-query type=\"node\" ref=\"1\"/>\n</osm-script>\n";
    let (status, out, err) = run(["convert", "node(1);"]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, xml, ""));
    let (status, out, err) = run_with_input(["convert", "--to", "compact", "-"], xml);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "node(1);\n", ""));
    let (status, out, err) = run(["convert", "node(1);ouy;"]);
    assert_eq!((status, out.as_str()), (1, xml));
    assert!(err.contains("Unknown type \"ouy\""), "{err}");
}

#[test]
fn a_load_does_not_destroy_its_source_or_a_device() {
    let town = Town::new();
    let source = town.path("town.osm");
    std::fs::write(&source, TOWN).unwrap();
    let source = source.to_str().unwrap();
    let (status, _, err) = run(["load", "--osm", source, "--out", source]);
    assert_eq!(status, 4);
    assert!(err.contains("is the source"), "{err}");
    assert_eq!(std::fs::read_to_string(source).unwrap(), TOWN);

    let folder = town.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let (status, _, err) = run(["load", "--osm", source, "--out", folder.to_str().unwrap()]);
    assert!(status == 4 && err.contains("is a directory"), "{err}");
    assert_eq!(run(["load", "--osm", source, "--out", "x.terrapin", "--threads", "0"]).0, 2);
}
