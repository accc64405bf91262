//! Converts values of snaks to terms, and to nodes of full values with their facts.

use super::languages::canonical;
use super::model::{DataValue, ValueFields, WikidataSnak};
use super::sites::encode;
use super::time::date_time;
use super::units::{Conversion, conversion};
use super::vocabulary as v;
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};

/// IRI of the Julian calendar's item.
const JULIAN: &str = "http://www.wikidata.org/entity/Q1985786";
/// IRI of the unit item of numbers without a unit.
const ONE: &str = "http://www.wikidata.org/entity/Q199";
/// IRI of the Earth's item.
const EARTH: &str = "http://www.wikidata.org/entity/Q2";

/// A value in RDF.
pub(super) struct RdfValue {
    /// The simple value as one term.
    pub(super) simple: Term,
    /// The full value as a node.
    pub(super) full: Option<ValueNode>,
    /// The normalised value.
    pub(super) normalized: Option<Normalized>,
}

/// A value in a normalised form, in which values can be compared.
pub(super) enum Normalized {
    /// A quantity in the base unit.
    Quantity(ValueNode),
    /// The IRI of an external identifier.
    Iri(NamedNode),
}

/// The node of a full value.
pub(super) struct ValueNode {
    /// Its IRI, derived from its content.
    pub(super) iri: NamedNode,
    /// Its class in the Wikibase ontology.
    pub(super) class: &'static str,
    /// Its facts: names in the Wikibase ontology, and terms.
    pub(super) facts: Vec<(&'static str, Term)>,
}

impl ValueNode {
    fn new(class: &'static str, facts: Vec<(&'static str, Term)>) -> Self {
        let mut content = class.to_owned();
        for (name, term) in &facts {
            content.push_str(&format!("\n{name} {term}"));
        }
        ValueNode { iri: v::name(v::VALUE, &hash(&content)), class, facts }
    }
}

/// Returns a hash of a text as 32 hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    let mut digits = blake3::hash(text.as_bytes()).to_hex().to_string();
    digits.truncate(32);
    digits
}

/// Returns the value of a snak, or `None` if it has none with a form in RDF. `formatter` converts an external
/// identifier to an IRI: the identifier replaces `$1` in it.
pub(super) fn value(snak: &WikidataSnak<'_>, formatter: Option<&str>) -> Option<RdfValue> {
    let data = snak.datavalue.as_ref()?;
    let plain = |simple: Term| Some(RdfValue { simple, full: None, normalized: None });
    let parts = &data.value.parts;
    match &*data.r#type {
        "string" => {
            let text = data.value.string.as_deref()?;
            let simple = string(text, snak.datatype.as_deref().unwrap_or("string"));
            let normalized = match formatter {
                Some(formatter) => iri(&formatter.replace("$1", text)).map(Normalized::Iri),
                None => None,
            };
            Some(RdfValue { simple, full: None, normalized })
        }
        "monolingualtext" => plain(in_language(parts.text.as_deref()?, parts.language.as_deref()?).into()),
        "wikibase-entityid" => plain(v::name(v::WD, &entity_id(data)?).into()),
        "time" => time(parts),
        "globecoordinate" => coordinate(parts),
        "quantity" => quantity(parts),
        _ => None,
    }
}

/// Returns a literal with the RDF code of its language. An invalid code is omitted.
pub(super) fn in_language(text: &str, language: &str) -> Literal {
    let language = canonical(language);
    let first = language.bytes().next();
    let good = first.is_some_and(|byte| byte.is_ascii_alphabetic())
        && language.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && language.split('-').all(|part| (1..=16).contains(&part.len()));
    if good {
        Literal::new_language_tagged_literal_unchecked(text, language.to_ascii_lowercase())
    } else {
        Literal::new_simple_literal(text)
    }
}

