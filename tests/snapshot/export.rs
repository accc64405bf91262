//! Tests `terrapin export`: loading the exported file gives the same data, and osmium finds no difference in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Town, place, skip, terrapin, wikidata};
use serde_json::Value;

/// The real extracts that are tested in unoptimized builds also.
const EXTRACTS: [&str; 4] = ["niue", "monaco", "malta-2016", "malta-2024"];

/// Extracts with tags that are not sorted by key, which osmium reports as a difference.
const UNSORTED_TAGS: [&str; 2] = ["malta-2016", "patchwork-world"];

fn extract(name: &str) -> Option<PathBuf> {
    let path = place::shared().join(format!("data/osm/{name}.osm.pbf"));
    if !path.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {}", path.display()));
        return None;
    }
    Some(path)
}

/// Returns whether osmium is available for comparisons.
pub fn has_osmium() -> bool {
    let here = Command::new("osmium").arg("--version").output().is_ok();
    if !here {
        skip::skipped(skip::Need::Peers, "no osmium");
    }
    here
}

/// Loads a snapshot and returns its JSON description.
pub fn load<'a>(arguments: impl IntoIterator<Item = &'a str>, folder: &Path, out: &str) -> Value {
    let command = ["load", "--json", "--out", out];
    let told = terrapin().current_dir(folder).args(command).args(arguments).assert().success();
    serde_json::from_slice(&told.get_output().stdout).unwrap()
}

fn export(folder: &Path, arguments: &[&str]) {
    terrapin().current_dir(folder).arg("export").args(arguments).assert().success();
}

/// Returns a file's elements as osmium prints them, one per line, with sorted tags.
fn lines(file: &Path) -> Vec<String> {
    let read = Command::new("osmium").args(["cat", "--no-progress", "-f", "opl"]).arg(file).output().unwrap();
    assert!(read.status.success());
    let sorted = |field: &str| match field.strip_prefix('T') {
        Some(tags) => {
            let mut tags: Vec<&str> = tags.split(',').collect();
            tags.sort_unstable();
            format!("T{}", tags.join(","))
        }
        None => field.to_owned(),
    };
    let text = String::from_utf8(read.stdout).unwrap();
    text.lines().map(|line| line.split(' ').map(sorted).collect::<Vec<_>>().join(" ")).collect()
}

fn holds(name: &str, xml: bool) {
    let Some(source) = extract(name) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let from = load(["--osm", source.to_str().unwrap()], folder.path(), "a.terrapin");
    export(folder.path(), &["a.terrapin", "--osm-pbf", "b.osm.pbf"]);
    assert_eq!(load(["--osm", "b.osm.pbf"], folder.path(), "b.terrapin")["content"], from["content"], "{name}");
    // The output does not depend on threads or memory.
    export(folder.path(), &["a.terrapin", "--osm-pbf", "c.osm.pbf", "--threads", "1", "--memory", "16MiB"]);
    assert!(std::fs::read(path("b.osm.pbf")).unwrap() == std::fs::read(path("c.osm.pbf")).unwrap(), "{name}");
    if xml {
        export(folder.path(), &["a.terrapin", "--osm-xml", "b.osm"]);
        assert_eq!(load(["--osm", "b.osm"], folder.path(), "b.terrapin")["content"], from["content"], "{name}");
        for packing in ["zstd", "none"] {
            export(folder.path(), &["a.terrapin", "--osm-pbf", "c.osm.pbf", "--compression", packing]);
            assert_eq!(load(["--osm", "c.osm.pbf"], folder.path(), "b.terrapin")["content"], from["content"], "{name}");
        }
    }
    if !has_osmium() {
        return;
    }
    for file in ["b.osm.pbf", "b.osm"].into_iter().take(1 + usize::from(xml)) {
        assert!(lines(&path(file)) == lines(&source), "{name}: {file} differs from the extract");
        if !UNSORTED_TAGS.contains(&name) {
            let compared = Command::new("osmium").args(["diff", "--quiet"]).arg(path(file)).arg(&source).status();
            assert!(compared.unwrap().success(), "{name}: {file} differs from the extract");
        }
    }
    let told =
        Command::new("osmium").args(["fileinfo", "--extended", "--json"]).arg(path("b.osm.pbf")).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["header"]["option"]["sorting"], "Type_then_ID");
    assert_eq!(told["header"]["option"]["pbf_dense_nodes"], "true");
    assert_eq!(told["header"]["option"]["osmosis_replication_timestamp"], from["replication_timestamp"]);
    assert_eq!(told["data"]["objects_ordered"], true);
    for kind in ["nodes", "ways", "relations"] {
        assert_eq!(told["data"]["count"][kind], from["counts"][kind], "{name}");
    }
}

#[test]
fn an_export_is_the_same_data() {
    for name in EXTRACTS {
        holds(name, name == "niue");
    }
}

#[test]
fn an_export_of_a_large_extract_is_the_same_data() {
    if !skip::all() {
        return skip::skipped(skip::Need::Time, "a large extract (set TERRAPIN_ALL)");
    }
    holds("patchwork-world", false);
}

/// Negative ids, texts that have to be escaped, elements without metadata.
const ODD: &str = "<osm version='0.6'>
 <node id='-2' lat='1' lon='2'/><node id='-1' lat='-90' lon='-180' version='1'/>
 <node id='7' lat='0.0000001' lon='-0.0000001' version='2' timestamp='1999-01-01T00:00:00Z' uid='3' user='a&#9;&quot;'/>
 <way id='5' version='4294967295' changeset='9'><nd ref='7'/><nd ref='99'/><nd ref='7'/>
  <tag k='note' v='&#10;&lt;é&amp;&#13; '/><tag k='' v=''/></way>
 <relation id='1'><member type='relation' ref='1' role='&gt;'/><member type='way' ref='5' role=''/></relation>
 <relation id='2'/></osm>";

