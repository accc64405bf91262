//! What files of format 1 have instead of tables that are read in place: lists that are decoded as a whole when one of
//! their entries is first asked for, into the shapes that the rest of this crate reads.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::area_table::{self, Areas};
use super::codec::Reader;
use super::layout;
use super::tables::{Keys, Users};
use super::tags::KeyTable;
use super::types::ElementType;
use terrapin_snapshot::{Boxes, Column, Error, Fault, Pages, Snapshot, Texts, ordered};

const KEYS: &str = "tags.keys";
const USERS: &str = "users";
const ROLES: &str = "roles";
const MISSING: &str = "missing";
const AREAS: &str = "areas";

fn has(snapshot: &Snapshot, section: &str) -> bool {
    snapshot.place(section).is_some()
}

/// A table in bincode on the only page of its section.
fn table<T: DeserializeOwned>(snapshot: &Arc<Snapshot>, section: &str, fault: &Arc<Fault>) -> Result<T, Error> {
    let bytes = Pages::open(snapshot, section, fault)?.read(0)?;
    let read = bincode::serde::decode_from_slice(&bytes, bincode::config::standard());
    read.map(|(table, _)| table).map_err(|e| Error::damaged(section, e.to_string()))
}

/// The keys, where they are as format 1 has them.
pub(super) fn keys(snapshot: &Arc<Snapshot>, tags: u64, fault: &Arc<Fault>) -> Option<Result<Keys, Error>> {
    let read = || {
        let table: KeyTable = table(snapshot, KEYS, fault)?;
        if !table.first_pairs.is_sorted() {
            return Err(Error::damaged(KEYS, "its parts do not fit together"));
        }
        let lists = || table.lists.iter().flatten();
        let places = lists().map(|list| list.place.map_or(0, |page| u64::from(page) + 1));
        Keys::of(
            Texts::held(KEYS, table.names.iter().map(String::as_str), fault),
            [
                Column::held(KEYS, table.first_pairs.iter().map(|&pair| pair.into()), fault),
                Column::held(KEYS, lists().map(|list| list.count), fault),
                Column::held(KEYS, places, fault),
            ],
            tags,
        )
    };
    has(snapshot, KEYS).then(read)
}

/// The users.
pub(super) fn users(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Option<Result<Users, Error>> {
    let read = || {
        let users: Vec<(i64, Box<str>)> = table(snapshot, USERS, fault)?;
        let mut by_name: Vec<u64> = (0..users.len() as u64).collect();
        by_name.sort_by_key(|&user| &users[user as usize].1);
        Users::of(
            Column::held(USERS, users.iter().map(|user| ordered(user.0)), fault),
            Texts::held(USERS, users.iter().map(|user| &*user.1), fault),
            Column::held(USERS, by_name, fault),
        )
    };
    has(snapshot, USERS).then(read)
}

/// The roles.
pub(super) fn roles(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Option<Result<Texts, Error>> {
    let read = || {
        let roles: Vec<Box<str>> = table(snapshot, ROLES, fault)?;
        Ok(Texts::held(ROLES, roles.iter().map(|role| &**role), fault))
    };
    has(snapshot, ROLES).then(read)
}

/// The ids of a type that are referred to and not there: a page of differences.
pub(super) fn missing(
    snapshot: &Arc<Snapshot>,
    kind: ElementType,
    count: u64,
    fault: &Arc<Fault>,
) -> Option<Result<Column, Error>> {
    let read = || {
        let bytes = Pages::open(snapshot, MISSING, fault)?.read(kind as u64)?;
        let (mut reader, mut previous) = (Reader::new(&bytes), 0);
        let ids: Option<Vec<u64>> = (0..count).map(|_| reader.get_delta(&mut previous).map(ordered)).collect();
        let ids = ids.ok_or_else(|| Error::damaged(MISSING, "there are not as many ids as there should be"))?;
        Ok(Column::held(MISSING, ids, fault))
    };
    has(snapshot, MISSING).then(read)
}

/// The boxes of pages: no groups around them.
pub(super) fn boxes(snapshot: &Arc<Snapshot>, kind: ElementType, fault: &Arc<Fault>) -> Option<Result<Boxes, Error>> {
    let name = layout::boxes(kind);
    let read = || {
        let bytes = snapshot.section(name)?;
        let side = |side: &[u8; 4]| i32::from_le_bytes(*side);
        let boxes = bytes.as_chunks::<16>().0.iter().map(|one| {
            let sides = one.as_chunks::<4>().0;
            std::array::from_fn(|at| side(&sides[at]))
        });
        Ok(Boxes::held(name, boxes, fault))
    };
    (has(snapshot, name) && !has(snapshot, &format!("{name}.groups"))).then(read)
}

/// The first ids of the pages of the id index.
pub(super) fn first_ids(
    snapshot: &Arc<Snapshot>,
    kind: ElementType,
    fault: &Arc<Fault>,
) -> Option<Result<Column, Error>> {
    let name = ["nodes.ids.first", "ways.ids.first", "relations.ids.first"][kind as usize];
    let read = || {
        let ids = snapshot.section(name)?.as_chunks::<8>().0.iter().map(|id| ordered(i64::from_le_bytes(*id)));
        Ok(Column::held(name, ids, fault))
    };
    has(snapshot, name).then(read)
}

/// The areas.
pub(super) fn areas(snapshot: &Arc<Snapshot>, cache: u64, fault: &Arc<Fault>) -> Option<Result<Areas, Error>> {
    let read = || {
        let entries = area_table::decode(snapshot.section(AREAS)?)?;
        Ok(Areas::held(&entries, cache, fault))
    };
    has(snapshot, AREAS).then(read)
}
