//! Tables of keys and users that are read in place: a lookup does not decode anything else.

use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use super::layout;
use super::types::ElementType;
use super::{KeyId, PairId};
use terrapin_budget as budget;
use terrapin_snapshot::{Error, Fault, SectionColumn, Snapshot, TextSection, signed};

/// Names that are written with every other element. Used names are cached, in groups.
pub(super) struct NameCache {
    texts: TextSection,
    kept: Box<[Kept]>,
}

/// A group of adjacent names, read when one of them is first used.
type Kept = OnceLock<Box<[Box<str>]>>;

/// Names that are kept at a time.
const AT_A_TIME: u64 = 64;

impl NameCache {
    pub fn of(texts: TextSection) -> NameCache {
        let kept = (0..texts.len().div_ceil(AT_A_TIME)).map(|_| OnceLock::new()).collect();
        NameCache { texts, kept }
    }

    pub fn len(&self) -> u64 {
        self.texts.len()
    }

    pub fn get(&self, number: u64) -> &str {
        let Some(kept) = self.kept.get((number / AT_A_TIME) as usize) else { return "" };
        let names = budget::once(kept, || {
            let first = number - number % AT_A_TIME;
            (first..self.len().min(first + AT_A_TIME)).map(|number| self.texts.get(number).into()).collect()
        });
        names.get((number % AT_A_TIME) as usize).map_or("", |name| name)
    }

    pub fn find(&self, name: &str) -> Option<u64> {
        self.texts.find(name)
    }
}

/// Keys in byte order, and where their values and lists are.
pub(super) struct Keys {
    names: NameCache,
    pairs: SectionColumn,
    counts: SectionColumn,
    lists: SectionColumn,
}

impl Keys {
    pub fn open(snapshot: &Arc<Snapshot>, tags: u64, fault: &Arc<Fault>) -> Result<Keys, Error> {
        let column = |name| SectionColumn::open(snapshot, name, fault);
        let names = TextSection::open(snapshot, layout::KEYS, fault)?;
        Keys::of(names, [column(layout::KEY_PAIRS)?, column(layout::KEY_COUNTS)?, column(layout::KEY_LISTS)?], tags)
    }

    /// Creates the table from its parts, for a file with this number of tags.
    pub fn of(names: TextSection, [pairs, counts, lists]: [SectionColumn; 3], tags: u64) -> Result<Keys, Error> {
        let n = names.len();
        let fits = n < KeyId::MAX.into()
            && tags < PairId::MAX.into()
            && pairs.len() == n + 1
            && counts.len() == 3 * n
            && lists.len() == 3 * n
            && pairs.get(n) == tags;
        match fits {
            true => Ok(Keys { names: NameCache::of(names), pairs, counts, lists }),
            false => Err(Error::damaged(layout::KEYS, "its parts do not fit together")),
        }
    }

    pub fn len(&self) -> KeyId {
        self.names.len() as KeyId
    }

    pub fn name(&self, key: KeyId) -> &str {
        self.names.get(key.into())
    }

    pub fn find(&self, name: &str) -> Option<KeyId> {
        self.names.find(name).map(|key| key as KeyId)
    }

    /// Returns the first pair of a key and the one after its last pair.
    pub fn pairs(&self, key: KeyId) -> (PairId, PairId) {
        if key >= self.len() {
            return (0, 0);
        }
        let (from, to) = (self.pairs.get(key.into()), self.pairs.get(u64::from(key) + 1));
        match from <= to && to <= self.all_pairs().into() {
            true => (from as PairId, to as PairId),
            false => {
                self.pairs.report("they do not ascend");
                (0, 0)
            }
        }
    }

    /// Returns the number of pairs.
    pub fn all_pairs(&self) -> PairId {
        self.pairs.get(self.len().into()) as PairId
    }

    /// Returns the key of a pair.
    pub fn key_of(&self, pair: PairId) -> KeyId {
        let after = self.pairs.lower_bound(0, self.pairs.len(), u64::from(pair) + 1);
        after.saturating_sub(1).min(self.names.len().saturating_sub(1)) as KeyId
    }

    /// Returns the number of elements of a type with a key, and the first block of their list if it has blocks of its
    /// own.
    pub fn list(&self, kind: ElementType, key: KeyId) -> (u64, Option<u32>) {
        if key >= self.len() {
            return (0, None);
        }
        let at = u64::from(key) * 3 + kind as u64;
        (self.counts.get(at), self.lists.get(at).checked_sub(1).map(|block| block as u32))
    }
}

/// Users by their numbers.
pub(super) struct UserReader {
    ids: SectionColumn,
    names: TextSection,
    by_name: SectionColumn,
}

impl UserReader {
    pub fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<UserReader, Error> {
        let column = |name| SectionColumn::open(snapshot, name, fault);
        let names = TextSection::open(snapshot, layout::USER_NAMES, fault)?;
        UserReader::of(column(layout::USER_IDS)?, names, column(layout::USERS_BY_NAME)?)
    }

    pub fn of(ids: SectionColumn, names: TextSection, by_name: SectionColumn) -> Result<UserReader, Error> {
        let fits = ids.len() == names.len() && by_name.len() == names.len() && ids.len() < u32::MAX.into();
        match fits {
            true => Ok(UserReader { ids, names, by_name }),
            false => Err(Error::damaged(layout::USER_IDS, "there are not as many ids as names")),
        }
    }

    /// Returns the number of users, including the entry for no user.
    pub fn len(&self) -> u32 {
        self.ids.len() as u32
    }

    pub fn id(&self, user: u32) -> i64 {
        signed(self.ids.get(user.into()))
    }

    pub fn name(&self, user: u32) -> &str {
        self.names.get(user.into())
    }

    /// Returns the users with an id, ascending. Users are stored in the order of their ids, except for the first.
    pub fn with_id(&self, id: i64) -> Vec<u32> {
        let is_theirs = |&user: &u32| {
            budget::checkpoint();
            self.id(user) == id
        };
        (0..self.ids.len() as u32).filter(is_theirs).collect()
    }

    /// Returns the users with a name, ascending.
    pub fn named(&self, name: &str) -> Vec<u32> {
        let at = |place| self.by_name.get(place) as u32;
        let (mut low, mut high) = (0, self.by_name.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(at(middle)).cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal | Ordering::Greater => high = middle,
            }
        }
        (low..self.by_name.len()).map(at).take_while(|&user| self.name(user) == name).collect()
    }
}
