//! `osm2rdfkey:` relations: from an element to the Wikidata item, Wikipedia article or date in a tag's value.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use terrapin_osm::{ElementType, Ordinal, Osm, PairId, radix};
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

use super::naming::{ComputedNode, ElementNode};
use super::relation::{element, id, listed, or_failed, sorted};
use super::session::Session;
use super::tags::Keyed;
use super::vocabulary::ITEM;

/// The kind of resource that the values of a key refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leads {
    /// Wikidata items, separated by semicolons.
    Items,
    /// A Wikipedia article, such as `en:Valletta`.
    Article,
    /// A day, month or year.
    Date,
}

impl Leads {
    /// Returns the kind of resource for a key.
    fn of(key: &str) -> Option<Leads> {
        match (key.rsplit(':').next(), key) {
            (Some("wikidata"), _) => Some(Leads::Items),
            (Some("wikipedia"), _) => Some(Leads::Article),
            (_, "start_date" | "end_date") => Some(Leads::Date),
            _ => None,
        }
    }

    /// Returns the terms that a value refers to.
    fn terms(self, value: &str) -> Vec<Term> {
        let item = |number| NamedNode::new_unchecked(format!("{ITEM}Q{number}")).into();
        match self {
            Leads::Items => items(value).map(item).collect(),
            Leads::Article => article(value).into_iter().collect(),
            Leads::Date => date(value).into_iter().collect(),
        }
    }
}

/// Returns the number of items and articles that a tag refers to.
pub fn links(osm: &Osm, tag: PairId) -> usize {
    match Leads::of(osm.key_name(osm.key_of(tag))) {
        Some(leads @ (Leads::Items | Leads::Article)) => osm.with_value(tag, |value| leads.terms(value).len()),
        _ => 0,
    }
}

/// Returns the address of a Wikipedia article, with underscores for spaces.
fn article(value: &str) -> Option<Term> {
    let (language, title) = value.trim().split_once(':')?;
    let plain = language.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    if !plain || !(2..=12).contains(&language.len()) || title.is_empty() || title.starts_with("//") {
        return None;
    }
    let mut iri = format!("https://{language}.wikipedia.org/wiki/");
    for c in title.trim().chars() {
        match c {
            ' ' => iri.push('_'),
            '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`' | '\\' | '\0'..' ' => {
                iri.push_str(&format!("%{:02X}", c as u32))
            }
            _ => iri.push(c),
        }
    }
    Some(NamedNode::new(iri).ok()?.into())
}

/// Parses `1837`, `1837-06` or `1837-06-20` into a typed literal.
fn date(value: &str) -> Option<Term> {
    let parts: Vec<&str> = value.split('-').collect();
    let is = |text: &&str, digits: usize, most: u32| {
        text.len() == digits
            && text.bytes().all(|b| b.is_ascii_digit())
            && text.parse().is_ok_and(|number: u32| most == 0 || (1..=most).contains(&number))
    };
    let datatype = match parts.as_slice() {
        [year] if is(year, 4, 0) => xsd::G_YEAR,
        [year, month] if is(year, 4, 0) && is(month, 2, 12) => xsd::G_YEAR_MONTH,
        [year, month, day] if is(year, 4, 0) && is(month, 2, 12) && is(day, 2, 31) => xsd::DATE,
        _ => return None,
    };
    Some(Literal::new_typed_literal(value, datatype).into())
}

/// The relation from elements to the resources in the values of one key.
pub struct LinkRelation {
    keyed: Keyed,
    leads: Option<Leads>,
    /// Values with several items or with white space around them: pairs of an item's number and the tag, sorted.
    several: OnceCell<Vec<(u64, PairId)>>,
}

/// Iterates over the numbers of the items in a value.
fn items(value: &str) -> impl Iterator<Item = u64> + '_ {
    value.split(';').filter_map(|part| item(part.trim()))
}

/// Parses the number of an item such as `Q42`.
fn item(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('Q')?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    digits.parse().ok().filter(|_| plain)
}

/// Returns the item number of a term, if it is a Wikidata item.
fn item_of(term: &Term) -> Option<u64> {
    match term {
        Term::NamedNode(node) => node.as_str().strip_prefix(ITEM).and_then(item),
        _ => None,
    }
}

impl LinkRelation {
    /// Creates the relation of the key with this name.
    pub fn new(session: Rc<Session>, name: &str) -> LinkRelation {
        let keyed = Keyed::new(session, name);
        let leads = keyed.key.and_then(|key| Leads::of(keyed.session.osm().key_name(key)));
        LinkRelation { keyed, leads, several: OnceCell::new() }
    }

    fn several(&self) -> &[(u64, PairId)] {
        self.several.get_or_init(|| {
            let mut several = Vec::new();
            let Some(key) = self.keyed.key else { return several };
            self.keyed.session.osm().for_values(key, |pair, value| {
                terrapin_budget::checkpoint();
                if value.contains(';') || value.trim() != value {
                    several.extend(items(value).map(|item| (item, pair)));
                }
            });
            several.sort_unstable();
            several.dedup();
            several
        })
    }

