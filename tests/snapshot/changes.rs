//! Tests `terrapin load --base`: applying changes to a snapshot gives the same result as loading the newer extract.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Town, place, skip, terrapin};
use crate::snapshot::export::{has_osmium, load};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Writes an osmChange document.
fn osc(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), format!("<osmChange version='0.6'>{content}</osmChange>")).unwrap();
}

const BEFORE: &str = "<osm version='0.6'>
 <node id='1' version='1' timestamp='2020-01-01T00:00:00Z' lat='1' lon='1'><tag k='name' v='old'/></node>
 <node id='2' version='1' timestamp='2020-01-01T00:00:00Z' lat='2' lon='2'/>
 <node id='3' version='5' timestamp='2020-01-01T00:00:00Z' lat='3' lon='3'/>
 <way id='4' version='1' timestamp='2020-01-01T00:00:00Z'><nd ref='1'/><nd ref='2'/></way>
 <relation id='5' version='1'><member type='way' ref='4' role='a'/></relation></osm>";

const AFTER: &str = "<osm version='0.6'>
 <node id='1' version='3' timestamp='2020-01-03T00:00:00Z' lat='1' lon='1.5'><tag k='name' v='new'/></node>
 <node id='3' version='5' timestamp='2020-01-01T00:00:00Z' lat='3' lon='3'/>
 <node id='6' version='1' timestamp='2020-01-02T00:00:00Z' lat='6' lon='6'/>
 <way id='4' version='2' timestamp='2020-01-02T00:00:00Z'><nd ref='1'/><nd ref='6'/></way>
 <relation id='5' version='1'><member type='way' ref='4' role='a'/></relation></osm>";

const FIRST: &str = "<create><node id='6' version='1' timestamp='2020-01-02T00:00:00Z' lat='6' lon='6'/>
  <node id='7' version='1' timestamp='2020-01-02T00:00:00Z' lat='7' lon='7'/></create>
 <modify><way id='4' version='2' timestamp='2020-01-02T00:00:00Z'><nd ref='1'/><nd ref='6'/></way>
  <node id='1' version='2' timestamp='2020-01-02T00:00:00Z' lat='1' lon='1.2'/>
  <node id='3' version='4' timestamp='2019-01-01T00:00:00Z' lat='0' lon='0'/></modify>
 <delete><node id='2' version='2' timestamp='2020-01-02T00:00:00Z'/></delete>";

const SECOND: &str = "<modify><node id='1' version='3' timestamp='2020-01-03T00:00:00Z' lat='1' lon='1.5'>
   <tag k='name' v='new'/></node></modify>
 <delete><node id='7' version='2' timestamp='2020-01-03T00:00:00Z' lat='7' lon='7'/></delete>";

/// Creates a folder with `before.terrapin`, `after.terrapin`, `a.osc.gz` and `b.osc`.
fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("before", BEFORE), ("after", AFTER)] {
        std::fs::write(folder.path().join(format!("{name}.osm")), text).unwrap();
        load(["--osm", &format!("{name}.osm")], folder.path(), &format!("{name}.terrapin"));
    }
    osc(folder.path(), "b.osc", SECOND);
    osc(folder.path(), "a.osc", FIRST);
    pack(&folder.path().join("a.osc"), &folder.path().join("a.osc.gz"));
    folder
}

fn pack(from: &Path, to: &Path) {
    let mut packed = GzEncoder::new(std::fs::File::create(to).unwrap(), Compression::best());
    packed.write_all(&std::fs::read(from).unwrap()).unwrap();
    packed.finish().unwrap();
}

fn info(folder: &Path, snapshot: &str) -> Value {
    let told = terrapin().current_dir(folder).args(["info", "--json", snapshot]).assert().success();
    serde_json::from_slice(&told.get_output().stdout).unwrap()
}

