//! Entities in Wikibase's JSON, as `action=wbgetentities` and `Special:EntityData` return them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::entity::{EntityRecord, EntitySitelink, PartOfLexeme};
use super::hash::snak_hash;
use super::snak::{EntitySnak, SnakValue};
use super::statement::EntityStatement;
use super::value::{EntityValue, entity_type};
use super::{EntityId, EntityKind};

/// The parts of an entity that an answer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Props {
    pub info: bool,
    pub labels: bool,
    pub descriptions: bool,
    pub aliases: bool,
    pub claims: bool,
    pub datatype: bool,
    pub sitelinks: bool,
    /// URLs in the links to sites.
    pub urls: bool,
}

impl Props {
    /// All but URLs.
    pub const ALL: Props = Props {
        info: true,
        labels: true,
        descriptions: true,
        aliases: true,
        claims: true,
        datatype: true,
        sitelinks: true,
        urls: false,
    };
}

/// The languages that an answer has.
#[derive(Debug, Clone, Copy)]
pub enum LanguageFilter<'a> {
    /// All.
    All,
    /// For each language a list: the language itself, then its fallbacks.
    These(&'a [Vec<String>]),
}

/// Returns the namespace and the title of an entity's page.
pub fn page(id: EntityId) -> (u32, String) {
    match id.kind {
        EntityKind::Item => (0, id.to_string()),
        EntityKind::Property => (120, format!("Property:{id}")),
        EntityKind::Lexeme => (146, format!("Lexeme:{id}")),
    }
}

/// Returns an entity as an object.
pub fn entity(entity: &EntityRecord, props: Props, languages: LanguageFilter<'_>) -> Json {
    let mut all = if props.info { page_facts(entity) } else { Map::new() };
    let mut put = |name: &str, value: Json| all.insert(name.to_owned(), value);
    put("type", json!(entity.id.kind.name()));
    put("id", json!(entity.id.to_string()));
    let terms = &entity.terms;
    if entity.lexeme.is_none() {
        if props.labels {
            put("labels", texts(&terms.labels, languages));
        }
        if props.descriptions {
            put("descriptions", texts(&terms.descriptions, languages));
        }
        if props.aliases {
            put("aliases", aliases(&terms.aliases, languages));
        }
    }
    if props.claims {
        put("claims", claims(entity, &entity.statements));
    }
    if let Some(datatype) = entity.datatype.filter(|_| props.datatype || props.info) {
        put("datatype", json!(datatype));
    }
    if props.sitelinks && entity.id.kind == EntityKind::Item {
        let links = entity.sitelinks.iter().map(|(site, link)| (site.clone(), sitelink(site, link, props.urls)));
        put("sitelinks", Json::Object(links.collect()));
    }
    if let Some(lexeme) = entity.lexeme.as_ref().filter(|_| props.claims || props.labels) {
        put("lemmas", texts(&terms.labels, LanguageFilter::All));
        put("lexicalCategory", json!(lexeme.category));
        put("language", json!(lexeme.language));
        let parts =
            |parts: &[PartOfLexeme], texts| parts.iter().map(|part| part_of_lexeme(entity, part, texts)).collect();
        put("forms", Json::Array(parts(&lexeme.forms, "representations")));
        put("senses", Json::Array(parts(&lexeme.senses, "glosses")));
    }
    Json::Object(all)
}

/// Returns a form or a sense of a lexeme as an object of its own.
pub fn lexeme_part(lexeme: &EntityRecord, part: &PartOfLexeme, props: Props) -> Json {
    let mut all = if props.info { page_facts(lexeme) } else { Map::new() };
    let kind = entity_type(&part.id);
    all.insert("type".to_owned(), json!(kind));
    let texts = if kind == "form" { "representations" } else { "glosses" };
    if let Json::Object(fields) = part_of_lexeme(lexeme, part, texts) {
        all.extend(fields.into_iter().filter(|(name, _)| props.claims || name != "claims"));
    }
    Json::Object(all)
}

/// Returns the fields of `props=info`: the entity's page, its last revision and the time of its last change.
fn page_facts(entity: &EntityRecord) -> Map<String, Json> {
    let (namespace, title) = page(entity.id);
    let mut all = Map::new();
    all.insert("ns".to_owned(), json!(namespace));
    all.insert("title".to_owned(), json!(title));
    // Clients require a revision.
    all.insert("lastrevid".to_owned(), json!(entity.revision.unwrap_or(0)));
    entity.modified.as_ref().map(|modified| all.insert("modified".to_owned(), json!(modified)));
    all
}

fn part_of_lexeme(entity: &EntityRecord, part: &PartOfLexeme, name: &str) -> Json {
    let mut all = json!({ "id": part.id, "claims": claims(entity, &part.statements) });
    all[name] = texts(&part.texts, LanguageFilter::All);
    if name == "representations" {
        all["grammaticalFeatures"] = json!(part.features);
    }
    all
}

/// Returns texts by language. A fallback is listed under the requested language, with the language that it is in.
fn texts(all: &BTreeMap<String, String>, languages: LanguageFilter<'_>) -> Json {
    let one = |language: &str, value: &str| json!({ "language": language, "value": value });
    let told: Map<String, Json> = match languages {
        LanguageFilter::All => all.iter().map(|(language, text)| (language.clone(), one(language, text))).collect(),
        LanguageFilter::These(chains) => chains
            .iter()
            .filter_map(|chain| {
                let asked = chain.first()?;
                let (language, text) = chain.iter().find_map(|language| all.get_key_value(language))?;
                let mut told = one(language, text);
                if language != asked {
                    told["for-language"] = json!(asked);
                }
                Some((asked.clone(), told))
            })
            .collect(),
    };
    Json::Object(told)
}

