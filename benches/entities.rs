//! Measures the accuracy and speed of the search for entities by name: `cargo bench --workspace --bench entities --
//! SNAPSHOT`.
//!
//! Draws a thousand labels of the snapshot with a seed (TERRAPIN_SEED): first an entity, each with the same
//! probability, then one of its labels. Each label is searched unchanged, in small letters, as its first half as if it
//! were being typed, and with a letter left out. Counts the searches that return the drawn entity first, and among the
//! first five. A label that several entities have does not determine which one is meant. Therefore three more numbers
//! are printed: the number of labels that only one entity has, the number of these that find it, and the number of all
//! labels that find any entity with the label. Among entities with the same label, the drawn one has the same
//! probability at every position, regardless of their order. `possible` is the expected number of drawn entities among
//! the first five if only entities with the label are there; no order exceeds it. A second list draws texts instead,
//! each with the same probability, and then one of the entities with the text. Every list runs twice: prints the times
//! of the second run, and those of the first in parentheses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oxrdf::{NamedNodeRef, Term};
use terrapin::entities::{EntityId, EntityKind, EntityQuery, Languages, chain, find};
use terrapin::rdf::Store;
use terrapin::snapshot::Snapshot;

/// The number of labels to draw.
const DRAWN: usize = 1000;
const SEED: u64 = 15;
/// The number of results to check.
const SHOWN: usize = 5;

/// A drawn label.
struct Drawn {
    id: EntityId,
    text: String,
    language: String,
    /// The entities of the same kind with the label, in its language.
    same: Vec<EntityId>,
}

/// A generator of pseudorandom numbers (SplitMix64).
struct EntityBenchRandom(u64);

impl EntityBenchRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % end.max(1) as u64) as usize
    }
}

fn seed() -> u64 {
    std::env::var("TERRAPIN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED)
}

/// Draws texts, and for each text one of the entities that have it.
fn drawn_texts(store: &Store) -> Vec<Drawn> {
    let label = NamedNodeRef::new_unchecked("http://www.w3.org/2000/01/rdf-schema#label");
    let label = store.id(label.into()).expect("labels");
    let mut texts: BTreeMap<_, Vec<EntityId>> = BTreeMap::new();
    for [entity, _, literal] in store.triples(None, Some(label), None) {
        if let Some(id) = EntityId::of_term(store, entity).filter(|id| id.kind != EntityKind::Lexeme) {
            texts.entry(literal).or_default().push(id);
        }
    }
    let all: Vec<_> = texts.into_iter().collect();
    let mut random = EntityBenchRandom(seed());
    let mut taken = std::collections::BTreeSet::new();
    while taken.len() < DRAWN.min(all.len()) {
        taken.insert(random.below(all.len()));
    }
    let drawn = taken.into_iter().filter_map(|at| {
        let (literal, having) = &all[at];
        let id = having[random.below(having.len())];
        let Some(Term::Literal(text)) = store.term(*literal) else { return None };
        Some(Drawn {
            id,
            text: text.value().to_owned(),
            language: text.language().unwrap_or_default().to_owned(),
            same: having.iter().copied().filter(|other| other.kind == id.kind).collect(),
        })
    });
    drawn.collect()
}

fn drawn(store: &Store) -> (usize, Vec<Drawn>) {
    let label = NamedNodeRef::new_unchecked("http://www.w3.org/2000/01/rdf-schema#label");
    let label = store.id(label.into()).expect("labels");
    let mut labels: BTreeMap<EntityId, Vec<_>> = BTreeMap::new();
    for [entity, _, literal] in store.triples(None, Some(label), None) {
        if let Some(id) = EntityId::of_term(store, entity).filter(|id| id.kind != EntityKind::Lexeme) {
            labels.entry(id).or_default().push(literal);
        }
    }
    let all: Vec<_> = labels.into_iter().collect();
    let mut random = EntityBenchRandom(seed());
    let mut taken = std::collections::BTreeSet::new();
    while taken.len() < DRAWN.min(all.len()) {
        taken.insert(random.below(all.len()));
    }
    let drawn = taken.into_iter().filter_map(|at| {
        let (id, literals) = &all[at];
        let literal = literals[random.below(literals.len())];
        let Some(Term::Literal(text)) = store.term(literal) else { return None };
        let others = store.triples(None, Some(label), Some(literal));
        let same =
            others.filter_map(|[entity, ..]| EntityId::of_term(store, entity)).filter(|other| other.kind == id.kind);
        Some(Drawn {
            id: *id,
            text: text.value().to_owned(),
            language: text.language().unwrap_or_default().to_owned(),
            same: same.collect(),
        })
    });
    (all.len(), drawn.collect())
}

fn found(store: &Store, kind: EntityKind, text: &str, language: &str) -> Vec<EntityId> {
    let languages = chain(language);
    let languages = Languages::These(&languages);
    let search = EntityQuery { text, kind, languages, limit: SHOWN, descriptions: true, slips: false };
    find(store, &search).into_iter().map(|found| found.id).collect()
}

/// Formats the median, the 90th and the 99th percentile.
fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: f64| times.get(((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1)));
    let ms = |part| at(part).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("{:7.3} {:7.3} {:7.3}", ms(0.5), ms(0.9), ms(0.99))
}

