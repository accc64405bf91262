//! Tables that stay in memory: users, roles, and ids that are referred to but missing.

use super::ElementBuildError;
use crate::layout;
use crate::tags::KeyTable;
use crate::{ElementType, PairId};
use terrapin_snapshot::{ColumnWriter, SnapshotWriter, TextsWriter, ordered};

/// Writes the ids of a type that are not there.
pub fn write_missing(writer: &mut SnapshotWriter, kind: ElementType, ids: &[i64]) -> Result<(), ElementBuildError> {
    Ok(ColumnWriter::write(writer, layout::missing(kind), ids.iter().map(|&id| ordered(id)))?)
}

/// Writes the table of keys.
pub fn write_keys(writer: &mut SnapshotWriter, keys: &KeyTable) -> Result<(), ElementBuildError> {
    let lists = || keys.lists.iter().flatten();
    let pairs = |&pair: &PairId| u64::from(pair);
    TextsWriter::write(writer, layout::KEYS, keys.names.iter().map(String::as_str))?;
    ColumnWriter::write(writer, layout::KEY_PAIRS, keys.first_pairs.iter().map(pairs))?;
    ColumnWriter::write(writer, layout::KEY_COUNTS, lists().map(|list| list.count))?;
    let places = lists().map(|list| list.place.map_or(0, |block| u64::from(block) + 1));
    Ok(ColumnWriter::write(writer, layout::KEY_LISTS, places)?)
}

/// Returns the sorted table, and the new place of each entry.
fn sorted<T: Ord>(all: Vec<T>) -> (Vec<T>, Vec<u32>) {
    let mut entries: Vec<(T, usize)> = all.into_iter().enumerate().map(|(i, t)| (t, i)).collect();
    entries.sort_unstable();
    let mut numbers = vec![0; entries.len()];
    entries.iter().enumerate().for_each(|(new, (_, old))| numbers[*old] = new as u32);
    (entries.into_iter().map(|e| e.0).collect(), numbers)
}

/// Users by id and name; number 0 stands for no user.
pub struct UserTable {
    all: Vec<(i64, Box<str>)>,
    numbers: NumberMapping,
}

/// The new numbers of the entries of a table.
enum NumberMapping {
    /// The new number for each old number.
    New(Vec<u32>),
    /// All numbers stay; this is the number of entries.
    Same(u32),
}

impl NumberMapping {
    /// Returns the new number of an entry; 0 for a number beyond the last.
    fn get(&self, old: u32) -> u32 {
        match self {
            NumberMapping::New(numbers) => numbers.get(old as usize).copied().unwrap_or_default(),
            NumberMapping::Same(count) => {
                if old < *count {
                    old
                } else {
                    0
                }
            }
        }
    }
}

impl UserTable {
    /// From users as the blocks numbered them.
    pub fn sorted(all: Vec<(i64, Box<str>)>) -> UserTable {
        let (mut all, mut numbers) = sorted(all);
        let nobody = (0, Box::from(""));
        match all.binary_search(&nobody) {
            // Old anonymous edits have names or negative ids that sort before the entry for no user. That entry must
            // still come first.
            Ok(at) => {
                all[..=at].rotate_right(1);
                numbers.iter_mut().for_each(|n| match (*n as usize).cmp(&at) {
                    std::cmp::Ordering::Less => *n += 1,
                    std::cmp::Ordering::Equal => *n = 0,
                    std::cmp::Ordering::Greater => {}
                });
            }
            Err(_) => {
                all.insert(0, nobody);
                numbers.iter_mut().for_each(|n| *n += 1);
            }
        }
        UserTable { all, numbers: NumberMapping::New(numbers) }
    }

    /// Creates a table for `count` users that are already numbered.
    pub fn numbered(count: u32) -> UserTable {
        UserTable { all: Vec::new(), numbers: NumberMapping::Same(count) }
    }

    /// Returns the new number of a user numbered by the blocks.
    pub fn new_number(&self, old: u32) -> u32 {
        // Nodes that only ways knew were never numbered.
        self.numbers.get(old)
    }

    /// Returns the number of users, without the entry for no user.
    pub fn len(&self) -> u64 {
        self.all.len() as u64 - 1
    }

    /// Writes the sections.
    pub fn write(&self, writer: &mut SnapshotWriter) -> Result<(), ElementBuildError> {
        let mut by_name: Vec<u32> = (0..self.all.len() as u32).collect();
        by_name.sort_by_key(|&user| &self.all[user as usize].1);
        ColumnWriter::write(writer, layout::USER_IDS, self.all.iter().map(|user| ordered(user.0)))?;
        TextsWriter::write(writer, layout::USER_NAMES, self.all.iter().map(|user| &*user.1))?;
        Ok(ColumnWriter::write(writer, layout::USERS_BY_NAME, by_name.into_iter().map(u64::from))?)
    }
}

/// Roles in byte order.
pub struct Roles {
    all: Vec<Box<str>>,
    numbers: NumberMapping,
}

impl Roles {
    /// From roles as the blocks numbered them.
    pub fn sorted(all: Vec<Box<str>>) -> Roles {
        let (all, numbers) = sorted(all);
        Roles { all, numbers: NumberMapping::New(numbers) }
    }

    /// Creates a table for `count` roles that are already numbered.
    pub fn numbered(count: u32) -> Roles {
        Roles { all: Vec::new(), numbers: NumberMapping::Same(count) }
    }

    /// Returns the new number of a role numbered by the blocks.
    pub fn new_number(&self, old: u32) -> u32 {
        self.numbers.get(old)
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut SnapshotWriter) -> Result<(), ElementBuildError> {
        Ok(TextsWriter::write(writer, layout::ROLES, self.all.iter().map(|role| &**role))?)
    }
}
