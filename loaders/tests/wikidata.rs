//! Entities of Wikidata beside the RDF that Wikidata itself has of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use terrapin_loaders::wikidata::{self, Converter, Shape};
use terrapin_loaders::{Error, rdf};

/// The folder of Wikidata's content, if it is there.
fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("TERRAPIN_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("data/wikidata");
    if !folder.exists() {
        println!("skipped: no shared/data/wikidata");
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
    rdf::read::<Error>(path, &rdf::Options::default(), |batch, _| {
        strings(batch, &mut triples);
        Ok(())
    })
    .unwrap();
    triples
}

fn of_json(path: &Path, shape: Shape) -> Triples {
    let mut triples = Vec::new();
    wikidata::read::<Error>(path, &wikidata::Options::default(), &Converter::new(shape), |batch, _| {
        strings(batch, &mut triples);
        Ok(())
    })
    .unwrap();
    triples
}

const VALUE: &str = "<http://www.wikidata.org/value/";
const ONTOLOGY: &str = "<http://wikiba.se/ontology#";

/// The triples of an entity that can be told from its JSON, with the names of value nodes replaced by what they say and
/// those of blank nodes by none.
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
            // Predicates are described with their property, which is another entity.
            !stub && !subject.starts_with("<http://www.wikidata.org/entity/L") && !subject.contains("org/prop/")
        }
    };
    // What external identifiers stand for is said by their properties.
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
        let got = canonical(id, &of_json(path, Shape::Dump));
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
        let triples = of_json(&path, Shape::Service);
        let counts = triples.iter().filter(|[_, predicate, _]| *predicate == format!("{ONTOLOGY}sitelinks>")).count();
        assert_eq!(counts, entities, "{name}");
        assert!(triples.iter().all(|[subject, _, object]| !subject.starts_with("_:") && !object.starts_with("_:")));
        // All can be written and read again.
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
        pool.install(|| of_json(&path, Shape::Service))
    };
    assert!(on(1) == on(3));
}
