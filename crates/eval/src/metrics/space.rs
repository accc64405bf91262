//! White space as Python defines it.

/// Returns whether Python's `str.isspace` accepts a character; the published code splits and strips at these.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
