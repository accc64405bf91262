//! `timeline`: the versions of an element. The data has the current one.

use std::sync::Arc;

use super::Context;
use crate::reader::Reader;
use crate::set::{Derived, Set};
use crate::syntax::{self, Timeline};
use crate::timestamp;
use terrapin_osm::ElementType;

/// Runs the statement.
pub fn run(ctx: &mut Context, timeline: &Timeline) {
    let (id, version) = (timeline.id, timeline.version);
    let kind = match timeline.kind {
        syntax::ElementType::Node => ElementType::Node,
        syntax::ElementType::Way => ElementType::Way,
        syntax::ElementType::Relation => ElementType::Relation,
    };
    let meta = ctx.osm.find(kind, id).map(|ordinal| Reader::new(ctx.osm).meta(kind, ordinal));
    let mut set = Set::default();
    if let Some(meta) = meta.filter(|meta| version.is_none_or(|v| v == i64::from(meta.version))) {
        ctx.last_derived_id += 1;
        let tags = [
            ("reftype", kind.name().to_owned()),
            ("ref", id.to_string()),
            ("refversion", meta.version.to_string()),
            ("created", timestamp::print(meta.timestamp)),
        ];
        set.derived.push(Arc::new(Derived {
            type_name: "timeline".to_owned(),
            id: ctx.last_derived_id,
            tags: tags.map(|(key, value)| (key.to_owned(), value)).to_vec(),
            geometry: None,
        }));
    }
    ctx.assign(&timeline.into, set);
}
