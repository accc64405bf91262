//! Summarises an answer in few words.

use std::io;

use super::FeedbackResults;
use terrapin_base::untrusted;
use terrapin_overpass::output::{ElementSink, ItemTags, OutCounts, OutputItem};

/// The maximum number of shown tags of an element.
const TAGS: usize = 4;
/// The maximum length of a shown value in characters.
const LETTERS: usize = 40;

/// The number of elements of an answer, and a sample. For each element of the sample, the tags that the query names
/// come first, then its name.
pub struct AnswerSample<'k> {
    sample: usize,
    keys: &'k [String],
    results: FeedbackResults,
    /// Whether all elements so far are counts of zero.
    is_zero: bool,
}

impl<'k> AnswerSample<'k> {
    /// Creates an empty sample of at most `sample` elements; `keys` are the keys that the query names.
    pub fn new(sample: usize, keys: &'k [String]) -> AnswerSample<'k> {
        AnswerSample { sample, keys, results: FeedbackResults::default(), is_zero: true }
    }

    /// Returns the results.
    pub fn finish(self) -> FeedbackResults {
        FeedbackResults { is_zero: self.is_zero && self.results.count > 0, ..self.results }
    }

    /// Counts an element; adds its line to the sample if there is room.
    fn add(&mut self, kind: &str, id: Option<i64>, tags: Option<&ItemTags>, is_zero: bool) {
        let results = &mut self.results;
        results.count += 1;
        match results.types.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(results.types.insert(kind.to_owned(), 1)),
        }
        let is_shown = results.sample.len() < self.sample;
        self.is_zero &= is_shown && is_zero;
        if is_shown {
            results.sample.push(line(kind, id, tags, self.keys));
        }
    }
}

impl ElementSink for AnswerSample<'_> {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        self.add(item.type_name, item.id, item.tags, false);
        Ok(())
    }

    fn count(&mut self, counts: &OutCounts) -> io::Result<()> {
        self.add("count", None, Some(&counts.tags()), counts.total() == 0);
        Ok(())
    }
}

/// Formats an element as a line: its type and id, and its first tags.
fn line(kind: &str, id: Option<i64>, tags: Option<&ItemTags>, keys: &[String]) -> String {
    let mut text = untrusted::line(kind).into_owned();
    if let Some(id) = id {
        text += &format!("/{id}");
    }
    let rank = |key: &str| {
        let named = keys.iter().position(|k| k == key);
        named.unwrap_or(keys.len() + usize::from(key != "name" && (kind != "count" || key != "total")))
    };
    let mut tags: Vec<(&str, &str)> = tags.into_iter().flat_map(ItemTags::iter).collect();
    tags.sort_by_key(|&(key, _)| (rank(key), key));
    for (key, value) in tags.iter().take(TAGS) {
        let short: String = value.chars().take(LETTERS).collect();
        let dots = if short.len() < value.len() { "..." } else { "" };
        text += &format!(" {}={}{dots}", untrusted::line(key), untrusted::line(&short));
    }
    if tags.len() > TAGS {
        text += &format!(" (+{})", tags.len() - TAGS);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> ItemTags {
        let mut tags = ItemTags::default();
        pairs.iter().for_each(|(key, value)| tags.push(key, value));
        tags
    }

    fn element<'a>(type_name: &'a str, id: i64, tags: &'a ItemTags) -> OutputItem<'a> {
        OutputItem { type_name, id: Some(id), tags: Some(tags), ..OutputItem::default() }
    }

    #[test]
    fn the_tags_that_were_asked_for_come_first() {
        let keys = ["shop".to_owned()];
        let mut sample = AnswerSample::new(9, &keys);
        let bean = tags(&[("a", "1"), ("b", "2"), ("c", "3"), ("name", "Bean"), ("shop", "yes")]);
        sample.element(&element("node", 5, &bean)).unwrap();
        sample.element(&element("way", 6, &tags(&[]))).unwrap();
        sample.count(&OutCounts { with_id: true, nodes: 7, ..OutCounts::default() }).unwrap();
        let results = sample.finish();
        assert_eq!(results.count, 3);
        let lines = ["node/5 shop=yes name=Bean a=1 b=2 (+1)", "way/6", "count total=7 nodes=7 relations=0 ways=0"];
        assert_eq!(results.sample, lines);
        assert_eq!(AnswerSample::new(1, &[]).finish(), FeedbackResults::default());
    }

    #[test]
    fn counts_of_nothing_are_nothing() {
        let counted = |nodes: u64, sample: usize| {
            let mut sample = AnswerSample::new(sample, &[]);
            sample.count(&OutCounts { nodes, ..OutCounts::default() }).unwrap();
            sample.finish()
        };
        let results = counted(0, 5);
        assert_eq!((results.is_zero, &*results.sample[0]), (true, "count total=0 nodes=0 relations=0 ways=0"));
        assert!(!counted(3, 5).is_zero);
        assert!(!AnswerSample::new(5, &[]).finish().is_zero);
        // What is not part of the sample may be anything.
        assert!(!counted(0, 0).is_zero);
    }
}
