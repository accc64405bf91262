//! Stops looking names up when a limit is reached.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{NamedPlace, PlaceSource};

/// A source with a limit: when it is reached, all names are unknown. A text can name a hundred thousand places.
pub struct Until<'a> {
    source: &'a dyn PlaceSource,
    is_over: &'a (dyn Fn() -> bool + Sync),
    cut: AtomicBool,
}

impl<'a> Until<'a> {
    /// Uses `source` until `is_over` returns true.
    pub fn new(source: &'a dyn PlaceSource, is_over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Until { source, is_over, cut: AtomicBool::new(false) }
    }

    /// Returns whether a name was not looked up. The result is then incomplete.
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

impl PlaceSource for Until<'_> {
    fn find(&self, name: &str) -> Option<NamedPlace> {
        if (self.is_over)() {
            self.cut.store(true, Ordering::Relaxed);
            return None;
        }
        self.source.find(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaceTable;

    #[test]
    fn what_comes_too_late_is_not_looked_up() {
        let table = PlaceTable::parse(br#"{"A": {"osm_id": 1, "osm_type": "relation"}}"#).expect("a table");
        let over = AtomicBool::new(false);
        let is_over = || over.load(Ordering::Relaxed);
        let until = Until::new(&table, &is_over);
        assert!(until.find("A").is_some() && !until.was_cut());
        over.store(true, Ordering::Relaxed);
        assert!(until.find("A").is_none() && until.was_cut());
    }
}
