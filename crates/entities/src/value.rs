//! Values of statements, from their terms and from the nodes of full values.

use oxrdf::vocab::xsd;
use oxrdf::{NamedNodeRef, Term};
use percent_encoding::percent_decode_str;
use terrapin_calendar::{days_from_civil, julian_from_days};
use terrapin_triples::{Store, TermId};

const ENTITY: &str = "http://www.wikidata.org/entity/";
const FILE: &str = "http://commons.wikimedia.org/wiki/Special:FilePath/";
const COMMONS_DATA: &str = "http://commons.wikimedia.org/data/main/";
const GENID: &str = "http://www.wikidata.org/.well-known/genid/";
const WKT: &str = "http://www.opengis.net/ont/geosparql#wktLiteral";
const WIKIBASE: &str = "http://wikiba.se/ontology#";
/// The unit of numbers without a unit.
const ONE: &str = "http://www.wikidata.org/entity/Q199";
const EARTH: &str = "http://www.wikidata.org/entity/Q2";
const GREGORIAN: &str = "http://www.wikidata.org/entity/Q1985727";
const JULIAN: &str = "http://www.wikidata.org/entity/Q1985786";
/// The precisions of a year, a month and a day; larger ones are finer.
const YEAR: u8 = 9;
const MONTH: u8 = 10;
const DAY: u8 = 11;
/// Days of years beyond this number are not converted between calendars.
const FAR: i64 = 10_000_000;

/// A value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum EntityValue {
    /// A text without a language: a string, an external identifier or a formula.
    Text(String),
    /// The name of a file on Wikimedia Commons.
    File(String),
    /// The name of a data page on Wikimedia Commons.
    Data(String),
    Url(String),
    /// The identifier of an entity, a form or a sense.
    Entity(String),
    Monolingual {
        language: String,
        text: String,
    },
    Time {
        /// For example `+1952-03-11T00:00:00Z`, with zeros for unknown parts.
        time: String,
        timezone: i64,
        /// 11 for a day, 10 for a month, 9 for a year.
        precision: u8,
        /// The item of the calendar model.
        calendar: String,
    },
    Quantity {
        /// With a sign, as are the bounds.
        amount: String,
        upper: Option<String>,
        lower: Option<String>,
        /// The item of the unit, or `1`.
        unit: String,
    },
    Globe {
        latitude: f64,
        longitude: f64,
        precision: Option<f64>,
        /// The item of the globe.
        globe: String,
    },
}

impl EntityValue {
    /// Returns the data type of properties with such values, for properties without a declared type.
    pub fn datatype(&self) -> &'static str {
        match self {
            EntityValue::Text(_) => "string",
            EntityValue::File(_) => "commonsMedia",
            EntityValue::Data(name) if name.ends_with(".map") => "geo-shape",
            EntityValue::Data(_) => "tabular-data",
            EntityValue::Url(_) => "url",
            EntityValue::Entity(id) => match entity_type(id) {
                "property" => "wikibase-property",
                "lexeme" => "wikibase-lexeme",
                "form" => "wikibase-form",
                "sense" => "wikibase-sense",
                "entity-schema" => "entity-schema",
                _ => "wikibase-item",
            },
            EntityValue::Monolingual { .. } => "monolingualtext",
            EntityValue::Time { .. } => "time",
            EntityValue::Quantity { .. } => "quantity",
            EntityValue::Globe { .. } => "globe-coordinate",
        }
    }

    /// Converts a term to a value. Parts that a term cannot have (the precision of a time, the bounds of a quantity)
    /// get their most common values. Returns `None` for an unknown value.
    pub(super) fn simple(term: &Term) -> Option<EntityValue> {
        match term {
            Term::NamedNode(node) => EntityValue::of_iri(node.as_str()),
            Term::Literal(literal) => {
                let text = literal.value();
                if let Some(language) = literal.language() {
                    return Some(EntityValue::Monolingual { language: language.to_owned(), text: text.to_owned() });
                }
                Some(match literal.datatype() {
                    datatype if datatype == xsd::DATE_TIME => EntityValue::Time {
                        time: wikibase_time(text, DAY, false),
                        timezone: 0,
                        precision: DAY,
                        calendar: GREGORIAN.to_owned(),
                    },
                    datatype if datatype == xsd::DECIMAL || datatype == xsd::INTEGER => {
                        EntityValue::Quantity { amount: signed(text), upper: None, lower: None, unit: "1".to_owned() }
                    }
                    datatype if datatype.as_str() == WKT => return point(term),
                    _ => EntityValue::Text(text.to_owned()),
                })
            }
            _ => None,
        }
    }

    fn of_iri(iri: &str) -> Option<EntityValue> {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        if iri.starts_with(GENID) {
            return None;
        }
        Some(if let Some(id) = iri.strip_prefix(ENTITY) {
            EntityValue::Entity(id.to_owned())
        } else if let Some(name) = iri.strip_prefix(FILE) {
            EntityValue::File(decoded(name))
        } else if let Some(name) = iri.strip_prefix(COMMONS_DATA) {
            EntityValue::Data(decoded(name).replace('+', " "))
        } else {
            EntityValue::Url(iri.to_owned())
        })
    }

    /// Reads the full value of a node.
    pub(super) fn full(store: &Store, node: TermId) -> Option<EntityValue> {
        let fact = |name: &str| {
            let predicate = store.id(NamedNodeRef::new_unchecked(&format!("{WIKIBASE}{name}")).into())?;
            let [_, _, object] = store.triples(Some(node), Some(predicate), None).next()?;
            store.term(object)
        };
        let text = |name: &str| match fact(name)? {
            Term::Literal(literal) => Some(literal.value().to_owned()),
            Term::NamedNode(node) => Some(node.into_string()),
            _ => None,
        };
        if let Some(Term::Literal(time)) = fact("timeValue") {
            let precision = text("timePrecision").and_then(|text| text.parse().ok()).unwrap_or(DAY);
            let calendar = text("timeCalendarModel").unwrap_or_else(|| GREGORIAN.to_owned());
            let time = match time.datatype() == xsd::DATE_TIME {
                true => wikibase_time(time.value(), precision, calendar == JULIAN),
                false => time.value().to_owned(),
            };
            let timezone = text("timeTimezone").and_then(|text| text.parse().ok()).unwrap_or(0);
            return Some(EntityValue::Time { time, timezone, precision, calendar });
        }
        if let Some(amount) = text("quantityAmount") {
            let bound = |name| text(name).as_deref().map(signed);
            let unit = text("quantityUnit").filter(|unit| unit != ONE).unwrap_or_else(|| "1".to_owned());
            let (upper, lower) = (bound("quantityUpperBound"), bound("quantityLowerBound"));
            return Some(EntityValue::Quantity { amount: signed(&amount), upper, lower, unit });
        }
        let number = |name| text(name)?.parse().ok();
        Some(EntityValue::Globe {
            latitude: number("geoLatitude")?,
            longitude: number("geoLongitude")?,
            precision: number("geoPrecision"),
            globe: text("geoGlobe").unwrap_or_else(|| EARTH.to_owned()),
        })
    }
}

