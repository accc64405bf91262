//! Numbers of tags: every distinct (key, value) pair has a number, in byte order, so that the pairs of a key are a
//! range. Every pair and key has a posting list: the ordinals of the elements with it.
//!
//! ```text
//! tags.values    a page for 128 pairs: the length of the prefix shared with the previous value on the page, the length
//!                of the rest, the rest
//! tags.postings  a page for the same 128 pairs: for each pair and type, twice the number of ordinals, then their
//!                differences; or twice the number plus one, then the list's first block in tags.blocks
//! tags.blocks    a page for 4096 ordinals of a list, the last page of a list with the rest: differences,
//!                starting from the first ordinal of the block
//! ```
//! The column `tags.blocks.firsts` has the first ordinal of each block, so that it is known before the block is read.

use super::codec::{ByteReader, put};
use super::{KeyId, Ordinal, PairId};

/// Keys and where their values and lists are, while a snapshot is made.
#[derive(Debug, Default)]
pub struct KeyTable {
    /// Names, in byte order.
    pub names: Vec<String>,
    /// The first pair of each key, and at the end the number of pairs.
    pub first_pairs: Vec<PairId>,
    /// For each key and type of element, the number of elements with it, and the place of their list.
    pub lists: Vec<[KeyList; 3]>,
}

/// The elements of one type that have a key.
#[derive(Debug, Default, Clone, Copy)]
pub struct KeyList {
    /// The number of elements.
    pub count: u64,
    /// The list's first block; without one the list is the union of the pairs' lists.
    pub place: Option<u32>,
}

/// The place of the ordinals of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairList {
    /// On the page itself, from this byte.
    Here {
        /// The offset of the differences.
        at: u32,
        /// The number of ordinals.
        count: u32,
    },
    /// Stored in blocks.
    Long {
        /// The first block.
        place: u32,
        /// The number of ordinals.
        count: u64,
    },
}

impl PairList {
    /// Returns the number of ordinals.
    pub fn count(self) -> u64 {
        match self {
            PairList::Here { count, .. } => count.into(),
            PairList::Long { count, .. } => count,
        }
    }
}

/// A page of values.
#[derive(Debug, Default)]
pub struct ValuePage {
    ends: Vec<u32>,
    text: String,
    /// The keys of the values, ascending: a key and the first slot that is not of it.
    keys: Vec<(KeyId, u32)>,
}

impl ValuePage {
    /// Returns the value at `slot`.
    pub fn get(&self, slot: usize) -> &str {
        let start = if slot == 0 { 0 } else { self.ends.get(slot - 1).copied().unwrap_or_default() };
        let end = self.ends.get(slot).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the key of the value at `slot`.
    pub fn key(&self, slot: usize) -> KeyId {
        let at = self.keys.partition_point(|&(_, end)| end as usize <= slot);
        self.keys.get(at).map_or(0, |&(key, _)| key)
    }

    /// With the keys of the values: of each in turn, and the first slot that is not of it.
    pub fn with_keys(self, keys: Vec<(KeyId, u32)>) -> ValuePage {
        ValuePage { keys, ..self }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * 4 + self.keys.len() * 8
    }
}

/// Values in order.
pub fn encode_values<'a>(values: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut previous = "";
    for value in values {
        let mut shared = previous.bytes().zip(value.bytes()).take_while(|(a, b)| a == b).count();
        while !value.is_char_boundary(shared) {
            shared -= 1;
        }
        put(&mut out, shared as u64);
        put(&mut out, (value.len() - shared) as u64);
        out.extend_from_slice(&value.as_bytes()[shared..]);
        previous = value;
    }
    out
}

/// Bytes of the values of a page, at most: they are some kilobytes.
const MOST_TEXT: usize = 256 << 20;

/// `n` values.
pub fn decode_values(bytes: &[u8], n: usize) -> Option<ValuePage> {
    let mut r = ByteReader::new(bytes);
    let mut page = ValuePage::default();
    let mut start: usize = 0;
    for _ in 0..n {
        let shared = usize::try_from(r.get()?).ok()?;
        let len = usize::try_from(r.get()?).ok()?;
        let prefix = page.text.get(start..start.checked_add(shared)?)?.to_owned();
        // Every value may repeat the previous one: without a limit, a few kilobytes could decode to gigabytes.
        if page.text.len() + shared > MOST_TEXT {
            return None;
        }
        start = page.text.len();
        page.text.push_str(&prefix);
        page.text.push_str(std::str::from_utf8(r.take(len)?).ok()?);
        page.ends.push(page.text.len().try_into().ok()?);
    }
    r.is_at_end().then_some(page)
}

