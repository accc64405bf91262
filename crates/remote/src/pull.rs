//! Downloads a snapshot to a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, TryStreamExt};
use object_store::path::Path as Place;
use object_store::{GetOptions, ObjectStoreExt};
use terrapin_snapshot::{Arrival, Snapshot};

use super::{AT_ONCE, LoadProgress, PIECE, Remote, TransferError};

/// The result of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// Its digest.
    pub digest: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The number of bytes received now; the rest was present from an earlier transfer.
    pub received: u64,
}

impl Remote {
    /// Downloads a snapshot to `out`. It is verified on arrival and renamed when complete. Until then the data is in
    /// `.NAME.DIGEST.pull` in the same folder, where the next call resumes.
    ///
    /// # Errors
    /// The snapshot does not exist, is another one or damaged; the storage or the disk fails.
    pub fn pull(&self, digest: Option<&str>, out: &Path, progress: &dyn LoadProgress) -> Result<Pulled, TransferError> {
        let place = self.place(digest)?;
        let mut arrival = self.runtime.block_on(self.announce(&place))?;
        let (found, bytes) = (arrival.digest(), arrival.file_len());
        if let Some(wanted) = digest.filter(|wanted| *wanted != found) {
            let place = format!("{}: {place}", self.address);
            return Err(TransferError::Other { place, found, wanted: wanted.to_owned() });
        }
        if Snapshot::open(out).is_ok_and(|there| there.digest() == found) {
            return Ok(Pulled { digest: found, bytes, received: 0 });
        }
        let part = part(out, &found);
        let unwritable = |source| TransferError::File { path: part.clone(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&part).map_err(unwritable)?;
        progress.phase("receiving", bytes);
        let there = go_on(&mut file, &mut arrival, progress).map_err(unwritable)?;
        self.runtime.block_on(self.receive(&place, &mut file, &mut arrival, &part, progress))?;
        file.sync_all().map_err(unwritable)?;
        drop(file);
        fs::rename(&part, out).map_err(|source| TransferError::File { path: out.to_owned(), source })?;
        Snapshot::open(out)?;
        Ok(Pulled { digest: found, bytes, received: bytes - there })
    }

    /// Fetches the end of the file, which describes the rest.
    async fn announce(&self, place: &Place) -> Result<Arrival, TransferError> {
        let failed = self.failed(place);
        let len = self.store.head(place).await.map_err(&failed)?.size;
        let get = async |range: Range<u64>| self.piece(place, range).await;
        let (header, footer) = Arrival::ends(len)?;
        let (header, footer) = (get(header).await?, get(footer).await?);
        let rest = get(Arrival::manifest(len, &footer)?).await?;
        Ok(Arrival::new(len, &header, &rest)?)
    }

    /// Fetches a range of the file. A server that sends more or fewer bytes is in error.
    async fn piece(&self, place: &Place, range: Range<u64>) -> Result<Bytes, TransferError> {
        let failed = self.failed(place);
        let wanted = range.end.saturating_sub(range.start);
        let lengths = |found| TransferError::Length { place: format!("{}: {place}", self.address), wanted, found };
        let options = GetOptions::new().with_range(Some(range));
        let mut stream = self.store.get_opts(place, options).await.map_err(&failed)?.into_stream();
        let mut piece = BytesMut::new();
        while let Some(bytes) = stream.try_next().await.map_err(&failed)? {
            append(&mut piece, &bytes, wanted).map_err(lengths)?;
        }
        if piece.len() as u64 != wanted {
            return Err(lengths(piece.len() as u64));
        }
        Ok(piece.freeze())
    }

    /// Receives the missing bytes.
    async fn receive(
        &self,
        place: &Place,
        file: &mut File,
        arrival: &mut Arrival,
        part: &Path,
        progress: &dyn LoadProgress,
    ) -> Result<(), TransferError> {
        let (from, len) = (arrival.at(), arrival.file_len());
        let ranges = (from..len).step_by(PIECE as usize).map(|start| start..len.min(start + PIECE));
        let pieces = ranges.map(|range| self.piece(place, range));
        let mut pieces = futures_util::stream::iter(pieces).buffered(AT_ONCE);
        while let Some(piece) = pieces.try_next().await? {
            if let Err(damage) = arrival.take(&piece) {
                // Wrong bytes must be fetched again.
                let _ = file.set_len(arrival.checked());
                return Err(damage.into());
            }
            file.write_all(&piece).map_err(|source| TransferError::File { path: part.to_owned(), source })?;
            progress.advance(piece.len() as u64);
        }
        Ok(())
    }
}

/// Adds received bytes to a piece of `most` bytes. Memory grows with the received bytes, not with an announced length.
///
/// # Errors
/// The total number of bytes, if `bytes` do not fit.
fn append(piece: &mut BytesMut, bytes: &[u8], most: u64) -> Result<(), u64> {
    let there = piece.len() as u64 + bytes.len() as u64;
    if there > most {
        return Err(there);
    }
    piece.extend_from_slice(bytes);
    Ok(())
}

/// Returns the path of the incomplete file.
fn part(out: &Path, digest: &str) -> PathBuf {
    let name = out.file_name().unwrap_or_default().to_string_lossy();
    out.with_file_name(format!(".{name}.{digest}.pull"))
}

/// Verifies the bytes of an earlier transfer, truncates the file to the valid ones and returns their number.
fn go_on(file: &mut File, arrival: &mut Arrival, progress: &dyn LoadProgress) -> io::Result<u64> {
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};

