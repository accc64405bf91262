//! `terrapin benchmark split`: splits a dataset without near duplicates across splits.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::super::eval::field_map;
use super::super::work::pool;
use super::super::{CommandError, stdout};
use super::pairs::{all_pairs, row};
use crate::eval::dataset::{self, GoldPair, SplitOptions, SplitPairs, SplitSizes};
use crate::eval::language::QueryLanguage;

/// Split a dataset: sizes by share, equal shares of each class, no near duplicates across splits
///
/// Near duplicates are pairs with questions or queries of a similarity of at least --near: for questions the Jaccard
/// index of word trigrams, for queries the mean of the indexes of token trigrams and of subtrees. They stay in one
/// split, and so do their near duplicates. The same files, options and seed give the same splits.
#[derive(Debug, clap::Args)]
#[command(after_help = "Writes SPLIT.jsonl for each split, in the format of `terrapin benchmark check`.

Examples:
  terrapin benchmark split all.jsonl --sizes train=0.8,dev=0.1,test=0.1 --out splits
  terrapin benchmark split queries.jsonl --sizes train=0.9,test=0.1 --by complexity --seed 7 --out splits")]
pub struct BenchmarkSplitArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Names and shares of the splits
    #[arg(long, value_name = "NAME=SHARE,...", default_value = "train=0.8,dev=0.1,test=0.1")]
    sizes: SplitSizes,
    /// Class of which every split gets its share
    #[arg(long, value_name = "CLASS", value_enum, default_value_t = Stratum::Auto)]
    by: Stratum,
    /// Seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Similarity from which two pairs are near duplicates, above 0.5; 1 keeps only equal ones together
    #[arg(long, value_name = "SHARE", default_value_t = dataset::NEAR, value_parser = super::pairs::similarity)]
    near: f64,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// Output folder; files of the same name are replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the sizes and classes of the splits as JSON
    #[arg(long)]
    json: bool,
}

/// The class that is balanced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Stratum {
    /// The class in the file if all pairs have one, else the difficulty
    Auto,
    /// The class in the file, or that of the SPARQL query's structure
    Complexity,
    /// The third of the pairs by length of the XML form (OverpassQL) or number of triple patterns (SPARQL)
    Difficulty,
    /// None
    None,
}

/// The output of `--json`.
#[derive(Serialize)]
struct SplitReport<'a> {
    instances: usize,
    near: f64,
    seed: u64,
    groups: usize,
    largest_group: usize,
    splits: BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
}

/// Runs the command.
pub fn run(args: &BenchmarkSplitArgs) -> Result<(), CommandError> {
    let pairs = all_pairs(&args.files, &field_map(&args.map)?)?;
    let options = SplitOptions { sizes: args.sizes.clone(), seed: args.seed, near: args.near };
    let (strata, found) = pool(0)?.install(|| {
        let strata = strata(&pairs, args.by);
        let found = dataset::split(&pairs, &strata, &options);
        (strata, found)
    });
    let names: Vec<&str> = args.sizes.names().collect();
    write(args, &pairs, &names, &found)?;
    let mut splits: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (split, stratum) in found.splits.iter().zip(&strata) {
        let name = names.get(*split).copied().unwrap_or_default();
        *splits.entry(name).or_default().entry(stratum).or_default() += 1;
    }
    let report = SplitReport {
        instances: pairs.len(),
        near: args.near,
        seed: args.seed,
        groups: found.groups,
        largest_group: found.largest,
        splits,
    };
    if args.json { stdout::print_json(&report) } else { stdout::print(&for_people(&report, &names)) }
}

fn for_people(report: &SplitReport<'_>, names: &[&str]) -> String {
    let mut text = String::new();
    for name in names {
        let classes = report.splits.get(name).cloned().unwrap_or_default();
        let size: usize = classes.values().sum();
        let share = 100.0 * size as f64 / report.instances.max(1) as f64;
        let classes: Vec<String> = classes.iter().map(|(class, count)| format!("{count} {class}")).collect();
        text += &format!("{name:<14} {size} ({share:.1} %): {}\n", classes.join(", "));
    }
    let (groups, largest) = (report.groups, report.largest_group);
    let number = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    text + &format!("{:<14} {}, the largest has {}\n", "near", number(groups, "group"), number(largest, "pair"))
}

