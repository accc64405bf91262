//! Messages of a conversation.

use serde::Serialize;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageRole {
    /// Instructions for the whole conversation.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatMessage {
    /// Its author.
    pub role: MessageRole,
    /// Its text.
    pub content: String,
}

impl ChatMessage {
    /// Creates a message of this author.
    pub fn new(role: MessageRole, content: impl Into<String>) -> ChatMessage {
        ChatMessage { role, content: content.into() }
    }
}
