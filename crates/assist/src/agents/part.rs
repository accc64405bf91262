//! Selects the part of the results that an answer contains, and shortens long results.

use serde_json::Value;

use super::Trouble;

/// Maximum number of entries of a list in a result, such as the points of a line.
const LIST: usize = 20;
/// Maximum number of characters of a text in a result.
const TEXT: usize = 300;

/// A range of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultPage {
    /// The index of the first result, from 0.
    pub skip: usize,
    /// Maximum number of results.
    pub take: usize,
}

impl ResultPage {
    /// Returns the part for a call: `limit` results, at most `most`, starting at `cursor`, which comes from the
    /// previous answer.
    ///
    /// # Errors
    /// Returns an error if the cursor is invalid.
    pub fn asked(
        limit: Option<usize>,
        cursor: Option<&str>,
        default: usize,
        most: usize,
    ) -> Result<ResultPage, Trouble> {
        let skip = match cursor {
            None | Some("") => 0,
            Some(text) => text.parse().map_err(|_| {
                Trouble::new(format!("no cursor: {text:?}")).hint("give next_cursor of the answer before, or none")
            })?,
        };
        Ok(ResultPage { skip, take: limit.unwrap_or(default).clamp(1, most) })
    }

    /// Returns the index after the last result.
    pub fn end(self) -> usize {
        self.skip.saturating_add(self.take)
    }

    /// Returns whether the part contains the result at this index.
    pub fn has(self, place: usize) -> bool {
        (self.skip..self.end()).contains(&place)
    }

    /// Returns the cursor for the next part, unless this part reaches the end of all `total` results.
    pub fn next(self, total: usize) -> Option<String> {
        (self.end() < total).then(|| self.end().to_string())
    }
}

/// Shortens long lists and texts of a result. The original length of a list is added in a field next to it.
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

/// Shortens a long text.
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
        let first = ResultPage::asked(Some(2), None, 10, 100).unwrap();
        assert_eq!(
            (first, first.next(3), first.next(2)),
            (ResultPage { skip: 0, take: 2 }, Some("2".to_owned()), None)
        );
        assert_eq!(ResultPage::asked(Some(1000), Some("2"), 10, 100).unwrap(), ResultPage { skip: 2, take: 100 });
        assert!(ResultPage::asked(None, Some("x"), 10, 100).is_err());
        assert!(!ResultPage::asked(Some(0), Some(&usize::MAX.to_string()), 1, 1).unwrap().has(0));
    }

    #[test]
    fn long_lists_are_cut() {
        let long: Vec<u32> = (0..30).collect();
        let cut = short(json!({"nodes": long, "tags": {"note": "é".repeat(400)}}));
        assert_eq!((cut["nodes"].as_array().unwrap().len(), &cut["nodes_total"]), (20, &json!(30)));
        assert_eq!(cut["tags"]["note"].as_str().unwrap().chars().count(), 303);
    }
}
