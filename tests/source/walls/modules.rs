//! Reads the modules of a crate: their items, their imports, and the paths in their code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::visit::Visit;
use syn::{Ident, Item, Token, UseTree};

/// Path of a module from the crate's root.
pub type Names = Vec<String>;

/// The uses between modules, with the places of each.
pub type Uses = BTreeMap<(Names, Names), BTreeSet<String>>;

/// The contents of a module.
#[derive(Default)]
pub struct Module {
    file: PathBuf,
    children: BTreeSet<String>,
    /// Imported names, and their paths.
    imports: BTreeMap<String, Names>,
    /// Paths of glob imports.
    pub globs: Vec<Names>,
    /// Names of its own items, and whether each only declares a type, a trait or a constant.
    items: BTreeMap<String, bool>,
    /// Paths in its code and its imports, from the crate's root.
    paths: BTreeSet<Names>,
    /// Paths in its code and its private imports, as written. Re-exports are not among them.
    written: BTreeSet<Names>,
}

/// The modules of a crate without its tests.
#[derive(Default)]
pub struct Modules(pub BTreeMap<Names, Module>);

/// The file of a module, and the folder of its children's files.
struct ModuleFiles<'a> {
    module: Names,
    file: &'a Path,
    children: PathBuf,
}

impl Modules {
    /// Reads all modules of a library.
    pub fn of(library: &Path) -> Self {
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
        let mut reader = ModuleReader { place: &place.module, module: Module::default(), is_private_use: true };
        reader.module.file = place.file.to_owned();
        for item in items {
            reader.visit_item(item);
            if let Some(name) = name(item) {
                reader.module.items.insert(name.unraw().to_string(), is_declaration(item));
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
        self.origin_and_item(path).0
    }

    /// Returns the module that defines the item at a path, through all re-exports, and the item; no item if the path
    /// leads to a module or to an unknown name.
    fn origin_and_item(&self, path: &[String]) -> (Names, Option<String>) {
        self.follow(path, 0).unwrap_or_else(|| {
            let modules = (0..=path.len()).rev().map(|length| &path[..length]);
            (modules.into_iter().find(|path| self.0.contains_key(*path)).unwrap_or_default().to_vec(), None)
        })
    }

    fn follow(&self, path: &[String], depth: usize) -> Option<(Names, Option<String>)> {
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
            if module.items.contains_key(name) {
                return Some((at, Some(name.clone())));
            }
            let rest = &path[i + 1..];
            if let Some(import) = module.imports.get(name) {
                return self.follow(&[import, rest].concat(), depth + 1);
            }
            let globs = module.globs.iter().map(|glob| [glob, &path[i..]].concat());
            return globs.into_iter().find_map(|path| self.follow(&path, depth + 1));
        }
        Some((at, None))
    }

    /// Returns the uses between sibling modules, each including its descendants, with the places of each use.
    pub fn uses(&self) -> Uses {
        let mut uses = Uses::new();
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

    /// Returns the uses of functions, macros and statics of a parent's file by a child, including its descendants, if
    /// the parent's file uses the child.
    pub fn upward_uses(&self) -> Uses {
        let mut uses = Uses::new();
        for (from, module) in &self.0 {
            for path in &module.paths {
                let (to, item) = self.origin_and_item(path);
                let Some(parent) = self.0.get(&to).filter(|parent| parent.file != module.file) else { continue };
                let is_code = item.is_some_and(|item| parent.items.get(&item) == Some(&false));
                if !is_code || !from.starts_with(&to) || from.len() == to.len() {
                    continue;
                }
                let child = from[..=to.len()].to_vec();
                if self.uses_child(&to, &child) {
                    let file = module.file.display();
                    uses.entry((child, to)).or_default().insert(format!("{file} uses {}", path.join("::")));
                }
            }
        }
        uses
    }

    /// Returns whether the code of a module uses its child, or a descendant of it.
    fn uses_child(&self, parent: &Names, child: &Names) -> bool {
        self.0[parent].written.iter().any(|path| {
            let path = self.written_from_root(parent, path);
            path.is_some_and(|path| self.origin(&path).starts_with(child))
        })
    }

    /// Returns the path from the crate's root of a path as written in a module. Returns `None` if it leads out of the
    /// crate, or begins with an item of the module.
    fn written_from_root(&self, place: &Names, path: &[String]) -> Option<Names> {
        let module = &self.0[place];
        let first = path.first()?;
        if matches!(first.as_str(), "crate" | "self" | "super") {
            return absolute(place, path);
        }
        if let Some(import) = module.imports.get(first) {
            return Some([import, &path[1..]].concat());
        }
        // A variable may have the name of a child.
        (module.children.contains(first) && path.len() > 1).then(|| [place, path].concat())
    }
}

/// Returns whether an item only declares a type, a trait or a constant.
fn is_declaration(item: &Item) -> bool {
    matches!(
        item,
        Item::Const(_)
            | Item::Enum(_)
            | Item::Struct(_)
            | Item::Trait(_)
            | Item::TraitAlias(_)
            | Item::Type(_)
            | Item::Union(_)
    )
}

/// Returns a path from the crate's root, if it begins with `crate`, `self` or `super`.
fn absolute(place: &[String], path: &[String]) -> Option<Names> {
    let mut at = place.to_vec();
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
    /// Whether the import being read is no re-export.
    is_private_use: bool,
}

impl ModuleReader<'_> {
    fn add(&mut self, path: &[String]) {
        if let Some(path) = absolute(self.place, path) {
            self.module.paths.insert(path);
        }
    }

    fn add_written(&mut self, path: Names) {
        self.add(&path);
        self.module.written.insert(path);
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
                if self.is_private_use {
                    self.module.written.insert(before.to_vec());
                }
                let path = absolute(self.place, before);
                self.module.globs.push(path.unwrap_or_else(|| [self.place, before].concat()));
            }
        }
    }

    fn named(&mut self, name: String, path: Names) {
        self.add(&path);
        if self.is_private_use {
            self.module.written.insert(path.clone());
        }
        // A path that begins with a name leads to a child or to another crate.
        let path = absolute(self.place, &path).unwrap_or_else(|| [self.place, &path[..]].concat());
        self.module.imports.insert(name, path);
    }

    /// Collects paths in token streams: the arguments of macros and of attributes.
    fn tokens(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        while !input.is_empty() {
            if input.peek(Ident::peek_any) {
                let mut path = vec![Ident::parse_any(input)?.unraw().to_string()];
                while input.peek(Token![::]) && input.peek3(Ident::peek_any) {
                    input.parse::<Token![::]>()?;
                    path.push(Ident::parse_any(input)?.unraw().to_string());
                }
                self.add_written(path);
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
        self.is_private_use = matches!(item.vis, syn::Visibility::Inherited);
        self.import(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Names = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
        self.add_written(names);
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
