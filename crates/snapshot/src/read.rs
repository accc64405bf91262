//! Opening and verifying a snapshot.

use std::collections::BTreeMap;
use std::fs::{File, FileType, Metadata};
use std::path::Path;
use std::sync::OnceLock;

use memmap2::Mmap;

use terrapin_base::map_read_only;

use super::{
    ALIGNMENT, END_MAGIC, Error, FOOTER_LEN, FORMAT_VERSION, HEADER_LEN, MAGIC, Manifest, ManifestSection,
    OLDEST_FORMAT, hex, short_checksum,
};

/// An open snapshot.
pub struct Snapshot {
    map: Mmap,
    manifest: Option<Manifest>,
    digest: [u8; 32],
    sections: BTreeMap<String, (ManifestSection, OnceLock<bool>)>,
}

impl Snapshot {
    /// Maps a snapshot file and checks header, footer, manifest and the bounds of every section.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a snapshot, has another format version, or one of these
    /// parts is damaged.
    pub fn open(path: &Path) -> Result<Snapshot, Error> {
        // Checked before opening, because opening a named pipe blocks until a writer appears.
        check_kind(path, &std::fs::metadata(path).map_err(|e| Error::io(path, e))?)?;
        let file = File::open(path).map_err(|e| Error::io(path, e))?;
        check_kind(path, &file.metadata().map_err(|e| Error::io(path, e))?)?;
        let map = map_read_only(&file).map_err(|e| Error::io(path, e))?;
        let foreign = |reason: &str| Error::Foreign { path: path.to_owned(), reason: reason.to_owned() };
        let header = map.get(..HEADER_LEN as usize).ok_or_else(|| foreign("shorter than a header"))?;
        if &header[..8] != MAGIC {
            return Err(foreign("it does not begin with \"TERRAPIN\""));
        }
        let version = version(header).ok_or_else(|| Error::damaged("header", "checksum differs"))?;
        if !(OLDEST_FORMAT..=FORMAT_VERSION).contains(&version) {
            let len = (u32_at(header, 12) as usize).min(40);
            return Err(Error::Version {
                path: path.to_owned(),
                found: version,
                writer: String::from_utf8_lossy(&header[16..16 + len]).into_owned(),
            });
        }
        let len = map.len() as u64;
        let footer_at = len
            .checked_sub(FOOTER_LEN)
            .filter(|&at| at >= HEADER_LEN)
            .ok_or_else(|| Error::damaged("footer", "the file is cut off"))?;
        let footer = Footer::read(&map[footer_at as usize..])?;
        let rest = map.get(footer.offset as usize..).filter(|_| (HEADER_LEN..footer_at).contains(&footer.offset));
        let (bytes, names) =
            footer.split(rest.ok_or_else(|| Error::damaged("manifest", "it lies outside the file"))?)?;
        let digest = Manifest::digest(bytes);
        if footer.digest != digest {
            return Err(Error::damaged("manifest", "its SHA-256 differs"));
        }
        let manifest = Manifest::decode(bytes, names)?;
        check_places(&manifest.sections, footer.offset)?;
        let sections = table(&manifest.sections);
        Ok(Snapshot { map, manifest: Some(manifest), digest, sections })
    }

    /// Returns a view of the sections written so far, for computations of the loader on its own output.
    ///
    /// # Errors
    /// Returns an error if the file cannot be mapped.
    pub fn partial(file: &File, sections: &[ManifestSection]) -> std::io::Result<Snapshot> {
        Ok(Snapshot { map: map_read_only(file)?, manifest: None, digest: [0; 32], sections: table(sections) })
    }

    /// Returns the manifest; `None` only while the snapshot is being written.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// Returns the snapshot's digest: the SHA-256 of its manifest in hexadecimal.
    pub fn digest(&self) -> String {
        hex(&self.digest)
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.map.len() as u64
    }

    /// Returns the range of a section in the file.
    pub fn place(&self, name: &str) -> Option<std::ops::Range<usize>> {
        self.sections.get(name).map(|(s, _)| s.offset as usize..(s.offset + s.len) as usize)
    }

    /// Returns the bytes of the file.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Returns the bytes of a section whose pages have their own checksums; empty if the section is missing.
    pub fn unchecked(&self, name: &str) -> &[u8] {
        match self.sections.get(name) {
            Some((s, _)) => self.map.get(s.offset as usize..(s.offset + s.len) as usize).unwrap_or_default(),
            None => &[],
        }
    }

    /// Returns the bytes of a section, verified on first access.
    ///
    /// # Errors
    /// Returns an error if the section is missing or its checksum differs.
    pub fn section(&self, name: &str) -> Result<&[u8], Error> {
        let (section, checked) =
            self.sections.get(name).ok_or_else(|| Error::damaged(name, "the snapshot does not have it"))?;
        let bytes = self.unchecked(name);
        let good = *checked.get_or_init(|| blake3::hash(bytes).as_bytes() == &section.checksum);
        if good { Ok(bytes) } else { Err(Error::damaged(name, "checksum differs")) }
    }
}

