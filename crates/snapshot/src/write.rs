//! Writes a snapshot: sections in order, to a file without a name or with a temporary one, which is synced and
//! renamed at the end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::part::UnfinishedFile;
use super::{
    ALIGNMENT, END_MAGIC, Error, FORMAT_VERSION, HEADER_LEN, MAGIC, Manifest, ManifestSection, short_checksum,
    writer_name,
};

/// Writes a snapshot. The final name appears only in [`SnapshotWriter::finish`]; dropping the writer removes the file.
pub struct SnapshotWriter {
    file: BufWriter<UnfinishedFile>,
    path: PathBuf,
    at: u64,
    sections: Vec<ManifestSection>,
    open: Option<(String, u64, blake3::Hasher)>,
}

impl SnapshotWriter {
    /// Starts the file for `path`, in the same folder.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn create(path: &Path) -> Result<SnapshotWriter, Error> {
        let folder = match path.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        let file = UnfinishedFile::create(folder).map_err(|e| Error::io(folder, e))?;
        let mut writer = SnapshotWriter {
            file: BufWriter::with_capacity(1 << 20, file),
            path: path.to_owned(),
            at: 0,
            sections: Vec::new(),
            open: None,
        };
        // The header is written last: until then even the temporary file does not open.
        writer.raw(&[0; HEADER_LEN as usize])?;
        Ok(writer)
    }

    fn raw(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn align(&mut self) -> Result<(), Error> {
        let padding = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.raw(&[0; ALIGNMENT as usize][..padding as usize])
    }

    /// Begins a section; [`SnapshotWriter::append`] adds its bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(&mut self, name: &str) -> Result<(), Error> {
        self.end();
        self.align()?;
        self.open = Some((name.to_owned(), self.at, blake3::Hasher::new()));
        Ok(())
    }

    /// Adds bytes to the current section.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if let Some((_, _, hasher)) = &mut self.open {
            hasher.update(bytes);
        }
        self.raw(bytes)
    }

    fn end(&mut self) {
        if let Some((name, offset, hasher)) = self.open.take() {
            self.sections.push(ManifestSection {
                name,
                offset,
                len: self.at - offset,
                checksum: hasher.finalize().into(),
            });
        }
    }

    /// Writes a whole section.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn section(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.begin(name)?;
        self.append(bytes)
    }

    /// Returns the sections written so far and the file, so that they can be read while the rest is being written.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn so_far(&mut self) -> Result<(File, Vec<ManifestSection>), Error> {
        self.end();
        self.file.flush().map_err(|e| Error::io(&self.path, e))?;
        let file = self.file.get_ref().file().try_clone().map_err(|e| Error::io(&self.path, e))?;
        Ok((file, self.sections.clone()))
    }

    /// Writes the manifest (its sections are filled in here), syncs, and gives the file its name.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<[u8; 32], Error> {
        self.end();
        self.align()?;
        manifest.format_version = FORMAT_VERSION;
        manifest.writer = writer_name();
        manifest.sections = std::mem::take(&mut self.sections);
        let (bytes, names) = manifest.encode()?;
        let digest = Manifest::digest(&bytes);
        let offset = self.at;
        self.raw(&bytes)?;
        self.raw(&short_checksum(&names))?;
        self.raw(&names)?;

        let mut footer = Vec::with_capacity(64);
        footer.extend_from_slice(&offset.to_le_bytes());
        footer.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        footer.extend_from_slice(&digest);
        footer.extend_from_slice(&short_checksum(&footer));
        footer.extend_from_slice(END_MAGIC);
        self.raw(&footer)?;

        let io = |e| Error::io(&self.path, e);
        let mut file = self.file.into_inner().map_err(|e| io(e.into_error()))?;
        file.file().sync_data().map_err(io)?;
        file.rewind().map_err(io)?;
        file.write_all(&header()).map_err(io)?;
        set_readable(file.file()).map_err(io)?;
        file.file().sync_all().map_err(io)?;
        file.persist(&self.path).map_err(io)?;
        if let Some(folder) = self.path.parent().filter(|p| !p.as_os_str().is_empty())
            && let Ok(folder) = File::open(folder)
        {
            // The name survives a power cut only if its folder is synced; some file systems refuse that, which is
            // accepted.
            let _ = folder.sync_all();
        }
        Ok(digest)
    }
}

/// Temporary files are private; a snapshot is readable by everyone and writable by no one.
#[cfg(unix)]
fn set_readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o444))
}

#[cfg(not(unix))]
fn set_readable(_: &File) -> std::io::Result<()> {
    Ok(())
}

fn header() -> [u8; HEADER_LEN as usize] {
    let mut header = [0; HEADER_LEN as usize];
    let writer = writer_name();
    let name = &writer.as_bytes()[..writer.len().min(40)];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&(name.len() as u32).to_le_bytes());
    header[16..16 + name.len()].copy_from_slice(name);
    let check = short_checksum(&header[..56]);
    header[56..].copy_from_slice(&check);
    header
}
