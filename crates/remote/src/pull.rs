//! From the storage to a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt};
use object_store::ObjectStoreExt;
use object_store::path::Path as Place;
use terrapin_snapshot::{Arrival, Snapshot};

use super::{AT_ONCE, Error, PIECE, Progress, Remote};

/// What became of a snapshot that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// Its digest.
    pub digest: String,
    /// Its bytes.
    pub bytes: u64,
    /// Those that came now: the rest was there of a transfer that broke off, or all of it.
    pub received: u64,
}

impl Remote {
    /// Fetches a snapshot. It is checked while it arrives and has its name when it is whole; until then what there is
    /// lies beside as `.NAME.DIGEST.pull`, from where the next call goes on.
    ///
    /// # Errors
    /// There is none of this digest, what lies there is another one or damaged; the storage's and the disk's.
    pub fn pull(&self, digest: Option<&str>, out: &Path, progress: &dyn Progress) -> Result<Pulled, Error> {
        let place = self.place(digest)?;
        let mut arrival = self.runtime.block_on(self.announce(&place))?;
        let (found, bytes) = (arrival.digest(), arrival.file_len());
        if let Some(wanted) = digest.filter(|wanted| *wanted != found) {
            let place = format!("{}: {place}", self.address);
            return Err(Error::Other { place, found, wanted: wanted.to_owned() });
        }
        if Snapshot::open(out).is_ok_and(|there| there.digest() == found) {
            return Ok(Pulled { digest: found, bytes, received: 0 });
        }
        let part = part(out, &found);
        let unwritable = |source| Error::File { path: part.clone(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&part).map_err(unwritable)?;
        progress.phase("receiving", bytes);
        let there = go_on(&mut file, &mut arrival, progress).map_err(unwritable)?;
        self.runtime.block_on(self.receive(&place, &mut file, &mut arrival, &part, progress))?;
        file.sync_all().map_err(unwritable)?;
        drop(file);
        fs::rename(&part, out).map_err(|source| Error::File { path: out.to_owned(), source })?;
        Snapshot::open(out)?;
        Ok(Pulled { digest: found, bytes, received: bytes - there })
    }

    /// What the end of the file says of the rest.
    async fn announce(&self, place: &Place) -> Result<Arrival, Error> {
        let failed = self.failed(place);
        let len = self.store.head(place).await.map_err(&failed)?.size;
        let get = async |range: Range<u64>| self.store.get_range(place, range).await.map_err(&failed);
        let (header, footer) = Arrival::ends(len)?;
        let (header, footer) = (get(header).await?, get(footer).await?);
        let rest = get(Arrival::manifest(len, &footer)?).await?;
        Ok(Arrival::new(len, &header, &rest)?)
    }

    /// Receives what has not been there.
    async fn receive(
        &self,
        place: &Place,
        file: &mut File,
        arrival: &mut Arrival,
        part: &Path,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let failed = self.failed(place);
        let (from, len) = (arrival.at(), arrival.file_len());
        let ranges = (from..len).step_by(PIECE as usize).map(|start| start..len.min(start + PIECE));
        let pieces = ranges.map(|range| self.store.get_range(place, range));
        let mut pieces = futures_util::stream::iter(pieces).buffered(AT_ONCE);
        while let Some(piece) = pieces.try_next().await.map_err(&failed)? {
            if let Err(damage) = arrival.take(&piece) {
                // What is wrong has to come again.
                let _ = file.set_len(arrival.checked());
                return Err(damage.into());
            }
            file.write_all(&piece).map_err(|source| Error::File { path: part.to_owned(), source })?;
            progress.advance(piece.len() as u64);
        }
        Ok(())
    }
}

/// Where a snapshot lies until it is whole.
fn part(out: &Path, digest: &str) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{digest}.pull"))
}

/// Looks at what came before; how many bytes stand. The file is as long then, and what comes next is written behind.
fn go_on(file: &mut File, arrival: &mut Arrival, progress: &dyn Progress) -> io::Result<u64> {
    let mut piece = vec![0; PIECE as usize];
    let stands = loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            break arrival.at();
        }
        if arrival.take(&piece[..read]).is_err() {
            break arrival.rewind();
        }
        progress.advance(read as u64);
    };
    file.set_len(stands)?;
    file.seek(SeekFrom::Start(stands))?;
    Ok(stands)
}
