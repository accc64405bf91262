//! Uploads a snapshot.

use std::io::Read;
use std::path::Path as File;

use object_store::path::Path;
use object_store::{ObjectStoreExt, WriteMultipart};
use terrapin_snapshot as snapshot;

use super::{AT_ONCE, LoadProgress, PIECE, Remote, TransferError};

/// The result of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// Its digest.
    pub digest: String,
    /// Its address.
    pub place: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The snapshot was already stored.
    pub was_there: bool,
}

impl Remote {
    /// Uploads a snapshot after verifying every byte. An existing one is not sent again. The snapshot becomes visible
    /// when it is complete.
    ///
    /// # Errors
    /// The file is not a valid snapshot, or the storage fails.
    pub fn push(&self, file: &File, progress: &dyn LoadProgress) -> Result<Pushed, TransferError> {
        progress.phase("verifying", 0);
        let whole = snapshot::verify(file)?;
        let (digest, bytes) = (whole.digest(), whole.file_len());
        let place = self.place(Some(&digest))?;
        let was_there = self.runtime.block_on(async {
            match self.store.head(&place).await {
                Ok(found) => Ok(found.size == bytes),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(self.failed(&place)(error)),
            }
        })?;
        if !was_there {
            progress.phase("sending", bytes);
            self.runtime.block_on(self.send(file, &place, progress))?;
        }
        Ok(Pushed { digest, place: place.to_string(), bytes, was_there })
    }

    async fn send(&self, file: &File, place: &Path, progress: &dyn LoadProgress) -> Result<(), TransferError> {
        let unreadable = |source| TransferError::File { path: file.to_owned(), source };
        let failed = self.failed(place);
        let mut from = std::fs::File::open(file).map_err(unreadable)?;
        let upload = self.store.put_multipart(place).await.map_err(&failed)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PIECE as usize);
        let mut piece = vec![0; PIECE as usize];
        let sent: Result<(), TransferError> = async {
            loop {
                let read = from.read(&mut piece).map_err(unreadable)?;
                if read == 0 {
                    return Ok(());
                }
                upload.wait_for_capacity(AT_ONCE).await.map_err(&failed)?;
                upload.write(&piece[..read]);
                progress.advance(read as u64);
            }
        }
        .await;
        match sent {
            Ok(()) => upload.finish().await.map(|_| ()).map_err(failed),
            Err(error) => {
                // The first error is more useful than one of the cleanup.
                let _ = upload.abort().await;
                Err(error)
            }
        }
    }
}
