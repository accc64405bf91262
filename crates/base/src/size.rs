//! Formats and parses numbers of bytes for people.

/// Reads `4GiB`, `512 MiB`, `64k`, `1000000`: a whole number and a binary unit (`k`, `M`, `G`, `T`, with or without
/// `iB` or `B`, in any case).
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let shift = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{unit}` is not a unit; write for example 512MiB or 4GiB")),
    };
    let number: u64 = number.parse().map_err(|_| "expected a whole number of bytes, such as 4GiB".to_string())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more bytes than can be counted".to_string())
}

/// `67.1 MB`: three digits and a decimal unit.
pub fn show(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let places = if unit == 0 || value >= 99.95 { 0 } else { 1 };
    format!("{value:.places$} {}", UNITS[unit])
}

/// `6,613,945`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_any_unit() {
        assert_eq!(parse("4GiB"), Ok(4 << 30));
        assert_eq!(parse("512 mb"), Ok(512 << 20));
        assert_eq!(parse("64k"), Ok(64 << 10));
        assert_eq!(parse("7"), Ok(7));
        for wrong in ["", "GiB", "-1", "1.5G", "4 parsecs", "99999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_and_counts_are_shown_short() {
        assert_eq!(show(0), "0 B");
        assert_eq!(show(999), "999 B");
        assert_eq!(show(67_090_781), "67.1 MB");
        assert_eq!(show(999_999), "1.0 MB");
        assert_eq!(count(999), "999");
        assert_eq!(count(6_613_945), "6,613,945");
    }
}
