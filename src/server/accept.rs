//! What a request's header `Accept` says of media types (RFC 9110, section 12.5.1).

use axum::http::{HeaderMap, header};

/// Such a header.
pub struct Accept<'a>(Vec<Range<'a>>);

impl<'a> Accept<'a> {
    /// Reads one; what is broken in it is as if it was not there.
    pub fn of(text: &'a str) -> Accept<'a> {
        Accept(text.split(',').filter_map(Range::of).collect())
    }

    /// What the most specific range that matches says of a media type, in thousandths; 0 where it is not wanted.
    pub fn quality(&self, media_type: &str) -> u16 {
        let Some((kind, subtype)) = media_type.split_once('/') else { return 0 };
        let matching = self.0.iter().filter_map(|r| r.matches(kind, subtype).map(|closeness| (closeness, r.quality)));
        matching.max_by_key(|(closeness, _)| *closeness).map_or(0, |(_, quality)| quality)
    }
}

/// The header's text in a request that has it; of several as if they were one.
pub fn text(headers: &HeaderMap) -> Option<String> {
    let all: Vec<&str> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// A media range.
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// In thousandths.
    quality: u16,
}

impl<'a> Range<'a> {
    fn of(text: &'a str) -> Option<Range<'a>> {
        let mut parts = text.split(';');
        let (kind, subtype) = parts.next()?.trim().split_once('/')?;
        let quality = parts
            .filter_map(|p| p.trim().strip_prefix("q=").or_else(|| p.trim().strip_prefix("Q=")))
            .next()
            .map_or(Some(1.0), |q| q.trim().parse::<f32>().ok())?;
        Some(Range { kind, subtype, quality: (quality.clamp(0.0, 1.0) * 1000.0) as u16 })
    }

    /// 3 for the type itself, 2 for its kind, 1 for any; nothing where it does not match.
    fn matches(&self, kind: &str, subtype: &str) -> Option<u8> {
        match (self.kind, self.subtype) {
            ("*", "*") => Some(1),
            (k, "*") if k.eq_ignore_ascii_case(kind) => Some(2),
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => Some(3),
            _ => None,
        }
    }
}
