//! Texts that have another one in them, whatever the case of their letters.

use std::cell::RefCell;

/// A text that is looked for; the empty one is in every text.
#[derive(Debug, Clone)]
pub struct Needle {
    text: String,
    /// The last text that it was looked for in, so that no memory is asked for anew.
    other: RefCell<String>,
}

impl Needle {
    /// Looks for this.
    pub fn new(text: &str) -> Needle {
        Needle { text: text.to_lowercase(), other: RefCell::default() }
    }

    /// How well a text fits: 0 where it is the same, 1 where it begins so, 2 where the needle is elsewhere in it.
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