fn aliases(all: &BTreeMap<String, Vec<String>>, languages: LanguageFilter<'_>) -> Json {
    let wanted = |language: &String| match languages {
        LanguageFilter::All => true,
        LanguageFilter::These(chains) => chains.iter().any(|chain| chain.first() == Some(language)),
    };
    let told = all.iter().filter(|(language, _)| wanted(language)).map(|(language, texts)| {
        let texts = texts.iter().map(|text| json!({ "language": language, "value": text }));
        (language.clone(), Json::Array(texts.collect()))
    });
    Json::Object(told.collect())
}

fn sitelink(site: &str, link: &EntitySitelink, with_url: bool) -> Json {
    let mut told = json!({ "site": site, "title": link.title, "badges": link.badges });
    if with_url {
        told["url"] = json!(link.url);
    }
    told
}

fn claims(entity: &EntityRecord, statements: &BTreeMap<u64, Vec<EntityStatement>>) -> Json {
    let told = statements.iter().map(|(property, all)| {
        (format!("P{property}"), Json::Array(all.iter().map(|statement| claim(entity, statement)).collect()))
    });
    Json::Object(told.collect())
}

fn claim(entity: &EntityRecord, statement: &EntityStatement) -> Json {
    let mut told = json!({
        "mainsnak": snak(entity, &statement.main),
        "type": "statement",
        "rank": statement.rank.name(),
        "id": statement.id,
    });
    if !statement.qualifiers.is_empty() {
        let (snaks, order) = snaks(entity, &statement.qualifiers);
        told["qualifiers"] = snaks;
        told["qualifiers-order"] = order;
    }
    if !statement.references.is_empty() {
        let references = statement.references.iter().map(|reference| {
            let (snaks, order) = snaks(entity, &reference.snaks);
            json!({ "hash": reference.hash, "snaks": snaks, "snaks-order": order })
        });
        told["references"] = Json::Array(references.collect());
    }
    told
}

/// Returns snaks by property, and the properties by number: triples do not keep their order.
fn snaks(entity: &EntityRecord, all: &[EntitySnak]) -> (Json, Json) {
    let (mut told, mut order): (Map<String, Json>, Vec<String>) = (Map::new(), Vec::new());
    for one in all {
        let property = format!("P{}", one.property);
        if order.last() != Some(&property) {
            order.push(property.clone());
        }
        if let Json::Array(list) = told.entry(property).or_insert_with(|| json!([])) {
            list.push(snak(entity, one));
        }
    }
    (Json::Object(told), json!(order))
}

fn snak(entity: &EntityRecord, snak: &EntitySnak) -> Json {
    let mut told = json!({ "property": format!("P{}", snak.property) });
    if let Some(hash) = snak_hash(snak) {
        told["hash"] = json!(hash);
    }
    let known = entity.datatypes.get(&snak.property).copied();
    let (kind, datatype) = match &snak.value {
        SnakValue::Value(value) => {
            told["datavalue"] = datavalue(value);
            ("value", Some(known.unwrap_or_else(|| value.datatype())))
        }
        SnakValue::Some => ("somevalue", known),
        SnakValue::None => ("novalue", known),
    };
    told["snaktype"] = json!(kind);
    if let Some(datatype) = datatype {
        told["datatype"] = json!(datatype);
    }
    told
}

fn datavalue(value: &EntityValue) -> Json {
    let (kind, value) = match value {
        EntityValue::Text(text) | EntityValue::File(text) | EntityValue::Data(text) | EntityValue::Url(text) => {
            ("string", json!(text))
        }
        EntityValue::Entity(id) => {
            let kind = entity_type(id);
            let mut told = json!({ "entity-type": kind, "id": id });
            let number = id.get(1..).and_then(|digits| digits.parse::<u64>().ok());
            if let Some(number) = number.filter(|_| kind != "entity-schema") {
                told["numeric-id"] = json!(number);
            }
            ("wikibase-entityid", told)
        }
        EntityValue::Monolingual { language, text } => {
            ("monolingualtext", json!({ "text": text, "language": language }))
        }
        EntityValue::Time { time, timezone, precision, calendar } => (
            "time",
            json!({
                "time": time,
                "timezone": timezone,
                "before": 0,
                "after": 0,
                "precision": precision,
                "calendarmodel": calendar,
            }),
        ),
        EntityValue::Quantity { amount, upper, lower, unit } => {
            let mut told = json!({ "amount": amount, "unit": unit });
            if let (Some(upper), Some(lower)) = (upper, lower) {
                told["upperBound"] = json!(upper);
                told["lowerBound"] = json!(lower);
            }
            ("quantity", told)
        }
        EntityValue::Globe { latitude, longitude, precision, globe } => (
            "globecoordinate",
            json!({
                "latitude": number(*latitude),
                "longitude": number(*longitude),
                "altitude": null,
                "precision": precision.map(number),
                "globe": globe,
            }),
        ),
    };
    json!({ "type": kind, "value": value })
}

/// Returns a number as PHP writes it: whole numbers without a fraction.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn number(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() < 1e15 { json!(number as i64) } else { json!(number) }
}
