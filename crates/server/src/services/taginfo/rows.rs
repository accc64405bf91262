//! Parts of rows that services of keys and of tags share.

use std::collections::BTreeMap;

use serde::Serialize;

use super::TaginfoRow;
use terrapin_osm::ElementType;
use terrapin_tags::{TagStatistics, TypeCounts, Which, fraction};

/// The columns with numbers of elements.
pub const COUNTS: [(&str, Which); 4] = [
    ("count_all", Which::All),
    ("count_nodes", Which::Only(ElementType::Node)),
    ("count_ways", Which::Only(ElementType::Way)),
    ("count_relations", Which::Only(ElementType::Relation)),
];

/// Numbers of elements and their shares of all elements of the type.
#[derive(Serialize)]
pub struct ElementCounts {
    count_all: u64,
    count_all_fraction: f64,
    count_nodes: u64,
    count_nodes_fraction: f64,
    count_ways: u64,
    count_ways_fraction: f64,
    count_relations: u64,
    count_relations_fraction: f64,
}

impl ElementCounts {
    /// Computes the shares of `elements`.
    pub fn new(counts: TypeCounts, elements: TypeCounts) -> ElementCounts {
        let share = |kind| fraction(counts.0[kind], elements.0[kind]);
        let [count_nodes, count_ways, count_relations] = counts.0;
        ElementCounts {
            count_all: counts.all(),
            count_all_fraction: fraction(counts.all(), elements.all()),
            count_nodes,
            count_nodes_fraction: share(0),
            count_ways,
            count_ways_fraction: share(1),
            count_relations,
            count_relations_fraction: share(2),
        }
    }
}

/// The description of a tag; its fields are omitted if the tag has no description.
#[derive(Serialize)]
pub struct TagDescription {
    in_wiki: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desclang: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descdir: Option<&'static str>,
}

impl TagDescription {
    /// Looks up the description of a tag.
    pub fn find(tags: &TagStatistics, key: &str, value: &str) -> TagDescription {
        let description = tags.docs().tag(key, value).map(str::to_owned);
        let in_wiki = description.is_some();
        let known = |text| in_wiki.then_some(text);
        TagDescription { in_wiki, description, desclang: known("en"), descdir: known("ltr") }
    }
}

/// The names of the element types, with `all` first.
pub const TYPES: [(&str, Which); 4] = [
    ("all", Which::All),
    ("nodes", Which::Only(ElementType::Node)),
    ("ways", Which::Only(ElementType::Way)),
    ("relations", Which::Only(ElementType::Relation)),
];

/// Number of elements of one type.
#[derive(Serialize)]
pub struct StatsRow {
    r#type: &'static str,
    count: u64,
    count_fraction: f64,
}

impl TaginfoRow for StatsRow {
    const COLUMNS: &'static [&'static str] = &["type", "count", "count_fraction"];
}

/// Returns a row for all elements and one for each type.
pub fn stats_rows(counts: TypeCounts, elements: TypeCounts) -> [StatsRow; 4] {
    TYPES.map(|(r#type, which)| {
        let count = counts.of(which);
        StatsRow { r#type, count, count_fraction: fraction(count, elements.of(which)) }
    })
}

/// The wiki's part of `key/overview` and `tag/overview`. A snapshot has no wiki pages: a key or tag with an English
/// description counts as one with a page in English.
#[derive(Serialize)]
pub struct WikiOverview {
    wiki_pages: Vec<WikiLanguage>,
    has_map: bool,
    description: BTreeMap<&'static str, DescriptionText>,
}

#[derive(Serialize)]
struct WikiLanguage {
    lang: &'static str,
    english: &'static str,
    native: &'static str,
    dir: &'static str,
}

#[derive(Serialize)]
struct DescriptionText {
    text: String,
    dir: &'static str,
}

impl WikiOverview {
    /// Creates the overview of a key or tag from its description.
    pub fn new(description: Option<&str>) -> WikiOverview {
        let page = description.map(|_| WikiLanguage { lang: "en", english: "English", native: "English", dir: "ltr" });
        let text = description.map(|text| ("en", DescriptionText { text: text.to_owned(), dir: "ltr" }));
        WikiOverview { wiki_pages: page.into_iter().collect(), has_map: false, description: text.into_iter().collect() }
    }
}
