//! Checks whether a client has a response cached: compares the tags in `If-None-Match` with that of the response.

use axum::http::{HeaderMap, header};

/// Returns whether the client names this tag, or any with `*`. Weak and strong tags count as equal, because caches on
/// the way weaken a tag when they compress a response.
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
