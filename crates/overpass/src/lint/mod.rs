//! Lints: warns about likely mistakes in a query, such as filters that match no element, and unused or undefined sets.
//! If a query has an empty result, `without.rs` finds the filter that is one too many, and `empty.rs` quickly
//! guesses the likely mistake.

mod code;
mod empty;
mod identifiers;
mod nearest;
mod probe;
mod repair;
pub mod sets;
mod without;

use std::collections::{BTreeSet, HashMap};

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_diagnostic::QueryWarning;
use terrapin_osm::areas::WAY_AREAS;
use terrapin_osm::{ElementType, Osm};

use crate::Limits;
use crate::syntax::{
    Area, Filter, FilterKind, Ids, Query, QueryType, Script, Statement, StatementKind, Tag, on_statements,
};

pub use code::LintCode;
use code::warning;
pub use empty::notes;
pub use identifiers::{TagIdentifier, identifiers};
use nearest::TagSuggestion;
pub use probe::excerpt;
use probe::{found_by, stands_alone};
pub use repair::{RepairEdit, repairs};

/// The maximum number of warnings.
const WARNINGS: usize = 10;
/// The maximum number of statements to run on their own to find one with an empty result.
const PROBED: usize = 8;

/// Returns the keys in a query's filters, in their order and without duplicates.
pub fn keys(script: &Script) -> Vec<String> {
    let mut keys = Vec::new();
    each_query(&script.statements, &mut |query, _| {
        for filter in &query.filters {
            let FilterKind::Tag(tag) = &filter.kind else { continue };
            match tag {
                Tag::HasKey { key }
                | Tag::Equals { key, .. }
                | Tag::NotEquals { key, .. }
                | Tag::Matches { key, .. }
                | Tag::NotMatches { key, .. }
                    if !keys.contains(key) =>
                {
                    keys.push(key.clone());
                }
                _ => {}
            }
        }
    });
    keys
}

/// Returns warnings about likely mistakes in a query that runs. Pass `empty` if its result was empty: then its parts
/// are run on their own.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn warnings(
    osm: &Osm,
    text: &str,
    script: &Script,
    empty: bool,
    limits: &Limits,
    budget: &Budget,
) -> Result<Vec<QueryWarning>, ExceededLimit> {
    let mut queries = Vec::new();
    each_query(&script.statements, &mut |query, statement| queries.push((query, statement)));
    let mut found = WarningCollector::default();
    let of_sets = sets::no_output(text, script).into_iter().chain(sets::unused(script)).chain(sets::unfilled(script));
    found.add(of_sets.map(|(_, warning)| warning));
    let mut probes = Vec::new();
    // Many queries repeat a filter, and the search for alternatives is slow.
    let mut looked_at: HashMap<(&str, Option<&str>), bool> = HashMap::new();
    for (query, statement) in queries {
        let mut warned = false;
        for filter in &query.filters {
            if found.is_full() {
                return Ok(found.warnings);
            }
            budget.check()?;
            let tag = tag_of(&filter.kind);
            if let Some(again) = tag.and_then(|tag| looked_at.get(&tag)) {
                warned |= again;
                continue;
            }
            let warning = filter_warning(osm, query.what, filter, budget)?;
            looked_at.extend(tag.map(|tag| (tag, warning.is_some())));
            warned |= warning.is_some();
            found.add(warning);
        }
        let is_area = query.what == QueryType::Area;
        if !warned && (is_area || empty) && probes.len() < PROBED && stands_alone(query) {
            probes.push((query.clone(), is_area, statement));
        }
    }
    // If a filter matches no element at all, that explains the empty result.
    let is_told = found.warnings.iter().any(|warning| warning.code != LintCode::UnusedSet.name());
    let without = if empty && !is_told { without::tried(osm, text, script, limits, budget)? } else { None };
    let told = without.as_ref().map(|(start, _)| *start);
    found.add(without.map(|(_, warning)| warning));
    for (query, is_area, statement) in probes {
        if found.is_full() {
            break;
        }
        if told == Some(statement.span.start) {
            continue;
        }
        let text = excerpt(text, statement);
        if found_by(osm, &script.settings, &[], query, Some(1), limits) == Some(0) {
            found.add([match is_area {
                true => warning(LintCode::NoSuchArea, format!("no area fits {text}"), Vec::new()),
                false => warning(LintCode::FindsNothing, format!("alone, {text} finds nothing"), Vec::new()),
            }]);
        }
        budget.check()?;
    }
    Ok(found.warnings)
}

/// Returns the tag that alone determines a filter's warning: its key, and its value if it has one.
fn tag_of(filter: &FilterKind) -> Option<(&str, Option<&str>)> {
    match filter {
        FilterKind::Tag(Tag::HasKey { key } | Tag::Matches { key, .. }) => Some((key, None)),
        FilterKind::Tag(Tag::Equals { key, value }) => Some((key, Some(value))),
        _ => None,
    }
}

/// Warnings without duplicates, up to the maximum number.
#[derive(Default)]
struct WarningCollector {
    warnings: Vec<QueryWarning>,
    seen: BTreeSet<String>,
}

impl WarningCollector {
    fn add(&mut self, more: impl IntoIterator<Item = QueryWarning>) {
        for warning in more {
            if !self.is_full() && self.seen.insert(warning.message.clone()) {
                self.warnings.push(warning);
            }
        }
    }

    fn is_full(&self) -> bool {
        self.warnings.len() >= WARNINGS
    }
}

/// Returns the reason why no element has a tag, or a key with any value; `None` if one has it.
pub fn tag_absence(osm: &Osm, key: &str, value: Option<&str>) -> Option<LintCode> {
    if osm.key(key).is_none() {
        return Some(LintCode::NoSuchKey);
    }
    value.filter(|value| osm.pair(key, value).is_none()).map(|_| LintCode::NoSuchValue)
}

