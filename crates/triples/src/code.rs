//! Encoding of terms in 64 bits without loss of their lexical form: IRIs of Wikidata's entities and properties,
//! booleans, integers, decimals, plain doubles, dates and times, points. A text that would not round-trip, such as
//! "007" or "+1.0E3", is stored in the dictionary.
//!
//! The upper 8 bits are the kind, the lower 56 bits the value. The codes are part of the file format.

use std::cmp::Ordering;

use oxrdf::vocab::xsd;
use oxrdf::{LiteralRef, NamedNodeRef, TermRef};
use oxsdatatypes::{DateTime, Decimal, Double, Integer};
use spareval::ExpressionTerm;

/// A term encoded in 64 bits. Codes are ordered by kind, then by value; the kind is the prefix of an IRI or the
/// datatype of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermCode(u64);

/// Prefixes of IRIs; a number without leading zeros follows. The index in the list is the kind.
const PREFIXES: [&str; 26] = [
    "http://www.wikidata.org/entity/Q",
    "http://www.wikidata.org/entity/P",
    "http://www.wikidata.org/entity/L",
    "http://www.wikidata.org/prop/P",
    "http://www.wikidata.org/prop/direct/P",
    "http://www.wikidata.org/prop/direct-normalized/P",
    "http://www.wikidata.org/prop/statement/P",
    "http://www.wikidata.org/prop/statement/value/P",
    "http://www.wikidata.org/prop/statement/value-normalized/P",
    "http://www.wikidata.org/prop/qualifier/P",
    "http://www.wikidata.org/prop/qualifier/value/P",
    "http://www.wikidata.org/prop/qualifier/value-normalized/P",
    "http://www.wikidata.org/prop/reference/P",
    "http://www.wikidata.org/prop/reference/value/P",
    "http://www.wikidata.org/prop/reference/value-normalized/P",
    "http://www.wikidata.org/prop/novalue/P",
    "https://www.wikidata.org/wiki/Special:EntityData/Q",
    "https://www.wikidata.org/wiki/Special:EntityData/P",
    "https://www.wikidata.org/wiki/Special:EntityData/L",
    "http://www.wikidata.org/wiki/Special:EntityData/Q",
    "http://www.wikidata.org/wiki/Special:EntityData/P",
    "http://www.wikidata.org/wiki/Special:EntityData/L",
    "http://commons.wikimedia.org/entity/M",
    "https://commons.wikimedia.org/entity/M",
    "https://www.openstreetmap.org/relation/",
    "https://www.openstreetmap.org/node/",
];
/// The beginnings of [`PREFIXES`], to reject most other IRIs quickly.
const HOSTS: [&str; 5] = ["http://www.w", "https://www.w", "http://commo", "https://comm", "https://www.o"];

const BOOLEAN: u64 = 0x80;
const INTEGER: u64 = 0x81;
const DECIMAL: u64 = 0x82;
const DOUBLE: u64 = 0x83;
const DATE_TIME: u64 = 0x84;
const DATE: u64 = 0x85;
const POINT: u64 = 0x86;
/// The first kind of literals; all smaller kinds are IRIs.
const LITERALS: u64 = BOOLEAN;

const PAYLOAD: u32 = 56;
const MASK: u64 = (1 << PAYLOAD) - 1;
const WKT: &str = "http://www.opengis.net/ont/geosparql#wktLiteral";
const BOOLEANS: [&str; 4] = ["false", "true", "0", "1"];

impl TermCode {
    /// Encodes a term, if possible.
    pub fn of(term: TermRef<'_>) -> Option<TermCode> {
        match term {
            TermRef::NamedNode(node) => TermCode::of_iri(node.as_str()),
            TermRef::Literal(literal) => TermCode::of_literal(literal),
            _ => None,
        }
    }

    /// Encodes an IRI, if possible.
    pub fn of_iri(iri: &str) -> Option<TermCode> {
        if !HOSTS.iter().any(|host| iri.starts_with(host)) {
            return None;
        }
        let digits = iri.len() - iri.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = iri.split_at_checked(digits)?;
        let kind = PREFIXES.iter().position(|p| *p == prefix)?;
        Some(TermCode((kind as u64) << PAYLOAD | whole(number).filter(|&n| n <= MASK)?))
    }

