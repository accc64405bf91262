//! The places, things, names and properties that a question mentions, listed by a model or guessed from words with
//! capitals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use terrapin_base::words::words;

/// Maximum mentions of a kind.
const MOST: usize = 6;
/// Maximum number of characters of a mention.
const LONGEST: usize = 120;
/// Letters that two words must share at their beginning to count as forms of one word: "museum" and "musées".
const STEM: usize = 4;

/// The mentions of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Parses the first JSON object in a reply.
    ///
    /// # Errors
    /// Returns a message for the user if the reply has no such object, or an empty one.
    pub fn read(reply: &str) -> Result<Mentions, String> {
        let start = reply.find('{').ok_or("the reply has no JSON object")?;
        let mut objects = serde_json::Deserializer::from_str(&reply[start..]).into_iter::<Mentions>();
        match objects.next() {
            Some(Ok(mentions)) => mentions.bounded().unless_empty(),
            Some(Err(wrong)) => Err(format!("the reply is not the JSON object expected: {wrong}")),
            None => Err("the reply has no JSON object".to_owned()),
        }
    }

    /// Returns whether a reply has a whole JSON object, so that the rest of it is not needed.
    pub fn is_complete(reply: &str) -> bool {
        let Some(start) = reply.find('{') else { return false };
        let mut objects = serde_json::Deserializer::from_str(&reply[start..]).into_iter::<serde::de::IgnoredAny>();
        matches!(objects.next(), Some(Ok(_)))
    }

    /// Removes the examples of the prompt that the question does not mention: small models repeat them. A single one
    /// among the names and among the properties stays, since they may be inferred: "how many people" asks for
    /// "population".
    ///
    /// # Errors
    /// Returns a message for the user if all mentions are such examples.
    pub fn without_examples(mut self, examples: &[String], question: &str) -> Result<Mentions, String> {
        let own = words(question);
        let is_in_question = |text: &str| words(text).iter().all(|word| own.iter().any(|own| is_same(word, own)));
        let is_example = |text: &String| {
            examples.iter().any(|example| example.eq_ignore_ascii_case(text.trim())) && !is_in_question(text)
        };
        if self.lists().into_iter().flatten().all(|text| is_example(text)) {
            return Err("the reply only repeats the examples of the prompt".to_owned());
        }
        for (list, may_stay) in self.lists().into_iter().zip([0, 0, 1, 1]) {
            if list.iter().filter(|text| is_example(text)).count() > may_stay {
                list.retain(|text| !is_example(text));
            }
        }
        Ok(self)
    }

    /// Guesses mentions without a model: the whole question is a thing, and words with capitals are names.
    pub fn guess(question: &str) -> Mentions {
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

    /// Returns at most `MOST` mentions of each kind, without blank ones.
    pub fn bounded(mut self) -> Mentions {
        for list in self.lists() {
            list.retain(|text| !text.trim().is_empty());
            list.truncate(MOST);
            for text in list {
                *text = text.chars().take(LONGEST).collect();
            }
        }
        self
    }

    fn is_empty(&self) -> bool {
        [&self.places, &self.things, &self.names, &self.properties].iter().all(|list| list.is_empty())
    }

    fn unless_empty(self) -> Result<Mentions, String> {
        if self.is_empty() { Err("the reply mentions nothing".to_owned()) } else { Ok(self) }
    }

    fn lists(&mut self) -> [&mut Vec<String>; 4] {
        [&mut self.places, &mut self.things, &mut self.names, &mut self.properties]
    }
}

/// Returns whether two words may be forms of one.
fn is_same(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    a == b || shared >= STEM
}

/// Returns the examples in a prompt: the texts between quotes, without the names of the lists.
pub fn examples(prompt: &str) -> Vec<String> {
    let names = ["places", "things", "names", "properties"];
    let quoted = prompt.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
    quoted.filter(|text| !text.is_empty() && !names.contains(text)).map(str::to_owned).collect()
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
    fn an_empty_object_is_no_answer() {
        for reply in [
            "{}",
            r#"{"places": [], "things": [], "names": [], "properties": []}"#,
            r#"{"places": ["", " "], "things": []}"#,
        ] {
            assert_eq!(Mentions::read(reply), Err("the reply mentions nothing".to_owned()), "{reply}");
        }
    }

    #[test]
    fn an_object_is_complete_when_it_is_closed() {
        let reply = r#"Here: {"places": ["a}b"], "x": {"y": 1}} and so on"#;
        let end = reply.rfind('}').unwrap() + 1;
        for at in 0..=reply.len() {
            assert_eq!(Mentions::is_complete(&reply[..at]), at >= end, "{}", &reply[..at]);
        }
        assert!(!Mentions::is_complete("{broken}"));
    }

    #[test]
    fn examples_of_the_prompt_are_no_mentions() {
        let examples = examples(include_str!("prompts/mentions.md"));
        assert!(examples.len() >= 9 && examples.contains(&"Douglas Adams".to_owned()), "{examples:?}");
        let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mentions = |places: &[&str], things: &[&str], properties: &[&str]| Mentions {
            places: list(places),
            things: list(things),
            names: Vec::new(),
            properties: list(properties),
        };
        let check = |mentions: Mentions, question: &str| mentions.without_examples(&examples, question);
        // All of the examples.
        let echo = Mentions { places: examples.clone(), names: examples.clone(), ..Mentions::default() };
        assert!(check(echo, "Which cafes are in Ladle?").is_err());
        assert!(check(mentions(&["valletta"], &["Museum"], &["population"]), "Which cafes are in Ladle?").is_err());
        // The question mentions them.
        for question in ["Which museums are in Valletta?", "Quels mus\u{e9}es y a-t-il \u{e0} Valletta?"] {
            let own = mentions(&["Valletta"], &["museum"], &[]);
            assert_eq!(check(own.clone(), question), Ok(own), "{question}");
        }
        // Some are own.
        let mixed = mentions(&["Sliema", "Valletta"], &["museum"], &["population", "inception"]);
        assert_eq!(check(mixed, "How many people live in Sliema?"), Ok(mentions(&["Sliema"], &[], &[])));
        // A single one may be inferred.
        let single = mentions(&["Sliema"], &[], &["population", "area"]);
        assert_eq!(check(single.clone(), "How many people live in Sliema?"), Ok(single));
        let class = Mentions { names: list(&["municipality of Brazil", "Bahia"]), ..Mentions::default() };
        assert_eq!(check(class.clone(), "Which are the largest towns of Bahia?"), Ok(class));
        let both =
            Mentions { names: list(&["Bahia", "municipality of Brazil", "Douglas Adams"]), ..Mentions::default() };
        assert_eq!(check(both, "Largest towns of Bahia?").unwrap().names, ["Bahia"]);
    }

    #[test]
    fn words_with_capitals_are_guessed_to_be_names() {
        let guessed = Mentions::guess("Which museums in Valletta, Malta are near Republic Street?");
        assert_eq!(guessed.places, ["Valletta", "Malta", "Republic Street"]);
    }
}
