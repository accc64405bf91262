//! The elements that narrow a query down. Most can also stand as a statement of their own.

use super::super::diagnostics::{Cause, Clue};
use super::super::element::Part;
use super::super::posix;
use super::super::tree::*;
use super::Context;
use super::numbers::{bounds, float, float_prefix, integer, position, timestamp};
use crate::code::Code;

/// The filter that the element is.
pub(super) fn part(context: &mut Context<'_>) -> Option<Part> {
    let element = context.element;
    let into = element.set("into");
    let (kind, alone) = match element.name.as_ref() {
        "has-kv" => (tag(context)?, None),
        "id-query" => ids(context)?,
        "bbox-query" => (FilterKind::Bbox(sides(context, "bbox-query", 200.0)?), Some(QueryType::Node)),
        "around" => (around(context), Some(QueryType::Node)),
        "polygon-query" => (polygon(context)?, Some(QueryType::Node)),
        "area-query" => (area(context)?, Some(QueryType::Node)),
        "pivot" => (FilterKind::Pivot(element.set("from")), Some(QueryType::Wr)),
        "item" => {
            let name = if element.get("from").is_empty() { "set" } else { "from" };
            (FilterKind::Set(element.set(name)), None)
        }
        "recurse" => recurse(context)?,
        "user" => user(context)?,
        "newer" => (newer(context)?, None),
        "changed" => (changed(context)?, Some(QueryType::Nwr)),
        "filter" => return Some(Part::If),
        _ => return None,
    };
    Some(Part::Filter { kind, alone, into })
}

fn tag(context: &mut Context<'_>) -> Option<FilterKind> {
    let element = context.element;
    let negated = match element.get("modv") {
        "" => false,
        "not" => true,
        _ => {
            let message = "In the element \"has-kv\" the attribute \"modv\" can only be empty or std::set to \"not\".";
            context.refuse(Code::BadValue, message);
            false
        }
    };
    let ignore_case = match element.get("case") {
        "" | "sensitive" => false,
        "ignore" => true,
        _ => {
            context.refuse_value("case", "\"sensitive\" or \"ignore\"");
            false
        }
    };
    let key = element.get("k").to_owned();
    let key_pattern = element.find("regk").filter(|text| !text.is_empty());
    let pattern = element.find("regv");
    let value = element.find("v").unwrap_or("").to_owned();
    refuse_combinations(context, negated);
    if let Some(key_pattern) = key_pattern {
        let key = regex(context, key_pattern, ignore_case);
        let value = regex(context, pattern.unwrap_or(""), ignore_case);
        return Some(FilterKind::KeyMatches { key: key?, value: value? });
    }
    Some(match pattern {
        Some(".*") if negated && !ignore_case => FilterKind::NotKey { key },
        Some(pattern) => {
            let value = regex(context, pattern, ignore_case)?;
            if negated { FilterKind::NotMatches { key, value } } else { FilterKind::Matches { key, value } }
        }
        None if negated => FilterKind::NotEquals { key, value },
        None if value.is_empty() => FilterKind::HasKey { key },
        None => FilterKind::Equals { key, value },
    })
}

/// Refuses attributes of a tag filter that do not go together.
fn refuse_combinations(context: &mut Context<'_>, negated: bool) {
    let element = context.element;
    let has = |name: &str| !element.get(name).is_empty();
    if !has("k") && !has("regk") {
        context.refuse_value("k", "non-empty strings");
    }
    let refusals = [
        (has("k") && has("regk"), "only one of the attributes \"k\" and \"regk\" can be nonempty."),
        (has("v") && has("regv"), "only one of the attributes \"v\" and \"regv\" can be nonempty."),
        (
            has("regk") && has("v") && element.find("regv").is_none(),
            "the attribute \"regk\" must be combined with \"regv\".",
        ),
        (has("regk") && negated, "regular expressions on keys cannot be combined with negation."),
    ];
    for (_, why) in refusals.iter().filter(|(is_there, _)| *is_there) {
        context.refuse(Code::BadValue, format!("In the element \"has-kv\" {why}"));
    }
}

/// What the regular expressions of a query may take together when compiled, in bytes.
const MOST_PATTERNS: usize = 256 << 20;