    /// Returns the tags that refer to a term.
    fn tags(&self, view: &TripleView, of: TermId) -> Result<Vec<PairId>, ReadError> {
        let (osm, Some(key), Some(leads)) = (self.keyed.session.osm(), self.keyed.key, self.leads) else {
            return Ok(Vec::new());
        };
        let of = view.term(of)?;
        let Some(number) = item_of(&of).filter(|_| leads == Leads::Items) else {
            let mut tags = Vec::new();
            if leads != Leads::Items {
                osm.for_values(key, |pair, value| {
                    terrapin_budget::checkpoint();
                    if leads.terms(value).contains(&of) {
                        tags.push(pair);
                    }
                });
            }
            return Ok(tags);
        };
        let mut tags: Vec<PairId> = osm.pair(osm.key_name(key), &format!("Q{number}")).into_iter().collect();
        let several = self.several();
        let from = several.partition_point(|(other, _)| *other < number);
        tags.extend(several.iter().skip(from).take_while(|(other, _)| *other == number).map(|(_, pair)| *pair));
        Ok(tags)
    }

    /// Returns the resources that an element's tag refers to, in ascending order.
    fn of(&self, view: &TripleView, at: ElementNode) -> Vec<TermId> {
        let session = &self.keyed.session;
        let tag = session.tag(at, &self.keyed.pairs);
        let Some((pair, leads)) = tag.zip(self.leads) else { return Vec::new() };
        let terms = session.osm().with_value(pair, |value| leads.terms(value));
        let mut ids: Vec<TermId> = terms.iter().map(|term| view.id(term)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn found<'a>(
        &'a self,
        view: &'a TripleView,
        subject: Option<TermId>,
        object: Option<TermId>,
    ) -> Result<Pairs<'a>, ReadError> {
        Ok(match (subject, object) {
            (Some(subject), object) => {
                view.work(1)?;
                let mut items = element(view, subject).map_or_else(Vec::new, |at| self.of(view, at));
                items.retain(|item| object.is_none_or(|object| object == *item));
                sorted(items.into_iter().map(|item| (subject, item)).collect())
            }
            (None, Some(object)) => {
                let tags = self.tags(view, object)?;
                let osm = self.keyed.session.osm();
                let list = |kind| -> Arc<[Ordinal]> {
                    let all: Vec<Ordinal> = tags.iter().flat_map(|&pair| osm.posting(kind, pair).to_vec()).collect();
                    radix::set(all).into()
                };
                let lists = ElementType::ALL.map(list);
                Box::new(listed(view, lists).map(move |at| Ok((id(view, ComputedNode::Element(at?))?, object))))
            }
            (None, None) => Box::new(listed(view, self.keyed.lists()).flat_map(move |at| {
                let pairs = || -> Result<Pairs<'a>, ReadError> {
                    let at = at?;
                    let subject = id(view, ComputedNode::Element(at))?;
                    Ok(sorted(self.of(view, at).into_iter().map(|item| (subject, item)).collect()))
                };
                or_failed(pairs())
            })),
        })
    }
}

impl TermRelation for LinkRelation {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        or_failed(self.found(view, subject, object))
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        self.keyed.estimate(subject, object, |of| {
            let tags = self.tags(view, of).unwrap_or_default();
            tags.into_iter().map(|pair| self.keyed.count(pair)).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_name_items() {
        let named = |value: &str| items(value).collect::<Vec<u64>>();
        assert_eq!(named("Q42"), [42]);
        assert_eq!(named("Q1; Q7;nothing"), [1, 7]);
        assert_eq!(named("q1"), [] as [u64; 0]);
        assert_eq!(named("Q01;P31;Q;Qx;Q+3"), [] as [u64; 0]);
    }

    #[test]
    fn keys_lead_to_items_articles_and_dates() {
        let named = |key: &str, value: &str| -> Vec<String> {
            Leads::of(key).map_or_else(Vec::new, |leads| leads.terms(value).iter().map(Term::to_string).collect())
        };
        assert_eq!(named("brand:wikidata", "Q42"), ["<http://www.wikidata.org/entity/Q42>"]);
        assert_eq!(named("wikipedia", "en:Toi, Niue"), ["<https://en.wikipedia.org/wiki/Toi,_Niue>"]);
        assert_eq!(named("wikipedia", "mt:Ħal \"Kirkop\""), ["<https://mt.wikipedia.org/wiki/Ħal_%22Kirkop%22>"]);
        for value in ["Valletta", "https://en.wikipedia.org/wiki/Toi", "en:", "EN:Toi"] {
            assert!(named("wikipedia", value).is_empty(), "{value}");
        }
        let date = |kind: &str, value: &str| [format!("\"{value}\"^^<http://www.w3.org/2001/XMLSchema#{kind}>")];
        assert_eq!(named("start_date", "1837"), date("gYear", "1837"));
        assert_eq!(named("end_date", "1837-06"), date("gYearMonth", "1837-06"));
        assert_eq!(named("start_date", "1837-06-20"), date("date", "1837-06-20"));
        for value in ["C18", "183", "1837-13", "1837-06-32", "1837-6", "~1850", "1837-06-20-1"] {
            assert!(named("start_date", value).is_empty(), "{value}");
        }
        assert!(named("ref", "Q42").is_empty());
    }
}
