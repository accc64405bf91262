//! Tests `terrapin pull NAME` with a signed index on a local web server: a valid one, and every kind of invalid one.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use minisign::KeyPair;
use serde_json::json;

use crate::common::{Town, terrapin};

/// Serves the files of a folder, without ranges for small ones.
fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = answer(stream.unwrap(), &folder);
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap()?;
    let mut range = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if let Some((from, to)) = line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-')) {
            range = Some(from.parse::<usize>().unwrap()..to.parse::<usize>().unwrap() + 1);
        }
        if line.is_empty() {
            break;
        }
    }
    let name = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
    let Ok(bytes) = std::fs::read(folder.join(name)) else {
        return write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    let (len, head) = (bytes.len(), first.starts_with("HEAD"));
    let (status, part) = match range {
        Some(range) => (
            format!("206 Partial Content\r\nContent-Range: bytes {}-{}/{len}", range.start, range.end - 1),
            &bytes[range],
        ),
        None => ("200 OK".to_owned(), &bytes[..]),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", part.len())?;
    if head { Ok(()) } else { stream.write_all(part) }
}

/// A published snapshot with its index.
struct Publisher {
    town: Town,
    folder: tempfile::TempDir,
    address: String,
    keys: KeyPair,
    digest: String,
}

impl Publisher {
    fn new() -> Publisher {
        let (town, folder) = (Town::new(), tempfile::tempdir().unwrap());
        std::fs::copy(town.snapshot(), folder.path().join("town.terrapin")).unwrap();
        let digest = terrapin_snapshot::Snapshot::open(&town.snapshot()).unwrap().digest();
        let address = serve(folder.path());
        Publisher { town, folder, address, keys: KeyPair::generate_unencrypted_keypair().unwrap(), digest }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes an index and signs it with a key.
    fn publish(&self, number: u64, expires: &str, keys: &KeyPair) {
        let url = format!("{}/town.terrapin", self.address);
        let index = json!({"format": 1, "number": number, "expires": expires,
            "snapshots": {"demo": {"digest": self.digest, "url": url, "description": "A town."}}});
        let bytes = index.to_string();
        std::fs::write(self.file("index.json"), &bytes).unwrap();
        let signature = minisign::sign(None, &keys.sk, bytes.as_bytes(), None, None).unwrap();
        std::fs::write(self.file("index.json.minisig"), signature.into_string()).unwrap();
    }

    /// Pulls by name; returns the exit status and all output.
    fn pull(&self, name: &str, more: &[&str]) -> (i32, String) {
        let out = self.town.path("pulled.terrapin");
        let index = format!("{}/index.json", self.address);
        let key = self.keys.pk.to_base64();
        let mut args = vec!["pull", name, "--out", out.to_str().unwrap(), "--set", "allow_http=true"];
        if more.is_empty() {
            args.extend(["--index", &index, "--key", &key]);
        }
        args.extend(more);
        let done = terrapin().env("XDG_STATE_HOME", self.file("state")).args(args).output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    #[track_caller]
    fn fails(&self, code: i32, expected: &str) {
        let (status, said) = self.pull("demo", &[]);
        assert_eq!((status, said.contains(expected)), (code, true), "{said}");
        assert!(!self.town.path("pulled.terrapin").exists());
    }
}

const FUTURE: &str = "2999-01-01T00:00:00Z";

#[test]
fn a_short_name_leads_to_the_snapshot() {
    let publisher = Publisher::new();
    publisher.publish(3, FUTURE, &publisher.keys);
    let (status, said) = publisher.pull("demo", &[]);
    assert_eq!((status, said.contains(&publisher.digest), said.contains("demo: A town.")), (0, true, true), "{said}");
    let whole = std::fs::read(publisher.town.snapshot()).unwrap();
    assert_eq!(std::fs::read(publisher.town.path("pulled.terrapin")).unwrap(), whole);
    let (status, said) = publisher.pull("mars", &[]);
    assert_eq!((status, said.contains("the index has no snapshot mars; it has demo")), (3, true), "{said}");
    // The key may be in a file, as `minisign -G` writes it.
    let key = publisher.file("minisign.pub");
    std::fs::write(&key, publisher.keys.pk.to_box().unwrap().to_string()).unwrap();
    let index = format!("{}/index.json", publisher.address);
    assert_eq!(publisher.pull("demo", &["--index", &index, "--key", key.to_str().unwrap()]).0, 0);
    let (status, said) = publisher.pull("demo", &["--index", &index, "--key", "abc"]);
    assert_eq!((status, said.contains("not a public key of minisign")), (2, true), "{said}");
}

#[test]
fn untrusted_indexes_are_rejected() {
    let publisher = Publisher::new();
    // Tampered: other bytes than those that were signed.
    publisher.publish(3, FUTURE, &publisher.keys);
    let index = std::fs::read_to_string(publisher.file("index.json")).unwrap();
    std::fs::write(publisher.file("index.json"), index.replace("A town.", "B town.")).unwrap();
    publisher.fails(1, "the signature does not fit");
    // Signed by another key.
    publisher.publish(3, FUTURE, &KeyPair::generate_unencrypted_keypair().unwrap());
    publisher.fails(1, "the index is not trusted");
    // Unsigned.
    std::fs::remove_file(publisher.file("index.json.minisig")).unwrap();
    publisher.fails(1, "it has no signature index.json.minisig");
    std::fs::write(publisher.file("index.json.minisig"), "x").unwrap();
    publisher.fails(1, "the signature is broken");
    // Expired.
    publisher.publish(3, "2020-01-01T00:00:00Z", &publisher.keys);
    publisher.fails(1, "expired on 2020-01-01T00:00:00Z");
    publisher.publish(3, "soon", &publisher.keys);
    publisher.fails(3, "is not a time");
    // Too large.
    std::fs::write(publisher.file("index.json"), vec![b' '; (1 << 20) + 1]).unwrap();
    publisher.fails(4, "larger than 1048576 bytes");
    // Missing.
    std::fs::remove_file(publisher.file("index.json")).unwrap();
    publisher.fails(3, "has no index.json");
}

#[test]
fn an_older_index_than_one_seen_is_rejected() {
    let publisher = Publisher::new();
    for number in [3, 5, 5] {
        publisher.publish(number, FUTURE, &publisher.keys);
        assert_eq!(publisher.pull("demo", &[]).0, 0, "{number}");
    }
    std::fs::remove_file(publisher.town.path("pulled.terrapin")).unwrap();
    publisher.publish(4, FUTURE, &publisher.keys);
    publisher.fails(1, "has the number 4, but number 5 was seen before");
}

#[test]
fn an_unreachable_index_is_an_error() {
    let publisher = Publisher::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (index, key) = (format!("http://{free}/index.json"), publisher.keys.pk.to_base64());
    let settings = ["--index", &index, "--key", &key, "--set", "max_retries=0"];
    let (status, said) = publisher.pull("demo", &settings);
    assert_eq!(status, 3, "{said}");
    let (status, said) = publisher.pull("demo", &["--json"]);
    assert_eq!((status, said.contains("pass the address of an index with --index")), (2, true), "{said}");
}
