//! `search/...`.

use serde::Serialize;

use super::rows::TagDescription;
use super::{ServiceAnswer, TaginfoRequest, TaginfoRow};
use terrapin_tags::{
    Listed, MemberRole, RoleSorting, RolesWanted, TagCount, TagMatch, TagQuery, TagSorting, TagsWanted, Which,
};

/// The default number of rows of `search/by_keyword`, and the maximum number of tags that it finds.
const KEYWORD_ROWS: (usize, usize) = (20, 999);

#[derive(Serialize)]
struct TagMatchRow {
    key: String,
    value: String,
    count_all: u64,
}

impl TaginfoRow for TagMatchRow {
    const COLUMNS: &'static [&'static str] = &["key", "value", "count_all"];
}

#[derive(Serialize)]
struct RoleMatchRow {
    rtype: String,
    role: String,
    count_all: u64,
}

impl TaginfoRow for RoleMatchRow {
    const COLUMNS: &'static [&'static str] = &["rtype", "role", "count_all"];
}

#[derive(Serialize)]
struct KeywordRow {
    #[serde(flatten)]
    tag: TagMatchRow,
    score: f64,
    #[serde(flatten)]
    description: TagDescription,
    /// Number of elements that also have the first tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    together_count: Option<u64>,
}

impl TaginfoRow for KeywordRow {
    const COLUMNS: &'static [&'static str] =
        &["key", "value", "count_all", "score", "in_wiki", "description", "desclang", "descdir", "together_count"];
}

/// The sort order of tags that a question is about.
#[derive(Clone, Copy)]
enum KeywordSorting {
    Score,
    Key,
    Value,
}

/// Answers `search/by_value`.
pub fn answer_value(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    answer_tags(request, TagQuery::Both { key: "", value: request.parameters.needed("query")? })
}

/// Answers `search/by_key_and_value`.
pub fn answer_key_and_value(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let query = request.parameters.needed("query")?;
    let (key, value) = query.split_once('=').ok_or("query: expected key=value, either of which may be cut off")?;
    answer_tags(request, TagQuery::Both { key, value })
}

fn answer_tags(request: &TaginfoRequest<'_>, query: TagQuery<'_>) -> ServiceAnswer {
    let by_count = TagSorting::Count(Which::All);
    let sortings = [("count_all", by_count), ("key", TagSorting::Key), ("value", TagSorting::Value)];
    let (sorting, descending) = request.parameters.sorting(&sortings, (by_count, true))?;
    let wanted = TagsWanted { query, sorting, descending, part: request.parameters.part()? };
    request.answer_page(request.tags.tags(&wanted), match_row)
}

fn match_row(tag: TagCount) -> TagMatchRow {
    TagMatchRow { key: tag.key, value: tag.value, count_all: tag.counts.all() }
}

/// Answers `search/by_role`.
pub fn answer_role(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let by_count = RoleSorting::Members(Which::All);
    let sortings = [("count_all", by_count), ("rtype", RoleSorting::Type), ("role", RoleSorting::Role)];
    let (sorting, descending) = parameters.sorting(&sortings, (by_count, true))?;
    let (query, part) = (parameters.needed("query")?, parameters.part()?);
    let wanted = RolesWanted { rtype: None, query, min_fraction: 0.0, sorting, descending, part };
    request.answer_page(request.tags.member_roles().list(&wanted), |MemberRole { rtype, role, members }| RoleMatchRow {
        rtype,
        role,
        count_all: members.all(),
    })
}

/// Answers `search/by_keyword`: tags that a question in words is about.
pub fn answer_keyword(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let query = parameters.needed("query")?;
    let sortings = [("key", KeywordSorting::Key), ("value", KeywordSorting::Value)];
    let (sorting, descending) = parameters.sorting(&sortings, (KeywordSorting::Score, true))?;
    let (page, rp) = parameters.page()?;
    let rp = rp.unwrap_or(KEYWORD_ROWS.0);
    let (skip, last) = ((page - 1).saturating_mul(rp), page.saturating_mul(rp).min(KEYWORD_ROWS.1));
    let by_score = matches!(sorting, KeywordSorting::Score);
    let mut found = request.tags.search(query, if by_score { last } else { KEYWORD_ROWS.1 });
    // By descending score, as they come.
    match sorting {
        KeywordSorting::Score => {}
        KeywordSorting::Key => found.tags.sort_by(|a, b| tag_texts(a).cmp(&tag_texts(b))),
        KeywordSorting::Value => {
            found.tags.sort_by(|a, b| (&a.tag.value, &a.tag.key).cmp(&(&b.tag.value, &b.tag.key)));
        }
    }
    if !by_score && descending {
        found.tags.reverse();
    }
    let rows = found.tags.into_iter().skip(skip).take(rp).collect();
    let listed = Listed { total: found.total, rows };
    let listed = listed.map(|TagMatch { tag, score, together }| KeywordRow {
        description: TagDescription::find(request.tags, &tag.key, &tag.value),
        tag: match_row(tag),
        score,
        together_count: together,
    });
    request.answer_rows(listed.total, &listed.rows, (page, Some(rp)))
}

fn tag_texts(found: &TagMatch) -> (&str, &str) {
    (&found.tag.key, &found.tag.value)
}
