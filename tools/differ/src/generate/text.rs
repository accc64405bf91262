//! Words of the language: strings, keys, values, regular expressions, dates, places.

use terrapin_loaders::ElementType;

use super::Generator;
use crate::piece::{Piece, row};

impl Generator<'_> {
    /// A key and a value that an element near has.
    pub(super) fn tag(&mut self, kind: Option<ElementType>) -> (String, String) {
        let sample = self.extract.tagged(self.anchor, kind, &mut self.random);
        if sample.tags.is_empty() {
            return ("name".to_owned(), "x".to_owned());
        }
        let at = self.random.below(sample.tags.len());
        sample.tags[at].clone()
    }

    /// A key with or without quotation marks.
    pub(super) fn key(&mut self, key: &str) -> String {
        let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && key.starts_with(|c: char| c.is_ascii_alphabetic());
        if plain && self.random.chance(60) { key.to_owned() } else { quote(key) }
    }

    /// A regular expression that has something to do with the text.
    pub(super) fn regex(&mut self, text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let from = self.random.below(letters.len());
        let length = 1 + self.random.below(4);
        let part: String = letters.iter().skip(from).take(length).collect();
        let start: String = letters.iter().take(length).collect();
        let (part, start, whole) = (escape(&part), escape(&start), escape(text));
        match self.random.below(16) {
            0..=2 => format!("^{start}"),
            3 => format!("{}$", escape(&letters.iter().rev().take(2).rev().collect::<String>())),
            4..=5 => part,
            6 => format!("^({whole}|yes|{part})$"),
            7 => ".".to_owned(),
            8 => format!("^.{{{length},}}$"),
            9 => "[0-9]+".to_owned(),
            10 => "[[:upper:]][[:lower:]]*".to_owned(),
            11 => format!("{start}.*"),
            12 => format!("[^{}a-f]", letters.first().filter(|c| c.is_alphanumeric()).unwrap_or(&'x')),
            13 => format!("({part})?{start}"),
            14 => format!("^{whole}$"),
            _ => format!("{start}|^$|o{{1,2}}"),
        }
    }

    /// A moment near the one at which an element was made.
    pub(super) fn moment(&mut self) -> String {
        let sample = self.extract.near(self.anchor, None, &mut self.random);
        let shift = *self.random.pick(&[0, 0, 1, -1, 86_400, -86_400, 31_536_000, -31_536_000]);
        let at = jiff::Timestamp::from_second(sample.timestamp + shift).unwrap_or_default();
        at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// A place near the query's anchor, in degrees.
    pub(super) fn place(&mut self, spread: f64) -> (f64, f64) {
        let sample = self.extract.near(self.anchor, None, &mut self.random);
        let (lat, lon) = (sample.lat, sample.lon);
        if self.random.chance(30) {
            return (lat, lon);
        }
        (lat + self.random.between(-spread, spread), lon + self.random.between(-spread, spread))
    }

    /// South, west, north, east.
    pub(super) fn bounds(&mut self) -> Piece {
        let half = *self.random.pick(&[0.0005, 0.002, 0.005, 0.01, 0.02]);
        let (lat, lon) = self.place(half);
        let side = |degrees: f64| Piece::number(format!("{degrees:.5}"));
        row![side(lat - half), ",", side(lon - half), ",", side(lat + half), ",", side(lon + half)]
    }
}

/// A latitude or longitude.
pub(super) fn degrees(value: f64) -> Piece {
    Piece::number(format!("{value:.7}").trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A string with quotation marks.
pub(super) fn quote(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{text}\"")
}

/// Text that a regular expression takes as it is.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\^$.[]|()*+?{}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
