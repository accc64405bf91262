//! Tests that all data of a snapshot can be read again, through every kind of access.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::place;
use crate::common::skip;
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::{BoundingBox, Coord, ElementRef, ElementType, Osm};
use terrapin::snapshot::{Snapshot, verify};
use terrapin_loaders as loaders;

fn shared(file: &str) -> Option<PathBuf> {
    let root = place::shared();
    let path = root.join("data/osm").join(file);
    if path.exists() {
        return Some(path);
    }
    skip::skipped(skip::Need::Shared, format_args!("{file} is not there (set TERRAPIN_SHARED)"));
    None
}

type Tags = BTreeMap<String, String>;
/// Type, id and role of each member.
type Members = Vec<(u8, i64, String)>;
/// Version, timestamp, changeset, user id, user name.
type Meta = (u32, i64, i64, i64, String);

#[derive(Default)]
struct PlainStore {
    nodes: BTreeMap<i64, (Coord, Tags)>,
    ways: BTreeMap<i64, (Vec<i64>, Tags)>,
    relations: BTreeMap<i64, (Members, Tags)>,
    meta: BTreeMap<(u8, i64), Meta>,
}

fn plain(path: &Path) -> PlainStore {
    let mut all = PlainStore::default();
    let own = |tags: &[(&str, &str)]| tags.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect::<Tags>();
    let keep = |block: &loaders::ElementBlock| {
        let mut part = PlainStore::default();
        block.for_each(|element| {
            let (kind, id, meta) = match element {
                loaders::SourceElement::Node(n) => {
                    part.nodes.insert(n.id, (Coord { lat: n.lat, lon: n.lon }, own(n.tags)));
                    (0, n.id, n.meta)
                }
                loaders::SourceElement::Way(w) => {
                    part.ways.insert(w.id, (w.refs.to_vec(), own(w.tags)));
                    (1, w.id, w.meta)
                }
                loaders::SourceElement::Relation(r) => {
                    let members = r.members.iter().map(|m| (m.kind as u8, m.id, m.role.to_owned())).collect();
                    part.relations.insert(r.id, (members, own(r.tags)));
                    (2, r.id, r.meta)
                }
            };
            let meta = meta.map(|m| (m.version, m.timestamp, m.changeset, m.uid, m.user.to_owned()));
            part.meta.insert((kind, id), meta.unwrap_or_default());
        })?;
        Ok::<_, loaders::LoaderError>(part)
    };
    loaders::read(path, &loaders::ReadOptions::default(), keep, |mut part, _| {
        all.nodes.append(&mut part.nodes);
        all.ways.append(&mut part.ways);
        all.relations.append(&mut part.relations);
        all.meta.append(&mut part.meta);
        Ok(())
    })
    .unwrap();
    all
}

fn snapshot(source: &Path, folder: &Path, memory: u64) -> PathBuf {
    let out = folder.join(format!("{memory}.terrapin"));
    load(&LoadOptions { osm: Some(source.to_owned()), memory, ..LoadOptions::new(out.clone()) }, &Quiet).unwrap();
    out
}

fn tags(osm: &Osm, kind: ElementType, ordinal: u64) -> Tags {
    let (page, slot) = osm.place(kind, ordinal);
    osm.tag_page(kind, page)
        .tags(slot)
        .iter()
        .map(|&pair| (osm.key_name(osm.key_of(pair)).to_owned(), osm.with_value(pair, str::to_owned)))
        .collect()
}

