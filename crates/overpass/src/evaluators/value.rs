//! Values, and the reference's conversions between strings and numbers.
//!
//! In the reference, every value is a string. A string that C's `strtoll` accepts with base 0 is a whole number;
//! therefore `010` is eight. Otherwise a string that `strtod` accepts is a number. Results are printed with 14
//! significant digits, and the next operator parses them again. Here, numbers stay numbers if this makes no difference.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::set::DerivedGeometry;
use terrapin_budget as budget;

/// The value of an evaluator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EvaluatorValue {
    /// A whole number.
    Int(i64),
    /// A number that is not whole, and that does not change if it is printed with 14 significant digits and parsed
    /// again.
    Float(f64),
    /// A fixed-point number without its point, and the number of decimals to print.
    Decimal(i64, u8),
    /// Any other string.
    Text(String),
    /// A geometry; `None` if it is missing.
    Shape(Option<Box<DerivedGeometry>>),
}

impl EvaluatorValue {
    /// The empty string.
    pub const EMPTY: EvaluatorValue = EvaluatorValue::Text(String::new());

    /// Returns the value of a computed number.
    pub fn number(value: f64) -> EvaluatorValue {
        if value.trunc() == value && value.abs() < 1e14 && !(value == 0.0 && value.is_sign_negative()) {
            return EvaluatorValue::Int(value as i64);
        }
        EvaluatorValue::Float(if value.is_finite() { rounded(value) } else { value })
    }

    /// Returns the value of an angle in units of 1e-7 degrees.
    pub fn degrees(value: i64) -> EvaluatorValue {
        EvaluatorValue::Decimal(value, 7)
    }

    /// Returns the value of a length in metres, already rounded to the millimetre.
    pub fn metres(value: f64) -> EvaluatorValue {
        EvaluatorValue::Decimal(libm::round(value * 1000.0) as i64, 3)
    }

    /// Returns `1` or `0`.
    pub fn flag(value: bool) -> EvaluatorValue {
        EvaluatorValue::Int(i64::from(value))
    }

    /// Returns a copy. Charges its bytes to the budget before they are allocated.
    pub fn charged_clone(&self) -> EvaluatorValue {
        match self {
            EvaluatorValue::Text(text) => budget::charge(text.len() as u64),
            EvaluatorValue::Shape(Some(shape)) => budget::charge(shape.bytes()),
            _ => {}
        }
        self.clone()
    }

    /// Returns the value of a string.
    pub fn text(value: &str) -> EvaluatorValue {
        EvaluatorValue::Text(value.to_owned())
    }

    /// Returns the value of an evaluator that requires a number and has none.
    pub fn not_a_number() -> EvaluatorValue {
        EvaluatorValue::text("NaN")
    }

    /// Returns the value as a whole number, if the whole string is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            EvaluatorValue::Int(value) => Some(*value),
            EvaluatorValue::Text(text) => parse_int(text).filter(|(_, end)| *end == text.len()).map(|(value, _)| value),
            _ => None,
        }
    }

    /// Returns the value as a number, if the whole string is one.
    pub fn float(&self) -> Option<f64> {
        match self {
            EvaluatorValue::Int(value) => Some(*value as f64),
            EvaluatorValue::Float(value) => Some(*value),
            EvaluatorValue::Decimal(value, places) => Some(*value as f64 / 10f64.powi(i32::from(*places))),
            EvaluatorValue::Text(text) => {
                parse_float(text).filter(|(_, end, _)| *end == text.len()).map(|(value, ..)| value)
            }
            EvaluatorValue::Shape(_) => None,
        }
    }

    /// Returns whether the value counts as true: neither empty nor zero.
    pub fn is_true(&self) -> bool {
        match self {
            EvaluatorValue::Text(text) if text.is_empty() => false,
            EvaluatorValue::Shape(shape) => shape.is_some(),
            other => other.float() != Some(0.0),
        }
    }

    /// Returns whether the value is the empty string.
    pub fn is_empty(&self) -> bool {
        matches!(self, EvaluatorValue::Text(text) if text.is_empty())
    }

    /// Returns the value as a string.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            EvaluatorValue::Int(value) => value.to_string().into(),
            EvaluatorValue::Float(value) => crate::syntax::number_text(*value).into(),
            EvaluatorValue::Decimal(value, places) => {
                let sign = if *value < 0 { "-" } else { "" };
                let (size, unit) = (value.unsigned_abs(), 10u64.pow(u32::from(*places)));
                format!("{sign}{}.{:0width$}", size / unit, size % unit, width = usize::from(*places)).into()
            }
            EvaluatorValue::Text(text) => text.into(),
            EvaluatorValue::Shape(_) => "".into(),
        }
    }

    /// Converts the value to a string.
    pub fn into_text(self) -> String {
        match self {
            EvaluatorValue::Text(text) => text,
            other => other.to_text().into_owned(),
        }
    }

    /// Compares two values as whole numbers, otherwise as numbers, otherwise as strings. Returns `None` if one of two
    /// numbers is NaN.
    pub fn compare(&self, other: &EvaluatorValue) -> Option<Ordering> {
        if let (Some(a), Some(b)) = (self.int(), other.int()) {
            return Some(a.cmp(&b));
        }
        if let (Some(a), Some(b)) = (self.float(), other.float()) {
            return a.partial_cmp(&b);
        }
        Some(self.to_text().as_bytes().cmp(other.to_text().as_bytes()))
    }
}