fn sha256(path: &Path) -> String {
    Sha256::digest(std::fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn changes_make_the_newer_extract() {
    let folder = small();
    let after = info(folder.path(), "after.terrapin");
    let before = info(folder.path(), "before.terrapin");
    let made = load(["--base", "before.terrapin", "--osc", "a.osc.gz", "--osc", "b.osc"], folder.path(), "c.terrapin");
    assert_eq!(made["content"], after["content"]);
    assert_eq!(made["data_timestamp"], "2020-01-03T00:00:00Z");
    // The manifest names the base and all change files.
    let remark = made["remarks"][0].as_str().unwrap();
    assert!(remark.starts_with("2 files of changes applied to the snapshot "), "{remark}");
    assert!(
        remark.contains(before["digest"].as_str().unwrap()) && remark.contains(before["content"].as_str().unwrap())
    );
    let names: Vec<_> = made["sources"].as_array().unwrap().iter().map(|source| &source["name"]).collect();
    assert_eq!(names, ["before.terrapin", "a.osc.gz", "b.osc"]);
    assert_eq!(made["sources"][0]["sha256"], before["digest"]);
    assert_eq!(made["sources"][1]["sha256"], sha256(&folder.path().join("a.osc.gz")));
    // Replaces its base, runs with one thread, applies the changes in two steps, and repeats changes that are already
    // applied.
    load(["--base", "c.terrapin", "--osc", "a.osc.gz", "b.osc", "--threads", "1"], folder.path(), "c.terrapin");
    assert_eq!(info(folder.path(), "c.terrapin")["content"], after["content"]);
    load(["--base", "before.terrapin", "--osc", "a.osc"], folder.path(), "d.terrapin");
    assert_eq!(
        load(["--base", "d.terrapin", "--osc", "b.osc"], folder.path(), "d.terrapin")["content"],
        after["content"]
    );
    // Without changes the data stays the same.
    assert_eq!(load(["--base", "before.terrapin"], folder.path(), "e.terrapin")["content"], before["content"]);
    // Deleted and unreferenced elements leave no traces.
    assert_eq!(made["counts"]["missing"], after["counts"]["missing"]);
}

#[test]
fn what_is_no_change_is_said() {
    let folder = small();
    let path = |name: &str| folder.path().join(name);
    let whole = std::fs::read(path("a.osc.gz")).unwrap();
    std::fs::write(path("cut.osc.gz"), &whole[..whole.len() / 2]).unwrap();
    let mut bent = whole.clone();
    let middle = bent.len() / 2;
    bent[middle] ^= 0xff;
    std::fs::write(path("bent.osc.gz"), bent).unwrap();
    std::fs::write(path("hello.osc"), "hello").unwrap();
    std::fs::write(path("pbf.osc"), b"\0\0\0\x0d\x0a\x09OSMHeader\x18\x7c").unwrap();
    std::fs::write(path("page.osc"), "<!DOCTYPE html><html></html>").unwrap();
    osc(folder.path(), "outside.osc", "<node id='1' version='9' lat='1' lon='1'/>");
    osc(folder.path(), "unknown.osc", "<modify><node id='1' lat='1' lon='1'/></modify>");
    osc(folder.path(), "nested.osc", "<modify><create/></modify>");
    osc(folder.path(), "nowhere.osc", "<modify><node id='1' version='9'/></modify>");
    osc(folder.path(), "upsert.osc", "<upsert><node id='1' version='9' lat='1' lon='1'/></upsert>");
    osc(folder.path(), "zero.osc", "<modify><node id='1' version='0' lat='1' lon='1'/></modify>");
    std::fs::write(path("ends.osc"), "<osmChange><modify>").unwrap();
    let fails = |files: &[&str], expected: &str| {
        let arguments = ["load", "--base", "before.terrapin", "--out", "x.terrapin", "--osc"];
        let failed = terrapin().current_dir(folder.path()).args(arguments).args(files).assert().code(3);
        let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(said.contains(expected), "{files:?}: {said}");
        assert!(!path("x.terrapin").exists());
    };
    fails(&["before.osm"], "the document is a <osm>, not an <osmChange>: it has no changes; --osm loads elements");
    fails(&["pbf.osc"], "PBF, not changes");
    fails(&["hello.osc"], "neither PBF nor OSM XML");
    fails(&["page.osc"], "an HTML page");
    fails(&["none.osc"], "none.osc");
    fails(&["cut.osc.gz"], "cannot be read");
    fails(&["bent.osc.gz"], "bent.osc.gz");
    fails(&["ends.osc"], "the text ends before </osmChange>");
    fails(&["outside.osc"], "an element outside of <create>, <modify> and <delete>");
    fails(&["unknown.osc"], "the attribute version is missing");
    fails(&["nested.osc"], "nested too deeply");
    fails(&["nowhere.osc"], "the attribute lat is missing");
    fails(&["upsert.osc"], "unknown tag <upsert>");
    fails(&["zero.osc"], "version=\"0\" of a changed or deleted element");
    fails(&["b.osc", "a.osc"], "node 1: version 2 in a.osc, after version 3 in b.osc; pass the changes oldest first");
    let told =
        terrapin().current_dir(folder.path()).args(["load", "--osm", "a.osc", "--out", "x.terrapin"]).assert().code(3);
    assert!(String::from_utf8_lossy(&told.get_output().stderr).contains("--osc applies it to a snapshot"));
    let told =
        terrapin().current_dir(folder.path()).args(["load", "--base", "a.osc", "--out", "x.terrapin"]).assert().code(3);
    assert!(String::from_utf8_lossy(&told.get_output().stderr).contains("not a Terrapin snapshot"));
    for wrong in [&["--osc", "a.osc"][..], &["--osm", "before.osm", "--base", "before.terrapin"]] {
        terrapin().current_dir(folder.path()).args(["load", "--out", "x.terrapin"]).args(wrong).assert().code(2);
    }
}

/// Writes a replication folder that begins before the date of `before.terrapin`.
fn replication(folder: &Path) {
    let state = |number: u32, time: &str, content: &str| {
        let under = folder.join("000/000");
        std::fs::create_dir_all(&under).unwrap();
        let text = format!("#\nsequenceNumber={number}\ntimestamp={}\n", time.replace(':', "\\:"));
        std::fs::write(under.join(format!("{number:03}.state.txt")), &text).unwrap();
        std::fs::write(folder.join("state.txt"), text).unwrap();
        osc(&under, "changes", content);
        pack(&under.join("changes"), &under.join(format!("{number:03}.osc.gz")));
    };
    state(7, "2020-01-01T12:00:00Z", "<create><node id='8' version='1' lat='0' lon='0'/></create>");
    state(6, "2020-01-01T00:00:00Z", "");
    state(8, "2020-01-02T12:00:00Z", FIRST);
    state(9, "2020-01-03T12:00:00Z", SECOND);
}

#[test]
fn a_mirrored_folder_leads_to_a_moment() {
    let folder = small();
    replication(&folder.path().join("mirror"));
    let arguments = ["--base", "before.terrapin", "--replication", "mirror"];
    let all = load(arguments, folder.path(), "a.terrapin");
    assert_eq!(all["replication_timestamp"], "2020-01-03T12:00:00Z");
    assert_eq!(all["sources"].as_array().unwrap().len(), 4);
    assert_eq!(all["counts"]["nodes"], 4);
    let until = arguments.into_iter().chain(["--until", "2020-01-03T00:00:00Z"]);
    let some = load(until, folder.path(), "b.terrapin");
    assert_eq!(some["replication_timestamp"], "2020-01-02T12:00:00Z");
    assert_eq!(some["counts"]["nodes"], 5);
    // Continues from that state.
    let rest = load(["--base", "b.terrapin", "--replication", "mirror"], folder.path(), "b.terrapin");
    assert_eq!((&rest["content"], rest["sources"].as_array().unwrap().len()), (&all["content"], 2));
    std::fs::remove_file(folder.path().join("mirror/000/000/008.state.txt")).unwrap();
    let gap =
        terrapin().current_dir(folder.path()).args(["load", "--out", "x.terrapin"]).args(arguments).assert().code(3);
    assert!(String::from_utf8_lossy(&gap.get_output().stderr).contains("a gap: 000/000/008.state.txt is missing"));
}

/// Serves the files of a folder over HTTP until the test ends; returns the address.
#[cfg(feature = "remote")]
fn serve(folder: &Path) -> String {
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, folder) = (listener.local_addr().unwrap(), folder.to_owned());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let name = head.next().unwrap_or_default().split(' ').nth(1).unwrap_or_default().to_owned();
            head.find(String::is_empty);
            let found = std::fs::read(folder.join(name.trim_start_matches("/planet/")));
            let (status, body) = found.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
        }
    });
    format!("http://{address}/planet")
}

