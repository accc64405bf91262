//! Tables by name. A long query looks up each of its words in them.

use std::collections::HashMap;

/// The items by name, in the order of the original list.
pub(super) struct SyntaxNames<T: 'static>(HashMap<&'static str, Vec<&'static T>>);

impl<T> SyntaxNames<T> {
    /// Creates the table of a list.
    pub fn of(list: impl IntoIterator<Item = (&'static str, &'static T)>) -> Self {
        let mut names: HashMap<_, Vec<_>> = HashMap::new();
        list.into_iter().for_each(|(name, item)| names.entry(name).or_default().push(item));
        SyntaxNames(names)
    }

    /// Returns all items with a name.
    pub fn all(&self, name: &str) -> &[&'static T] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the first item with a name.
    pub fn first(&self, name: &str) -> Option<&'static T> {
        self.all(name).first().copied()
    }
}
