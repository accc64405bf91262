//! Compares two answers.

use anyhow::{Context, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

use crate::source::EngineAnswer;

/// The kind of difference between two answers, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnswerDifference {
    /// One program rejects the query, the other answers it.
    Outcome,
    /// Both refuse, in other words.
    Words,
    /// Other elements.
    Ids,
    /// The same elements with other content.
    Content,
    /// The same elements in another order.
    Order,
}

impl AnswerDifference {
    /// All kinds of differences.
    pub const ALL: [AnswerDifference; 5] = [
        AnswerDifference::Outcome,
        AnswerDifference::Words,
        AnswerDifference::Ids,
        AnswerDifference::Content,
        AnswerDifference::Order,
    ];

    /// Returns the name in reports and file names.
    pub fn name(self) -> &'static str {
        match self {
            AnswerDifference::Outcome => "outcome",
            AnswerDifference::Words => "words",
            AnswerDifference::Ids => "ids",
            AnswerDifference::Content => "content",
            AnswerDifference::Order => "order",
        }
    }
}

/// The result of comparing two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are equal.
    Same {
        /// The number of elements, or of lines of a text, in each answer.
        elements: usize,
        /// Whether both refuse.
        refused: bool,
    },
    /// One of the programs failed, which is no difference in the language.
    Nothing,
    /// They differ.
    Differs(AnswerDifference),
}

/// Compares the answer of the reference with that of the tested program.
pub fn compare(reference: &EngineAnswer, tested: &EngineAnswer) -> Verdict {
    match (reference, tested) {
        (EngineAnswer::Failed(_), _) | (_, EngineAnswer::Failed(_)) => Verdict::Nothing,
        (EngineAnswer::Refused(lines), EngineAnswer::Refused(others)) => {
            let alike = lines.len() == others.len() && lines.iter().zip(others).all(|(a, b)| b.contains(a.trim()));
            if alike { Verdict::Same { elements: 0, refused: true } } else { Verdict::Differs(AnswerDifference::Words) }
        }
        (EngineAnswer::Body(a), EngineAnswer::Body(b)) => match (read(a), read(b)) {
            (Ok(a), Ok(b)) => bodies(a, b),
            (Err(_), Err(_)) if a == b => Verdict::Same { elements: 0, refused: false },
            _ => Verdict::Differs(AnswerDifference::Content),
        },
        _ => Verdict::Differs(AnswerDifference::Outcome),
    }
}

fn bodies((mut a_ids, mut a): Items, (mut b_ids, mut b): Items) -> Verdict {
    if a == b {
        return Verdict::Same { elements: a.len(), refused: false };
    }
    a_ids.sort();
    b_ids.sort();
    if a_ids != b_ids || (a_ids.is_empty() && a.len() != b.len()) {
        return Verdict::Differs(AnswerDifference::Ids);
    }
    a.sort();
    b.sort();
    Verdict::Differs(if a == b { AnswerDifference::Order } else { AnswerDifference::Content })
}

/// The ids of an answer, and its elements in a normalized form without irrelevant details.
type Items = (Vec<String>, Vec<String>);

/// Takes an answer apart.
pub fn read(body: &str) -> Result<Items> {
    match body.trim_start().as_bytes().first() {
        Some(b'{') => json(body),
        Some(b'<') => xml(body),
        _ => Ok((Vec::new(), body.lines().map(str::to_owned).collect())),
    }
}

fn json(body: &str) -> Result<Items> {
    let value: Value = serde_json::from_str(body)?;
    let elements = value.get("elements").and_then(Value::as_array).context("no elements")?;
    let id = |e: &Value| Some(format!("{}/{}", e.get("type")?.as_str()?, e.get("id")?));
    Ok((elements.iter().filter_map(id).collect(), elements.iter().map(Value::to_string).collect()))
}

