//! Copies a part of a replication folder from a server into a local folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{ENDINGS, STATE, Time, name, state, time};
use crate::error::LoaderError;

/// Downloads the server's file of the given name; returns `false` if the server does not have it.
type Fetch<'a> = dyn FnMut(&str, &mut File) -> io::Result<bool> + 'a;

/// Downloads into a folder the files that [`changes`](super::changes) needs: the changes after `since`, up to `until`
/// or, if that is `None`, up to the newest, with their state files. Times are in seconds since 1970. Files that are
/// already in the folder are not downloaded again. `done` is called with the number of finished change files and their
/// total number.
///
/// # Errors
/// Returns an error if the server has no states, begins too late, lacks a file or does not respond, or if a file cannot
/// be written.
pub fn mirror(
    fetch: &mut Fetch<'_>,
    folder: &Path,
    since: i64,
    until: Option<i64>,
    done: &mut dyn FnMut(u64, u64),
) -> Result<(), LoaderError> {
    let mut mirror = Mirror { fetch, folder };
    // `state.txt` changes with every update and is not one of the numbered states. It is therefore downloaded on every
    // call.
    let newest = mirror.newest()?;
    let start = mirror.last(newest, since)?;
    let end = match until {
        Some(until) => mirror.last_after(start, newest, until)?,
        None => newest,
    };
    for number in start + 1..=end {
        mirror.need(&name(number, STATE))?;
        mirror.need(&name(number, ENDINGS[0]))?;
        done(number - start, end - start);
    }
    // The next state proves that no change before `until` is missing.
    if end < newest {
        mirror.need(&name(end + 1, STATE))?;
    }
    Ok(())
}

struct Mirror<'a> {
    fetch: &'a mut Fetch<'a>,
    folder: &'a Path,
}

