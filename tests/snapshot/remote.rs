//! Tests `terrapin push` and `terrapin pull` with a folder as storage. `tests/storage` does the same with a server that
//! speaks S3.

use std::path::{Path, PathBuf};

use crate::common::{Town, terrapin};

/// A snapshot, its digest, and a folder as storage.
struct Storage {
    town: Town,
    digest: String,
    folder: tempfile::TempDir,
}

impl Storage {
    fn new() -> Storage {
        let (town, folder) = (Town::new(), tempfile::tempdir().unwrap());
        let digest = terrapin_snapshot::Snapshot::open(&town.snapshot()).unwrap().digest();
        Storage { town, digest, folder }
    }

    /// Runs the program; returns its exit status and all output.
    fn run(&self, args: &[&str]) -> (i32, String) {
        let output = terrapin().args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    fn address(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    fn push(&self) -> (i32, String) {
        self.run(&["push", self.town.snapshot().to_str().unwrap(), &self.address(), "--json"])
    }

    fn pull(&self, digest: &str, out: &Path) -> (i32, String) {
        self.run(&["pull", &self.address(), digest, "--out", out.to_str().unwrap(), "--json"])
    }

    /// Returns the path of the snapshot in the storage.
    fn stored(&self) -> PathBuf {
        self.folder.path().join(format!("{}.terrapin", self.digest))
    }

    /// Returns the path of the incomplete download.
    fn part(&self, out: &Path) -> PathBuf {
        out.with_file_name(format!(".{}.{}.pull", out.file_name().unwrap().to_str().unwrap(), self.digest))
    }
}

fn number(said: &str, key: &str) -> u64 {
    let value: serde_json::Value = serde_json::from_str(said).unwrap_or_else(|e| panic!("{e}: {said}"));
    value[key].as_u64().unwrap()
}

#[test]
fn what_is_pushed_is_pulled() {
    let storage = Storage::new();
    let (status, said) = storage.push();
    assert_eq!((status, said.contains("\"was_there\":false")), (0, true), "{said}");
    let whole = std::fs::read(storage.town.snapshot()).unwrap();
    assert_eq!(std::fs::read(storage.stored()).unwrap(), whole);
    assert!(storage.push().1.contains("\"was_there\":true"));

    let out = storage.town.path("pulled.terrapin");
    let (status, said) = storage.pull(&storage.digest, &out);
    assert_eq!((status, number(&said, "received")), (0, whole.len() as u64), "{said}");
    assert_eq!(std::fs::read(&out).unwrap(), whole);
    // The file already exists.
    assert_eq!(number(&storage.pull(&storage.digest, &out).1, "received"), 0);
    // A URL of a file needs no digest.
    let file = format!("file://{}", storage.stored().display());
    let again = storage.town.path("again.terrapin");
    assert_eq!(storage.run(&["pull", &file, "--out", again.to_str().unwrap()]).0, 0);
    assert_eq!(std::fs::read(&again).unwrap(), whole);
}

/// A folder may be given as a path, as for cp and rclone: relative, with other letters, and not yet made.
#[test]
fn a_folder_is_an_address() {
    let storage = Storage::new();
    let run = |args: &[&str]| {
        let output = terrapin().current_dir(storage.folder.path()).args(args).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let snapshot = storage.town.snapshot();
    let snapshot = snapshot.to_str().unwrap();
    for folder in ["published", "./my folder/Żebbuġ"] {
        let (status, said) = run(&["push", snapshot, folder]);
        assert_eq!(status, Some(0), "{said}");
        let stored = storage.folder.path().join(folder).join(format!("{}.terrapin", storage.digest));
        assert_eq!(std::fs::read(stored).unwrap(), std::fs::read(snapshot).unwrap(), "{folder}");
    }
    // The name of a folder alone is a short name.
    let (status, said) = run(&["pull", "published", &storage.digest, "--out", "pulled.terrapin"]);
    assert!(status == Some(2) && said.contains("or ./published for a folder"), "{said}");
    let (status, said) = run(&["pull", "./published", &storage.digest, "--out", "pulled.terrapin"]);
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn a_broken_transfer_goes_on() {
    let storage = Storage::new();
    storage.push();
    let out = storage.town.path("pulled.terrapin");
    let whole = std::fs::read(storage.town.snapshot()).unwrap();
    let half = whole.len() / 2;
    // The earlier part is intact, is damaged at its end, or is too long.
    let mut damaged = whole[..half].to_vec();
    damaged[half - 1] ^= 1;
    let long = [&whole[..], b"and more"].concat();
    for (part, most) in [(&whole[..half], whole.len() - half), (&damaged[..], whole.len()), (&long[..], whole.len())] {
        std::fs::write(storage.part(&out), part).unwrap();
        let mut pulled = storage.pull(&storage.digest, &out);
        // Damage within a section is detected at the section's end; verified parts are kept.
        if pulled.0 == 1 {
            assert!(pulled.1.contains("checksum differs"), "{}", pulled.1);
            pulled = storage.pull(&storage.digest, &out);
        }
        assert_eq!(pulled.0, 0, "{}", pulled.1);
        assert!(number(&pulled.1, "received") <= most as u64);
        assert_eq!(std::fs::read(&out).unwrap(), whole);
        assert!(!storage.part(&out).exists());
        std::fs::remove_file(&out).unwrap();
    }
}

#[test]
fn damage_and_absence_are_told() {
    let storage = Storage::new();
    storage.push();
    let out = storage.town.path("pulled.terrapin");
    let nobody = "0".repeat(64);
    let (status, said) = storage.pull(&nobody, &out);
    assert_eq!((status, said.contains("does not exist")), (3, true), "{said}");
    assert_eq!(storage.pull("abc", &out).0, 2);
    // A different snapshot is stored under this name.
    std::fs::copy(storage.stored(), storage.folder.path().join(format!("{nobody}.terrapin"))).unwrap();
    let (status, said) = storage.pull(&nobody, &out);
    assert_eq!((status, said.contains(&storage.digest)), (1, true), "{said}");

    let whole = std::fs::read(storage.stored()).unwrap();
    for at in [20, 100, whole.len() / 3, whole.len() / 2, whole.len() - 100, whole.len() - 20] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(storage.stored(), &damaged).unwrap();
        let (status, said) = storage.pull(&storage.digest, &out);
        assert_eq!((status, said.contains("snapshot-damaged")), (1, true), "byte {at}: {said}");
        assert!(!out.exists());
    }
    std::fs::write(storage.stored(), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(storage.pull(&storage.digest, &out).0, 1);
    assert!(!out.exists());
    // A file that is not a snapshot is not sent.
    std::fs::write(&out, b"<osm/>").unwrap();
    assert_eq!(storage.run(&["push", out.to_str().unwrap(), &storage.address()]).0, 3);
}