/// A key or a tag that no element has.
struct MissingTag {
    code: LintCode,
    message: String,
    /// What may have been meant.
    instead: Vec<TagSuggestion>,
}

impl From<MissingTag> for QueryWarning {
    fn from(MissingTag { code, message, instead }: MissingTag) -> QueryWarning {
        warning(code, message, instead.iter().map(TagSuggestion::to_string).collect())
    }
}

/// Returns the tag, or the key with any value, if no element has it.
fn missing_tag(
    osm: &Osm,
    key: &str,
    value: Option<&str>,
    budget: &Budget,
) -> Result<Option<MissingTag>, ExceededLimit> {
    let Some(id) = osm.key(key) else {
        let mut instead = nearest::keys(osm, key, budget)?;
        if let Some(value) = value {
            let mut tags = nearest::elsewhere(osm, value, budget)?;
            if tags.is_empty() {
                tags = nearest::near_elsewhere(osm, value, budget)?;
            }
            instead.append(&mut tags);
        }
        let message = format!("no element has the key {key:?}");
        return Ok(Some(MissingTag { code: LintCode::NoSuchKey, message, instead }));
    };
    let Some(value) = value.filter(|value| tag_absence(osm, key, Some(value)).is_some()) else { return Ok(None) };
    // The same value with another key is more likely meant than another value of this key.
    let mut instead = nearest::elsewhere(osm, value, budget)?;
    instead.append(&mut nearest::values(osm, id, value, budget)?);
    if instead.is_empty() {
        instead = nearest::near_elsewhere(osm, value, budget)?;
    }
    Ok(Some(MissingTag { code: LintCode::NoSuchValue, message: format!("no element has {key}={value}"), instead }))
}

/// Returns the tag or the key of a filter if no element has it.
fn missing_in(osm: &Osm, filter: &Filter, budget: &Budget) -> Result<Option<MissingTag>, ExceededLimit> {
    match &filter.kind {
        FilterKind::Tag(Tag::HasKey { key } | Tag::Matches { key, .. }) => missing_tag(osm, key, None, budget),
        FilterKind::Tag(Tag::Equals { key, value }) => missing_tag(osm, key, Some(value), budget),
        _ => Ok(None),
    }
}

/// Returns a warning if no element has a tag, or a key with any value.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn tag_warning(
    osm: &Osm,
    key: &str,
    value: Option<&str>,
    budget: &Budget,
) -> Result<Option<QueryWarning>, ExceededLimit> {
    Ok(missing_tag(osm, key, value, budget)?.map(QueryWarning::from))
}

/// Returns a warning if no element has the tag, the id or the area of a filter.
///
/// # Errors
/// Returns an error if a limit is reached.
pub fn filter_warning(
    osm: &Osm,
    what: QueryType,
    filter: &Filter,
    budget: &Budget,
) -> Result<Option<QueryWarning>, ExceededLimit> {
    match &filter.kind {
        FilterKind::Tag(_) => Ok(missing_in(osm, filter, budget)?.map(QueryWarning::from)),
        FilterKind::Ids(Ids::List(ids)) => Ok(ids_warning(osm, what, ids)),
        FilterKind::Area(Area::Id(id)) if !area_exists(osm, *id) => {
            Ok(Some(warning(LintCode::NoSuchArea, format!("there is no area {id}"), Vec::new())))
        }
        _ => Ok(None),
    }
}

fn ids_warning(osm: &Osm, what: QueryType, ids: &[i64]) -> Option<QueryWarning> {
    let kinds: &[ElementType] = match what {
        QueryType::Node => &[ElementType::Node],
        QueryType::Way => &[ElementType::Way],
        QueryType::Relation => &[ElementType::Relation],
        QueryType::Nwr => &ElementType::ALL,
        QueryType::Nw => &[ElementType::Node, ElementType::Way],
        QueryType::Nr => &[ElementType::Node, ElementType::Relation],
        QueryType::Wr => &[ElementType::Way, ElementType::Relation],
        QueryType::Area => &[],
        QueryType::Derived => return None,
    };
    let exists = |id: i64| match what {
        QueryType::Area => area_exists(osm, id),
        _ => kinds.iter().any(|kind| osm.find(*kind, id).is_some()),
    };
    let missing: Vec<String> = ids.iter().filter(|id| !exists(**id)).map(ToString::to_string).collect();
    let listed = missing.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if missing.len() > 5 { format!(" and {} more", missing.len() - 5) } else { String::new() };
    match (missing.is_empty(), what) {
        (true, _) => None,
        (_, QueryType::Area) => {
            Some(warning(LintCode::NoSuchArea, format!("there is no area {listed}{more}"), Vec::new()))
        }
        _ => {
            let other = ElementType::ALL.iter().filter(|kind| !kinds.contains(kind)).filter_map(|kind| {
                let id = ids.iter().find(|id| osm.find(*kind, **id).is_some())?;
                Some(format!("{}/{id}", kind.name()))
            });
            Some(warning(LintCode::NoSuchId, format!("no element has the id {listed}{more}"), other.collect()))
        }
    }
}

/// Returns whether an area's id refers to a relation's area or to a way.
fn area_exists(osm: &Osm, id: i64) -> bool {
    osm.areas().find(osm, id).is_some()
        || [id, id.saturating_sub(WAY_AREAS)].iter().any(|way| osm.find(ElementType::Way, *way).is_some())
}

/// Calls `f` with each query statement.
fn each_query<'a>(block: &'a [Statement], f: &mut dyn FnMut(&'a Query, &'a Statement)) {
    on_statements(block, &mut |statement| {
        if let StatementKind::Query(query) = &statement.kind {
            f(query, statement);
        }
    });
}
