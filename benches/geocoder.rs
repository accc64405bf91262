//! Measures the search for places: `cargo bench --bench geocoder -- SNAPSHOT`.
//!
//! Searches a thousand names of the snapshot, at even distances in the order of the index. Therefore few are names of
//! towns, and most are names of streets, shops and stops. Each is searched unchanged, followed by the town or country
//! that contains it, as its first half as if it were being typed, and with a letter left out. The points of reverse
//! searches are some metres from a thousand nodes with a name. Every list runs twice: prints the times of the second
//! run, and those of the first in parentheses. Counts the searches whose first ten places contain an element with the
//! name.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use terrapin::geocoder::{Hit, PlaceLayer, PlaceQuery, PlaceSearch, ReverseQuery, nearest, search};
use terrapin::osm::names::words;
use terrapin::osm::{Coord, ElementType, Osm};
use terrapin::snapshot::Snapshot;

/// The number of searches of each kind.
const MEASURED: u64 = 1000;
/// The distance of a point from its node, in 1e-7 degrees.
const ASIDE: i32 = 300;

fn found(osm: &Osm, text: &str, typing: bool) -> Vec<Hit> {
    let question = PlaceQuery::Text(text.to_owned());
    search(osm, &PlaceSearch { typing, ..PlaceSearch::of(&question, 10, &|_| None) })
}

/// Formats the median, the 90th and the 99th percentile.
fn told(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |part: f64| times.get(((times.len() as f64 * part) as usize).min(times.len().saturating_sub(1)));
    let ms = |part| at(part).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    format!("{:7.3} {:7.3} {:7.3}", ms(0.5), ms(0.9), ms(0.99))
}

/// Runs a list twice and prints the results.
fn measure<T>(what: &str, all: &[T], run: impl Fn(&T) -> bool) {
    let mut lines = Vec::new();
    let mut good = 0;
    for _ in 0..2 {
        good = 0;
        let mut times = Vec::new();
        for one in all {
            let started = Instant::now();
            good += usize::from(run(one));
            times.push(started.elapsed());
        }
        lines.push(told(times));
    }
    println!("{what:24} {} ms ({}) {good:5} of {}", lines[1], lines[0], all.len());
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        println!("geocoder: skipped: give a snapshot, cargo bench --bench geocoder -- SNAPSHOT");
        return;
    };
    let snapshot = Arc::new(Snapshot::open(Path::new(&path)).expect("a snapshot"));
    let sections = snapshot.manifest().expect("a manifest").sections.iter();
    let bytes: u64 = sections.filter(|section| section.name.starts_with("names")).map(|section| section.len).sum();
    let share = bytes as f64 * 100.0 / snapshot.file_len() as f64;
    let osm = Osm::open(snapshot).expect("elements");
    let names = osm.names().expect("an index of names: load the extract again");
    println!("{} names, {bytes} bytes, {share:.2} % of the snapshot", names.len());

    let step = (names.len() / MEASURED).max(1);
    let some = (0..names.len()).step_by(step as usize).take(MEASURED as usize);
    let of_themselves = |name: &u32| names.rank(*name) <= 30;
    let texts: Vec<String> = some
        .map(|name| name as u32)
        .filter(of_themselves)
        .map(|name| osm.with_value(names.name(name).0, str::to_owned))
        .filter(|text| !words(text).is_empty() && !text.contains([',', ';']))
        .collect();
    let has = |hits: &[Hit], text: &str| {
        let wanted = words(text);
        hits.iter().any(|hit| hit.details.tags.iter().any(|(_, value)| words(value) == wanted))
    };
    println!("{:24} {:>7} {:>7} {:>7}", "", "median", "90 %", "99 %");
    measure("search", &texts, |text| has(&found(&osm, text, false), text));

    let within: Vec<(String, String)> = texts
        .iter()
        .filter_map(|text| {
            let hits = found(&osm, text, false);
            let around = hits.first()?.address.parts.last()?.details.tag("name")?.to_owned();
            Some((text.clone(), format!("{text}, {around}")))
        })
        .collect();
    measure("search, within something", &within, |(text, whole)| has(&found(&osm, whole, false), text));

    let half: Vec<(String, String)> = texts
        .iter()
        .map(|text| {
            let letters = text.chars().count();
            (text.clone(), text.chars().take(letters.div_ceil(2).max(3)).collect())
        })
        .collect();
    measure("typing", &half, |(text, begun)| has(&found(&osm, begun, true), text));
    let three: Vec<String> = texts.iter().map(|text| text.chars().take(3).collect()).collect();
    measure("typing, three letters", &three, |begun| !found(&osm, begun, true).is_empty());

    let slips: Vec<(String, String)> = texts
        .iter()
        .filter(|text| text.chars().count() > 6)
        .map(|text| {
            let middle = text.chars().count() / 2;
            let cut = text.chars().enumerate().filter(|(at, _)| *at != middle).map(|(_, letter)| letter).collect();
            (text.clone(), cut)
        })
        .collect();
    measure("search, a slip", &slips, |(text, cut)| has(&found(&osm, cut, false), text));

    let named = osm.key("name").map_or_else(|| [].into(), |key| osm.key_posting(ElementType::Node, key));
    let step = (named.len() / MEASURED as usize).max(1);
    let nodes: Vec<u64> = named.iter().copied().step_by(step).take(MEASURED as usize).collect();
    let points: Vec<Coord> = osm
        .coords(&nodes)
        .into_iter()
        .map(|at| Coord { lat: at.lat.saturating_add(ASIDE).min(900_000_000), ..at })
        .collect();
    for zoom in [18, 16, 10] {
        measure(&format!("reverse, zoom {zoom}"), &points, |at| {
            let near =
                ReverseQuery { at: *at, zoom, layers: &[PlaceLayer::Address, PlaceLayer::Poi], articles: &|_| None };
            nearest(&osm, &near).is_some()
        });
    }
}