/// The expression, if it can be used.
pub(super) fn regex(context: &mut Context<'_>, pattern: &str, ignore_case: bool) -> Option<Regex> {
    let checked = posix::check(pattern, ignore_case).and_then(|size| {
        let all = &mut context.diagnostics.patterns;
        *all = all.saturating_add(size);
        if *all > MOST_PATTERNS { Err(posix::Error::TooLarge) } else { Ok(()) }
    });
    match checked {
        Ok(()) => Some(Regex { pattern: pattern.to_owned(), ignore_case }),
        Err(error) => {
            let code = match error {
                posix::Error::Invalid => Code::InvalidRegularExpression,
                posix::Error::BackReference | posix::Error::TooLarge => Code::Unsupported,
            };
            context.refuse(code, error.message(pattern));
            context.diagnostics.help(error.help(pattern));
            None
        }
    }
}

fn ids(context: &mut Context<'_>) -> Option<(FilterKind, Option<QueryType>)> {
    let element = context.element;
    let what = match element.get("type") {
        "node" => Some(QueryType::Node),
        "way" => Some(QueryType::Way),
        "relation" => Some(QueryType::Relation),
        "area" => Some(QueryType::Area),
        // In a query of several types it needs none of its own.
        "" => None,
        _ => {
            context.refuse_value("type", "\"node\", \"way\", \"relation\", or \"area\"");
            None
        }
    };
    let mut ids = Vec::new();
    let mut bad = false;
    for text in element.all("ref") {
        match integer(text) {
            0 => bad = true,
            id => ids.push(id),
        }
    }
    let (lower, upper) = (integer(element.get("lower")), integer(element.get("upper")));
    if bad || (ids.is_empty() && (lower == 0 || upper == 0)) {
        context.refuse_value("ref", "positive integers");
    }
    // Ids that are listed go before a range. The reference's ids have no sign.
    if ids.is_empty() {
        let lower = u64::try_from(lower).unwrap_or(u64::MAX);
        return Some((FilterKind::IdRange { lower, upper: upper as u64 }, what));
    }
    Some((FilterKind::Ids(ids), what))
}

/// The four sides in `s`, `w`, `n`, `e`; a missing one counts as `missing`. Errors name the element `name`.
pub(super) fn sides(context: &mut Context<'_>, name: &str, missing: f64) -> Option<BoundingBox> {
    let element = context.element;
    let cause = Cause::new(Code::BadValue, (name == "bbox-query").then_some(Clue::Box));
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

fn around(context: &mut Context<'_>) -> FilterKind {
    let element = context.element;
    let radius = if element.get("radius").is_empty() { -1.0 } else { float(element.get("radius")) };
    if radius < 0.0 {
        context.refuse_value("radius", "nonnegative floats");
    }
    let mut points = Vec::new();
    let given = !element.get("lat").is_empty() || !element.get("lon").is_empty();
    if given {
        let (lat, lon) = (float(element.get("lat")), float(element.get("lon")));
        if !(-90.0..=90.0).contains(&lat) {
            context.refuse_value("lat", "floats between -90.0 and 90.0 or an empty value");
        }
        if !(-180.0..=180.0).contains(&lon) {
            // The reference's words.
            context.refuse_value("lon", "floats between -1800.0 and 180.0 or an empty value");
        }
        points.push(position(lat, lon));
    }
    let numbers: Vec<f64> =
        element.get("polyline").split(',').filter(|part| !part.trim().is_empty()).map(float).collect();
    if given && !numbers.is_empty() {
        let message = "In \"around\", the attribute \"polyline\" cannot be used if \"lat\" or \"lon\" are used.";
        context.refuse(Code::BadValue, message);
    }
    points.extend(numbers.chunks_exact(2).map(|pair| position(pair[0], pair[1])));
    // The reference looks at the last point only.
    if let Some(&[lat, lon]) = numbers.chunks_exact(2).last() {
        for (value, most, text) in [(lat, 90.0, "-90.0 and 90.0"), (lon, 180.0, "-1800.0 and 180.0")] {
            if !(-most..=most).contains(&value) {
                let message = format!(
                    "For a latitude entry in the attribute \"polyline\" of the element \"around\" the only allowed values are floats between {text} or an empty value."
                );
                context.refuse(Code::BadValue, message);
            }
        }
    }
    if points.is_empty() {
        FilterKind::AroundSet { set: element.set("from"), radius }
    } else {
        FilterKind::AroundPoints { radius, points }
    }
}

/// The position in `lat` and `lon`.
pub(super) fn point(context: &mut Context<'_>) -> Point {
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

fn polygon(context: &mut Context<'_>) -> Option<FilterKind> {
    let mut rest = context.element.get("bounds").trim_start();
    let mut numbers = Vec::new();
    let mut broken = false;
    while !rest.is_empty() {
        let (number, length) = float_prefix(rest);
        if length == 0 {
            broken = true;
            break;
        }
        numbers.push(number);
        rest = rest[length..].trim_start();
    }
    let mut good = true;
    if broken || numbers.is_empty() || numbers.len() % 2 == 1 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" an even number of float values must be provided.";
        context.refuse(Code::BadValue, message);
        good = false;
    }
    let mut points = Vec::new();
    for pair in numbers.chunks_exact(2) {
        for (value, most, axis) in [(pair[0], 90.0, "latitude"), (pair[1], 180.0, "longitude")] {
            if !(-most..=most).contains(&value) {
                let message = format!(
                    "For the attribute \"bounds\" of the element \"polygon-query\" the only allowed values for {axis} are floats between -{most:.1} and {most:.1}."
                );
                context.refuse(Code::BadValue, message);
                good = false;
            }
        }
        points.push(position(pair[0], pair[1]));
    }
    if points.len() < 3 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" at least 3 lat/lon float value pairs must be provided.";
        context.refuse(Code::BadValue, message);
        good = false;
    }
    good.then_some(FilterKind::Poly(points))
}