fn xml(body: &str) -> Result<Items> {
    let mut reader = Reader::from_str(body);
    let (mut ids, mut items) = (Vec::new(), Vec::new());
    let (mut depth, mut item) = (0_usize, String::new());
    loop {
        let event = reader.read_event()?;
        match &event {
            Event::Start(start) | Event::Empty(start) if depth > 0 => {
                let name = start.name().as_ref().to_owned();
                let attributes = attributes(start)?;
                if depth == 1 {
                    item.clear();
                    ids.extend(attributes.iter().find(|(key, _)| key == "id").map(|(_, id)| format!("{name}/{id}")));
                }
                item.push_str(&format!("<{name} {attributes:?}>"));
            }
            Event::Text(text) if depth > 1 => item.push_str(text.as_ref().trim()),
            Event::GeneralRef(name) if depth > 1 => {
                item.push_str(&format!("&{};", AsRef::<str>::as_ref(name)));
            }
            Event::Eof => break,
            _ => {}
        }
        let ended = match event {
            Event::Start(_) => {
                depth += 1;
                false
            }
            Event::Empty(_) => true,
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                item.push_str("</>");
                true
            }
            _ => false,
        };
        if ended && depth == 1 && !item.starts_with("<note ") && !item.starts_with("<meta ") {
            items.push(std::mem::take(&mut item));
        }
    }
    Ok((ids, items))
}

/// Name and value of each attribute, by name.
fn attributes(start: &BytesStart<'_>) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute?;
        let key = attribute.key.as_ref().to_owned();
        found.push((key, attribute.value.into_owned()));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(a: &str, b: &str) -> Verdict {
        compare(&EngineAnswer::Body(a.to_owned()), &EngineAnswer::Body(b.to_owned()))
    }

    #[test]
    fn tells_how_answers_differ() {
        let xml = |inner: &str| format!("<osm><note>n</note><meta osm_base=\"now\"/>{inner}</osm>");
        let (a, b) = ("<node id=\"1\" lat=\"2\"/>", "<way id=\"1\"><nd ref=\"5\"/></way>");
        let (one, other) = (xml(&format!("{a}{b}")), xml(&format!("{b}{a}")));
        assert_eq!(verdict(&one, &one), Verdict::Same { elements: 2, refused: false });
        assert_eq!(verdict(&one, &other), Verdict::Differs(AnswerDifference::Order));
        assert_eq!(verdict(&one, &xml(a)), Verdict::Differs(AnswerDifference::Ids));
        assert_eq!(verdict(&one, &one.replace("ref=\"5\"", "ref=\"6\"")), Verdict::Differs(AnswerDifference::Content));
        let json = |lat: &str| format!("{{\"version\":1,\"elements\":[{{\"type\":\"node\",\"id\":1,\"lat\":{lat}}}]}}");
        assert_eq!(verdict(&json("1.50"), &json("1.5")), Verdict::Same { elements: 1, refused: false });
        assert_eq!(verdict(&json("1"), &json("2")), Verdict::Differs(AnswerDifference::Content));
        assert_eq!(verdict("a\nb", "b\na"), Verdict::Differs(AnswerDifference::Order));
        let lines = |lines: &[&str]| EngineAnswer::Refused(lines.iter().map(|line| (*line).to_owned()).collect());
        assert_eq!(compare(&lines(&["x", "y"]), &lines(&["x", "y"])), Verdict::Same { elements: 0, refused: true });
        assert_eq!(compare(&lines(&["x", "y"]), &lines(&["y", "x"])), Verdict::Differs(AnswerDifference::Words));
        assert_eq!(compare(&lines(&["x"]), &lines(&["x", "y"])), Verdict::Differs(AnswerDifference::Words));
        let refused = |line: &str| EngineAnswer::Refused(vec![line.to_owned()]);
        let body = EngineAnswer::Body(one);
        assert_eq!(compare(&refused("x"), &body), Verdict::Differs(AnswerDifference::Outcome));
        assert_eq!(compare(&refused("x"), &refused("y")), Verdict::Differs(AnswerDifference::Words));
        assert_eq!(compare(&EngineAnswer::Failed("late".to_owned()), &body), Verdict::Nothing);
    }
}
