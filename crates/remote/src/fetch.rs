//! Fetches files other than snapshots, unchanged.

use std::io::Write;

use futures_util::TryStreamExt;
use object_store::ObjectStoreExt;
use object_store::path::Path as Place;

use super::{Remote, TransferError};

impl Remote {
    /// Writes the file `name` at the address to `out` as it arrives. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// The storage or `out` fails.
    pub fn fetch(&self, name: &str, out: &mut dyn Write) -> Result<bool, TransferError> {
        let place = Place::from(format!("{}/{name}", self.folder));
        let failed = self.failed(&place);
        self.runtime.block_on(async {
            let found = match self.store.get(&place).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(false),
                found => found.map_err(&failed)?,
            };
            let mut bytes = found.into_stream();
            while let Some(piece) = bytes.try_next().await.map_err(&failed)? {
                out.write_all(&piece).map_err(|source| TransferError::File { path: name.into(), source })?;
            }
            Ok(true)
        })
    }
}
