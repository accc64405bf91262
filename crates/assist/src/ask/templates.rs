//! Prompts by name: our own, and those of published evaluations. A published prompt has neither candidates nor our
//! pages about languages, and its examples are part of its text.

use terrapin_chat::{ChatMessage, MessageRole};

use super::Lang;
use super::examples::Example;
use super::prompts::{Prompt, Prompts};
use super::written::{ModelQuery, fenced};

/// A prompt by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PromptTemplate {
    /// Ours: mentions are searched for, examples are turns of the conversation.
    #[default]
    Default,
    /// OverpassNL's, with examples.
    OverpassNl5Shot,
    /// OverpassNL's, with examples and a hypothesis to improve.
    OverpassNlRefine,
    /// Instruct-to-SPARQL's.
    InstructToSparql,
}

/// The sign of a further example that a model writes after its query.
const NEXT_INPUT: &str = "\nInput:";

impl PromptTemplate {
    /// All of them.
    pub const ALL: [PromptTemplate; 4] = [
        PromptTemplate::Default,
        PromptTemplate::OverpassNl5Shot,
        PromptTemplate::OverpassNlRefine,
        PromptTemplate::InstructToSparql,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            PromptTemplate::Default => "default",
            PromptTemplate::OverpassNl5Shot => "overpassnl-5shot",
            PromptTemplate::OverpassNlRefine => "overpassnl-refine",
            PromptTemplate::InstructToSparql => "instruct-to-sparql",
        }
    }

    /// Returns the template with a name.
    pub fn named(name: &str) -> Option<PromptTemplate> {
        PromptTemplate::ALL.into_iter().find(|template| template.name() == name)
    }

    /// Returns the only language of its queries; `None` for both.
    pub fn language(self) -> Option<Lang> {
        match self {
            PromptTemplate::Default => None,
            PromptTemplate::OverpassNl5Shot | PromptTemplate::OverpassNlRefine => Some(Lang::Overpassql),
            PromptTemplate::InstructToSparql => Some(Lang::Sparql),
        }
    }

    /// Returns the examples in the order of the prompt, from those with the nearest first. Instruct-to-SPARQL has the
    /// nearest first; in the others it is next to the question.
    pub fn ordered(self, mut nearest_first: Vec<Example>) -> Vec<Example> {
        if self != PromptTemplate::InstructToSparql {
            nearest_first.reverse();
        }
        nearest_first
    }

    /// Returns the messages of a published prompt for a question. The examples are in the order of the prompt.
    pub fn messages(self, prompts: &Prompts, question: &str, examples: &[Example]) -> Vec<ChatMessage> {
        if self == PromptTemplate::InstructToSparql {
            let all = listed(prompts, Prompt::InstructToSparqlExample, examples, "\n");
            let all = if all.is_empty() { all } else { format!("Examples:\n{all}") };
            let system = prompts.fill(Prompt::InstructToSparql, &[("examples", &all)]);
            return vec![
                ChatMessage::new(MessageRole::System, system),
                ChatMessage::new(MessageRole::User, question.trim()),
            ];
        }
        let all = listed(prompts, Prompt::OverpassNlExample, examples, "\n\n");
        let values = [("examples", all.as_str()), ("question", question.trim())];
        vec![ChatMessage::new(MessageRole::User, prompts.fill(Prompt::OverpassNl5Shot, &values))]
    }
}

/// Returns the messages of OverpassNL's prompt for refining a hypothesis, with feedback on it or without.
pub fn refinement(
    prompts: &Prompts,
    question: &str,
    examples: &[Example],
    hypothesis: &str,
    feedback: Option<&str>,
) -> Vec<ChatMessage> {
    let all = examples.iter().map(|example| {
        let prompt =
            if example.hypothesis.is_some() { Prompt::OverpassNlHypothesis } else { Prompt::OverpassNlExample };
        filled(prompts, prompt, example)
    });
    let all = all.collect::<Vec<_>>().join("\n\n");
    let prompt = if feedback.is_some() { Prompt::OverpassNlRefine } else { Prompt::OverpassNlRefineBlind };
    let values = [
        ("examples", all.as_str()),
        ("question", question.trim()),
        ("hypothesis", hypothesis.trim()),
        ("feedback", feedback.unwrap_or_default()),
    ];
    vec![ChatMessage::new(MessageRole::User, prompts.fill(prompt, &values))]
}

/// Returns examples as turns of a conversation: the question of the user, and the reply of the model in the form that
/// our prompt requires.
pub fn turns(examples: &[Example]) -> Vec<ChatMessage> {
    let turn = |example: &Example| {
        let query = ModelQuery { language: example.language.into(), query: example.query.clone() };
        let reply = fenced(std::slice::from_ref(&query), has_positions(&query));
        [ChatMessage::new(MessageRole::User, example.question.trim()), ChatMessage::new(MessageRole::Assistant, reply)]
    };
    examples.iter().flat_map(turn).collect()
}

