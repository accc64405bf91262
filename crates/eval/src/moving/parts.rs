//! Finds the parts of a query in OverpassQL that depend on the data: places, coordinates, ids, users, dates and tags. The
//! parts come from the syntax tree; their ranges refer to the text as written.

use std::collections::BTreeSet;
use std::ops::Range;

use terrapin_osm::ElementType;
use terrapin_overpass::syntax::pieces::{Piece, PieceKind, pieces};
use terrapin_overpass::syntax::{
    Area, AroundPlace, Changed, Filter, FilterKind, IsInPlace, Query, QueryType, StatementKind, Tag, UserFilter,
    on_statements, timestamp,
};
use terrapin_overpass::turbo::ExpandedQuery;

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryPart {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The meaning.
    pub kind: PartKind,
}

/// The meaning of a part.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PartKind {
    /// The name in `{{geocodeArea:name}}`, with its quotation marks.
    Shortcut {
        /// The name.
        name: String,
    },
    /// A tag filter of a query for a place: `area["name"="Bonn"]`. The range is that of the filter with its brackets.
    Place {
        /// The number of the query, for filters that belong together.
        query: usize,
        /// The filter's role.
        role: PlaceRole,
        /// The key.
        key: String,
        /// The value; for a regular expression the expression.
        value: String,
        /// Whether the value is a regular expression.
        is_pattern: bool,
    },
    /// The id of an area.
    AreaId(i64),
    /// The id of a relation of which the query makes an area.
    AreaRelation(i64),
    /// The id of an element of one of some types: `nwr(5)` has three.
    Id(Vec<ElementType>, i64),
    /// The value of a tag filter.
    Value {
        /// The number of the query among [`QueryParts::queries`].
        query: usize,
        /// The number of the filter in it.
        filter: usize,
    },
    /// A user's name in a string.
    UserName(String),
    /// A user's id.
    UserId(i64),
    /// A timestamp in a string.
    Date {
        /// Seconds since 1970.
        at: i64,
        /// The role of the timestamp.
        role: DateRole,
    },
    /// A latitude in degrees.
    Lat(f64),
    /// A longitude in degrees.
    Lon(f64),
}

/// The role of a tag filter in a query for a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceRole {
    /// `name`.
    Name,
    /// A name in another language.
    OtherName,
    /// A code or a link that identifies the place alone, such as `ISO3166-1`.
    Code,
    /// A value that only fits this place, such as a post code.
    Local,
    /// `admin_level`.
    Level,
}

/// The role of a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateRole {
    /// The start of the changes.
    Since,
    /// The end of the changes.
    Until,
}

/// The tag filters of a query statement, except those that identify a place.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct QueryTags {
    /// The types of elements.
    pub kinds: Vec<ElementType>,
    /// The filters.
    pub tags: Vec<Tag>,
}

/// The parts of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct QueryParts {
    /// The parts in the order of the text. Their ranges do not overlap.
    pub parts: Vec<QueryPart>,
    /// The tag filters of each query statement.
    pub queries: Vec<QueryTags>,
    /// Whether the query uses `{{bbox}}` or `{{center}}`.
    pub needs_box: bool,
    /// Whether the query reads data of a date that it sets: `[date:...]`, `[diff:...]`.
    pub needs_history: bool,
    /// Whether the query has syntax errors: only its shortcuts are parts.
    pub invalid: bool,
}

/// The shortcuts with the name of a place.
const SHORTCUTS: [&str; 8] = [
    "geocodeArea",
    "geocodeId",
    "geocodeBbox",
    "geocodeCoords",
    "nominatimArea",
    "nominatimId",
    "nominatimBbox",
    "nominatimCoords",
];

