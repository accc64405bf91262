//! Tests triples in a snapshot: all loaded triples are returned, patterns have the same matches as in a list of
//! triples, and the file depends only on the set of triples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxrdf::{Term, Triple};
use terrapin::budget::{Budget, Limits};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::rdf::{EntityKind, Store, TermId, TermKind, TextRole, TripleView};
use terrapin::snapshot::Snapshot;

/// Returns some thousand triples with every kind of term, as lines of N-Triples.
fn lines() -> Vec<String> {
    let mut out = Vec::new();
    let wd = |n: u32| format!("<http://www.wikidata.org/entity/Q{n}>");
    let mut seed = 1_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for _ in 0..6000 {
        let object = match next(10) {
            8 => format!(
                "<<( {} <http://example.org/p> \"{}.50\"^^<http://www.w3.org/2001/XMLSchema#decimal> )>>",
                wd(next(400)),
                next(50)
            ),
            // Triple terms with blank nodes, also within each other.
            9 => match next(2) {
                0 => format!("<<( _:b{} <http://example.org/p> \"text\"@ar--rtl )>>", next(20)),
                _ => {
                    format!("<<( {} <http://example.org/p> <<( <urn:s> <urn:p> _:b{} )>> )>>", wd(next(400)), next(20))
                }
            },
            0 => format!("\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", next(50)),
            1 => format!("\"{}.50\"^^<http://www.w3.org/2001/XMLSchema#decimal>", next(50)),
            2 => format!("\"label {}\"@en", next(300)),
            3 => format!("\"label {}\"", next(300)),
            4 => format!("<http://example.org/{}>", next(300)),
            5 => format!("_:b{}", next(20)),
            _ => wd(next(400)),
        };
        let predicate = match next(6) {
            0 => "<http://www.w3.org/2000/01/rdf-schema#label>".to_owned(),
            n => format!("<http://www.wikidata.org/prop/direct/P{n}>"),
        };
        let subject = match next(10) {
            0 => format!("_:b{}", next(20)),
            1 => format!("<http://example.org/{}>", next(300)),
            _ => wd(next(400)),
        };
        out.push(format!("{subject} {predicate} {object} ."));
    }
    out
}