/// Returns a reply up to a further example that the model made up.
pub fn without_next_input(reply: &str) -> &str {
    reply.find(NEXT_INPUT).map_or(reply, |at| &reply[..at])
}

/// Returns whether the answer of a query probably has positions for a map.
pub fn has_positions(query: &ModelQuery) -> bool {
    let has = |text: &str| query.query.contains(text);
    match query.language {
        Lang::Overpassql => !has("out count") && !has("out:csv"),
        Lang::Sparql => has("P625") || has("geo:"),
    }
}

fn listed(prompts: &Prompts, prompt: Prompt, examples: &[Example], between: &str) -> String {
    examples.iter().map(|example| filled(prompts, prompt, example)).collect::<Vec<_>>().join(between)
}

fn filled(prompts: &Prompts, prompt: Prompt, example: &Example) -> String {
    let values = [
        ("question", example.question.trim()),
        ("query", example.query.trim()),
        ("hypothesis", example.hypothesis.as_deref().unwrap_or_default().trim()),
    ];
    prompts.fill(prompt, &values)
}

#[cfg(test)]
mod tests {
    use terrapin_eval::language::QueryLanguage;

    use super::*;

    fn example(question: &str, query: &str, hypothesis: Option<&str>) -> Example {
        Example {
            id: "1".to_owned(),
            question: question.to_owned(),
            query: query.to_owned(),
            language: QueryLanguage::OverpassQl,
            hypothesis: hypothesis.map(str::to_owned),
        }
    }

    #[test]
    fn published_prompts_have_their_form() {
        let prompts = Prompts::default();
        let examples =
            [example("Bars?", "node[amenity=bar];out;", None), example("Inns?", "node[amenity=inn];out;", None)];
        let messages = PromptTemplate::OverpassNl5Shot.messages(&prompts, "Cafes?", &examples);
        let [message] = &messages[..] else { panic!("{messages:?}") };
        let expected = "Here are a few examples:\n\nInput: Bars?\nOverpass Query: node[amenity=bar];out;\n\n\
                        Input: Inns?\nOverpass Query: node[amenity=inn];out;\n\nInput: Cafes?\nOverpass Query:";
        assert!(message.role == MessageRole::User && message.content.ends_with(expected), "{}", message.content);
        let messages = PromptTemplate::InstructToSparql.messages(&prompts, "Cafes?", &examples[..1]);
        assert_eq!((messages[0].role, messages[1].content.as_str()), (MessageRole::System, "Cafes?"));
        let expected = "between the tags [QUERY] and [/QUERY].\n\nExamples:\n- User: Bars?\nAnswer: Here is the SPARQL \
                        query:\n[QUERY]\nnode[amenity=bar];out;\n[/QUERY]";
        assert!(messages[0].content.ends_with(expected), "{}", messages[0].content);
        let none = PromptTemplate::InstructToSparql.messages(&prompts, "Cafes?", &[]);
        assert!(none[0].content.ends_with("[/QUERY]."), "{}", none[0].content);
    }

    #[test]
    fn hypotheses_are_shown_with_and_without_feedback() {
        let prompts = Prompts::default();
        let examples = [example("Bars?", "node[amenity=bar];out;", Some("node[bar];out;"))];
        let text = |feedback| refinement(&prompts, "Cafes?", &examples, "node[cafe];out;", feedback).remove(0).content;
        let with = text(Some("No results found"));
        assert!(
            with.contains("Input: Bars?\nHypothesis: node[bar];out;\nOverpass Query: node[amenity=bar];out;"),
            "{with}"
        );
        assert!(
            with.contains("produced by a model: node[cafe];out;") && with.contains("asked query: No results found")
        );
        let without = text(None);
        assert!(!without.contains("You will now get") && without.ends_with("if it is good enough:"), "{without}");
        assert_eq!(without_next_input("node;out;\n\nInput: Inns?\nOverpass Query: x"), "node;out;\n");
    }

    #[test]
    fn examples_are_turns_in_the_form_of_replies() {
        let turns =
            turns(&[example("Bars?", "node[amenity=bar];out;", None), example("How many?", "node;out count;", None)]);
        let contents: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
        assert_eq!(
            contents,
            [
                "Bars?",
                "map: yes\n```overpassql\nnode[amenity=bar];out;\n```",
                "How many?",
                "map: no\n```overpassql\nnode;out count;\n```"
            ]
        );
        let order = |template: PromptTemplate| {
            let ids = template.ordered(vec![example("a", "", None), example("b", "", None)]);
            ids.into_iter().map(|example| example.question).collect::<Vec<_>>()
        };
        assert_eq!(order(PromptTemplate::Default), ["b", "a"]);
        assert_eq!(order(PromptTemplate::InstructToSparql), ["a", "b"]);
    }
}
