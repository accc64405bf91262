//! The elements that narrow a query down. Most can also stand as a statement of their own.

use super::super::element::Part;
use super::super::posix;
use super::super::tree::*;
use super::Context;
use super::numbers::{degrees, float, float_prefix, integer, timestamp};

/// The filter that the element is.
pub(super) fn part(context: &mut Context<'_>) -> Option<Part> {
    let element = context.element;
    let into = element.set("into");
    let (kind, alone) = match element.name.as_ref() {
        "has-kv" => (tag(context)?, None),
        "id-query" => ids(context)?,
        "bbox-query" => (FilterKind::Bbox(bounding_box(context)?), Some(QueryType::Node)),
        "around" => (around(context), Some(QueryType::Node)),
        "polygon-query" => (polygon(context)?, Some(QueryType::Node)),
        "area-query" => (area(context)?, Some(QueryType::Node)),
        "pivot" => (FilterKind::Pivot(element.set("from")), Some(QueryType::Wr)),
        "item" => (FilterKind::Set(element.set("from")), None),
        "recurse" => recurse(context)?,
        "user" => user(context)?,
        "newer" => (newer(context)?, None),
        "changed" => (changed(context)?, None),
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
            context.refuse_value("modv", "\"\" or \"not\"");
            false
        }
    };
    let ignore_case = match element.get("case") {
        "" | "sensitive" => false,
        "ignore" => true,
        _ => {
            context.refuse_value("case", "\"ignore\" or \"sensitive\"");
            false
        }
    };
    let key = element.get("k").to_owned();
    let key_pattern = element.find("regk").filter(|text| !text.is_empty());
    let pattern = element.find("regv");
    let value = element.find("v").unwrap_or("").to_owned();
    if key.is_empty() && key_pattern.is_none() {
        context.refuse_value("k", "non-empty strings");
    }
    if !key.is_empty() && key_pattern.is_some() {
        let message = "In the element \"has-kv\" only one of the attributes \"k\" and \"regk\" can be nonempty.";
        context.refuse("bad-value", message);
    }
    if pattern.is_some_and(|p| !p.is_empty()) && !value.is_empty() {
        let message = "In the element \"has-kv\" only one of the attributes \"v\" and \"regv\" can be nonempty.";
        context.refuse("bad-value", message);
    }
    if let Some(key_pattern) = key_pattern {
        if negated {
            let message = "In the element \"has-kv\" regular expressions on keys cannot be combined with negation.";
            context.refuse("bad-value", message);
        }
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
        None if negated && value.is_empty() => FilterKind::NotEquals { key, value },
        None if negated => FilterKind::NotEquals { key, value },
        None if value.is_empty() => FilterKind::HasKey { key },
        None => FilterKind::Equals { key, value },
    })
}

