//! Snapshots with hostile content and valid checksums: an attacker who writes a file can also write its checksums. An
//! input is a list of changes of the town's snapshot, or of the village's with all its versions. The snapshot is
//! written again with these changes, opened and queried.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use terrapin::budget::{Budget, Limits, StopReason, watched};
use terrapin::geocoder::{PlaceQuery, PlaceSearch, search};
use terrapin::osm::Osm;
use terrapin::osm::history::StateSettings;
use terrapin::overpass;
use terrapin::snapshot::{Manifest, PageWriter, PagedSection, Snapshot, SnapshotWriter, compress, verify};
use terrapin::sparql::{Environment, SparqlBounds, SparqlSettings, prepare};

/// The length of a change in bytes: section u16, page u16, kind u8, position u32, value u32.
const CHANGE: usize = 13;
/// In sections that are read in place: the number of bytes per checksum, and the length of the trailer after all
/// checksums.
const GRANULE: usize = 1 << 14;
const TRAILER: usize = 24;

/// The checksums of a section.
#[derive(Clone)]
enum ChecksumKind {
    /// One checksum for the whole section.
    Plain,
    /// One checksum per page. The section with the pages' offsets belongs to it.
    Paged,
    /// One checksum per granule, and the number in the trailer.
    Granules(u64),
}

#[derive(Clone)]
struct FuzzSection {
    name: String,
    kind: ChecksumKind,
    /// The pages of a paged section; otherwise a single one.
    pages: Vec<Vec<u8>>,
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// Returns the content and the trailer's number of a section that is read in place; `None` for other sections.
fn granules(bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
    let trailer = bytes.len().checked_sub(TRAILER)?;
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let len = usize::try_from(number(trailer)?).ok()?;
    let sums = bytes.get(len..trailer)?;
    if sums.len() != len.div_ceil(GRANULE) * 8 || sum(&bytes[len..trailer + 16]) != bytes[trailer + 16..] {
        return None;
    }
    Some((bytes[..len].to_vec(), number(trailer + 8)?))
}

/// The sections of a snapshot and its manifest.
type Base = (Vec<FuzzSection>, Manifest);

/// Returns the town's snapshot.
fn town() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| base(&super::town::opened().snapshot))
}

/// Returns the village's snapshot, with all its versions.
fn village() -> &'static Base {
    static BASE: OnceLock<Base> = OnceLock::new();
    BASE.get_or_init(|| base(&super::town::village()))
}

fn base(snapshot: &Arc<Snapshot>) -> Base {
    let manifest = snapshot.manifest().expect("a manifest").clone();
    let bytes = snapshot.bytes();
    let names: Vec<&str> = manifest.sections.iter().map(|section| section.name.as_str()).collect();
    let mut sections: Vec<FuzzSection> = Vec::new();
    for section in &manifest.sections {
        let name = section.name.clone();
        let before = sections.last().filter(|before| matches!(before.kind, ChecksumKind::Paged));
        if before.is_some_and(|before| name.strip_suffix(".starts") == Some(&before.name)) {
            // This section is written with its pages.
            continue;
        }
        let content = bytes[section.offset as usize..(section.offset + section.len) as usize].to_vec();
        let starts = format!("{name}.starts");
        let (kind, pages) = if let Some((content, number)) = granules(&content) {
            (ChecksumKind::Granules(number), vec![content])
        } else if names.contains(&starts.as_str()) {
            let pages = PagedSection::open(snapshot, &name, &Arc::default()).expect("where its pages are");
            (ChecksumKind::Paged, (0..pages.len()).map(|page| pages.read(page).expect("a page")).collect())
        } else {
            (ChecksumKind::Plain, vec![content])
        };
        sections.push(FuzzSection { name, kind, pages });
    }
    (sections, manifest)
}

pub fn seeds() -> Vec<Vec<u8>> {
    seeds_of(town())
}

pub fn history_seeds() -> Vec<Vec<u8>> {
    seeds_of(village())
}

fn seeds_of((sections, _): &Base) -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    for (section, of) in (0_u16..).zip(sections) {
        let len = of.pages.first().map_or(0, Vec::len) as u32;
        for (what, place, value) in
            [(0_u8, 0_u32, 255_u32), (2, 0, 1), (2, len / 2, 3), (3, len / 2, 0), (4, 0, 2), (1, 4, u32::MAX)]
        {
            let mut change = section.to_le_bytes().to_vec();
            change.extend_from_slice(&[0, 0, what]);
            change.extend_from_slice(&place.to_le_bytes());
            change.extend_from_slice(&value.to_le_bytes());
            all.push(change);
        }
    }
    all
}

