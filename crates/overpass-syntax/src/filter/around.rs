//! The filter `(around.set:radius)`, `(around:radius,lat,lon,...)`.

use super::{Clause, FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::{float, position};
use crate::code::OverpassCode;
use crate::diagnostics::Clue;
use crate::parse::QlParser;
use crate::tree::{QlPoint, QueryType, SetName};
use crate::writer::{AttributeList, dotted, number};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Elements near a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// The maximum distance in metres.
    pub radius: f64,
    /// The place.
    pub place: AroundPlace,
}

/// The place that elements are near to.
#[derive(Debug, Clone, PartialEq)]
pub enum AroundPlace {
    /// The elements of a set.
    Set(SetName),
    /// A point, or a line of several points.
    Points(Vec<QlPoint>),
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "around",
        attributes: &["from", "into", "radius", "lat", "lon", "polyline"],
        check,
        checked_in_converting: true,
        values: |element| {
            let get = |name: &str| element.get(name);
            let mut list = AttributeList::default();
            list.some("from", get("from"));
            list.always("radius", number(get("radius")));
            if !get("lat").is_empty() || !get("lon").is_empty() {
                list.always("lat", number(get("lat")));
                list.always("lon", number(get("lon")));
            }
            let line: Vec<String> = get("polyline").split(',').filter(|n| !n.trim().is_empty()).map(number).collect();
            list.some("polyline", line.join(","));
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["around"],
    read,
    text: |node| Some(text(node)),
    query_word: |_| Some("node"),
    replaces: |_, what| what == "node",
    ..FilterGrammar::NONE
};

impl FilterProperties for Around {
    fn set(&self) -> Option<&SetName> {
        match &self.place {
            AroundPlace::Set(set) => Some(set),
            AroundPlace::Points(_) => None,
        }
    }

    fn stands_alone(&self, what: QueryType) -> bool {
        what == QueryType::Node
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let radius = if element.get("radius").is_empty() { -1.0 } else { float(element.get("radius")) };
    if radius < 0.0 {
        context.refuse_value_by("radius", "nonnegative floats", Some(Clue::Radius));
    }
    let mut points = Vec::new();
    let given = !element.get("lat").is_empty() || !element.get("lon").is_empty();
    if given {
        let (lat, lon) = (float(element.get("lat")), float(element.get("lon")));
        if !(-90.0..=90.0).contains(&lat) {
            context.refuse_value("lat", "floats between -90.0 and 90.0 or an empty value");
        }
        if !(-180.0..=180.0).contains(&lon) {
            // This is the reference's text.
            context.refuse_value("lon", "floats between -1800.0 and 180.0 or an empty value");
        }
        points.push(position(lat, lon));
    }
    let numbers: Vec<f64> =
        element.get("polyline").split(',').filter(|part| !part.trim().is_empty()).map(float).collect();
    if given && !numbers.is_empty() {
        let message = "In \"around\", the attribute \"polyline\" cannot be used if \"lat\" or \"lon\" are used.";
        context.refuse(OverpassCode::BadValue, message);
    }
    points.extend(numbers.chunks_exact(2).map(|pair| position(pair[0], pair[1])));
    // The reference checks only the last point.
    if let Some(&[lat, lon]) = numbers.chunks_exact(2).last() {
        for (value, most, text) in [(lat, 90.0, "-90.0 and 90.0"), (lon, 180.0, "-1800.0 and 180.0")] {
            if !(-most..=most).contains(&value) {
                let message = format!(
                    "For a latitude entry in the attribute \"polyline\" of the element \"around\" the only allowed values are floats between {text} or an empty value."
                );
                context.refuse(OverpassCode::BadValue, message);
            }
        }
    }
    let place = if points.is_empty() { AroundPlace::Set(element.set("from")) } else { AroundPlace::Points(points) };
    let (kind, alone) = (Around { radius, place }.into(), Alone::Query(QueryType::Node));
    Some(ElementMeaning::Filter { kind, alone, into: context.sets().1 })
}

fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    let element = clause.element("around").with_some("from", clause.set.clone());
    let mut coordinates = clause.values(parser);
    // The first argument is the radius. If an argument is missing, the reference finds no radius.
    let complete = clause.colon && !clause.items.is_empty() && !clause.items.contains(&0);
    let radius = if complete { Some(coordinates.remove(0)) } else { None };
    // In `around,:300`, the reference also counts the comma before the colon.
    let root = clause.tree.at(clause.tree.root);
    let comma = clause.colon && clause.tree.text(root.left) == ",";
    if coordinates.len() % 2 == 1 || comma {
        clause.refuse(parser, OverpassCode::OddCoordinates, "around requires an odd number of arguments");
        return None;
    }
    let Some(radius) = radius else {
        clause.refuse(parser, OverpassCode::MissingRadius, "around requires the radius as first argument");
        return None;
    };
    let element = element.with("radius", radius);
    let element = match coordinates.as_slice() {
        [] => element,
        [lat, lon] => element.with("lat", lat.as_str()).with("lon", lon.as_str()),
        points => element.with("polyline", points.join(",")),
    };
    Some(parser.builder.open(element))
}

fn text(node: &ElementTreeNode) -> String {
    let list = AttributeList(node.element.values());
    let mut text = format!("(around{}:{}", dotted(&node.element, "from"), list.get("radius"));
    let (lat, lon) = (list.get("lat"), list.get("lon"));
    let point = if lat.is_empty() { String::new() } else { format!("{lat},{lon}") };
    for part in [point.as_str(), list.get("polyline")].into_iter().filter(|part| !part.is_empty()) {
        text.push(',');
        text.push_str(part);
    }
    text + ")"
}
