//! Texts of a request, which may contain invalid Unicode: JSON can escape a surrogate without its counterpart.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// A text of a request. If it is invalid Unicode, only its pair is rejected, not the whole request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReceivedText {
    /// The text, with U+FFFD in place of invalid characters.
    pub text: String,
    /// The error message if it is invalid Unicode.
    pub wrong: Option<String>,
}

impl<'de> Deserialize<'de> for ReceivedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ReceivedText, D::Error> {
        // Only when read as bytes, JSON strings may contain lone surrogates.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = ReceivedText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<ReceivedText, E> {
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => ReceivedText { text: text.to_owned(), wrong: None },
            Err(_) => ReceivedText {
                text: String::from_utf8_lossy(bytes).into_owned(),
                wrong: Some(
                    "not Unicode text: it has a surrogate (U+D800 to U+DFFF) without its counterpart".to_owned(),
                ),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_is_told() {
        let read = |json: &str| serde_json::from_str::<Vec<ReceivedText>>(json);
        let texts = read(r#"["a\ud83d\ude00\u00e9é", "a\ud800b", ""]"#).unwrap();
        assert_eq!((texts[0].text.as_str(), &texts[0].wrong), ("a😀éé", &None));
        assert!(texts[1].wrong.as_ref().is_some_and(|why| why.contains("surrogate")), "{texts:?}");
        assert!(texts[1].text.starts_with("a\u{fffd}") && texts[1].text.ends_with('b'), "{texts:?}");
        assert_eq!(texts[2], ReceivedText::default());
        for wrong in ["[1]", "[null]", "[[97]]", "[{}]"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
