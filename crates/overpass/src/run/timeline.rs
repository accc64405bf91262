//! Runs `timeline`: lists the versions of an element. Data without a history has only the current one.

use std::sync::Arc;

use super::RunContext;
use crate::reader::StoreReader;
use crate::set::{Derived, ElementSet};
use crate::syntax::{self, Timeline};
use crate::timestamp;
use terrapin_osm::ElementType;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, timeline: &Timeline) {
    let (id, version) = (timeline.id, timeline.version);
    let kind = match timeline.kind {
        syntax::QlElementType::Node => ElementType::Node,
        syntax::QlElementType::Way => ElementType::Way,
        syntax::QlElementType::Relation => ElementType::Relation,
    };
    let mut versions: Vec<(u32, i64)> = match ctx.history() {
        Some(history) => {
            history.versions(ctx.current, kind, id).iter().map(|version| (version.version, version.timestamp)).collect()
        }
        None => {
            let known = ctx.osm.find(kind, id).map(|ordinal| StoreReader::new(ctx.osm).meta(kind, ordinal));
            known.map(|meta| (meta.version, meta.timestamp)).into_iter().collect()
        }
    };
    // As in the reference, in order of time.
    versions.sort_by_key(|&(_, created)| created);
    let mut set = ElementSet::default();
    for (at, &(number, created)) in versions.iter().enumerate() {
        if version.is_some_and(|version| version != i64::from(number)) {
            continue;
        }
        ctx.last_derived_id += 1;
        let mut tags = vec![
            ("reftype", kind.name().to_owned()),
            ("ref", id.to_string()),
            ("refversion", number.to_string()),
            ("created", timestamp::print_version_time(created)),
        ];
        tags.extend(versions.get(at + 1).map(|&(_, expired)| ("expired", timestamp::print_version_time(expired))));
        set.derived.push(Arc::new(Derived {
            type_name: "timeline".to_owned(),
            id: ctx.last_derived_id,
            tags: tags.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            geometry: None,
        }));
    }
    ctx.assign(&timeline.into, set);
}
