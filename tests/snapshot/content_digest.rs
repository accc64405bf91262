//! Computes the content digest a second time from the source data, according to `docs/concepts/content-digest.md`.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;

use crate::common::{TOWN, TRIPLES, place, skip, terrapin};
use flate2::Compression;
use flate2::write::GzEncoder;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;
use sha2::{Digest, Sha256};

type Attributes = BTreeMap<String, String>;

fn attributes(element: &BytesStart<'_>) -> Attributes {
    let text = |text: &str| quick_xml::escape::unescape(text).unwrap().into_owned();
    element.attributes().map(|a| a.unwrap()).map(|a| (text(a.key.as_ref()), text(&a.value))).collect()
}

fn number(record: &mut Vec<u8>, number: i64) {
    record.extend(number.to_le_bytes());
}

fn text(record: &mut Vec<u8>, text: &str) {
    number(record, text.len() as i64);
    record.extend(text.as_bytes());
}

/// Parses a position to units of 1e-7 degrees, without floating point.
fn position(text: &str) -> i64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    format!("{whole}{fraction:0<7}").parse().unwrap()
}

/// Returns the record of an element with its nodes or members and its tags.
fn record(kind: &str, own: &Attributes, parts: &[Attributes], mut tags: Vec<(String, String)>) -> Vec<u8> {
    let integer = |attributes: &Attributes, name: &str| attributes[name].parse::<i64>().unwrap();
    let mut record = vec![kind.as_bytes()[0]];
    number(&mut record, integer(own, "id"));
    number(&mut record, integer(own, "version"));
    number(&mut record, own["timestamp"].parse::<jiff::Timestamp>().unwrap().as_second());
    number(&mut record, integer(own, "changeset"));
    number(&mut record, integer(own, "uid"));
    text(&mut record, &own["user"]);
    if kind == "node" {
        number(&mut record, position(&own["lat"]));
        number(&mut record, position(&own["lon"]));
    } else {
        number(&mut record, parts.len() as i64);
    }
    for part in parts {
        if let Some(kind) = part.get("type") {
            record.push(kind.as_bytes()[0]);
        }
        number(&mut record, integer(part, "ref"));
        if let Some(role) = part.get("role") {
            text(&mut record, role);
        }
    }
    tags.sort();
    number(&mut record, tags.len() as i64);
    tags.iter().for_each(|(key, value)| {
        text(&mut record, key);
        text(&mut record, value);
    });
    record
}

/// Returns the records of a file's elements.
fn elements(xml: &str) -> Vec<Vec<u8>> {
    let mut reader = Reader::from_str(xml);
    let (mut records, mut own, mut parts, mut tags) = (Vec::new(), None, Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(e) if e.name().as_ref() != "osm" => own = Some(attributes(&e)),
            Event::Empty(e) if e.name().as_ref() == "tag" => {
                let mut tag = attributes(&e);
                tags.push((tag.remove("k").unwrap(), tag.remove("v").unwrap()));
            }
            Event::Empty(e) if e.name().as_ref() == "node" => {
                records.push(record("node", &attributes(&e), &[], Vec::new()));
            }
            Event::Empty(e) => parts.push(attributes(&e)),
            Event::End(e) => {
                if let Some(own) = own.take() {
                    let kind = e.name().as_ref().to_owned();
                    records.push(record(&kind, &own, &std::mem::take(&mut parts), std::mem::take(&mut tags)));
                }
            }
            Event::Eof => return records,
            _ => {}
        }
    }
}

/// Returns the records of triples, one per line. In canonical form, a number that is not negative has no sign.
fn triples(lines: &str) -> Vec<Vec<u8>> {
    let parts = |line: &str| {
        let mut record = vec![b't'];
        text(&mut record, "");
        line.trim_end_matches(" .").splitn(3, ' ').for_each(|term| text(&mut record, &term.replace("\"+", "\"")));
        record
    };
    lines.lines().map(parts).collect()
}

