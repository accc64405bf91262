//! Describes a packed benchmark as Zenodo's deposits do: `.zenodo.json`
//! (<https://developers.zenodo.org/#representation>).

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Pack;

/// Returns the metadata.
pub(super) fn zenodo(pack: &Pack<'_>) -> Value {
    let said = pack.description;
    let creators: Vec<Value> = said
        .authors
        .iter()
        .map(|author| {
            let mut creator = Map::new();
            creator.insert("name".to_owned(), author.name.clone().into());
            // Zenodo takes the identifier without the address of ORCID.
            let orcid = author.orcid.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            for (name, value) in [("orcid", orcid), ("affiliation", &author.affiliation)] {
                if !value.is_empty() {
                    creator.insert(name.to_owned(), value.into());
                }
            }
            Value::Object(creator)
        })
        .collect();
    let mut keywords = said.keywords.clone();
    keywords.extend(["OpenStreetMap", "text-to-query", "terrapin"].map(str::to_owned));
    let mut seen = BTreeSet::new();
    keywords.retain(|keyword| seen.insert(keyword.to_lowercase()));
    let mut metadata = json!({
        "upload_type": "dataset",
        "title": said.title,
        "version": said.version,
        "description": said.description.trim(),
        "creators": creators,
        "access_right": "open",
        "license": said.license.to_lowercase(),
        "keywords": keywords,
        "notes": format!("The gold queries run on the snapshot of SHA-256 {}; LICENSES.md has the licences of its data.", pack.digest),
    });
    if let Some(fields) = metadata.as_object_mut() {
        if !said.released.is_empty() {
            fields.insert("publication_date".to_owned(), said.released.clone().into());
        }
        if !said.url.is_empty() {
            let link = json!([{"identifier": said.url, "relation": "isSupplementTo", "scheme": "url"}]);
            fields.insert("related_identifiers".to_owned(), link);
        }
    }
    metadata
}
