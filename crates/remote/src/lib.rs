//! Stores and fetches snapshots in object storage (S3, Google Cloud Storage, Azure, HTTP, folders), each under its
//! digest. Received bytes are checked against the manifest's checksums on arrival, and an interrupted transfer is
//! resumed. Other files are fetched unchanged. A signed index gives snapshots short names. This crate knows the layout of a
//! snapshot file; it does not know its contents.
//!
//! Snapshots are stored unchanged, because their pages are already compressed.

mod error;
mod fetch;
mod index;
mod pull;
mod push;

use std::path::{Component, PathBuf};
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

pub use error::TransferError;
pub use index::{IndexError, IndexedSnapshot, MOST as MOST_INDEX_BYTES, SnapshotIndex};
pub use terrapin_base::progress::{LoadProgress, Quiet};

/// The length in bytes of a request.
const PIECE: u64 = 8 << 20;
/// The number of concurrent requests.
const AT_ONCE: usize = 4;
/// The extension of snapshot names.
const ENDING: &str = ".terrapin";

/// A storage location of snapshots.
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    address: Url,
    runtime: tokio::runtime::Runtime,
}

impl Remote {
    /// Opens the location at an address: `s3://bucket/folder`, `gs://...`, `az://...`, `https://...`, `file:///...`, or
    /// the path of a folder.
    /// `options` are settings of the storage, such as `aws_endpoint` and `aws_region`; upper-case environment
    /// variables with these names have the same effect.
    ///
    /// # Errors
    /// The address is invalid, or the storage lacks an option.
    pub fn open(address: &str, options: &[(String, String)]) -> Result<Remote, TransferError> {
        let broken = |reason: String| TransferError::Address { address: address.to_owned(), reason };
        let parsed = url_of(address).map_err(broken)?;
        // The libraries leave the choice of the crypto provider to the program.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let environment = std::env::vars()
            .filter(|(name, _)| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|kind| name.starts_with(kind)));
        let all = environment.map(|(name, value)| (name.to_ascii_lowercase(), value)).chain(options.iter().cloned());
        let (store, folder) = object_store::parse_url_opts(&parsed, all).map_err(|e| broken(e.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(TransferError::Threads)?;
        Ok(Remote { store: store.into(), folder, address: parsed, runtime })
    }

    /// Returns the path of a snapshot. An address that ends with a snapshot's extension is the snapshot itself.
    fn place(&self, digest: Option<&str>) -> Result<Path, TransferError> {
        if self.folder.as_ref().ends_with(ENDING) {
            return Ok(self.folder.clone());
        }
        let Some(digest) = digest else {
            let reason = format!("it is a folder, not a {ENDING} file: pass the digest of the snapshot");
            return Err(TransferError::Address { address: self.address.to_string(), reason });
        };
        Ok(self.folder.clone().join(format!("{digest}{ENDING}")))
    }

    /// Converts an error of the storage.
    fn failed(&self, place: &Path) -> impl Fn(object_store::Error) -> TransferError + use<> {
        let (address, place) = (self.address.clone(), place.to_string());
        move |error| match error {
            object_store::Error::NotFound { .. } => {
                TransferError::Absent { place: place.clone(), address: address.to_string() }
            }
            error => {
                TransferError::Storage { place: place.clone(), address: address.to_string(), source: Box::new(error) }
            }
        }
    }
}

/// Returns the URL of an address, which may be a path. A drive of Windows is no scheme of a URL.
fn url_of(address: &str) -> Result<Url, String> {
    match Url::parse(address) {
        Ok(url) if url.scheme().len() > 1 => return Ok(url),
        Err(problem) if problem != url::ParseError::RelativeUrlWithoutBase => return Err(problem.to_string()),
        _ => {}
    }
    let mut whole = PathBuf::new();
    for part in std::path::absolute(address).map_err(|e| e.to_string())?.components() {
        match part {
            // The parent of a link's target, as the system resolves it.
            Component::ParentDir => {
                whole = whole.canonicalize().unwrap_or(whole);
                whole.pop();
            }
            other => whole.push(other),
        }
    }
    Url::from_file_path(&whole).map_err(|()| "expected a URL, or the path of a folder".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_urls_or_paths() {
        let url = |address: &str| url_of(address).map(String::from);
        for address in ["s3://bucket/folder", "https://example.org/a.terrapin", "file:///a/b%20c"] {
            assert_eq!(url(address).as_deref(), Ok(address));
        }
        let here = Url::from_file_path(std::env::current_dir().unwrap()).unwrap();
        assert_eq!(url("./folder/").as_deref(), Ok(&*format!("{here}/folder")));
        assert_eq!(url("folder"), url("./folder"));
        assert_eq!(url("folder/deep/../other"), url("folder/other"));
        assert_eq!(url("/a/b c/Żebbuġ").as_deref(), Ok("file:///a/b%20c/%C5%BBebbu%C4%A1"));
        assert!(url("").is_err() && url("https://").is_err());
    }
}
