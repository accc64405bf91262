//! Decimals of any size, as in Wikidata's quantities: an integer and the number of its fraction digits. Sums, products
//! and comparisons are exact.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, Sign};
use num_integer::Integer as _;
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};

use terrapin_budget as budget;

/// Maximum number of digits before or after the decimal point. A longer number is an overflow (err:FOAR0002). Parsing,
/// formatting and multiplying take time that grows with the square of the digits, and cannot be interrupted.
const MOST_DIGITS: usize = 50_000;
/// Fraction digits of a quotient, unless its operands have more: the minimum of XML Schema.
const QUOTIENT_DIGITS: u32 = 18;
/// 2^53: all doubles from here on are whole numbers.
pub(super) const WHOLE: f64 = 9_007_199_254_740_992.0;
/// Bits per decimal digit, rounded up, in hundredths.
const DIGIT_BITS: u64 = 333;

/// A decimal of any size.
#[derive(Debug, Clone)]
pub(crate) struct WideDecimal {
    /// All digits as one number.
    digits: BigInt,
    /// The number of fraction digits.
    scale: u32,
}

/// Charges an operation on numbers with `bits` bits in total: the memory of its result and its steps.
fn charge(bits: u64) {
    let words = bits / 64 + 1;
    budget::charge(words.saturating_mul(32));
    // The cost of schoolbook multiplication; the library's is not slower.
    budget::checkpoints(usize::try_from(words.saturating_mul(words) / 16).unwrap_or(usize::MAX));
}

/// Returns a power of ten and charges for it.
fn power_of_ten(exponent: u32) -> BigInt {
    charge(u64::from(exponent) * DIGIT_BITS / 100);
    BigInt::from(10).pow(exponent)
}

impl WideDecimal {
    /// Parses a number such as `-12.50`. Returns `None` if the text is not a number or has too many digits.
    pub fn parse(text: &str) -> Option<WideDecimal> {
        let (sign, unsigned) = match text.as_bytes().first()? {
            b'-' => (Sign::Minus, text.get(1..)?),
            b'+' => (Sign::Plus, text.get(1..)?),
            _ => (Sign::Plus, text),
        };
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.len() + fraction.len() == 0 || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if whole.len() > MOST_DIGITS || fraction.len() > MOST_DIGITS {
            return None;
        }
        let all: Cow<'_, str> = if fraction.is_empty() { whole.into() } else { format!("{whole}{fraction}").into() };
        charge(all.len() as u64 * DIGIT_BITS / 100);
        let digits = if all.is_empty() { BigInt::ZERO } else { BigInt::parse_bytes(all.as_bytes(), 10)? };
        let digits = if sign == Sign::Minus { -digits } else { digits };
        Some(WideDecimal { digits, scale: u32::try_from(fraction.len()).ok()? })
    }

    /// Creates a whole number.
    pub fn whole(value: BigInt) -> WideDecimal {
        WideDecimal { digits: value, scale: 0 }
    }

    /// Converts a finite double. From 2^53 on, the value is exact; below, it is the shortest decimal that is read back
    /// as the same double.
    pub fn from_double(value: f64) -> Option<WideDecimal> {
        if !value.is_finite() {
            return None;
        }
        if value.abs() >= WHOLE {
            return BigInt::from_f64(value).map(WideDecimal::whole);
        }
        // `to_string` never writes an exponent.
        WideDecimal::parse(&value.to_string())
    }

    /// Returns the number; `None` if it is too large.
    fn bounded(self) -> Option<WideDecimal> {
        let most = MOST_DIGITS as u64;
        let whole_bits = self.digits.bits().saturating_sub(u64::from(self.scale) * DIGIT_BITS / 100);
        (u64::from(self.scale) <= most && whole_bits <= most * DIGIT_BITS / 100).then_some(self)
    }