/// Returns the type of the entity with an identifier, as named in values.
pub(super) fn entity_type(id: &str) -> &'static str {
    match (id.bytes().next(), id.split_once('-')) {
        (Some(b'L'), Some((_, part))) if part.starts_with('F') => "form",
        (Some(b'L'), Some(_)) => "sense",
        (Some(b'L'), None) => "lexeme",
        (Some(b'P'), _) => "property",
        (Some(b'E'), _) => "entity-schema",
        _ => "item",
    }
}

fn point(term: &Term) -> Option<EntityValue> {
    let point = terrapin_triples::GlobePoint::of(term)?;
    let globe = point.globe.to_owned();
    Some(EntityValue::Globe { latitude: point.latitude, longitude: point.longitude, precision: None, globe })
}

/// Adds a plus sign to a number without a sign.
fn signed(number: &str) -> String {
    if number.starts_with(['+', '-']) { number.to_owned() } else { format!("+{number}") }
}

/// Converts a time of the proleptic Gregorian calendar with a year 0 to Wikibase's form. There, years before the common
/// era count from 1, parts finer than the precision are zero, and days are in their own calendar.
fn wikibase_time(time: &str, precision: u8, julian: bool) -> String {
    let (negative, rest) = time.strip_prefix('-').map_or((false, time), |rest| (true, rest));
    let (date, clock) = rest.split_once('T').unwrap_or((rest, "00:00:00Z"));
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (Some(Some(year)), Some(Some(month)), Some(Some(day))) = (parts.next(), parts.next(), parts.next()) else {
        return time.to_owned();
    };
    let year = if negative { -year } else { year };
    let (year, month, day) = match julian && precision >= DAY && year.abs() < FAR {
        true => julian_from_days(days_from_civil(year, month, day)),
        false => (year, month, day),
    };
    let (sign, year) = match year {
        1.. => ('+', year),
        _ if precision >= YEAR => ('-', 1 - year),
        0 => ('+', 0),
        _ => ('-', -year),
    };
    let month = if precision >= MONTH { month } else { 0 };
    let day = if precision >= DAY { day } else { 0 };
    format!("{sign}{year:04}-{month:02}-{day:02}T{clock}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(wikibase_time("1952-03-11T00:00:00Z", 11, false), "+1952-03-11T00:00:00Z");
        assert_eq!(wikibase_time("1952-01-01T00:00:00Z", 9, false), "+1952-00-00T00:00:00Z");
        assert_eq!(wikibase_time("-0043-03-13T00:00:00Z", 11, true), "-0044-03-15T00:00:00Z");
        assert_eq!(wikibase_time("0000-01-01T00:00:00Z", 9, false), "-0001-00-00T00:00:00Z");
        assert_eq!(wikibase_time("-13798000000-01-01T00:00:00Z", 3, false), "-13798000000-00-00T00:00:00Z");
        assert_eq!(wikibase_time("1517-10-01T00:00:00Z", 10, true), "+1517-10-00T00:00:00Z");
        assert_eq!(wikibase_time("soon", 11, false), "soon");
    }

    #[test]
    fn terms() {
        let iri = |iri: &str| EntityValue::simple(&oxrdf::NamedNode::new_unchecked(iri).into());
        assert_eq!(iri("http://www.wikidata.org/entity/L42-F1").unwrap().datatype(), "wikibase-form");
        assert_eq!(
            iri("http://commons.wikimedia.org/wiki/Special:FilePath/A%20b%2Bc.jpg"),
            Some(EntityValue::File("A b+c.jpg".to_owned()))
        );
        assert_eq!(iri("http://www.wikidata.org/.well-known/genid/0"), None);
        assert_eq!(iri("http://example.org/a%20b").unwrap().datatype(), "url");
    }
}
