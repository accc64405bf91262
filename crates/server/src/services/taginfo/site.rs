//! `site/...`.

use serde::Serialize;

use super::{ServiceAnswer, TaginfoRequest};
use terrapin_tags::DocsSource;

#[derive(Serialize)]
struct SiteInfo<'a> {
    url: String,
    data_until: String,
    name: &'a str,
    description: String,
    icon: &'a str,
    area: &'a str,
    descriptions: Option<DescriptionFile<'a>>,
}

/// The file with the descriptions of keys and tags.
#[derive(Serialize)]
struct DescriptionFile<'a> {
    name: &'a str,
    sha256: &'a str,
}

#[derive(Serialize)]
struct SiteSource<'a> {
    id: &'a str,
    name: &'a str,
    data_until: String,
}

/// Returns the names of the files that the snapshot was loaded from.
fn source_names(request: &TaginfoRequest<'_>) -> String {
    let sources = request.app.engine.manifest().sources.iter();
    sources.map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Answers `site/info`.
pub fn answer_info(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    request.answer_bare(&SiteInfo {
        url: format!("{}/", request.site),
        data_until: request.data_until(),
        name: "Terrapin",
        description: format!("snapshot {}", request.app.engine.digest()),
        icon: "/icon.svg",
        area: &source_names(request),
        descriptions: request.tags.docs().source().map(|DocsSource { name, sha256 }| DescriptionFile { name, sha256 }),
    })
}

/// Answers `site/sources`: the elements, which taginfo names `db`.
pub fn answer_sources(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let name = source_names(request);
    request.answer_bare(&[SiteSource { id: "db", name: &name, data_until: request.data_until() }])
}
