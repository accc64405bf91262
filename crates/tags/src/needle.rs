//! Case-insensitive substring search.

use std::cell::RefCell;

/// A substring to search for. The empty string matches every text.
#[derive(Debug, Clone)]
pub struct Needle {
    text: String,
    /// The lower-case form of the last text searched; kept to reuse its allocation.
    other: RefCell<String>,
}

impl Needle {
    /// Creates a search for `text`.
    pub fn new(text: &str) -> Needle {
        Needle { text: text.to_lowercase(), other: RefCell::default() }
    }

    /// Returns how well `text` matches: 0 if it is equal, 1 if it begins with the needle, 2 if it contains it
    /// elsewhere.
    pub fn fits(&self, text: &str) -> Option<u8> {
        if self.text.is_empty() {
            return Some(0);
        }
        let mut other = self.other.borrow_mut();
        other.clear();
        if text.is_ascii() {
            other.push_str(text);
            other.make_ascii_lowercase();
        } else {
            other.extend(text.chars().flat_map(char::to_lowercase));
        }
        let at = other.find(&self.text)?;
        Some(match at {
            0 if other.len() == self.text.len() => 0,
            0 => 1,
            _ => 2,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_fits_better() {
        let needle = Needle::new("Caf");
        assert_eq!(
            ["caf", "CAFE", "internet_cafe", "cave"].map(|text| needle.fits(text)),
            [Some(0), Some(1), Some(2), None]
        );
        assert_eq!(Needle::new("É").fits("cafÉ"), Some(2));
        assert_eq!(Needle::new("").fits("anything"), Some(0));
    }
}
