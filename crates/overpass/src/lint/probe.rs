//! Runs a query statement on its own, to find out whether it finds elements.

use terrapin_osm::Osm;

use crate::Limits;
use crate::syntax::{
    Detail, Out, OutGeometry, OutputFormat, OutputOrder, QlSettings, Query, QueryType, Script, Statement,
};

/// Returns whether a query reads no set, so that it can run on its own.
pub fn stands_alone(query: &Query) -> bool {
    query.what != QueryType::Derived
        && query.filters.iter().all(|filter| filter.kind.set().is_none() && filter.kind.expression().is_none())
}

/// Returns the number of elements that a query finds after the statements `before`, at most `limit`. Returns `None` if
/// it fails. The statements in `before` must not output anything.
pub fn found_by(
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
pub fn excerpt(text: &str, statement: &Statement) -> String {
    let whole = text.get(statement.span.start..statement.span.end).unwrap_or_default();
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(120).collect();
    if short.len() < line.len() { short + "..." } else { short }
}