fn file(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

fn load_with(rdf: Vec<PathBuf>, out: &Path, memory: u64, threads: usize) -> String {
    let options = LoadOptions { rdf, memory, ..LoadOptions::new(out.to_owned()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| load(&options, &Quiet)).expect("it loads").digest
}

fn open(path: &Path) -> Arc<Store> {
    let snapshot = Arc::new(Snapshot::open(path).unwrap());
    Arc::new(Store::open(&snapshot).unwrap().expect("it has triples"))
}

fn terms(store: &Store, triple: [TermId; 3]) -> [Term; 3] {
    triple.map(|id| store.term(id).unwrap())
}

#[test]
fn patterns_are_answered_as_by_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines();
    let out = folder.path().join("x.terrapin");
    load_with(vec![file(folder.path(), "x.nt", &lines)], &out, 1 << 26, 2);
    let store = open(&out);

    let parser = oxrdfio::RdfParser::from_format(oxrdfio::RdfFormat::NTriples);
    let text = lines.join("\n");
    let expected: BTreeSet<String> = parser
        .for_slice(&text)
        .map(|quad| Triple::from(quad.unwrap()))
        .filter(|t| !t.to_string().contains("_:"))
        // Literals are returned in canonical form.
        .map(|t| t.to_string().replace(".50\"", ".5\""))
        .collect();
    let all: Vec<[TermId; 3]> = store.triples(None, None, None).collect();
    assert_eq!(all.len() as u64, store.len());
    assert!(all.is_sorted());
    let got: BTreeSet<String> = all
        .iter()
        .map(|t| terms(&store, *t))
        .map(|[s, p, o]| format!("{s} {p} {o}"))
        .filter(|triple| !triple.contains("_:"))
        .collect();
    assert_eq!(got, expected);

    // Ids are positions in sorted order; they map to terms and back.
    let predicates: Vec<TermId> = store.predicates().collect();
    for number in 0..store.terms() {
        let id = TermId::of_snapshot(number);
        let term = store.term(id).unwrap();
        assert_eq!(store.id(term.as_ref()), Some(id), "{term}");
        // Terms with blank nodes may be only in other triple terms.
        assert!(store.is_node(id) || predicates.contains(&id) || term.to_string().contains("_:"), "{term}");
        let kind = match term {
            Term::NamedNode(_) => TermKind::Iri,
            Term::BlankNode(_) => TermKind::BlankNode,
            Term::Literal(_) => TermKind::Literal,
            Term::Triple(_) => TermKind::Triple,
        };
        assert_eq!(store.kind(id), Some(kind));
    }

    let some = |t: [TermId; 3], mask: usize| [0, 1, 2].map(|i| (mask >> i & 1 == 1).then_some(t[i]));
    let budget = Arc::new(Budget::new(&Limits::default()));
    let view = TripleView::new(Arc::clone(&store), budget);
    let own = view.id(&oxrdf::NamedNode::new_unchecked("http://example.org/nobody").into());
    let asked = all.iter().step_by(97).copied().chain([[own; 3], [all[5][0], own, all[6][2]]]);
    for triple in asked {
        for mask in 0..8 {
            let [s, p, o] = some(triple, mask);
            let mut expected: Vec<_> = all
                .iter()
                .filter(|t| s.is_none_or(|s| s == t[0]) && p.is_none_or(|p| p == t[1]) && o.is_none_or(|o| o == t[2]))
                .copied()
                .collect();
            let got: Vec<_> = view.triples(s, p, o).map(|t| t.unwrap()).collect();
            assert_eq!(store.count(s, p, o), expected.len() as u64);
            let mut sorted = got.clone();
            sorted.sort();
            expected.sort();
            assert_eq!(sorted, expected);
        }
    }
    for predicate in store.predicates() {
        let counts = store.predicate(predicate);
        let of: Vec<_> = all.iter().filter(|t| t[1] == predicate).collect();
        assert_eq!(counts.triples, of.len() as u64);
        assert_eq!(counts.subjects, of.iter().map(|t| t[0]).collect::<BTreeSet<_>>().len() as u64);
        assert_eq!(counts.objects, of.iter().map(|t| t[2]).collect::<BTreeSet<_>>().len() as u64);
    }
    store.check().unwrap();
}

#[test]
fn the_file_depends_on_the_triples_alone() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines();
    let path = file(folder.path(), "x.nt", &lines);
    let out = folder.path().join("x.terrapin");
    let one = load_with(vec![path.clone()], &out, 1 << 30, 2);
    let bytes = std::fs::read(&out).unwrap();
    // With minimal memory, everything spills to temporary files.
    assert_eq!(load_with(vec![path.clone()], &out, 1, 1), one);
    assert_eq!(std::fs::read(&out).unwrap(), bytes);

    // The sources differ here, so only the sections are equal.
    let sections = |path: &Path| {
        let snapshot = Snapshot::open(path).unwrap();
        let sections = snapshot.manifest().unwrap().sections.iter().map(|s| (s.name.clone(), s.checksum));
        sections.collect::<Vec<_>>()
    };
    let expected = sections(&out);
    let mut turned = lines.clone();
    turned.reverse();
    turned.extend_from_slice(&lines[..1000]);
    load_with(vec![file(folder.path(), "turned.nt", &turned)], &out, 1 << 30, 2);
    assert_eq!(sections(&out), expected);

    // The triples in two files, in either order. Blank nodes are in only one of them.
    let (with, without): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line.contains("_:"));
    let parts = vec![file(folder.path(), "a.nt", &with), file(folder.path(), "b.nt", &without)];
    let one = load_with(parts.clone(), &out, 1 << 30, 2);
    assert_eq!(sections(&out), expected);
    assert_eq!(load_with(parts.into_iter().rev().collect(), &out, 1 << 22, 1), one);
}

/// Reads the whole index of entities' texts.
fn read_labels(store: &Store) {
    let Some(labels) = store.labels() else { return };
    for number in 0..labels.len() {
        labels.text(number as u32);
    }
    for kind in EntityKind::ALL {
        for said in [TextRole::Name, TextRole::Description] {
            for language in labels.languages(kind, said) {
                let part = labels.part(kind, said, &language);
                part.beginning("").iter().for_each(|word| drop(part.list(word)));
            }
        }
    }
}

#[test]
fn damage_is_found_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.terrapin");
    load_with(vec![file(folder.path(), "x.nt", &lines())], &out, 1 << 26, 2);
    let good = std::fs::read(&out).unwrap();
    let sections = Snapshot::open(&out).unwrap().manifest().unwrap().sections.clone();
    // Points are read only by searches for places.
    for section in sections.iter().filter(|s| s.name.starts_with("rdf.") && !s.name.starts_with("rdf.points")) {
        for at in [section.offset, section.offset + section.len / 2, section.offset + section.len - 1] {
            let mut bad = good.clone();
            bad[at as usize] ^= 0x10;
            let path = folder.path().join("bad.terrapin");
            std::fs::write(&path, &bad).unwrap();
            let snapshot = Arc::new(Snapshot::open(&path).unwrap());
            let Ok(Some(store)) = Store::open(&snapshot) else { continue };
            for triple in store.triples(None, None, None) {
                for id in triple {
                    if let Some(term) = store.term(id) {
                        store.id(term.as_ref());
                    }
                }
            }
            for predicate in store.predicates() {
                store.predicate(predicate);
                store.triples(None, Some(predicate), None).for_each(drop);
            }
            for number in store.predicates() {
                store.triples(None, None, Some(number)).for_each(drop);
            }
            for [_, _, object] in store.triples(None, None, None) {
                store.triples(None, None, Some(object)).for_each(drop);
            }
            read_labels(&store);
            assert!(store.check().is_err(), "{} at {at}", section.name);
        }
    }
}