/// Rounds to 14 significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.13e}").parse().unwrap_or(value)
}

/// Returns the number of leading white-space bytes, as C defines white space.
fn after_space(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| matches!(b, b' ' | b'\t'..=b'\r')).count()
}

/// Parses the whole number at the start of a string like `strtoll` with base 0, and returns it with its end. A number
/// out of range becomes the nearest one in range.
pub(super) fn parse_int(text: &str) -> Option<(i64, usize)> {
    let bytes = text.as_bytes();
    let mut at = after_space(bytes);
    let negative = bytes.get(at) == Some(&b'-');
    if matches!(bytes.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let hexadecimal = bytes.get(at) == Some(&b'0')
        && matches!(bytes.get(at + 1), Some(b'x' | b'X'))
        && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit);
    let base: i128 = match bytes.get(at) {
        Some(b'0') if hexadecimal => {
            at += 2;
            16
        }
        Some(b'0') => 8,
        _ => 10,
    };
    let start = at;
    let mut value: i128 = 0;
    while let Some(digit) = bytes.get(at).and_then(|&b| char::from(b).to_digit(base as u32)) {
        value = (value * base + i128::from(digit)).min(1 << 64);
        at += 1;
    }
    if at == start {
        return None;
    }
    let value = if negative { -value } else { value };
    Some((value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64, at))
}

