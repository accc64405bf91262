//! What stands in addresses and forms (`application/x-www-form-urlencoded`). Unlike the usual reading, which puts a
//! replacement character, what is not in UTF-8 is an error: another query than the client's must not be answered.

use percent_encoding::percent_decode;

/// So many bytes of a decoded text are UTF-8; the next one is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8(pub usize);

/// The names and values, encoded as they came.
pub fn pairs(encoded: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    encoded.split(|b| *b == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let at = pair.iter().position(|b| *b == b'=').unwrap_or(pair.len());
        let (name, value) = pair.split_at(at);
        (name, value.strip_prefix(b"=").unwrap_or(value))
    })
}

/// A name or a value as it was meant.
///
/// # Errors
/// It is not in UTF-8.
pub fn decoded(text: &[u8]) -> Result<String, NotUtf8> {
    let spaced: Vec<u8> = text.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
    let bytes: Vec<u8> = percent_decode(&spaced).collect();
    String::from_utf8(bytes).map_err(|error| NotUtf8(error.utf8_error().valid_up_to()))
}
