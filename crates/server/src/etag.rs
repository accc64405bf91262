//! Whether a client has what it asks for: the tags in `If-None-Match`, held against that of the answer.

use axum::http::{HeaderMap, header};

/// Whether the client names this tag, or any. Whether a tag is a weak one does not count: caches in between make tags weak
/// where they pack an answer.
pub fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let strong = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag).to_owned();
    let named = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    named.flat_map(|value| value.split(',')).map(str::trim).any(|named| named == "*" || strong(named) == strong(tag))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_tag_is_known_among_others_and_weak_or_not() {
        let known = |value: &'static str, tag: &str| {
            let mut headers = HeaderMap::new();
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static("\"z\""));
            headers.append(header::IF_NONE_MATCH, HeaderValue::from_static(value));
            is_known(&headers, tag)
        };
        assert!(known("\"a\"", "\"a\"") && known("W/\"a\"", "\"a\"") && known("\"a\"", "W/\"a\""));
        assert!(known("\"b\", W/\"a\"", "\"a\"") && known("*", "\"a\""));
        assert!(!known("\"b\"", "\"a\"") && !known("a", "\"a\"") && !is_known(&HeaderMap::new(), "\"a\""));
    }
}