    fn of_literal(literal: LiteralRef<'_>) -> Option<TermCode> {
        if literal.language().is_some() {
            return None;
        }
        let (text, datatype) = (literal.value(), literal.datatype());
        let (kind, payload) = if datatype == xsd::STRING {
            return None;
        } else if datatype == xsd::DECIMAL {
            (DECIMAL, decimal(text)?)
        } else if datatype == xsd::INTEGER {
            (INTEGER, integer(text)?)
        } else if datatype == xsd::DATE_TIME {
            (DATE_TIME, date_time(text)?)
        } else if datatype == xsd::DOUBLE {
            (DOUBLE, decimal(text)?)
        } else if datatype == xsd::BOOLEAN {
            (BOOLEAN, BOOLEANS.iter().position(|b| *b == text)? as u64)
        } else if datatype == xsd::DATE {
            (DATE, date(text)? << 17)
        } else if datatype.as_str() == WKT {
            (POINT, point(text)?)
        } else {
            return None;
        };
        Some(TermCode(kind << PAYLOAD | payload))
    }

    /// Returns the number stored in the file.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the code for a number from [`TermCode::to_bits`].
    pub fn from_bits(bits: u64) -> TermCode {
        TermCode(bits)
    }

    /// Returns whether the term is an IRI; otherwise it is a literal.
    pub fn is_iri(self) -> bool {
        self.kind() < LITERALS
    }

    /// Returns the smallest code of a literal.
    pub fn first_literal() -> TermCode {
        TermCode(LITERALS << PAYLOAD)
    }

    /// Returns the range of the codes of points: first, and one past the last.
    pub fn points() -> [u64; 2] {
        [POINT << PAYLOAD, (POINT + 1) << PAYLOAD]
    }

    fn kind(self) -> u64 {
        self.0 >> PAYLOAD
    }

    fn payload(self) -> u64 {
        self.0 & MASK
    }

    /// Returns the text of the term (an IRI or a lexical form) and the datatype of a literal. Returns `None` if the
    /// code is invalid.
    pub fn text(self) -> Option<(String, Option<NamedNodeRef<'static>>)> {
        let value = self.payload();
        Some(match self.kind() {
            BOOLEAN => ((*BOOLEANS.get(value as usize)?).to_owned(), Some(xsd::BOOLEAN)),
            INTEGER => (integer_of(value).to_string(), Some(xsd::INTEGER)),
            DECIMAL => (decimal_text(value), Some(xsd::DECIMAL)),
            DOUBLE => (decimal_text(value), Some(xsd::DOUBLE)),
            DATE_TIME => (date_time_text(value), Some(xsd::DATE_TIME)),
            DATE => (date_text(value >> 17), Some(xsd::DATE)),
            POINT => (point_text(value), Some(NamedNodeRef::new_unchecked(WKT))),
            kind => (format!("{}{value}", PREFIXES.get(kind as usize)?), None),
        })
    }

    /// Returns the value of an integer or a decimal.
    pub fn exact(self) -> Option<ExactNumber> {
        let value = self.payload();
        match self.kind() {
            INTEGER => Some(ExactNumber::from(integer_of(value))),
            DECIMAL => Some(decimal_exact(value)),
            _ => None,
        }
    }

    /// Returns a part of a date or time, or `None` if the day may not exist.
    pub fn date_part(self, part: DatePart) -> Option<ExactNumber> {
        let date = self.certain_date()? >> 17;
        Some(ExactNumber::from(match part {
            DatePart::Year => (date >> 9) as i64 - (1 << 15),
            DatePart::Month => (date >> 5 & 15) as i64,
            DatePart::Day => (date & 31) as i64,
        }))
    }

    /// Returns a number that is greater for a later time. Returns `None` for dates and if the day may not exist.
    pub fn moment(self) -> Option<u64> {
        // All times are in UTC.
        self.certain_date().filter(|_| self.kind() == DATE_TIME)
    }

    /// Returns the value of a date or a time if the day certainly exists.
    fn certain_date(self) -> Option<u64> {
        let value = self.payload();
        if !matches!(self.kind(), DATE_TIME | DATE) {
            return None;
        }
        let (hour, minute, second) = (value >> 12 & 31, value >> 6 & 63, value & 63);
        let (month, day) = (value >> 22 & 15, value >> 17 & 31);
        // 29 February is uncertain: only the calendar knows leap years.
        let longest = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].get((month as usize).checked_sub(1)?)?;
        let is_certain = (1..=*longest).contains(&day) && hour <= 23 && minute <= 59 && second <= 59;
        is_certain.then_some(value)
    }

    /// Returns the value of a number or boolean for expressions, if that is faster than parsing its text.
    pub fn expression(self) -> Option<ExpressionTerm> {
        let value = self.payload();
        Some(match self.kind() {
            BOOLEAN => ExpressionTerm::BooleanLiteral((value % 2 == 1).into()),
            INTEGER => ExpressionTerm::IntegerLiteral(Integer::from(integer_of(value))),
            DECIMAL => ExpressionTerm::DecimalLiteral(decimal_text(value).parse::<Decimal>().ok()?),
            DOUBLE => ExpressionTerm::DoubleLiteral(decimal_text(value).parse::<Double>().ok()?),
            DATE_TIME => ExpressionTerm::DateTimeLiteral(date_time_text(value).parse::<DateTime>().ok()?),
            _ => return None,
        })
    }
}

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatePart {
    /// The year as written; year 0 exists.
    Year,
    /// The month, from 1.
    Month,
    /// The day of the month, from 1.
    Day,
}