/// Writes the files of the splits.
fn write(
    args: &BenchmarkSplitArgs,
    pairs: &[GoldPair],
    names: &[&str],
    found: &SplitPairs,
) -> Result<(), CommandError> {
    let failed = |e: std::io::Error| CommandError::system("output", format!("{}: {e}", args.out.display()));
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    for (number, name) in names.iter().enumerate() {
        let of_split = pairs.iter().zip(&found.splits).filter(|(_, split)| **split == number);
        let line = |pair: &GoldPair| {
            let mut row = row(pair);
            // The file's name is that of the new split.
            row.remove("split");
            format!("{}\n", Value::Object(row))
        };
        let lines: String = of_split.map(|(pair, _)| line(pair)).collect();
        std::fs::write(args.out.join(format!("{name}.jsonl")), lines).map_err(failed)?;
    }
    Ok(())
}

/// Returns the class of each pair.
fn strata(pairs: &[GoldPair], by: Stratum) -> Vec<String> {
    let by = match by {
        Stratum::Auto if pairs.iter().all(|pair| pair.complexity.is_some()) => Stratum::Complexity,
        Stratum::Auto => Stratum::Difficulty,
        other => other,
    };
    match by {
        Stratum::None => vec!["all".to_owned(); pairs.len()],
        Stratum::Complexity => pairs.iter().map(class).collect(),
        Stratum::Auto | Stratum::Difficulty => difficulties(pairs),
    }
}

fn class(pair: &GoldPair) -> String {
    let of_query = || match pair.language() {
        QueryLanguage::Sparql if pair.is_run_here() => dataset::complexity(&pair.query),
        _ => None,
    };
    let class = pair.complexity.clone().or_else(|| of_query().map(|class| class.name().to_owned()));
    class.unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the third of each pair by the size of its query's tree, within its language.
fn difficulties(pairs: &[GoldPair]) -> Vec<String> {
    // Without their splits, pairs are not compared with those of `train`.
    let alone: Vec<GoldPair> = pairs.iter().map(|pair| GoldPair { split: String::new(), ..pair.clone() }).collect();
    let sizes: Vec<(Option<&str>, u64)> = dataset::measures(&alone, &[])
        .iter()
        .zip(pairs)
        .map(|(measures, pair)| {
            let size = ["xml_components", "triple_patterns", "len_query"].iter().find_map(|name| measures.get(name));
            (pair.lang.as_deref(), size.copied().unwrap_or_default() as u64)
        })
        .collect();
    let mut bounds: BTreeMap<Option<&str>, (u64, u64)> = BTreeMap::new();
    for (lang, _) in &sizes {
        let own = || sizes.iter().filter(|(other, _)| other == lang).map(|(_, size)| *size);
        bounds.entry(*lang).or_insert_with(|| {
            let mut sorted: Vec<u64> = own().collect();
            sorted.sort_unstable();
            let at = |rank: usize| sorted.get(rank).copied().unwrap_or(u64::MAX);
            (at(sorted.len() / 3), at(2 * sorted.len() / 3))
        });
    }
    let third = |(lang, size): &(Option<&str>, u64)| match bounds.get(lang) {
        Some((easy, _)) if size < easy => "easy",
        Some((_, hard)) if size >= hard => "hard",
        _ => "medium",
    };
    sizes.iter().map(|size| third(size).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_group_and_one_pair_are_no_plurals() {
        let report = |groups, largest_group| SplitReport {
            instances: 1,
            near: 0.8,
            seed: 1,
            groups,
            largest_group,
            splits: BTreeMap::new(),
        };
        let last = |report| for_people(&report, &[]);
        assert_eq!(last(report(1, 1)), "near           1 group, the largest has 1 pair\n");
        assert_eq!(last(report(3, 2)), "near           3 groups, the largest has 2 pairs\n");
    }
}
