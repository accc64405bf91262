//! Lints: warns about likely mistakes in a query, such as filters that match no element, and unused or undefined sets.
//! If a query has an empty result, `without.rs` finds the filter that is one too many, and `empty.rs` quickly
//! guesses the likely mistake.

mod code;
mod empty;
mod nearest;
mod without;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_diagnostic::QueryWarning;
use terrapin_osm::areas::WAY_AREAS;
use terrapin_osm::{ElementType, Osm};

use crate::Limits;
use crate::syntax::{
    Area, Detail, Filter, FilterKind, Ids, Out, OutGeometry, OutputFormat, OutputOrder, QlSettings, Query, QueryType,
    Script, Statement, StatementKind, Tag, on_statements,
};

pub use code::LintCode;
pub use empty::notes;

/// The maximum number of warnings.
const WARNINGS: usize = 10;
/// The maximum number of statements to run on their own to find one with an empty result.
const PROBED: usize = 8;

fn warning(code: LintCode, message: String, nearest: Vec<String>) -> QueryWarning {
    QueryWarning { code: code.name(), message, nearest }
}

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
    found.add(sets(text, script));
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
    let Some(id) = osm.key(key) else {
        let mut near = nearest::keys(osm, key, budget)?;
        if let Some(value) = value {
            let mut instead = nearest::elsewhere(osm, value, budget)?;
            if instead.is_empty() {
                instead = nearest::near_elsewhere(osm, value, budget)?;
            }
            near.append(&mut instead);
        }
        return Ok(Some(warning(LintCode::NoSuchKey, format!("no element has the key {key:?}"), near)));
    };
    let Some(value) = value.filter(|value| osm.pair(key, value).is_none()) else { return Ok(None) };
    // The same value with another key is more likely meant than another value of this key.
    let mut instead = nearest::elsewhere(osm, value, budget)?;
    instead.append(&mut nearest::values(osm, id, value, budget)?);
    if instead.is_empty() {
        instead = nearest::near_elsewhere(osm, value, budget)?;
    }
    Ok(Some(warning(LintCode::NoSuchValue, format!("no element has {key}={value}"), instead)))
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
        FilterKind::Tag(Tag::HasKey { key } | Tag::Matches { key, .. }) => tag_warning(osm, key, None, budget),
        FilterKind::Tag(Tag::Equals { key, value }) => tag_warning(osm, key, Some(value), budget),
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

/// Returns whether a query reads no set, so that it can run on its own.
fn stands_alone(query: &Query) -> bool {
    query.what != QueryType::Derived
        && query.filters.iter().all(|filter| filter.kind.set().is_none() && filter.kind.expression().is_none())
}

/// Returns the number of elements that a query finds after the statements `before`, at most `limit`. Returns `None` if
/// it fails. The statements in `before` must not output anything.
fn found_by(
    osm: &Osm,
    settings: &QlSettings,
    before: &[Statement],
    mut query: Query,
    limit: Option<u64>,
    limits: &Limits,
) -> Option<u64> {
    query.into = "_".to_owned();
    let out = Out {
        from: "_".to_owned(),
        detail: Detail::Ids,
        noids: false,
        geometry: OutGeometry::default(),
        bbox: None,
        order: OutputOrder::Asc,
        limit,
    };
    let statement = |kind| Statement { span: Default::default(), line: 1, kind };
    let script = Script {
        settings: QlSettings { output: OutputFormat::Json, ..settings.clone() },
        statements: [before, &[statement(query.into()), statement(out.into())]].concat(),
    };
    crate::run(osm, &script, limits, &mut std::io::sink()).ok().map(|summary| summary.elements)
}

/// Returns the text of a statement on one line, cut after 120 characters.
fn excerpt(text: &str, statement: &Statement) -> String {
    let whole = text.get(statement.span.start..statement.span.end).unwrap_or_default();
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(120).collect();
    if short.len() < line.len() { short + "..." } else { short }
}

