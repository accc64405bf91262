//! Runs fuzz targets with any compiler: first a target's corpus, then random changes of it for some time.
//!
//! Each target runs in its own process, on a thread with the smallest stack that the program uses for this task. An
//! input is a failure if it panics, overflows the stack, ends the process, takes too long or uses too much memory. It
//! is then kept in `fuzz/artifacts`.

mod mutate;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::targets::{FuzzTarget, TARGETS};

/// The maximum memory of an input, in bytes.
const MEMORY: u64 = 512 << 20;
/// The memory at which an input is stopped immediately, so that it does not exhaust the machine.
const TOO_MUCH: u64 = 3 << 30;
/// The interval between two checks of time and memory.
const LOOK: Duration = Duration::from_millis(2);
/// The maximum time of an input. Other work can delay a machine for seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// The options of the command line.
struct FuzzOptions {
    /// Parts of the names of the targets to run; empty for all.
    names: Vec<String>,
    /// The time for random changes of each target's corpus, in seconds.
    seconds: f64,
    /// A single input to run instead of the corpus.
    input: Option<PathBuf>,
    /// The seed of the random numbers.
    seed: u64,
    /// Whether this is the process in which a target runs.
    inside: bool,
    list: bool,
}

impl FuzzOptions {
    fn read() -> FuzzOptions {
        let variable = |name| std::env::var(name).ok();
        let seconds = variable("TERRAPIN_FUZZ_SECONDS").and_then(|text| text.parse().ok()).unwrap_or(1.0);
        let seed = variable("TERRAPIN_FUZZ_SEED").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut options = FuzzOptions { names: Vec::new(), seconds, input: None, seed, inside: false, list: false };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--inside" => options.inside = true,
                "--list" => options.list = true,
                "--input" => options.input = words.next().map(PathBuf::from),
                // Options that cargo passes to every test program are ignored.
                word if word.starts_with('-') => {}
                _ => options.names.push(word),
            }
        }
        options
    }
}

/// Returns the folder of the fuzz targets.
fn folder() -> PathBuf {
    crate::place::root().join("fuzz")
}

/// Returns the folder for failing inputs.
fn artifacts() -> PathBuf {
    let folder = std::env::var_os("TERRAPIN_FUZZ_ARTIFACTS").map_or_else(|| folder().join("artifacts"), PathBuf::from);
    std::fs::create_dir_all(&folder).expect("a folder for artifacts");
    folder
}

/// Runs the program with the options of the command line.
pub fn main() -> ExitCode {
    let options = FuzzOptions::read();
    let asked = |target: &&FuzzTarget| {
        let exact = options.inside && options.names.iter().any(|name| target.name == name);
        let part = !options.inside && options.names.iter().any(|name| target.name.contains(name.as_str()));
        exact || part || options.names.is_empty()
    };
    let targets: Vec<&FuzzTarget> = TARGETS.iter().filter(asked).collect();
    if options.list {
        targets.iter().for_each(|target| println!("{}: test", target.name));
        return ExitCode::SUCCESS;
    }
    if options.inside {
        return targets.first().map_or(ExitCode::FAILURE, |target| inside(target, &options));
    }
    println!("\nrunning {} fuzz targets, {} s of random inputs each", targets.len(), options.seconds);
    println!(
        "{:<14} {:>8} {:>10} {:>10} {:>10} {:>9}  outcome",
        "target", "corpus", "random", "a second", "memory", "slowest"
    );
    let failed = targets.iter().filter(|target| !outside(target, &options)).count();
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, targets.len() - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a target in another process. If an input ends it, keeps this input. Returns whether the target passed.
fn outside(target: &FuzzTarget, options: &FuzzOptions) -> bool {
    let place = super::targets::folder();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.env("TERRAPIN_FUZZ_FOLDER", place.path());
    command.args(["--inside", target.name]).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(input) = &options.input {
        command.arg("--input").arg(input);
    }
    let mut child = command.spawn().expect("this program again");
    let errors = child.stderr.take().expect("its errors");
    let errors = std::thread::spawn(move || {
        let lines: Vec<String> = BufReader::new(errors).lines().map_while(Result::ok).collect();
        lines
    });
    let (mut summary, mut helper) = (None, None);
    for line in BufReader::new(child.stdout.take().expect("its output")).lines().map_while(Result::ok) {
        match line.split_once(' ') {
            Some(("done", rest)) => summary = Some(rest.to_owned()),
            Some(("helper", pid)) => helper = Some(pid.to_owned()),
            _ => {}
        }
    }
    let status = child.wait().expect("its end");
    if let Some(pid) = helper.filter(|_| summary.is_none()) {
        let _ = Command::new("kill").arg(pid).status();
    }
    let running = running(target.name, child.id());
    let (name, said) = (target.name, errors.join().unwrap_or_default());
    match summary {
        Some(summary) if status.success() => {
            let _ = std::fs::remove_file(running);
            println!("{name:<14} {summary}");
            true
        }
        _ => {
            println!("{name:<14} FAILED: {status}");
            said.iter().rev().take(12).rev().for_each(|line| println!("    {line}"));
            if let Ok(input) = std::fs::read(&running) {
                let kept = artifacts().join(format!("{name}-{:016x}", hash(&input)));
                let _ = std::fs::rename(&running, &kept);
                println!("    its input, {} bytes, is in {}; again with", input.len(), kept.display());
                println!("    cargo test --test fuzz -- {name} --input {}", kept.display());
            }
            false
        }
    }
}

fn running(name: &str, process: u32) -> PathBuf {
    artifacts().join(format!(".{name}-{process}"))
}

/// Returns the FNV-1a hash, which is the same on every machine.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The state of the target's thread, for the thread that watches it.
struct TargetWatchdog {
    began: Instant,
    /// The start of the current input in milliseconds after `began`; 0 between inputs.
    since: AtomicU64,
    /// The maximum number of bytes that the process had allocated since this was last set.
    peak: AtomicU64,
}

/// The text of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn inside(target: &'static FuzzTarget, options: &FuzzOptions) -> ExitCode {
    // Panics of libraries that the program catches are no failure, therefore the text is only printed at the end.
    std::panic::set_hook(Box::new(|panic| {
        *PANIC.lock().unwrap_or_else(|e| e.into_inner()) = panic.to_string();
    }));
    let mut corpus = match &options.input {
        Some(path) => vec![std::fs::read(path).expect("the input")],
        None => corpus(target),
    };
    let seconds = if options.input.is_some() { 0.0 } else { options.seconds };
    let watched: &TargetWatchdog = Box::leak(Box::new(TargetWatchdog {
        began: Instant::now(),
        since: AtomicU64::new(0),
        peak: AtomicU64::new(0),
    }));
    std::thread::spawn(move || watch(watched));
    let seed = options.seed;
    let run = move || run(target, &mut corpus, seconds, seed, watched);
    let thread = std::thread::Builder::new().stack_size(target.stack).spawn(run).expect("a thread");
    let summary = thread.join();
    super::targets::end();
    match summary {
        Ok(Some(summary)) => {
            println!("done {summary}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{}", PANIC.lock().unwrap_or_else(|e| e.into_inner()));
            ExitCode::FAILURE
        }
    }
}