fn compare(file: &str) {
    let Some(source) = shared(file) else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = snapshot(&source, folder.path(), 4 << 30);
    let plain = plain(&source);
    let osm = Osm::open(Arc::new(Snapshot::open(&path).unwrap())).unwrap();

    let ids: [Vec<i64>; 3] = [
        plain.nodes.keys().copied().collect(),
        plain.ways.keys().copied().collect(),
        plain.relations.keys().copied().collect(),
    ];
    for kind in ElementType::ALL {
        let ids = &ids[kind as usize];
        assert_eq!(osm.count(kind), ids.len() as u64);
        let ordinals: Vec<u64> = ids.iter().map(|&id| osm.find(kind, id).unwrap()).collect();
        assert_eq!(&osm.ids(kind, &ordinals), ids);
        assert_eq!(ordinals.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert_eq!(osm.find(kind, i64::MAX), None);
        assert_eq!(osm.find(kind, i64::MIN), None);
        let mut postings: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
        for (&id, &ordinal) in ids.iter().zip(&ordinals) {
            let expected = match kind {
                ElementType::Node => &plain.nodes[&id].1,
                ElementType::Way => &plain.ways[&id].1,
                ElementType::Relation => &plain.relations[&id].1,
            };
            assert_eq!(&tags(&osm, kind, ordinal), expected, "{kind:?} {id}");
            for (k, v) in expected {
                postings.entry((k.clone(), v.clone())).or_default().push(ordinal);
            }
            let (page, slot) = osm.place(kind, ordinal);
            let m = osm.meta_page(kind, page).meta(slot);
            let meta = (m.version, m.timestamp, m.changeset, m.uid, osm.user_name(m.user).to_owned());
            assert_eq!(meta, plain.meta[&(kind as u8, id)], "{kind:?} {id}");
        }
        let mut by_key: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for ((k, v), mut list) in postings {
            list.sort_unstable();
            let pair = osm.pair(&k, &v).unwrap();
            assert_eq!(&*osm.posting(kind, pair), &list, "{k}={v}");
            assert_eq!(osm.posting_len(kind, pair), list.len() as u64);
            by_key.entry(k).or_default().append(&mut list);
        }
        for (k, mut list) in by_key {
            list.sort_unstable();
            let key = osm.key(&k).unwrap();
            assert_eq!(&*osm.key_posting(kind, key), &list, "{k}");
            assert_eq!(osm.key_posting_len(kind, key), list.len() as u64);
        }
    }
    assert_eq!(osm.pair("highway", "no such value"), None);

    let mut node_ways: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for (&id, (nodes, _)) in &plain.ways {
        let (page, slot) = osm.place(ElementType::Way, osm.find(ElementType::Way, id).unwrap());
        let page = osm.way_page(page);
        assert_eq!(&osm.ref_ids(ElementType::Node, page.nodes(slot)), nodes);
        for (node, coord) in nodes.iter().zip(page.coords(slot)) {
            assert_eq!(*coord, plain.nodes.get(node).map_or(Coord::MISSING, |n| n.0));
            node_ways.entry(*node).or_default().insert(id);
        }
    }
    let mut parents: BTreeMap<(u8, i64), BTreeSet<i64>> = BTreeMap::new();
    for (&id, (members, _)) in &plain.relations {
        let (page, slot) = osm.place(ElementType::Relation, osm.find(ElementType::Relation, id).unwrap());
        let page = osm.relation_page(page);
        let ours: Vec<(u8, i64, String)> = page
            .members(slot)
            .iter()
            .map(|m| (m.kind as u8, osm.ref_ids(m.kind, &[m.element])[0], osm.role(m.role).to_owned()))
            .collect();
        assert_eq!(&ours, members);
        members.iter().for_each(|m| {
            parents.entry((m.0, m.1)).or_default().insert(id);
        });
    }
    for (&id, (coord, _)) in &plain.nodes {
        let ordinal = osm.find(ElementType::Node, id).unwrap();
        assert_eq!(osm.coords(&[ordinal]), [*coord]);
        let ways = osm.ids(ElementType::Way, &osm.ways_of_nodes(&[ordinal]));
        assert_eq!(ways.into_iter().collect::<BTreeSet<_>>(), node_ways.remove(&id).unwrap_or_default());
    }
    for kind in ElementType::ALL {
        for &id in &ids[kind as usize] {
            let up = osm.relations_of(kind, &[osm.find(kind, id).unwrap()]);
            let up: BTreeSet<i64> = osm.ids(ElementType::Relation, &up).into_iter().collect();
            assert_eq!(up, parents.remove(&(kind as u8, id)).unwrap_or_default());
        }
    }

    // The pages for a box contain every node in it.
    let all: Vec<Coord> = plain.nodes.values().map(|n| n.0).collect();
    let middle = all[all.len() / 2];
    let area = BoundingBox {
        south: middle.lat - 50_000,
        west: middle.lon - 50_000,
        north: middle.lat + 50_000,
        east: middle.lon + 50_000,
    };
    let found: usize = osm
        .pages_in(ElementType::Node, &area)
        .iter()
        .map(|&page| osm.node_page(page).coords.iter().filter(|c| area.contains(**c)).count())
        .sum();
    assert_eq!(found, all.iter().filter(|c| area.contains(**c)).count());
    assert!(ElementRef::ordinal(osm.way_page(0).nodes(0)[0]).is_some());
    osm.check().unwrap();

    // The bytes do not depend on memory or the number of threads.
    let little = snapshot(&source, folder.path(), 1);
    assert!(std::fs::read(&path).unwrap() == std::fs::read(little).unwrap());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let single = one.install(|| snapshot(&source, folder.path(), 2));
    assert!(std::fs::read(&path).unwrap() == std::fs::read(single).unwrap());
    verify(&path).unwrap();
}

#[test]
fn niue_survives() {
    compare("niue.osm.pbf");
}

#[test]
fn monaco_survives() {
    compare("monaco.osm.pbf");
}

#[test]
fn history_loads_as_its_newest_state() {
    let (Some(history), Some(current)) = (shared("niue.osh.pbf"), shared("niue.osm.pbf")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (history, current) = (snapshot(&history, folder.path(), 5 << 30), snapshot(&current, folder.path(), 4 << 30));
    let counts = |path: &Path| Snapshot::open(path).unwrap().manifest().unwrap().counts;
    let (history, current) = (counts(&history), counts(&current));
    assert!(history.nodes >= current.nodes && history.ways >= current.ways, "{history:?} {current:?}");
}

/// Versions of two nodes, one of which was deleted, restored, and deleted again.
const HISTORY: &str = r#"<osm version="0.6">
  <node id="1" version="1" timestamp="2020-01-01T00:00:00Z" lat="1" lon="1"><tag k="name" v="old"/></node>
  <node id="1" version="2" timestamp="2021-01-01T00:00:00Z" lat="1" lon="2"><tag k="name" v="new"/></node>
  <node id="2" version="1" timestamp="2020-06-01T00:00:00Z" lat="3" lon="3"/>
  <node id="2" version="2" timestamp="2020-07-01T00:00:00Z" visible="false"/>
  <node id="2" version="3" timestamp="2020-08-01T00:00:00Z" lat="3" lon="4"/>
  <node id="2" version="4" timestamp="2021-06-01T00:00:00Z" visible="false"/>
  <way id="1" version="1" timestamp="2020-09-01T00:00:00Z"><nd ref="1"/><nd ref="2"/></way>
</osm>"#;

#[test]
fn a_history_loads_as_of_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("history.osm");
    std::fs::write(&history, HISTORY).unwrap();
    let load_at = |osm: &Path, at: &str| {
        let at: jiff::Timestamp = at.parse().unwrap();
        let options = LoadOptions {
            osm: Some(osm.to_owned()),
            at: Some(at.as_second()),
            memory: 1 << 26,
            ..LoadOptions::new(folder.path().join("at.terrapin"))
        };
        load(&options, &Quiet)
    };
    for (at, nodes, missing) in [
        ("2019-12-31T23:59:59Z", &[][..], 0),
        ("2020-01-01T00:00:00Z", &[(1, 10_000_000, 10_000_000)], 0),
        ("2020-06-30T00:00:00Z", &[(1, 10_000_000, 10_000_000), (2, 30_000_000, 30_000_000)], 0),
        ("2020-07-01T00:00:00Z", &[(1, 10_000_000, 10_000_000)], 0),
        ("2020-12-01T00:00:00Z", &[(1, 10_000_000, 10_000_000), (2, 30_000_000, 40_000_000)], 0),
        ("2021-06-01T00:00:00Z", &[(1, 10_000_000, 20_000_000)], 1),
    ] {
        let loaded = load_at(&history, at).unwrap();
        assert_eq!(loaded.manifest.counts.missing, [missing, 0, 0], "{at}");
        assert_eq!(loaded.manifest.replication_timestamp, at.parse::<jiff::Timestamp>().unwrap().as_second());
        let snapshot = Snapshot::open(&folder.path().join("at.terrapin")).unwrap();
        let osm = Osm::open(Arc::new(snapshot)).unwrap();
        let mut found = Vec::new();
        for page in 0..osm.page_count(ElementType::Node) {
            let page = osm.node_page(page);
            found.extend(page.ids.iter().zip(&page.coords).map(|(&id, at)| (id, at.lat, at.lon)));
        }
        found.sort_unstable();
        assert_eq!(found, nodes, "{at}");
    }

    // A file with a single state has no data about earlier dates.
    let current = folder.path().join("current.osm");
    std::fs::write(&current, HISTORY.lines().filter(|line| !line.contains("visible")).collect::<String>()).unwrap();
    let error = load_at(&current, "2020-12-01T00:00:00Z").unwrap_err();
    assert!(error.to_string().contains("not a history file"), "{error}");
}
