//! Summarises an answer in few words.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::FeedbackResults;
use terrapin_base::untrusted;

/// The maximum number of examined bytes of an answer.
pub const LARGEST: usize = 64 << 20;
/// The maximum number of shown tags of an element.
const TAGS: usize = 4;
/// The maximum length of a shown value in characters.
const LETTERS: usize = 40;

#[derive(Deserialize)]
struct FeedbackElement<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<i64>,
    #[serde(borrow, default)]
    tags: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

/// An element that is counted but not shown.
#[derive(Deserialize)]
struct TypeCounter<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// Parses a JSON answer. For each element of the sample, the tags that the query names come first, then its name.
pub fn read(body: &[u8], sample: usize, keys: &[String]) -> FeedbackResults {
    let read = AnswerSampleSeed { sample, keys }.deserialize(&mut serde_json::Deserializer::from_slice(body));
    read.unwrap_or_default()
}

/// The object around the elements. They are counted while parsing, because a list of all would be many times as large
/// as the answer.
struct AnswerSampleSeed<'k> {
    sample: usize,
    keys: &'k [String],
}

impl<'de> DeserializeSeed<'de> for AnswerSampleSeed<'_> {
    type Value = FeedbackResults;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FeedbackResults, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AnswerSampleSeed<'_> {
    type Value = FeedbackResults;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<FeedbackResults, A::Error> {
        let mut results = FeedbackResults::default();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            if name == "elements" {
                results = map.next_value_seed(FeedbackElementSeed(&self))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(results)
    }
}

struct FeedbackElementSeed<'a, 'k>(&'a AnswerSampleSeed<'k>);

impl<'de> DeserializeSeed<'de> for FeedbackElementSeed<'_, '_> {
    type Value = FeedbackResults;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<FeedbackResults, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for FeedbackElementSeed<'_, '_> {
    type Value = FeedbackResults;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("elements")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<FeedbackResults, A::Error> {
        let mut results = FeedbackResults::default();
        let count = |results: &mut FeedbackResults, kind: &str| {
            results.count += 1;
            match results.types.get_mut(kind) {
                Some(count) => *count += 1,
                None => drop(results.types.insert(kind.to_owned(), 1)),
            }
        };
        results.is_zero = true;
        while results.sample.len() < self.0.sample {
            let Some(element) = elements.next_element::<FeedbackElement<'de>>()? else {
                results.is_zero &= results.count > 0;
                return Ok(results);
            };
            count(&mut results, &element.kind);
            results.is_zero &= element.kind == "count" && element.tags.get("total").is_some_and(|total| total == "0");
            results.sample.push(line(&element, self.0.keys));
        }
        while let Some(element) = elements.next_element::<TypeCounter<'de>>()? {
            count(&mut results, &element.kind);
            results.is_zero = false;
        }
        results.is_zero &= results.count > 0;
        Ok(results)
    }
}

fn line(element: &FeedbackElement<'_>, keys: &[String]) -> String {
    let mut text = untrusted::line(&element.kind).into_owned();
    if let Some(id) = element.id.filter(|_| element.kind != "count") {
        text += &format!("/{id}");
    }
    let rank = |key: &str| {
        let named = keys.iter().position(|k| k == key);
        named.unwrap_or(keys.len() + usize::from(key != "name" && (element.kind != "count" || key != "total")))
    };
    let mut tags: Vec<(&str, &str)> = element.tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    tags.sort_by_key(|(key, _)| rank(key));
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

    #[test]
    fn the_tags_that_were_asked_for_come_first() {
        let body = br#"{"elements": [
            {"type": "node", "id": 5, "tags": {"a": "1", "b": "2", "c": "3", "name": "Bean", "shop": "yes"}},
            {"type": "way", "id": 6}, {"type": "count", "id": 0, "tags": {"total": "7"}}]}"#;
        let results = read(body, 9, &["shop".to_owned()]);
        assert_eq!(results.count, 3);
        assert_eq!(results.sample, ["node/5 shop=yes name=Bean a=1 b=2 (+1)", "way/6", "count total=7"]);
        assert_eq!(read(b"no", 1, &[]), FeedbackResults::default());
    }

    #[test]
    fn counts_of_nothing_are_nothing() {
        let body = |total: &str| {
            format!(r#"{{"elements": [{{"type": "count", "id": 0, "tags": {{"nodes": "0", "total": "{total}"}}}}]}}"#)
        };
        let results = read(body("0").as_bytes(), 5, &[]);
        assert_eq!((results.is_zero, &*results.sample[0]), (true, "count total=0 nodes=0"));
        assert!(!read(body("3").as_bytes(), 5, &[]).is_zero);
        assert!(!read(br#"{"elements": []}"#, 5, &[]).is_zero);
        // Unexamined parts may have any form.
        assert!(!read(body("0").as_bytes(), 0, &[]).is_zero);
    }
}
