//! `key/...` and `keys/...`.

use serde::Serialize;

use super::rows::{COUNTS, ElementCounts, StatsRow, TYPES, TagDescription, WikiOverview, stats_rows};
use super::{ServiceAnswer, TaginfoRequest, TaginfoRow, combinations};
use terrapin_tags::{
    KeyCharacters, KeyFilter, KeySorting, KeyUsage, KeyValueUsage, KeysWanted, TagStatistics, ValueSorting,
    ValuesWanted, Which, fraction,
};

/// The default of `min_fraction`, and its minimum.
const MIN_FRACTION: (f64, f64) = (0.01, 0.001);
/// The default of `min_count`.
const MIN_COUNT: u64 = 10_000;

const KEY_FILTERS: [(&str, KeyFilter); 8] = [
    ("characters_plain", KeyFilter::Characters(KeyCharacters::Plain)),
    ("characters_colon", KeyFilter::Characters(KeyCharacters::Colon)),
    ("characters_letters", KeyFilter::Characters(KeyCharacters::Letters)),
    ("characters_space", KeyFilter::Characters(KeyCharacters::Space)),
    ("characters_problem", KeyFilter::Characters(KeyCharacters::Problem)),
    ("characters_rest", KeyFilter::Characters(KeyCharacters::Rest)),
    ("in_wiki", KeyFilter::Described),
    ("not_in_db", KeyFilter::Unused),
];

const KEY_SORTINGS: [(&str, KeySorting); 8] = [
    ("key", KeySorting::Key),
    ("count_all", KeySorting::Count(COUNTS[0].1)),
    ("count_nodes", KeySorting::Count(COUNTS[1].1)),
    ("count_ways", KeySorting::Count(COUNTS[2].1)),
    ("count_relations", KeySorting::Count(COUNTS[3].1)),
    ("values_all", KeySorting::Values),
    ("in_wiki", KeySorting::Described),
    ("length", KeySorting::Length),
];

const VALUE_SORTINGS: [(&str, ValueSorting); 7] = [
    ("value", ValueSorting::Value),
    // The name of older versions of the API, which clients still send.
    ("count", ValueSorting::Count),
    ("count_all", ValueSorting::CountOf(COUNTS[0].1)),
    ("count_nodes", ValueSorting::CountOf(COUNTS[1].1)),
    ("count_ways", ValueSorting::CountOf(COUNTS[2].1)),
    ("count_relations", ValueSorting::CountOf(COUNTS[3].1)),
    ("in_wiki", ValueSorting::Described),
];

#[derive(Serialize)]
struct KeyRow {
    key: String,
    #[serde(flatten)]
    counts: ElementCounts,
    values_all: u64,
    in_wiki: bool,
}

impl TaginfoRow for KeyRow {
    const COLUMNS: &'static [&'static str] = &[
        "key",
        "count_all",
        "count_all_fraction",
        "count_nodes",
        "count_nodes_fraction",
        "count_ways",
        "count_ways_fraction",
        "count_relations",
        "count_relations_fraction",
        "values_all",
        "in_wiki",
    ];
}

#[derive(Serialize)]
struct KeyWithValuesRow {
    #[serde(flatten)]
    key: KeyRow,
    prevalent_values: Vec<PrevalentValueRow>,
}

impl TaginfoRow for KeyWithValuesRow {
    const COLUMNS: &'static [&'static str] = &[];
}

#[derive(Serialize)]
struct PrevalentValueRow {
    /// `None` for the sum of all values that are not listed.
    value: Option<String>,
    count: u64,
    fraction: f64,
}

impl TaginfoRow for PrevalentValueRow {
    const COLUMNS: &'static [&'static str] = &["value", "count", "fraction"];
}

#[derive(Serialize)]
struct ValueRow {
    value: String,
    count: u64,
    fraction: f64,
    #[serde(flatten)]
    description: TagDescription,
}

impl TaginfoRow for ValueRow {
    const COLUMNS: &'static [&'static str] =
        &["value", "count", "fraction", "in_wiki", "description", "desclang", "descdir"];
}

#[derive(Serialize)]
struct KeyStatsRow {
    #[serde(flatten)]
    stats: StatsRow,
    values: u64,
}

impl TaginfoRow for KeyStatsRow {
    const COLUMNS: &'static [&'static str] = &["type", "count", "count_fraction", "values"];
}

#[derive(Serialize)]
struct KeyOverview<'a> {
    key: &'a str,
    counts: Vec<KeyStatsRow>,
    prevalent_values: Vec<PrevalentValueRow>,
    #[serde(flatten)]
    wiki: WikiOverview,
}

#[derive(Serialize)]
struct UndescribedKeyRow {
    key: String,
    count_all: u64,
    count_all_fraction: f64,
    values_all: u64,
    prevalent_values: Vec<PrevalentValueRow>,
}

impl TaginfoRow for UndescribedKeyRow {
    const COLUMNS: &'static [&'static str] = &[];
}

