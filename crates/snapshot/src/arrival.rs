//! A snapshot received from front to back and checked on arrival. Its last bytes are fetched first, because they have
//! the checksums of all others.

use std::ops::Range;

use super::error::readable_formats;
use super::manifest::LONGEST;
use super::read::{self, Footer};
use super::{Error, FOOTER_LEN, FORMAT_VERSION, HEADER_LEN, Manifest, ManifestSection, OLDEST_FORMAT, hex};

/// The maximum length in bytes of the sources' names with their checksum.
const NAMES_LEN: u64 = LONGEST as u64 + 8;

/// A snapshot that is being received.
pub struct Arrival {
    len: u64,
    digest: [u8; 32],
    header: Vec<u8>,
    /// The bytes from the manifest to the end.
    rest: Vec<u8>,
    sections: Vec<ManifestSection>,
    /// The offset of the next bytes.
    at: u64,
    /// The number of verified bytes.
    checked: u64,
    /// The number of complete sections.
    whole: usize,
    /// The hash of the received part of the current section.
    hasher: blake3::Hasher,
}

impl Arrival {
    /// Returns the ranges of header and footer of a file of `len` bytes.
    ///
    /// # Errors
    /// Returns an error if the file is too short for them.
    pub fn ends(len: u64) -> Result<(Range<u64>, Range<u64>), Error> {
        match len.checked_sub(FOOTER_LEN).filter(|&at| at >= HEADER_LEN) {
            Some(at) => Ok((0..HEADER_LEN, at..len)),
            None => Err(Error::damaged("header", "the file is too short for a snapshot")),
        }
    }

    /// Returns the range from the manifest to the end of a file of `len` bytes, read from its footer. The range
    /// always fits into memory.
    ///
    /// # Errors
    /// Returns an error if the footer is damaged, or the manifest or the names exceed their maximum length.
    pub fn manifest(len: u64, footer: &[u8]) -> Result<Range<u64>, Error> {
        let footer = Footer::read(footer)?;
        let behind = len.saturating_sub(FOOTER_LEN);
        if !(HEADER_LEN..behind).contains(&footer.offset) {
            return Err(Error::damaged("manifest", "it lies outside the file"));
        }
        let all = behind - footer.offset;
        let names =
            all.checked_sub(footer.len).ok_or_else(|| Error::damaged("manifest", "it lies outside the file"))?;
        for (what, bytes, most) in [("manifest", footer.len, LONGEST as u64), ("names", names, NAMES_LEN)] {
            if bytes > most {
                let reason = format!("the footer gives it {bytes} bytes, at most {most} are allowed");
                return Err(Error::damaged(what, reason));
            }
        }
        Ok(footer.offset..len)
    }

    /// Begins a file of `len` bytes from its header and its bytes from the manifest on.
    ///
    /// # Errors
    /// Returns an error if they are damaged or do not match each other.
    pub fn new(len: u64, header: &[u8], rest: &[u8]) -> Result<Arrival, Error> {
        let version =
            read::version(header).ok_or_else(|| Error::damaged("header", "it is not the header of a snapshot"))?;
        if !(OLDEST_FORMAT..=FORMAT_VERSION).contains(&version) {
            let reason = format!("snapshot format {version}; this build reads {}", readable_formats());
            return Err(Error::damaged("header", reason));
        }
        let footer = Footer::read(&rest[rest.len().saturating_sub(FOOTER_LEN as usize)..])?;
        let (manifest, names) = footer.split(rest)?;
        let digest = Manifest::digest(manifest);
        if digest != footer.digest {
            return Err(Error::damaged("manifest", "its SHA-256 differs"));
        }
        let manifest = Manifest::decode(manifest, names)?;
        read::check_places(&manifest.sections, footer.offset)?;
        Ok(Arrival {
            len,
            digest,
            header: header.to_vec(),
            rest: rest.to_vec(),
            sections: manifest.sections,
            at: 0,
            checked: 0,
            whole: 0,
            hasher: blake3::Hasher::new(),
        })
    }

    /// Returns the snapshot's digest: the SHA-256 of its manifest in hexadecimal.
    pub fn digest(&self) -> String {
        hex(&self.digest)
    }

    /// Returns the length of the file in bytes.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Returns the number of received bytes.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns the number of verified bytes, from the start of the file.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Discards all unverified bytes and returns the number of remaining bytes.
    pub fn rewind(&mut self) -> u64 {
        self.hasher.reset();
        self.at = self.checked;
        self.at
    }

    /// Receives the next bytes.
    ///
    /// # Errors
    /// Returns an error if they do not belong to this snapshot.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            if self.at == self.len {
                return Err(Error::damaged("footer", "unexpected bytes after it"));
            }
            let (end, part) = self.part();
            let (these, others) = bytes.split_at(bytes.len().min((end - self.at) as usize));
            self.check(part, these)?;
            self.at += these.len() as u64;
            bytes = others;
            if self.at == end {
                self.close(part)?;
            }
        }
        Ok(())
    }

    /// Returns the offset at which the current part ends, and the part.
    fn part(&self) -> (u64, ArrivalStage) {
        let next = self.sections.get(self.whole);
        let manifest_at = self.len - self.rest.len() as u64;
        match next {
            _ if self.at < HEADER_LEN => (HEADER_LEN, ArrivalStage::Header),
            Some(section) if self.at < section.offset => (section.offset, ArrivalStage::Padding),
            Some(section) => (section.offset + section.len, ArrivalStage::Section),
            None if self.at < manifest_at => (manifest_at, ArrivalStage::Padding),
            None => (self.len, ArrivalStage::Rest),
        }
    }

    fn check(&mut self, part: ArrivalStage, bytes: &[u8]) -> Result<(), Error> {
        let known =
            |all: &[u8], from: u64| all.get((self.at - from) as usize..).is_some_and(|all| all.starts_with(bytes));
        let (good, what) = match part {
            ArrivalStage::Header => (known(&self.header, 0), "header"),
            ArrivalStage::Padding => (bytes.iter().all(|&byte| byte == 0), "padding"),
            ArrivalStage::Rest => (known(&self.rest, self.len - self.rest.len() as u64), "manifest"),
            ArrivalStage::Section => {
                self.hasher.update(bytes);
                (true, "")
            }
        };
        if good { Ok(()) } else { Err(Error::damaged(what, "it differs from the expected bytes")) }
    }

    fn close(&mut self, part: ArrivalStage) -> Result<(), Error> {
        if let (ArrivalStage::Section, Some(section)) = (part, self.sections.get(self.whole)) {
            if self.hasher.finalize().as_bytes() != &section.checksum {
                return Err(Error::damaged(&section.name, "checksum differs"));
            }
            self.hasher.reset();
            self.whole += 1;
        }
        self.checked = self.at;
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum ArrivalStage {
    Header,
    /// Zeros.
    Padding,
    Section,
    /// Manifest, names and footer.
    Rest,
}