/// Appends the differences of ascending ordinals.
pub fn put_list(out: &mut Vec<u8>, ordinals: impl Iterator<Item = Ordinal>) {
    let mut previous = 0;
    for ordinal in ordinals {
        put(out, ordinal - previous);
        previous = ordinal;
    }
}

/// `count` ordinals from their differences.
pub fn get_list(bytes: &[u8], count: usize) -> Option<Vec<Ordinal>> {
    if count > bytes.len() {
        return None;
    }
    let mut r = ByteReader::new(bytes);
    let mut previous = 0_u64;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        previous = previous.checked_add(r.get()?)?;
        out.push(previous);
    }
    Some(out)
}

/// Appends a block: the differences between its ordinals. The first ordinal is omitted, because it is known on reading.
pub fn put_block(out: &mut Vec<u8>, ordinals: &[Ordinal]) {
    ordinals.windows(2).for_each(|pair| put(out, pair[1] - pair[0]));
}

/// Reads a block that begins with `first` into `out`, which it fills; its ordinals ascend and are below `end`.
pub fn get_block(bytes: &[u8], first: Ordinal, end: Ordinal, out: &mut [Ordinal]) -> Option<()> {
    let mut r = ByteReader::new(bytes);
    let (start, rest) = out.split_first_mut()?;
    *start = first;
    let mut previous = first;
    for ordinal in rest {
        previous = previous.checked_add(r.get().filter(|&step| step > 0)?)?;
        *ordinal = previous;
    }
    (previous < end && r.is_at_end()).then_some(())
}

/// A page of posting lists.
#[derive(Debug, Default)]
pub struct PostingPage {
    lists: Vec<[PairList; 3]>,
    bytes: Vec<u8>,
}

impl PostingPage {
    /// Returns the lists of `n` pairs.
    pub fn decode(bytes: Vec<u8>, n: usize) -> Option<PostingPage> {
        let mut r = ByteReader::new(&bytes);
        let mut lists = Vec::with_capacity(n);
        let len = bytes.len();
        for _ in 0..n {
            let mut of_pair = [PairList::Here { at: 0, count: 0 }; 3];
            for list in &mut of_pair {
                let head = r.get()?;
                if head & 1 == 1 {
                    *list = PairList::Long { place: r.get()?.try_into().ok()?, count: head >> 1 };
                    continue;
                }
                let count = u32::try_from(head >> 1).ok().filter(|&c| c as usize <= len)?;
                *list = PairList::Here { at: r.position().try_into().ok()?, count };
                for _ in 0..count {
                    r.get()?;
                }
            }
            lists.push(of_pair);
        }
        if !r.is_at_end() {
            return None;
        }
        Some(PostingPage { lists, bytes })
    }

    /// Returns the place of the list of the pair at `slot`.
    pub fn list(&self, slot: usize, kind: usize) -> PairList {
        self.lists.get(slot).map_or(PairList::Here { at: 0, count: 0 }, |l| l[kind])
    }

    /// Returns the ordinals of a list on this page.
    pub fn read(&self, at: u32, count: u32) -> Option<Vec<Ordinal>> {
        get_list(self.bytes.get(at as usize..)?, count as usize)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + self.lists.len() * size_of::<[PairList; 3]>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_lists_survive() {
        let values = ["", "Lija", "Lija (ħal)", "Liġa", "Ž", "Ž"];
        let page = decode_values(&encode_values(values.iter().copied()), values.len()).unwrap();
        assert_eq!((0..values.len()).map(|i| page.get(i)).collect::<Vec<_>>(), values);

        let mut bytes = Vec::new();
        put(&mut bytes, 3 << 1);
        put_list(&mut bytes, [4, 9, 1 << 40].into_iter());
        put(&mut bytes, 5000 << 1 | 1);
        put(&mut bytes, 2);
        put(&mut bytes, 0);
        let page = PostingPage::decode(bytes, 1).unwrap();
        let PairList::Here { at, count } = page.list(0, 0) else { panic!() };
        assert_eq!(page.read(at, count).unwrap(), [4, 9, 1 << 40]);
        assert_eq!(page.list(0, 1), PairList::Long { place: 2, count: 5000 });
    }
}
