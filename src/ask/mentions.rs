//! What a question mentions, as the model tells it.

use serde::{Deserialize, Serialize};

/// Mentions of a kind that are looked up.
const MOST: usize = 6;
/// Letters of one.
const LONGEST: usize = 120;

/// What a question mentions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mentions {
    /// Names of places.
    pub places: Vec<String>,
    /// Kinds of things, in English.
    pub things: Vec<String>,
    /// Names of other things, and of classes.
    pub names: Vec<String>,
    /// Properties.
    pub properties: Vec<String>,
}

impl Mentions {
    /// Reads a reply: the first JSON object in it.
    ///
    /// # Errors
    /// In words, why there is none.
    pub fn read(reply: &str) -> Result<Mentions, String> {
        let start = reply.find('{').ok_or("there is no JSON object in the reply")?;
        let mut objects = serde_json::Deserializer::from_str(&reply[start..]).into_iter::<Mentions>();
        match objects.next() {
            Some(Ok(mentions)) => Ok(mentions.bounded()),
            Some(Err(wrong)) => Err(format!("the reply is not the JSON object expected: {wrong}")),
            None => Err("there is no JSON object in the reply".to_owned()),
        }
    }

    /// What can be told without the model: the question is about a thing, and words with capitals may be names.
    pub fn guessed(question: &str) -> Mentions {
        let mut names: Vec<String> = Vec::new();
        let mut goes_on = false;
        for (place, word) in question.split_whitespace().enumerate() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let is_name = place > 0 && bare.chars().next().is_some_and(char::is_uppercase);
            match names.last_mut() {
                Some(name) if is_name && goes_on => {
                    name.push(' ');
                    name.push_str(bare);
                }
                _ if is_name => names.push(bare.to_owned()),
                _ => {}
            }
            goes_on = is_name && word.ends_with(char::is_alphanumeric);
        }
        Mentions { places: names.clone(), things: vec![question.to_owned()], names, ..Mentions::default() }.bounded()
    }

    /// No more than is looked up.
    pub fn bounded(mut self) -> Mentions {
        for list in [&mut self.places, &mut self.things, &mut self.names, &mut self.properties] {
            list.retain(|text| !text.trim().is_empty());
            list.truncate(MOST);
            for text in list {
                *text = text.chars().take(LONGEST).collect();
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_replies() {
        let read = Mentions::read(
            "Sure:\n```json\n{\"places\": [\"Valletta\"], \"things\": [\"museum\"], \"map\": true}\n```",
        )
        .unwrap();
        assert_eq!((read.places, read.things), (vec!["Valletta".to_owned()], vec!["museum".to_owned()]));
        assert!(Mentions::read("none").is_err());
        assert!(Mentions::read("{\"places\": \"Valletta\"").is_err());
        let many = format!("{{\"names\": [{}\"\"]}}", "\"a\",".repeat(50));
        assert_eq!(Mentions::read(&many).unwrap().names.len(), MOST);
    }

    #[test]
    fn capitals_are_guessed_to_be_names() {
        let guessed = Mentions::guessed("Which museums in Valletta, Malta are near Republic Street?");
        assert_eq!(guessed.places, ["Valletta", "Malta", "Republic Street"]);
    }
}
