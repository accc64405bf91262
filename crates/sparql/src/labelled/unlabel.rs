//! Replaces labels in a query by identifiers.

use serde::Serialize;

use super::identifier::IdentifierKind;
use super::names::{NameCandidate, NameContext, SnapshotNames};

/// Maximum length in bytes of a name to look up. Wikidata's labels have at most 250 characters.
const LONGEST: usize = 1000;

/// A name in a query, and its candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BracketedName {
    /// The position of its opening bracket in bytes.
    pub start: usize,
    /// The position in bytes after its closing bracket.
    pub end: usize,
    /// The kind of entity.
    pub kind: IdentifierKind,
    /// The name.
    pub name: String,
    /// The candidates, the most likely first. The first one is used.
    pub candidates: Vec<NameCandidate>,
}

impl BracketedName {
    /// Returns the candidate that was used.
    pub fn chosen(&self) -> Option<&NameCandidate> {
        self.candidates.first()
    }

    /// Returns whether another candidate matches equally well.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self.candidates.as_slice(), [first, second, ..] if first.found == second.found)
    }
}

/// A query with identifiers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unlabelled {
    /// The query. Names without a candidate are unchanged.
    pub text: String,
    /// The names, in order.
    pub names: Vec<BracketedName>,
}

impl Unlabelled {
    /// Returns the first name without a candidate.
    pub fn lost(&self) -> Option<&BracketedName> {
        self.names.iter().find(|name| name.candidates.is_empty())
    }
}

/// Returns whether a text contains a name in the labelled form.
pub fn has_names(query: &str) -> bool {
    next(query, 0, &|_| true).is_some()
}

/// Replaces the names of a query by identifiers: every `[entity:...]`, `[property:...]` and `[lexeme:...]` after a
/// colon or a slash. Properties are replaced first, because they help to choose between entities.
pub fn unlabel(query: &str, names: &SnapshotNames<'_>) -> Unlabelled {
    let (text, properties) = replaced(query, names, &|kind| kind == IdentifierKind::Property);
    let (text, others) = replaced(&text, names, &|kind| kind != IdentifierKind::Property);
    // Converts positions to those in the original query; both lists are in its order.
    let (mut properties, mut others) = (properties.into_iter(), others.into_iter());
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(place) = next(query, at, &|_| true) {
        at = place.end;
        let name = if place.kind == IdentifierKind::Property { properties.next() } else { others.next() };
        all.extend(name.map(|name| BracketedName { start: place.start, end: place.end, ..name }));
    }
    Unlabelled { text, names: all }
}

/// Replaces the names of some kinds.
fn replaced(
    query: &str,
    names: &SnapshotNames<'_>,
    wanted: &dyn Fn(IdentifierKind) -> bool,
) -> (String, Vec<BracketedName>) {
    let (mut text, mut found, mut done) = (String::with_capacity(query.len()), Vec::<BracketedName>::new(), 0);
    while let Some(LabelledName { start, end, kind, name }) = next(query, done, wanted) {
        text += query.get(done..start).unwrap_or_default();
        let after = query.get(end..).unwrap_or_default();
        // The same name has the same meaning everywhere, because `label` wrote it for one identifier.
        let candidates = match found.iter().find(|n| n.kind == kind && n.name == name) {
            Some(known) => known.candidates.clone(),
            None => {
                let path_start = text.trim_end_matches([':', '/']);
                let path = path_start.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                let before = path_start.strip_suffix(path).unwrap_or_default();
                names.find(
                    kind,
                    name,
                    NameContext { path, value_of: property_at_end(before), has: property_at_start(after) },
                )
            }
        };
        match candidates.first() {
            Some(candidate) => text += &candidate.id,
            None => text += query.get(start..end).unwrap_or_default(),
        }
        found.push(BracketedName { start, end, kind, name: name.to_owned(), candidates });
        done = end;
    }
    text += query.get(done..).unwrap_or_default();
    (text, found)
}

/// Returns the property at the end of a text, ignoring path operators after it.
fn property_at_end(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '+' | '?' | ')'));
    let (rest, id) = text.rsplit_once(':')?;
    let path = rest.rsplit(|c: char| !c.is_ascii_alphanumeric()).next()?;
    (IdentifierKind::of_id(id) == Some(IdentifierKind::Property)).then_some((path, id))
}

/// Returns the property at the beginning of a text.
fn property_at_start(text: &str) -> Option<(&str, &str)> {
    let (path, rest) = text.trim_start().split_once(':')?;
    let id = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    (IdentifierKind::of_id(id) == Some(IdentifierKind::Property)).then_some((path, id))
}

struct LabelledName<'a> {
    start: usize,
    end: usize,
    kind: IdentifierKind,
    name: &'a str,
}

/// Returns the first name of some kinds at or after a position.
fn next<'q>(query: &'q str, from: usize, wanted: &dyn Fn(IdentifierKind) -> bool) -> Option<LabelledName<'q>> {
    let mut at = from;
    loop {
        let start = at + query.get(at..)?.find('[')?;
        at = start + 1;
        if !query.get(..start)?.ends_with([':', '/']) {
            continue;
        }
        let (kind, rest) = query.get(at..)?.split_once(':')?;
        let Some(kind) = IdentifierKind::of_name(kind).filter(|kind| wanted(*kind)) else { continue };
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
