//! The source files of a load: their digests, and the parts that were skipped.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use terrapin_loaders as loaders;
use terrapin_snapshot::{Error, ManifestSource, hex};

use super::LoadError;

/// Returns the unknown parts of a file, with its name.
pub fn warnings_of<'a>(path: &'a Path, header: &'a loaders::SourceHeader) -> impl Iterator<Item = String> + 'a {
    header.warnings.iter().map(move |warning| format!("{}: {warning}", path.display()))
}

/// Reads sources while another thread computes their digests.
pub fn while_described<T>(
    describe: impl FnOnce() -> Result<Vec<ManifestSource>, LoadError> + Send,
    read: impl FnOnce() -> Result<T, LoadError>,
) -> Result<(Vec<ManifestSource>, T), LoadError> {
    std::thread::scope(|threads| {
        let sources = threads.spawn(describe);
        let read = read();
        // The thread's panic was already printed.
        let sources = sources.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((sources?, read?))
    })
}

/// Returns the name, length and SHA-256 of a source.
pub fn describe(path: &Path, licence: &str) -> Result<ManifestSource, LoadError> {
    let failed = |e| LoadError::from(Error::io(path, e));
    let mut file = File::open(path).map_err(failed)?;
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
            Ok(0) => break,
            Ok(n) => {
                hasher.update(&buffer[..n]);
                bytes += n as u64;
            }
        }
    }
    Ok(ManifestSource {
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        bytes,
        sha256: hex(&hasher.finalize()),
        licence: licence.to_owned(),
    })
}
