//! Checks `osm-script`: the settings of a query.

use super::super::tree::*;
use super::CheckContext;
use super::numbers::{bounds, float, timestamp};
use crate::code::OverpassCode;
use crate::{ElementMeaning, ElementSyntax};

/// The settings of a query.
pub(crate) const FORM: ElementSyntax = ElementSyntax {
    name: "osm-script",
    attributes: &["timeout", "element-limit", "output", "output-config", "bbox", "date", "from", "augmented"],
    check,
    ..ElementSyntax::NONE
};

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let defaults = QlSettings::default();
    let timeout = amount(context, "timeout").unwrap_or(defaults.timeout);
    let maxsize = amount(context, "element-limit").unwrap_or(defaults.maxsize);
    let output = output(context);
    let bbox = bounding_box(context);
    let time = time_frame(context);
    if matches!(time, TimeFrame::Diff { .. }) && output != OutputFormat::Xml {
        let message = "The selected output format does not support the diff or adiff mode.";
        context.refuse(OverpassCode::DiffFormat, message);
    }
    Some(ElementMeaning::Script(Box::new(QlSettings { timeout, maxsize, bbox, output, time })))
}

/// Returns a positive integer, optionally with `ki`, `Mi` or `Gi`.
fn amount(context: &mut CheckContext<'_>, attribute: &str) -> Option<u64> {
    let text = context.element.find(attribute)?;
    let digits = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let factor = match &text[digits..] {
        "" => Some(1),
        "ki" => Some(1 << 10),
        "Mi" => Some(1 << 20),
        "Gi" => Some(1 << 30),
        _ => None,
    };
    let number = text[..digits].parse::<u64>().ok().filter(|n| *n > 0);
    let value = number.zip(factor).map(|(n, f)| n.saturating_mul(f));
    if value.is_none() {
        context.refuse_value(attribute, "positive integers optionally with suffix \"ki\", \"Mi\", or \"Gi\"");
    }
    value
}

fn output(context: &mut CheckContext<'_>) -> OutputFormat {
    let config = context.element.get("output-config").to_owned();
    match context.element.find("output") {
        None | Some("xml") => OutputFormat::Xml,
        Some("json") => OutputFormat::Json,
        Some("csv") => OutputFormat::Csv(csv(&config)),
        Some("custom") => OutputFormat::Custom,
        Some("popup") => popup(context, &config),
        Some(other) => {
            let message = format!("Unknown output format: {other}");
            context.refuse(OverpassCode::UnknownOutputFormat, message);
            let known = ["xml", "json", "csv", "custom", "popup"];
            context.diagnostics.suggest(super::super::suggest::nearest(other, known.into_iter()), None);
            OutputFormat::Xml
        }
    }
}

/// Returns the blocks of a popup. Reports invalid regular expressions in them.
fn popup(context: &mut CheckContext<'_>, config: &str) -> OutputFormat {
    let blocks = super::super::popup::popup(config);
    for test in blocks.iter().flat_map(|block| &block.tests) {
        if let PopupValue::Matching(expression) = &test.value {
            super::regex(context, &expression.pattern, false);
        }
    }
    OutputFormat::Popup(blocks)
}

/// Parses `("name",::id;true;",")`.
fn csv(config: &str) -> CsvSettings {
    let mut settings = CsvSettings { fields: Vec::new(), header: true, separator: "\t".to_owned() };
    let mut tokens = super::super::token::QlTokens::new(config);
    let mut part = 0;
    let mut special = false;
    while tokens.good() {
        let token = tokens.current();
        tokens.advance();
        match token.text {
            "(" | "," | ")" => {}
            "::" => special = true,
            ";" => part += 1,
            _ => match part {
                0 if std::mem::take(&mut special) => {
                    let mut name = token.value();
                    // `::count:nodes` is allowed without quotation marks here.
                    while tokens.good() && ![",", ";", ")"].contains(&tokens.text()) {
                        name.push_str(tokens.text());
                        tokens.advance();
                    }
                    settings.fields.push(CsvField::Special(name));
                }
                0 => settings.fields.push(CsvField::Tag(token.value())),
                1 => settings.header = token.text != "false",
                _ => settings.separator = token.value(),
            },
        }
    }
    settings
}

fn bounding_box(context: &mut CheckContext<'_>) -> Option<QlBoundingBox> {
    let text = context.element.find("bbox").filter(|text| !text.is_empty())?;
    let count = text.split(',').count();
    for _ in count..4 {
        context.refuse(OverpassCode::BadValue, "A bounding box needs four comma-separated values.");
    }
    let [south, west, north, east] = sides_of(text)?;
    if !(-90.0..=90.0).contains(&south) || !(-90.0..=90.0).contains(&north) {
        context.refuse(OverpassCode::BadValue, "Latitudes in bounding boxes must be between -90.0 and 90.0.");
    }
    if !(-180.0..=180.0).contains(&west) || !(-180.0..=180.0).contains(&east) {
        context.refuse(OverpassCode::BadValue, "Longitudes in bounding boxes must be between -180.0 and 180.0.");
    }
    bounds_of(text)
}

/// Parses the four sides of a box.
fn sides_of(text: &str) -> Option<[f64; 4]> {
    let sides: Vec<&str> = text.split(',').collect();
    Some([*sides.first()?, *sides.get(1)?, *sides.get(2)?, *sides.get(3)?].map(float))
}

/// Returns the box of four sides. As in the reference, returns `None` if it is upside down or leaves the globe.
pub(crate) fn bounds_of(text: &str) -> Option<QlBoundingBox> {
    let [south, west, north, east] = sides_of(text)?;
    let on_globe = -90.0 <= south && north <= 90.0 && [west, east].iter().all(|lon| (-180.0..=180.0).contains(lon));
    (south <= north && on_globe).then(|| bounds(south, west, north, east))
}

fn time_frame(context: &mut CheckContext<'_>) -> TimeFrame {
    let date = moment(context, "date");
    let from = moment(context, "from");
    let augmented = context.element.get("augmented");
    if !["", "deletions"].contains(&augmented) {
        let message = "The only allowed values for \"augmented\" are an empty value or \"deletions\".";
        context.refuse(OverpassCode::BadValue, message);
    }
    if !augmented.is_empty() && context.element.get("from").is_empty() {
        let message = "The attribute \"augmented\" can only be set if the attribute \"from\" is set.";
        context.refuse(OverpassCode::BadValue, message);
    }
    match (from, date) {
        (Some(from), to) => TimeFrame::Diff { from, to, augmented: !context.element.get("augmented").is_empty() },
        (None, Some(date)) => TimeFrame::Date(date),
        (None, None) => TimeFrame::Now,
    }
}

fn moment(context: &mut CheckContext<'_>, attribute: &str) -> Option<Timestamp> {
    let text = context.element.find(attribute).filter(|text| !text.is_empty())?;
    let moment = timestamp(text);
    if moment.is_none() {
        let message = format!(
            "The attribute \"{attribute}\" must be empty or contain a timestamp exactly in the form \"yyyy-mm-ddThh:mm:ssZ\"."
        );
        context.refuse(OverpassCode::BadTimestamp, message);
    }
    moment
}
