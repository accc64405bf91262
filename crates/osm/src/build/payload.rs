//! Encodes the payload of records: tags, and the nodes or members of ways and relations. In a source, tags are the
//! numbers given by its blocks, and nodes are ids. Later, both are those of the snapshot.

use terrapin_base::codec::{ByteReader, put, put_delta};

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

/// Appends tags. An element without tags and without other data has an empty payload.
pub fn put_tags(out: &mut Vec<u8>, tags: &[u32]) {
    put(out, tags.len() as u64);
    tags.iter().for_each(|&tag| put(out, tag.into()));
}

/// Returns the tags, and a reader for the data after them. This program writes the payloads itself, therefore
/// unreadable data is treated as missing.
pub fn get_tags(payload: &[u8]) -> (Vec<u32>, ByteReader<'_>) {
    let mut reader = ByteReader::new(payload);
    let count = reader.get().unwrap_or_default();
    let tags = (0..count).map_while(|_| reader.get().map(|tag| tag as u32)).collect();
    (tags, reader)
}

/// Returns whether a payload contains its tags, then `parts` nodes or members, and no other data. Call this for
/// payloads that another program may have written, before allocating by their counts.
pub fn is_whole(payload: &[u8], kind: ElementType, parts: usize) -> bool {
    if payload.is_empty() {
        return parts == 0;
    }
    let numbers = match kind {
        ElementType::Node => 0,
        ElementType::Way => 1,
        ElementType::Relation => 2,
    };
    let (mut reader, len) = (ByteReader::new(payload), payload.len() as u64);
    // Every number takes at least a byte.
    let Some(tags) = reader.get().filter(|&tags| tags <= len) else { return false };
    let Some(rest) = (parts as u64).checked_mul(numbers).filter(|&rest| rest <= len) else { return false };
    (0..tags + rest).all(|_| reader.get().is_some()) && reader.is_at_end() && (numbers > 0 || parts == 0)
}

/// Appends the nodes of a way.
pub fn put_nodes(out: &mut Vec<u8>, nodes: impl Iterator<Item = i64>) {
    let mut previous = 0;
    nodes.for_each(|node| put_delta(out, &mut previous, node));
}

/// Reads `count` nodes of a way.
pub fn get_nodes<'r>(reader: &'r mut ByteReader<'_>, count: usize) -> impl Iterator<Item = i64> + 'r {
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

/// Reads `count` members of a relation.
pub fn get_members<'r>(reader: &'r mut ByteReader<'_>, count: usize) -> impl Iterator<Item = RawMember> + 'r {
    let mut previous = [0; 3];
    (0..count).map_while(move |_| {
        let number = reader.get()?;
        let kind = (number % 3) as usize;
        Some(RawMember { kind, role: (number / 3) as u32, value: reader.get_delta(&mut previous[kind])? })
    })
}