impl QueryParts {
    /// Finds the parts of a query.
    pub fn of(text: &str) -> QueryParts {
        let mut found = QueryParts::default();
        found.read_shortcuts(text);
        let expanded = ExpandedQuery::new(text).ok();
        let script = expanded.as_ref().and_then(|expanded| terrapin_overpass::parse(&expanded.text).ok());
        let (Some(expanded), Some(script)) = (expanded, script) else {
            found.invalid = true;
            return found;
        };
        // The XML form has no text of filters to edit.
        if text.trim_start().starts_with('<') {
            found.invalid = true;
            return found;
        }
        found.needs_history = script.settings.time != Default::default();
        found.read_settings(text);
        let mut makes_areas = false;
        on_statements(&script.statements, &mut |statement| {
            makes_areas |= matches!(statement.kind, StatementKind::MapToArea(_));
        });
        let mut reader = PartReader { text, expanded: &expanded, makes_areas, found };
        on_statements(&script.statements, &mut |statement| match &statement.kind {
            StatementKind::Query(query) => reader.query(query),
            StatementKind::IsIn(is_in) if matches!(is_in.place, IsInPlace::Point(_)) => {
                let range = expanded.source(&(statement.span.start..statement.span.end));
                let numbers = numbers(text, &range);
                reader.coordinates(&numbers);
            }
            _ => {}
        });
        let mut found = reader.found;
        found.parts.sort_by_key(|part| (part.range.start, part.range.end));
        let mut end = 0;
        found.parts.retain(|part| {
            let is_free = part.range.start >= end;
            end = end.max(part.range.end);
            is_free
        });
        found
    }

    /// Reads the shortcuts with a place, and whether a box is needed.
    fn read_shortcuts(&mut self, text: &str) {
        for piece in pieces(text).into_iter().filter(|piece| piece.kind == PieceKind::Shortcut) {
            let inner = piece.text.get(2..piece.text.len().saturating_sub(2)).unwrap_or_default();
            if matches!(inner.trim(), "bbox" | "center" | "wsen") {
                self.needs_box = true;
            }
            let Some((name, argument)) = inner.split_once(':') else { continue };
            // `{{bbox=area:Bonn}}` is an older form.
            let is_box =
                name.split_once('=').is_some_and(|(key, value)| key.trim() == "bbox" && value.trim() == "area");
            if !SHORTCUTS.contains(&name.trim()) && !is_box || argument.contains("{{") {
                continue;
            }
            let start = piece.start + 2 + name.len() + 1;
            let place = argument.trim().trim_matches('"').trim_matches('\'').trim();
            let before = argument.len() - argument.trim_start().len();
            let range = start + before..start + before + argument.trim().len();
            self.parts.push(QueryPart { range, kind: PartKind::Shortcut { name: place.to_owned() } });
        }
    }

    /// Reads the coordinates of `[bbox:...]`.
    fn read_settings(&mut self, text: &str) {
        let all = pieces(text);
        let mut tokens = all.iter().filter(|piece| piece.is_token() && piece.kind != PieceKind::Shortcut).peekable();
        while tokens.peek().is_some_and(|piece| piece.text == "[") {
            let setting: Vec<&Piece<'_>> = tokens.by_ref().take_while(|piece| piece.text != "]").collect();
            if setting.get(1).is_some_and(|piece| piece.text == "bbox") {
                let sides: Vec<&Piece<'_>> =
                    setting.into_iter().filter(|piece| piece.kind == PieceKind::Number).collect();
                let sides: Vec<(Range<usize>, f64)> = sides.into_iter().filter_map(number).collect();
                self.add_coordinates(&sides);
            }
        }
    }

    /// Adds numbers that are latitudes and longitudes in turn.
    fn add_coordinates(&mut self, numbers: &[(Range<usize>, f64)]) {
        for (index, (range, value)) in numbers.iter().enumerate() {
            let kind = if index.is_multiple_of(2) { PartKind::Lat(*value) } else { PartKind::Lon(*value) };
            self.parts.push(QueryPart { range: range.clone(), kind });
        }
    }
}

/// Returns the range and the value of a number.
fn number(piece: &Piece<'_>) -> Option<(Range<usize>, f64)> {
    Some((piece.start..piece.start + piece.text.len(), piece.text.parse().ok()?))
}

/// Returns the numbers in a range of the text, which are not those of shortcuts.
fn numbers(text: &str, range: &Range<usize>) -> Vec<(Range<usize>, f64)> {
    let inside = pieces_in(text, range);
    inside.iter().filter(|piece| piece.kind == PieceKind::Number).filter_map(number).collect()
}

