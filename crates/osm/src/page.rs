//! Encodes and decodes pages of elements: columns of variable-length integers ([`super::codec`]), which zstd then
//! compresses. Each encoder is directly above its decoder. Decoders take the number of elements on the page and return
//! `None` for bytes that no encoder writes.
//!
//! ```text
//! NAME.core   nodes      ids, latitudes, longitudes, each as differences
//!             ways       ids as differences; node counts; nodes as differences of ordinals
//!             relations  ids as differences; member counts; member types and roles; members
//! NAME.meta   a byte with a bit for each column that exists; version; timestamp, changeset, user as differences
//! NAME.tags   tag counts; pair ids, the first of an element in full, the others as differences
//! NAME.up     way counts (nodes only), relation counts; the ordinals of the parents as differences
//! ```

use super::PairId;
use super::codec::{ByteReader, put, put_delta, put_signed};
use super::types::{Coord, ElementRef, ElementType, MetaRef, Ordinal, RelationMember};

/// Lists of a page's elements, one after another.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct PageLists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> PageLists<T> {
    /// Creates an empty collection.
    pub fn new() -> PageLists<T> {
        PageLists { starts: vec![0], items: Vec::new() }
    }

    /// Creates an empty collection with capacity for this number of lists and, in total, of items.
    fn with_capacity(lists: usize, items: usize) -> PageLists<T> {
        let mut starts = Vec::with_capacity(lists + 1);
        starts.push(0);
        PageLists { starts, items: Vec::with_capacity(items) }
    }

    /// `n` empty lists.
    pub fn empty(n: usize) -> PageLists<T> {
        PageLists { starts: vec![0; n + 1], items: Vec::new() }
    }

    /// Adds an item to the list that [`Lists::close`] ends.
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Ends a list.
    pub fn close(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// Returns the list at `slot`; empty beyond the last.
    pub fn get(&self, slot: usize) -> &[T] {
        match (self.starts.get(slot), self.starts.get(slot + 1)) {
            (Some(&from), Some(&to)) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns all items of all lists.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Lists of other items, of the same lengths.
    pub fn map_all<U>(&self, items: Vec<U>) -> PageLists<U> {
        debug_assert_eq!(items.len(), self.items.len());
        PageLists { starts: self.starts.clone(), items }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.starts.len() * 4 + self.items.len() * size_of::<T>()
    }
}

fn put_ids(out: &mut Vec<u8>, ids: impl Iterator<Item = i64>) {
    let mut previous = 0;
    ids.for_each(|id| put_delta(out, &mut previous, id));
}

fn get_deltas(r: &mut ByteReader<'_>, n: usize) -> Option<Vec<i64>> {
    let mut previous = 0;
    // Allocates the full length at once, which collecting into an `Option` does not.
    let mut all = Vec::with_capacity(n);
    for _ in 0..n {
        all.push(r.get_delta(&mut previous)?);
    }
    Some(all)
}

/// Reads the lengths of `n` lists. Their sum must not exceed the number of items that `bytes` bytes can encode.
fn get_counts(r: &mut ByteReader<'_>, n: usize, bytes: usize) -> Option<Vec<usize>> {
    let mut sum = 0_usize;
    (0..n)
        .map(|_| {
            let count = usize::try_from(r.get()?).ok()?;
            sum = sum.checked_add(count).filter(|&s| s <= bytes)?;
            Some(count)
        })
        .collect()
}

/// Encodes a page of nodes, given as ids and positions.
pub fn encode_nodes(nodes: &[(i64, Coord)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(nodes.len() * 8);
    put_ids(&mut out, nodes.iter().map(|n| n.0));
    put_ids(&mut out, nodes.iter().map(|n| n.1.lat.into()));
    put_ids(&mut out, nodes.iter().map(|n| n.1.lon.into()));
    out
}

/// Ids and positions.
pub fn decode_nodes(bytes: &[u8], n: usize) -> Option<(Vec<i64>, Vec<Coord>)> {
    let mut r = ByteReader::new(bytes);
    let ids = get_deltas(&mut r, n)?;
    let mut coords = Vec::with_capacity(n);
    let (mut lat, mut lon) = (0, 0);
    for _ in 0..n {
        coords.push(Coord { lat: r.get_delta(&mut lat)?.try_into().ok()?, lon: 0 });
    }
    for coord in &mut coords {
        coord.lon = r.get_delta(&mut lon)?.try_into().ok()?;
        // The geometry code relies on all positions being on the globe.
        if !coord.is_on_globe() && *coord != Coord::MISSING {
            return None;
        }
    }
    r.is_at_end().then_some((ids, coords))
}

/// The lowest bit is set if the element is missing. The remaining bits are the index of the missing element, or the
/// difference to the last ordinal.
fn put_reference(out: &mut Vec<u8>, previous: &mut i64, reference: ElementRef) {
    match reference.ordinal() {
        Some(ordinal) => {
            let delta = (ordinal as i64).wrapping_sub(*previous);
            *previous = ordinal as i64;
            put(out, (((delta << 1) ^ (delta >> 63)) as u64) << 1);
        }
        None => put(out, reference.missing_index().unwrap_or_default() << 1 | 1),
    }
}

fn get_reference(r: &mut ByteReader<'_>, previous: &mut i64) -> Option<ElementRef> {
    let value = r.get()?;
    if value & 1 == 1 {
        return Some(ElementRef::missing(value >> 1));
    }
    let zigzag = value >> 1;
    let delta = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
    *previous = previous.checked_add(delta).filter(|&o| o >= 0)?;
    Some(ElementRef::present(*previous as Ordinal))
}

/// Encodes a page of ways, given as ids and nodes.
pub fn encode_ways(ids: &[i64], nodes: &PageLists<ElementRef>) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * 24);
    put_ids(&mut out, ids.iter().copied());
    (0..ids.len()).for_each(|slot| put(&mut out, nodes.get(slot).len() as u64));
    let mut previous = 0;
    nodes.items().iter().for_each(|&n| put_reference(&mut out, &mut previous, n));
    out
}

/// Ids and nodes.
pub fn decode_ways(bytes: &[u8], n: usize) -> Option<(Vec<i64>, PageLists<ElementRef>)> {
    let mut r = ByteReader::new(bytes);
    let ids = get_deltas(&mut r, n)?;
    let counts = get_counts(&mut r, n, bytes.len())?;
    let mut nodes = PageLists::with_capacity(n, counts.iter().sum());
    let mut previous = 0;
    for count in counts {
        for _ in 0..count {
            nodes.push(get_reference(&mut r, &mut previous)?);
        }
        nodes.close();
    }
    r.is_at_end().then_some((ids, nodes))
}

/// Encodes a page of relations, given as ids and members.
pub fn encode_relations(ids: &[i64], members: &PageLists<RelationMember>) -> Vec<u8> {
    let mut out = Vec::with_capacity(ids.len() * 64);
    put_ids(&mut out, ids.iter().copied());
    (0..ids.len()).for_each(|slot| put(&mut out, members.get(slot).len() as u64));
    members.items().iter().for_each(|m| put(&mut out, u64::from(m.role) * 3 + m.kind as u64));
    let mut previous = [0; 3];
    members.items().iter().for_each(|m| put_reference(&mut out, &mut previous[m.kind as usize], m.element));
    out
}

/// Ids and members.
pub fn decode_relations(bytes: &[u8], n: usize) -> Option<(Vec<i64>, PageLists<RelationMember>)> {
    let mut r = ByteReader::new(bytes);
    let ids = get_deltas(&mut r, n)?;
    let counts = get_counts(&mut r, n, bytes.len())?;
    let kinds: Vec<u64> = (0..counts.iter().sum()).map(|_| r.get()).collect::<Option<_>>()?;
    let mut members = PageLists::new();
    let mut previous = [0; 3];
    let mut at = 0;
    for count in counts {
        for _ in 0..count {
            let kind = ElementType::ALL[(kinds[at] % 3) as usize];
            let role = u32::try_from(kinds[at] / 3).ok()?;
            let element = get_reference(&mut r, &mut previous[kind as usize])?;
            members.push(RelationMember { kind, element, role });
            at += 1;
        }
        members.close();
    }
    r.is_at_end().then_some((ids, members))
}

/// Encodes a page of metadata.
pub fn encode_meta(entries: &[MetaRef]) -> Vec<u8> {
    let columns: [fn(&MetaRef) -> i64; 4] = [|m| m.version.into(), |m| m.timestamp, |m| m.changeset, |m| m.user.into()];
    let present: Vec<bool> = columns.iter().map(|column| entries.iter().any(|m| column(m) != 0)).collect();
    if !present.contains(&true) {
        return Vec::new();
    }
    let mut out = vec![present.iter().rev().fold(0, |bits, &p| bits << 1 | u8::from(p))];
    for (i, column) in columns.iter().enumerate().filter(|(i, _)| present[*i]) {
        let mut previous = 0;
        for m in entries {
            match i {
                0 => put_signed(&mut out, column(m)),
                _ => put_delta(&mut out, &mut previous, column(m)),
            }
        }
    }
    out
}

/// Metadata by column; a column that no element has anything in is empty.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct MetaColumns {
    versions: Vec<u32>,
    timestamps: Vec<i64>,
    changesets: Vec<i64>,
    /// The users' places.
    pub users: Vec<u32>,
}

