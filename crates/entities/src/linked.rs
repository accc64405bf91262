//! Facts about items that are linked with other data, such as the elements of a map: the label and the values of
//! selected properties, in a form for tables.

use oxrdf::NamedNodeRef;
use serde_json::{Map, Value as Json, json};
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Store, TermId};

use super::entity::{EntityRecord, Lookup};
use super::statement::best_values;
use super::terms::label;
use super::value::EntityValue;

const ENTITY: &str = "http://www.wikidata.org/entity/";
/// Maximum number of selected properties.
const MOST: usize = 64;
/// The precisions of a year, a month and a day; larger ones are finer.
const YEAR: u8 = 9;
const MONTH: u8 = 10;
const DAY: u8 = 11;

/// A list of properties without duplicates, in the order given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Properties(Vec<u64>);

/// The reason why a list of properties is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidProperty {
    /// A part of the list is not the identifier of a property.
    #[error("'{0}' is no property: give identifiers such as P1082, with commas between them")]
    Name(String),
    /// The list is too long.
    #[error("more than {MOST} properties")]
    Many,
}

impl std::str::FromStr for Properties {
    type Err = InvalidProperty;

    /// Parses a list such as `P1082,P571`; an empty text is an empty list.
    fn from_str(text: &str) -> Result<Properties, InvalidProperty> {
        let mut all = Properties::default();
        for name in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
            let id = EntityId::parse(name).filter(|id| id.kind == EntityKind::Property);
            let number = id.ok_or_else(|| InvalidProperty::Name(name.chars().take(40).collect()))?.number;
            if !all.0.contains(&number) {
                all.0.push(number);
            }
        }
        if all.0.len() > MOST { Err(InvalidProperty::Many) } else { Ok(all) }
    }
}

/// A property with its predicates for statements and for direct values, if they occur in the snapshot.
#[derive(Debug)]
struct Chosen {
    number: u64,
    statements: Option<TermId>,
    direct: Option<TermId>,
}

/// A writer of facts about linked items.
pub struct Linked<'a> {
    store: &'a Store,
    /// Languages of labels, in order of preference.
    languages: Vec<String>,
    properties: Vec<Chosen>,
}

impl std::fmt::Debug for Linked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Linked").field("languages", &self.languages).field("properties", &self.properties).finish()
    }
}

