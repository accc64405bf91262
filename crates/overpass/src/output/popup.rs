//! Writes `[out:popup(...)]`: HTML for a popup on a map. It has a heading per block, followed by the tags of the
//! block's elements. An element belongs to the first block with a test that it passes. Elements without such a block
//! and elements without tags are left out.

use std::io::{self, Write};

use regex::Regex;

use super::buffer::Buffer;
use super::{AnswerWriter, ItemTags, OutCounts, OutputItem, Projection, html};
use crate::syntax::{PopupBlock, PopupTest, PopupValue, posix};

/// The maximum number of bytes buffered for the blocks after the first one.
const MOST: usize = 512 << 20;

/// A popup.
pub(super) struct Popup<'a> {
    buffer: Buffer<'a>,
    blocks: Vec<PopupRules>,
    /// The number of buffered bytes in all blocks.
    waiting: usize,
    written: u64,
}

struct PopupRules {
    title: String,
    tests: Vec<PopupCondition>,
    title_key: String,
    /// The printed elements. Those of the first block are not buffered.
    text: String,
}

impl<'a> Popup<'a> {
    pub(super) fn new(blocks: &[PopupBlock], out: &'a mut dyn Write) -> Self {
        let mut buffer = Buffer::new(out);
        html::begin(&mut buffer);
        let blocks: Vec<PopupRules> = blocks.iter().map(PopupRules::of).collect();
        if let Some(first) = blocks.first() {
            heading(&mut buffer, first);
        }
        Popup { buffer, blocks, waiting: 0, written: 0 }
    }
}

impl PopupRules {
    fn of(block: &PopupBlock) -> PopupRules {
        PopupRules {
            title: block.title.clone(),
            tests: block.tests.iter().map(PopupCondition::of).collect(),
            title_key: block.title_key.clone(),
            text: String::new(),
        }
    }

    /// Adds an element to `to`.
    fn write(&self, to: &mut String, item: &OutputItem<'_>, tags: &ItemTags) {
        to.push_str("<p>");
        let link = link(tags);
        if let Some((scheme, address)) = link {
            to.push_str("<a href=\"");
            to.push_str(scheme);
            to.push_str(address);
            to.push_str("\" target=\"_blank\">");
        }
        to.push_str("<strong>");
        match tags.get(&self.title_key) {
            Some(name) if !self.title_key.is_empty() => to.push_str(name),
            _ => {
                to.push_str(match item.type_name {
                    "node" => "Node ",
                    "way" => "Way ",
                    _ => "Relation ",
                });
                to.push_str(&item.id.unwrap_or_default().to_string());
            }
        }
        to.push_str(if link.is_some() { "</strong></a><br/>\n" } else { "</strong><br/>\n" });
        for (key, value) in tags.iter() {
            // The reference does not escape these texts.
            to.push_str(key);
            to.push_str(": ");
            to.push_str(value);
            to.push_str("<br/>\n");
        }
        to.push_str("<p/>\n\n");
    }
}

/// Returns the link target of an element's name, and the prefix for it. The target is the last tag value that contains
/// an address of the best kind, regardless of its key and of other text in it.
fn link(tags: &ItemTags) -> Option<(&'static str, &str)> {
    let last = |sign: &str| tags.iter().filter(|(_, value)| value.contains(sign)).last().map(|(_, value)| value);
    let whole = last("https://").or_else(|| last("http://")).map(|value| ("", value));
    whole.or_else(|| last("www.").map(|value| ("http://", value)))
}

fn heading(b: &mut Buffer<'_>, block: &PopupRules) {
    b.text("<h2>");
    b.text(&block.title);
    b.text("</h2>\n");
}

/// A condition on tags.
struct PopupCondition {
    key: String,
    value: ValueTest,
    negated: bool,
}

enum ValueTest {
    Any,
    Equal(String),
    /// `None` for an invalid expression, which matches no value.
    Matching(Option<Regex>),
}

impl PopupCondition {
    fn of(test: &PopupTest) -> PopupCondition {
        let value = match &test.value {
            PopupValue::Any => ValueTest::Any,
            PopupValue::Equal(value) => ValueTest::Equal(value.clone()),
            PopupValue::Matching(regex) => ValueTest::Matching(posix::compile(&regex.pattern, regex.ignore_case).ok()),
        };
        PopupCondition { key: test.key.clone(), value, negated: test.negated }
    }

    fn passes(&self, tags: &ItemTags) -> bool {
        let found = tags.get(&self.key).is_some_and(|found| match &self.value {
            ValueTest::Any => true,
            ValueTest::Equal(value) => found == value,
            ValueTest::Matching(regex) => regex.as_ref().is_some_and(|regex| regex.is_match(found)),
        });
        found != self.negated
    }
}

impl AnswerWriter for Popup<'_> {
    fn projection(&self) -> Projection {
        Projection { tags: true, parts: false, meta: false, every_id: true }
    }

    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        let Some(tags) = item.tags.filter(|tags| !tags.is_empty() && html::shows(item)) else { return Ok(()) };
        let Some(at) = self.blocks.iter().position(|block| block.tests.iter().any(|test| test.passes(tags))) else {
            return Ok(());
        };
        self.written += 1;
        let block = &mut self.blocks[at];
        let mut text = std::mem::take(&mut block.text);
        let before = text.len();
        block.write(&mut text, item, tags);
        if at == 0 {
            self.buffer.text(&text);
            text.clear();
        } else {
            self.waiting += text.len() - before;
        }
        self.blocks[at].text = text;
        if self.waiting > MOST {
            let message = format!("more than {} MiB wait for the headings they belong to", MOST >> 20);
            return Err(io::Error::other(message));
        }
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
        for block in self.blocks.iter().skip(1) {
            heading(&mut self.buffer, block);
            self.buffer.pass(block.text.as_bytes())?;
        }
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
