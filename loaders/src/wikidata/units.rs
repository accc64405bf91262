//! The units that quantities are converted from, and their base units.
//!
//! The Wikidata Query Service converts with a table of some thousand units; this table has the most common ones. A
//! quantity in another unit has no normalised value.

/// A unit: number of its item, digits and decimal exponent of its factor, number of the base unit's item.
type Unit = (u32, u64, i32, u32);

const METRE: u32 = 11573;
const SQUARE_METRE: u32 = 25343;
const CUBIC_METRE: u32 = 25517;
const KILOGRAM: u32 = 11570;
const SECOND: u32 = 11574;
const METRE_PER_SECOND: u32 = 182_429;
const WATT: u32 = 25236;
const HERTZ: u32 = 39369;

const PASCAL: u32 = 44395;
const KILOGRAM_PER_CUBIC_METRE: u32 = 844_211;

const UNITS: &[Unit] = &[
    (531, 9_460_730_472_580_800, 0, METRE),                // light-year
    (1811, 149_597_870_700, 0, METRE),                     // astronomical unit
    (3710, 3048, -4, METRE),                               // foot
    (7727, 60, 0, SECOND),                                 // minute
    (11570, 1, 0, KILOGRAM),                               // kilogram
    (11573, 1, 0, METRE),                                  // metre
    (11574, 1, 0, SECOND),                                 // second
    (11582, 1, -3, CUBIC_METRE),                           // litre
    (25235, 3600, 0, SECOND),                              // hour
    (25236, 1, 0, WATT),                                   // watt
    (25343, 1, 0, SQUARE_METRE),                           // square metre
    (25517, 1, 0, CUBIC_METRE),                            // cubic metre
    (35852, 10_000, 0, SQUARE_METRE),                      // hectare
    (39369, 1, 0, HERTZ),                                  // hertz
    (41803, 1, -3, KILOGRAM),                              // gram
    (81292, 40_468_564_224, -7, SQUARE_METRE),             // acre
    (100_995, 45_359_237, -8, KILOGRAM),                   // pound
    (174_728, 1, -2, METRE),                               // centimetre
    (174_789, 1, -3, METRE),                               // millimetre
    (180_154, 277_777_777_777_778, -15, METRE_PER_SECOND), // kilometre per hour
    (182_429, 1, 0, METRE_PER_SECOND),                     // metre per second
    (191_118, 1000, 0, KILOGRAM),                          // tonne
    (218_593, 254, -4, METRE),                             // inch
    (232_291, 2_589_988_110_336, -6, SQUARE_METRE),        // square mile
    (253_276, 1_609_344, -3, METRE),                       // mile
    (482_798, 9144, -4, METRE),                            // yard
    (573, 86400, 0, SECOND),                               // day
    (712_226, 1_000_000, 0, SQUARE_METRE),                 // square kilometre
    (732_707, 1_000_000, 0, HERTZ),                        // megahertz
    (828_224, 1000, 0, METRE),                             // kilometre
    (857_027, 9_290_304, -8, SQUARE_METRE),                // square foot
    (2_143_992, 1000, 0, HERTZ),                           // kilohertz
    (3_276_763, 1_000_000_000, 0, HERTZ),                  // gigahertz
    (4_243_638, 1_000_000_000, 0, CUBIC_METRE),            // cubic kilometre
    (6_982_035, 1_000_000, 0, WATT),                       // megawatt
    (11579, 1, 0, 11579),                                  // kelvin
    (25250, 1, 0, 25250),                                  // volt
    (44395, 1, 0, PASCAL),                                 // pascal
    (177_974, 101_325, 0, PASCAL),                         // standard atmosphere
    (794_261, 1, 0, 794_261),                              // cubic metre per second
    (844_211, 1, 0, KILOGRAM_PER_CUBIC_METRE),             // kilogram per cubic metre
    (2_029_519, 1, -1, CUBIC_METRE),                       // hectolitre
    (13_147_228, 1000, 0, KILOGRAM_PER_CUBIC_METRE),       // gram per cubic centimetre
    (21_062_777, 1_000_000, 0, PASCAL),                    // megapascal
];

/// The conversion of a unit to its base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conversion {
    digits: u64,
    power: i32,
    /// Number of the base unit's item.
    pub(super) base: u32,
    /// Whether the unit is its own base unit.
    pub(super) identity: bool,
}

/// Returns the conversion of a unit, given by the number of its item.
pub(super) fn conversion(unit: u32) -> Option<Conversion> {
    let (_, digits, power, base) = *UNITS.iter().find(|(number, ..)| *number == unit)?;
    Some(Conversion { digits, power, base, identity: unit == base })
}

impl Conversion {
    /// Converts a signed decimal number exactly. Returns `None` for other texts.
    pub(super) fn apply(&self, amount: &str) -> Option<String> {
        if self.identity {
            return Some(amount.to_owned());
        }
        let (sign, number) = match amount.split_at_checked(1)? {
            (sign @ ("+" | "-"), number) => (sign, number),
            _ => ("+", amount),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || number.len() > 200 || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit())
        {
            return None;
        }
        // Multiplies digit by digit, from the last one on.
        let mut carry = 0_u128;
        let mut digits: Vec<u8> = Vec::new();
        for byte in whole.bytes().chain(fraction.bytes()).rev() {
            carry += u128::from(byte - b'0') * u128::from(self.digits);
            digits.push(b'0' + u8::try_from(carry % 10).ok()?);
            carry /= 10;
        }
        while carry > 0 {
            digits.push(b'0' + u8::try_from(carry % 10).ok()?);
            carry /= 10;
        }
        let power = self.power - i32::try_from(fraction.len()).ok()?;
        for _ in 0..power {
            digits.insert(0, b'0');
        }
        let behind = usize::try_from(-power.min(0)).ok()?;
        while digits.len() <= behind {
            digits.push(b'0');
        }
        digits.reverse();
        let text = String::from_utf8(digits).ok()?;
        let (whole, fraction) = text.split_at_checked(text.len() - behind)?;
        let whole = whole.trim_start_matches('0');
        let fraction = fraction.trim_end_matches('0');
        let whole = if whole.is_empty() { "0" } else { whole };
        Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_converted_exactly() {
        let of = |unit, amount| conversion(unit).unwrap().apply(amount);
        assert_eq!(of(828_224, "+1.5").as_deref(), Some("+1500"));
        assert_eq!(of(828_224, "-0.0012").as_deref(), Some("-1.2"));
        assert_eq!(of(174_789, "+5").as_deref(), Some("+0.005"));
        assert_eq!(of(3710, "+10").as_deref(), Some("+3.048"));
        assert_eq!(of(11573, "+1.960").as_deref(), Some("+1.960"));
        assert_eq!(of(531, "+99999999999999999999").unwrap().len(), 37);
        assert_eq!(of(828_224, "+0").as_deref(), Some("+0"));
        for bad in ["", "+", "x", "+1.x", "1e5"] {
            assert_eq!(of(828_224, bad), None, "{bad}");
        }
    }
}