/// The exact value of an integer or a decimal. Comparison is numeric: 1.5 equals 1.50.
#[derive(Debug, Clone, Copy)]
pub struct ExactNumber {
    /// All digits as one number.
    digits: i64,
    /// Number of digits after the point, at most 14.
    scale: u32,
}

impl From<i64> for ExactNumber {
    fn from(value: i64) -> ExactNumber {
        ExactNumber { digits: value, scale: 0 }
    }
}

impl Ord for ExactNumber {
    fn cmp(&self, other: &ExactNumber) -> Ordering {
        // The value has at most 19 digits and is scaled by at most 14 more, which an i128 can hold.
        let scaled = |number: &ExactNumber, scale: u32| i128::from(number.digits) * 10_i128.pow(scale);
        scaled(self, other.scale).cmp(&scaled(other, self.scale))
    }
}

impl PartialOrd for ExactNumber {
    fn partial_cmp(&self, other: &ExactNumber) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ExactNumber {
    fn eq(&self, other: &ExactNumber) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ExactNumber {}

/// Parses a number without sign and leading zeros.
fn whole(digits: &str) -> Option<u64> {
    match digits.as_bytes() {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.len() < 18 && rest.iter().all(u8::is_ascii_digit) => digits.parse().ok(),
        _ => None,
    }
}

/// Parses exactly `width` digits.
fn digits(text: &str, width: usize) -> Option<u64> {
    let fits = text.len() == width && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// The bias that makes signed 56-bit integers unsigned and keeps their order.
const MIDDLE: i64 = 1 << (PAYLOAD - 1);

fn integer(text: &str) -> Option<u64> {
    let value = match text.strip_prefix('-') {
        Some("0") => return None,
        Some(digits) => -i64::try_from(whole(digits)?).ok()?,
        None => i64::try_from(whole(text)?).ok()?,
    };
    (-MIDDLE..MIDDLE).contains(&value).then(|| (value + MIDDLE) as u64)
}

fn integer_of(payload: u64) -> i64 {
    payload as i64 - MIDDLE
}

/// Encodes a decimal such as `+12.50`: sign (2 bits: none, plus, minus), number of digits after the point (4 bits; 15
/// without a point), and all digits as one number (50 bits).
fn decimal(text: &str) -> Option<u64> {
    let (sign, text) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (2, &text[1..]),
        _ => (0, text),
    };
    let (before, behind) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
    let before_value = whole(before)?;
    let (scale, value) = match behind {
        None => (15, before_value),
        Some(behind) if (1..15).contains(&behind.len()) => {
            let factor = 10_u64.pow(behind.len() as u32);
            (behind.len() as u64, before_value.checked_mul(factor)?.checked_add(digits(behind, behind.len())?)?)
        }
        Some(_) => return None,
    };
    (value < 1 << 50).then_some(sign << 54 | scale << 50 | value)
}

fn decimal_text(payload: u64) -> String {
    let sign = ["", "+", "-", ""][(payload >> 54) as usize & 3];
    let (scale, value) = ((payload >> 50 & 15) as u32, payload & ((1 << 50) - 1));
    match scale {
        15 => format!("{sign}{value}"),
        scale => {
            let factor = 10_u64.pow(scale);
            format!("{sign}{}.{:0width$}", value / factor, value % factor, width = scale as usize)
        }
    }
}

fn decimal_exact(payload: u64) -> ExactNumber {
    let (scale, value) = ((payload >> 50 & 15) as u32, (payload & ((1 << 50) - 1)) as i64);
    let digits = if payload >> 54 & 3 == 2 { -value } else { value };
    ExactNumber { digits, scale: if scale == 15 { 0 } else { scale } }
}

/// Encodes a date such as `-0044-03-15`: year (16 bits with a bias that keeps the order), month (4), day (5).
fn date(text: &str) -> Option<u64> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    if month > 15 || day > 31 || negative && year == 0 {
        return None;
    }
    let year = if negative { (1 << 15) - year } else { (1 << 15) + year };
    Some(year << 9 | month << 5 | day)
}

fn date_text(value: u64) -> String {
    let year = (value >> 9) as i64 - (1 << 15);
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}-{:02}-{:02}", year.unsigned_abs(), value >> 5 & 15, value & 31)
}