fn regex(context: &mut Context<'_>, pattern: &str, ignore_case: bool) -> Option<Regex> {
    match posix::compile(pattern, ignore_case) {
        Ok(_) => Some(Regex { pattern: pattern.to_owned(), ignore_case }),
        Err(error) => {
            let code = match error {
                posix::Error::Invalid => "invalid-regular-expression",
                posix::Error::BackReference | posix::Error::TooLarge => "unsupported",
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
        "nwr" => Some(QueryType::Nwr),
        "nw" => Some(QueryType::Nw),
        "nr" => Some(QueryType::Nr),
        "wr" => Some(QueryType::Wr),
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
    let (lower, upper) = (element.get("lower"), element.get("upper"));
    if bad || (ids.is_empty() && lower.is_empty() && upper.is_empty()) {
        context.refuse_value("ref", "positive integers");
    }
    if !lower.is_empty() || !upper.is_empty() {
        // A range of ids: kept as its ends would not be the same filter, and the QL form has no word for it.
        let message = "Ranges of ids (\"lower\" and \"upper\") are not supported.";
        context.refuse("unsupported", message);
    }
    Some((FilterKind::Ids(ids), Some(what?)))
}

/// The four sides in `s`, `w`, `n`, `e`.
pub(super) fn bounding_box(context: &mut Context<'_>) -> Option<BoundingBox> {
    let element = context.element;
    let side = |name: &str| if element.get(name).is_empty() { 200.0 } else { float(element.get(name)) };
    let [south, west, north, east] = ["s", "w", "n", "e"].map(side);
    let mut good = true;
    for (name, value) in [("s", south), ("n", north)] {
        if !(-90.0..=90.0).contains(&value) {
            context.refuse_value(name, "floats between -90.0 and 90.0");
            good = false;
        }
    }
    if good && north < south {
        let message = format!(
            "The value of attribute \"n\" of the element \"{}\" must always be greater or equal than the value of attribute \"s\".",
            element.name
        );
        context.refuse("bad-value", message);
        good = false;
    }
    for (name, value) in [("w", west), ("e", east)] {
        if !(-180.0..=180.0).contains(&value) {
            context.refuse_value(name, "floats between -180.0 and 180.0");
            good = false;
        }
    }
    let [south, west, north, east] = [south, west, north, east].map(degrees);
    good.then_some(BoundingBox { south, west, north, east })
}

fn around(context: &mut Context<'_>) -> FilterKind {
    let element = context.element;
    let radius = if element.get("radius").is_empty() { -1.0 } else { float(element.get("radius")) };
    if radius < 0.0 {
        context.refuse_value("radius", "nonnegative floats");
    }
    let mut points = Vec::new();
    if !element.get("lat").is_empty() || !element.get("lon").is_empty() {
        points.push(point(context));
    }
    let numbers: Vec<f64> =
        element.get("polyline").split(',').filter(|part| !part.trim().is_empty()).map(float).collect();
    for pair in numbers.chunks_exact(2) {
        if !(-90.0..=90.0).contains(&pair[0]) || !(-180.0..=180.0).contains(&pair[1]) {
            let message = "For the attribute \"polyline\" of the element \"around\" the only allowed values are latitudes between -90.0 and 90.0 and longitudes between -180.0 and 180.0.";
            context.refuse("bad-value", message);
        }
        points.push(Point { lat: degrees(pair[0]), lon: degrees(pair[1]) });
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
    Point { lat: degrees(lat), lon: degrees(lon) }
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
    if broken || numbers.len() % 2 == 1 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" an even number of float values must be provided.";
        context.refuse("bad-value", message);
        good = false;
    }
    let mut points = Vec::new();
    for pair in numbers.chunks_exact(2) {
        if !(-90.0..=90.0).contains(&pair[0]) || !(-180.0..=180.0).contains(&pair[1]) {
            let message = format!(
                "For the attribute \"bounds\" of the element \"polygon-query\" the only allowed values are floats between -90.0 and 90.0 for latitude and floats between -180.0 and 180.0 for longitude: \"{} {}\" is no allowed value.",
                pair[0], pair[1]
            );
            context.refuse("bad-value", message);
            good = false;
            continue;
        }
        points.push(Point { lat: degrees(pair[0]), lon: degrees(pair[1]) });
    }
    if points.len() < 3 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" at least 3 lat/lon float value pairs must be provided.";
        context.refuse("bad-value", message);
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

fn recurse(context: &mut Context<'_>) -> Option<(FilterKind, Option<QueryType>)> {
    let element = context.element;
    let set = element.set("from");
    let name = element.get("type");
    if name == "way-count" || name == "way-link" {
        let lower = integer(element.get("lower"));
        let upper = integer(element.get("upper"));
        if lower < 1 {
            context.refuse("bad-value", "lower must be an integer greater or equal 1");
        } else if upper < lower {
            context.refuse("bad-value", "upper must be an integer greater or equal lower");
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
        return None;
    };
    let restricted = element.get("role-restricted") == "yes" || !element.get("role").is_empty();
    let role = restricted.then(|| element.get("role").to_owned());
    let mut positions = Vec::new();
    for text in element.get("pos").split(',').filter(|text| !text.is_empty()) {
        match position(text) {
            Some(position) => positions.push(position),
            None => context.refuse("bad-value", format!("Invalid pos '{text}' in positions list.")),
        }
    }
    Some((FilterKind::Recurse(RecurseFilter { kind, set, role, positions }), Some(what)))
}

/// `3`, `-1`, `2:5`.
fn position(text: &str) -> Option<Position> {
    let (from, to) = text.split_once(':').unwrap_or((text, text));
    let (from, to) = (integer(from), integer(to));
    (from != 0 && to != 0).then_some(Position { from, to })
}

fn user(context: &mut Context<'_>) -> Option<(FilterKind, Option<QueryType>)> {
    let element = context.element;
    let names: Vec<String> = element.all("name").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let uids: Vec<i64> = element.all("uid").map(integer).filter(|uid| *uid != 0).collect();
    if names.is_empty() == uids.is_empty() {
        let message = "Exactly one of the two attributes \"name\" and \"uid\" must be set.";
        context.refuse("bad-value", message);
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
        _ => None,
    };
    let touched = element.get("criterion") == "touched";
    let kind = if uids.is_empty() { FilterKind::User { names, touched } } else { FilterKind::Uid { uids, touched } };
    Some((kind, what))
}

fn newer(context: &mut Context<'_>) -> Option<FilterKind> {
    match timestamp(context.element.get("than")) {
        Some(moment) => Some(FilterKind::Newer(moment)),
        None => {
            let message = "The attribute \"than\" must contain a timestamp exactly in the form yyyy-mm-ddThh:mm:ssZ.";
            context.refuse("bad-timestamp", message);
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
            context.refuse("bad-timestamp", message);
        }
    }
    let [since, until] = moments;
    Some(FilterKind::Changed { since, until })
}
