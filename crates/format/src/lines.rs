//! Lines of formatted text: indentation, empty lines, comments and wrapping.

/// The maximum length of a line in characters, if the line can be wrapped.
const WIDTH: usize = 100;
/// The indentation of a block, in spaces.
const INDENT: usize = 2;

/// The white space before a fragment of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// None.
    None,
    /// One space; the line is not wrapped here.
    Space,
    /// None, or a line break if the line is too long.
    Break,
    /// One space, or a line break if the line is too long.
    SpaceOrBreak,
}

/// Formatted lines, and the line that is being written.
#[derive(Default)]
pub struct Lines {
    out: String,
    line: Vec<(Gap, String)>,
    /// The depth of the current block.
    pub depth: usize,
    /// Whether the current line continues a statement that a comment interrupted.
    continued: bool,
    empty_line: bool,
}

impl Lines {
    /// Returns whether the current line is empty.
    pub fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Adds a fragment to the current line.
    pub fn add(&mut self, gap: Gap, text: &str) {
        self.line.push((gap, text.to_owned()));
    }

    /// Ends the current line and its statement.
    pub fn end(&mut self) {
        self.flush();
        self.continued = false;
    }

    /// Starts the next line at the block's indentation even if a comment interrupted its statement.
    pub fn restart(&mut self) {
        self.continued &= !self.line.is_empty();
    }

    /// Writes an empty line before the next line, unless a block starts there.
    pub fn empty_line(&mut self) {
        self.empty_line = self.line.is_empty();
    }

    /// Prevents an empty line before the next line.
    pub fn no_empty_line(&mut self) {
        self.empty_line = false;
    }

    /// Adds a comment on a line of its own. A statement in the current line continues after it.
    pub fn comment_line(&mut self, text: &str) {
        self.interrupt();
        self.line.push((Gap::None, text.trim_end().to_owned()));
        let continued = self.continued;
        self.flush();
        self.continued = continued;
    }

    /// Adds a comment behind the text before it, and ends its line.
    pub fn comment_behind(&mut self, text: &str) {
        let text = text.trim_end();
        if !self.line.is_empty() {
            self.interrupt();
        }
        if self.out.is_empty() {
            return self.comment_line(text);
        }
        self.out.truncate(self.out.trim_end_matches('\n').len());
        self.out.push(' ');
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Ends the line within a statement.
    fn interrupt(&mut self) {
        if !self.line.is_empty() {
            self.flush();
            self.continued = true;
        }
    }

    /// Returns the whole text.
    pub fn finish(mut self) -> String {
        self.end();
        self.out
    }

    fn flush(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return;
        }
        if std::mem::take(&mut self.empty_line) && !self.out.is_empty() {
            self.out.push('\n');
        }
        let indent = INDENT * (self.depth + usize::from(self.continued));
        let inner = INDENT * (self.depth + 1);
        self.out.extend(std::iter::repeat_n(' ', indent));
        let mut column = indent;
        for (at, (gap, text)) in line.iter().enumerate() {
            let breaks = matches!(gap, Gap::Break | Gap::SpaceOrBreak);
            let spaces = usize::from(at > 0 && matches!(gap, Gap::Space | Gap::SpaceOrBreak));
            if at > 0 && breaks && column + spaces + unbroken(&line[at..]) > WIDTH {
                self.out.push('\n');
                self.out.extend(std::iter::repeat_n(' ', inner));
                column = inner;
            } else {
                self.out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            self.out.push_str(text);
            column = match text.rfind('\n') {
                Some(end) => text.get(end + 1..).map_or(0, |last| last.chars().count()),
                None => column + text.chars().count(),
            };
        }
        self.out.push('\n');
    }
}

/// Returns the number of characters up to the next possible line break, without the gap at the start.
fn unbroken(line: &[(Gap, String)]) -> usize {
    let mut length = 0;
    for (at, (gap, text)) in line.iter().enumerate() {
        match gap {
            _ if at == 0 => {}
            Gap::Break | Gap::SpaceOrBreak => break,
            Gap::Space => length += 1,
            Gap::None => {}
        }
        if let Some(end) = text.find('\n') {
            return length + text.get(..end).map_or(0, |first| first.chars().count());
        }
        length += text.chars().count();
    }
    length
}
