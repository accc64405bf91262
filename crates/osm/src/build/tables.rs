//! Users, roles, and ids that are referred to and not there: tables that stay in memory.

use super::BuildError;
use super::pages::compressed;
use crate::layout;
use terrapin_base::codec;
use terrapin_snapshot::{Error, PageWriter, Writer};

fn write_table<T: serde::Serialize>(writer: &mut Writer, name: &str, table: &T, level: i32) -> Result<(), BuildError> {
    let bytes = bincode::serde::encode_to_vec(table, bincode::config::standard())
        .map_err(|e| Error::damaged(name, e.to_string()))?;
    let mut pages = PageWriter::begin(writer, name)?;
    pages.push(writer, &compressed(&bytes, level)?)?;
    Ok(pages.finish(writer)?)
}

/// Ids that are not there, a page a type.
pub fn write_missing(writer: &mut Writer, missing: [&[i64]; 3], level: i32) -> Result<(), BuildError> {
    let mut pages = PageWriter::begin(writer, layout::MISSING.0)?;
    for ids in missing {
        let mut content = Vec::new();
        let mut previous = 0;
        ids.iter().for_each(|&id| codec::put_delta(&mut content, &mut previous, id));
        pages.push(writer, &compressed(&content, level)?)?;
    }
    Ok(pages.finish(writer)?)
}

/// A table brought into order, and where each entry went.
fn sorted<T: Ord>(all: Vec<T>) -> (Vec<T>, Vec<u32>) {
    let mut entries: Vec<(T, usize)> = all.into_iter().enumerate().map(|(i, t)| (t, i)).collect();
    entries.sort_unstable();
    let mut numbers = vec![0; entries.len()];
    entries.iter().enumerate().for_each(|(new, (_, old))| numbers[*old] = new as u32);
    (entries.into_iter().map(|e| e.0).collect(), numbers)
}

/// Users by id and name; number 0 is nobody.
pub struct Users {
    all: Vec<(i64, Box<str>)>,
    numbers: Vec<u32>,
}

impl Users {
    /// From users as the blocks numbered them.
    pub fn sorted(all: Vec<(i64, Box<str>)>) -> Users {
        let (mut all, mut numbers) = sorted(all);
        let nobody = (0, Box::from(""));
        match all.binary_search(&nobody) {
            // Anonymous edits of old have names or negative ids that sort before nobody: nobody still comes first.
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
        Users { all, numbers }
    }

    /// The number of one that the blocks numbered.
    pub fn new_number(&self, old: u32) -> u32 {
        // Nodes that only ways knew were never numbered.
        self.numbers.get(old as usize).copied().unwrap_or_default()
    }

    /// How many, without nobody.
    pub fn len(&self) -> u64 {
        self.all.len() as u64 - 1
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut Writer, level: i32) -> Result<(), BuildError> {
        write_table(writer, layout::USERS.0, &self.all, level)
    }
}

/// Roles in byte order.
pub struct Roles {
    all: Vec<Box<str>>,
    numbers: Vec<u32>,
}

impl Roles {
    /// From roles as the blocks numbered them.
    pub fn sorted(all: Vec<Box<str>>) -> Roles {
        let (all, numbers) = sorted(all);
        Roles { all, numbers }
    }

    /// The number of one that the blocks numbered.
    pub fn new_number(&self, old: u32) -> u32 {
        self.numbers[old as usize]
    }

    /// Writes the section.
    pub fn write(&self, writer: &mut Writer, level: i32) -> Result<(), BuildError> {
        write_table(writer, layout::ROLES.0, &self.all, level)
    }
}
