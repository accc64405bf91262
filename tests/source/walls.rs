//! Tests boundaries inside crates that the compiler does not enforce. Reads the sources; needs no data.
//!
//! - Sibling modules use each other in one direction only.
//! - A module and its children use each other in one direction only. If the file of a module uses a child, the child
//!   may use types, traits and constants of that file, but no functions, macros and statics: these belong in a file
//!   below both. Re-exports by the parent do not count as uses, and neither do methods of the parent's types.
//! - Each crate states what it may not know.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use modules::{Modules, Names};

use crate::common::place;

/// Accepted uses that form a cycle: the crate's folder, the two modules, and the reason.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[];

/// Accepted uses of a parent's functions by a child that the parent uses: the crate's folder, the child, and the
/// reason.
const UPWARD_EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "crates/overpass-syntax",
    "statement::query",
    "an unknown word gets the nearest word of all statements as a hint, from the table that contains the query",
)];

/// Maximum number of places to print for each use.
const SHOWN: usize = 3;

/// Returns the folders of all crates with a library.
fn crates() -> Vec<PathBuf> {
    let root = place::root();
    let listed = fs::read_dir(root.join("crates")).expect("the folder of crates");
    let mut crates: Vec<_> = listed.map(|entry| entry.expect("a crate").path()).filter(|path| path.is_dir()).collect();
    crates.sort();
    crates.extend([root.join("loaders"), root.to_owned()]);
    crates
}

/// Returns the path of a crate's folder in the workspace; empty for the root crate.
fn label(folder: &Path) -> String {
    let root = place::root();
    folder.strip_prefix(root).expect("a folder of the workspace").display().to_string()
}

/// Returns the modules that can be reached from one.
fn reached(edges: &BTreeSet<(Names, Names)>, from: &Names) -> BTreeSet<Names> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.clone()];
    while let Some(at) = open.pop() {
        for (_, to) in edges.iter().filter(|(a, _)| *a == at) {
            if reached.insert(to.clone()) {
                open.push(to.clone());
            }
        }
    }
    reached
}

/// Returns the uses that are part of a cycle.
fn circular(edges: &BTreeSet<(Names, Names)>) -> Vec<&(Names, Names)> {
    let from: BTreeMap<&Names, BTreeSet<Names>> = edges.iter().map(|(a, _)| (a, reached(edges, a))).collect();
    edges.iter().filter(|(a, b)| from.get(b).is_some_and(|reached| reached.contains(a))).collect()
}

/// Returns the uses in a crate that form a cycle, with some places of each, except for the excepted pairs of modules.
/// Also returns the exceptions that are not needed.
fn cycles(library: &Path, excepted: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
    let uses = Modules::of(library).uses();
    let all: BTreeSet<_> = uses.keys().cloned().collect();
    let mut held = all.clone();
    let mut needless = Vec::new();
    for (from, to) in excepted {
        let split = |path: &str| path.split("::").map(str::to_owned).collect::<Names>();
        let edge = (split(from), split(to));
        held.remove(&edge);
        // A use that forms no cycle with the remaining uses needs no exception.
        let mut with = held.clone();
        with.insert(edge.clone());
        if !all.contains(&edge) || !circular(&with).contains(&&edge) {
            needless.push(format!("{from} -> {to}"));
        }
    }
    let told = |edge: &(Names, Names)| {
        let places = uses.get(edge).into_iter().flatten().take(SHOWN);
        let (from, to) = (edge.0.join("::"), edge.1.join("::"));
        places.map(|place| format!("{from} -> {to}: {place}")).collect::<Vec<_>>()
    };
    (circular(&held).into_iter().flat_map(told).collect(), needless)
}

#[test]
fn modules_side_by_side_use_each_other_in_one_direction() {
    let mut wrong = String::new();
    for folder in crates() {
        let label = label(&folder);
        let excepted: Vec<(&str, &str)> =
            EXCEPTIONS.iter().filter(|(of, ..)| *of == label).map(|(_, from, to, _)| (*from, *to)).collect();
        let (cycles, needless) = cycles(&folder.join("src/lib.rs"), &excepted);
        for how in cycles {
            writeln!(wrong, "  {label}: {how}").unwrap();
        }
        for edge in needless {
            writeln!(wrong, "  {label}: {edge} is an exception that nothing needs any more").unwrap();
        }
    }
    assert!(wrong.is_empty(), "modules that use each other in a circle:\n{wrong}");
}

/// Returns the children of a library's modules that use code of their parent against the rule, with some places of
/// each.
fn upward(library: &Path) -> BTreeMap<String, Vec<String>> {
    let uses = Modules::of(library).upward_uses().into_iter();
    uses.map(|((child, _), places)| (child.join("::"), places.into_iter().take(SHOWN).collect())).collect()
}

#[test]
fn children_use_no_code_of_a_parent_that_uses_them() {
    let mut wrong = String::new();
    for folder in crates() {
        let label = label(&folder);
        let mut found = upward(&folder.join("src/lib.rs"));
        for (_, child, _) in UPWARD_EXCEPTIONS.iter().filter(|(of, ..)| *of == label) {
            if found.remove(*child).is_none() {
                writeln!(wrong, "  {label}: {child} is an exception that nothing needs any more").unwrap();
            }
        }
        for (child, places) in found {
            writeln!(wrong, "  {label}: {child}: {}", places.join(", ")).unwrap();
        }
    }
    assert!(wrong.is_empty(), "modules that use functions of a parent that uses them:\n{wrong}");
}

/// Creates a library from the names and texts of its files.
fn library(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    folder
}

