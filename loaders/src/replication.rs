//! Reads a mirrored replication folder: numbered change files such as `000/012/345.osc.gz`, each with a state file such
//! as `000/012/345.state.txt` that has the time up to which the changes reach.

mod mirror;

pub use mirror::mirror;

use crate::error::LoaderError;
use crate::xml::timestamp;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Extensions of change files.
const ENDINGS: [&str; 3] = ["osc.gz", "osc.bz2", "osc"];
const STATE: &str = "state.txt";
/// The highest sequence number: a file name has three times three digits.
const LAST: u64 = 999_999_999;
const NO_NUMBER: &str = "not a replication state: its sequenceNumber is not a number from 0 to 999999999";
/// Maximum number of bytes read of a state file; real ones have some hundred.
const LONGEST_STATE: u64 = 64 << 10;

/// The change files that lead from one time to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSequence {
    /// The files, oldest first.
    pub files: Vec<PathBuf>,
    /// The time of the data after all files are applied, in seconds since 1970.
    pub time: i64,
}

/// Returns the changes of a folder after `since`, up to `until` or, if that is `None`, up to the newest. Times are in
/// seconds since 1970.
///
/// # Errors
/// Returns an error if the folder cannot be read, begins too late, ends too early or has a gap, if `until` is before
/// `since`, or if a state file is invalid.
pub fn changes(folder: &Path, since: i64, until: Option<i64>) -> Result<ChangeSequence, LoaderError> {
    let fail = |reason: String| LoaderError::Replication { folder: folder.to_path_buf(), reason };
    let numbers = numbers(folder)?;
    let (Some(&first), Some(&last)) = (numbers.first(), numbers.last()) else {
        return Err(fail(format!("no state files in it, with names such as {}", name(12_345, STATE))));
    };
    if until.is_some_and(|until| until < since) {
        return Err(fail(format!(
            "changes until {} are requested, but the data is already of {since}",
            Time(until.unwrap_or(0)),
            since = Time(since)
        )));
    }
    let start = newest(folder, &numbers, since)?.ok_or_else(|| {
        let time = time(folder, first).map_or_else(|_| "unknown".to_owned(), |time| Time(time).to_string());
        fail(format!("it begins with {first}, of {time}; the changes from {} until then are missing", Time(since)))
    })?;
    let end = match until {
        None => last,
        Some(until) => newest(folder, &numbers, until)?.unwrap_or(start),
    };
    let reached = time(folder, end)?;
    if let Some(until) = until.filter(|&until| end == last && reached < until) {
        return Err(fail(format!("it ends with {last}, of {}, before {}", Time(reached), Time(until))));
    }
    let mut files = Vec::new();
    for number in start + 1..=end {
        if numbers.binary_search(&number).is_err() {
            return Err(fail(format!("a gap: {} is missing, between {start} and {end}", name(number, STATE))));
        }
        let there = ENDINGS.iter().map(|ending| folder.join(name(number, ending))).find(|path| path.is_file());
        files.push(there.ok_or_else(|| fail(format!("a gap: {} is missing", name(number, ENDINGS[0]))))?);
    }
    Ok(ChangeSequence { files, time: reached })
}

/// Returns the path of a numbered file, relative to the folder.
fn name(number: u64, ending: &str) -> String {
    format!("{:03}/{:03}/{:03}.{ending}", number / 1_000_000, number / 1000 % 1000, number % 1000)
}

/// Returns the sequence numbers of all states, ascending.
fn numbers(folder: &Path) -> Result<Vec<u64>, LoaderError> {
    let mut numbers = Vec::new();
    for (high, folder) in numbered(folder, "")? {
        for (middle, folder) in numbered(&folder, "")? {
            for (low, _) in numbered(&folder, ".state.txt")? {
                numbers.push((high * 1000 + middle) * 1000 + low);
            }
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Lists the entries of a folder with a name of three digits and the given extension. Without an extension they are
/// folders, otherwise files.
fn numbered(folder: &Path, ending: &str) -> Result<Vec<(u64, PathBuf)>, LoaderError> {
    let fail = |source| LoaderError::Open { file: folder.to_path_buf(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number =
            name.strip_suffix(ending).filter(|digits| digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit()));
        if let Some(number) = number.and_then(|digits| digits.parse().ok())
            && path.is_dir() == ending.is_empty()
        {
            found.push((number, path));
        }
    }
    Ok(found)
}

/// Returns the number of the newest state that is not later than `until`.
fn newest(folder: &Path, numbers: &[u64], until: i64) -> Result<Option<u64>, LoaderError> {
    let (mut low, mut high) = (0, numbers.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if time(folder, numbers[middle])? <= until { low = middle + 1 } else { high = middle }
    }
    Ok(low.checked_sub(1).map(|at| numbers[at]))
}

/// Returns the time of a state in seconds since 1970.
fn time(folder: &Path, number: u64) -> Result<i64, LoaderError> {
    let path = folder.join(name(number, STATE));
    let (said, time) = state(&path)?;
    if said.is_some_and(|said| said != number) {
        return Err(LoaderError::Format {
            file: path,
            reason: "the sequence number in the state differs from its file name",
        });
    }
    time.ok_or(LoaderError::Format {
        file: path,
        reason: "not a replication state: it has no timestamp=2022-11-01T00\\:00\\:00Z",
    })
}

/// Reads a state file: its sequence number, and its time in seconds since 1970.
fn state(path: &Path) -> Result<(Option<u64>, Option<i64>), LoaderError> {
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LONGEST_STATE).read_to_string(&mut text))
        .map_err(|source| LoaderError::Open { file: path.to_path_buf(), source })?;
    let value = |name: &str| {
        let values = text.lines().filter_map(|line| line.trim().split_once('='));
        // Colons are escaped, as in Java property files.
        values.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().replace('\\', "")).next_back()
    };
    let number = match value("sequenceNumber").map(|number| number.parse().ok().filter(|&number| number <= LAST)) {
        Some(None) => return Err(LoaderError::Format { file: path.to_path_buf(), reason: NO_NUMBER }),
        number => number.flatten(),
    };
    Ok((number, value("timestamp").and_then(|time| timestamp(&time))))
}

