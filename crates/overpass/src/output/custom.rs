//! Writes `[out:custom]`, the format for templates. Terrapin has no templates, therefore it answers as the reference
//! does without one. A single element is answered with a redirect to its page on openstreetmap.org. Any other result is
//! answered with a page that reports the missing template.
//!
//! The answer begins with CGI headers: the reference writes them in this format only.

use std::io::{self, Write};

use super::buffer::Buffer;
use super::{AnswerWriter, OutCounts, OutputHeader, OutputItem, Projection, html};

/// The CGI header of a page.
pub const PAGE_HEAD: &str = "Content-type: text/html; charset=utf-8\n\n";
/// The CGI headers of a redirect, up to the URL.
pub const MOVED_HEAD: &str = "Status: 302 Moved\nLocation: ";

/// A writer of `[out:custom]` answers.
pub(super) struct Custom<'a> {
    buffer: Buffer<'a>,
    header: OutputHeader,
    /// Type and id of the first element, until a second one arrives.
    first: Option<(String, i64)>,
    written: u64,
}

impl<'a> Custom<'a> {
    pub(super) fn new(header: OutputHeader, out: &'a mut dyn Write) -> Self {
        Custom { buffer: Buffer::new(out), header, first: None, written: 0 }
    }

    fn begin(&mut self) {
        let b = &mut self.buffer;
        b.text(PAGE_HEAD);
        html::begin(b);
        html::copyright(b);
        b.text("<p>Data included until: ");
        b.time(self.header.data_time);
        if let Some(time) = self.header.areas_time {
            b.text("<br/>Areas based on data until: ");
            b.time(time);
        }
        b.text("</p>\n");
    }

    fn paragraph(&mut self, type_name: &str) {
        let b = &mut self.buffer;
        b.text("\n<p>No {{");
        b.text(type_name);
        b.text(":..}} found in template.</p>\n");
    }
}

impl AnswerWriter for Custom<'_> {
    fn projection(&self) -> Projection {
        Projection { tags: false, parts: false, meta: false, every_id: true }
    }

    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        if !html::shows(item) {
            return Ok(());
        }
        self.written += 1;
        if self.written == 1 {
            self.first = Some((item.type_name.to_owned(), item.id.unwrap_or_default()));
            return Ok(());
        }
        if let Some((type_name, _)) = self.first.take() {
            self.begin();
            self.buffer.text("\n<p>Template not found.</p>\n\n");
            self.paragraph(&type_name);
        }
        self.paragraph(item.type_name);
        self.buffer.settle()
    }

    /// Ignores the counts: the format has no place for them.
    fn count(&mut self, _counts: &OutCounts) -> io::Result<()> {
        Ok(())
    }

    /// Ignores the remark: the format has no place for it.
    fn remark(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some((type_name, id)) = self.first.take() {
            let b = &mut self.buffer;
            b.text(MOVED_HEAD);
            b.text("https://www.openstreetmap.org/browse/");
            b.text(&type_name);
            b.text("/");
            b.integer(id);
            b.text("\n\n");
            return b.flush();
        }
        if self.written == 0 {
            self.begin();
            self.buffer.text("<p>No results found.</p>\n");
        }
        self.buffer.text("\n");
        html::end(&mut self.buffer);
        self.buffer.flush()
    }

    fn written(&self) -> u64 {
        self.written
    }

    fn content_type(&self) -> &'static str {
        html::CONTENT_TYPE
    }

    fn started(&self) -> bool {
        self.buffer.started()
    }
}