#[test]
#[cfg(feature = "remote")]
fn changes_of_a_server_are_mirrored() {
    let (folder, server) = (small(), tempfile::tempdir().unwrap());
    replication(server.path());
    let address = serve(server.path());
    let base = ["--base", "before.terrapin", "--replication", &address];
    let arguments = base.into_iter().chain(["--mirror", "mirror"]);
    let until = arguments.clone().chain(["--until", "2020-01-03T00:00:00Z"]);
    let some = load(until, folder.path(), "b.terrapin");
    assert_eq!(some["replication_timestamp"], "2020-01-02T12:00:00Z");
    assert!(!folder.path().join("mirror/000/000/009.osc.gz").exists(), "later than what was asked for");
    let all = load(arguments.clone(), folder.path(), "a.terrapin");
    replication(&folder.path().join("whole"));
    let whole = load(["--base", "before.terrapin", "--replication", "whole"], folder.path(), "w.terrapin");
    assert_eq!(all["content"], whole["content"]);

    let fail = |arguments: &[&str]| {
        let load = ["load", "--out", "x.terrapin"];
        let told = terrapin().current_dir(folder.path()).args(load).args(arguments).assert().failure();
        let code = told.get_output().status.code().unwrap();
        (code, String::from_utf8_lossy(&told.get_output().stderr).into_owned())
    };
    let (code, said) = fail(&base);
    assert!(code == 2 && said.contains("--mirror DIR"), "{code}: {said}");
    std::fs::remove_file(server.path().join("000/000/008.osc.gz")).unwrap();
    let (code, said) = fail(&[&base[..], &["--mirror", "other"]].concat());
    assert!(code == 3 && said.contains("000/000/008.osc.gz is not on the server"), "{code}: {said}");
    let nothing = format!("{address}/none");
    let (code, said) = fail(&["--base", "before.terrapin", "--replication", &nothing, "--mirror", "third"]);
    assert!(code == 3 && said.contains("has no state.txt"), "{code}: {said}");
}