/// Returns warnings about sets that are filled and never read, sets that are read and never filled, and a missing
/// `out`.
fn sets(text: &str, script: &Script) -> Vec<QueryWarning> {
    let mut found = Vec::new();
    let (mut filled, mut used, mut outputs) = (BTreeMap::new(), BTreeSet::new(), false);
    on_statements(&script.statements, &mut |statement| {
        outputs |= matches!(statement.kind, StatementKind::Out(_) | StatementKind::Local(_));
        if let Some(into) = statement.kind.result_set() {
            filled.entry(into.to_owned()).or_insert(statement.line);
        }
        used.extend(used_by(&statement.kind).map(str::to_owned));
    });
    if !outputs {
        found.push(warning(LintCode::NoOutput, "there is no out statement: nothing is output".to_owned(), Vec::new()));
    }
    let read = read_in(text);
    let is_read = |name: &str| read.as_ref().is_none_or(|read| read.contains(name));
    for name in filled.keys().filter(|name| *name != "_" && !is_read(name)) {
        found.push(warning(
            LintCode::UnusedSet,
            format!("the set .{name} is filled and never used or output"),
            Vec::new(),
        ));
    }
    for name in used.iter().filter(|name| *name != "_" && !filled.contains_key(*name)) {
        let near = filled.keys().filter(|name| *name != "_").map(|name| format!(".{name}")).take(5).collect();
        found.push(warning(LintCode::UnfilledSet, format!("the set .{name} is used and never filled"), near));
    }
    found
}

/// Returns the names of the sets that a text reads, not counting those that it only fills. Returns `None` for XML,
/// where this is not checked. Walks over the text once, regardless of the number of sets.
fn read_in(text: &str) -> Option<HashSet<&str>> {
    if text.trim_start().starts_with('<') {
        return None;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut read = HashSet::new();
    let mut at = 0;
    while let Some(start) = text.get(at..).and_then(|rest| rest.find(is_word)).map(|found| at + found) {
        let (before, rest) = text.split_at(start);
        let (word, after) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        // Expressions name a set with a dot after it instead of before it.
        let is_read = match before.strip_suffix('.') {
            Some(before) => !before.trim_end().ends_with("->"),
            None => after.starts_with('.'),
        };
        if is_read {
            read.insert(word);
        }
        at = start + word.len();
    }
    Some(read)
}

/// Iterates over the sets that a statement and its filters read, without those in expressions.
fn used_by(kind: &StatementKind) -> impl Iterator<Item = &str> {
    let filters: &[Filter] = match kind {
        StatementKind::Query(query) => &query.filters,
        _ => &[],
    };
    let of_filters = filters.iter().filter_map(|filter| filter.kind.set());
    kind.input_set().into_iter().chain(of_filters).map(String::as_str)
}

/// Calls `f` with each query statement.
fn each_query<'a>(block: &'a [Statement], f: &mut dyn FnMut(&'a Query, &'a Statement)) {
    on_statements(block, &mut |statement| {
        if let StatementKind::Query(query) = &statement.kind {
            f(query, statement);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_sets(text: &str) -> Vec<&'static str> {
        sets(text, &crate::parse(text).unwrap()).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn sets_that_go_nowhere() {
        assert!(of_sets("node[a]->.x;.x out;").is_empty());
        // Expressions name sets without a dot before them.
        assert!(of_sets("node[a]->.x;make c n=x.count(nodes);out;").is_empty());
        assert_eq!(of_sets("node[a]->.xy;node[b]->.x;.x out;"), ["unused-set"]);
        assert_eq!(of_sets("node[a]->.x;.x->.y;.y out;"), [""; 0]);
        assert_eq!(of_sets("node(area.town);out;"), ["unfilled-set"]);
        assert_eq!(of_sets("node[a];"), ["no-output"]);
        // A part of a longer name is not the name, and neither is a quoted text.
        assert_eq!(of_sets("node[a]->.x;node[b]->.ax;.ax out;node[\"x\"];out;"), ["unused-set"]);
        let many: String = (0..20_000).map(|n| format!("node[a]->.s{n};.s{n} out;")).collect();
        assert!(of_sets(&many).is_empty());
    }
}
