//! All that is said of an element, a geometry or a member that a query names, where it asks for any predicate.

use std::rc::Rc;

use oxrdf::NamedNode;
use terrapin_triples::{End, Pairs, ReadError, Relation, TermId, View};

use super::facts::Facts;
use super::links::Link;
use super::members::Members;
use super::naming::Named;
use super::relation::{or_failed, sorted};
use super::session::Session;
use super::tags::Tag;
use super::vocabulary::{FACTS, KEY, LINK, MEMBERSHIPS};

/// Predicates and objects of one subject.
pub struct Describe {
    session: Rc<Session>,
    of: Named,
    subject: TermId,
}

impl Describe {
    /// What is said of a term, if it is one of those.
    pub fn new(session: &Rc<Session>, view: &View, subject: TermId) -> Option<Describe> {
        let of = super::relation::named(view, subject)?;
        Some(Describe { session: Rc::clone(session), of, subject })
    }

    fn all(&self, view: &View) -> Result<Vec<(TermId, TermId)>, ReadError> {
        let id = |iri: String| view.id(&NamedNode::new_unchecked(iri).into());
        let mut out = Vec::new();
        for (fact, namespace, name) in FACTS {
            let value = Facts::new(Rc::clone(&self.session), fact).of(view, self.of)?;
            out.extend(value.map(|value| (id(format!("{namespace}{name}")), value)));
        }
        for (what, namespace, name) in MEMBERSHIPS {
            let values = Members::new(Rc::clone(&self.session), what).of(view, self.of)?;
            out.extend(values.into_iter().map(|value| (id(format!("{namespace}{name}")), value)));
        }
        if let Named::Element(at) = self.of {
            let osm = self.session.osm();
            for pair in self.session.with_tags(at, <[u32]>::to_vec) {
                let key = osm.key_name(osm.key_of(pair));
                for namespace in [KEY, LINK] {
                    let relation: Box<dyn Relation> = match namespace {
                        KEY => Box::new(Tag::new(Rc::clone(&self.session), key)),
                        _ => Box::new(Link::new(Rc::clone(&self.session), key)),
                    };
                    for found in relation.pairs(view, Some(self.subject), None) {
                        out.push((id(format!("{namespace}{}", written(key))), found?.1));
                    }
                }
            }
        }
        view.work(out.len() as u64)?;
        Ok(out)
    }
}

/// A key as IRIs have it.
fn written(key: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:~@!$&()*+,;=/".contains(c);
    let mut out = String::new();
    for c in key.chars() {
        if plain(c) {
            out.push(c);
        } else {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("%{byte:02X}")));
        }
    }
    out
}

impl Relation for Describe {
    fn pairs<'a>(&'a self, view: &'a View, predicate: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        let fits = |wanted: Option<TermId>, id: TermId| wanted.is_none_or(|wanted| wanted == id);
        or_failed(self.all(view).map(|mut all| {
            all.retain(|(p, o)| fits(predicate, *p) && fits(object, *o));
            sorted(all)
        }))
    }

    fn estimate(&self, _: &View, predicate: End, object: End) -> f64 {
        match (predicate, object) {
            (End::Free, End::Free) => 20.0,
            _ => 1.0,
        }
    }
}