impl Mirror<'_> {
    fn failed(&self, reason: String) -> LoaderError {
        LoaderError::Replication { folder: self.folder.to_path_buf(), reason }
    }

    /// Returns the local path of a file and downloads it if necessary. Returns `None` if the server does not have it.
    fn get(&mut self, name: &str) -> Result<Option<PathBuf>, LoaderError> {
        let path = self.folder.join(name);
        if path.is_file() { Ok(Some(path)) } else { self.fetch(name, path) }
    }

    /// Downloads a file under a temporary name and renames it when it is complete.
    fn fetch(&mut self, name: &str, path: PathBuf) -> Result<Option<PathBuf>, LoaderError> {
        let part = path.with_extension("part");
        let mut write = || -> io::Result<bool> {
            fs::create_dir_all(part.parent().unwrap_or(self.folder))?;
            let fetched = (self.fetch)(name, &mut File::create(&part)?)?;
            if fetched {
                fs::rename(&part, &path)?
            } else {
                fs::remove_file(&part)?
            }
            Ok(fetched)
        };
        match write() {
            Ok(true) => Ok(Some(path)),
            Ok(false) => Ok(None),
            Err(source) => {
                let _ = fs::remove_file(&part);
                Err(self.failed(format!("{name}: {source}")))
            }
        }
    }

    fn need(&mut self, name: &str) -> Result<(), LoaderError> {
        match self.get(name)? {
            Some(_) => Ok(()),
            None => Err(self.failed(format!("a gap: {name} is not on the server"))),
        }
    }

    /// Downloads the newest state and returns its number.
    fn newest(&mut self) -> Result<u64, LoaderError> {
        let path = self.folder.join(STATE);
        if self.fetch(STATE, path.clone())?.is_none() {
            return Err(
                self.failed(format!("the server has no {STATE}: check that the address is a replication folder"))
            );
        }
        let (number, _) = state(&path)?;
        number.ok_or(LoaderError::Format { file: path, reason: "not a replication state: it has no sequenceNumber" })
    }

    /// Returns the time of a state, or `None` if the server does not have it.
    fn time(&mut self, number: u64) -> Result<Option<i64>, LoaderError> {
        let there = self.get(&name(number, STATE))?;
        there.map(|_| time(self.folder, number)).transpose()
    }

    /// Returns the number of the newest state that is not later than `until`. Searches backwards from the newest state
    /// with growing steps: most clients are not far behind, and servers do not keep all states.
    fn last(&mut self, newest: u64, until: i64) -> Result<u64, LoaderError> {
        let (mut early, mut step) = (newest, 1);
        loop {
            match self.time(early)? {
                Some(time) if time <= until => return self.last_after(early, newest, until),
                // The server no longer has this state; the wanted one may be between it and the newest.
                None => return self.first_kept(early, newest, until),
                Some(time) if early == 0 => {
                    let (time, until) = (Time(time), Time(until));
                    return Err(
                        self.failed(format!("it begins with 0, of {time}; the changes from {until} are missing"))
                    );
                }
                Some(_) => early = early.saturating_sub(step),
            }
            step *= 2;
        }
    }

    /// Does the same as `last`, if the state `early` is not later than `until`.
    fn last_after(&mut self, early: u64, newest: u64, until: i64) -> Result<u64, LoaderError> {
        let (mut low, mut high) = (early, newest + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.time(middle)? {
                Some(time) if time <= until => low = middle,
                Some(_) => high = middle,
                None => return Err(self.failed(format!("a gap: {} is not on the server", name(middle, STATE)))),
            }
        }
        Ok(low)
    }

    /// Does the same as `last`, if the server lacks the state `gone` and has all states from some later one on.
    fn first_kept(&mut self, gone: u64, newest: u64, until: i64) -> Result<u64, LoaderError> {
        let (mut low, mut high) = (gone, newest);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.time(middle)?.is_some() { high = middle } else { low = middle }
        }
        match self.time(high)? {
            Some(time) if time <= until => self.last_after(high, newest, until),
            time => {
                let (first, until) =
                    (time.map_or_else(String::new, |time| format!(", of {}", Time(time))), Time(until));
                Err(self
                    .failed(format!("it begins with {high}{first}; the changes from {until} until then are missing")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LAST, changes};
    use super::*;
    use std::collections::BTreeMap;
    use std::io::Write;

    /// A server with one state per minute, starting with number `first`.
    fn server(first: u64, newest: u64) -> BTreeMap<String, String> {
        let state = |number: u64| {
            let time = format!("2022-01-01T{:02}\\:{:02}\\:00Z", number / 60, number % 60);
            format!("sequenceNumber={number}\ntimestamp={time}\n")
        };
        let numbered = (first..=newest).flat_map(|number| {
            [(name(number, STATE), state(number)), (name(number, "osc.gz"), format!("changes {number}"))]
        });
        numbered.chain([(STATE.to_owned(), state(newest))]).collect()
    }

    fn minute(number: i64) -> i64 {
        crate::xml::timestamp("2022-01-01T00:00:00Z").unwrap() + 60 * number
    }

    /// Returns the number of requests to the server, or the error.
    fn ask(server: &BTreeMap<String, String>, folder: &Path, since: i64, until: Option<i64>) -> Result<usize, String> {
        let mut asked = 0;
        let mut fetch = |name: &str, file: &mut File| {
            asked += 1;
            server.get(name).map_or(Ok(false), |text| file.write_all(text.as_bytes()).map(|()| true))
        };
        let result = mirror(&mut fetch, folder, since, until, &mut |_, _| ());
        result.map(|()| asked).map_err(|error| error.to_string())
    }

    #[test]
    fn what_leads_from_one_time_to_another_is_fetched_once() {
        let (server, folder) = (server(0, 1000), tempfile::tempdir().unwrap());
        let (since, until) = (minute(300) + 7, Some(minute(310) + 59));
        let asked = ask(&server, folder.path(), since, until).unwrap();
        assert!(asked < 60, "{asked} for ten changes");
        let found = changes(folder.path(), since, until).unwrap();
        assert_eq!(found.time, minute(310));
        let names: Vec<PathBuf> = (301..=310).map(|number| folder.path().join(name(number, "osc.gz"))).collect();
        assert_eq!(found.files, names);
        assert_eq!(ask(&server, folder.path(), since, until), Ok(1), "the newest state alone");
        ask(&server, folder.path(), minute(995), None).unwrap();
        assert_eq!(changes(folder.path(), minute(995), None).unwrap().files.len(), 5);
        assert!(!folder.path().join("000/000/001.osc.gz").exists());
    }

    #[test]
    fn what_the_server_does_not_have_is_an_error() {
        let fail = |server: &BTreeMap<String, String>, since| {
            ask(server, tempfile::tempdir().unwrap().path(), minute(since), None).unwrap_err()
        };
        assert!(fail(&BTreeMap::new(), 0).contains("the server has no state.txt"));
        assert!(fail(&server(900, 1000), 800).contains("it begins with 900, of 2022-01-01T15:00:00Z; the changes"));
        assert!(fail(&server(0, 10), -1).contains("it begins with 0"));
        let mut gap = server(0, 1000);
        gap.remove("000/000/998.osc.gz");
        assert!(fail(&gap, 990).contains("a gap: 000/000/998.osc.gz is not on the server"));
        // Invalid sequence numbers, and the greatest valid one, after which no state is requested.
        let time = "timestamp=2022-01-01T00\\:00\\:00Z\n";
        for number in ["1000000000", "18446744073709551615", "99999999999999999999999"] {
            let state = BTreeMap::from([(STATE.to_owned(), format!("sequenceNumber={number}\n{time}"))]);
            assert!(fail(&state, 0).contains("sequenceNumber is not a number from 0 to 999999999"), "{number}");
        }
        let greatest = BTreeMap::from([(STATE.to_owned(), format!("sequenceNumber={LAST}\n{time}"))]);
        assert!(fail(&greatest, 0).contains("it begins with 999999999"));
        // The states that the server still has are sufficient.
        let folder = tempfile::tempdir().unwrap();
        ask(&server(900, 1000), folder.path(), minute(901), None).unwrap();
        assert_eq!(changes(folder.path(), minute(901), None).unwrap().files.len(), 99);
    }
}
