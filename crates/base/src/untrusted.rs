//! Makes text from outside (data, file names, other servers, models) safe where people, models or programs read it line
//! by line. A key, a name or a file name may contain line breaks that forge a line, sequences that control a terminal,
//! or characters that show text in another order (CVE-2021-42574) or hide it. All code that prints such text calls this
//! module.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character controls the display of text: controls (C0, DEL and C1), separators of lines and
/// paragraphs, embeddings and overrides of direction, annotations, tags, and the byte order mark. Joiners and direction
/// marks are kept, because they belong to names in many scripts.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns a text for one line of a terminal, a prompt or a log. Control characters and the white space around them are
/// replaced by one space, or removed at the ends.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let pieces: Vec<&str> = text.split(steers).map(str::trim).filter(|piece| !piece.is_empty()).collect();
    Cow::Owned(pieces.join(" "))
}

/// Returns a text of several lines for a terminal or a prompt: line breaks and tabs stay, other characters that steer
/// are left out. For texts that are shown as a whole, not for names inside of one.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_left_out = |c: char| steers(c) && !matches!(c, '\n' | '\t');
    if text.contains(is_left_out) {
        Cow::Owned(text.chars().filter(|c| !is_left_out(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns a JSON text in which characters that steer are escapes. Its values are the same: outside of strings, and as
/// line breaks between values, JSON has none of them.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| steers(c) && !matches!(c, '\n' | '\t' | '\r');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that forges a line, sets a terminal's title (OSC 0), clears the screen (CSI 2 J, in both encodings of
    /// ECMA-48), turns the order around, and hides letters as tags.
    const HOSTILE: &str =
        "a\r\ncontent sha256:0\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}2Jb\u{202e}c\u{2028}d\u{85}\u{e0041}\u{7f}";

    #[test]
    fn a_line_stays_a_line() {
        assert_eq!(line(HOSTILE), "a content sha256:0 ]0;x [2J 2Jb c d");
        assert_eq!(lines("a\tb\nc\u{1b}[2J\rd"), "a\tb\nc[2Jd");
        // Marks and joiners of scripts, as names of places have them.
        for name in [
            "Zur M\u{fc}hle",
            "\u{645}\u{6cc}\u{200c}\u{62f}\u{627}\u{646}",
            "\u{5e8}\u{200f}1",
            "\u{c9}\u{1f468}\u{200d}\u{1f33e}",
        ] {
            assert!(matches!(line(name), Cow::Borrowed(same) if same == name));
        }
    }

    #[test]
    fn json_has_the_same_values_and_no_character_that_steers() {
        let written = "{\n\"k\": \"\u{9b}2J\u{202e}\u{e0041}\u{7f}\"}";
        assert_eq!(json(written), "{\n\"k\": \"\\u009b2J\\u202e\\udb40\\udc41\\u007f\"}");
        assert!(matches!(json("{\"k\": \"caf\u{e9}\"}"), Cow::Borrowed(_)));
    }
}