fn area(context: &mut Context<'_>) -> Option<FilterKind> {
    let element = context.element;
    match element.find("ref").filter(|text| !text.is_empty()) {
        None => Some(FilterKind::AreaSet(element.set("from"))),
        Some(text) => match integer(text) {
            id if id > 0 => Some(FilterKind::AreaId(id)),
            _ => {
                context.refuse_value("ref", "positive integers");
                None
            }
        },
    }
}

/// The relationships that a query can follow, with what it then finds.
const RECURSIONS: [(&str, RecurseFilterKind, QueryType); 8] = [
    ("relation-relation", RecurseFilterKind::R, QueryType::Relation),
    ("relation-backwards", RecurseFilterKind::Br, QueryType::Relation),
    ("relation-way", RecurseFilterKind::R, QueryType::Way),
    ("relation-node", RecurseFilterKind::R, QueryType::Node),
    ("way-node", RecurseFilterKind::W, QueryType::Node),
    ("way-relation", RecurseFilterKind::Bw, QueryType::Relation),
    ("node-relation", RecurseFilterKind::Bn, QueryType::Relation),
    ("node-way", RecurseFilterKind::Bn, QueryType::Way),
];

/// What the reference says about a role where there are no roles.
const NO_ROLE: &str = "A role can only be specified for values \"relation-relation\", \"relation-backwards\",\"relation-way\", \"relation-node\", \"way-relation\",or \"node-relation\".";

/// What the reference says about positions where there are none.
const NO_POSITION: &str = "A role can only be specified for values \"way-node\" or \"node-way\",";