/// Returns an IRI, with invalid characters percent-encoded.
pub(super) fn iri(text: &str) -> Option<NamedNode> {
    if let Ok(iri) = NamedNode::new(text) {
        return Some(iri);
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    for part in text.chars() {
        match part {
            '\0'..=' ' | '\x7f' | '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`' => {
                encode(part.encode_utf8(&mut [0; 4]), b"", &mut encoded);
            }
            part => encoded.push(part),
        }
    }
    NamedNode::new(encoded).ok()
}

/// Returns whether a text is the id of an entity, a form or a sense, such as `Q42`, `P31` or `L42-F1`.
pub(super) fn is_id(id: &str) -> bool {
    let numbered = |id: &str, letters: &[u8]| {
        let mut bytes = id.bytes();
        let letter = bytes.next().is_some_and(|letter| letters.contains(&letter));
        letter && id.len() > 1 && bytes.all(|byte| byte.is_ascii_digit())
    };
    match id.split_once('-') {
        None => numbered(id, b"QPLEM"),
        Some((lexeme, part)) => numbered(lexeme, b"L") && numbered(part, b"FS"),
    }
}

/// Returns the entity id of a value.
pub(super) fn entity_id(data: &DataValue<'_>) -> Option<String> {
    let parts = &data.value.parts;
    if let Some(id) = parts.id.as_deref() {
        return is_id(id).then(|| id.to_owned());
    }
    // The format of dumps before 2017.
    let letter = match parts.entity_type.as_deref()? {
        "item" => 'Q',
        "property" => 'P',
        "lexeme" => 'L',
        _ => return None,
    };
    Some(format!("{letter}{}", parts.numeric_id?))
}

fn string(text: &str, datatype: &str) -> Term {
    let encoded = |start: &str, text: &str, plain: &[u8]| {
        let mut iri = start.to_owned();
        encode(text, plain, &mut iri);
        NamedNode::new_unchecked(iri).into()
    };
    match datatype {
        "commonsMedia" => encoded(v::FILE, text, b"-_.~"),
        "geo-shape" | "tabular-data" => encoded(v::COMMONS_DATA, &text.replace(' ', "+"), b"-_.:/+"),
        "url" => iri(text).map_or_else(|| Literal::new_simple_literal(text).into(), Term::from),
        _ => Literal::new_simple_literal(text).into(),
    }
}

fn typed(text: impl Into<String>, datatype: NamedNodeRef<'_>) -> Term {
    Literal::new_typed_literal(text, datatype).into()
}

fn time(parts: &ValueFields<'_>) -> Option<RdfValue> {
    let time = parts.time.as_deref()?;
    let calendar = parts.calendarmodel.as_deref()?;
    // The cast saturates: NaN and negative numbers become 0, the coarsest precision.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let precision = parts.precision.unwrap_or(0.0) as u8;
    let simple = match date_time(time, precision, calendar == JULIAN) {
        Some(time) => typed(time, xsd::DATE_TIME),
        None => Literal::new_simple_literal(time).into(),
    };
    let facts = vec![
        ("timeValue", simple.clone()),
        ("timePrecision", typed(precision.to_string(), xsd::INTEGER)),
        ("timeTimezone", typed(parts.timezone.unwrap_or(0).to_string(), xsd::INTEGER)),
        ("timeCalendarModel", iri(calendar)?.into()),
    ];
    Some(RdfValue { simple, full: Some(ValueNode::new("TimeValue", facts)), normalized: None })
}

fn coordinate(parts: &ValueFields<'_>) -> Option<RdfValue> {
    let (latitude, longitude) = (number(parts.latitude?), number(parts.longitude?));
    let globe = iri(parts.globe.as_deref().unwrap_or(EARTH))?;
    let on = if globe.as_str() == EARTH { String::new() } else { format!("{globe} ") };
    let simple = typed(format!("{on}Point({longitude} {latitude})"), NamedNodeRef::new_unchecked(v::WKT));
    let mut facts =
        vec![("geoLatitude", typed(latitude, xsd::DOUBLE)), ("geoLongitude", typed(longitude, xsd::DOUBLE))];
    if let Some(precision) = parts.precision {
        facts.push(("geoPrecision", typed(number(precision), xsd::DOUBLE)));
    }
    facts.push(("geoGlobe", globe.into()));
    Some(RdfValue { simple, full: Some(ValueNode::new("GlobecoordinateValue", facts)), normalized: None })
}

/// Formats a number with 14 significant digits, as Wikibase prints coordinates.
fn number(number: f64) -> String {
    const DIGITS: usize = 14;
    let text = format!("{number:.*e}", DIGITS - 1);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS as i32).contains(&exponent) {
        let decimals = usize::try_from(DIGITS as i32 - 1 - exponent).unwrap_or(0);
        let text = format!("{number:.decimals$}");
        return if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    }
    let mantissa = mantissa.trim_end_matches('0');
    let dot = if mantissa.ends_with('.') { "0" } else { "" };
    format!("{mantissa}{dot}E{}{exponent}", if exponent < 0 { "" } else { "+" })
}

