//! What records carry beside their fields: tags, and the nodes or members of ways and relations. A source's tags are the
//! numbers that its blocks gave them and its nodes are ids; later both are what the snapshot has.

use terrapin_base::codec::{Reader, put, put_delta};

use crate::ElementType;

/// A member of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawMember {
    /// Its type, as [`crate::ElementType`].
    pub kind: usize,
    /// Its role in the table of roles.
    pub role: u32,
    /// The member's id, or the bits of a reference to it.
    pub value: i64,
}

/// Appends tags. An element that has nothing else and no tags has an empty payload.
pub fn put_tags(out: &mut Vec<u8>, tags: &[u32]) {
    put(out, tags.len() as u64);
    tags.iter().for_each(|&tag| put(out, tag.into()));
}

/// The tags, and what stands behind them. Payloads are our own: what cannot be read is not there.
pub fn get_tags(payload: &[u8]) -> (Vec<u32>, Reader<'_>) {
    let mut reader = Reader::new(payload);
    let count = reader.get().unwrap_or_default();
    let tags = (0..count).map_while(|_| reader.get().map(|tag| tag as u32)).collect();
    (tags, reader)
}

/// Whether a payload has its tags, then so many nodes or members, and nothing else: to be asked of a payload that another
/// program may have written, before its counts size anything.
pub fn is_whole(payload: &[u8], kind: ElementType, parts: usize) -> bool {
    if payload.is_empty() {
        return parts == 0;
    }
    let numbers = match kind {
        ElementType::Node => 0,
        ElementType::Way => 1,
        ElementType::Relation => 2,
    };
    let (mut reader, len) = (Reader::new(payload), payload.len() as u64);
    // Every number takes a byte.
    let Some(tags) = reader.get().filter(|&tags| tags <= len) else { return false };
    let Some(rest) = (parts as u64).checked_mul(numbers).filter(|&rest| rest <= len) else { return false };
    (0..tags + rest).all(|_| reader.get().is_some()) && reader.is_at_end() && (numbers > 0 || parts == 0)
}

/// Appends the nodes of a way.
pub fn put_nodes(out: &mut Vec<u8>, nodes: impl Iterator<Item = i64>) {
    let mut previous = 0;
    nodes.for_each(|node| put_delta(out, &mut previous, node));
}

/// So many nodes of a way.
pub fn get_nodes<'r>(reader: &'r mut Reader<'_>, count: usize) -> impl Iterator<Item = i64> + 'r {
    let mut previous = 0;
    (0..count).map_while(move |_| reader.get_delta(&mut previous))
}

/// Appends the members of a relation.
pub fn put_members(out: &mut Vec<u8>, members: impl Iterator<Item = RawMember>) {
    let mut previous = [0; 3];
    for RawMember { kind, role, value } in members {
        put(out, u64::from(role) * 3 + kind as u64);
        put_delta(out, &mut previous[kind], value);
    }
}

/// So many members of a relation.
pub fn get_members<'r>(reader: &'r mut Reader<'_>, count: usize) -> impl Iterator<Item = RawMember> + 'r {
    let mut previous = [0; 3];
    (0..count).map_while(move |_| {
        let number = reader.get()?;
        let kind = (number % 3) as usize;
        Some(RawMember { kind, role: (number / 3) as u32, value: reader.get_delta(&mut previous[kind])? })
    })
}
