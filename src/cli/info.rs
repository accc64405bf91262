//! `terrapin info`: prints the sources and the counts of a snapshot.

use std::fmt::Write;
use std::path::PathBuf;

use super::{CommandError, open, stdout};
use crate::base::untrusted;
use crate::size;
use crate::snapshot::facts::{degrees, time};
use crate::snapshot::{Manifest, facts, hex};

/// Print the sources, licences and counts of a snapshot
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin info malta.terrapin
  terrapin info malta.terrapin --json | jq .counts")]
pub struct InfoArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &InfoArgs) -> Result<(), CommandError> {
    let opened = open::snapshot(&args.snapshot)?;
    let (digest, bytes) = (opened.snapshot.digest(), opened.snapshot.file_len());
    if args.json {
        stdout::print_json(&facts::to_json(&digest, bytes, &opened.manifest))
    } else {
        stdout::print(&for_people(&digest, bytes, &opened.manifest))
    }
}

/// Formats the manifest for people.
pub fn for_people(digest: &str, bytes: u64, manifest: &Manifest) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        // A file name, licence or remark must not look like a line of this output.
        let _ = writeln!(out, "{name:<12} {}", untrusted::line(&value));
    };
    let counts = &manifest.counts;
    line("snapshot", digest.to_owned());
    line("content", manifest.content.map(|content| hex(&content)).unwrap_or_default());
    line("file", format!("{}, format {}, {}", size::show(bytes), manifest.format_version, manifest.writer));
    for source in &manifest.sources {
        line("source", format!("{}, {}, {}", source.name, size::show(source.bytes), source.licence));
        line("", format!("sha256 {}", source.sha256));
    }
    line("data time", time(manifest.data_timestamp).unwrap_or_else(|| "unknown".into()));
    line("replication", time(manifest.replication_timestamp).unwrap_or_else(|| "unknown".into()));
    if let Some(sides) = manifest.bounding_box {
        let [south, west, north, east] = sides.map(degrees);
        line("box", format!("{south},{west},{north},{east}"));
    }
    let elements = [("nodes", counts.nodes), ("ways", counts.ways), ("relations", counts.relations)];
    for ((name, n), missing) in elements.into_iter().zip(counts.missing) {
        let besides =
            if missing > 0 { format!(" ({} referenced but missing)", size::count(missing)) } else { String::new() };
        line(name, size::count(n) + &besides);
    }
    let areas = &manifest.areas;
    let mut text = size::count(counts.areas);
    if areas.unclosed + areas.incomplete > 0 {
        let _ = write!(
            text,
            " (left out: {} with open rings, {} with members missing)",
            size::count(areas.unclosed),
            size::count(areas.incomplete)
        );
    }
    line("areas", text);
    line("tags", format!("{} under {} keys", size::count(counts.tags), size::count(counts.keys)));
    line("users", size::count(counts.users));
    if let Some(triples) = &manifest.triples {
        let (terms, predicates) = (size::count(triples.terms), size::count(triples.predicates));
        line("triples", format!("{} of {terms} terms, {predicates} predicates", size::count(triples.triples)));
        if let Some(newest) = time(triples.newest) {
            line("", format!("newest {newest}"));
        }
    }
    for remark in &manifest.remarks {
        line("remark", remark_line(remark));
    }
    out
}

/// Returns a remark for one line of a terminal. Of a long one, such as that of a recipe with hundreds of properties, the
/// beginning and the end; `terrapin info --json` has all of it.
pub(super) fn remark_line(remark: &str) -> String {
    const EACH: usize = 300;
    let remark = untrusted::line(remark);
    let chars = remark.chars().count();
    if chars <= 2 * EACH {
        return remark.into_owned();
    }
    let at = |n: usize| remark.char_indices().nth(n).map_or(remark.len(), |(at, _)| at);
    let (begin, end) = (&remark[..at(EACH)], &remark[at(chars - EACH)..]);
    format!("{begin} [{} characters: terrapin info --json] {end}", chars - 2 * EACH)
}

#[cfg(test)]
mod tests {
    use super::remark_line;

    #[test]
    fn long_remarks_are_cut_in_their_middle() {
        assert_eq!(remark_line(&"é".repeat(600)), "é".repeat(600));
        let line = remark_line(&format!("{}{}{}", "é".repeat(300), "x".repeat(1_000), "ü".repeat(300)));
        let expected = format!("{} [1000 characters: terrapin info --json] {}", "é".repeat(300), "ü".repeat(300));
        assert_eq!(line, expected);
    }
}
