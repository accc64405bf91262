//! Compares converted entities with Wikidata's own RDF of them.

use crate::{place, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use terrapin_loaders::wikidata::{self, Converter, RdfShape};
use terrapin_loaders::{LoaderError, rdf};

/// Returns the folder of Wikidata's data, if it exists.
fn folder() -> Option<PathBuf> {
    let shared = place::shared();
    let folder = shared.join("data/wikidata");
    if !folder.exists() {
        skip::skipped(skip::Need::Shared, "no shared/data/wikidata");
        return None;
    }
    Some(folder)
}

type Triples = Vec<[String; 3]>;

fn strings(batch: Vec<oxrdf::Triple>, into: &mut Triples) {
    into.extend(batch.into_iter().map(|t| [t.subject.to_string(), t.predicate.to_string(), t.object.to_string()]));
}

fn of_turtle(path: &Path) -> Triples {
    let mut triples = Vec::new();
    rdf::read::<LoaderError>(path, &rdf::RdfOptions::default(), |batch, _| {
        strings(batch.triples, &mut triples);
        Ok(())
    })
    .unwrap();
    triples
}

fn of_json(path: &Path, shape: RdfShape) -> Triples {
    let mut triples = Vec::new();
    // One of the files has only the first lines of a dump.
    let options = wikidata::WikidataOptions { skip_bad: true, ..wikidata::WikidataOptions::default() };
    let summary = wikidata::read::<LoaderError>(path, &options, &Converter::new(shape), |batch, _| {
        strings(batch, &mut triples);
        Ok(())
    })
    .unwrap();
    let cut = summary.errors.iter().filter(|error| error.to_string().contains("closing ]")).count() as u64;
    assert!(summary.bad == cut, "{:?}", summary.errors);
    triples
}

const VALUE: &str = "<http://www.wikidata.org/value/";
const ONTOLOGY: &str = "<http://wikiba.se/ontology#";

/// Returns the triples that an entity's JSON determines. The names of value nodes are replaced by their content; those
/// of blank nodes are removed.
fn canonical(id: &str, triples: &Triples) -> BTreeSet<String> {
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for [subject, predicate, object] in triples {
        if subject.starts_with(VALUE) && !predicate.ends_with("#quantityNormalized>") {
            values.entry(subject).or_default().push(format!("{predicate} {object}"));
        }
    }
    let mut replaced: BTreeMap<String, String> = BTreeMap::new();
    for (name, mut content) in values {
        content.sort();
        replaced.insert(name.to_owned(), format!("[{}]", content.join("; ")));
    }
    let name = |term: &str| match term {
        term if term.starts_with("_:") => "_:".to_owned(),
        term => replaced.get(term).cloned().unwrap_or_else(|| term.to_owned()),
    };
    let entity = format!("<http://www.wikidata.org/entity/{id}");
    let own = |subject: &str| match subject.strip_prefix(&entity) {
        Some(rest) => rest == ">" || rest.starts_with('-'),
        None => {
            let stub = ["<http://www.wikidata.org/entity/Q", "<http://www.wikidata.org/entity/P", "_:"];
            let stub = stub.into_iter().any(|start| subject.starts_with(start));
            // Predicates are described by their property, which is another entity.
            !stub && !subject.starts_with("<http://www.wikidata.org/entity/L") && !subject.contains("org/prop/")
        }
    };
    // The IRIs of external identifiers depend on their properties.
    let identifier = |predicate: &str, object: &str| {
        predicate.contains("-normalized/") && !object.starts_with(VALUE) && object.starts_with('<')
    };
    triples
        .iter()
        .filter(|[subject, predicate, object]| own(subject) && !identifier(predicate, object))
        .map(|[subject, predicate, object]| format!("{} {predicate} {}", name(subject), name(object)))
        .collect()
}

#[test]
fn entities_are_the_triples_that_wikidata_gives() {
    let Some(folder) = folder() else { return };
    let mut differences = 0;
    let mut entities = 0;
    let mut all: Vec<_> =
        std::fs::read_dir(folder.join("goldens")).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    for path in all.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let id = path.file_stem().unwrap().to_str().unwrap();
        let expected = canonical(id, &of_turtle(&path.with_extension("ttl")));
        let got = canonical(id, &of_json(path, RdfShape::Dump));
        for missing in expected.difference(&got) {
            println!("{id} - {missing}");
        }
        for surplus in got.difference(&expected) {
            println!("{id} + {surplus}");
        }
        differences += expected.symmetric_difference(&got).count();
        entities += 1;
        println!("{id}: {} triples compared", expected.len());
        assert!(expected.len() > 20);
    }
    assert_eq!((entities, differences), (9, 0));
}

