//! Tests boundaries inside crates that the compiler does not enforce: sibling modules use each other in one direction
//! only, and each crate states what it may not know. Reads the sources; needs no data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit::Visit;
use syn::{Ident, Item, Token, UseTree};

use crate::common::place;

/// Accepted uses that form a cycle: the crate's folder, the two modules, and the reason.
const EXCEPTIONS: &[(&str, &str, &str, &str)] = &[];

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

/// Path of a module from the crate's root.
type Names = Vec<String>;

/// The contents of a module.
#[derive(Default)]
struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    /// Imported names, and their paths.
    imports: BTreeMap<String, Names>,
    /// Paths of glob imports.
    globs: Vec<Names>,
    /// Names of its own items.
    items: BTreeSet<String>,
    /// Paths in its code, from the crate's root.
    paths: BTreeSet<Names>,
}

/// The modules of a crate without its tests.
#[derive(Default)]
struct Modules(BTreeMap<Names, Module>);

/// The file of a module, and the folder of its children's files.
struct ModuleFiles<'a> {
    module: Names,
    file: &'a Path,
    children: PathBuf,
}

impl Modules {
    /// Reads all modules of a library.
    fn of(library: &Path) -> Self {
        let mut modules = Self::default();
        let children = library.parent().expect("a folder").to_owned();
        modules.read(&ModuleFiles { module: Vec::new(), file: library, children: children.clone() });
        for module in modules.0.values_mut() {
            module.file = module.file.strip_prefix(&children).expect("a file of the library").to_owned();
        }
        modules
    }

    fn read(&mut self, place: &ModuleFiles<'_>) {
        let text = fs::read_to_string(place.file).unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", place.file.display()));
        self.add(place, &file.items);
    }

    fn add(&mut self, place: &ModuleFiles<'_>, items: &[Item]) {
        let mut reader = ModuleReader { place: &place.module, module: Module::default() };
        reader.module.file = place.file.to_owned();
        for item in items {
            reader.visit_item(item);
            if let Some(name) = name(item) {
                reader.module.items.insert(name.unraw().to_string());
            }
        }
        let mut inner = Vec::new();
        for item in items {
            let Item::Mod(item) = item else { continue };
            if !is_test(&item.attrs) {
                reader.module.children.insert(item.ident.unraw().to_string());
                inner.push(item);
            }
        }
        self.0.insert(place.module.clone(), reader.module);
        for item in inner {
            let name = item.ident.unraw().to_string();
            let module = [&place.module[..], std::slice::from_ref(&name)].concat();
            let children = place.children.join(&name);
            match &item.content {
                Some((_, items)) => self.add(&ModuleFiles { module, file: place.file, children }, items),
                None => {
                    let beside = place.children.join(format!("{name}.rs"));
                    let file = if beside.is_file() { beside } else { children.join("mod.rs") };
                    self.read(&ModuleFiles { module, file: &file, children });
                }
            }
        }
    }

    /// Returns the module that defines the item at a path, through all re-exports.
    fn origin(&self, path: &[String]) -> Names {
        self.follow(path, 0).unwrap_or_else(|| {
            let modules = (0..=path.len()).rev().map(|length| &path[..length]);
            modules.into_iter().find(|path| self.0.contains_key(*path)).unwrap_or_default().to_vec()
        })
    }

    fn follow(&self, path: &[String], depth: usize) -> Option<Names> {
        if depth > 16 {
            return None;
        }
        let mut at = Names::new();
        for (i, name) in path.iter().enumerate() {
            let module = self.0.get(&at)?;
            if module.children.contains(name) {
                at.push(name.clone());
                continue;
            }
            if module.items.contains(name) {
                return Some(at);
            }
            let rest = &path[i + 1..];
            if let Some(import) = module.imports.get(name) {
                return self.follow(&[import, rest].concat(), depth + 1);
            }
            let globs = module.globs.iter().map(|glob| [glob, &path[i..]].concat());
            return globs.into_iter().find_map(|path| self.follow(&path, depth + 1));
        }
        Some(at)
    }