impl MetaColumns {
    /// Returns the metadata at `slot`; `uid` is 0, because it belongs to the user.
    #[inline]
    pub fn get(&self, slot: usize) -> MetaRef {
        MetaRef {
            version: self.versions.get(slot).copied().unwrap_or_default(),
            timestamp: self.timestamps.get(slot).copied().unwrap_or_default(),
            changeset: self.changesets.get(slot).copied().unwrap_or_default(),
            uid: 0,
            user: self.users.get(slot).copied().unwrap_or_default(),
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        (self.versions.len() + self.users.len()) * 4 + (self.timestamps.len() + self.changesets.len()) * 8
    }
}

/// Metadata.
pub fn decode_meta(bytes: &[u8], n: usize) -> Option<MetaColumns> {
    let mut columns = MetaColumns::default();
    let Some(&present) = bytes.first() else { return Some(columns) };
    let mut r = ByteReader::new(&bytes[1..]);
    for column in (0..4).filter(|c| present >> c & 1 == 1) {
        match column {
            0 => columns.versions = (0..n).map(|_| r.get_signed()?.try_into().ok()).collect::<Option<_>>()?,
            1 => columns.timestamps = get_deltas(&mut r, n)?,
            2 => columns.changesets = get_deltas(&mut r, n)?,
            _ => {
                let mut previous = 0;
                let user = |_| u32::try_from(r.get_delta(&mut previous)?).ok();
                columns.users = (0..n).map(user).collect::<Option<_>>()?;
            }
        }
    }
    r.is_at_end().then_some(columns)
}

/// Encodes a page of tags; returns no bytes if no element has tags.
pub fn encode_tags(tags: &PageLists<PairId>) -> Vec<u8> {
    if tags.items().is_empty() {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(tags.items().len() * 4);
    (0..tags.len()).for_each(|slot| put(&mut out, tags.get(slot).len() as u64));
    for slot in 0..tags.len() {
        let mut previous = 0;
        for &pair in tags.get(slot) {
            put(&mut out, u64::from(pair - previous));
            previous = pair;
        }
    }
    out
}

/// Tags.
pub fn decode_tags(bytes: &[u8], n: usize) -> Option<PageLists<PairId>> {
    if bytes.is_empty() {
        return Some(PageLists::empty(n));
    }
    let mut r = ByteReader::new(bytes);
    let counts = get_counts(&mut r, n, bytes.len())?;
    let mut tags = PageLists::new();
    for count in counts {
        let mut previous = 0_u32;
        for _ in 0..count {
            previous = previous.checked_add(r.get()?.try_into().ok()?)?;
            tags.push(previous);
        }
        tags.close();
    }
    r.is_at_end().then_some(tags)
}

/// Encodes the parents of a page's elements of one type; returns no bytes if no element has a parent.
pub fn encode_parents(parents: &[PageLists<Ordinal>]) -> Vec<u8> {
    if parents.iter().all(|p| p.items().is_empty()) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for lists in parents {
        (0..lists.len()).for_each(|slot| put(&mut out, lists.get(slot).len() as u64));
        put_ids(&mut out, lists.items().iter().map(|&o| o as i64));
    }
    out
}

/// Decodes the parents of `types` types.
pub fn decode_parents(bytes: &[u8], n: usize, types: usize) -> Option<Vec<PageLists<Ordinal>>> {
    if bytes.is_empty() {
        return Some(vec![PageLists::empty(n); types]);
    }
    let mut r = ByteReader::new(bytes);
    let mut parents = Vec::with_capacity(types);
    for _ in 0..types {
        let counts = get_counts(&mut r, n, bytes.len())?;
        let mut lists = PageLists::new();
        let mut previous = 0;
        for count in counts {
            for _ in 0..count {
                lists.push(r.get_delta(&mut previous)?.try_into().ok()?);
            }
            lists.close();
        }
        parents.push(lists);
    }
    r.is_at_end().then_some(parents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_survive() {
        let nodes = vec![(5, Coord { lat: -190_561_022, lon: -1_699_214_109 }), (-7, Coord { lat: 0, lon: 1 })];
        let (ids, coords) = decode_nodes(&encode_nodes(&nodes), 2).unwrap();
        assert_eq!((ids, coords), (vec![5, -7], vec![nodes[0].1, nodes[1].1]));

        let mut refs = PageLists::new();
        for r in [ElementRef::present(9), ElementRef::missing(3), ElementRef::present(2)] {
            refs.push(r);
        }
        refs.close();
        refs.close();
        assert_eq!(decode_ways(&encode_ways(&[1, 2], &refs), 2).unwrap(), (vec![1, 2], refs));

        let mut members = PageLists::new();
        members.push(RelationMember { kind: ElementType::Relation, element: ElementRef::missing(0), role: 7 });
        members.push(RelationMember { kind: ElementType::Node, element: ElementRef::present(70_000), role: 0 });
        members.close();
        assert_eq!(decode_relations(&encode_relations(&[1], &members), 1).unwrap(), (vec![1], members));

        let meta = [
            MetaRef { version: 2, timestamp: 1_600_000_000, changeset: 5, uid: 0, user: 1 },
            MetaRef { version: 1, timestamp: 0, changeset: 0, uid: 0, user: 0 },
        ];
        let columns = decode_meta(&encode_meta(&meta), 2).unwrap();
        assert_eq!([columns.get(0), columns.get(1)], meta);
        assert_eq!(columns.get(2), MetaRef::default());
        assert!(encode_meta(&[MetaRef::default()]).is_empty());

        let mut tags = PageLists::new();
        tags.push(3);
        tags.push(900);
        tags.close();
        tags.close();
        assert_eq!(decode_tags(&encode_tags(&tags), 2).unwrap(), tags);

        let mut parents = PageLists::new();
        parents.push(11_u64);
        parents.close();
        assert_eq!(
            decode_parents(&encode_parents(&[parents.clone(), parents.clone()]), 1, 2).unwrap(),
            vec![parents.clone(), parents]
        );
    }

    #[test]
    fn damage_is_none() {
        assert!(decode_nodes(&[1, 2], 1).is_none());
        assert!(decode_ways(&[2, 0xff, 0xff, 0xff, 0xff, 0x0f], 1).is_none());
        assert!(decode_tags(&[200], 1).is_none());
        assert!(decode_meta(&[3, 0], 1).is_none());
    }
}