/// Answers `keys/all`.
pub fn answer_all(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let (sorting, descending) = parameters.sorting(&KEY_SORTINGS, (KeySorting::Fit, true))?;
    let filters = parameters.filters(&KEY_FILTERS)?;
    let with_values = match parameters.get("include").unwrap_or_default() {
        "" => false,
        "prevalent_values" => true,
        _ => return Err("include: expected prevalent_values".to_owned()),
    };
    let (query, part) = (parameters.query(), parameters.part()?);
    let wanted = KeysWanted { query, filters: &filters, with_unused: true, sorting, descending, part };
    let (tags, elements) = (request.tags, request.elements());
    let keys = tags.keys(&wanted);
    let row = |KeyUsage { key, counts, values }| {
        let in_wiki = tags.docs().key(&key).is_some();
        KeyRow { key, counts: ElementCounts::new(counts, elements), values_all: values, in_wiki }
    };
    if !with_values {
        return request.answer_page(keys, row);
    }
    request.answer_page(keys, |key| {
        let prevalent_values = prevalent_rows(tags, &key.key, Which::All, MIN_FRACTION.0);
        KeyWithValuesRow { key: row(key), prevalent_values }
    })
}

/// Answers `keys/without_wiki_page`.
pub fn answer_undescribed(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let sortings =
        [("key", KeySorting::Key), ("count_all", KeySorting::Count(Which::All)), ("values_all", KeySorting::Values)];
    let (sorting, descending) = parameters.sorting(&sortings, (KeySorting::Count(Which::All), true))?;
    // Descriptions are in English, so that both answers are the same.
    if !matches!(parameters.get("english").unwrap_or_default(), "" | "0" | "1") {
        return Err("english: expected 0 or 1".to_owned());
    }
    let min_count = parameters.count("min_count")?.unwrap_or(MIN_COUNT);
    let filters = [KeyFilter::Undescribed, KeyFilter::AtLeast(min_count)];
    let (query, part) = (parameters.query(), parameters.part()?);
    let wanted = KeysWanted { query, filters: &filters, with_unused: false, sorting, descending, part };
    let (tags, elements) = (request.tags, request.elements().all());
    request.answer_page(tags.keys(&wanted), |KeyUsage { key, counts, values }| UndescribedKeyRow {
        prevalent_values: prevalent_rows(tags, &key, Which::All, MIN_FRACTION.0),
        key,
        count_all: counts.all(),
        count_all_fraction: fraction(counts.all(), elements),
        values_all: values,
    })
}

fn prevalent_rows(tags: &TagStatistics, key: &str, which: Which, min_fraction: f64) -> Vec<PrevalentValueRow> {
    let whole = tags.key_counts(key).of(which);
    let row = |KeyValueUsage { value, counts }| {
        let count = counts.of(which);
        PrevalentValueRow { value: Some(value), count, fraction: fraction(count, whole) }
    };
    tags.prevalent(key, which, min_fraction).into_iter().map(row).collect()
}

/// Answers `key/values`.
pub fn answer_values(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let (key, which) = (parameters.needed("key")?, parameters.which()?);
    let (sorting, descending) = parameters.sorting(&VALUE_SORTINGS, (ValueSorting::Fit, true))?;
    let wanted = ValuesWanted { query: parameters.query(), which, sorting, descending, part: parameters.part()? };
    let tags = request.tags;
    let whole = tags.key_counts(key).of(which);
    request.answer_page(tags.values(key, &wanted), |KeyValueUsage { value, counts }| {
        let (count, description) = (counts.of(which), TagDescription::find(tags, key, &value));
        ValueRow { value, count, fraction: fraction(count, whole), description }
    })
}

/// Answers `key/prevalent_values`. The last row is the sum of all values that are not listed, if there are any.
pub fn answer_prevalent_values(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let (key, which) = (parameters.needed("key")?, parameters.which()?);
    let min_fraction = parameters.fraction("min_fraction")?.unwrap_or(MIN_FRACTION.0).max(MIN_FRACTION.1);
    let mut rows = prevalent_rows(request.tags, key, which, min_fraction);
    let whole = request.tags.key_counts(key).of(which);
    let count = whole - rows.iter().map(|row| row.count).sum::<u64>();
    if count > 0 {
        rows.push(PrevalentValueRow { value: None, count, fraction: fraction(count, whole) });
    }
    request.answer_whole(&rows)
}

fn key_stats(request: &TaginfoRequest<'_>, key: &str) -> Vec<KeyStatsRow> {
    let stats = stats_rows(request.tags.key_counts(key), request.elements());
    let values = TYPES.map(|(_, which)| request.tags.key_values(key, which));
    stats.into_iter().zip(values).map(|(stats, values)| KeyStatsRow { stats, values }).collect()
}

/// Answers `key/stats`.
pub fn answer_stats(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    request.answer_whole(&key_stats(request, request.parameters.needed("key")?))
}

/// Answers `key/overview`.
pub fn answer_overview(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let key = request.parameters.needed("key")?;
    request.answer_object(&KeyOverview {
        key,
        counts: key_stats(request, key),
        prevalent_values: prevalent_rows(request.tags, key, Which::All, MIN_FRACTION.0),
        wiki: WikiOverview::new(request.tags.docs().key(key)),
    })
}

/// Answers `key/combinations`.
pub fn answer_combinations(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let found = request.tags.keys_with_key(parameters.needed("key")?, parameters.which()?);
    combinations::answer_keys(request, found)
}
