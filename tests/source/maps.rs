//! The maps for readers: every file and item that ARCHITECTURE.md names exists, and every file that the map of a module
//! (a `text` block in its `//!` lines) names. Reads the sources; needs no data.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::place;

/// Returns all Rust files of the tree.
fn sources() -> Vec<PathBuf> {
    let mut open: Vec<PathBuf> = ["crates", "loaders", "src", "tests", "fuzz", "benches", "tools"]
        .iter()
        .map(|name| place::root().join(name))
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a text looks like the path of a file or of a folder of the sources.
fn is_path(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    plain
        && !text.starts_with('/')
        && !text.contains("..")
        && (text.ends_with(".rs") || (text.ends_with('/') && text.len() > 2))
}

/// Returns the texts between backticks of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Whether a path of ARCHITECTURE.md exists: paths there leave out `crates/` and `src/`.
fn exists(path: &str, files: &BTreeSet<String>) -> bool {
    let root = place::root();
    if root.join(path).exists() || root.join("src").join(path).exists() {
        return true;
    }
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let of_crate =
        [format!("crates/{first}/src/{rest}"), format!("crates/assist/src/{path}"), format!("{first}/src/{rest}")];
    if of_crate.iter().any(|path| root.join(path).exists()) {
        return true;
    }
    // A file without its folder, next to one that was named with it.
    let ending = format!("/{path}");
    files.iter().any(|file| file.ends_with(&ending) || (path.ends_with('/') && file.contains(&ending)))
}

#[test]
fn everything_that_the_architecture_names_exists() {
    let text = fs::read_to_string(place::root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let sources = sources();
    let files: BTreeSet<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let code: String = sources.iter().map(|path| fs::read_to_string(path).expect("a source")).collect();
    let defines = |name: &str| {
        ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ", "mod ", "macro_rules! "].iter().any(
            |kind| {
                code.match_indices(&format!("{kind}{name}"))
                    .any(|(at, found)| !code[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            },
        )
    };
    let mut missing = Vec::new();
    let (mut paths, mut items) = (0, 0);
    for line in text.lines() {
        for name in quoted(line) {
            if is_path(name) {
                paths += 1;
                if !exists(name, &files) {
                    missing.push(name.to_owned());
                }
            } else if let Some((_, last)) = name.rsplit_once("::").filter(|_| name.split("::").all(is_word)) {
                items += 1;
                // A variant is defined by its name alone.
                let is_variant = last.starts_with(char::is_uppercase) && code.contains(&format!(" {last}"));
                if !defines(last) && !is_variant {
                    missing.push(name.to_owned());
                }
            } else if is_word(name) && name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase) {
                items += 1;
                if !defines(name) && !code.contains(&format!("    {name}")) {
                    missing.push(name.to_owned());
                }
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist: {missing:?}");
    assert!(paths > 50 && items > 10, "only {paths} paths and {items} items were found");
}

#[test]
fn every_file_in_the_map_of_a_module_exists() {
    let mut missing = Vec::new();
    let mut count = 0;
    for file in sources() {
        let text = fs::read_to_string(&file).expect("a source");
        let mut in_map = false;
        for line in text.lines().map_while(|line| line.strip_prefix("//!")) {
            let line = line.trim_start();
            if line.starts_with("```") {
                in_map = !in_map && line == "```text";
                continue;
            }
            if !in_map {
                continue;
            }
            for word in line.split([' ', ',', ';', ':', '(', ')', '→', '|']).map(|word| word.trim_end_matches('.')) {
                if is_path(word) {
                    count += 1;
                    if !is_beside(&file, word) {
                        missing
                            .push(format!("{}: {word}", file.strip_prefix(place::root()).unwrap_or(&file).display()));
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "maps of modules name what does not exist:\n{}", missing.join("\n"));
    assert!(count > 100, "only {count} names were found");
}

/// Whether a path of a module's map exists: from the module's folder, its crate's, or the repository's.
fn is_beside(file: &Path, path: &str) -> bool {
    let folder = file.parent().expect("a folder");
    let own = folder.join(file.file_stem().expect("a name"));
    let krate = file.ancestors().find(|folder| folder.join("Cargo.toml").exists()).expect("a crate");
    [folder, &own, krate, &krate.join("src"), &place::root(), &place::root().join("crates")]
        .iter()
        .any(|folder| folder.join(path).exists())
}