/// Returns the pieces of a range of the text, with positions in the whole text.
fn pieces_in<'t>(text: &'t str, range: &Range<usize>) -> Vec<Piece<'t>> {
    let inner = pieces(text.get(range.clone()).unwrap_or_default());
    inner.into_iter().map(|piece| Piece { start: piece.start + range.start, ..piece }).collect()
}

/// Returns the text of a string without its quotation marks, if it has no escapes.
fn unquoted<'t>(piece: &Piece<'t>) -> Option<&'t str> {
    let inner = piece.text.get(1..piece.text.len().saturating_sub(1))?;
    (piece.kind == PieceKind::Text && !inner.contains('\\')).then_some(inner)
}

/// Reads the parts of statements.
struct PartReader<'a> {
    text: &'a str,
    expanded: &'a ExpandedQuery,
    /// Whether the query makes areas of elements.
    makes_areas: bool,
    found: QueryParts,
}

impl PartReader<'_> {
    fn query(&mut self, query: &Query) {
        let number = self.found.queries.len();
        let is_place = is_place(query);
        let mut tags = QueryTags { kinds: kinds(query.what), tags: Vec::new() };
        for filter in &query.filters {
            let span = filter.span;
            let range = self.expanded.source(&(span.start..span.end));
            match &filter.kind {
                FilterKind::Tag(tag) => {
                    let role = if is_place { tag_text(tag).and_then(|(key, ..)| place_role(key)) } else { None };
                    match (role, tag_text(tag)) {
                        (Some(role), Some((key, value, is_pattern))) => {
                            let (key, value) = (key.to_owned(), value.to_owned());
                            let kind = PartKind::Place { query: number, role, key, value, is_pattern };
                            self.add_written(range, kind);
                        }
                        _ => {
                            self.value(&range, number, tags.tags.len());
                            tags.tags.push(tag.clone());
                        }
                    }
                }
                other => self.filter(query.what, other, &range),
            }
        }
        self.found.queries.push(tags);
    }

    /// Adds a part, unless it comes from a shortcut.
    fn add_written(&mut self, range: Range<usize>, kind: PartKind) {
        let is_written = pieces_in(self.text, &range).iter().all(|piece| piece.kind != PieceKind::Shortcut);
        if is_written {
            self.found.parts.push(QueryPart { range, kind });
        }
    }

    /// Adds the value of a tag filter.
    fn value(&mut self, range: &Range<usize>, query: usize, filter: usize) {
        let inside = pieces_in(self.text, range);
        let operator = inside.iter().rposition(|piece| matches!(piece.text, "=" | "~"));
        let end = inside.iter().rposition(|piece| piece.text == "]");
        let (Some(operator), Some(end)) = (operator, end) else { return };
        let value: Vec<&Piece<'_>> =
            inside.get(operator + 1..end).unwrap_or_default().iter().filter(|piece| piece.is_token()).collect();
        // `,i` stays.
        let value: Vec<&Piece<'_>> = value.into_iter().take_while(|piece| piece.text != ",").collect();
        if let (Some(first), Some(last)) = (value.first(), value.last()) {
            self.add_written(first.start..last.start + last.text.len(), PartKind::Value { query, filter });
        }
    }

    fn filter(&mut self, what: QueryType, filter: &FilterKind, range: &Range<usize>) {
        match filter {
            FilterKind::Bbox(_) => {
                let numbers = numbers(self.text, range);
                self.coordinates(&numbers);
            }
            FilterKind::Around(around) if matches!(around.place, AroundPlace::Points(_)) => {
                // The first number is the radius, unless a shortcut is.
                let numbers = numbers(self.text, range);
                self.coordinates(numbers.get(numbers.len() % 2..).unwrap_or_default());
            }
            FilterKind::Poly(_) => self.polygon(range),
            FilterKind::Ids(_) => self.ids(what, range),
            FilterKind::Area(Area::Id(id)) => {
                if let [(range, _)] = numbers(self.text, range).as_slice() {
                    self.found.parts.push(QueryPart { range: range.clone(), kind: PartKind::AreaId(*id) });
                }
            }
            FilterKind::User(user) => self.users(&user.who, range),
            FilterKind::Newer(_) => self.dates(&[DateRole::Since], range),
            FilterKind::Changed(Changed { .. }) => self.dates(&[DateRole::Since, DateRole::Until], range),
            _ => {}
        }
    }

    /// Adds coordinates, in pairs.
    fn coordinates(&mut self, numbers: &[(Range<usize>, f64)]) {
        if numbers.len().is_multiple_of(2) {
            self.found.add_coordinates(numbers);
        }
    }

    /// Adds the coordinates in the string of `(poly:"...")`.
    fn polygon(&mut self, range: &Range<usize>) {
        let inside = pieces_in(self.text, range);
        let Some(string) = inside.iter().find(|piece| piece.kind == PieceKind::Text) else { return };
        let Some(inner) = unquoted(string) else { return };
        let mut numbers = Vec::new();
        for word in inner.split_whitespace() {
            let start = string.start + 1 + (word.as_ptr() as usize - inner.as_ptr() as usize);
            let Ok(value) = word.parse::<f64>() else { return };
            numbers.push((start..start + word.len(), value));
        }
        self.coordinates(&numbers);
    }

    fn ids(&mut self, what: QueryType, range: &Range<usize>) {
        for piece in pieces_in(self.text, range).into_iter().filter(|piece| piece.kind == PieceKind::Number) {
            let Ok(id) = piece.text.parse::<i64>() else { continue };
            let kind = match what {
                QueryType::Area => PartKind::AreaId(id),
                QueryType::Relation if self.makes_areas => PartKind::AreaRelation(id),
                QueryType::Derived => continue,
                _ => PartKind::Id(kinds(what), id),
            };
            self.found.parts.push(QueryPart { range: piece.start..piece.start + piece.text.len(), kind });
        }
    }

    fn users(&mut self, who: &UserFilter, range: &Range<usize>) {
        for piece in pieces_in(self.text, range) {
            let kind = match (who, piece.kind) {
                (UserFilter::Names(_), PieceKind::Text) => unquoted(&piece).map(|n| PartKind::UserName(n.to_owned())),
                (UserFilter::Ids(_), PieceKind::Number) => piece.text.parse().ok().map(PartKind::UserId),
                _ => None,
            };
            if let Some(kind) = kind {
                self.found.parts.push(QueryPart { range: piece.start..piece.start + piece.text.len(), kind });
            }
        }
    }

    fn dates(&mut self, roles: &[DateRole], range: &Range<usize>) {
        let strings: Vec<Piece<'_>> =
            pieces_in(self.text, range).into_iter().filter(|piece| piece.kind == PieceKind::Text).collect();
        for (piece, role) in strings.iter().zip(roles) {
            if let Some(at) = unquoted(piece).and_then(timestamp) {
                let range = piece.start + 1..piece.start + piece.text.len() - 1;
                self.found.parts.push(QueryPart { range, kind: PartKind::Date { at, role: *role } });
            }
        }
    }
}

