//! Rows of keys and tags that are found together, for `key/combinations` and `tag/combinations`.

use std::cmp::Ordering;

use serde::Serialize;

use super::{ServiceAnswer, TaginfoRequest, TaginfoRow};
use terrapin_tags::{Combination, Listed};

/// The sort order of combinations.
#[derive(Clone, Copy)]
enum CombinationSorting {
    /// Number of elements with both, and the share of the given elements.
    Together,
    /// Byte order of the other key and value.
    Other,
    /// The share of the other elements.
    FromFraction,
}

#[derive(Serialize)]
struct KeyCombinationRow {
    other_key: String,
    together_count: u64,
    to_fraction: f64,
    from_fraction: f64,
}

impl TaginfoRow for KeyCombinationRow {
    const COLUMNS: &'static [&'static str] = &["other_key", "together_count", "to_fraction", "from_fraction"];
}

#[derive(Serialize)]
struct TagCombinationRow {
    other_key: String,
    /// Empty for the key with any value.
    other_value: String,
    together_count: u64,
    to_fraction: f64,
    from_fraction: f64,
}

impl TaginfoRow for TagCombinationRow {
    const COLUMNS: &'static [&'static str] =
        &["other_key", "other_value", "together_count", "to_fraction", "from_fraction"];
}

/// Answers with a page of the keys found together with a key.
pub fn answer_keys(request: &TaginfoRequest<'_>, found: Vec<Combination>) -> ServiceAnswer {
    request.answer_page(select(request, found, "other_key")?, |row| KeyCombinationRow {
        other_key: row.other_key,
        together_count: row.together,
        to_fraction: row.to_fraction,
        from_fraction: row.from_fraction,
    })
}

/// Answers with a page of the keys and tags found together with a tag.
pub fn answer_tags(request: &TaginfoRequest<'_>, found: Vec<Combination>) -> ServiceAnswer {
    request.answer_page(select(request, found, "other_tag")?, |row| TagCombinationRow {
        other_key: row.other_key,
        other_value: row.other_value.unwrap_or_default(),
        together_count: row.together,
        to_fraction: row.to_fraction,
        from_fraction: row.from_fraction,
    })
}

/// Returns the page of the combinations, which come by descending count. `other` is the name of the column of texts.
fn select(
    request: &TaginfoRequest<'_>,
    mut found: Vec<Combination>,
    other: &str,
) -> Result<Listed<Combination>, String> {
    let parameters = &request.parameters;
    let columns = [
        ("together_count", CombinationSorting::Together),
        (other, CombinationSorting::Other),
        ("to_fraction", CombinationSorting::Together),
        ("from_fraction", CombinationSorting::FromFraction),
    ];
    let (sorting, descending) = parameters.sorting(&columns, (CombinationSorting::Together, true))?;
    let part = parameters.part()?;
    let query = parameters.query().to_lowercase();
    found.retain(|row| {
        let value = row.other_value.as_deref().unwrap_or_default();
        query.is_empty() || row.other_key.to_lowercase().contains(&query) || value.to_lowercase().contains(&query)
    });
    let compare = |a: &Combination, b: &Combination| -> Ordering {
        match sorting {
            CombinationSorting::Together => a.together.cmp(&b.together),
            CombinationSorting::Other => (&a.other_key, &a.other_value).cmp(&(&b.other_key, &b.other_value)),
            CombinationSorting::FromFraction => a.from_fraction.total_cmp(&b.from_fraction),
        }
    };
    // A stable sort: ties keep their order.
    found.sort_by(|a, b| if descending { compare(b, a) } else { compare(a, b) });
    let total = found.len() as u64;
    let rows = found.into_iter().skip(part.skip).take(part.take.unwrap_or(usize::MAX)).collect();
    Ok(Listed { total, rows })
}