#[test]
fn real_dumps_are_read_whole() {
    let Some(folder) = folder() else { return };
    let dumps = [
        ("wdsub-100lines.json.gz", 99),
        ("wikibase-dump-filter-entities.json.gz", 49),
        ("qrank-twenty_entities.json.bz2", 20),
    ];
    for (name, entities) in dumps {
        let path = folder.join(name);
        assert!(wikidata::is_dump(&path).unwrap());
        let triples = of_json(&path, RdfShape::Service);
        let counts = triples.iter().filter(|[_, predicate, _]| *predicate == format!("{ONTOLOGY}sitelinks>")).count();
        assert_eq!(counts, entities, "{name}");
        assert!(triples.iter().all(|[subject, _, object]| !subject.starts_with("_:") && !object.starts_with("_:")));
        // All triples can be written and read again.
        let mut text = tempfile::Builder::new().suffix(".nt").tempfile().unwrap();
        for [subject, predicate, object] in &triples {
            use std::io::Write;
            writeln!(text, "{subject} {predicate} {object} .").unwrap();
        }
        assert_eq!(of_turtle(text.path()), triples, "{name}");
        println!("{name}: {} triples", triples.len());
    }
}

#[test]
fn threads_do_not_show() {
    let Some(folder) = folder() else { return };
    let path = folder.join("wdsub-100lines.json.gz");
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| of_json(&path, RdfShape::Service))
    };
    assert!(on(1) == on(3));
}

#[test]
fn no_damage_of_a_dump_is_worse_than_bad_lines() {
    let Some(folder) = folder() else { return };
    let text = std::fs::read(folder.join("goldens/L42.json")).unwrap();
    let text: Vec<u8> = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).collect::<Vec<_>>().concat();
    let mut seed = 3_u32;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 4) as usize % below
    };
    let parts: Vec<&[u8]> =
        vec![b"\"", b"{", b"}", b"[]", b"null", b"-1", b"\"\"", b"1e999", b"\xff", b":", b",", b"P"];
    let mut lines = Vec::new();
    for _ in 0..300 {
        let mut line = text.clone();
        for _ in 0..=next(3) {
            let at = next(line.len());
            let until = (at + next(12)).min(line.len());
            line.splice(at..until, parts[next(parts.len())].iter().copied());
        }
        lines.extend(line);
        lines.push(b'\n');
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, &lines).unwrap();
    let options = wikidata::WikidataOptions { skip_bad: true, ..wikidata::WikidataOptions::default() };
    let read = |converter: &Converter| {
        let mut triples = Vec::new();
        let summary = wikidata::read::<LoaderError>(file.path(), &options, converter, |batch, _| {
            strings(batch, &mut triples);
            Ok(())
        });
        (summary.unwrap(), triples)
    };
    let (summary, triples) = read(&Converter::new(RdfShape::Service));
    assert_eq!((summary.entities + summary.bad, summary.errors.len()), (300, 10));
    assert!(summary.bad > 100 && summary.entities > 20, "{} bad", summary.bad);
    // All triples that were read can be written and read again.
    let mut text = tempfile::Builder::new().suffix(".nt").tempfile().unwrap();
    let lines: Vec<String> = triples.iter().map(|triple| format!("{} .\n", triple.join(" "))).collect();
    std::io::Write::write_all(&mut text, lines.concat().as_bytes()).unwrap();
    assert_eq!(of_turtle(text.path()), triples);
}