/// Returns whether a query selects places: areas, and boundaries with a name.
fn is_place(query: &Query) -> bool {
    let keys: BTreeSet<&str> = query.filters.iter().filter_map(filter_key).collect();
    let is_boundary = ["boundary", "admin_level", "place"].iter().any(|key| keys.contains(key));
    let is_type = query.filters.iter().any(|filter| match &filter.kind {
        FilterKind::Tag(Tag::Equals { key, value }) => key == "type" && value == "boundary",
        _ => false,
    });
    // Without a name or a code, the filters describe a kind of place.
    let is_identified = query.filters.iter().filter_map(identifying_key).next().is_some();
    is_identified && (query.what == QueryType::Area || is_boundary || is_type)
}

fn filter_key(filter: &Filter) -> Option<&str> {
    match &filter.kind {
        FilterKind::Tag(tag) => tag_text(tag).map(|(key, ..)| key),
        _ => None,
    }
}

/// Returns the key of a filter for a name or a code.
fn identifying_key(filter: &Filter) -> Option<&str> {
    let identifies = |key: &&str| !matches!(place_role(key), None | Some(PlaceRole::Local | PlaceRole::Level));
    filter_key(filter).filter(identifies)
}

/// Returns key and value of a filter for a value, and whether the value is a regular expression.
pub(crate) fn tag_text(tag: &Tag) -> Option<(&str, &str, bool)> {
    match tag {
        Tag::Equals { key, value } => Some((key, value, false)),
        Tag::Matches { key, value } => Some((key, &value.pattern, true)),
        _ => None,
    }
}

