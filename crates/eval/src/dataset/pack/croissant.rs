//! Describes the data of a packed benchmark in JSON-LD, by Croissant 1.0.

use serde_json::{Map, Value, json};

use super::super::measures::MEASURES;
use super::{Pack, PackedFile};

/// Returns the description of the data files.
pub(super) fn croissant(pack: &Pack<'_>, files: &[PackedFile]) -> Value {
    let said = pack.description;
    let distribution = files.iter().map(|file| {
        json!({
            "@type": "cr:FileObject",
            "@id": file.name,
            "name": file.name,
            "contentUrl": file.name,
            "encodingFormat": "application/jsonlines",
            "sha256": file.sha256(),
        })
    });
    let sets = files.iter().map(|file| record_set(pack, file));
    let mut described = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": said.name,
        "alternateName": said.title,
        "description": said.description.trim(),
        "license": format!("https://spdx.org/licenses/{}.html", said.license),
        "version": said.version,
        "inLanguage": said.languages,
        "keywords": said.keywords,
        "isBasedOn": pack.manifest.sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>(),
        "identifier": format!("sha256:{}", pack.digest),
        "creator": said.authors.iter().map(|author| json!({
            "@type": "sc:Person",
            "name": author.name,
        })).collect::<Vec<_>>(),
        "distribution": distribution.collect::<Vec<_>>(),
        "recordSet": sets.collect::<Vec<_>>(),
    });
    let optional = [("url", &said.url), ("datePublished", &said.released), ("citeAs", &said.bibtex)];
    if let Some(object) = described.as_object_mut() {
        for (name, value) in optional.into_iter().filter(|(_, value)| !value.trim().is_empty()) {
            object.insert(name.to_owned(), Value::from(value.trim()));
        }
    }
    described
}

fn record_set(pack: &Pack<'_>, file: &PackedFile) -> Value {
    let split = file.name.trim_start_matches("data/").trim_end_matches(".jsonl");
    let field = |path: &str, kind: &str, meaning: &str| {
        // A field of JSON lines, and the path within it.
        let mut source = match path.split_once('.') {
            Some((column, within)) => json!({"extract": {"column": column}, "transform": {"jsonPath": within}}),
            None => json!({"extract": {"column": path}}),
        };
        source["fileObject"] = json!({"@id": file.name});
        json!({
            "@type": "cr:Field",
            "@id": format!("{split}/{path}"),
            "name": format!("{split}/{path}"),
            "description": meaning,
            "dataType": kind,
            "source": source,
        })
    };
    let mut fields = vec![
        field("id", "sc:Text", "The pair's name."),
        field("question", "sc:Text", "The question."),
        field("gold", "sc:Text", "The query that answers it."),
        field("lang", "sc:Text", "The query's language, overpassql or sparql."),
        field("bbox", "sc:Text", "What {{bbox}} stands for: south,west,north,east."),
        field("places", "sc:Text", "Where names in the query lead, as JSON."),
        field("results", "sc:Integer", "How many elements or rows the query gives, or the count that it asks for."),
        field("answer", "sc:Text", "The BLAKE3 digest of the answer."),
    ];
    let of_split = || pack.checked.pairs.iter().filter(|checked| checked.pair.split == split);
    let measured = MEASURES.iter().filter(|m| of_split().any(|checked| checked.difficulty.contains_key(m.name)));
    fields.extend(measured.map(|m| field(&format!("difficulty.{}", m.name), "sc:Float", m.meaning)));
    json!({"@type": "cr:RecordSet", "@id": split, "name": split, "field": fields})
}

/// Returns the context that Croissant 1.0 requires.
fn context() -> Value {
    let mut context = Map::new();
    let plain = [
        ("@language", "en"),
        ("@vocab", "https://schema.org/"),
        ("citeAs", "cr:citeAs"),
        ("column", "cr:column"),
        ("conformsTo", "dct:conformsTo"),
        ("cr", "http://mlcommons.org/croissant/"),
        ("dct", "http://purl.org/dc/terms/"),
        ("equivalentProperty", "cr:equivalentProperty"),
        ("extract", "cr:extract"),
        ("field", "cr:field"),
        ("fileObject", "cr:fileObject"),
        ("fileProperty", "cr:fileProperty"),
        ("fileSet", "cr:fileSet"),
        ("format", "cr:format"),
        ("includes", "cr:includes"),
        ("isLiveDataset", "cr:isLiveDataset"),
        ("jsonPath", "cr:jsonPath"),
        ("key", "cr:key"),
        ("md5", "cr:md5"),
        ("parentField", "cr:parentField"),
        ("path", "cr:path"),
        ("rai", "http://mlcommons.org/croissant/RAI/"),
        ("recordSet", "cr:recordSet"),
        ("references", "cr:references"),
        ("regex", "cr:regex"),
        ("repeated", "cr:repeated"),
        ("replace", "cr:replace"),
        ("samplingRate", "cr:samplingRate"),
        ("sc", "https://schema.org/"),
        ("separator", "cr:separator"),
        ("source", "cr:source"),
        ("subField", "cr:subField"),
        ("transform", "cr:transform"),
    ];
    for (name, value) in plain {
        context.insert(name.to_owned(), Value::from(value));
    }
    for (name, kind) in [("data", "@json"), ("examples", "@json"), ("dataType", "@vocab")] {
        context.insert(name.to_owned(), json!({"@id": format!("cr:{name}"), "@type": kind}));
    }
    Value::Object(context)
}
