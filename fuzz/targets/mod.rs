//! The fuzz targets: one file for every parser of external bytes. A target's `check` must return for any input. Each
//! target decides what else it checks.

mod arrival;
mod chat;
mod csv;
mod front_end;
mod geometry;
mod http;
mod osm_xml;
mod overpass_xml;
mod pbf;
mod rdf;
mod recipe;
mod region;
mod reply;
mod run_folder;
mod server;
mod shortcuts;
mod snapshot;
mod sparql;
mod town;
mod wikidata;

pub use town::folder;

/// A fuzz target.
pub struct FuzzTarget {
    /// The name, which is also that of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Runs an input.
    pub check: fn(&[u8]),
    /// Returns the inputs to start with, in addition to the corpus.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that random changes insert into inputs.
    pub words: &'static [&'static str],
    /// The maximum length of an input, in bytes.
    pub longest: usize,
    /// The stack size of the program's threads for this task, in bytes.
    pub stack: usize,
}

/// The stack sizes of threads that parse and run queries, and of threads that the standard library or the runtime
/// starts.
const QUERIES: usize = terrapin::stack::STACK;
const OTHERS: usize = 2 << 20;

/// All fuzz targets.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "front_end",
        check: front_end::check,
        seeds: none,
        words: front_end::WORDS,
        longest: 64 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "overpass_xml",
        check: overpass_xml::check,
        seeds: overpass_xml::seeds,
        words: overpass_xml::WORDS,
        longest: 64 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "shortcuts",
        check: shortcuts::check,
        seeds: shortcuts::seeds,
        words: shortcuts::WORDS,
        longest: 32 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "csv",
        check: csv::check,
        seeds: csv::seeds,
        words: csv::WORDS,
        longest: 16 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "sparql",
        check: sparql::check,
        seeds: sparql::seeds,
        words: sparql::WORDS,
        longest: 64 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "geometry",
        check: geometry::check,
        seeds: geometry::seeds,
        words: geometry::WORDS,
        longest: 16 << 10,
        stack: QUERIES,
    },
    FuzzTarget { name: "pbf", check: pbf::check, seeds: pbf::seeds, words: &[], longest: 256 << 10, stack: OTHERS },
    FuzzTarget {
        name: "osm_xml",
        check: osm_xml::check,
        seeds: osm_xml::seeds,
        words: osm_xml::WORDS,
        longest: 256 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "wikidata",
        check: wikidata::check,
        seeds: wikidata::seeds,
        words: wikidata::WORDS,
        longest: 256 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "rdf",
        check: rdf::check,
        seeds: rdf::seeds,
        words: rdf::WORDS,
        longest: 256 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "snapshot",
        check: snapshot::check,
        seeds: snapshot::seeds,
        words: &[],
        longest: 16 * 13,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "history",
        check: snapshot::check_history,
        seeds: snapshot::history_seeds,
        words: &[],
        longest: 16 * 13,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "arrival",
        check: arrival::check,
        seeds: arrival::seeds,
        words: &[],
        longest: 2 + 16 * 6,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "http",
        check: http::check,
        seeds: http::seeds,
        words: http::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "feedback",
        check: http::check_feedback,
        seeds: http::feedback_seeds,
        words: http::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "score",
        check: http::check_score,
        seeds: http::score_seeds,
        words: http::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "chat",
        check: chat::check,
        seeds: chat::seeds,
        words: chat::WORDS,
        longest: 64 << 10,
        stack: QUERIES,
    },
    FuzzTarget {
        name: "recipe",
        check: recipe::check,
        seeds: recipe::seeds,
        words: recipe::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "region",
        check: region::check,
        seeds: region::seeds,
        words: region::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "reply",
        check: reply::check,
        seeds: reply::seeds,
        words: reply::WORDS,
        longest: 64 << 10,
        stack: OTHERS,
    },
    FuzzTarget {
        name: "run_folder",
        check: run_folder::check,
        seeds: run_folder::seeds,
        words: run_folder::WORDS,
        longest: 64 << 10,
        stack: QUERIES,
    },
];

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

/// Converts texts to inputs.
fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Runs an input of a target given by name, for fuzzers that only know names.
#[allow(dead_code, reason = "the other harness has more than names")]
pub fn check(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target of that name");
    (target.check)(input);
}

/// Ends the processes that targets have started.
pub fn end() {
    server::end();
}