fn place_role(key: &str) -> Option<PlaceRole> {
    let is_code =
        key.to_ascii_lowercase().starts_with("iso3166") || key.contains("wikipedia") || key.contains("wikidata");
    let is_local = ["de:", "ref", "is_in", "addr:"].iter().any(|start| key.starts_with(start)) || key == "postal_code";
    match key {
        "name" => Some(PlaceRole::Name),
        "admin_level" => Some(PlaceRole::Level),
        _ if key.starts_with("name:") || key.ends_with("_name") => Some(PlaceRole::OtherName),
        _ if is_code => Some(PlaceRole::Code),
        _ if is_local => Some(PlaceRole::Local),
        _ => None,
    }
}

/// Returns the types of elements that a query finds.
fn kinds(what: QueryType) -> Vec<ElementType> {
    use ElementType::{Node, Relation, Way};
    match what {
        QueryType::Node => vec![Node],
        QueryType::Way => vec![Way],
        QueryType::Relation => vec![Relation],
        QueryType::Nwr => vec![Node, Way, Relation],
        QueryType::Nw => vec![Node, Way],
        QueryType::Nr => vec![Node, Relation],
        QueryType::Wr => vec![Way, Relation],
        QueryType::Area => vec![Relation, Way],
        QueryType::Derived => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        QueryParts::of(text).parts.iter().map(|part| &text[part.range.clone()]).collect()
    }

    #[test]
    fn parts_have_their_ranges() {
        let query = "[bbox:1,2,3,4][out:json];{{geocodeArea: \"Bonn\" }}->.a;\
                     (node[shop=bakery]['name'~\"Anna\",i](area.a);way(around:50,5.5,-6);rel(id:7,8);area(3600000009););\
                     node(user:'Ann')(changed:\"2018-10-27T00:00:00Z\",\"2018-10-28T00:00:00Z\")(poly:\"1.5 2 3 4 5 6\");out;";
        assert_eq!(
            texts(query),
            [
                "1",
                "2",
                "3",
                "4",
                "\"Bonn\"",
                "bakery",
                "\"Anna\"",
                "5.5",
                "-6",
                "7",
                "8",
                "3600000009",
                "'Ann'",
                "2018-10-27T00:00:00Z",
                "2018-10-28T00:00:00Z",
                "1.5",
                "2",
                "3",
                "4",
                "5",
                "6"
            ]
        );
    }

    #[test]
    fn filters_of_places_are_told_from_tags() {
        let query = "area[\"name\"=\"Bonn\"][admin_level=6][\"ISO3166-2\"]->.a;node[name=Bonn](area.a);\
                     rel[boundary=administrative][name=Bonn];map_to_area;out;";
        assert_eq!(texts(query), ["[\"name\"=\"Bonn\"]", "[admin_level=6]", "Bonn", "administrative", "[name=Bonn]"]);
        assert_eq!(texts("rel[admin_level=9];out;"), ["9"]);
        let kinds = |text| QueryParts::of(text).parts.into_iter().map(|part| part.kind).collect::<Vec<_>>();
        assert_eq!(kinds("rel(5);map_to_area->.a;"), [PartKind::AreaRelation(5)]);
        assert_eq!(kinds("rel(5);out;"), [PartKind::Id(vec![ElementType::Relation], 5)]);
        assert_eq!(kinds("wr(5);out;"), [PartKind::Id(vec![ElementType::Way, ElementType::Relation], 5)]);
    }

    #[test]
    fn shortcuts_in_other_parts_stay() {
        assert_eq!(texts("{{k=bakery}}node[shop={{k}}]({{bbox}});way(around:5,{{center}});out;"), Vec::<&str>::new());
        let parts = QueryParts::of("node({{bbox}});out;");
        assert!(parts.needs_box && !parts.invalid && !parts.needs_history);
        assert!(QueryParts::of("[date:\"2020-01-01T00:00:00Z\"];node(1);out;").needs_history);
        let broken = QueryParts::of("{{geocodeArea:Bonn}}->.a;node[;");
        assert!(broken.invalid && broken.parts.len() == 1);
    }
}