#[test]
fn metadata_is_left_out() {
    let folder = small();
    let bare = ["version", "timestamp"].iter().fold(AFTER.to_owned(), |text, name| {
        let (mut bare, mut rest) = (String::new(), text.as_str());
        while let Some((before, after)) = rest.split_once(&format!(" {name}='")) {
            bare.push_str(before);
            rest = after.split_once('\'').unwrap().1;
        }
        bare + rest
    });
    std::fs::write(folder.path().join("bare.osm"), bare.replace("<osm", "<osm version='0.6'")).unwrap();
    let bare = load(["--osm", "bare.osm"], folder.path(), "bare.terrapin");
    let without = load(["--osm", "after.osm", "--no-meta"], folder.path(), "without.terrapin");
    let with = info(folder.path(), "after.terrapin");
    assert_eq!(without["content"], bare["content"]);
    assert_ne!(without["content"], with["content"]);
    // The date of the data is still known.
    assert_eq!(without["data_timestamp"], with["data_timestamp"]);
    // Versions still determine which state is newest.
    let changed = ["--base", "before.terrapin", "--osc", "a.osc.gz", "b.osc", "--no-meta"];
    assert_eq!(load(changed, folder.path(), "changed.terrapin")["content"], bare["content"]);
}

#[test]
fn triples_are_taken_over() {
    let town = Town::with_quads("<http://a> <http://p> _:x <http://g> .\n_:y <http://p> _:y .\n");
    let folder = town.snapshot().parent().unwrap().to_owned();
    let before = info(&folder, "town.terrapin");
    assert_eq!(load(["--base", "town.terrapin"], &folder, "a.terrapin")["content"], before["content"]);
    std::fs::write(folder.join("more.nt"), "<http://b> <http://p> _:x .\n").unwrap();
    let more = load(["--base", "town.terrapin", "--rdf", "more.nt"], &folder, "b.terrapin");
    assert_eq!(more["triples"]["triples"], before["triples"]["triples"].as_u64().unwrap() + 1);
}

