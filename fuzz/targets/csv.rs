//! The settings of `[out:csv(...)]`: a query with any text in the parentheses is rejected or answered.

use std::time::{Duration, Instant};

use terrapin::overpass::Limits;
use terrapin::overpass::{parse, run};

pub const WORDS: &[&str] = &[
    "::id",
    "::type",
    "::otype",
    "::lat",
    "::lon",
    "::version",
    "::timestamp",
    "::changeset",
    "::uid",
    "::user",
    "::count",
    "::count:nodes",
    "::count:areas",
    "::center",
    "\"name\"",
    "\"a b\"",
    ";true;",
    ";false;",
    ";\"|\"",
    ";\"\\t\"",
    ",",
    "::",
    "\"\\n\"",
    "'",
    "::geom",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "::id,::type,\"name\",amenity;true;\"|\"",
        "::otype,::oid,::lat,::lon,::version,::timestamp,::changeset,::uid,::user;false",
        "::count,::count:nodes,::count:ways,::count:relations,::count:areas;true;\"\\t\"",
        "\"a:b\",'c d',\"\\\"\";true;\"\"",
        "name",
        "",
    ])
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let query = format!("[out:csv({text})];nwr(9,19,11,21);out meta center;node(1);out count;");
    let Ok(script) = parse(&query) else { return };
    let limits = Limits {
        deadline: Instant::now().checked_add(Duration::from_secs(5)),
        memory: Some(64 << 20),
        ..Limits::default()
    };
    let mut out = Vec::new();
    if run(&super::town::opened().osm, &script, &limits, &mut out).is_ok() {
        assert!(std::str::from_utf8(&out).is_ok());
    }
}
