//! Words of the language: strings, keys, values, regular expressions, dates, places.

use terrapin_loaders::SourceElementType;

use super::DifferGenerator;
use crate::piece::{QueryPiece, row};

impl DifferGenerator<'_> {
    /// A key and a value that an element near has.
    pub(super) fn tag(&mut self, kind: Option<SourceElementType>) -> (String, String) {
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
        if self.maybe(20, "expression [:class:]") {
            return self.class(&letters, &part);
        }
        if self.maybe(8, "expression [a-b]") {
            return self.range(&letters);
        }
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

    /// A range of characters, which some of the text's may be in, also beyond ASCII and now and then downwards.
    fn range(&mut self, letters: &[char]) -> String {
        let letter = if letters.is_empty() { 'm' } else { *self.random.pick(letters) };
        let letter = if letter.is_alphanumeric() { letter } else { 'm' };
        let span = 1 + self.random.below(40) as u32;
        let low = char::from_u32(u32::from(letter).saturating_sub(span)).unwrap_or('a');
        let high = char::from_u32(u32::from(letter) + span / 2).unwrap_or('z');
        let (low, high) = if self.random.chance(8) { (high, low) } else { (low, high) };
        // These would need a place of their own within brackets.
        let plain = |c: char| if "[]^-\\".contains(c) || c.is_control() { letter } else { c };
        let no = if self.random.chance(20) { "^" } else { "" };
        format!("[{no}{}-{}]", plain(low), plain(high))
    }

    /// A class of characters, which some of the text's may be in.
    fn class(&mut self, letters: &[char], part: &str) -> String {
        let class = *self.random.pick(&CLASSES);
        let no = if self.random.chance(20) { "^" } else { "" };
        let length = letters.len();
        match self.random.below(5) {
            0 => format!("[{no}[:{class}:]]"),
            1 => format!("^[{no}[:{class}:]]*$"),
            2 => format!("[{no}[:{class}:]]{part}"),
            3 => format!("^.{{{}}}[{no}[:{class}:]]", self.random.below(length)),
            _ => (*self.random.pick(&["\\w", "\\W", "^\\s", "\\S\\W", "\\w\\b", "\\<\\w+\\>$"])).to_owned(),
        }
    }

    /// Returns a tag whose value has letters other than those of English, if one is nearby.
    fn foreign(&mut self, kind: Option<SourceElementType>) -> (String, String) {
        let mut tag = self.tag(kind);
        for _ in 0..8 {
            if !tag.1.is_ascii() {
                break;
            }
            tag = self.tag(kind);
        }
        tag
    }

    /// Returns the tag to match; sometimes one in another script.
    pub(super) fn matched_tag(&mut self, kind: Option<SourceElementType>) -> (String, String) {
        if self.random.chance(25) { self.foreign(kind) } else { self.tag(kind) }
    }

    /// A moment near the one at which an element was made.
    pub(super) fn moment(&mut self) -> String {
        if self.maybe(3, "moment before all data") {
            return "2001-01-01T00:00:00Z".to_owned();
        }
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
    pub(super) fn bounds(&mut self) -> QueryPiece {
        if self.maybe(25, "box edges on vertices") {
            return self.bounds_on_vertices();
        }
        let half = *self.random.pick(&[0.0005, 0.002, 0.005, 0.01, 0.02, 0.1]);
        let (lat, lon) = self.place(half);
        let side = |degrees: f64| QueryPiece::number(format!("{degrees:.5}"));
        row![side(lat - half), ",", side(lon - half), ",", side(lat + half), ",", side(lon + half)]
    }

    /// Returns a box as above, with each side on a vertex, exactly or one step next to it.
    fn bounds_on_vertices(&mut self) -> QueryPiece {
        let (mut lats, mut lons) = (Vec::new(), Vec::new());
        let one = self.random.chance(30).then(|| self.vertices());
        for _ in 0..2 {
            let vertices = one.clone().unwrap_or_else(|| self.vertices());
            lats.push(self.random.pick(&vertices).0);
            lons.push(self.random.pick(&vertices).1);
        }
        let half = *self.random.pick(&[0.0, 0.0005, 0.005]);
        lats.sort_by(f64::total_cmp);
        lons.sort_by(f64::total_cmp);
        let mut side = |degrees: f64, away: f64| {
            let away = if self.random.chance(25) { away } else { 0.0 };
            degrees_exactly(degrees + away)
        };
        let (south, west) = (side(lats[0], -half - 1e-7), side(lons[0], -half - 1e-7));
        let (north, east) = (side(lats[1], half + 1e-7), side(lons[1], half + 1e-7));
        row![south, ",", west, ",", north, ",", east]
    }

    /// Places that an element near leads through.
    fn vertices(&mut self) -> Vec<(f64, f64)> {
        let sample = self.extract.near(self.anchor, None, &mut self.random);
        let place = (sample.lat, sample.lon);
        if sample.vertices.is_empty() { vec![place] } else { sample.vertices.clone() }
    }
}

/// The names of classes of characters.
const CLASSES: [&str; 12] =
    ["alpha", "alnum", "upper", "lower", "digit", "xdigit", "space", "blank", "punct", "punct", "graph", "print"];

/// A latitude or longitude.
pub(super) fn degrees(value: f64) -> QueryPiece {
    QueryPiece::number(format!("{value:.7}").trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A latitude or longitude that is not simplified, because that would hide differences in exactness.
fn degrees_exactly(value: f64) -> QueryPiece {
    QueryPiece::from(format!("{value:.7}"))
}

/// A string with quotation marks.
pub(super) fn quote(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{text}\"")
}

/// Returns the text with the special characters of regular expressions escaped.
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
