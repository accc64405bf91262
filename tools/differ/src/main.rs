//! `terrapin-differ`: asks two programs that understand OverpassQL the same random queries and shows the smallest
//! queries that they answer differently.
//!
//! ```text
//! terrapin serve niue.terrapin --bind 127.0.0.1:8080 &
//! terrapin-differ niue.osm.pbf --reference 'osm3s_query --db-dir=niue --concise' \
//!     --tested http://127.0.0.1:8080/api/interpreter --count 5000 --cases found
//! ```
//!
//! Over a history file (`niue.osh.pbf`), which `terrapin load --history` has loaded and the reference has got by
//! `update_database --keep-attic` from its changes, in the order of time, most queries ask at a date.
//!
//! The queries depend on the extract, the seed and the version of this program only. With `--journal`, a run that was
//! interrupted goes on where it was when the same command is given again.

mod compare;
mod extract;
mod generate;
mod piece;
mod random;
mod report;
mod shrink;
mod source;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use compare::{Verdict, compare};
use extract::SampledExtract;
use generate::generate;
use piece::QueryPiece;
use report::{DifferOutcome, DifferenceReport};
use shrink::shrink;
use source::{DifferSource, EngineAnswer};

/// Ask two programs the same random OverpassQL and show where they differ
#[derive(Debug, Parser)]
#[command(version)]
struct DifferArguments {
    /// The extract that both have loaded
    extract: PathBuf,
    /// The reference: the URL of an interpreter, or a command that reads a query from standard input, prints the
    /// answer, and reports errors on standard error
    #[arg(long)]
    reference: String,
    /// The tested program, in the same form
    #[arg(long)]
    tested: String,
    /// Number of queries
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
    /// Record the results in this file, and resume the run that it contains
    #[arg(long)]
    journal: Option<PathBuf>,
    /// Number of queries to run at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Stop after this many differences
    #[arg(long, default_value_t = 50)]
    most: usize,
    /// Timeout of an answer in seconds; slower queries are counted and skipped
    #[arg(long, default_value_t = 60)]
    timeout: u64,
    /// Print the queries and their features without running them
    #[arg(long)]
    print: bool,
    /// Leave differences as large as they are
    #[arg(long)]
    no_shrink: bool,
}

fn main() -> Result<()> {
    let arguments = DifferArguments::parse();
    let extract = SampledExtract::read(&arguments.extract)?;
    eprintln!("{} elements to ask about", extract.len());
    let without: BTreeSet<String> = arguments.without.iter().map(|name| name.trim().to_owned()).collect();
    let numbers = arguments.from..arguments.from + arguments.count;
    if arguments.print {
        let mut found = DifferenceReport::default();
        for number in numbers {
            let generated = generate(&extract, arguments.seed, number, &without);
            println!("{}", generated.query);
            found.count(number, &generated);
        }
        found.print();
        return Ok(());
    }
    let timeout = Duration::from_secs(arguments.timeout);
    let (reference, tested) =
        (DifferSource::parse(&arguments.reference, timeout), DifferSource::parse(&arguments.tested, timeout));
    if let Some(folder) = &arguments.cases {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let run = format!("{} seed {} without {without:?}", arguments.extract.display(), arguments.seed);
    let found = match &arguments.journal {
        Some(path) => DifferenceReport::resume(path, &run)?,
        None => DifferenceReport::default(),
    };
    let next = AtomicU64::new(numbers.start);
    let found = Mutex::new(found);
    let work = || -> Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return Ok(());
            }
            let generated = generate(&extract, arguments.seed, number, &without);
            {
                let Ok(mut found) = found.lock() else { return Ok(()) };
                if found.different() >= arguments.most {
                    return Ok(());
                }
                if found.has(number) {
                    found.count(number, &generated);
                    continue;
                }
            }
            let outcome = examine(&arguments, (&reference, &tested), number, &generated.query)?;
            if number % 500 == 499 {
                eprintln!("{} of {} asked", number + 1 - numbers.start, arguments.count);
            }
            let Ok(mut found) = found.lock() else { return Ok(()) };
            found.add(number, outcome)?;
            found.count(number, &generated);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    if let Ok(found) = found.into_inner() {
        found.print();
    }
    Ok(())
}

/// Asks both one query; where they differ, makes it smaller and writes it down.
fn examine(
    arguments: &DifferArguments,
    (reference, tested): (&DifferSource, &DifferSource),
    number: u64,
    query: &QueryPiece,
) -> Result<DifferOutcome> {
    let text = query.to_string();
    let ask = |query: &str| -> Result<(Verdict, EngineAnswer, EngineAnswer)> {
        let (a, b) = (reference.ask(query)?, tested.ask(query)?);
        Ok((compare(&a, &b), a, b))
    };
    let (verdict, a, b) = ask(&text).with_context(|| format!("query {number}: {text}"))?;
    let difference = match verdict {
        Verdict::Same { elements, refused } => return Ok(DifferOutcome::Alike { elements, refused }),
        Verdict::Nothing => {
            let side = |name: &str, answer: &EngineAnswer| match answer {
                EngineAnswer::Failed(why) => Some(format!("{name}: {why}")),
                _ => None,
            };
            let sides: Vec<String> = [side("reference", &a), side("tested", &b)].into_iter().flatten().collect();
            println!("{number} left, {}: {text}", sides.join(", "));
            let who = sides.iter().map(|side| side.split(" at line").next().unwrap_or(side));
            return Ok(DifferOutcome::Left(who.collect::<Vec<_>>().join(", ")));
        }
        Verdict::Differs(difference) => difference,
    };
    let differs = |query: &str| match ask(query) {
        Ok((Verdict::Differs(difference), ..)) => Some(difference),
        _ => None,
    };
    let smallest = match arguments.no_shrink {
        true => text.clone(),
        false => shrink(query, difference, differs).to_string(),
    };
    let (_, a, b) = ask(&smallest)?;
    if let Some(folder) = &arguments.cases {
        let path = folder.join(format!("{}-{}-{number}.txt", difference.name(), arguments.seed));
        let case = format!(
            "query {number} of seed {}\n\n{text}\n\nsmallest form\n\n{smallest}\n\nreference\n\n{}\n\ntested\n\n{}\n",
            arguments.seed,
            shown(&a),
            shown(&b)
        );
        std::fs::write(&path, case).with_context(|| format!("cannot write {}", path.display()))?;
    }
    println!("{number} {}: {smallest}", difference.name());
    Ok(DifferOutcome::Different(difference, smallest))
}

/// An answer, cut where it is long.
fn shown(answer: &EngineAnswer) -> String {
    match answer {
        EngineAnswer::Body(body) => body.lines().take(200).collect::<Vec<_>>().join("\n"),
        EngineAnswer::Refused(lines) => format!("refused:\n{}", lines.join("\n")),
        EngineAnswer::Failed(line) => format!("failed: {line}"),
    }
}
