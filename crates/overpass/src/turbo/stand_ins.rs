//! Replaces shortcuts by values of the same form, to check a text whose places, box and time are not known.

use std::borrow::Cow;
use std::ops::Range;

use terrapin_geocoder::{NamedPlace, PlaceBounds, PlaceElement, PlacePosition, PlaceSource, SourceFact};
use terrapin_osm::{BoundingBox, ElementType};

use super::{ReplacedShortcut, ShortcutProblem, ShortcutValues, expand, expand_all};

/// The box of every shortcut.
const BOX: BoundingBox = BoundingBox { south: 0, west: 0, north: 10_000_000, east: 10_000_000 };

/// A source that has the same place for every name.
struct AnyPlace;

impl PlaceSource for AnyPlace {
    fn find(&self, _name: &str) -> Option<NamedPlace> {
        Some(NamedPlace {
            element: SourceFact::Is(PlaceElement { kind: ElementType::Relation, id: 1 }),
            center: SourceFact::Is(PlacePosition::middle_of(&BOX)),
            bounds: SourceFact::Is(PlaceBounds::of(&BOX)),
        })
    }
}

/// Replaces the shortcuts of a query by values that stand for any place, box and time. The result is valid if the query
/// is valid with the real values.
///
/// # Errors
/// Returns an error for a wrong date, and for definitions that use themselves.
///
/// ```
/// use terrapin_overpass::turbo::with_stand_ins;
///
/// let text = with_stand_ins("{{geocodeArea:Malta}}->.a;node[shop](area.a);out;").unwrap();
/// assert_eq!(text, "area(3600000001)->.a;node[shop](area.a);out;");
/// ```
pub fn with_stand_ins(text: &str) -> Result<Cow<'_, str>, ShortcutProblem> {
    expand(text, &values())
}

fn values() -> ShortcutValues<'static> {
    ShortcutValues { bbox: Some(BOX), now: 1_577_836_800, places: &AnyPlace }
}

/// A query with stand-ins for its shortcuts, and the way back to positions in its own text.
#[derive(Debug, Clone)]
pub struct ExpandedQuery {
    /// The text with stand-ins.
    pub text: String,
    replaced: Vec<ReplacedShortcut>,
}

impl ExpandedQuery {
    /// Replaces the shortcuts of a query like [`with_stand_ins`].
    ///
    /// # Errors
    /// Returns an error for a wrong date, and for definitions that use themselves.
    pub fn new(text: &str) -> Result<ExpandedQuery, ShortcutProblem> {
        let expanded = expand_all(text, &values())?;
        Ok(ExpandedQuery { text: expanded.text, replaced: expanded.replaced })
    }

    /// Returns whether a range of the expanded text contains a part of a replacement.
    pub fn is_replaced(&self, range: &Range<usize>) -> bool {
        self.replaced.iter().any(|replaced| replaced.text.start < range.end && range.start < replaced.text.end)
    }

    /// Returns the range of the query's own text from which a range of the expanded text comes. A replacement comes
    /// from its whole shortcut.
    pub fn source(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.position(range.start, false);
        start..self.position(range.end, true).max(start)
    }

    fn position(&self, at: usize, is_end: bool) -> usize {
        let mut source = 0;
        let mut text = 0;
        for replaced in &self.replaced {
            if at < replaced.text.start || is_end && at == replaced.text.start {
                break;
            }
            if at < replaced.text.end {
                return if is_end { replaced.source.end } else { replaced.source.start };
            }
            (source, text) = (replaced.source.end, replaced.text.end);
        }
        source + at.saturating_sub(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_map_back_to_the_text() {
        let text = "{{k=shop}}{{geocodeArea:Malta}}->.a;node[{{k}}](area.a)({{bbox}});out;";
        let query = ExpandedQuery::new(text).unwrap();
        assert_eq!(query.text, "area(3600000001)->.a;node[shop](area.a)(0,0,1,1);out;");
        let back = |part: &str| {
            let start = query.text.find(part).unwrap();
            &text[query.source(&(start..start + part.len()))]
        };
        assert_eq!(back("->.a"), "->.a");
        assert_eq!(back("(area.a)"), "(area.a)");
        assert_eq!(back("[shop]"), "[{{k}}]");
        assert_eq!(back("0,0"), "{{bbox}}");
        assert_eq!(back("out;"), "out;");
        assert_eq!(back("area(3600000001)->.a;"), "{{geocodeArea:Malta}}->.a;");
        let range = |part: &str| query.text.find(part).map(|start| start..start + part.len()).unwrap();
        assert!(query.is_replaced(&range("[shop]")) && !query.is_replaced(&range("(area.a)")));
    }
}
