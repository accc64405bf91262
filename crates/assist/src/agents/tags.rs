//! The tools `search_tags` and `describe_tag`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Tool, Trouble};
use terrapin_base::untrusted;
use terrapin_engine::Engine;
use terrapin_tags::{
    KeySorting, KeyValueUsage, KeysWanted, Listed, RowPage, TagStatistics, TypeCounts, ValueSorting, ValuesWanted,
    Which,
};

/// Default and maximum number of tags in an answer.
const FOUND: (usize, usize) = (10, 50);
/// Maximum number of values and combinations of a key or tag.
const TOLD: usize = 10;

/// Finds tags by words.
pub struct SearchTags;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagSearchRequest {
    /// The thing to search for, in English: "fast food that is vegan". Leave out the names of places.
    text: String,
    /// Maximum number of tags; default: 10, at most 50.
    limit: Option<usize>,
}

#[derive(Serialize, JsonSchema)]
pub struct TagSearchResult {
    /// Number of tags that match any of the words.
    total: u64,
    /// The best matching tags, best first.
    tags: Vec<FoundTag>,
    /// Keys with any value, best first: for texts such as names, and for filters like ["key"].
    keys: Vec<FoundKey>,
    /// The next step.
    hint: String,
}

#[derive(Serialize, JsonSchema)]
struct FoundTag {
    key: String,
    value: String,
    /// Number of elements with this tag.
    count: u64,
    /// Number of these that also have the first tag, if that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_first: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct FoundKey {
    key: String,
    /// Number of elements with this key.
    count: u64,
    /// Number of different values.
    values: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl Tool for SearchTags {
    const NAME: &'static str = "search_tags";
    const TITLE: &'static str = "Search tags";
    const DESCRIPTION: &'static str = "Find the OpenStreetMap tags (key=value) that a thing has in this data, from words in \
        English, with how many elements have each. Use it before you write an Overpass query: a tag that is not found here \
        finds nothing there.";
    type Input = TagSearchRequest;
    type Output = TagSearchResult;

    fn run(engine: &Engine, input: TagSearchRequest, _: &Limits) -> Result<TagSearchResult, Trouble> {
        let most = input.limit.unwrap_or(FOUND.0).clamp(1, FOUND.1);
        let (tags, docs) = (engine.tags(), engine.tags().docs());
        let found = tags.search(&input.text, most);
        let hint = match found.tags.first() {
            Some(best) => format!(
                "use the tag as a filter: nwr[\"{}\"=\"{}\"](area or box); describe_tag tells what it is found with",
                best.tag.key, best.tag.value
            ),
            None => {
                "no key and no value has any of these words: try another word for it, or a more general one".to_owned()
            }
        };
        let tags = found.tags.into_iter().map(|found| FoundTag {
            description: docs.tag(&found.tag.key, &found.tag.value).map(str::to_owned),
            count: found.tag.counts.all(),
            with_first: found.together,
            key: found.tag.key,
            value: found.tag.value,
        });
        let keys = found.keys.into_iter().take(TOLD).map(|key| FoundKey {
            description: docs.key(&key.key).map(str::to_owned),
            count: key.counts.all(),
            values: key.values,
            key: key.key,
        });
        Ok(TagSearchResult { total: found.total, tags: tags.collect(), keys: keys.collect(), hint })
    }
}

/// Describes a tag or a key.
pub struct DescribeTag;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TagRequest {
    /// The key: "amenity".
    key: String,
    /// The value: "cafe". Without one, the key is described.
    value: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct TagDescription {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Number of elements with it.
    count: u64,
    nodes: u64,
    ways: u64,
    relations: u64,
    /// Number of values of a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    values_total: Option<u64>,
    /// The most frequent values of a key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<ValueCount>,
    /// The tags and keys that occur with it most often.
    found_with: Vec<With>,
}

#[derive(Serialize, JsonSchema)]
struct ValueCount {
    value: String,
    count: u64,
}

#[derive(Serialize, JsonSchema)]
struct With {
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// Number of elements with both.
    count: u64,
    /// This number as a fraction of all elements with the described tag or key, from 0 to 1.
    fraction: f64,
}

impl Tool for DescribeTag {
    const NAME: &'static str = "describe_tag";
    const TITLE: &'static str = "Describe a tag or key";
    const DESCRIPTION: &'static str = "Tell how many nodes, ways and relations have a tag (key and value) or a key, its most \
        frequent values, and which other keys and tags the same elements have: what can be filtered by or shown beside it.";
    type Input = TagRequest;
    type Output = TagDescription;

    fn run(engine: &Engine, input: TagRequest, _: &Limits) -> Result<TagDescription, Trouble> {
        let TagRequest { key, value } = input;
        let tags = engine.tags();
        let counts = match &value {
            Some(value) => tags.tag_counts(&key, value),
            None => tags.key_counts(&key),
        };
        if counts.all() == 0 {
            return Err(nothing(tags, &key, value.as_deref()));
        }
        let (values_total, values) = match value {
            Some(_) => (None, Vec::new()),
            None => {
                let listed = values(tags, &key, "");
                (Some(listed.total), listed.rows)
            }
        };
        let found = match &value {
            Some(value) => tags.tags_with_tag(&key, value, Which::All),
            None => tags.keys_with_key(&key, Which::All),
        };
        let found_with = found.into_iter().take(TOLD).map(|other| With {
            key: other.other_key,
            value: other.other_value,
            count: other.together,
            fraction: other.to_fraction,
        });
        let description = match &value {
            Some(value) => tags.docs().tag(&key, value),
            None => tags.docs().key(&key),
        };
        let TypeCounts([nodes, ways, relations]) = counts;
        Ok(TagDescription {
            description: description.map(str::to_owned),
            count: counts.all(),
            nodes,
            ways,
            relations,
            values_total,
            values: values
                .into_iter()
                .map(|KeyValueUsage { value, counts }| ValueCount { value, count: counts.all() })
                .collect(),
            found_with: found_with.collect(),
            key,
            value,
        })
    }
}

fn values(tags: &TagStatistics, key: &str, query: &str) -> Listed<KeyValueUsage> {
    let part = RowPage { skip: 0, take: Some(TOLD) };
    let wanted = ValuesWanted { query, which: Which::All, sorting: ValueSorting::Fit, descending: true, part };
    tags.values(key, &wanted)
}

/// Returns the error that no element has the tag or key, with similar ones as a hint.
fn nothing(tags: &TagStatistics, key: &str, value: Option<&str>) -> Trouble {
    let list = |names: Vec<String>| match names.iter().map(|name| untrusted::line(name)).collect::<Vec<_>>() {
        names if names.is_empty() => "search_tags finds others".to_owned(),
        names => names.join(", "),
    };
    if tags.key_counts(key).all() > 0 {
        let value = value.unwrap_or_default();
        let near = [value, ""].into_iter().map(|query| values(tags, key, query)).find(|listed| listed.total > 0);
        let near = near.map_or_else(Vec::new, |near| near.rows.into_iter().map(|near| near.value).collect());
        return Trouble::new(format!("no element has {key}={value}")).hint(format!("values of {key}: {}", list(near)));
    }
    let part = RowPage { skip: 0, take: Some(TOLD) };
    let wanted =
        KeysWanted { query: key, filters: &[], with_unused: false, sorting: KeySorting::Fit, descending: true, part };
    let near = tags.keys(&wanted).rows.into_iter().map(|near| near.key).collect();
    Trouble::new(format!("no element has the key {key}")).hint(format!("keys: {}", list(near)))
}
