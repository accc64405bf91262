//! `terrapin benchmark init`: writes the description file of a benchmark.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::super::{CommandError, open, stdout};
use super::check::splits;
use super::pairs::pairs;

/// Start a benchmark: write its description file with name, authors and licence to fill in
///
/// The file has the snapshot with its digest, and the files of questions and gold queries. Fill in the rest;
/// `terrapin benchmark pack` reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin benchmark init malta.terrapin train.jsonl dev.jsonl --out benchmark.toml")]
pub struct BenchmarkInitArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Files of questions and gold queries, one per split
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Geocoded places as a JSON file in the format of OverpassNL's nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// File to write; an existing one is not overwritten
    #[arg(long, value_name = "FILE", default_value = "benchmark.toml")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &BenchmarkInitArgs) -> Result<(), CommandError> {
    let pairs = pairs(&args.files)?;
    let opened = open::snapshot(&args.snapshot)?;
    let seen = |path: &Path| toml::Value::from(from(&args.out, path).display().to_string()).to_string();
    let files: Vec<String> = args.files.iter().map(|file| seen(file)).collect();
    let places = args.places.as_deref().map(|path| format!("places = {}\n", seen(path))).unwrap_or_default();
    let content = opened.content().map(|content| format!("content = \"{content}\"\n")).unwrap_or_default();
    let text = format!(
        "# The benchmark, for `terrapin benchmark pack`. Paths are relative to this file's folder.\n\nfiles = [{}]\n\
         {places}# Kinds of findings to permit, such as \"empty\".\nallow = []\n\n[snapshot]\nfile = {}\ndigest = \
         \"{}\"\n{content}\n{ABOUT}",
        files.join(", "),
        seen(&args.snapshot),
        opened.snapshot.digest(),
    );
    write_new(&args.out, &text)?;
    let counts: Vec<String> = splits(&pairs).into_iter().map(|(split, count)| format!("{count} {split}")).collect();
    let out = args.out.display();
    stdout::print(&format!("{out}: {}\nfill it in, then: terrapin benchmark pack {out} --out DIR\n", counts.join(", ")))
}

/// The fields that the authors fill in.
const ABOUT: &str = "\
[about]
# In addresses: letters, digits, \"-\", \"_\" and \".\".
name = \"\"
# For people.
title = \"\"
version = \"1.0.0\"
# In Markdown.
description = \"\"
# Of questions and queries, as SPDX names it: CC-BY-4.0, ODbL-1.0, ...
license = \"\"
languages = [\"en\"]
keywords = []
# Where it is published.
url = \"\"
# When: a day such as 2026-01-31. Nothing is taken from the clock.
released = \"\"
# How to cite it.
bibtex = \"\"

[[about.authors]]
name = \"\"
orcid = \"\"
affiliation = \"\"
";

/// Returns a path relative to the folder of a file.
fn from(file: &Path, path: &Path) -> PathBuf {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(_) => std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
        None => path.to_owned(),
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::usage(format!("--out {}: the file exists and is not overwritten", path.display()))
        }
        _ => CommandError::system("output", format!("{}: {error}", path.display())),
    };
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)
}
