//! House numbers: a form for comparison that ignores spelling, and recognition in a text.

use terrapin_osm::names::words;

/// Maximum number of words of a number.
const WORDS: usize = 4;
/// Maximum length of a word after the digits that belongs to the number: `12 a`.
const LETTERS: usize = 2;
/// Longer words after a number that belong to it.
const BEHIND: [&str; 4] = ["bis", "ter", "quater", "quinquies"];
/// Words before a number: `No 44`, `№ 5`.
const FRONT: [&str; 6] = ["no", "nr", "num", "numero", "number", "nummer"];
/// Maximum number of houses of one element with `addr:interpolation`; a larger range is a mistake, or a number like
/// `1-100`.
const MOST: u32 = 80;

/// A house number of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HouseNumber {
    /// The text.
    pub text: String,
    /// Its digits and letters, separated.
    tokens: Vec<String>,
    /// Whether only houses with exactly this text match.
    as_written: bool,
}

impl HouseNumber {
    /// Parses a text; `None` without digits and letters.
    pub fn new(text: &str) -> Option<HouseNumber> {
        let tokens = tokens(text);
        (!tokens.is_empty()).then(|| HouseNumber { text: text.trim().to_owned(), tokens, as_written: false })
    }

    /// Makes a number that matches only this text: `B-10 (10027)`, `6, puerta A`.
    pub fn as_written(text: &str) -> Option<HouseNumber> {
        Some(HouseNumber { as_written: true, ..HouseNumber::new(text)? })
    }

    /// Returns whether it begins with a digit. Others are house names: `Warring`.
    pub fn is_number(&self) -> bool {
        !self.as_written && self.tokens[0].starts_with(|c: char| c.is_ascii_digit())
    }

    /// Returns its value if it has only digits.
    pub fn value(&self) -> Option<u32> {
        match self.tokens.as_slice() {
            [only] if !self.as_written => only.parse().ok(),
            _ => None,
        }
    }

    /// Returns spellings that are common in the data.
    pub fn writings(&self) -> Vec<String> {
        let mut all = vec![self.text.clone(), self.text.to_lowercase(), self.text.to_uppercase()];
        for between in ["", " ", "-", "/"] {
            let joined = self.tokens.join(between);
            all.extend([joined.to_uppercase(), joined]);
        }
        let title = self.text.split(' ').map(|word| {
            let mut letters = word.chars();
            letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
        });
        all.push(title.collect::<Vec<String>>().join(" "));
        let mut capital = self.tokens.join(" ");
        if let Some(first) = capital.get(..1) {
            let first = first.to_uppercase();
            capital.replace_range(..1, &first);
            all.push(capital);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Compares it with values of `addr:housenumber` and `addr:interpolation`: 0 if equal, in a list, between slashes
    /// or in the range; `None` if different.
    pub fn fits(&self, value: &str, interpolation: Option<&str>) -> Option<u8> {
        if tokens(value) == self.tokens {
            return Some(0);
        }
        let mut fit = None;
        for piece in value.split([';', ',']) {
            if tokens(piece) == self.tokens {
                return Some(0);
            }
            if piece.contains('/') && piece.split('/').any(|part| tokens(part) == self.tokens) {
                fit = Some(0);
            }
        }
        let has = |steps: &str| Some(range_of(value, steps)?.has(self.value()?));
        match interpolation.and_then(has) {
            Some(true) => Some(0),
            _ => fit,
        }
    }

    /// Returns the numbers at the start of a text, each with the count of its words; the shortest first.
    pub fn in_front(words: &[String]) -> Vec<(HouseNumber, usize)> {
        let skip = usize::from(words.first().is_some_and(|word| FRONT.contains(&word.as_str())));
        let Some(first) = words.get(skip).filter(|word| begins_with_digit(word)) else { return Vec::new() };
        let mut all: Vec<(HouseNumber, usize)> = Vec::new();
        let mut text = first.clone();
        for (end, word) in words.iter().enumerate().skip(skip + 1) {
            all.extend(HouseNumber::new(&text).map(|number| (number, end)));
            if end - skip >= WORDS || !may_follow(word) {
                break;
            }
            text = format!("{text} {word}");
        }
        all
    }

    /// Returns the numbers at the end of a text, each with the count of words before it; the longest first.
    pub fn behind(words: &[String]) -> Vec<(HouseNumber, usize)> {
        let first = words.len().saturating_sub(WORDS).max(1);
        let mut all = Vec::new();
        for from in first..words.len() {
            if !begins_with_digit(&words[from]) || !words[from + 1..].iter().all(|word| may_follow(word)) {
                continue;
            }
            let is_marked = from > 1 && FRONT.contains(&words[from - 1].as_str());
            let number = HouseNumber::new(&words[from..].join(" "));
            all.extend(number.map(|number| (number, if is_marked { from - 1 } else { from })));
        }
        all
    }

    /// Returns the number if the whole part of a text is one.
    pub fn whole(words: &[String]) -> Option<HouseNumber> {
        let skip = usize::from(words.len() > 1 && FRONT.contains(&words[0].as_str()));
        let (first, rest) = words[skip.min(words.len())..].split_first()?;
        let is_one = begins_with_digit(first) && rest.len() < WORDS && rest.iter().all(|word| may_follow(word));
        if is_one { HouseNumber::new(&words.join(" ")) } else { None }
    }
}

/// Numbers from one to another in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberRange {
    low: u32,
    high: u32,
    step: u32,
}

impl NumberRange {
    /// Makes the range between two house numbers, by the value of `addr:interpolation`; `None` for other values.
    pub fn new(a: u32, b: u32, steps: &str) -> Option<NumberRange> {
        let (low, high) = (a.min(b), a.max(b));
        let step = match steps {
            "odd" | "even" => 2,
            "all" | "alphabetic" => 1,
            number => number.parse::<u32>().ok().filter(|step| (1..=MOST).contains(step))?,
        };
        // Numbers of one side of a street: an even range from an odd number begins at the next number.
        let low = match steps {
            "odd" => low | 1,
            "even" => low.checked_add(low % 2)?,
            _ => low,
        };
        Some(NumberRange { low, high, step })
    }

