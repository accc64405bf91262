//! Texts by index, read in place.
//!
//! ```text
//! NAME          the texts, one after another
//! NAME.starts   a column of the start of each text and the end of the last
//! ```

use std::sync::Arc;

use super::{CheckedSection, CheckedWriter, ColumnWriter, Error, Fault, SectionColumn, Snapshot, SnapshotWriter};

/// Writes texts to a section.
pub struct TextsWriter {
    name: String,
    out: CheckedWriter,
    starts: Vec<u64>,
}

impl TextsWriter {
    /// Begins the section `name` in `writer`, which must not be used otherwise until [`TextsWriter::finish`] is called.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(writer: &mut SnapshotWriter, name: &str) -> Result<TextsWriter, Error> {
        Ok(TextsWriter { name: name.to_owned(), out: CheckedWriter::begin(writer, name)?, starts: vec![0] })
    }

    /// Writes a whole section of texts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write<'a>(
        writer: &mut SnapshotWriter,
        name: &str,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), Error> {
        let mut out = TextsWriter::begin(writer, name)?;
        texts.into_iter().try_for_each(|text| out.push(writer, text))?;
        out.finish(writer)
    }

    /// Appends a text.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, writer: &mut SnapshotWriter, text: &str) -> Result<(), Error> {
        self.out.push(writer, text.as_bytes())?;
        self.starts.push(self.out.len());
        Ok(())
    }

    /// Ends the section and writes the offsets of the texts.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        self.out.finish(writer, 0)?;
        ColumnWriter::write(writer, &format!("{}.starts", self.name), self.starts)
    }
}

/// The texts of a section, by index.
pub struct TextSection {
    text: CheckedSection,
    starts: SectionColumn,
}

impl TextSection {
    /// Opens the section `name` of `snapshot`.
    ///
    /// # Errors
    /// Returns an error if the section is missing or damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<TextSection, Error> {
        let text = CheckedSection::open(snapshot, name, fault)?;
        let starts = SectionColumn::open(snapshot, &format!("{name}.starts"), fault)?;
        match starts.is_empty() {
            true => Err(Error::damaged(name, "its list of offsets is empty")),
            false => Ok(TextSection { text, starts }),
        }
    }

    /// Returns texts held in memory, as if read from the section `name`.
    pub fn held<'a>(name: &str, texts: impl IntoIterator<Item = &'a str>, fault: &Arc<Fault>) -> TextSection {
        let (mut text, mut starts) = (Vec::new(), vec![0]);
        for one in texts {
            text.extend_from_slice(one.as_bytes());
            starts.push(text.len() as u64);
        }
        TextSection {
            text: CheckedSection::held(name, text, 0, fault),
            starts: SectionColumn::held(name, starts, fault),
        }
    }

    /// Returns the number of texts.
    pub fn len(&self) -> u64 {
        self.starts.len() - 1
    }

    /// Reports whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a text; empty if the index is out of range or the snapshot is damaged.
    pub fn get(&self, number: u64) -> &str {
        if number >= self.len() {
            return "";
        }
        let (start, end) = (self.starts.get(number) as usize, self.starts.get(number + 1) as usize);
        let bytes = end.checked_sub(start).and_then(|len| self.text.get(start, len));
        match bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) {
            Some(text) => text,
            None => {
                self.text.report("a text is incomplete");
                ""
            }
        }
    }

    /// Returns the index of a text, if the texts ascend.
    pub fn find(&self, text: &str) -> Option<u64> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).cmp(text) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found() {
        let all = ["", "Lija", "Liġa", "Ž"];
        let fault = Arc::default();
        let texts = TextSection::held("texts", all, &fault);
        assert_eq!((0..4).map(|n| texts.get(n)).collect::<Vec<_>>(), all);
        assert!(all.iter().enumerate().all(|(n, text)| texts.find(text) == Some(n as u64)));
        assert_eq!((texts.find("Lijb"), texts.get(4)), (None, ""));
        let nobody = TextSection::held("texts", [""], &fault);
        assert_eq!((nobody.len(), nobody.get(0), nobody.find("")), (1, "", Some(0)));
        assert!(fault.check().is_ok());
    }
}
