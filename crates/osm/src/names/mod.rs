//! Names: the tags that contain them, the conversion of texts to words, and the index of these words that a load
//! builds.
//!
//! The index contains the words of tags, not elements, because tags already lead to elements. For every tag that is a
//! name, the words lead to its number, and the number leads to the tag. Numbers follow the rank of the most important
//! element with the tag, so that the first entry of a list is the most likely meaning.

mod build;
pub mod rank;

pub use build::write;
pub use terrapin_base::words::words;

/// The object that a tag's value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameTarget {
    /// The element that has the tag.
    Itself,
    /// The street or the place that the element's address is in.
    Street,
}

/// Keys of names, which may have a language after a colon.
const NAMES: [&str; 9] =
    ["name", "alt_name", "official_name", "short_name", "old_name", "loc_name", "int_name", "nat_name", "reg_name"];
/// Keys of names that have none.
const CODES: [&str; 4] = ["ref", "iata", "icao", "addr:housename"];
const STREETS: [&str; 2] = ["addr:street", "addr:place"];

/// Returns the object that the values of a key name; `None` if they are not names.
pub fn named_by(key: &str) -> Option<NameTarget> {
    if CODES.contains(&key) {
        return Some(NameTarget::Itself);
    }
    if STREETS.contains(&key) {
        return Some(NameTarget::Street);
    }
    let (base, language) = key.split_once(':').unwrap_or((key, ""));
    (NAMES.contains(&base) && (language.is_empty() || is_language(language))).then_some(NameTarget::Itself)
}

/// `de`, `zh-Hant`, `be-tarask`, also `left` and `right`, and years of old names; not `etymology:wikidata`.
fn is_language(text: &str) -> bool {
    let first = text.split(['-', '_', '@']).next().unwrap_or_default();
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_@".contains(&b));
    let is_code = (2..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_lowercase());
    plain && (is_code || ["left", "right"].contains(&text) || first.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_names() {
        for key in [
            "name",
            "name:mt",
            "name:zh-Hant",
            "name:be-tarask",
            "alt_name",
            "alt_name:en",
            "old_name:1920-1945",
            "ref",
        ] {
            assert_eq!(named_by(key), Some(NameTarget::Itself), "{key}");
        }
        for key in ["addr:street", "addr:place"] {
            assert_eq!(named_by(key), Some(NameTarget::Street), "{key}");
        }
        for key in ["name:etymology:wikidata", "name:prefix", "name_1", "ref:ISTAT", "highway", "", ":", "names"] {
            assert_eq!(named_by(key), None, "{key}");
        }
    }
}