/// Numbers at which arithmetic may overflow.
const LARGE: [u64; 8] = [u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 32, (1 << 32) - 1, 1 << 31, 1 << 16, 1 << 48];

fn apply(change: &[u8], sections: &mut [FuzzSection], manifest: &mut Manifest) {
    let half = |at: usize| usize::from(u16::from_le_bytes([change[at], change[at + 1]]));
    let whole = |at: usize| u32::from_le_bytes([change[at], change[at + 1], change[at + 2], change[at + 3]]);
    let (what, place, value) = (change[4], whole(5) as usize, whole(9));
    let count = sections.len();
    let (section, other) = (half(0) % count, value as usize % count);
    if what % 16 == 15 {
        let counts = &mut manifest.counts;
        let all = [
            &mut counts.nodes,
            &mut counts.ways,
            &mut counts.relations,
            &mut counts.areas,
            &mut counts.tags,
            &mut counts.keys,
            &mut counts.users,
        ];
        let at = place % all.len();
        if let Some(slot) = all.into_iter().nth(at) {
            *slot = LARGE[value as usize % LARGE.len()];
        }
        return;
    }
    if what % 16 == 14 {
        let pages = sections[other].pages.clone();
        sections[section].pages = pages;
        return;
    }
    let section = &mut sections[section];
    if section.pages.is_empty() {
        return;
    }
    if what % 16 == 13 {
        if let ChecksumKind::Granules(number) = &mut section.kind {
            *number = LARGE[value as usize % LARGE.len()];
        }
        return;
    }
    let page = half(2) % section.pages.len();
    if what % 16 == 12 {
        section.pages.truncate(page);
        return;
    }
    let bytes = &mut section.pages[page];
    let at = place % (bytes.len() + 1);
    let there = bytes.get(at).copied().unwrap_or(0);
    let mut put = |new: &[u8]| {
        let end = (at + new.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&new[..end - at]);
    };
    match what % 16 {
        0 => put(&[value as u8]),
        1 => put(&value.to_le_bytes()),
        2 => put(&LARGE[value as usize % LARGE.len()].to_le_bytes()),
        3 => bytes.truncate(at),
        4 => bytes.extend(std::iter::repeat_n(value as u8, place % 5000)),
        5 => drop(bytes.drain(at..(at + value as usize % 9).min(bytes.len()))),
        6 => put(&vec![0; value as usize % 64]),
        7 => bytes.insert(at, value as u8),
        8 => put(&[there.wrapping_add(value as u8)]),
        9 => put(&[there ^ (1 << (value % 8))]),
        10 => bytes.clear(),
        _ => put(&[0xff; 10]),
    }
}

fn write(sections: &[FuzzSection], manifest: Manifest, path: &std::path::Path) {
    let mut writer = SnapshotWriter::create(path).expect("a file");
    for section in sections {
        match section.kind {
            ChecksumKind::Plain => writer.section(&section.name, &section.pages.concat()).expect("written"),
            ChecksumKind::Paged => {
                let mut pages = PageWriter::begin(&mut writer, &section.name).expect("written");
                for page in &section.pages {
                    pages.push(&mut writer, &compress(page, 1).expect("packed")).expect("written");
                }
                pages.finish(&mut writer).expect("written");
            }
            ChecksumKind::Granules(number) => {
                let mut bytes = section.pages.concat();
                let mut end: Vec<u8> = bytes.chunks(GRANULE).flat_map(sum).collect();
                end.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                end.extend_from_slice(&number.to_le_bytes());
                end.extend_from_slice(&sum(&end));
                bytes.extend_from_slice(&end);
                writer.section(&section.name, &bytes).expect("written");
            }
        }
    }
    writer.finish(manifest).expect("written");
}

pub fn check(input: &[u8]) {
    ask(&changed(town(), input), &OVERPASS);
}

pub fn check_history(input: &[u8]) {
    ask(&changed(village(), input), &DATES);
}

/// Writes a snapshot with the changes of an input, and opens it.
fn changed((sections, manifest): &Base, input: &[u8]) -> Arc<Snapshot> {
    let (mut sections, mut manifest) = (sections.clone(), manifest.clone());
    input.chunks_exact(CHANGE).take(16).for_each(|change| apply(change, &mut sections, &mut manifest));
    let path = super::town::file("hostile.terrapin", &[]);
    write(&sections, manifest, &path);
    // All checksums are valid.
    Arc::new(verify(&path).expect("whole"))
}

