//! The examples of a prompt: their selection, and fewer of them if the prompt is longer than the model's context, as
//! the server reports it or as it rejects a prompt.

use terrapin_chat::{ChatErrorKind, ChatMessage};

use super::super::examples::Example;
use super::super::written::ReplyContent;
use super::super::{AskFailure, AskStep, PromptTemplate};
use super::Conversation;

/// Bytes of a prompt for each token, for an estimate before the server counts them. English has about four, queries
/// about three.
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens of a message besides its text, in the estimate.
const MESSAGE_TOKENS: u64 = 8;
/// The largest part of the context that is kept free for the reply: one in this many.
const REPLY_SHARE: u64 = 4;

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
        let most = if examples.is_empty() { None } else { self.most_prompt_tokens() };
        let selected = examples.len();
        let mut messages = build(self, &examples);
        while most.is_some_and(|most| tokens(&messages) > most) && !examples.is_empty() {
            self.remove_farthest(&mut examples);
            messages = build(self, &examples);
        }
        if examples.len() < selected {
            self.show_examples(&examples);
        }
        loop {
            if self.is_published() {
                let prompt = messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
                self.step(AskStep::Prompt { prompt });
            }
            match self.written(&messages) {
                Err(AskFailure::Model(error)) if error.kind == ChatErrorKind::TooLong && !examples.is_empty() => {
                    self.remove_farthest(&mut examples);
                    self.show_examples(&examples);
                    messages = build(self, &examples);
                }
                written => return Ok((messages, written?)),
            }
        }
    }

    fn remove_farthest(&self, examples: &mut Vec<Example>) {
        let farthest = match self.settings.template {
            PromptTemplate::InstructToSparql => examples.len() - 1,
            _ => 0,
        };
        examples.remove(farthest);
    }

    /// Returns the tokens that a prompt may have, if the server reports its context length: the rest is for the reply.
    fn most_prompt_tokens(&self) -> Option<u64> {
        let context = self.model.capabilities().context?;
        Some(context - u64::from(self.settings.query_tokens).min(context / REPLY_SHARE))
    }

    /// Returns whether the prompt is one of a published evaluation.
    pub(super) fn is_published(&self) -> bool {
        self.settings.template != PromptTemplate::Default
    }
}

/// Estimates the tokens of messages.
fn tokens(messages: &[ChatMessage]) -> u64 {
    messages.iter().map(|message| (message.content.len() as u64).div_ceil(BYTES_PER_TOKEN) + MESSAGE_TOKENS).sum()
}
