//! Some of an answer in few words.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Deserialize;

use super::Results;

/// Bytes of an answer that are looked at.
pub const LARGEST: usize = 64 << 20;
/// Tags of an element that are shown.
const TAGS: usize = 4;
/// Letters of a value that are shown.
const LETTERS: usize = 40;

/// An answer in memory, up to [`LARGEST`].
#[derive(Default)]
pub struct Bounded {
    /// What was written.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub full: bool,
}

impl Write for Bounded {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + part.len() > LARGEST {
            self.full = true;
            return Err(io::Error::other("the answer is too long"));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    elements: Vec<Element<'a>>,
}

#[derive(Deserialize)]
struct Element<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    id: Option<i64>,
    #[serde(borrow, default)]
    tags: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
}

/// Reads a JSON answer. Of each element in the sample those tags come first whose keys the query names, then its name.
pub fn read(body: &[u8], sample: usize, keys: &[String]) -> Results {
    let Ok(answer) = serde_json::from_slice::<Answer>(body) else { return Results::default() };
    let mut results = Results { count: answer.elements.len(), ..Results::default() };
    for element in &answer.elements {
        *results.types.entry(element.kind.clone().into_owned()).or_default() += 1;
    }
    results.sample = answer.elements.iter().take(sample).map(|element| line(element, keys)).collect();
    results
}

fn line(element: &Element<'_>, keys: &[String]) -> String {
    let mut text = element.kind.clone().into_owned();
    if let Some(id) = element.id.filter(|_| element.kind != "count") {
        text += &format!("/{id}");
    }
    let rank = |key: &str| {
        let named = keys.iter().position(|k| k == key);
        named.unwrap_or(keys.len() + usize::from(key != "name"))
    };
    let mut tags: Vec<(&str, &str)> = element.tags.iter().map(|(key, value)| (&**key, &**value)).collect();
    tags.sort_by_key(|(key, _)| rank(key));
    for (key, value) in tags.iter().take(TAGS) {
        let short: String = value.chars().take(LETTERS).collect();
        let dots = if short.len() < value.len() { "..." } else { "" };
        text += &format!(" {key}={short}{dots}");
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
        assert_eq!(read(b"no", 1, &[]), Results::default());
    }
}
