//! Parses the request headers `Accept` and `Accept-Language` (RFC 9110, section 12.5).

use axum::http::{HeaderMap, header};

/// A parsed `Accept` header.
pub struct AcceptHeader<'a>(Vec<Range<'a>>);

impl<'a> AcceptHeader<'a> {
    /// Parses a header value; invalid ranges are ignored.
    pub fn of(text: &'a str) -> AcceptHeader<'a> {
        AcceptHeader(text.split(',').filter_map(Range::of).collect())
    }

    /// Returns the quality of a media type by the most specific matching range, in thousandths; 0 if the client does
    /// not accept it. Parameters of `media_type` (`; charset=utf-8`) are ignored.
    pub fn quality(&self, media_type: &str) -> u16 {
        let media_type = media_type.split(';').next().unwrap_or_default().trim_end();
        let Some((kind, subtype)) = media_type.split_once('/') else { return 0 };
        let matching = self.0.iter().filter_map(|r| r.matches(kind, subtype).map(|closeness| (closeness, r.quality)));
        matching.max_by_key(|(closeness, _)| *closeness).map_or(0, |(_, quality)| quality)
    }
}

impl AcceptHeader<'_> {
    /// Returns the quality of a range that names the media type, in thousandths; 0 if none does.
    pub fn quality_by_name(&self, media_type: &str) -> u16 {
        let Some((kind, subtype)) = media_type.split_once('/') else { return 0 };
        let named = self.0.iter().filter(|range| range.matches(kind, subtype) == Some(3));
        named.map(|range| range.quality).max().unwrap_or(0)
    }
}

/// Returns the value of the request's `Accept` header, if it has one. Repeated headers are joined with commas.
pub fn text(headers: &HeaderMap) -> Option<String> {
    let all: Vec<&str> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    (!all.is_empty()).then(|| all.join(","))
}

/// Maximum number of languages that are parsed; the rest is ignored.
const LANGUAGES: usize = 12;

/// Returns the languages of an `Accept-Language` header, or of a parameter in the same syntax, by descending quality.
/// After each language with a variant follows the language without it.
pub fn languages(text: &str) -> Vec<String> {
    let mut ranges: Vec<(u16, &str)> = text
        .split(',')
        .take(LANGUAGES)
        .filter_map(|range| {
            let (language, quality) = range.split_once(';').unwrap_or((range, "q=1"));
            let quality: f64 = quality.trim().strip_prefix("q=").and_then(|q| q.trim().parse().ok()).unwrap_or(1.0);
            let language = language.trim();
            let plain =
                !language.is_empty() && language.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
            (plain && quality > 0.0).then_some(((quality.min(1.0) * 1000.0) as u16, language))
        })
        .collect();
    ranges.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    let mut languages: Vec<String> = Vec::new();
    for (_, language) in ranges {
        let general = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        for language in [language.to_owned(), general] {
            if !languages.contains(&language) {
                languages.push(language);
            }
        }
    }
    languages
}

/// Returns the value of the `Accept-Language` header, if the request has one.
pub fn language(headers: &HeaderMap) -> Option<String> {
    headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// A media range.
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    /// Quality, in thousandths.
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

    /// Returns how specifically the range matches: 3 for type and subtype, 2 for the type alone, 1 for `*/*`, `None` if
    /// it does not match.
    fn matches(&self, kind: &str, subtype: &str) -> Option<u8> {
        match (self.kind, self.subtype) {
            ("*", "*") => Some(1),
            (k, "*") if k.eq_ignore_ascii_case(kind) => Some(2),
            (k, s) if k.eq_ignore_ascii_case(kind) && s.eq_ignore_ascii_case(subtype) => Some(3),
            _ => None,
        }
    }
}