/// Ends the process if an input takes too long or uses far too much memory.
fn watch(watched: &TargetWatchdog) {
    loop {
        std::thread::sleep(LOOK);
        let held = terrapin::memory::process();
        watched.peak.fetch_max(held, Ordering::Relaxed);
        if held > TOO_MUCH {
            eprintln!("takes {} MiB", held >> 20);
            std::process::exit(70);
        }
        let since = watched.since.load(Ordering::Relaxed);
        let now = watched.began.elapsed().as_millis() as u64;
        if since != 0 && now.saturating_sub(since) > PATIENCE.as_millis() as u64 {
            eprintln!("takes longer than {PATIENCE:?}");
            std::process::exit(70);
        }
    }
}

fn corpus(target: &FuzzTarget) -> Vec<Vec<u8>> {
    let mut all = (target.seeds)();
    if let Ok(entries) = std::fs::read_dir(folder().join("corpus").join(target.name)) {
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        all.extend(paths.iter().map(|path| std::fs::read(path).expect("an input")));
    }
    assert!(!all.is_empty(), "{} has no corpus", target.name);
    all
}

/// Runs the corpus, then random changes of it. Returns a summary; `None` if an input is a failure.
fn run(
    target: &FuzzTarget,
    corpus: &mut [Vec<u8>],
    seconds: f64,
    seed: u64,
    watched: &TargetWatchdog,
) -> Option<String> {
    let mut try_it = Try { target, watched, slowest: Duration::ZERO, most: 0, file: keeper(target) };
    // The first run is not counted, because it allocates memory that is kept.
    try_it.one(&corpus[0])?;
    try_it.most = 0;
    for input in corpus.iter() {
        try_it.one(input)?;
    }
    let (began, mut random) = (Instant::now(), mutate::XorShift::new(seed));
    let mut count = 0_u64;
    while began.elapsed().as_secs_f64() < seconds {
        try_it.one(&random.change(corpus, target.words, target.longest))?;
        count += 1;
    }
    let rate = count as f64 / began.elapsed().as_secs_f64().max(1e-9);
    let (most, slowest) = (try_it.most as f64 / 1_048_576.0, try_it.slowest.as_secs_f64() * 1000.0);
    Some(format!("{:>8} {count:>10} {rate:>10.0} {most:>6.1} MiB {slowest:>6.0} ms  ok", corpus.len()))
}

fn keeper(target: &FuzzTarget) -> std::fs::File {
    std::fs::File::create(running(target.name, std::process::id())).expect("a file for the current input")
}

struct Try<'a> {
    target: &'a FuzzTarget,
    watched: &'a TargetWatchdog,
    slowest: Duration,
    most: u64,
    /// The file with the current input, in case it ends the process.
    file: std::fs::File,
}

impl Try<'_> {
    fn one(&mut self, input: &[u8]) -> Option<()> {
        self.file.set_len(input.len() as u64).expect("the file for the input");
        self.file.write_all_at(input, 0).expect("the file for the input");
        let before = terrapin::memory::process();
        self.watched.peak.store(before, Ordering::Relaxed);
        let start = Instant::now();
        self.watched.since.store((self.watched.began.elapsed().as_millis() as u64).max(1), Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| (self.target.check)(input)));
        self.watched.since.store(0, Ordering::Relaxed);
        self.slowest = self.slowest.max(start.elapsed());
        let peak = self.watched.peak.load(Ordering::Relaxed).max(terrapin::memory::process());
        let grown = peak.saturating_sub(before);
        self.most = self.most.max(grown);
        result.ok()?;
        if grown > MEMORY {
            *PANIC.lock().unwrap_or_else(|e| e.into_inner()) = format!("takes {} MiB", grown >> 20);
            return None;
        }
        let _ = std::io::stdout().flush();
        Some(())
    }
}