#[test]
fn every_way_to_use_a_module_is_seen() {
    let ways = [
        "use crate::b::B;",
        "use super::b;",
        "use super::{b::{self as other}};",
        "use crate::b::*;",
        // Re-exported by another module.
        "use crate::B;",
        "use super::passed::Renamed;",
        "fn f() { crate::b::f(); }",
        "fn f() { println!(\"{}\", [super::b::B]); }",
        "#[error(\"{}\", crate::b::B)] struct E;",
        "mod inner { use super::super::b::B; }",
        "#[cfg(not(test))] use crate::b::B;",
    ];
    for way in ways {
        let folder = library(&[
            ("lib.rs", "mod a; mod b; mod passed; pub use b::B;"),
            ("a.rs", &format!("pub struct A; {way}")),
            ("b/mod.rs", "mod below; pub struct B; pub fn f() {}"),
            ("b/below.rs", "use crate::a::A; use super::B; #[cfg(test)] use crate::passed::Renamed;"),
            ("passed.rs", "pub use super::b::B as Renamed;"),
        ]);
        let (found, _) = cycles(&folder.path().join("lib.rs"), &[]);
        let of = |start: &str| found.iter().any(|how| how.starts_with(start));
        assert!(of("a -> b: a.rs uses ") && of("b -> a: b/below.rs uses a::A"), "{way}: {found:?}");
        let (found, needless) = cycles(&folder.path().join("lib.rs"), &[("a", "b")]);
        assert!(found.is_empty() && needless.is_empty(), "{way}: {found:?}, {needless:?}");
    }
    let folder = library(&[
        ("lib.rs", "mod a; mod b; pub struct Root;"),
        ("a.rs", "use crate::b::B; use crate::Root;"),
        (
            "b.rs",
            "pub struct B; #[cfg(test)] mod tests { use crate::a; } impl B { #[cfg(test)] fn f() { crate::a::f() } }",
        ),
    ]);
    assert_eq!(cycles(&folder.path().join("lib.rs"), &[]), (Vec::new(), Vec::new()));
    let (_, needless) = cycles(&folder.path().join("lib.rs"), &[("a", "b"), ("b", "c")]);
    assert_eq!(needless, ["a -> b", "b -> c"]);
}

#[test]
fn uses_of_a_parent_are_seen() {
    let with = |parent: &str, child: &str| {
        let folder = library(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", &format!("mod b; mod c; {parent} pub fn f() {{}} pub struct S; pub const N: u8 = 1;")),
            ("a/b/mod.rs", "pub mod d; pub fn g() {}"),
            ("a/b/d.rs", child),
            ("a/c.rs", "pub fn h() {}"),
        ]);
        upward(&folder.path().join("lib.rs"))
    };
    let used = "fn p() { b::g() }";
    let parents = [
        used,
        "use b::g;",
        "use b::{d::X, g as h};",
        "use crate::a::b::*;",
        "pub use b::g; fn p() { g() }",
        "fn p() { println!(\"{}\", b::g()) }",
        "struct P(b::d::X);",
    ];
    let children = [
        "use crate::a::f; pub struct X;",
        "pub struct X; fn k() { super::super::f() }",
        "pub struct X; fn k() { println!(\"{:?}\", crate::a::f()) }",
    ];
    for parent in parents {
        for child in children {
            let found: Vec<String> = with(parent, child).into_keys().collect();
            assert_eq!(found, ["a::b"], "{parent} with {child}");
        }
    }
    // A parent that uses no child, re-exports it or uses another child has children that may use it.
    for parent in ["", "pub use b::g;", "pub(crate) use b::*;", "fn p() { c::h() }", "fn p(b: u8) -> u8 { b }"] {
        assert!(with(parent, children[0]).is_empty(), "{parent}");
    }
    // Declarations of the parent are no code, and neither are names that it passes on.
    let passed = "fn p() { b::g() } pub use c::h;";
    for child in ["use crate::a::{S, N};", "use crate::a::S; impl S {}", "#[cfg(test)] mod tests { use crate::a::f; }"]
    {
        assert!(with(used, child).is_empty(), "{child}");
    }
    assert!(with(passed, "use crate::a::h;").is_empty());
}

/// Names from a glob import of an enclosing module hide where they come from.
#[test]
fn no_module_takes_all_names_around_it() {
    let mut wrong = String::new();
    for folder in crates() {
        for (module, has) in Modules::of(&folder.join("src/lib.rs")).0 {
            if has.globs.iter().any(|glob| module.starts_with(glob)) {
                writeln!(wrong, "  {}: {}", label(&folder), module.join("::")).unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "modules with `use super::*`:\n{wrong}");
}

/// The documentation of each crate must state what the crate does not know.
#[test]
fn every_crate_says_what_it_may_not_know() {
    for folder in crates() {
        let text = fs::read_to_string(folder.join("src/lib.rs")).expect("a library");
        let lines = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
        let first: Vec<&str> = lines.take_while(|line| !line.starts_with("```")).collect();
        let first = first.join(" ").to_lowercase();
        let says =
            ["does not know", "do not know", "knows nothing of", "may not"].iter().any(|words| first.contains(words));
        assert!(says, "the first lines of {}/src/lib.rs do not say what it does not know", label(&folder));
    }
}

#[test]
fn every_crate_stands_in_the_picture() {
    let page = fs::read_to_string(place::root().join("ARCHITECTURE.md")).expect("the page");
    let section = page.split_once("## Crates").expect("the section").1;
    let picture = section.split("```").nth(1).expect("its picture");
    let names: BTreeSet<&str> = picture.split(|c: char| !c.is_alphanumeric() && c != '-').collect();
    for folder in crates() {
        let label = label(&folder);
        let name = label.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("terrapin");
        assert!(names.contains(name), "{name} is not in the picture of crates in ARCHITECTURE.md");
    }
}
