//! The links of named subqueries. A body is read once, and each INCLUDE gets a copy.

use std::collections::BTreeMap;

use super::open_links::OpenLinks;

/// The maximum number of links in all copies of a query, since a subquery that includes another one twice doubles it.
const LINKS: usize = 10_000;

/// The links of a named subquery.
#[derive(Clone)]
pub(super) struct SubqueryLinks {
    /// The numbers of the variables that it returns, by name.
    pub(super) columns: BTreeMap<String, u32>,
    /// The links of each alternative.
    pub(super) alternatives: Vec<OpenLinks>,
}

/// The links of named subqueries, by name.
#[derive(Default)]
pub(super) struct NamedLinks {
    subqueries: BTreeMap<String, SubqueryLinks>,
    /// The number of links in copies.
    copied: usize,
}

impl NamedLinks {
    /// Adds a named subquery.
    pub(super) fn define(&mut self, name: String, links: SubqueryLinks) {
        self.subqueries.insert(name, links);
    }

    /// Returns a copy of the links of a named subquery; `None` if the query has too many.
    pub(super) fn copy(&mut self, name: &str) -> Option<SubqueryLinks> {
        let found = self.subqueries.get(name)?;
        let size: usize = found.alternatives.iter().map(|links| links.links.len() + links.others.len()).sum();
        let copied = self.copied.saturating_add(size);
        if copied > LINKS {
            return None;
        }
        self.copied = copied;
        Some(found.clone())
    }
}
