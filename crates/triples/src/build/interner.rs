//! Numbers keys; equal keys get the same number until the table is drained.

use std::hash::Hasher;

use rustc_hash::FxHasher;

/// A hash table of numbered keys: open addressing over one byte buffer.
pub struct Interner {
    bytes: Vec<u8>,
    keys: Vec<InternedKey>,
    /// Indices into `keys` plus 1, or 0 for an empty slot; the length is a power of two.
    table: Vec<u32>,
}

#[derive(Clone, Copy)]
struct InternedKey {
    start: usize,
    len: u32,
    /// The upper half of the hash, which distinguishes most keys without comparing bytes.
    tag: u32,
    number: u32,
}

impl Interner {
    pub fn new() -> Interner {
        Interner { bytes: Vec::new(), keys: Vec::new(), table: vec![0; 1 << 10] }
    }

    /// Returns the approximate memory use in bytes.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.keys.len() * size_of::<InternedKey>() + self.table.len() * 4
    }

    /// Returns the number of a key. A new key gets the number `next`; the second value is then `true`.
    pub fn number(&mut self, key: &[u8], next: u32) -> (u32, bool) {
        let hash = hash(key);
        let tag = (hash >> 32) as u32;
        let mut slot = hash as usize & (self.table.len() - 1);
        while let Some(found) = self.table[slot].checked_sub(1) {
            let entry = self.keys[found as usize];
            if entry.tag == tag && &self.bytes[entry.start..entry.start + entry.len as usize] == key {
                return (entry.number, false);
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        self.keys.push(InternedKey { start: self.bytes.len(), len: key.len() as u32, tag, number: next });
        self.bytes.extend_from_slice(key);
        self.table[slot] = self.keys.len() as u32;
        if self.keys.len() * 2 > self.table.len() {
            self.grow();
        }
        (next, true)
    }

    fn grow(&mut self) {
        let mut table = vec![0; self.table.len() * 2];
        let mask = table.len() - 1;
        for (i, key) in self.keys.iter().enumerate() {
            let mut slot = hash(&self.bytes[key.start..key.start + key.len as usize]) as usize & mask;
            while table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            table[slot] = i as u32 + 1;
        }
        self.table = table;
    }

    /// Passes all keys with their numbers to `each`, and empties the table.
    pub fn drain<E>(&mut self, mut each: impl FnMut(&[u8], u32) -> Result<(), E>) -> Result<(), E> {
        for key in &self.keys {
            each(&self.bytes[key.start..key.start + key.len as usize], key.number)?;
        }
        *self = Interner::new();
        Ok(())
    }
}

/// Returns a hash that is the same in every run; labels of blank nodes depend on it.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    // Mix the bits, because FxHasher's low bits are its weakest.
    let h = hasher.finish();
    (h ^ (h >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_have_one_number() {
        let mut interner = Interner::new();
        for round in 0..2 {
            for i in 0..5000_u32 {
                assert_eq!(interner.number(format!("key {i}").as_bytes(), i), (i, round == 0));
            }
        }
        let mut keys = Vec::new();
        let all: Result<(), ()> = interner.drain(|key, number| {
            keys.push((key.to_vec(), number));
            Ok(())
        });
        assert!(all.is_ok());
        assert_eq!((keys.len(), keys[4321].clone()), (5000, (b"key 4321".to_vec(), 4321)));
        assert_eq!(interner.number(b"key 1", 7), (7, true));
    }
}
