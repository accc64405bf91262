//! Tables by name, of which a long query asks for each of its words.

use std::collections::HashMap;

/// What there is of each name, in the order of the list that it was made from.
pub(super) struct Names<T: 'static>(HashMap<&'static str, Vec<&'static T>>);

impl<T> Names<T> {
    /// The table of a list.
    pub fn of(list: impl IntoIterator<Item = (&'static str, &'static T)>) -> Self {
        let mut names: HashMap<_, Vec<_>> = HashMap::new();
        list.into_iter().for_each(|(name, item)| names.entry(name).or_default().push(item));
        Names(names)
    }

    /// All of a name.
    pub fn all(&self, name: &str) -> &[&'static T] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// The first of a name.
    pub fn first(&self, name: &str) -> Option<&'static T> {
        self.all(name).first().copied()
    }
}
