//! How many articles there are about an item of Wikidata.

use oxrdf::{NamedNode, NamedNodeRef, Term};

use super::Store;

const SITELINKS: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://wikiba.se/ontology#sitelinks");

/// How many pages of Wikipedia and its sisters are about an item, by its id such as `Q233`; `None` where the triples do not
/// say it.
pub fn sitelinks(store: &Store, item: &str) -> Option<u64> {
    let item = NamedNode::new(format!("http://www.wikidata.org/entity/{item}")).ok()?;
    let (item, said) = (store.id(item.as_ref().into())?, store.id(SITELINKS.into())?);
    let [_, _, count] = store.triples(Some(item), Some(said), None).next()?;
    match store.term(count)? {
        Term::Literal(count) => count.value().parse().ok(),
        _ => None,
    }
}