    /// Returns whether a number is in the range.
    pub fn has(&self, number: u32) -> bool {
        (self.low..=self.high).contains(&number) && (number - self.low).is_multiple_of(self.step)
    }

    /// Returns the number of the range nearest to another; `None` if the range is empty.
    pub fn nearest(&self, number: u32) -> Option<u32> {
        let (low, high, step) = (u64::from(self.low), u64::from(self.high), u64::from(self.step));
        let steps = (u64::from(number.min(self.high)).saturating_sub(low) + step / 2) / step;
        let nearest = low + steps * step;
        let nearest = if nearest > high { nearest.checked_sub(step)? } else { nearest };
        if (low..=high).contains(&nearest) { u32::try_from(nearest).ok() } else { None }
    }
}

/// Parses a number like `1-5` with `addr:interpolation` as a range.
fn range_of(value: &str, steps: &str) -> Option<NumberRange> {
    let (a, b) = value.split_once('-')?;
    let (a, b) = (a.trim().parse::<u32>().ok()?, b.trim().parse::<u32>().ok()?);
    NumberRange::new(a, b, steps).filter(|range| a < b && range.high - range.low < MOST)
}

fn begins_with_digit(word: &str) -> bool {
    word.chars().next().is_some_and(|c| digit(c).is_some())
}

fn may_follow(word: &str) -> bool {
    begins_with_digit(word) || word.chars().count() <= LETTERS || BEHIND.contains(&word)
}

/// Splits a text into digits and letters, so that `501-H 1` and `501h1` are equal. Digits of all scripts become ASCII.
/// Cyrillic letters become Latin, because they are often typed on Latin keyboards.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in words(text) {
        let mut is_digits = None;
        for c in word.chars() {
            let (c, digits) = match digit(c) {
                Some(digit) => (digit, true),
                None => (c, false),
            };
            if is_digits != Some(digits) {
                tokens.push(String::new());
                is_digits = Some(digits);
            }
            if let Some(token) = tokens.last_mut() {
                match CYRILLIC.iter().find(|(cyrillic, _)| *cyrillic == c) {
                    Some((_, latin)) => token.push(*latin),
                    None => token.push(c),
                }
            }
        }
    }
    if tokens.len() > 1 && FRONT.contains(&tokens[0].as_str()) && begins_with_digit(&tokens[1]) {
        tokens.remove(0);
    }
    for token in &mut tokens {
        let zeros = token.bytes().take_while(|b| *b == b'0').count();
        if zeros > 0 && token.bytes().all(|b| b.is_ascii_digit()) {
            token.drain(..zeros.min(token.len() - 1));
        }
    }
    tokens
}

/// Returns the ASCII digit for a decimal digit of any script.
fn digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let at = ZEROS.partition_point(|zero| *zero <= u32::from(c)).checked_sub(1)?;
    char::from_digit(u32::from(c) - ZEROS[at], 10)
}

/// The zeros of Unicode's decimal digits (general category Nd), except those with a compatibility decomposition.
const ZEROS: [u32; 58] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450,
    0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1e140, 0x1e2f0, 0x1e950,
];