/// Encodes a time in Wikidata's form, `2001-12-31T00:00:00Z`: a date, then hour (5 bits), minute (6), second (6).
fn date_time(text: &str) -> Option<u64> {
    let (day, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = time.splitn(3, ':');
    let mut part = || digits(parts.next()?, 2);
    let (hour, minute, second) = (part()?, part()?, part()?);
    let fits = hour < 32 && minute < 64 && second < 64;
    fits.then_some(date(day)? << 17 | hour << 12 | minute << 6 | second)
}

fn date_time_text(value: u64) -> String {
    format!("{}T{:02}:{:02}:{:02}Z", date_text(value >> 17), value >> 12 & 31, value >> 6 & 63, value & 63)
}

/// Encodes a point such as `Point(12.5 -41.9)`: two decimals of 28 bits. Each has a minus flag (1 bit), the number of
/// digits after the point (3; 7 without a point), and all digits as one number (24).
fn point(text: &str) -> Option<u64> {
    let (a, b) = text.strip_prefix("Point(")?.strip_suffix(')')?.split_once(' ')?;
    let side = |text: &str| {
        let wide = decimal(text)?;
        let (sign, scale, value) = (wide >> 54, wide >> 50 & 15, wide & ((1 << 50) - 1));
        let scale = match scale {
            15 => 7,
            7.. => return None,
            scale => scale,
        };
        (sign != 1 && value < 1 << 24).then_some((sign >> 1) << 27 | scale << 24 | value)
    };
    Some(side(a)? << 28 | side(b)?)
}

fn point_text(payload: u64) -> String {
    let side = |bits: u64| {
        let scale = match bits >> 24 & 7 {
            7 => 15,
            scale => scale,
        };
        decimal_text((bits >> 27 & 1) << 55 | scale << 50 | bits & ((1 << 24) - 1))
    };
    format!("Point({} {})", side(payload >> 28), side(payload & ((1 << 28) - 1)))
}

#[cfg(test)]
mod tests {
    use oxrdf::Literal;

    use super::*;

    fn through(text: &str, datatype: NamedNodeRef<'_>) -> Option<String> {
        let literal = Literal::new_typed_literal(text, datatype);
        let code = TermCode::of(literal.as_ref().into())?;
        let (out, kind) = code.text().unwrap();
        assert_eq!(kind.unwrap().as_str(), datatype.as_str());
        assert!(!code.is_iri() && code >= TermCode::first_literal());
        Some(out)
    }

    #[test]
    fn what_has_a_code_comes_out_as_it_went_in() {
        let wkt = NamedNodeRef::new(WKT).unwrap();
        for (text, datatype, fits) in [
            ("0", xsd::INTEGER, true),
            ("-1", xsd::INTEGER, true),
            ("-0", xsd::INTEGER, false),
            ("007", xsd::INTEGER, false),
            ("+7", xsd::INTEGER, false),
            ("", xsd::INTEGER, false),
            ("36028797018963967", xsd::INTEGER, true),
            ("-36028797018963968", xsd::INTEGER, true),
            ("36028797018963968", xsd::INTEGER, false),
            ("99999999999999999999", xsd::INTEGER, false),
            ("+9745", xsd::DECIMAL, true),
            ("1.50", xsd::DECIMAL, true),
            ("-0.0", xsd::DECIMAL, true),
            ("+0", xsd::DECIMAL, true),
            (".5", xsd::DECIMAL, false),
            ("5.", xsd::DECIMAL, false),
            ("1.00000000000000", xsd::DECIMAL, true),
            ("1.000000000000000", xsd::DECIMAL, false),
            ("-43.196388888889", xsd::DECIMAL, true),
            ("1.5", xsd::DOUBLE, true),
            ("1.0E-6", xsd::DOUBLE, false),
            ("INF", xsd::DOUBLE, false),
            ("true", xsd::BOOLEAN, true),
            ("1", xsd::BOOLEAN, true),
            ("True", xsd::BOOLEAN, false),
            ("2001-12-31T00:00:00Z", xsd::DATE_TIME, true),
            ("-0044-03-15T00:00:00Z", xsd::DATE_TIME, true),
            ("2001-00-00T00:00:00Z", xsd::DATE_TIME, true),
            ("-0000-01-01T00:00:00Z", xsd::DATE_TIME, false),
            ("2001-12-31T00:00:00", xsd::DATE_TIME, false),
            ("2001-12-31T00:00:00.5Z", xsd::DATE_TIME, false),
            ("-13798000000-01-01T00:00:00Z", xsd::DATE_TIME, false),
            ("1999-01-02", xsd::DATE, true),
            ("1999-01-02Z", xsd::DATE, false),
            ("Point(-43.1964 -22.9)", wkt, true),
            ("Point(0 -22)", wkt, true),
            ("Point(-0 0.0)", wkt, true),
            ("Point(+1 2)", wkt, false),
            ("Point(-43.196388888 -22.9)", wkt, false),
            ("POINT(1 2)", wkt, false),
        ] {
            assert_eq!(through(text, datatype).as_deref(), fits.then_some(text), "{text}");
        }
        assert_eq!(TermCode::of(Literal::from("1").as_ref().into()), None);
    }

    #[test]
    fn entities_and_properties() {
        for (iri, fits) in [
            ("http://www.wikidata.org/entity/Q42", true),
            ("http://www.wikidata.org/entity/Q0", true),
            ("http://www.wikidata.org/prop/direct/P31", true),
            ("https://www.wikidata.org/wiki/Special:EntityData/Q1", true),
            ("http://www.wikidata.org/entity/Q042", false),
            ("http://www.wikidata.org/entity/Q", false),
            ("http://www.wikidata.org/entity/Q1é1", false),
            ("http://www.wikidata.org/entity/statement/Q1", false),
            ("http://www.wikidata.org/entity/Q99999999999999999999", false),
            ("http://www.w3.org/1999", false),
        ] {
            let code = TermCode::of_iri(iri);
            assert_eq!(code.and_then(TermCode::text), fits.then(|| (iri.to_owned(), None)), "{iri}");
            assert!(code.is_none_or(TermCode::is_iri));
        }
        assert!(
            TermCode::of_iri("http://www.wikidata.org/entity/Q9")
                < TermCode::of_iri("http://www.wikidata.org/entity/Q10")
        );
    }

    #[test]
    fn numbers_and_parts_of_dates_are_in_order() {
        let code =
            |text: &str, datatype| TermCode::of(Literal::new_typed_literal(text, datatype).as_ref().into()).unwrap();
        let ascending = [
            ("-2", xsd::INTEGER),
            ("-1.5", xsd::DECIMAL),
            ("0", xsd::INTEGER),
            ("+0.10", xsd::DECIMAL),
            ("0.11", xsd::DECIMAL),
            ("36028797018963967", xsd::INTEGER),
        ];
        let values: Vec<ExactNumber> =
            ascending.iter().map(|(text, kind)| code(text, *kind).exact().unwrap()).collect();
        assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
        assert_eq!(code("1.5", xsd::DECIMAL).exact(), code("+1.50", xsd::DECIMAL).exact());
        assert_eq!(code("-0.0", xsd::DECIMAL).exact(), Some(ExactNumber::from(0)));
        assert_eq!(code("1.5", xsd::DOUBLE).exact(), None);
        let year = |text: &str, kind| code(text, kind).date_part(DatePart::Year);
        assert_eq!(year("1952-03-01T00:00:00Z", xsd::DATE_TIME), Some(ExactNumber::from(1952)));
        assert_eq!(year("-0044-03-15", xsd::DATE), Some(ExactNumber::from(-44)));
        for no_day in ["2001-00-00T00:00:00Z", "2001-02-29T00:00:00Z", "2001-02-01T24:00:00Z"] {
            assert_eq!(year(no_day, xsd::DATE_TIME), None, "{no_day}");
        }
        assert_eq!(code("1999-01-02", xsd::DATE).date_part(DatePart::Day), Some(ExactNumber::from(2)));
    }

    #[test]
    fn values_are_those_of_the_text() {
        let value = |text: &str, datatype| {
            let literal = Literal::new_typed_literal(text, datatype);
            (
                TermCode::of(literal.as_ref().into()).and_then(TermCode::expression),
                ExpressionTerm::from(oxrdf::Term::from(literal)),
            )
        };
        for (text, datatype) in [
            ("-12", xsd::INTEGER),
            ("+1.50", xsd::DECIMAL),
            ("-2.5", xsd::DOUBLE),
            ("0", xsd::BOOLEAN),
            ("true", xsd::BOOLEAN),
            ("1999-01-02T03:04:05Z", xsd::DATE_TIME),
        ] {
            let (quick, slow) = value(text, datatype);
            assert!(quick == Some(slow), "{text}");
        }
        // An invalid date stays a literal without a value.
        assert!(value("2001-00-00T00:00:00Z", xsd::DATE_TIME).0.is_none());
    }
}
