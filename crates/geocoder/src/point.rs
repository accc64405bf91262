//! Parses positions in a text: `35.8978, 14.5125`, `35°53'52"N 14°30'45"E`.

use terrapin_osm::Coord;

/// Returns the position in a text and the rest of the text; `None` without a position.
pub fn point(text: &str) -> Option<(Coord, String)> {
    let tokens = tokens(text);
    // Takes the first position, with as many tokens as possible.
    for from in 0..tokens.len() {
        for to in (from + 1..=tokens.len().min(from + LONGEST)).rev() {
            if let Some(at) = position(&tokens[from..to]) {
                let (start, end) = (tokens[from].start, tokens[to - 1].end);
                let rest = format!("{} {}", &text[..start], &text[end..]);
                return Some((at, rest.trim_matches(|c: char| c.is_whitespace() || c == ',').to_owned()));
            }
        }
    }
    None
}

/// Maximum number of tokens of a position: degrees, minutes, seconds and a letter, twice.
const LONGEST: usize = 8;
/// Maximum number of tokens of a text.
const TOKENS: usize = 64;

#[derive(Debug, Clone, Copy)]
enum CoordinateToken {
    /// A number, and whether it has a sign or decimals.
    Number(f64, bool),
    /// `N`, `S`, `E` or `W`; the sign is positive for north and east.
    Letter {
        is_lat: bool,
        sign: f64,
    },
    Other,
}

#[derive(Debug, Clone, Copy)]
struct PointToken {
    said: CoordinateToken,
    start: usize,
    end: usize,
    /// Whether a comma precedes it, with or without spaces.
    comma: bool,
}

/// Splits a text into numbers and letters. Separators are spaces, commas, and signs of degrees, minutes and seconds.
fn tokens(text: &str) -> Vec<PointToken> {
    let is_between = |c: char| c.is_whitespace() || ",;°º'′’\"″”“".contains(c);
    let mut all: Vec<PointToken> = Vec::new();
    let (mut at, mut comma) = (0, false);
    while let Some(c) = text[at..].chars().next() {
        if all.len() == TOKENS {
            break;
        }
        if is_between(c) {
            comma |= c == ',' || c == ';';
            at += c.len_utf8();
            continue;
        }
        let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+';
        let of_number = text[at..].chars().take_while(|c| is_number(*c)).count();
        let length = match of_number {
            0 => text[at..].chars().take_while(|c| !is_between(*c) && !is_number(*c)).map(char::len_utf8).sum(),
            length => length,
        };
        let word = &text[at..at + length];
        let said = match word {
            "N" | "n" => CoordinateToken::Letter { is_lat: true, sign: 1.0 },
            "S" | "s" => CoordinateToken::Letter { is_lat: true, sign: -1.0 },
            "E" | "e" | "O" => CoordinateToken::Letter { is_lat: false, sign: 1.0 },
            "W" | "w" => CoordinateToken::Letter { is_lat: false, sign: -1.0 },
            _ if of_number > 0 => match word.parse::<f64>() {
                Ok(number) => CoordinateToken::Number(number, word.contains(['.', '-', '+'])),
                Err(_) => CoordinateToken::Other,
            },
            _ => CoordinateToken::Other,
        };
        all.push(PointToken { said, start: at, end: at + length, comma });
        (at, comma) = (at + length, false);
    }
    all
}

/// Parses tokens as a position; all of them must belong to it.
fn position(tokens: &[PointToken]) -> Option<Coord> {
    let letters = tokens.iter().filter(|token| matches!(token.said, CoordinateToken::Letter { .. })).count();
    let (lat, lon) = match (letters, tokens) {
        // Two numbers are a position only with decimals or signs, because house numbers and codes have none.
        (
            0,
            [
                PointToken { said: CoordinateToken::Number(lat, a), .. },
                PointToken { said: CoordinateToken::Number(lon, b), .. },
            ],
        ) if *a && *b => (*lat, *lon),
        (2, _) => {
            let first = tokens.iter().position(|token| matches!(token.said, CoordinateToken::Letter { .. }))?;
            // Letters are after their numbers, or before them.
            let middle = if first == 0 {
                1 + tokens[1..].iter().position(|t| matches!(t.said, CoordinateToken::Letter { .. }))?
            } else {
                first + 1
            };
            let (a, b) = (angle(&tokens[..middle])?, angle(&tokens[middle..])?);
            match (a, b) {
                ((true, lat), (false, lon)) | ((false, lon), (true, lat)) => (lat, lon),
                _ => return None,
            }
        }
        _ => return None,
    };
    coord(lat, lon)
}

/// Parses up to three numbers and a letter: whether it is a latitude, and its degrees.
fn angle(tokens: &[PointToken]) -> Option<(bool, f64)> {
    let (letter, numbers) = match tokens {
        [PointToken { said: CoordinateToken::Letter { is_lat, sign }, .. }, numbers @ ..]
        | [numbers @ .., PointToken { said: CoordinateToken::Letter { is_lat, sign }, .. }] => {
            ((*is_lat, *sign), numbers)
        }
        _ => return None,
    };
    if numbers.is_empty() || numbers.len() > 3 || numbers[1..].iter().any(|token| token.comma) {
        return None;
    }
    let mut degrees = 0.0;
    for (token, part) in numbers.iter().zip([1.0, 60.0, 3600.0]) {
        let CoordinateToken::Number(number, _) = token.said else { return None };
        if number < 0.0 || (part > 1.0 && number >= 60.0) {
            return None;
        }
        degrees += number / part;
    }
    Some((letter.0, degrees * letter.1))
}

/// Makes a position of degrees; `None` if it is off the globe.
pub fn coord(lat: f64, lon: f64) -> Option<Coord> {
    let fixed = |degrees: f64, most: f64| {
        (degrees.is_finite() && degrees.abs() <= most).then(|| libm::round(degrees * 1e7) as i32)
    };
    Some(Coord { lat: fixed(lat, 90.0)?, lon: fixed(lon, 180.0)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_the_globe() {
        assert_eq!(coord(35.8987, -0.5), Some(Coord { lat: 358_987_000, lon: -5_000_000 }));
        assert!(coord(91.0, 0.0).is_none() && coord(0.0, f64::NAN).is_none());
    }

    #[test]
    fn positions_as_people_write_them() {
        let degrees = |text: &str| point(text).map(|(at, rest)| (at.lat, at.lon, rest));
        let valletta = |rest: &str| Some((358_978_000, 145_125_000, rest.to_owned()));
        for text in [
            "35.8978,14.5125",
            " 35.8978  14.5125 ",
            "N35.8978 E14.5125",
            "35.8978°N, 14.5125°E",
            "14.5125 E 35.8978 N",
        ] {
            assert_eq!(degrees(text), valletta(""), "{text}");
        }
        assert_eq!(degrees("35°53'52.08\"N 14°30'45\"E"), valletta(""));
        assert_eq!(degrees("N 35 53.868 E 14 30.75"), valletta(""));
        assert_eq!(degrees("pub near 35.8978, 14.5125"), valletta("pub near"));
        assert_eq!(degrees("-35.5, +14.25"), Some((-355_000_000, 142_500_000, String::new())));
    }

    #[test]
    fn other_numbers_are_none() {
        for text in ["", "12 Main Street", "35, 14", "91.5, 14.5", "1.5", "35.5 N", "N S", "12.5 N 13.5 N", "A1.5B 2.5"]
        {
            assert_eq!(point(text).map(|(at, _)| at), None, "{text}");
        }
        assert!(point(&"1 ".repeat(10_000)).is_none() && point(&"N 1 ".repeat(10_000)).is_none());
    }
}
