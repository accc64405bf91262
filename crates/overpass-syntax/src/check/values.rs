//! Checks attributes that several elements share: regular expressions, boxes, positions.

use super::CheckContext;
use super::numbers::{bounds, float, position};
use crate::code::OverpassCode;
use crate::diagnostics::{Cause, Clue};
use crate::posix;
use crate::tree::{QlBoundingBox, QlPoint, Regex};

/// The maximum size of all compiled regular expressions of a query, in bytes.
const MOST_PATTERNS: usize = 256 << 20;

/// Checks a regular expression and returns it. If it cannot be used, reports an error and returns `None`.
pub(crate) fn regex(context: &mut CheckContext<'_>, pattern: &str, ignore_case: bool) -> Option<Regex> {
    let checked = posix::check(pattern, ignore_case).and_then(|size| {
        let all = &mut context.diagnostics.patterns;
        *all = all.saturating_add(size);
        if *all > MOST_PATTERNS { Err(posix::PosixRegexError::TooLarge) } else { Ok(()) }
    });
    match checked {
        Ok(()) => Some(Regex { pattern: pattern.to_owned(), ignore_case }),
        Err(error) => {
            let code = match error {
                posix::PosixRegexError::Invalid => OverpassCode::InvalidRegularExpression,
                posix::PosixRegexError::BackReference | posix::PosixRegexError::TooLarge => OverpassCode::Unsupported,
            };
            context.refuse(code, error.message(pattern));
            context.diagnostics.help(error.help(pattern));
            None
        }
    }
}

/// Returns the box of the sides `s`, `w`, `n`, `e`. A missing side has the value `missing`. Errors name the element
/// `name`.
pub(crate) fn sides(context: &mut CheckContext<'_>, name: &str, missing: f64) -> Option<QlBoundingBox> {
    let element = context.element;
    let cause = Cause::new(OverpassCode::BadValue, (name == "bbox-query").then_some(Clue::Box));
    let side = |name: &str| if element.get(name).is_empty() { missing } else { float(element.get(name)) };
    let [south, west, north, east] = ["s", "w", "n", "e"].map(side);
    let mut refuse = |side: &str, value: f64, most: f64| {
        let out = !(-most..=most).contains(&value);
        if out {
            let message = format!(
                "For the attribute \"{side}\" of the element \"{name}\" the only allowed values are floats between -{most:.1} and {most:.1}."
            );
            context.refuse(cause, message);
        }
        out
    };
    let mut bad = refuse("s", south, 90.0) | refuse("n", north, 90.0);
    if north < south {
        let message = format!(
            "The value of attribute \"n\" of the element \"{name}\" must always be greater or equal than the value of attribute \"s\"."
        );
        context.refuse(cause, message);
        bad = true;
    }
    let mut refuse = |side: &str, value: f64| {
        let out = !(-180.0..=180.0).contains(&value);
        if out {
            let message = format!(
                "For the attribute \"{side}\" of the element \"{name}\" the only allowed values are floats between -180.0 and 180.0."
            );
            context.refuse(cause, message);
        }
        out
    };
    bad |= refuse("w", west) | refuse("e", east);
    (!bad).then_some(bounds(south, west, north, east))
}

/// Returns the box of `print` or `localize`, if at least one of its sides is given.
pub(crate) fn optional_box(context: &mut CheckContext<'_>, name: &str, missing: f64) -> Option<QlBoundingBox> {
    let given = ["s", "w", "n", "e"].iter().any(|side| !context.element.get(side).is_empty());
    if given { sides(context, name, missing) } else { None }
}

/// Returns the position in `lat` and `lon`.
pub(crate) fn point(context: &mut CheckContext<'_>) -> QlPoint {
    let element = context.element;
    let number = |name: &str| if element.get(name).is_empty() { 200.0 } else { float(element.get(name)) };
    let (lat, lon) = (number("lat"), number("lon"));
    if !(-90.0..=90.0).contains(&lat) {
        context.refuse_value("lat", "floats between -90.0 and 90.0");
    }
    if !(-180.0..=180.0).contains(&lon) {
        context.refuse_value("lon", "floats between -180.0 and 180.0");
    }
    position(lat, lon)
}