const OVERPASS: [&str; 9] = [
    "[out:json];area[name=Ladle];nwr(area)[amenity];out meta center;",
    "[out:json];way(9.9,19.9,10.2,20.2)[highway];(._;>;);out meta geom;",
    "[out:json];node(1);<;<<;>>;out geom;",
    "[out:json];nwr[name~\"e$\"];out ids;",
    "[out:xml];nwr(9,19,11,21);out meta qt;",
    "[out:csv(::id,::user,name)];node(around:1000,10,20);out;node(user:ann);out;",
    "[out:json];rel(31);map_to_area;nwr(area)(if:version()>0);out count;is_in(10.005,20.005);out;",
    "[out:json];nwr[~\"a\"~\"b\"];out tags;way(bn);rel(bw);rel(br);out;node(w);out skel;",
    "[out:json];node(poly:\"9 19 9 21 11 21 11 19\");foreach(convert x ::geom=geom(),v=t[\"name\"];out geom;);",
];

const DATES: [&str; 5] = [
    "[date:\"2020-01-05T00:00:00Z\"];nwr(10,20,10.01,20.01);out meta geom;",
    "[adiff:\"2020-01-03T00:00:00Z\",\"2020-01-09T00:00:00Z\"];nwr(10,20,10.01,20.01);out meta geom;",
    "retro(\"2020-01-07T00:00:00Z\"){way[highway];(._;>;<<;);out meta;};timeline(way,1);out;",
    "nwr(changed:\"2020-01-02T00:00:00Z\",\"2020-01-12T00:00:00Z\")(10,20,10.01,20.01);out ids;",
    "[diff:\"2020-01-02T00:00:00Z\"];nwr(user_touched:u2)(10,20,10.01,20.01);out meta;",
];

const NAMES: [&str; 4] = ["bean", "Ladle Street", "lade", "l"];

const SPARQL: [&str; 7] = [
    "SELECT * { ?s ?p ?o } ORDER BY ?o",
    "SELECT * { wd:Q1 ?p ?o . ?x wdt:P131 wd:Q1 }",
    "SELECT * { ?a (wdt:P31/wdt:P279*) ?b . ?b ?p ?c }",
    "SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?m) { ?s ?p ?o FILTER(STR(?o) > \"a\") } GROUP BY ?p",
    "SELECT * { SERVICE wikibase:around { ?p wdt:P625 ?l . bd:serviceParam wikibase:center \"Point(20 10)\"^^geo:wktLiteral ; wikibase:radius \"100\" } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH ?g { ?s ?p ?o } }",
    "DESCRIBE wd:Q1",
];

fn ask(snapshot: &Arc<Snapshot>, overpass: &[&str]) {
    let limits = || Limits {
        deadline: Instant::now().checked_add(Duration::from_secs(1)),
        memory: Some(64 << 20),
        ..Limits::default()
    };
    if let Ok(osm) = Osm::open(snapshot.clone()) {
        // The memory of states does not count as memory of the query.
        osm.set_states(StateSettings {
            folder: super::town::scratch(),
            memory: 96 << 20,
            cache: 8 << 20,
            disk: u64::MAX,
        });
        for text in overpass {
            let script = overpass::parse(text).expect("a query");
            if let Err(failure) = overpass::run(&osm, &script, &limits(), &mut std::io::sink()) {
                let _ = failure.to_string();
            }
        }
        // A library parses the words of names, therefore the search runs within a budget.
        let budget = Arc::new(Budget::new(&limits()));
        for text in NAMES {
            let question = PlaceQuery::Text(text.to_owned());
            let found = watched(&budget, || search(&osm, &PlaceSearch::of(&question, 10, &|_| None)).len());
            assert!(!matches!(found, Err(StopReason::Panicked(_))), "{found:?}");
        }
        let _ = osm.check();
    }
    if let Ok(Some(environment)) = Environment::open(snapshot) {
        for text in SPARQL {
            let prepared = prepare(text, &SparqlSettings::default()).expect("a query");
            let bounds = SparqlBounds { limits: limits(), ..SparqlBounds::default() };
            let _ = prepared.run(&environment, &bounds, &mut super::sparql::FuzzSink);
        }
        let _ = environment.store.check();
    }
}