fn digest(records: &[Vec<u8>]) -> String {
    let mut hashes: Vec<[u8; 32]> = records.iter().map(|record| Sha256::digest(record).into()).collect();
    hashes.sort_unstable();
    let mut digest = Sha256::new();
    digest.update(b"terrapin content 1\n");
    digest.update((hashes.len() as u64).to_le_bytes());
    hashes.iter().for_each(|hash| digest.update(hash));
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn load(arguments: &[&Path], out: &Path) -> Value {
    let mut command = terrapin();
    command.arg("load").arg("--json").arg("--out").arg(out);
    for (option, file) in ["--osm", "--rdf"].into_iter().zip(arguments) {
        command.arg(option).arg(file);
    }
    command.assert().success();
    let told = terrapin().arg("info").arg("--json").arg(out).assert().success();
    serde_json::from_slice(&told.get_output().stdout).unwrap()
}

#[test]
fn it_is_what_its_page_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("town.osm"), TOWN).unwrap();
    std::fs::write(path("town.nt"), TRIPLES).unwrap();
    let alone = load(&[&path("town.osm")], &path("a.terrapin"));
    assert_eq!(alone["content"], digest(&elements(TOWN)));
    let both = load(&[&path("town.osm"), &path("town.nt")], &path("b.terrapin"));
    assert_eq!(both["content"], digest(&[elements(TOWN), triples(TRIPLES)].concat()));
    // `verify` computes the digest again.
    let told = terrapin().arg("verify").arg("--json").arg(path("b.terrapin")).assert().success();
    let told: Value = serde_json::from_slice(&told.get_output().stdout).unwrap();
    assert_eq!(told["content"], both["content"]);
}

#[test]
fn a_name_changes_neither_digest_and_another_compression_only_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("elsewhere")).unwrap();
    std::fs::write(path("town.osm"), TOWN).unwrap();
    std::fs::write(path("elsewhere/other.osm"), TOWN).unwrap();
    let mut packed = GzEncoder::new(std::fs::File::create(path("town.osm.gz")).unwrap(), Compression::best());
    packed.write_all(TOWN.as_bytes()).unwrap();
    packed.finish().unwrap();
    let plain = load(&[&path("town.osm")], &path("a.terrapin"));
    let named = load(&[&path("elsewhere/other.osm")], &path("b.terrapin"));
    let packed = load(&[&path("town.osm.gz")], &path("c.terrapin"));
    assert_eq!((&plain["digest"], &plain["content"]), (&named["digest"], &named["content"]));
    assert_eq!((&plain["sources"][0]["name"], &named["sources"][0]["name"]), (&"town.osm".into(), &"other.osm".into()));
    assert_ne!(plain["digest"], packed["digest"]);
    assert_eq!(plain["content"], packed["content"]);
    // A newer version is different data.
    std::fs::write(path("newer.osm"), TOWN.replacen("version=\"3\"", "version=\"4\"", 1)).unwrap();
    assert_ne!(plain["content"], load(&[&path("newer.osm")], &path("d.terrapin"))["content"]);
}

/// Reads a protocol buffer varint and advances `bytes`.
fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    value
}

/// Writes a protocol buffer field: a number, or bytes with their length.
fn field(message: &mut Vec<u8>, tag: u64, value: Result<u64, &[u8]>) {
    let mut number = |mut value: u64| {
        while value > 0x7f {
            message.push(value as u8 | 0x80);
            value >>= 7;
        }
        message.push(value as u8);
    };
    number(tag << 3 | if value.is_ok() { 0 } else { 2 });
    match value {
        Ok(value) => number(value),
        Err(bytes) => {
            number(bytes.len() as u64);
            message.extend(bytes);
        }
    }
}