    /// Returns the digits scaled to `scale` fraction digits, which must not be fewer than the number's own.
    fn scaled(&self, scale: u32) -> Cow<'_, BigInt> {
        match scale.saturating_sub(self.scale) {
            0 => Cow::Borrowed(&self.digits),
            more => {
                charge(self.digits.bits() + u64::from(more) * DIGIT_BITS / 100);
                Cow::Owned(&self.digits * power_of_ten(more))
            }
        }
    }

    /// Returns the sum; `None` if it is too large.
    pub fn plus(&self, other: &WideDecimal) -> Option<WideDecimal> {
        let scale = self.scale.max(other.scale);
        let digits = self.scaled(scale).as_ref() + other.scaled(scale).as_ref();
        WideDecimal { digits, scale }.bounded()
    }

    /// Returns the difference; `None` if it is too large.
    pub fn minus(&self, other: &WideDecimal) -> Option<WideDecimal> {
        self.plus(&other.negated())
    }

    /// Returns the number with the opposite sign.
    pub fn negated(&self) -> WideDecimal {
        WideDecimal { digits: -&self.digits, scale: self.scale }
    }

    /// Returns the product; `None` if it is too large.
    pub fn times(&self, other: &WideDecimal) -> Option<WideDecimal> {
        charge(self.digits.bits() + other.digits.bits());
        let digits = &self.digits * &other.digits;
        WideDecimal { digits, scale: self.scale.checked_add(other.scale)? }.trimmed().bounded()
    }

    /// Returns the quotient; `None` if the divisor is 0. It has at most 18 fraction digits, or as many as the operand
    /// with the most. Further digits are truncated; a smaller quotient is 0
    /// (<https://www.w3.org/TR/xpath-functions-31/#op.numeric>: underflow).
    pub fn over(&self, other: &WideDecimal) -> Option<WideDecimal> {
        if other.digits.is_zero() {
            return None;
        }
        let scale = QUOTIENT_DIGITS.max(self.scale).max(other.scale);
        // (a / 10^s) / (b / 10^t) = a * 10^t / b / 10^s
        let dividend = self.scaled(scale.checked_add(other.scale)?);
        charge(dividend.bits() + other.digits.bits());
        let digits = dividend.as_ref() / &other.digits;
        WideDecimal { digits, scale }.trimmed().bounded()
    }

    /// Removes trailing zeros of the fraction.
    fn trimmed(mut self) -> WideDecimal {
        let ten = BigInt::from(10);
        while self.scale > 0 {
            let (quotient, rest) = self.digits.div_rem(&ten);
            if !rest.is_zero() {
                break;
            }
            budget::checkpoints(1 + quotient.bits() as usize / 64);
            self.digits = quotient;
            self.scale -= 1;
        }
        self
    }

    /// Returns the largest whole number that is not larger.
    pub fn floor(&self) -> BigInt {
        if self.scale == 0 {
            return self.digits.clone();
        }
        self.digits.div_floor(&power_of_ten(self.scale))
    }

    /// Returns the smallest whole number that is not smaller.
    pub fn ceil(&self) -> BigInt {
        -self.negated().floor()
    }

    /// Returns the nearest whole number; half-way cases are rounded up.
    pub fn round(&self) -> BigInt {
        let half = WideDecimal { digits: BigInt::from(5), scale: 1 };
        self.plus(&half).map_or_else(|| self.floor(), |sum| sum.floor())
    }

    /// Returns the whole part.
    pub fn truncated(&self) -> BigInt {
        if self.digits.is_negative() { self.ceil() } else { self.floor() }
    }

    /// Returns the absolute value.
    pub fn abs(&self) -> WideDecimal {
        WideDecimal { digits: self.digits.abs(), scale: self.scale }
    }

    /// Returns whether the number is 0.
    pub fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    /// Returns the digits and the number of fraction digits, if the digits fit into 128 bits.
    pub fn small(&self) -> Option<(i128, u32)> {
        Some((self.digits.to_i128()?, self.scale))
    }
}

impl Ord for WideDecimal {
    fn cmp(&self, other: &WideDecimal) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.digits.sign().cmp(&other.digits.sign()).then_with(|| self.scaled(scale).cmp(&other.scaled(scale)))
    }
}

