//! The examples of a prompt: their selection, and fewer of them if the prompt is longer than the model's context.

use terrapin_chat::{ChatErrorKind, ChatMessage};

use super::super::examples::Example;
use super::super::written::ReplyContent;
use super::super::{AskFailure, AskStep, PromptTemplate};
use super::Conversation;

impl Conversation<'_> {
    /// Returns the examples for the prompt, in its order.
    fn examples(&mut self) -> Result<Vec<Example>, AskFailure> {
        let Some(selector) = self.settings.examples.clone() else { return Ok(Vec::new()) };
        let selected = selector.select(&self.question.question, self.only(), self.patience())?;
        let examples = self.settings.template.ordered(selected.into_iter().cloned().collect());
        self.show_examples(&examples);
        Ok(examples)
    }

    fn show_examples(&mut self, examples: &[Example]) {
        self.step(AskStep::Examples { ids: examples.iter().map(|example| example.id.clone()).collect() });
    }

    /// Returns the reply to the messages that `build` makes of the examples, and these messages. If the server rejects
    /// the prompt as too long, the farthest example is left out, and so on.
    pub(super) fn first_reply(
        &mut self,
        build: &dyn Fn(&Self, &[Example]) -> Vec<ChatMessage>,
    ) -> Result<(Vec<ChatMessage>, ReplyContent), AskFailure> {
        let mut examples = self.examples()?;
        loop {
            let messages = build(self, &examples);
            if self.is_published() {
                let prompt = messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
                self.step(AskStep::Prompt { prompt });
            }
            match self.written(&messages) {
                Err(AskFailure::Model(error)) if error.kind == ChatErrorKind::TooLong && !examples.is_empty() => {
                    let farthest = match self.settings.template {
                        PromptTemplate::InstructToSparql => examples.len() - 1,
                        _ => 0,
                    };
                    examples.remove(farthest);
                    self.show_examples(&examples);
                }
                written => return Ok((messages, written?)),
            }
        }
    }

    /// Returns whether the prompt is one of a published evaluation.
    pub(super) fn is_published(&self) -> bool {
        self.settings.template != PromptTemplate::Default
    }
}