/// The footer of a file.
pub(super) struct Footer {
    /// The offset of the manifest.
    pub offset: u64,
    /// The length of the manifest in bytes.
    pub len: u64,
    /// The SHA-256 of the manifest.
    pub digest: [u8; 32],
}

impl Footer {
    /// Parses and verifies the footer.
    pub(super) fn read(bytes: &[u8]) -> Result<Footer, Error> {
        if bytes.len() != FOOTER_LEN as usize
            || &bytes[56..] != END_MAGIC
            || bytes[48..56] != short_checksum(&bytes[..48])
        {
            return Err(Error::damaged("footer", "missing or changed: the file was truncated or overwritten"));
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(&bytes[16..48]);
        Ok(Footer { offset: u64_at(bytes, 0), len: u64_at(bytes, 8), digest })
    }

    /// Splits the bytes from the manifest on into manifest and names.
    pub(super) fn split<'a>(&self, rest: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Error> {
        let rest = &rest[..rest.len().saturating_sub(FOOTER_LEN as usize)];
        let parts = usize::try_from(self.len).ok().and_then(|len| rest.split_at_checked(len));
        match parts {
            Some((manifest, stored)) => Ok((manifest, names(stored)?)),
            None => Err(Error::damaged("manifest", "it does not end where the footer begins")),
        }
    }
}

/// Returns the format version of a valid header.
pub(super) fn version(header: &[u8]) -> Option<u32> {
    let whole = header.len() == HEADER_LEN as usize && header[56..] == short_checksum(&header[..56]);
    (whole && &header[..8] == MAGIC).then(|| u32_at(header, 8))
}

/// Checks that sections follow each other between the header and the manifest.
pub(super) fn check_places(sections: &[ManifestSection], manifest_at: u64) -> Result<(), Error> {
    let mut end = HEADER_LEN;
    for section in sections {
        let fits = section.offset % ALIGNMENT == 0
            && section.offset >= end
            && section.offset.checked_add(section.len).is_some_and(|e| e <= manifest_at);
        if !fits {
            return Err(Error::damaged(&section.name, "it lies outside the file"));
        }
        end = section.offset + section.len;
    }
    Ok(())
}

/// Verifies the bytes after the manifest and returns them.
fn names(bytes: &[u8]) -> Result<&[u8], Error> {
    match bytes.split_first_chunk::<8>() {
        None if bytes.is_empty() => Ok(bytes),
        Some((checksum, names)) if *checksum == short_checksum(names) => Ok(names),
        _ => Err(Error::damaged("names", "checksum differs")),
    }
}

/// Only a regular file can be mapped.
fn check_kind(path: &Path, metadata: &Metadata) -> Result<(), Error> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = kind(metadata.file_type());
    Err(Error::Foreign { path: path.to_owned(), reason: format!("it is {kind}, not a file") })
}

fn kind(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "something else" }
}

fn table(sections: &[ManifestSection]) -> BTreeMap<String, (ManifestSection, OnceLock<bool>)> {
    sections.iter().map(|s| (s.name.clone(), (s.clone(), OnceLock::new()))).collect()
}

/// Checks every byte of a snapshot file.
///
/// # Errors
/// Returns the errors of [`Snapshot::open`], and an error for the first section with a wrong checksum or non-zero
/// padding.
pub fn verify(path: &Path) -> Result<Snapshot, Error> {
    let snapshot = Snapshot::open(path)?;
    let sections = snapshot.manifest.as_ref().map(|m| m.sections.as_slice()).unwrap_or_default();
    let manifest_at = u64_at(&snapshot.map[snapshot.map.len() - FOOTER_LEN as usize..], 0);
    for (i, section) in sections.iter().enumerate() {
        let (from, to) = (section.offset as usize, (section.offset + section.len) as usize);
        let mut hasher = blake3::Hasher::new();
        hasher.update_rayon(&snapshot.map[from..to]);
        if hasher.finalize().as_bytes() != &section.checksum {
            return Err(Error::damaged(&section.name, "checksum differs"));
        }
        let next = sections.get(i + 1).map_or(manifest_at, |s| s.offset) as usize;
        if snapshot.map[to..next].iter().any(|&b| b != 0) {
            return Err(Error::damaged(&section.name, "the padding after it is not zero"));
        }
    }
    let first = sections.first().map_or(manifest_at, |s| s.offset);
    if first != HEADER_LEN {
        return Err(Error::damaged("header", "bytes between the header and the first section"));
    }
    Ok(snapshot)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut b = [0; 4];
    b.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(b)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut b = [0; 8];
    b.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(b)
}