/// A load that replaces its base may be killed at any time: afterwards the file is either the complete old or the
/// complete new snapshot.
#[test]
fn a_killed_load_leaves_its_base_whole() {
    let source = place::shared().join("data/osm/niue.osm.pbf");
    if !source.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {}", source.display()));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let old = load(["--osm", source.to_str().unwrap()], folder.path(), "a.terrapin");
    osc(folder.path(), "a.osc", "<create><node id='1' version='1' lat='1' lon='1'/></create>");
    for moment in [0, 100, 200, 400, 800, 1600] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
        command.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        command.args(["load", "--base", "a.terrapin", "--osc", "a.osc", "--out", "a.terrapin"]);
        let mut process = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(moment));
        let _ = process.kill();
        process.wait().unwrap();
        terrapin().current_dir(folder.path()).args(["verify", "a.terrapin"]).assert().success();
        let now = info(folder.path(), "a.terrapin");
        let nodes = now["counts"]["nodes"].as_u64().unwrap() - old["counts"]["nodes"].as_u64().unwrap();
        assert!(nodes <= 1, "neither the old nor the new one");
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.len() <= 3, "{left:?}");
    }
}

fn osmium(folder: &Path, arguments: &[&str]) {
    let done = Command::new("osmium").current_dir(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Follows Niue's history step by step. Each snapshot is made from the previous one and the changes in between, and
/// must equal a load of the extract of that moment. Runs a few of a hundred steps, or all with TERRAPIN_ALL.
#[test]
fn a_history_of_changes_is_followed_step_by_step() {
    const STEPS: i64 = 100;
    let history = place::shared().join("data/osm/niue.osh.pbf");
    if !history.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {}", history.display()));
        return;
    }
    if !has_osmium() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stride = if skip::all() { 1 } else { 25 };
    let moment = |step: i64| {
        let (first, last): (jiff::Timestamp, jiff::Timestamp) =
            ("2008-06-01T00:00:00Z".parse().unwrap(), "2023-01-02T00:00:00Z".parse().unwrap());
        let seconds = first.as_second() + (last.as_second() - first.as_second()) * step / STEPS;
        jiff::Timestamp::from_second(seconds).unwrap().to_string()
    };
    let cut = |step: i64, name: &str| {
        let (history, moment) = (history.to_str().unwrap(), moment(step));
        osmium(folder.path(), &["time-filter", "--overwrite", "--output", name, history, &moment]);
    };
    cut(0, "old.osm.pbf");
    load(["--osm", "old.osm.pbf"], folder.path(), "a.terrapin");
    let mut steps = 0;
    for step in (stride..=STEPS).step_by(stride as usize) {
        cut(step, "new.osm.pbf");
        let ending = ["osc", "osc.gz", "osc.bz2"][(step / stride % 3) as usize];
        let changes = format!("changes.{ending}");
        osmium(folder.path(), &["derive-changes", "--overwrite", "--output", &changes, "old.osm.pbf", "new.osm.pbf"]);
        let made = load(["--base", "a.terrapin", "--osc", &changes], folder.path(), "a.terrapin");
        let whole = load(["--osm", "new.osm.pbf"], folder.path(), "b.terrapin");
        assert_eq!(made["content"], whole["content"], "step {step}, {}", moment(step));
        std::fs::rename(folder.path().join("new.osm.pbf"), folder.path().join("old.osm.pbf")).unwrap();
        steps += 1;
    }
    assert_eq!(steps, STEPS / stride);
}
