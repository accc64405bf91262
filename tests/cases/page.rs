//! Writes `docs/reference/features.md` from the case files.

use super::file::{CaseFile, folder};

/// The areas in the order of the page: folder, heading, description.
const AREAS: [(&str, &str, &str); 9] = [
    ("settings", "Settings", "At the very beginning of a query, before the first semicolon."),
    ("statements", "Statements", "The parts of a query; each ends with a semicolon."),
    ("filters", "Filters", "The conditions of a `node`, `way`, `rel`, `nwr`, ... statement."),
    ("evaluators", "Evaluators", "Expressions in `(if:...)`, `if`, `for`, `make`, `convert` and the like."),
    ("output", "Output", "The parts of an element that `out` writes, and the formats."),
    ("xml", "XML form", "The other form of the language, as input, and from one form to the other."),
    ("shortcuts", "Shortcuts of overpass turbo", "Replaced on the command line before a query is read."),
    ("errors", "Errors", "Rejected queries, with the texts of the errors."),
    (
        "found",
        "Found by comparison",
        "Differences to the reference that random queries found, kept so that they stay away.",
    ),
];

/// Returns the whole page.
pub fn write(files: &[CaseFile]) -> String {
    let mut out = String::from(
        "# Features of OverpassQL\n\n\
         <!-- Written by `make features` from tests/cases/overpass; do not edit. -->\n\n\
         Every feature of the language with its state. Each row is a file of cases in\n\
         [`tests/cases/overpass`](../../tests/cases/overpass): queries over the few made-up elements of\n\
         [`world.osm`](../../tests/cases/overpass/world.osm), with the answers that Overpass API 0.7.62 gives. `make\n\
         test` runs them all. [differences.md](differences.md) lists the intended differences.\n",
    );
    for (area, heading, summary) in AREAS {
        let rows: Vec<&CaseFile> = files.iter().filter(|file| file.area == area).collect();
        if rows.is_empty() {
            continue;
        }
        out.push_str(&format!(
            "\n## {heading}\n\n{summary}\n\n| feature | meaning | state | cases |\n|---|---|---|---|\n"
        ));
        for file in rows {
            let path = file.path.strip_prefix(folder()).expect("in the folder").display();
            let (form, summary) = (file.form.replace('|', "\\|"), file.summary.replace('|', "\\|"));
            out.push_str(&format!(
                "| `{form}` | {summary} | {} | [{}](../../tests/cases/overpass/{path}) |\n",
                state(file),
                file.cases.len()
            ));
        }
    }
    for file in files {
        assert!(AREAS.iter().any(|(area, ..)| *area == file.area), "{}: no area of this name", file.path.display());
    }
    out
}

fn state(file: &CaseFile) -> &'static str {
    let pending = file.cases.iter().filter(|case| case.pending).count();
    if pending == file.cases.len() {
        "not yet"
    } else if pending > 0 {
        "in part"
    } else if file.cases.iter().any(|case| case.section("reference").is_some()) {
        "differs"
    } else {
        "as the reference"
    }
}