/// Letters of Cyrillic house numbers, folded, and their Latin letters.
const CYRILLIC: [(char, char); 12] = [
    ('а', 'a'),
    ('б', 'b'),
    ('в', 'v'),
    ('г', 'g'),
    ('д', 'd'),
    ('е', 'e'),
    ('ж', 'z'),
    ('з', 'z'),
    ('и', 'i'),
    ('к', 'k'),
    ('л', 'l'),
    ('с', 's'),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(asked: &str, value: &str) -> Option<u8> {
        HouseNumber::new(asked).unwrap().fits(value, None)
    }

    /// The forms that Nominatim's scenarios for house numbers have.
    #[test]
    fn numbers_are_alike_however_they_are_written() {
        for group in [
            &["2a", "2 A", "2-a", "2/A", "02a"][..],
            &["34-10", "34 10", "34/10"],
            &["45bis", "45BIS", "45 BIS", "45 bis"],
            &["501 H1", "501H 1", "501/H/1", "501h1", "501-H 1"],
            &["55к3", "55 к3", "55 k3", "55 к-3"],
            &["45", "④⑤", "𑁪𑁫", "No 45", "№45"],
            &["731/27", "731-27"],
        ] {
            for a in group {
                for b in group {
                    assert_eq!(fits(a, b), Some(0), "{a} {b}");
                }
            }
        }
        assert_eq!([fits("3410", "34-10"), fits("2", "2a"), fits("12", "1;2")], [None; 3]);
    }

    #[test]
    fn a_list_has_numbers() {
        for (asked, list, fit) in [
            ("4", "2;4;12", Some(0)),
            ("12", "2, 4, 12", Some(0)),
            ("67", "45 ;67;3", Some(0)),
            ("1k", "1a;1k", Some(0)),
            ("678", "34/678", Some(0)),
            ("34/678", "34/678", Some(0)),
            ("3", "2;4;12", None),
        ] {
            assert_eq!(fits(asked, list), fit, "{asked} {list}");
        }
    }

    /// Nominatim's scenarios for `addr:interpolation` on houses.
    #[test]
    fn a_house_may_have_a_range() {
        let fits = |asked: &str, value, steps| HouseNumber::new(asked).unwrap().fits(value, Some(steps));
        assert_eq!(["1", "2", "3", "5"].map(|n| fits(n, "1-5", "odd")), [Some(0), None, Some(0), Some(0)]);
        assert_eq!(
            [fits("3", "1-5", "bad"), fits("1-5", "1-5", "bad"), fits("3", "1-100", "all")],
            [None, Some(0), None]
        );
        let range = NumberRange::new(2, 18, "even").unwrap();
        assert_eq!([9, 10, 30, 0].map(|n| range.nearest(n)), [Some(10), Some(10), Some(18), Some(2)]);
        assert!(
            NumberRange::new(1, u32::MAX, "even").is_some() && NumberRange::new(u32::MAX, u32::MAX, "even").is_none()
        );
    }

    #[test]
    fn words_are_a_number() {
        let front = |text: &str| -> Vec<(String, usize)> {
            HouseNumber::in_front(&words(text)).into_iter().map(|(number, count)| (number.text, count)).collect()
        };
        assert_eq!(front("12a Old Street"), [("12a".to_owned(), 1)]);
        assert_eq!(front("501-H 1 Herengracht"), [("501".into(), 1), ("501 h".into(), 2), ("501 h 1".into(), 3)]);
        assert_eq!(front("No 44 Main"), [("44".to_owned(), 2)]);
        assert!(front("Old 12").is_empty() && front("12").is_empty() && front("").is_empty());
        let behind = |text: &str| -> Vec<(String, usize)> {
            HouseNumber::behind(&words(text)).into_iter().map(|(number, count)| (number.text, count)).collect()
        };
        assert_eq!(behind("Rue Paris 45 bis"), [("45 bis".to_owned(), 2)]);
        assert_eq!(behind("Chester 34/10"), [("34 10".to_owned(), 1), ("10".to_owned(), 2)]);
        assert_eq!(behind("Main No 44"), [("44".to_owned(), 1)]);
        assert!(behind("12").is_empty() && behind("").is_empty());
        for (text, is_one) in
            [("731/27", true), ("12 a", true), ("46;48", true), ("No 44", true), ("5th Avenue", false)]
        {
            assert_eq!(HouseNumber::whole(&words(text)).is_some(), is_one, "{text}");
        }
    }

    #[test]
    fn zeros_are_in_order() {
        assert!(ZEROS.is_sorted() && digit('٣') == Some('3') && digit('x').is_none() && digit('三').is_none());
    }
}
