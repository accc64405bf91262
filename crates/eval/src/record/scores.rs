//! Named scores: fields of a record that only their metric knows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Score {
    /// A boolean, written as 1 or 0.
    Flag(bool),
    /// A share, 0 to 1.
    Share(f64),
}

impl Score {
    /// Returns the score as a number, 0 to 1.
    pub fn number(self) -> f64 {
        match self {
            Score::Flag(flag) => f64::from(u8::from(flag)),
            Score::Share(share) => share,
        }
    }
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Score::Flag(flag) => serializer.serialize_u8(flag.into()),
            Score::Share(share) => serializer.serialize_f64(share),
        }
    }
}

/// The scores of an instance in the order of their setting, each name once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores(Vec<(Cow<'static, str>, Score)>);

impl Scores {
    /// Sets a named score.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, score: Score) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = score,
            None => self.0.push((name, score)),
        }
    }

    /// Returns a named score, 0 to 1, if it exists.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, score)| score.number())
    }

    /// Keeps the scores with some names.
    pub fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| keep(name));
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, score)| (name, score)))
    }
}

/// Collects the numbers among the remaining fields and ignores other values.
impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scores, D::Error> {
        deserializer.deserialize_map(ScoresVisitor)
    }
}

struct ScoresVisitor;

impl<'de> Visitor<'de> for ScoresVisitor {
    type Value = Scores;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("scores by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scores, A::Error> {
        let mut scores = Scores::default();
        while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
            let serde_json::Value::Number(number) = value else { continue };
            let score = match (number.as_u64(), number.as_f64()) {
                (Some(flag @ (0 | 1)), _) => Score::Flag(flag == 1),
                (_, Some(share)) => Score::Share(share),
                _ => continue,
            };
            scores.set(name, score);
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_come_back_as_they_were() {
        let mut scores = Scores::default();
        scores.set("b", Score::Share(1.0));
        scores.set("a", Score::Flag(true));
        scores.set("b", Score::Share(0.1 + 0.2));
        scores.set("c", Score::Flag(false));
        let text = serde_json::to_string(&scores).unwrap();
        assert_eq!(text, r#"{"b":0.30000000000000004,"a":1,"c":0}"#);
        assert_eq!(serde_json::from_str::<Scores>(&text).unwrap(), scores);
        assert_eq!((scores.get("a"), scores.get("d")), (Some(1.0), None));
        scores.retain(|name| name == "c");
        assert_eq!(serde_json::to_string(&scores).unwrap(), r#"{"c":0}"#);
    }
}
