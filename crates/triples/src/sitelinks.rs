//! How many articles there are about an item of Wikidata.

use oxrdf::{NamedNode, NamedNodeRef, Term};

use super::Store;

const SITELINKS: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://wikiba.se/ontology#sitelinks");
/// What the count is said of: by WDQS of the item, in dumps of the page with its data.
const SUBJECTS: [&str; 2] = ["http://www.wikidata.org/entity/", "https://www.wikidata.org/wiki/Special:EntityData/"];

/// How many pages of Wikipedia and its sisters are about an item, by its id such as `Q233`; `None` where the triples do not
/// say it.
pub fn sitelinks(store: &Store, item: &str) -> Option<u64> {
    let said = store.id(SITELINKS.into())?;
    SUBJECTS.into_iter().find_map(|start| {
        let subject = NamedNode::new(format!("{start}{item}")).ok()?;
        let subject = store.id(subject.as_ref().into())?;
        let [_, _, count] = store.triples(Some(subject), Some(said), None).next()?;
        match store.term(count)? {
            Term::Literal(count) => count.value().parse().ok(),
            _ => None,
        }
    })
}