impl PartialOrd for WideDecimal {
    fn partial_cmp(&self, other: &WideDecimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for WideDecimal {
    fn eq(&self, other: &WideDecimal) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for WideDecimal {}

/// Formats the canonical form of XML Schema 1.1: no plus sign and no superfluous zeros.
impl fmt::Display for WideDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        charge(self.digits.bits());
        let digits = self.digits.magnitude().to_string();
        if self.digits.is_negative() {
            f.write_str("-")?;
        }
        let scale = self.scale as usize;
        let (whole, fraction) = match digits.len().checked_sub(scale) {
            Some(point) => (digits.get(..point).unwrap_or(""), digits.get(point..).unwrap_or("")),
            None => ("", &*digits),
        };
        f.write_str(if whole.is_empty() { "0" } else { whole })?;
        let zeros = scale.saturating_sub(digits.len());
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() {
            return Ok(());
        }
        f.write_str(".")?;
        (0..zeros).try_for_each(|_| f.write_str("0"))?;
        f.write_str(fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str) -> WideDecimal {
        WideDecimal::parse(text).unwrap()
    }

    #[test]
    fn texts_come_out_in_their_canonical_form() {
        for (text, expected) in [
            ("+5972370000000000000000000", "5972370000000000000000000"),
            ("-007.50", "-7.5"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0.0", "0"),
            ("0.000000000000000000000000012", "0.000000000000000000000000012"),
            ("100", "100"),
        ] {
            assert_eq!(wide(text).to_string(), expected, "{text}");
        }
        for text in ["", ".", "+", "1e5", "1.2.3", "a", " 1", "--1"] {
            assert!(WideDecimal::parse(text).is_none(), "{text}");
        }
        assert!(WideDecimal::parse(&"9".repeat(MOST_DIGITS)).is_some());
        assert!(WideDecimal::parse(&"9".repeat(MOST_DIGITS + 1)).is_none());
    }

    /// The expected values were computed with Python 3's `decimal` and integers.
    #[test]
    fn arithmetic_is_exact() {
        let (a, b) = (wide("880000000000000000000000000.125"), wide("-0.00000000000000000000007"));
        assert_eq!(a.plus(&b).unwrap().to_string(), "880000000000000000000000000.12499999999999999999993");
        assert_eq!(a.minus(&a).unwrap().to_string(), "0");
        assert_eq!(a.times(&b).unwrap().to_string(), "-61600.00000000000000000000000875");
        assert_eq!(wide("1").over(&wide("3")).unwrap().to_string(), "0.333333333333333333");
        assert_eq!(wide("-2").over(&wide("3")).unwrap().to_string(), "-0.666666666666666666");
        assert_eq!(a.over(&wide("0.5")).unwrap().to_string(), "1760000000000000000000000000.25");
        assert_eq!(wide("1").over(&wide("1000000000000000000000000000000")).unwrap().to_string(), "0");
        assert_eq!(
            wide("0.0000000000000000000000002").over(&wide("2")).unwrap().to_string(),
            "0.0000000000000000000000001"
        );
        assert!(wide("1").over(&wide("0.0")).is_none());
    }

    #[test]
    fn rounding_is_that_of_the_standard() {
        for (text, floor, ceil, round, truncated) in [
            ("2.5", "2", "3", "3", "2"),
            ("-2.5", "-3", "-2", "-2", "-2"),
            ("-2.4999", "-3", "-2", "-2", "-2"),
            ("-2.51", "-3", "-2", "-3", "-2"),
            (
                "99999999999999999999.5",
                "99999999999999999999",
                "100000000000000000000",
                "100000000000000000000",
                "99999999999999999999",
            ),
            ("7", "7", "7", "7", "7"),
        ] {
            let number = wide(text);
            let all = [number.floor(), number.ceil(), number.round(), number.truncated()].map(|n| n.to_string());
            assert_eq!(all, [floor, ceil, round, truncated], "{text}");
        }
    }

    #[test]
    fn order_is_that_of_the_values() {
        let mut numbers = ["1", "-100000000000000000000", "0.5", "0.50000000000000000000001", "1e", "-0.1", "20"]
            .iter()
            .filter_map(|text| WideDecimal::parse(text))
            .collect::<Vec<_>>();
        numbers.sort();
        let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["-100000000000000000000", "-0.1", "0.5", "0.50000000000000000000001", "1", "20"]);
        assert_eq!(wide("1.50"), wide("1.5"));
        assert_eq!(WideDecimal::from_double(1e30).unwrap().to_string(), "1000000000000000019884624838656");
        assert_eq!(WideDecimal::from_double(1e-30).unwrap().to_string(), format!("0.{}1", "0".repeat(29)));
    }

    #[test]
    fn what_would_be_too_large_is_an_overflow() {
        let mut number = wide("10");
        let mut squared = 0;
        while let Some(next) = number.times(&number) {
            number = next;
            squared += 1;
        }
        assert_eq!(squared, 15);
    }
}
