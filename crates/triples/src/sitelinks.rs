//! Number of sitelinks of an item.

use oxrdf::{NamedNode, NamedNodeRef, Term};

use super::Store;

const SITELINKS: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://wikiba.se/ontology#sitelinks");
/// Prefixes of the subject of the count: WDQS attaches it to the item, dumps to the data page.
const SUBJECTS: [&str; 2] = ["http://www.wikidata.org/entity/", "https://www.wikidata.org/wiki/Special:EntityData/"];

/// Returns the number of Wikimedia pages about an item with an id such as `Q233`, or `None` if the triples do not
/// contain it.
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
