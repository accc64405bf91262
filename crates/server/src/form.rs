//! Decodes query strings and forms (`application/x-www-form-urlencoded`). Invalid UTF-8 is an error here, while the
//! usual decoders insert a replacement character: the server must not answer another query than the client's.

use percent_encoding::percent_decode;

/// Invalid UTF-8: the number of valid bytes of the decoded text before the first invalid one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8(pub usize);

/// Returns the names and values, still encoded.
pub fn pairs(encoded: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    encoded.split(|b| *b == b'&').filter(|pair| !pair.is_empty()).map(|pair| {
        let at = pair.iter().position(|b| *b == b'=').unwrap_or(pair.len());
        let (name, value) = pair.split_at(at);
        (name, value.strip_prefix(b"=").unwrap_or(value))
    })
}

/// Decodes a name or a value.
///
/// # Errors
/// Returns an error if the decoded bytes are not UTF-8.
pub fn decoded(text: &[u8]) -> Result<String, NotUtf8> {
    let spaced: Vec<u8> = text.iter().map(|b| if *b == b'+' { b' ' } else { *b }).collect();
    let bytes: Vec<u8> = percent_decode(&spaced).collect();
    String::from_utf8(bytes).map_err(|error| NotUtf8(error.utf8_error().valid_up_to()))
}
