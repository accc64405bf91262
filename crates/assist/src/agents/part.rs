//! Which results are wanted, and what is said of the others.

use serde_json::Value;

use super::Trouble;

/// Entries of a long list in a result, such as the points of a line.
const LIST: usize = 20;
/// Letters of a long text in a result.
const TEXT: usize = 300;

/// Some results of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The first of them, from 0.
    pub skip: usize,
    /// How many at most.
    pub take: usize,
}

impl Part {
    /// What a caller asks for: `limit`, at most `most`; `cursor` as the answer before gave it.
    ///
    /// # Errors
    /// The cursor is none.
    pub fn asked(limit: Option<usize>, cursor: Option<&str>, default: usize, most: usize) -> Result<Part, Trouble> {
        let skip = match cursor {
            None | Some("") => 0,
            Some(text) => text.parse().map_err(|_| {
                Trouble::new(format!("no cursor: {text:?}")).hint("give next_cursor of the answer before, or none")
            })?,
        };
        Ok(Part { skip, take: limit.unwrap_or(default).clamp(1, most) })
    }

    /// The end, past which nothing is wanted.
    pub fn end(self) -> usize {
        self.skip.saturating_add(self.take)
    }

    /// Whether the result at this place is wanted.
    pub fn has(self, place: usize) -> bool {
        (self.skip..self.end()).contains(&place)
    }

    /// Where the next results begin, of so many in all.
    pub fn next(self, total: usize) -> Option<String> {
        (self.end() < total).then(|| self.end().to_string())
    }
}

/// A result with long lists and texts cut, and how long they are beside them.
pub fn short(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(short_text(text)),
        Value::Array(all) => Value::Array(all.into_iter().map(short).collect()),
        Value::Object(fields) => {
            let mut out = serde_json::Map::new();
            for (name, value) in fields {
                if let Value::Array(mut all) = value {
                    let total = all.len();
                    all.truncate(LIST);
                    out.insert(name.clone(), short(Value::Array(all)));
                    if total > LIST {
                        out.insert(format!("{name}_total"), total.into());
                    }
                } else {
                    out.insert(name, short(value));
                }
            }
            Value::Object(out)
        }
        other => other,
    }
}

/// A text, cut where it is long.
pub fn short_text(text: String) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_follow_each_other() {
        let first = Part::asked(Some(2), None, 10, 100).unwrap();
        assert_eq!((first, first.next(3), first.next(2)), (Part { skip: 0, take: 2 }, Some("2".to_owned()), None));
        assert_eq!(Part::asked(Some(1000), Some("2"), 10, 100).unwrap(), Part { skip: 2, take: 100 });
        assert!(Part::asked(None, Some("x"), 10, 100).is_err());
        assert!(!Part::asked(Some(0), Some(&usize::MAX.to_string()), 1, 1).unwrap().has(0));
    }

    #[test]
    fn long_lists_are_cut() {
        let long: Vec<u32> = (0..30).collect();
        let cut = short(json!({"nodes": long, "tags": {"note": "é".repeat(400)}}));
        assert_eq!((cut["nodes"].as_array().unwrap().len(), &cut["nodes_total"]), (20, &json!(30)));
        assert_eq!(cut["tags"]["note"].as_str().unwrap().chars().count(), 303);
    }
}