#[test]
fn odd_elements_come_back() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("odd.osm"), ODD).unwrap();
    let from = load(["--osm", "odd.osm"], folder.path(), "a.terrapin");
    for (option, file) in [("--osm-pbf", "b.osm.pbf"), ("--osm-xml", "b.osm")] {
        export(folder.path(), &["a.terrapin", option, file]);
        assert_eq!(load(["--osm", file], folder.path(), "b.terrapin")["content"], from["content"], "{file}");
    }
    let text = std::fs::read_to_string(folder.path().join("b.osm")).unwrap();
    let order: Vec<&str> = text.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(order, ["-1", "-2", "7", "5", "1", "2"], "as osmium sorts");
    let piped =
        terrapin().current_dir(folder.path()).args(["export", "a.terrapin", "--osm-xml", "-"]).assert().success();
    assert_eq!(piped.get_output().stdout, text.as_bytes());
}

#[test]
fn triples_come_back() {
    let quads = "<http://a> <http://p> _:x <http://g> .\n_:x <http://p> \"a\\n\\\"é\"@en <http://g> .\n\
        <http://a> <http://p> \"+1\"^^<http://www.w3.org/2001/XMLSchema#integer> .\n_:y <http://p> _:y .\n";
    let town = Town::with_quads(quads);
    let folder = town.snapshot().parent().unwrap().to_owned();
    let info = |snapshot: &str| -> Value {
        let told = terrapin().current_dir(&folder).args(["info", "--json", snapshot]).assert().success();
        serde_json::from_slice(&told.get_output().stdout).unwrap()
    };
    let named = terrapin().current_dir(&folder).args(["export", "town.terrapin", "--nt", "a.nt"]).assert().code(3);
    assert!(String::from_utf8_lossy(&named.get_output().stderr).contains("named graphs"), "{named}");
    assert!(!folder.join("a.nt").exists());
    export(&folder, &["town.terrapin", "--nq", "a.nq"]);
    export(&folder, &["town.terrapin", "--osm-xml", "a.osm"]);
    load(["--osm", "a.osm", "--rdf", "a.nq"], &folder, "b.terrapin");
    assert_eq!(info("b.terrapin")["content"], info("town.terrapin")["content"]);
    export(&folder, &["b.terrapin", "--nq", "b.nq", "--threads", "1"]);
    assert_eq!(std::fs::read(folder.join("a.nq")).unwrap(), std::fs::read(folder.join("b.nq")).unwrap());

    let plain = Town::with_triples();
    let folder = plain.snapshot().parent().unwrap().to_owned();
    export(&folder, &["town.terrapin", "--nt", "a.nt"]);
    export(&folder, &["town.terrapin", "--nq", "a.nq"]);
    assert_eq!(std::fs::read(folder.join("a.nt")).unwrap(), std::fs::read(folder.join("a.nq")).unwrap());
}

#[test]
fn a_part_of_wikidata_comes_back() {
    if !skip::all() {
        return skip::skipped(skip::Need::Time, "four sets of triples (set TERRAPIN_ALL)");
    }
    let Some(snapshot) = wikidata::path() else { return };
    let folder = tempfile::tempdir().unwrap();
    let told = terrapin().args(["verify", "--json"]).arg(&snapshot).assert().success();
    let from: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    export(folder.path(), &[snapshot.to_str().unwrap(), "--nt", "a.nt"]);
    assert_eq!(load(["--rdf", "a.nt"], folder.path(), "a.terrapin")["content"], from["content"]);
}

#[test]
fn what_cannot_be_written_is_said() {
    let town = Town::new();
    let folder = town.snapshot().parent().unwrap().to_owned();
    let fails = |arguments: &[&str], code: i32, expected: &str| {
        let failed = terrapin().current_dir(&folder).arg("export").args(arguments).assert().code(code);
        let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(said.contains(expected), "{arguments:?}: {said}");
    };
    fails(&["town.terrapin"], 2, "--osm-pbf");
    fails(&["town.terrapin", "--osm-pbf", "a.pbf", "--nt", "a.nt"], 2, "cannot be used with");
    fails(&["town.terrapin", "--osm-xml", "a.osm", "--compression", "zstd"], 2, "cannot be used with");
    fails(&["town.terrapin", "--osm-pbf", "town.terrapin"], 2, "choose another output file");
    fails(&["town.terrapin", "--osm-pbf", "-", "--json"], 2, "standard output");
    fails(&["town.terrapin", "--nt", "a.nt"], 3, "has no triples");
    fails(&["town.osm", "--osm-pbf", "a.pbf"], 3, "not a Terrapin snapshot");
    fails(&["town.terrapin", "--osm-pbf", "none/a.pbf"], 4, "none/a.pbf");
    fails(&["town.terrapin", "--osm-pbf", "."], 4, "directory");
    // PBF allows characters that XML cannot represent.
    std::fs::write(folder.join("bell.osm"), "<osm><node id='1' lat='1' lon='1'><tag k='a' v='\u{7}'/></node></osm>")
        .unwrap();
    load(["--osm", "bell.osm"], &folder, "bell.terrapin");
    fails(&["bell.terrapin", "--osm-xml", "a.osm"], 3, "node 1 has a character that XML cannot hold");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("a.")), "{left:?}");
}