fn recurse(context: &mut Context<'_>) -> Option<(FilterKind, Option<QueryType>)> {
    let element = context.element;
    let set = element.set("from");
    let name = element.get("type");
    if name == "way-count" || name == "way-link" {
        let number = |name: &str| element.find(name).filter(|text| !text.is_empty()).map(integer);
        let (lower, upper) = (number("lower").unwrap_or(1), number("upper").unwrap_or(i64::MAX));
        if lower < 1 {
            context.refuse(Code::BadValue, "lower must be an integer greater or equal 1");
        } else if upper < lower {
            context.refuse(Code::BadValue, "upper must be an integer greater or equal lower");
        }
        let upper = (upper < i64::from(u32::MAX)).then_some(upper as u64);
        let kind = FilterKind::WayCount { link: name == "way-link", set, lower: lower as u64, upper };
        return Some((kind, Some(QueryType::Node)));
    }
    let found = RECURSIONS.iter().find(|(known, ..)| *known == name).map(|(_, kind, what)| (*kind, *what));
    let several = name.strip_prefix("relation-").and_then(|what| match what {
        "nwr" => Some((RecurseFilterKind::R, QueryType::Nwr)),
        "nw" => Some((RecurseFilterKind::R, QueryType::Nw)),
        "nr" => Some((RecurseFilterKind::R, QueryType::Nr)),
        "wr" => Some((RecurseFilterKind::R, QueryType::Wr)),
        _ => None,
    });
    let Some((kind, what)) = found.or(several) else {
        let allowed = "\"relation-relation\", \"relation-backwards\",\"relation-way\", \"relation-node\", \"way-node\", \"way-relation\",\"node-relation\", \"node-way\", \"down\", \"down-rel\", \"up\", or \"up-rel\"";
        context.refuse_value("type", allowed);
        if !element.get("role").is_empty() {
            context.refuse(Code::BadValue, NO_ROLE);
        }
        if !element.get("pos").is_empty() {
            context.refuse(Code::BadValue, NO_POSITION);
        }
        return None;
    };
    let of_way = matches!(name, "way-node" | "node-way");
    if of_way && !element.get("role").is_empty() {
        context.refuse(Code::BadValue, NO_ROLE);
    }
    if !of_way && !element.get("pos").is_empty() {
        context.refuse(Code::BadValue, NO_POSITION);
    }
    let restricted = element.get("role-restricted") == "yes" || !element.get("role").is_empty();
    let role = restricted.then(|| element.get("role").to_owned());
    let mut positions = Vec::new();
    for text in element.get("pos").split(',').filter(|text| !text.is_empty()) {
        match index(text) {
            Some(index) => positions.push(index),
            None => context.refuse(Code::BadValue, format!("Invalid pos '{text}' in positions list.")),
        }
    }
    Some((FilterKind::Recurse(RecurseFilter { kind, set, role, positions }), Some(what)))
}

/// `3`, `-1`; whatever follows the digits does not count.
fn index(text: &str) -> Option<i64> {
    Some(integer(text)).filter(|&position| position != 0)
}

fn user(context: &mut Context<'_>) -> Option<(FilterKind, Option<QueryType>)> {
    let element = context.element;
    let names: Vec<String> = element.all("name").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let uids: Vec<i64> = element.all("uid").map(integer).filter(|uid| *uid != 0).collect();
    if names.is_empty() == uids.is_empty() {
        let message = "Exactly one of the two attributes \"name\" and \"uid\" must be set.";
        context.refuse(Code::BadValue, message);
        return None;
    }
    let what = match element.get("type") {
        "" | "nwr" => Some(QueryType::Nwr),
        "node" => Some(QueryType::Node),
        "way" => Some(QueryType::Way),
        "relation" => Some(QueryType::Relation),
        "nw" => Some(QueryType::Nw),
        "nr" => Some(QueryType::Nr),
        "wr" => Some(QueryType::Wr),
        // Any other type is none: the statement finds nothing.
        _ => Some(QueryType::Derived),
    };
    let touched = element.get("criterion") == "touched";
    if !["", "last", "touched"].contains(&element.get("criterion")) {
        let message = "Atttribute \"criterion\" must have the value \"last\" or \"touched\".";
        context.refuse(Code::BadValue, message);
    }
    let kind = if uids.is_empty() { FilterKind::User { names, touched } } else { FilterKind::Uid { uids, touched } };
    Some((kind, what))
}

fn newer(context: &mut Context<'_>) -> Option<FilterKind> {
    match timestamp(context.element.get("than")) {
        Some(moment) => Some(FilterKind::Newer(moment)),
        None => {
            let message = "The attribute \"than\" must contain a timestamp exactly in the form yyyy-mm-ddThh:mm:ssZ.";
            context.refuse(Code::BadTimestamp, message);
            None
        }
    }
}

fn changed(context: &mut Context<'_>) -> Option<FilterKind> {
    let mut moments = [None, None];
    for (name, moment) in ["since", "until"].into_iter().zip(&mut moments) {
        let Some(text) = context.element.find(name).filter(|text| !text.is_empty()) else { continue };
        *moment = timestamp(text);
        if moment.is_none() {
            let message = format!(
                "The attribute \"{name}\" must contain a timestamp exactly in the form \"yyyy-mm-ddThh:mm:ssZ\"."
            );
            context.refuse(Code::BadTimestamp, message);
        }
    }
    let given = |name| !context.element.get(name).is_empty();
    if given("since") != given("until") {
        let message = "The attributes \"since\" and \"until\" must be set either both or none.";
        context.refuse(Code::BadValue, message);
    }
    let [since, until] = moments;
    let until = until.filter(|_| until != since);
    Some(FilterKind::Changed { since, until })
}
