//! Compares the JSON of entities with Wikidata's, without what triples do not keep.

use serde_json::{Map, Value, json};

/// Removes data that triples do not keep: hashes of snaks (see [`is_kept`]), orders, duplicate references, the notation
/// of numbers, digits beyond a time's precision. Sorts lists.
pub fn as_triples_have_it(value: &Value) -> Value {
    match value {
        Value::Array(all) => {
            let mut all: Vec<Value> = all.iter().map(as_triples_have_it).collect();
            all.sort_by_cached_key(Value::to_string);
            all.dedup();
            Value::Array(all)
        }
        Value::Object(all) => {
            let is_snak = all.contains_key("snaktype");
            let kept = all.iter().filter(|(name, _)| !(is_snak && *name == "hash" || *name == "pageid"));
            let mut object: Map<String, Value> =
                kept.map(|(name, one)| (name.clone(), as_triples_have_it(one))).collect();
            if let (Some(time), Some(precision)) = (all.get("time").and_then(Value::as_str), all.get("precision")) {
                let known = match precision.as_u64().unwrap_or(0) {
                    11.. => time.len(),
                    10 => time.len() - "-00T00:00:00Z".len(),
                    _ => time.len() - "-00-00T00:00:00Z".len(),
                };
                object.insert("time".to_owned(), json!(time[..known].replace("+0", "+")));
            }
            for name in ["latitude", "longitude", "precision"] {
                if let Some(number) = all.get(name).and_then(Value::as_f64).filter(|_| all.contains_key("globe")) {
                    object.insert(name.to_owned(), json!(format!("{number:.9}")));
                }
            }
            for name in ["amount", "upperBound", "lowerBound"] {
                if let Some(text) = all.get(name).and_then(Value::as_str) {
                    let plain =
                        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
                    object.insert(name.to_owned(), json!(plain.replace("-0", "+0")));
                }
            }
            Value::Object(object)
        }
        other => other.clone(),
    }
}

/// Collects all snaks in a value that have a hash.
pub fn snaks<'v>(value: &'v Value, into: &mut Vec<&'v Value>) {
    if value.get("snaktype").is_some() && value.get("hash").is_some() {
        into.push(value);
    }
    match value {
        Value::Array(all) => all.iter().for_each(|one| snaks(one, into)),
        Value::Object(all) => all.values().for_each(|one| snaks(one, into)),
        _ => {}
    }
}

/// Returns whether triples keep a snak exactly, and therefore its hash.
pub fn is_kept(snak: &Value) -> bool {
    let value = &snak["datavalue"]["value"];
    let is_exact_time = value["time"].as_str().is_none_or(|time| match value["precision"].as_u64() {
        Some(11..) => true,
        Some(10) => time.ends_with("-00T00:00:00Z"),
        _ => time.ends_with("-00-00T00:00:00Z"),
    });
    let is_plain = |name: &str| value[name].as_str().is_none_or(|text| !text.contains('.') || !text.ends_with('0'));
    // Wikidata's RDF has 14 significant digits of a coordinate.
    let is_short = |name: &str| {
        value[name]
            .as_f64()
            .is_none_or(|number| format!("{number:.13e}").parse::<f64>().is_ok_and(|read| read == number))
    };
    let is_exact_place = value["globe"].is_null() || ["latitude", "longitude", "precision"].into_iter().all(is_short);
    is_exact_time && is_exact_place && is_plain("amount") && is_plain("upperBound") && is_plain("lowerBound")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        _ => false,
    }
}

/// Collects the data types of properties from snaks.
pub fn datatypes(value: &Value, into: &mut Map<String, Value>) {
    if let (Some(property), Some(datatype)) = (value["property"].as_str(), value.get("datatype")) {
        into.insert(property.to_owned(), datatype.clone());
    }
    match value {
        Value::Array(all) => all.iter().for_each(|one| datatypes(one, into)),
        Value::Object(all) => all.values().for_each(|one| datatypes(one, into)),
        _ => {}
    }
}

/// Collects the paths at which two values differ.
pub fn differences(path: &str, a: &Value, b: &Value, into: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys().filter(|name| !a.contains_key(*name))) {
                let null = Value::Null;
                let (a, b) = (a.get(name).unwrap_or(&null), b.get(name).unwrap_or(&null));
                differences(&format!("{path}/{name}"), a, b, into);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).for_each(|(a, b)| differences(path, a, b, into));
        }
        // PHP writes an empty object as a list.
        (a, b) if is_empty(a) && is_empty(b) => {}
        (a, b) if a != b => into.push(format!("{path}: {a} is {b}")),
        _ => {}
    }
}