impl<'a> Linked<'a> {
    /// Creates a writer for the items in `store`.
    pub fn new(store: &'a Store, properties: &Properties, languages: Vec<String>) -> Linked<'a> {
        let id = |path: &str, number: &u64| {
            let iri = format!("http://www.wikidata.org/prop/{path}P{number}");
            store.id(NamedNodeRef::new_unchecked(&iri).into())
        };
        let chosen =
            |number: &u64| Chosen { number: *number, statements: id("", number), direct: id("direct/", number) };
        Linked { store, languages, properties: properties.0.iter().map(chosen).collect() }
    }

    /// Returns the selected properties that do not occur in the snapshot.
    pub fn unknown(&self) -> impl Iterator<Item = EntityId> {
        let unknown = self.properties.iter().filter(|chosen| chosen.statements.or(chosen.direct).is_none());
        unknown.map(|chosen| EntityId { kind: EntityKind::Property, number: chosen.number })
    }

    /// Appends the item of a tag such as `wikidata=Q233` as JSON: `{"id", "label", "P1082": [...]}`. If the tag has
    /// several identifiers separated by semicolons, the first one in the snapshot is used. If the snapshot has none of
    /// them, the output is unchanged and the result is `false`. Missing properties, and a label in none of the
    /// languages, are left out.
    pub fn put_item(&self, tag: &str, out: &mut Vec<u8>) -> bool {
        let ids = tag.split(';').filter_map(|id| EntityId::parse(id.trim()));
        let known = ids.filter(|id| id.kind == EntityKind::Item).find_map(|id| {
            budget::checkpoints(8);
            match EntityRecord::lookup(self.store, id) {
                Lookup::Here => Some(id),
                Lookup::Redirect(to) => Some(to),
                Lookup::Missing => None,
            }
        });
        let Some(id) = known else { return false };
        let label = label(self.store, id, &self.languages).map(|text| ("label".to_owned(), json!(text.value)));
        let mut parts = vec![("id".to_owned(), json!(id.to_string()))];
        parts.extend(label);
        for property in self.properties.iter().filter_map(|property| Some((property, id.term(self.store)?))) {
            let values: Vec<Json> = self.values(property.1, property.0).iter().map(|value| self.plain(value)).collect();
            if !values.is_empty() {
                parts.push((format!("P{}", property.0.number), Json::Array(values)));
            }
        }
        for (at, (name, value)) in parts.into_iter().enumerate() {
            out.push(if at == 0 { b'{' } else { b',' });
            // Names of fields need no escaping.
            out.extend_from_slice(format!("\"{name}\":{value}").as_bytes());
        }
        out.push(b'}');
        true
    }

    /// Returns the values of a property: those of its statements, with precision and unit, if the snapshot has
    /// statements; otherwise the direct values.
    fn values(&self, item: TermId, property: &Chosen) -> Vec<EntityValue> {
        let said = property.statements.map(|predicate| best_values(self.store, item, predicate, property.number));
        if let Some(values) = said.filter(|values| !values.is_empty()) {
            return values;
        }
        let Some(predicate) = property.direct else { return Vec::new() };
        let value = |[_, _, object]: [TermId; 3]| {
            budget::checkpoints(1);
            EntityValue::simple(&self.store.term(object)?)
        };
        self.store.triples(Some(item), Some(predicate), None).filter_map(value).collect()
    }

    /// Returns an entity as an object with its identifier and label.
    fn named(&self, id: &str) -> Map<String, Json> {
        let text = EntityId::parse(id).and_then(|id| label(self.store, id, &self.languages));
        let label = text.map(|text| ("label".to_owned(), Json::String(text.value)));
        std::iter::once(("id".to_owned(), json!(id))).chain(label).collect()
    }

    /// Converts a value to a plain form for tables and maps.
    fn plain(&self, value: &EntityValue) -> Json {
        match value {
            EntityValue::Text(text) | EntityValue::File(text) | EntityValue::Data(text) | EntityValue::Url(text) => {
                json!(text)
            }
            EntityValue::Entity(id) => Json::Object(self.named(id)),
            EntityValue::Monolingual { language, text } => json!({ "text": text, "language": language }),
            EntityValue::Time { time, precision, .. } => json!(date(time, *precision)),
            EntityValue::Quantity { amount, unit, .. } => match unit.strip_prefix(ENTITY) {
                Some(unit) => json!({ "amount": number(amount), "unit": self.named(unit) }),
                None => number(amount),
            },
            // The order of coordinates is that of GeoJSON.
            EntityValue::Globe { latitude, longitude, .. } => json!([longitude, latitude]),
        }
    }
}

/// Parses an amount as a number, or returns it as a string if it is not a finite number.
fn number(amount: &str) -> Json {
    let plain = amount.strip_prefix('+').unwrap_or(amount);
    match (plain.parse::<i64>(), plain.parse::<f64>()) {
        (Ok(whole), _) => json!(whole),
        (_, Ok(number)) if number.is_finite() => json!(number),
        _ => json!(amount),
    }
}

/// Shortens a Wikibase time to its precision: `1571`, `1571-03`, `1571-03-28`. A decade or a century becomes a year in
/// it.
fn date(time: &str, precision: u8) -> &str {
    let plain = time.strip_prefix('+').unwrap_or(time);
    // Skips the sign of a year before the common era.
    let mut ends = plain.char_indices().skip(1).filter(|(_, c)| *c == '-').map(|(at, _)| at);
    let (year, month) = (ends.next(), ends.next());
    let end = match precision {
        ..=YEAR => year,
        MONTH => month,
        DAY => plain.find('T'),
        _ => None,
    };
    end.and_then(|end| plain.get(..end)).unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_properties() {
        let read = |text: &str| text.parse::<Properties>();
        assert_eq!(read("P1082, p571,P1082"), Ok(Properties(vec![1082, 571])));
        assert_eq!((read(""), read(" ")), (Ok(Properties::default()), Ok(Properties::default())));
        for wrong in ["Q1", "P", "P01", "P1082;P571", "1082", "P1082,", "population"] {
            assert!(matches!(read(wrong), Err(InvalidProperty::Name(_))), "{wrong}");
        }
        let many: Vec<String> = (1..=65).map(|number| format!("P{number}")).collect();
        assert_eq!(read(&many.join(",")), Err(InvalidProperty::Many));
    }

    #[test]
    fn times_are_told_as_far_as_they_are_known() {
        assert_eq!(date("+1571-00-00T00:00:00Z", 9), "1571");
        assert_eq!(date("+1571-03-00T00:00:00Z", 10), "1571-03");
        assert_eq!(date("+1571-03-28T00:00:00Z", 11), "1571-03-28");
        assert_eq!(date("-0044-03-15T00:00:00Z", 11), "-0044-03-15");
        assert_eq!(date("-0044-00-00T00:00:00Z", 7), "-0044");
        assert_eq!(date("soon", 11), "soon");
    }

    #[test]
    fn numbers_are_numbers() {
        assert_eq!((number("+525285"), number("-1.5")), (json!(525_285), json!(-1.5)));
        assert_eq!(number("+1e999"), json!("+1e999"));
    }
}
