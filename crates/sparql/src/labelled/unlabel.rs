//! Labels → identifiers, in a query.

use serde::Serialize;

use super::identifier::Kind;
use super::names::{Around, Candidate, Names};

/// Longest name that is looked up, in bytes: Wikidata's labels have at most 250 characters.
const LONGEST: usize = 1000;

/// A name in a query and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Name {
    /// Its first byte: that of the opening bracket.
    pub start: usize,
    /// The byte after its closing bracket.
    pub end: usize,
    /// What it names.
    pub kind: Kind,
    /// The name.
    pub name: String,
    /// What it can stand for, the likeliest first: that one is taken.
    pub candidates: Vec<Candidate>,
}

impl Name {
    /// What it was taken for.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.first()
    }

    /// Whether something else was found in the same way.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.candidates.as_slice(), [first, second, ..] if first.found == second.found)
    }
}

/// A query with identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unlabelled {
    /// The query; a name that leads nowhere stays in it.
    pub text: String,
    /// The names, in order.
    pub names: Vec<Name>,
}

impl Unlabelled {
    /// The first name that leads nowhere.
    pub fn lost(&self) -> Option<&Name> {
        self.names.iter().find(|name| name.candidates.is_empty())
    }
}

/// Whether a text has a name in the labelled form.
pub fn has_names(query: &str) -> bool {
    next(query, 0, &|_| true).is_some()
}

/// Writes identifiers for the names of a query: for every `[entity:...]`, `[property:...]` and `[lexeme:...]` behind a
/// colon or a slash. Properties come first: they say which entities can be meant.
pub fn unlabel(query: &str, names: &Names<'_>) -> Unlabelled {
    let (text, properties) = replaced(query, names, &|kind| kind == Kind::Property);
    let (text, others) = replaced(&text, names, &|kind| kind != Kind::Property);
    // Where the names were in the query as it was given: both lists are in its order.
    let (mut properties, mut others) = (properties.into_iter(), others.into_iter());
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(place) = next(query, at, &|_| true) {
        at = place.end;
        let name = if place.kind == Kind::Property { properties.next() } else { others.next() };
        all.extend(name.map(|name| Name { start: place.start, end: place.end, ..name }));
    }
    Unlabelled { text, names: all }
}

/// Replaces the names of some kinds.
fn replaced(query: &str, names: &Names<'_>, wanted: &dyn Fn(Kind) -> bool) -> (String, Vec<Name>) {
    let (mut text, mut found, mut done) = (String::with_capacity(query.len()), Vec::<Name>::new(), 0);
    while let Some(LabelledName { start, end, kind, name }) = next(query, done, wanted) {
        text += query.get(done..start).unwrap_or_default();
        let after = query.get(end..).unwrap_or_default();
        // The same name is the same thing wherever it stands, as it was when the query was labelled.
        let candidates = match found.iter().find(|n| n.kind == kind && n.name == name) {
            Some(known) => known.candidates.clone(),
            None => {
                let path_start = text.trim_end_matches([':', '/']);
                let path = path_start.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                let before = path_start.strip_suffix(path).unwrap_or_default();
                names.find(
                    kind,
                    name,
                    Around { path, value_of: property_at_end(before), has: property_at_start(after) },
                )
            }
        };
        match candidates.first() {
            Some(candidate) => text += &candidate.id,
            None => text += query.get(start..end).unwrap_or_default(),
        }
        found.push(Name { start, end, kind, name: name.to_owned(), candidates });
        done = end;
    }
    text += query.get(done..).unwrap_or_default();
    (text, found)
}

/// The property that a text ends with, whatever signs of a path stand behind it.
fn property_at_end(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '+' | '?' | ')'));
    let (rest, id) = text.rsplit_once(':')?;
    let path = rest.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    (Kind::of_id(id) == Some(Kind::Property)).then_some((path, id))
}

/// The property that a text begins with.
fn property_at_start(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = text.trim_start().split_once(':')?;
    let id = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    (Kind::of_id(id) == Some(Kind::Property)).then_some((path, id))
}

struct LabelledName<'a> {
    start: usize,
    end: usize,
    kind: Kind,
    name: &'a str,
}

/// The first name of some kinds from a byte on.
fn next<'q>(query: &'q str, from: usize, wanted: &dyn Fn(Kind) -> bool) -> Option<LabelledName<'q>> {
    let mut at = from;
    loop {
        let start = at + query.get(at..)?.find('[')?;
        at = start + 1;
        if !query.get(..start)?.ends_with([':', '/']) {
            continue;
        }
        let (kind, rest) = query.get(at..)?.split_once(':')?;
        let Some(kind) = Kind::of_name(kind).filter(|kind| wanted(*kind)) else { continue };
        let Some(length) = rest.find([']', '\n', '\r', '[']).filter(|length| (1..=LONGEST).contains(length)) else {
            continue;
        };
        let (name, after) = rest.split_at(length);
        if after.starts_with(']') && !name.trim().is_empty() {
            let end = query.len() - after.len() + 1;
            return Some(LabelledName { start, end, kind, name: name.trim() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_behind_a_colon() {
        let names = |query: &str| {
            let (mut found, mut at) = (Vec::new(), 0);
            while let Some(place) = next(query, at, &|_| true) {
                found.push(format!("{} {}", place.kind.name(), place.name));
                at = place.end;
            }
            found
        };
        assert_eq!(
            names("?x wdt:[property:instance of]/wdt:[property: subclass of]* wd:[entity:O'Hara (a, b: c)]"),
            ["property instance of", "property subclass of", "entity O'Hara (a, b: c)"]
        );
        assert_eq!(
            names("[entity:a] x:[entity:] y:[item:b] z:[entity:c\n] [ :p wd:[lexeme:d] ] :[entity:e"),
            ["lexeme d"]
        );
        assert_eq!(property_at_end("?x (wdt:P31/wdt:P279*) "), Some(("wdt", "P279")));
        assert_eq!(property_at_start(" p:P36 ?x"), Some(("p", "P36")));
        assert_eq!((property_at_end("?x ?y "), property_at_start(" ?x")), (None, None));
        assert!(has_names("wd:[entity:é]") && !has_names("[] wdt:P31 [ wdt:P1 1 ]"));
    }
}
