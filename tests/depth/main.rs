//! Tests texts in both languages with every production nested, chained and repeated. No text may end the process,
//! whatever its result. Texts are parsed, planned, run and freed on the smallest stack that a thread of the program
//! has.
//!
//! By default each text is tried in one length, and some in three. TERRAPIN_ALL=1 tries all lengths up to the largest
//! body that a server accepts, which takes hours.

#[path = "../common/mod.rs"]
mod common;
mod overpass;
mod process;
mod serve;
mod sparql;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use terrapin::engine::{Engine, EngineOptions};
use terrapin::stack::STACK;

use common::Town;

/// The largest text: the maximum size of a request body.
const LARGEST: usize = 2 << 20;
/// Maximum CPU time of a text, which other processes on the machine do not affect. A text with disproportionate cost
/// takes minutes.
const PATIENCE: Duration = Duration::from_secs(20);
/// Returns the time limit of queries.
fn limit() -> Duration {
    Duration::from_millis(if is_all() { 2000 } else { 30 })
}

fn is_all() -> bool {
    std::env::var_os("TERRAPIN_ALL").is_some()
}

/// A text of adjustable length.
struct DepthCase {
    name: String,
    make: Box<dyn Fn(usize) -> String + Send + Sync>,
}

impl DepthCase {
    fn new(name: impl Into<String>, make: impl Fn(usize) -> String + Send + Sync + 'static) -> DepthCase {
        DepthCase { name: name.into(), make: Box::new(make) }
    }

    /// Returns a case of `before`, a number of items separated by `between`, and `after`. `#` in an item is replaced by
    /// its number.
    fn chain(before: &str, item: &str, between: &str, after: &str) -> DepthCase {
        let [before, item, between, after] = [before, item, between, after].map(str::to_owned);
        DepthCase::new(format!("{before}{item}{between}...{after}"), move |count| {
            let items: Vec<String> = (0..count).map(|i| item.replace('#', &i.to_string())).collect();
            format!("{before}{}{after}", items.join(&between))
        })
    }

    /// Returns a case of `before`, repeated `open`, `core`, the same number of `close`, and `after`.
    fn nest(before: &str, open: &str, core: &str, close: &str, after: &str) -> DepthCase {
        let [before, open, core, close, after] = [before, open, core, close, after].map(str::to_owned);
        DepthCase::new(format!("{before}{open}...{core}{close}...{after}"), move |count| {
            format!("{before}{}{core}{}{after}", open.repeat(count), close.repeat(count))
        })
    }

    /// Returns the text with this number of repetitions, or with fewer if it would exceed the largest length.
    fn text(&self, repeats: usize) -> String {
        let mut repeats = repeats;
        loop {
            let text = (self.make)(repeats);
            if text.len() <= LARGEST || repeats <= 1 {
                return text;
            }
            repeats = repeats * LARGEST / text.len() - 1;
        }
    }
}

/// Returns the numbers of repetitions to try for a case.
fn ladder(number: usize) -> &'static [usize] {
    match is_all() {
        true => &[30, 60, 100, 200, 390, 1000, 10_000, 100_000, LARGEST],
        false if number.is_multiple_of(29) => &[40, 390, 4000],
        false => &[390],
    }
}

/// Returns the CPU time of this thread, or the elapsed time if the system does not provide it.
fn used() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Tries all texts of the cases on a thread with the smallest stack of the program. `run` returns the outcome in a
/// word.
fn try_all(cases: &[DepthCase], run: impl Fn(&str) -> String + Send) {
    let tried = move || {
        let mut slow = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            let mut outcomes = Vec::new();
            let mut last = 0;
            for &repeats in ladder(number) {
                let text = case.text(repeats);
                if text.len() == last {
                    continue;
                }
                last = text.len();
                let start = used();
                // If the process ends, this is the last line of output.
                eprintln!("{} x {repeats}", case.name);
                let outcome = run(&text);
                let took = used().saturating_sub(start);
                outcomes.push(format!("{repeats}: {outcome} {} ms", took.as_millis()));
                if took > PATIENCE {
                    slow.push(format!("{} x {repeats}: {took:?}", case.name));
                }
            }
            println!("{}: {}", case.name, outcomes.join(", "));
        }
        assert!(slow.is_empty(), "these take too long: {slow:#?}");
    };
    std::thread::scope(|scope| {
        // TERRAPIN_STACK sets a smaller stack, to find out how much is needed.
        let stack = std::env::var("TERRAPIN_STACK").ok().and_then(|mib| mib.parse::<usize>().ok());
        let stack = stack.map_or(STACK, |mib| mib << 20);
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, tried).expect("a thread");
        thread.join().expect("no panic");
    });
}

struct DepthTown {
    _town: Town,
    engine: Engine,
}

fn open() -> DepthTown {
    let town = Town::with_triples();
    let engine = Engine::open(&town.snapshot(), EngineOptions::default()).expect("it opens");
    DepthTown { _town: town, engine }
}
