//! Categories of keys by their characters. The source is taginfo's report "Characters in keys".

/// Characters that have a meaning in URLs, markup or query languages, as the report lists them.
const PROBLEMATIC: &str = "=+/&<>;'\"?%#@\\,";

/// The category of a key. Each key has exactly one: the first that applies, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyCharacters {
    /// `a` to `z` and `_`; the first and the last character are letters.
    Plain,
    /// Like `Plain`, with colons inside.
    Colon,
    /// Like `Colon`, with upper-case letters or letters of other scripts.
    Letters,
    /// White space.
    Space,
    /// A character of `=+/&<>;'"?%#@\,`.
    Problem,
    /// Any other key, such as one with digits.
    Rest,
}

impl KeyCharacters {
    /// Returns the category of a key.
    pub fn of(key: &str) -> KeyCharacters {
        let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
        let ends_are = |is_letter: fn(char) -> bool| key.starts_with(is_letter) && key.ends_with(is_letter);
        if ends_are(|c| c.is_ascii_lowercase()) && key.chars().all(|c| is_plain(c) || c == ':') {
            return if key.contains(':') { KeyCharacters::Colon } else { KeyCharacters::Plain };
        }
        if ends_are(char::is_alphabetic) && key.chars().all(|c| c.is_alphabetic() || c == '_' || c == ':') {
            KeyCharacters::Letters
        } else if key.contains(char::is_whitespace) {
            KeyCharacters::Space
        } else if key.contains(|c| PROBLEMATIC.contains(c)) {
            KeyCharacters::Problem
        } else {
            KeyCharacters::Rest
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected categories follow from the definitions of the report.
    #[test]
    fn every_key_has_one_category() {
        let cases = [
            (KeyCharacters::Plain, &["highway", "admin_level", "a"][..]),
            (KeyCharacters::Colon, &["addr:street", "a::b", "turn:lanes_both:x"]),
            (KeyCharacters::Letters, &["FIXME", "name:zh_Hant", "име", "type:Größe"]),
            (KeyCharacters::Space, &["a b", " a", "a\u{3000}b", "a\tb", "a b=c"]),
            (KeyCharacters::Problem, &["a=b", "maxspeed>30", "a,b", "\"x\"", "a\\b", "Ä;ö", "9%"]),
            (KeyCharacters::Rest, &["", "ref:2", "_a", "a:", ":a", "a-b", "a.b", "*", "\u{1}"]),
        ];
        for (category, keys) in cases {
            for key in keys {
                assert_eq!(KeyCharacters::of(key), category, "{key:?}");
            }
        }
    }
}