/// Parses the number at the start of a string like `strtod`. Returns it with its end, and whether it is too large or
/// too small for a double.
pub(super) fn parse_float(text: &str) -> Option<(f64, usize, bool)> {
    let bytes = text.as_bytes();
    let mut at = after_space(bytes);
    let negative = bytes.get(at) == Some(&b'-');
    if matches!(bytes.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let signed = |value: f64| if negative { -value } else { value };
    let rest = bytes.get(at..).unwrap_or_default();
    let word = |word: &str| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    if word("infinity") {
        return Some((signed(f64::INFINITY), at + 8, false));
    }
    if word("inf") {
        return Some((signed(f64::INFINITY), at + 3, false));
    }
    if word("nan") {
        // Explicitly positive: a sign in the text is applied afterwards.
        return Some((signed(f64::NAN.copysign(1.0)), at + 3, false));
    }
    if word("0x") {
        if let Some((value, length)) = parse_hexadecimal(&rest[2..]) {
            return Some((signed(value), at + 2 + length, false));
        }
        return Some((signed(0.0), at + 1, false));
    }
    let digits = |from: usize| rest.iter().skip(from).take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut end = whole;
    let mut fraction = 0;
    if rest.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let number = text.get(at..at + end)?;
    let value: f64 = number.parse().ok()?;
    let zero = !number.bytes().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9'));
    let out_of_range = value.is_infinite() || (value.abs() < f64::MIN_POSITIVE && !zero);
    Some((signed(value), at + end, out_of_range))
}

/// Parses `1.8p3` after `0x`: returns its value and length.
fn parse_hexadecimal(bytes: &[u8]) -> Option<(f64, usize)> {
    let mut value = 0.0;
    let mut scale = 0i32;
    let mut at = 0;
    let mut digits = 0;
    let mut point = false;
    while let Some(&byte) = bytes.get(at) {
        if let Some(digit) = char::from(byte).to_digit(16) {
            value = value * 16.0 + f64::from(digit);
            scale -= if point { 4 } else { 0 };
            digits += 1;
        } else if byte == b'.' && !point {
            point = true;
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    if matches!(bytes.get(at), Some(b'p' | b'P')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let length = bytes.iter().skip(at + 1 + sign).take_while(|b| b.is_ascii_digit()).count();
        if length > 0 {
            let text = std::str::from_utf8(&bytes[at + 1..at + 1 + sign + length]).unwrap_or_default();
            scale = scale.saturating_add(text.parse().unwrap_or(if text.starts_with('-') { -5000 } else { 5000 }));
            at += 1 + sign + length;
        }
    }
    Some((libm::ldexp(value, scale.clamp(-5000, 5000)), at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> EvaluatorValue {
        EvaluatorValue::text(value)
    }

    #[test]
    fn strings_that_look_like_numbers_are_numbers() {
        for (string, int) in [
            ("1", Some(1)),
            ("+1", Some(1)),
            (" 1", Some(1)),
            ("1 ", None),
            ("010", Some(8)),
            ("09", None),
            ("0x1F", Some(31)),
            ("1.0", None),
            ("", None),
            ("-", None),
            ("99999999999999999999", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
        ] {
            assert_eq!(text(string).int(), int, "{string:?}");
        }
        for (string, float) in [
            ("1.0", Some(1.0)),
            (".5", Some(0.5)),
            ("1.", Some(1.0)),
            ("1e3", Some(1000.0)),
            ("5e", None),
            ("09", Some(9.0)),
            ("0x1p3", Some(8.0)),
            ("1e400", Some(f64::INFINITY)),
            ("Infinity", Some(f64::INFINITY)),
            ("1,5", None),
            (".", None),
            ("1.0.0", None),
        ] {
            assert_eq!(text(string).float(), float, "{string:?}");
        }
    }

    #[test]
    fn numbers_have_fourteen_digits() {
        for (value, string) in [
            (1.0 / 3.0, "0.33333333333333"),
            (1e20, "1e+20"),
            (123456789012345680.0, "1.2345678901235e+17"),
            (1e15 + 0.5, "1e+15"),
            (150_000_000_000_000.0, "1.5e+14"),
            (15_000_000_000_000.0, "15000000000000"),
            (123456789.12345679, "123456789.12346"),
            (0.000012345, "1.2345e-05"),
            (0.00012345, "0.00012345"),
            (1e100, "1e+100"),
            (-0.0, "-0"),
            (0.1 + 0.2, "0.3"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(EvaluatorValue::number(value).to_text(), string);
        }
    }

    #[test]
    fn comparison_is_numeric_where_both_are_numbers() {
        assert_eq!(text("10").compare(&text("9")), Some(Ordering::Greater));
        assert_eq!(text("10").compare(&text("9a")), Some(Ordering::Less));
        assert_eq!(text("1").compare(&text("1.0")), Some(Ordering::Equal));
        assert_eq!(text("nan").compare(&text("nan")), None);
        assert_eq!(text("").compare(&EvaluatorValue::Int(0)), Some(Ordering::Less));
    }

    #[test]
    fn empty_and_zero_are_false() {
        for (string, truth) in [("", false), ("0", false), ("-0", false), ("0.0", false), ("no", true), ("0 ", true)] {
            assert_eq!(text(string).is_true(), truth, "{string:?}");
        }
    }

    #[test]
    fn degrees_keep_their_decimals() {
        assert_eq!(EvaluatorValue::degrees(-1_698_613_410).to_text(), "-169.8613410");
        assert_eq!(EvaluatorValue::degrees(-1).to_text(), "-0.0000001");
        assert_eq!(EvaluatorValue::metres(1156.07).to_text(), "1156.070");
        assert_eq!(EvaluatorValue::metres(1156.07).float(), Some(1156.07));
    }
}
