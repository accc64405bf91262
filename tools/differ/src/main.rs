//! `terrapin-differ`: asks two programs that understand OverpassQL the same random queries and shows the smallest
//! queries that they answer differently.
//!
//! ```text
//! terrapin serve niue.terrapin --bind 127.0.0.1:8080 &
//! terrapin-differ niue.osm.pbf --reference 'osm3s_query --db-dir=niue --concise' \
//!     --tested http://127.0.0.1:8080/api/interpreter --count 5000 --cases found
//! ```
//!
//! The queries depend on the extract, the seed and the version of this program only.

mod compare;
mod extract;
mod generate;
mod piece;
mod random;
mod shrink;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use compare::{Difference, Verdict, compare};
use extract::Extract;
use generate::generate;
use shrink::shrink;
use source::{Answer, Source};

/// Ask two programs the same random OverpassQL and show where they differ
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// The extract that both have loaded
    extract: PathBuf,
    /// Who is right: the URL of an interpreter, or a command that reads a query and writes an answer, and errors to
    /// standard error
    #[arg(long)]
    reference: String,
    /// Who is tested, likewise
    #[arg(long)]
    tested: String,
    /// How many queries
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The number of the first query
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Another seed makes other queries
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Features not to use, by the names that the summary has: 'statement compare,setting diff'
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Write a file for each difference into this folder
    #[arg(long)]
    cases: Option<PathBuf>,
    /// How many queries are asked at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Stop after so many differences
    #[arg(long, default_value_t = 50)]
    most: usize,
    /// How many seconds an answer may take; queries that take longer are counted and left
    #[arg(long, default_value_t = 60)]
    patience: u64,
    /// Print the queries and their features, and ask nobody
    #[arg(long)]
    print: bool,
    /// Leave differences as large as they are
    #[arg(long)]
    no_shrink: bool,
}

/// What a run has found.
#[derive(Default)]
struct Found {
    features: BTreeMap<&'static str, u64>,
    same: u64,
    filled: u64,
    refused: u64,
    nothing: u64,
    differences: BTreeMap<u64, (Difference, String)>,
}

impl Found {
    fn count(&mut self, features: &[&'static str]) {
        for feature in features {
            *self.features.entry(feature).or_default() += 1;
        }
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let extract = Extract::read(&arguments.extract)?;
    eprintln!("{} elements to ask about", extract.len());
    let without: BTreeSet<String> = arguments.without.iter().map(|name| name.trim().to_owned()).collect();
    let numbers = arguments.from..arguments.from + arguments.count;
    if arguments.print {
        let mut found = Found::default();
        for number in numbers {
            let generated = generate(&extract, arguments.seed, number, &without);
            println!("{}", generated.query);
            found.count(&generated.features);
        }
        report(&found);
        return Ok(());
    }
    let patience = Duration::from_secs(arguments.patience);
    let (reference, tested) =
        (Source::parse(&arguments.reference, patience), Source::parse(&arguments.tested, patience));
    if let Some(folder) = &arguments.cases {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let next = AtomicU64::new(numbers.start);
    let found = Mutex::new(Found::default());
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let enough = found.lock().is_ok_and(|found| found.differences.len() >= arguments.most);
            if number >= numbers.end || enough {
                return Ok(());
            }
            let generated = generate(&extract, arguments.seed, number, &without);
            let text = generated.query.to_string();
            let ask = |query: &str| -> Result<(Verdict, Answer, Answer)> {
                let (a, b) = (reference.ask(query)?, tested.ask(query)?);
                Ok((compare(&a, &b), a, b))
            };
            let (verdict, ..) = ask(&text).with_context(|| format!("query {number}: {text}"))?;
            let mut smallest = None;
            if let Verdict::Differs(difference) = verdict {
                let differs = |query: &str| match ask(query) {
                    Ok((Verdict::Differs(difference), ..)) => Some(difference),
                    _ => None,
                };
                let query = match arguments.no_shrink {
                    true => text.clone(),
                    false => shrink(&generated.query, difference, differs).to_string(),
                };
                let (_, a, b) = ask(&query)?;
                if let Some(folder) = &arguments.cases {
                    let path = folder.join(format!("{}-{}-{number}.txt", difference.name(), arguments.seed));
                    let case = format!(
                        "query {number} of seed {}\n\n{text}\n\nsmallest form\n\n{query}\n\nreference\n\n{}\n\ntested\n\n{}\n",
                        arguments.seed,
                        shown(&a),
                        shown(&b)
                    );
                    std::fs::write(&path, case).with_context(|| format!("cannot write {}", path.display()))?;
                }
                println!("{number} {}: {query}", difference.name());
                smallest = Some((difference, query));
            }
            if number % 500 == 499 {
                eprintln!("{} of {} asked", number + 1 - numbers.start, arguments.count);
            }
            let Ok(mut found) = found.lock() else { return Ok(()) };
            found.count(&generated.features);
            match (verdict, smallest) {
                (Verdict::Same { elements, refused }, _) => {
                    found.same += 1;
                    found.filled += u64::from(elements > 0);
                    found.refused += u64::from(refused);
                }
                (Verdict::Nothing, _) => found.nothing += 1,
                (_, Some(smallest)) => drop(found.differences.insert(number, smallest)),
                _ => {}
            }
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    if let Ok(found) = found.into_inner() {
        report(&found);
    }
    Ok(())
}

/// An answer, cut where it is long.
fn shown(answer: &Answer) -> String {
    match answer {
        Answer::Body(body) => body.lines().take(200).collect::<Vec<_>>().join("\n"),
        Answer::Refused(lines) => format!("refused:\n{}", lines.join("\n")),
        Answer::Exhausted(line) => format!("exhausted: {line}"),
    }
}

fn report(found: &Found) {
    println!("\nfeature                                  uses");
    for (feature, uses) in &found.features {
        println!("{feature:<40} {uses}");
    }
    let asked = found.same + found.nothing + found.differences.len() as u64;
    println!(
        "\n{asked} queries: {} answered alike ({} of them with results, {} refused alike), {} out of time or memory, {} different",
        found.same,
        found.filled,
        found.refused,
        found.nothing,
        found.differences.len()
    );
    let mut kinds: BTreeMap<Difference, usize> = BTreeMap::new();
    for (difference, _) in found.differences.values() {
        *kinds.entry(*difference).or_default() += 1;
    }
    for (difference, count) in kinds {
        println!("  {:<8} {count}", difference.name());
    }
}
