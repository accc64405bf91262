//! Entities in the JSON of Wikibase's REST API.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::EntityKind;
use super::entity::EntityRecord;
use super::json::number;
use super::snak::{EntitySnak, SnakValue};
use super::statement::EntityStatement;
use super::value::EntityValue;

/// Returns an entity; an item includes its sitelinks, a property the type of its values.
pub fn entity(entity: &EntityRecord) -> Json {
    let mut all = json!({
        "type": entity.id.kind.name(),
        "id": entity.id.to_string(),
        "labels": entity.terms.labels,
        "descriptions": entity.terms.descriptions,
        "aliases": entity.terms.aliases,
        "statements": statements(entity, None),
    });
    match entity.id.kind {
        EntityKind::Item => all["sitelinks"] = sitelinks(entity),
        EntityKind::Property => all["data_type"] = json!(entity.datatype),
        EntityKind::Lexeme => {}
    }
    all
}

/// Returns the sitelinks, by site.
pub fn sitelinks(entity: &EntityRecord) -> Json {
    let told = entity
        .sitelinks
        .iter()
        .map(|(site, link)| (site.clone(), json!({ "title": link.title, "badges": link.badges, "url": link.url })));
    Json::Object(told.collect())
}

/// Returns the statements by property; only those of `property`, if given.
pub fn statements(entity: &EntityRecord, property: Option<u64>) -> Json {
    let wanted = |number: &u64| property.is_none_or(|wanted| wanted == *number);
    let told = entity.statements.iter().filter(|(number, _)| wanted(number)).map(|(number, all)| {
        (format!("P{number}"), Json::Array(all.iter().map(|one| statement(entity, one)).collect()))
    });
    Json::Object(told.collect())
}

/// Returns a statement.
pub fn statement(entity: &EntityRecord, statement: &EntityStatement) -> Json {
    let snaks = |all: &[EntitySnak]| Json::Array(all.iter().map(|one| Json::Object(snak(entity, one))).collect());
    let references = statement
        .references
        .iter()
        .map(|reference| json!({ "hash": reference.hash, "parts": snaks(&reference.snaks) }));
    let mut told = snak(entity, &statement.main);
    told.insert("id".to_owned(), json!(statement.id));
    told.insert("rank".to_owned(), json!(statement.rank.name()));
    told.insert("qualifiers".to_owned(), snaks(&statement.qualifiers));
    told.insert("references".to_owned(), Json::Array(references.collect()));
    Json::Object(told)
}

fn snak(entity: &EntityRecord, snak: &EntitySnak) -> Map<String, Json> {
    let datatype = entity.datatypes.get(&snak.property).copied();
    let (datatype, value) = match &snak.value {
        SnakValue::Value(value) => {
            (Some(datatype.unwrap_or_else(|| value.datatype())), json!({ "type": "value", "content": content(value) }))
        }
        SnakValue::Some => (datatype, json!({ "type": "somevalue" })),
        SnakValue::None => (datatype, json!({ "type": "novalue" })),
    };
    let property = json!({ "id": format!("P{}", snak.property), "data_type": datatype });
    Map::from_iter([("property".to_owned(), property), ("value".to_owned(), value)])
}

fn content(value: &EntityValue) -> Json {
    match value {
        EntityValue::Text(text) | EntityValue::File(text) | EntityValue::Data(text) | EntityValue::Url(text) => {
            json!(text)
        }
        EntityValue::Entity(id) => json!(id),
        EntityValue::Monolingual { language, text } => json!({ "language": language, "text": text }),
        EntityValue::Time { time, precision, calendar, .. } => {
            json!({ "time": time, "precision": precision, "calendarmodel": calendar })
        }
        EntityValue::Quantity { amount, unit, .. } => json!({ "amount": amount, "unit": unit }),
        EntityValue::Globe { latitude, longitude, precision, globe } => json!({
            "latitude": number(*latitude),
            "longitude": number(*longitude),
            "precision": precision.map(number),
            "globe": globe,
        }),
    }
}

/// Returns the data types of properties, each with the type of its values.
pub fn property_data_types() -> Json {
    let entity = "wikibase-entityid";
    json!({
        "commonsMedia": "string",
        "entity-schema": entity,
        "external-id": "string",
        "geo-shape": "string",
        "globe-coordinate": "globecoordinate",
        "math": "string",
        "monolingualtext": "monolingualtext",
        "musical-notation": "string",
        "quantity": "quantity",
        "string": "string",
        "tabular-data": "string",
        "time": "time",
        "url": "string",
        "wikibase-form": entity,
        "wikibase-item": entity,
        "wikibase-lexeme": entity,
        "wikibase-property": entity,
        "wikibase-sense": entity,
    })
}

/// Returns texts by language, for requests of a single part of an entity.
pub fn texts<T: Clone + Into<Json>>(all: &BTreeMap<String, T>) -> Json {
    Json::Object(all.iter().map(|(language, text)| (language.clone(), text.clone().into())).collect())
}
