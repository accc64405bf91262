//! Snapshots in object storage (S3, Google Cloud Storage, Azure, HTTP, folders), each under its digest. What arrives is
//! held against the checksums in its manifest while it arrives, and a transfer that broke off goes on where it was. Other
//! files are fetched as they are.
//! Knows the file of a snapshot; knows nothing of what is in it.
//!
//! A snapshot is stored as it is: its pages are compressed already.

mod error;
mod fetch;
mod pull;
mod push;

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use url::Url;

pub use error::Error;
pub use terrapin_base::progress::{Progress, Quiet};

/// Bytes that are asked for or sent at once.
const PIECE: u64 = 8 << 20;
/// Pieces that are under way at the same time.
const AT_ONCE: usize = 4;
/// How the names of snapshots end.
const ENDING: &str = ".terrapin";

/// A place where snapshots lie.
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    folder: Path,
    address: Url,
    runtime: tokio::runtime::Runtime,
}

impl Remote {
    /// The place at an address: `s3://bucket/folder`, `gs://...`, `az://...`, `https://...`, `file:///...`. `options` are
    /// what the kinds of storage take, such as `aws_endpoint` and `aws_region`; environment variables of these names,
    /// in capitals, say the same.
    ///
    /// # Errors
    /// An address that is none, an option that the storage does not have.
    pub fn open(address: &str, options: &[(String, String)]) -> Result<Remote, Error> {
        let broken = |reason: String| Error::Address { address: address.to_owned(), reason };
        let parsed = Url::parse(address).map_err(|e| broken(e.to_string()))?;
        // Both libraries leave the choice of the implementation to the program; it is made once.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let environment = std::env::vars()
            .filter(|(name, _)| ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|kind| name.starts_with(kind)));
        let all = environment.map(|(name, value)| (name.to_ascii_lowercase(), value)).chain(options.iter().cloned());
        let (store, folder) = object_store::parse_url_opts(&parsed, all).map_err(|e| broken(e.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(Error::Threads)?;
        Ok(Remote { store: store.into(), folder, address: parsed, runtime })
    }

    /// Where a snapshot lies. An address that ends as a snapshot's name does is one itself.
    fn place(&self, digest: Option<&str>) -> Result<Path, Error> {
        if self.folder.as_ref().ends_with(ENDING) {
            return Ok(self.folder.clone());
        }
        let Some(digest) = digest else {
            let reason = format!("it is no file ({ENDING}): say which snapshot by its digest");
            return Err(Error::Address { address: self.address.to_string(), reason });
        };
        Ok(self.folder.clone().join(format!("{digest}{ENDING}")))
    }

    /// An error of the storage.
    fn failed(&self, place: &Path) -> impl Fn(object_store::Error) -> Error + use<> {
        let (address, place) = (self.address.clone(), place.to_string());
        move |error| match error {
            object_store::Error::NotFound { .. } => {
                Error::Absent { place: place.clone(), address: address.to_string() }
            }
            error => Error::Storage { place: place.clone(), address: address.to_string(), source: Box::new(error) },
        }
    }
}
