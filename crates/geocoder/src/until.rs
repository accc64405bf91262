//! Looking names up within a bound.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Place, Places};

/// Another source, which knows nothing any more once a bound is reached. A text can name a hundred thousand places.
pub struct Until<'a> {
    source: &'a dyn Places,
    is_over: &'a (dyn Fn() -> bool + Sync),
    cut: AtomicBool,
}

impl<'a> Until<'a> {
    /// Asks `source` until `is_over` says so.
    pub fn new(source: &'a dyn Places, is_over: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Until { source, is_over, cut: AtomicBool::new(false) }
    }

    /// Whether a name was not looked up: what was made of the answers is then not what it would have been.
    pub fn was_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }
}

impl Places for Until<'_> {
    fn find(&self, name: &str) -> Option<Place> {
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
    use crate::Table;

    #[test]
    fn what_comes_too_late_is_not_looked_up() {
        let table = Table::parse(br#"{"A": {"osm_id": 1, "osm_type": "relation"}}"#).expect("a table");
        let over = AtomicBool::new(false);
        let is_over = || over.load(Ordering::Relaxed);
        let until = Until::new(&table, &is_over);
        assert!(until.find("A").is_some() && !until.was_cut());
        over.store(true, Ordering::Relaxed);
        assert!(until.find("A").is_none() && until.was_cut());
    }
}
