//! Texts of both languages in which every production is nested, chained and repeated: none of them may end the process,
//! whatever it comes to. They are read, planned, run and freed on the smallest stack that a thread of ours has.
//!
//! By default each text is tried in one length, and some in three; TERRAPIN_ALL=1 takes all up to the largest body that a
//! server reads, which takes hours.

#[path = "../common/mod.rs"]
mod common;
mod overpass;
mod process;
mod serve;
mod sparql;

use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use terrapin::osm::Osm;
use terrapin::snapshot::Snapshot;
use terrapin::stack::STACK;

use common::Town;

/// The largest text: what a server reads of a body.
const LARGEST: usize = 2 << 20;
/// How much of a core's time one text may take, which other processes on the machine do not change. A text that takes a
/// time out of all proportion takes minutes.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time that queries are given.
fn limit() -> Duration {
    Duration::from_millis(if is_all() { 2000 } else { 30 })
}

fn is_all() -> bool {
    std::env::var_os("TERRAPIN_ALL").is_some()
}

/// A text that can be made as long as one likes.
struct Case {
    name: String,
    make: Box<dyn Fn(usize) -> String + Send + Sync>,
}

impl Case {
    fn new(name: impl Into<String>, make: impl Fn(usize) -> String + Send + Sync + 'static) -> Case {
        Case { name: name.into(), make: Box::new(make) }
    }

    /// `before`, a number of items between `between`, `after`; `#` in an item is its number.
    fn chain(before: &str, item: &str, between: &str, after: &str) -> Case {
        let [before, item, between, after] = [before, item, between, after].map(str::to_owned);
        Case::new(format!("{before}{item}{between}...{after}"), move |count| {
            let items: Vec<String> = (0..count).map(|i| item.replace('#', &i.to_string())).collect();
            format!("{before}{}{after}", items.join(&between))
        })
    }

    /// `before`, as many `open` as `close`, `core` within them, `after`.
    fn nest(before: &str, open: &str, core: &str, close: &str, after: &str) -> Case {
        let [before, open, core, close, after] = [before, open, core, close, after].map(str::to_owned);
        Case::new(format!("{before}{open}...{core}{close}...{after}"), move |count| {
            format!("{before}{}{core}{}{after}", open.repeat(count), close.repeat(count))
        })
    }

    /// The longest text of no more than so many repetitions and of the largest length.
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

/// The numbers of repetitions that are tried of a case.
fn ladder(number: usize) -> &'static [usize] {
    match is_all() {
        true => &[30, 60, 100, 200, 390, 1000, 10_000, 100_000, LARGEST],
        false if number.is_multiple_of(29) => &[40, 390, 4000],
        false => &[390],
    }
}

/// The time that this thread has had a core for; where the system does not tell, the time that has passed.
fn used() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Tries all texts of the cases on a thread with the smallest stack of ours. `run` says in a word what came of one.
fn try_all(cases: &[Case], run: impl Fn(&str) -> String + Send) {
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
                // The last line where the process ends here.
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
        // With less, to see how much is needed.
        let stack = std::env::var("TERRAPIN_STACK").ok().and_then(|mib| mib.parse::<usize>().ok());
        let stack = stack.map_or(STACK, |mib| mib << 20);
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, tried).expect("a thread");
        thread.join().expect("no panic");
    });
}

struct Opened {
    _town: Town,
    snapshot: Arc<Snapshot>,
    osm: Osm,
}

fn open() -> Opened {
    let town = Town::with_triples();
    let snapshot = Arc::new(Snapshot::open(&town.snapshot()).expect("it opens"));
    let osm = Osm::open(Arc::clone(&snapshot)).expect("it is whole");
    Opened { _town: town, snapshot, osm }
}