/// Returns the fields of a message by tag: numbers, or bytes.
fn fields(mut message: &[u8]) -> BTreeMap<u64, Result<u64, &[u8]>> {
    let mut fields = BTreeMap::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = varint(&mut message);
        if tag & 7 == 0 {
            fields.insert(tag >> 3, Ok(value));
        } else {
            let (bytes, rest) = message.split_at(value as usize);
            (message, _) = (rest, fields.insert(tag >> 3, Err(bytes)));
        }
    }
    fields
}

/// Returns a PBF file with its blobs packed again. `pack` returns the tag of a blob's data and the data.
fn repacked(mut file: &[u8], pack: impl Fn(&[u8]) -> (u64, Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((length, rest)) = file.split_first_chunk::<4>() {
        let (header, rest) = rest.split_at(u32::from_be_bytes(*length) as usize);
        let Err(kind) = fields(header)[&1] else { panic!("a type") };
        let (blob, rest) = rest.split_at(fields(header)[&3].unwrap() as usize);
        file = rest;
        let Err(packed) = fields(blob)[&3] else { panic!("zlib") };
        let mut plain = Vec::new();
        flate2::read::ZlibDecoder::new(packed).read_to_end(&mut plain).unwrap();
        let (tag, data) = pack(&plain);
        let (mut blob, mut header) = (Vec::new(), Vec::new());
        if tag != 1 {
            field(&mut blob, 2, Ok(plain.len() as u64));
        }
        field(&mut blob, tag, Err(&data));
        field(&mut header, 1, Err(kind));
        field(&mut header, 3, Ok(blob.len() as u64));
        out.extend((header.len() as u32).to_be_bytes());
        out.extend(header);
        out.extend(blob);
    }
    out
}

#[test]
fn the_compression_of_blobs_does_not_change_the_content() {
    let source = place::shared().join("data/osm/niue.osm.pbf");
    let Ok(bytes) = std::fs::read(&source) else {
        skip::skipped(skip::Need::Shared, format_args!("no {}", source.display()));
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("zstd.osm.pbf"), repacked(&bytes, |plain| (7, zstd::encode_all(plain, 3).unwrap()))).unwrap();
    std::fs::write(path("raw.osm.pbf"), repacked(&bytes, |plain| (1, plain.to_owned()))).unwrap();
    std::fs::copy(&source, path("other.osm.pbf")).unwrap();
    let first = load(&[&source], &path("a.terrapin"));
    let other = load(&[&path("other.osm.pbf")], &path("b.terrapin"));
    assert_eq!((&first["digest"], &first["content"]), (&other["digest"], &other["content"]));
    for name in ["zstd.osm.pbf", "raw.osm.pbf"] {
        let packed = load(&[&path(name)], &path("c.terrapin"));
        assert_eq!(first["content"], packed["content"], "{name}");
        assert_ne!(first["digest"], packed["digest"], "{name}: the digest is of the sources' bytes, too");
        std::fs::remove_file(path("c.terrapin")).unwrap();
    }
}

#[test]
fn a_pin_may_hold_the_content_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("town.osm"), TOWN).unwrap();
    let town = load(&[&path("town.osm")], &path("a.terrapin"));
    let held = |pin: &str| {
        std::fs::write(path("pin.toml"), pin).unwrap();
        terrapin().arg("verify").arg(path("a.terrapin")).arg("--pin").arg(path("pin.toml")).assert()
    };
    let content = town["content"].as_str().unwrap();
    held(&format!("name = \"town\"\ncontent = \"{content}\"\n")).code(0);
    let wrong = held(&format!("name = \"town\"\ncontent = \"{}\"\n", "0".repeat(64))).code(1);
    assert!(String::from_utf8_lossy(&wrong.get_output().stderr).contains("its content digest is"));
    held("name = \"town\"\n").code(3);
    // If the digest is for another format than the file's, the content digest decides.
    let old = format!("digest = \"{}\"\nformat_version = 1\n", "1".repeat(64));
    held(&format!("name = \"town\"\n{old}content = \"{content}\"\n")).code(0);
    held(&format!("name = \"town\"\n{old}")).code(1);
}