/// Runs a list twice and prints the results.
fn measure(store: &Store, what: &str, all: &[(&Drawn, String)]) {
    let mut lines = Vec::new();
    let (mut first, mut five, mut of_alone, mut any) = (0, 0, [0; 3], 0);
    for _ in 0..2 {
        (first, five, of_alone, any) = (0, 0, [0; 3], 0);
        let mut times = Vec::new();
        for (drawn, text) in all {
            let started = Instant::now();
            let found = found(store, drawn.id.kind, text, &drawn.language);
            times.push(started.elapsed());
            let place = found.iter().position(|id| *id == drawn.id);
            first += usize::from(place == Some(0));
            five += usize::from(place.is_some());
            any += usize::from(found.first().is_some_and(|id| drawn.same.contains(id)));
            let alone = drawn.same.len() == 1;
            if alone {
                of_alone[0] += 1;
                of_alone[1] += usize::from(place == Some(0));
                of_alone[2] += usize::from(place.is_some());
            }
            if (alone && place != Some(0) || place.is_none()) && std::env::var_os("TERRAPIN_SHOW").is_some() {
                println!("{} {:?}@{} of {}: {found:?}", drawn.id, text, drawn.language, drawn.same.len());
            }
        }
        lines.push(told(times));
    }
    let [alone, alone_first, alone_five] = of_alone;
    let share = |(drawn, _): &(&Drawn, String)| (SHOWN as f64 / drawn.same.len().max(1) as f64).min(1.0);
    let possible: f64 = all.iter().map(share).sum();
    println!(
        "{what:22} {} ms ({}) first {first:4}, in five {five:4} of {} (possible {possible:.1}); alone {alone_first:4}, {alone_five:4} of {alone}; any {any:4}",
        lines[1],
        lines[0],
        all.len()
    );
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        println!("entities: skipped: give a snapshot, cargo bench --bench entities -- SNAPSHOT");
        return;
    };
    let snapshot = Arc::new(Snapshot::open(Path::new(&path)).expect("a snapshot"));
    let sections = snapshot.manifest().expect("a manifest").sections.iter();
    let bytes: u64 = sections.filter(|section| section.name.starts_with("rdf.labels")).map(|section| section.len).sum();
    let share = bytes as f64 * 100.0 / snapshot.file_len() as f64;
    let store = Store::open(&snapshot).expect("it is whole").expect("triples");
    let (entities, drawn) = drawn(&store);
    let texts = store.labels().map_or(0, |labels| labels.len());
    println!(
        "{entities} entities with labels; {texts} texts in the index, {bytes} bytes, {share:.2} % of the snapshot"
    );
    println!("{:22} {:>7} {:>7} {:>7}", "", "median", "90 %", "99 %");
    let of = |make: &dyn Fn(&str) -> Option<String>| -> Vec<(&Drawn, String)> {
        drawn.iter().filter_map(|one| Some((one, make(&one.text)?))).collect()
    };
    measure(&store, "as it stands", &of(&|text| Some(text.to_owned())));
    let texts: Vec<Drawn> = drawn_texts(&store);
    measure(&store, "drawn as texts", &texts.iter().map(|one| (one, one.text.clone())).collect::<Vec<_>>());
    measure(&store, "in small letters", &of(&|text| Some(text.to_lowercase())));
    let half = |text: &str| Some(text.chars().take(text.chars().count().div_ceil(2).max(3)).collect());
    measure(&store, "its first half", &of(&half));
    measure(&store, "three letters", &of(&|text| Some(text.chars().take(3).collect())));
    let without = |text: &str| {
        let letters = text.chars().count();
        let all = text.chars().enumerate().filter(|(at, _)| *at != letters / 2);
        (letters > 6).then(|| all.map(|(_, letter)| letter).collect())
    };
    measure(&store, "without a letter", &of(&without));
}
