//! `tag/...` and `tags/...`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rows::{COUNTS, ElementCounts, StatsRow, WikiOverview, stats_rows};
use super::{ServiceAnswer, TaginfoRequest, TaginfoRow, combinations};
use terrapin_budget as budget;
use terrapin_tags::{
    KeyValueUsage, Listed, TagCount, TagQuery, TagSorting, TagsWanted, TypeCounts, ValueSorting, ValuesWanted, Which,
};

#[derive(Serialize)]
struct PopularTagRow {
    key: String,
    value: String,
    in_wiki: bool,
    #[serde(flatten)]
    counts: ElementCounts,
}

impl TaginfoRow for PopularTagRow {
    const COLUMNS: &'static [&'static str] = &[
        "key",
        "value",
        "in_wiki",
        "count_all",
        "count_all_fraction",
        "count_nodes",
        "count_nodes_fraction",
        "count_ways",
        "count_ways_fraction",
        "count_relations",
        "count_relations_fraction",
    ];
}

#[derive(Serialize)]
struct ListedTagRow {
    #[serde(flatten)]
    tag: PopularTagRow,
    /// The wiki pages of the tag, by their language codes.
    wiki: BTreeMap<&'static str, WikiEntry>,
}

impl TaginfoRow for ListedTagRow {
    const COLUMNS: &'static [&'static str] = &[];
}

#[derive(Serialize)]
struct WikiEntry {
    description: String,
}

#[derive(Serialize)]
struct TagOverview<'a> {
    key: &'a str,
    value: &'a str,
    counts: [StatsRow; 4],
    #[serde(flatten)]
    wiki: WikiOverview,
}

/// Returns the required key and value.
fn needed_tag<'a>(request: &'a TaginfoRequest<'_>) -> Result<(&'a str, &'a str), String> {
    Ok((request.parameters.needed("key")?, request.parameters.needed("value")?))
}

/// Answers `tag/stats`.
pub fn answer_stats(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let (key, value) = needed_tag(request)?;
    request.answer_whole(&stats_rows(request.tags.tag_counts(key, value), request.elements()))
}

/// Answers `tag/overview`.
pub fn answer_overview(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let (key, value) = needed_tag(request)?;
    request.answer_object(&TagOverview {
        key,
        value,
        counts: stats_rows(request.tags.tag_counts(key, value), request.elements()),
        wiki: WikiOverview::new(request.tags.docs().tag(key, value)),
    })
}

/// Answers `tag/combinations`.
pub fn answer_combinations(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let (key, value) = needed_tag(request)?;
    let found = request.tags.tags_with_tag(key, value, request.parameters.which()?);
    combinations::answer_tags(request, found)
}

/// Answers `tags/popular`.
pub fn answer_popular(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let [all, nodes, ways, relations] = COUNTS.map(|(name, which)| (name, TagSorting::Count(which)));
    let sortings = [("tag", TagSorting::Key), all, nodes, ways, relations];
    let (sorting, descending) = parameters.sorting(&sortings, (TagSorting::Count(Which::All), true))?;
    let query = match parameters.query().split_once('=') {
        Some((key, value)) => TagQuery::Both { key, value },
        None => TagQuery::Either(parameters.query()),
    };
    let wanted = TagsWanted { query, sorting, descending, part: parameters.part()? };
    let elements = request.elements();
    request.answer_page(request.tags.tags(&wanted), |tag| popular_row(request, tag, elements))
}

fn popular_row(request: &TaginfoRequest<'_>, tag: TagCount, elements: TypeCounts) -> PopularTagRow {
    let in_wiki = request.tags.docs().tag(&tag.key, &tag.value).is_some();
    PopularTagRow { key: tag.key, value: tag.value, in_wiki, counts: ElementCounts::new(tag.counts, elements) }
}

fn listed_row(request: &TaginfoRequest<'_>, tag: TagCount, elements: TypeCounts) -> ListedTagRow {
    let description = request.tags.docs().tag(&tag.key, &tag.value);
    let entry = description.map(|text| ("en", WikiEntry { description: text.to_owned() }));
    ListedTagRow { wiki: entry.into_iter().collect(), tag: popular_row(request, tag, elements) }
}

/// Answers `tags/list`: the tags of `tags=highway=residential,primary`, or those of `key`.
pub fn answer_list(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let elements = request.elements();
    if let Some(tags) = parameters.get("tags") {
        let rows: Result<Vec<ListedTagRow>, String> = named_tags(tags)?
            .into_iter()
            .map(|(key, value)| Ok(listed_row(request, tag_of(request, key, value), elements)))
            .collect();
        return request.answer_whole(&rows?);
    }
    let key =
        parameters.needed("key").map_err(|_| "one of the parameters \"key\" and \"tags\" is needed".to_owned())?;
    request.answer_page(tags_of_key(request, key)?, |tag| listed_row(request, tag, elements))
}

fn tag_of(request: &TaginfoRequest<'_>, key: &str, value: &str) -> TagCount {
    budget::checkpoints(16);
    TagCount { key: key.to_owned(), value: value.to_owned(), counts: request.tags.tag_counts(key, value) }
}

/// Parses `key1=value1a,value1b,key2=value2a`.
fn named_tags(text: &str) -> Result<Vec<(&str, &str)>, String> {
    let mut key = None;
    let tag = |tag| match (str::split_once(tag, '='), key) {
        (Some((own, value)), _) => {
            key = Some(own);
            Ok((own, value))
        }
        (None, Some(key)) => Ok((key, tag)),
        (None, None) => Err("tags: expected key=value,...".to_owned()),
    };
    text.split(',').map(tag).collect()
}

/// Returns the described tags of a key, or all if no descriptions were read, in byte order.
fn tags_of_key(request: &TaginfoRequest<'_>, key: &str) -> Result<Listed<TagCount>, String> {
    let (tags, part) = (request.tags, request.parameters.part()?);
    if tags.docs().source().is_none() {
        let (which, sorting) = (Which::All, ValueSorting::Value);
        let listed = tags.values(key, &ValuesWanted { query: "", which, sorting, descending: false, part });
        return Ok(listed.map(|KeyValueUsage { value, counts }| TagCount { key: key.to_owned(), value, counts }));
    }
    let mut values: Vec<&str> = tags.docs().values(key).inspect(|_| budget::checkpoint()).collect();
    values.sort_unstable();
    let total = values.len() as u64;
    let page = values.into_iter().skip(part.skip).take(part.take.unwrap_or(usize::MAX));
    Ok(Listed { total, rows: page.map(|value| tag_of(request, key, value)).collect() })
}