fn quantity(parts: &ValueFields<'_>) -> Option<RdfValue> {
    let amount = decimal(parts.amount.as_deref()?)?;
    let bound = |bound: &Option<super::model::WikidataText<'_>>| bound.as_deref().and_then(decimal).map(str::to_owned);
    let (upper, lower) = (bound(&parts.upper_bound), bound(&parts.lower_bound));
    let unit = match parts.unit.as_deref()? {
        "1" => ONE,
        unit => unit,
    };
    let conversion = unit.strip_prefix(v::WD).and_then(|id| id.strip_prefix('Q')?.parse().ok()).and_then(conversion);
    let simple = typed(amount, xsd::DECIMAL);
    let node = |amount: &str, upper: Option<String>, lower: Option<String>, unit: NamedNode| {
        let mut facts = vec![("quantityAmount", typed(amount, xsd::DECIMAL))];
        facts.extend(upper.map(|upper| ("quantityUpperBound", typed(upper, xsd::DECIMAL))));
        facts.extend(lower.map(|lower| ("quantityLowerBound", typed(lower, xsd::DECIMAL))));
        facts.push(("quantityUnit", unit.into()));
        ValueNode::new("QuantityValue", facts)
    };
    let normal = |conversion: Conversion| {
        let convert = |amount: &String| conversion.apply(amount);
        let base = v::name(v::WD, &format!("Q{}", conversion.base));
        let amount = conversion.apply(amount)?;
        let mut node = node(&amount, upper.as_ref().and_then(convert), lower.as_ref().and_then(convert), base);
        node.facts.push(("quantityNormalized", node.iri.clone().into()));
        Some(node)
    };
    let normalized = conversion.and_then(normal);
    let mut full = node(amount, upper.clone(), lower.clone(), iri(unit)?);
    if let Some(node) = &normalized {
        full.facts.push(("quantityNormalized", node.iri.clone().into()));
    }
    let normalized = normalized.map(Normalized::Quantity);
    Some(RdfValue { simple, full: Some(full), normalized })
}

/// Returns the text unchanged if it is a decimal number with or without a sign.
fn decimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let good = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1;
    good.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_fourteen_digits() {
        let cases = [
            (51.566_527_777_777_78, "51.566527777778"),
            (-0.145_444_444_444_44, "-0.14544444444444"),
            (2.777_777_777_777_8e-5, "2.7777777777778E-5"),
            (0.000_1, "0.0001"),
            (1e-6, "1.0E-6"),
            (180.0, "180"),
            (0.0, "0"),
            (1e15, "1.0E+15"),
            (0.1 + 0.2, "0.3"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn iris_are_made_whole_or_refused() {
        assert_eq!(iri("http://a/b c<d>|é").unwrap().as_str(), "http://a/b%20c%3Cd%3E%7Cé");
        assert_eq!(iri("no scheme"), None);
        assert_eq!(string("no scheme", "url"), Literal::new_simple_literal("no scheme").into());
    }

    #[test]
    fn ids_are_checked() {
        assert!(["Q1", "P31", "L42", "L42-F1", "L42-S12", "E5"].into_iter().all(is_id));
        assert!(
            ["", "Q", "1", "Q1-F1", "L1-", "L-F1", "q1", "Q1 ", "Q1-S1", "X1", "Q1\n"].into_iter().all(|id| !is_id(id))
        );
    }
}