/// Formats a time in seconds since 1970 as ISO 8601.
struct Time(i64);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        crate::xml::write::put_time(&mut text, self.0);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(states: &[(u64, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (number, time) in states {
            let path = |ending| folder.path().join(name(*number, ending));
            std::fs::create_dir_all(path(STATE).parent().unwrap()).unwrap();
            let time = time.replace(':', "\\:");
            std::fs::write(path(STATE), format!("#then\nsequenceNumber={number}\ntimestamp={time}\n")).unwrap();
            std::fs::write(path("osc.gz"), "").unwrap();
        }
        std::fs::write(folder.path().join(STATE), "timestamp=elsewhere").unwrap();
        folder
    }

    fn seconds(text: &str) -> i64 {
        timestamp(text).unwrap()
    }

    const STATES: [(u64, &str); 4] = [
        (1998, "2022-01-01T00:00:00Z"),
        (1999, "2022-01-02T00:00:00Z"),
        (2000, "2022-01-03T00:00:00Z"),
        (2001, "2022-01-04T00:00:00Z"),
    ];

    #[test]
    fn changes_lead_from_one_time_to_another() {
        let folder = folder(&STATES);
        let ask = |since, until: Option<&str>| changes(folder.path(), seconds(since), until.map(seconds)).unwrap();
        let all = ask("2022-01-01T12:00:00Z", None);
        let names: Vec<_> = [1999, 2000, 2001].map(|number| folder.path().join(name(number, "osc.gz"))).into();
        assert_eq!(all, ChangeSequence { files: names.clone(), time: seconds("2022-01-04T00:00:00Z") });
        let some = ask("2022-01-02T00:00:00Z", Some("2022-01-03T23:59:59Z"));
        assert_eq!(some, ChangeSequence { files: names[1..2].to_vec(), time: seconds("2022-01-03T00:00:00Z") });
        assert!(ask("2022-01-04T00:00:00Z", None).files.is_empty());
    }

    #[test]
    fn gaps_and_wrong_times_are_errors() {
        let whole = folder(&STATES);
        let fail = |folder: &Path, since, until: Option<&str>| {
            changes(folder, seconds(since), until.map(seconds)).unwrap_err().to_string()
        };
        let (early, day, late) = ("2021-12-31T00:00:00Z", "2022-01-01T00:00:00Z", "2022-02-01T00:00:00Z");
        assert!(fail(whole.path(), early, None).contains("it begins with 1998, of 2022-01-01T00:00:00Z; the changes"));
        assert!(fail(whole.path(), day, Some(late)).contains("it ends with 2001, of 2022-01-04T00:00:00Z, before"));
        assert!(fail(whole.path(), day, Some(early)).contains("the data is already of 2022-01-01T00:00:00Z"));
        std::fs::remove_file(whole.path().join("000/002/000.state.txt")).unwrap();
        assert!(fail(whole.path(), day, None).contains("a gap: 000/002/000.state.txt is missing"));
        let whole = folder(&STATES);
        std::fs::remove_file(whole.path().join("000/001/999.osc.gz")).unwrap();
        assert!(fail(whole.path(), day, None).contains("a gap: 000/001/999.osc.gz is missing"));
        std::fs::write(whole.path().join("000/001/999.state.txt"), "sequenceNumber=7\n").unwrap();
        assert!(fail(whole.path(), day, None).contains("differs from its file name"));
        std::fs::write(whole.path().join("000/001/999.state.txt"), "hello\n").unwrap();
        assert!(fail(whole.path(), day, None).contains("not a replication state"));
        let empty = tempfile::tempdir().unwrap();
        assert!(fail(empty.path(), day, None).contains("no state files in it"));
        assert!(fail(&empty.path().join("none"), day, None).contains("No such file"));
    }
}
