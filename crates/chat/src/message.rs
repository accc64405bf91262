//! What is sent.

use serde::Serialize;

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// What holds for the whole conversation.
    System,
    /// Whoever asks.
    User,
    /// The model.
    Assistant,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// By whom.
    pub role: Role,
    /// What.
    pub content: String,
}

impl Message {
    /// Said by this one.
    pub fn new(role: Role, content: impl Into<String>) -> Message {
        Message { role, content: content.into() }
    }
}