    use super::super::Quiet;
    use super::*;

    /// Starts a web server with one file of an announced length. `bytes` returns the content of a range, or more or
    /// less than that.
    fn serve(len: u64, bytes: impl Fn(Range<u64>) -> Vec<u8> + Send + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/a.terrapin", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let _ = answer(stream.unwrap(), len, &bytes);
            }
        });
        address
    }

    fn answer(mut stream: TcpStream, len: u64, bytes: &dyn Fn(Range<u64>) -> Vec<u8>) -> io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let method = lines.next().unwrap()?;
        let mut range = None;
        for line in lines {
            let line = line?.to_ascii_lowercase();
            if let Some((from, to)) = line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-')) {
                range = Some(from.parse::<u64>().unwrap()..to.parse::<u64>().unwrap() + 1);
            }
            if line.is_empty() {
                break;
            }
        }
        let Some(range) = range.filter(|_| method.starts_with("GET")) else {
            return write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n");
        };
        let Range { start, end } = range.clone();
        let body = bytes(range);
        write!(stream, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{len}\r\n", end - 1)?;
        // A server can name one range and send another.
        write!(stream, "Content-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
        stream.write_all(&body)
    }

    fn checksum(bytes: &[u8]) -> [u8; 8] {
        let mut short = [0; 8];
        short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
        short
    }

    fn footer(manifest_at: u64, manifest_len: u64) -> Vec<u8> {
        let mut footer = [manifest_at.to_le_bytes(), manifest_len.to_le_bytes()].concat();
        footer.extend_from_slice(&[7; 32]);
        footer.extend_from_slice(&checksum(&footer));
        footer.extend_from_slice(b"NIPARRET");
        footer
    }

    fn pull(address: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let options = [("allow_http".to_owned(), "true".to_owned())];
        let remote = Remote::open(address, &options).unwrap();
        let pulled = remote.pull(None, &folder.path().join("a.terrapin"), &Quiet);
        pulled.expect_err("it is no snapshot").to_string()
    }

    /// The lengths of an attack: a file of 2^40 bytes with the manifest at byte 64 must not lead to an allocation of
    /// 1 TiB.
    #[test]
    fn announced_lengths_size_no_allocation() {
        let len = 1_u64 << 40;
        let manifest = len - 128;
        let most = (64 << 20) + 1;
        for (at, bytes, what) in [
            (64, manifest, "section manifest: the footer gives it 1099511627648 bytes"),
            (64, 64, "section names: the footer gives it 1099511627584 bytes"),
            (64, u64::MAX, "it lies outside the file"),
            (len - 64 - most, most, "section manifest: the footer gives it 67108865 bytes"),
            (len, 1, "it lies outside the file"),
        ] {
            let asked = move |range: Range<u64>| match (range.start, range.end) {
                (0, 64) => vec![0; 64],
                (_, end) if end == len && range.end - range.start == 64 => footer(at, bytes),
                (from, end) => panic!("{from} to {end} was fetched"),
            };
            let error = pull(&serve(len, asked));
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn a_server_that_sends_more_or_less_than_a_range_is_an_error() {
        for sent in [0_usize, 63, 65, 1 << 20] {
            let error = pull(&serve(1 << 20, move |_| vec![0; sent]));
            assert!(error.contains("for a range of 64 bytes"), "{sent}: {error}");
        }
    }
}
