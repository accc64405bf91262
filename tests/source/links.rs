//! Symbolic links do not survive archives, mirrors and checkouts on Windows: sources have none.

use std::path::{Path, PathBuf};

use crate::common::place;

/// Folders that are not sources, and hidden ones.
const OTHER: [&str; 3] = ["target", "node_modules", "dist"];

fn links_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (kind, name) = (entry.file_type().expect("a type"), entry.file_name());
        let name = name.to_string_lossy();
        if name.starts_with('.') || OTHER.contains(&&*name) {
            continue;
        }
        if kind.is_symlink() {
            found.push(entry.path());
        } else if kind.is_dir() {
            links_below(&entry.path(), found);
        }
    }
}

#[test]
fn no_source_is_a_link() {
    let mut found = Vec::new();
    links_below(&place::root(), &mut found);
    assert_eq!(found, Vec::<PathBuf>::new(), "copy the files, or build them into the place where they are needed");
}