    /// Returns the uses between sibling modules, each including its descendants, with the places of each use.
    fn uses(&self) -> BTreeMap<(Names, Names), BTreeSet<String>> {
        let mut uses: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for (from, module) in &self.0 {
            for path in &module.paths {
                let to = self.origin(path);
                let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                if common < from.len() && common < to.len() {
                    let file = module.file.display();
                    let edge = (from[..=common].to_vec(), to[..=common].to_vec());
                    uses.entry(edge).or_default().insert(format!("{file} uses {}", path.join("::")));
                }
            }
        }
        uses
    }
}

/// Returns the name of an item that other modules can use.
fn name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::TraitAlias(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}

/// Returns whether an item with these attributes exists in tests only.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    let test = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    };
    attributes.iter().any(test)
}

/// A visitor that reads one module without its inner modules.
struct ModuleReader<'a> {
    place: &'a [String],
    module: Module,
}

impl ModuleReader<'_> {
    /// Returns a path from the crate's root, if it begins with `crate`, `self` or `super`.
    fn absolute(&self, path: &[String]) -> Option<Names> {
        let mut at = self.place.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                at.clear();
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {}
            _ => return None,
        }
        while let Some("super") = rest.first().map(String::as_str) {
            at.pop();
            rest = &rest[1..];
        }
        at.extend_from_slice(rest);
        Some(at)
    }

    fn add(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.module.paths.insert(path);
        }
    }

    fn import(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: &Ident| match name.unraw().to_string().as_str() {
            "self" if !before.is_empty() => before.to_vec(),
            name => [before, &[name.to_owned()]].concat(),
        };
        match tree {
            UseTree::Path(path) => self.import(&with(&path.ident), &path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(before, tree)),
            UseTree::Name(name) => {
                let path = with(&name.ident);
                let name = path.last().cloned().unwrap_or_default();
                self.named(name, path);
            }
            UseTree::Rename(rename) => self.named(rename.rename.unraw().to_string(), with(&rename.ident)),
            UseTree::Glob(_) => {
                self.add(before);
                let path = self.absolute(before);
                self.module.globs.push(path.unwrap_or_else(|| [self.place, before].concat()));
            }
        }
    }

    fn named(&mut self, name: String, path: Names) {
        self.add(&path);
        // A path that begins with a name leads to a child or to another crate.
        let path = self.absolute(&path).unwrap_or_else(|| [self.place, &path[..]].concat());
        self.module.imports.insert(name, path);
    }

    /// Collects paths in token streams: the arguments of macros and of attributes.
    fn tokens(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        while !input.is_empty() {
            if input.peek(Token![crate]) || input.peek(Token![super]) || input.peek(Token![self]) {
                let mut path = vec![Ident::parse_any(input)?.to_string()];
                while input.peek(Token![::]) && input.peek3(Ident::peek_any) {
                    input.parse::<Token![::]>()?;
                    path.push(Ident::parse_any(input)?.unraw().to_string());
                }
                self.add(&path);
                continue;
            }
            let content;
            if input.peek(syn::token::Paren) {
                syn::parenthesized!(content in input);
            } else if input.peek(syn::token::Brace) {
                syn::braced!(content in input);
            } else if input.peek(syn::token::Bracket) {
                syn::bracketed!(content in input);
            } else {
                input.step(|cursor| match cursor.token_tree() {
                    Some((_, rest)) => Ok(((), rest)),
                    None => Err(cursor.error("a token expected")),
                })?;
                continue;
            }
            self.tokens(&content)?;
        }
        Ok(())
    }
}

impl<'ast> Visit<'ast> for ModuleReader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            // An inner module is read separately.
            Item::Mod(_) => return,
            _ => &Vec::new(),
        };
        if !is_test(attributes) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            syn::visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        self.add(&names);
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        Parser::parse2(|input: ParseStream<'_>| self.tokens(input), item.tokens.clone()).expect("tokens");
        syn::visit::visit_macro(self, item);
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        Parser::parse2(|input: ParseStream<'_>| self.tokens(input), list.tokens.clone()).expect("tokens");
        syn::visit::visit_meta_list(self, list);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(crate)` and `pub(super)` do not count as uses.
    }
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
