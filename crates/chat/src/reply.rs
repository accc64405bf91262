//! A reply, collected from one object or from the pieces of a stream.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::is_about_length;
use crate::usage::{PieceReports, ServerReports, Timings, Usage, lenient};
use crate::{ChatError, ChatErrorKind, ReplyTiming, ServerIdentity, TokenCounts};

/// Maximum number of tool calls in a reply.
const TOOLS: usize = 16;
/// Maximum number of entries of a list; the rest is skipped. A parsed tree takes many times the bytes of its text, and
/// a server may send lists of any length.
const ENTRIES: usize = 64;
/// Maximum size in bytes of an error to parse; a longer one gets a fixed text.
const ERROR: usize = 8 << 10;

/// A reply of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// The text, without the thoughts before it.
    pub text: String,
    /// Tool calls, which some models make even if no tools are offered.
    pub tool_calls: Vec<ToolCall>,
    /// The reason of a refusal.
    pub refusal: Option<String>,
    /// Whether a limit of tokens or bytes cut off the reply.
    pub is_cut: bool,
    /// Token counts.
    pub tokens: TokenCounts,
    /// Time, and tokens from the server's cache.
    pub timing: ReplyTiming,
    /// The server that sent it.
    pub server: ServerIdentity,
    /// Whether that server is llama.cpp.
    pub is_llama_cpp: bool,
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// A whole reply, or a piece of a stream.
#[derive(Deserialize)]
struct ReplyBody {
    #[serde(default, deserialize_with = "few")]
    choices: Vec<ReplyChoice>,
    error: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    system_fingerprint: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Usage>,
    #[serde(default, deserialize_with = "lenient")]
    timings: Option<Timings>,
}

#[derive(Deserialize)]
struct ReplyChoice {
    #[serde(alias = "delta")]
    message: Option<ReplyMessage>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ReplyMessage {
    content: Option<MessageContent>,
    /// Thoughts, which llama.cpp and others send separately from the text. Only counted.
    reasoning_content: Option<IgnoredAny>,
    reasoning: Option<IgnoredAny>,
    refusal: Option<String>,
    #[serde(default, deserialize_with = "few")]
    tool_calls: Vec<Call>,
}

/// A text, which some servers send in parts.
struct MessageContent(String);

impl<'de> Deserialize<'de> for MessageContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrParts;
        impl<'de> Visitor<'de> for TextOrParts {
            type Value = MessageContent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<MessageContent, E> {
                Ok(MessageContent(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<MessageContent, A::Error> {
                let parts: Vec<ContentPart> = FewVisitor(PhantomData).visit_seq(parts)?;
                Ok(MessageContent(parts.into_iter().filter_map(|part| part.text).collect()))
            }
        }
        deserializer.deserialize_any(TextOrParts)
    }
}

/// Reads the first [`ENTRIES`] of a list, which may be `null`.
fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_any(FewVisitor(PhantomData))
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut few = Vec::new();
        while few.len() < ENTRIES {
            let Some(entry) = list.next_element()? else { return Ok(few) };
            few.push(entry);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(few)
    }
}

#[derive(Deserialize)]
struct ContentPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    /// The index of the call that a piece belongs to.
    index: Option<usize>,
    function: Option<CalledFunction>,
}

#[derive(Deserialize)]
struct CalledFunction {
    name: Option<String>,
    arguments: Option<String>,
}

/// A partially received reply.
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    text: String,
    refusal: String,
    tool_calls: Vec<ToolCall>,
    is_cut: bool,
    is_filtered: bool,
    is_thinking: bool,
    /// Whether the server sent a finish reason.
    is_ended: bool,
    /// Whether further text is dropped.
    is_closed: bool,
    /// Number of pieces with text or thoughts.
    pieces: u64,
    /// Maximum bytes.
    most: usize,
    reported: ServerReports,
}

impl ReplyBuilder {
    /// Returns an empty reply of at most `most` bytes.
    pub fn new(most: usize) -> ReplyBuilder {
        ReplyBuilder { most, ..ReplyBuilder::default() }
    }

    /// Returns whether the limit of bytes is reached.
    pub fn is_full(&self) -> bool {
        let calls: usize = self.tool_calls.iter().map(|call| call.arguments.len()).sum();
        self.text.len() + self.refusal.len() + calls > self.most
    }

    /// Returns whether the server sent a finish reason.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns the text so far, with thoughts.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of pieces with text or thoughts so far.
    pub fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Marks the reply as cut off by a limit.
    pub fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Drops all further text: the reply is complete.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// Adds a reply object, or a piece of a stream.
    ///
    /// # Errors
    /// Returns an error if the JSON is neither, or reports an error.
    pub fn take(&mut self, json: &[u8]) -> Result<(), ChatError> {
        let body: ReplyBody = serde_json::from_slice(json).map_err(|wrong| {
            ChatError::new(ChatErrorKind::Broken, format!("its reply is not the JSON expected: {wrong}"))
        })?;
        if let Some(error) = body.error.filter(|error| error.get() != "null") {
            let error =
                Some(error.get()).filter(|text| text.len() <= ERROR).and_then(|text| serde_json::from_str(text).ok());
            let error: serde_json::Value = error.unwrap_or_else(|| "an error that is too long to show".into());
            let message = message_of(&error);
            // LM Studio reports a prompt that is too long with status 200, as an event.
            let kind = if is_about_length(&message) { ChatErrorKind::TooLong } else { ChatErrorKind::Fault };
            return Err(ChatError::new(kind, format!("it says: {message}")));
        }
        let ReplyBody { choices, model, system_fingerprint, usage, timings, .. } = body;
        self.reported.take(PieceReports { model, system_fingerprint, usage, timings });
        // Requests ask for one choice.
        let Some(choice) = choices.into_iter().next() else { return Ok(()) };
        self.is_ended |= choice.finish_reason.is_some();
        match choice.finish_reason.as_deref() {
            Some("length") if !self.is_closed => self.is_cut = true,
            Some("content_filter") => self.is_filtered = true,
            _ => {}
        }
        let Some(message) = choice.message else { return Ok(()) };
        let has_thoughts = message.reasoning_content.is_some() || message.reasoning.is_some();
        let text = message.content.map(|content| content.0).unwrap_or_default();
        self.pieces += u64::from(has_thoughts || !text.is_empty());
        self.is_thinking = has_thoughts && text.is_empty();
        if self.is_closed {
            return Ok(());
        }
        self.text.push_str(&text);
        self.refusal.push_str(message.refusal.as_deref().unwrap_or_default());
        for (place, call) in message.tool_calls.into_iter().enumerate() {
            self.call(call.index.unwrap_or(place), call.function);
        }
        Ok(())
    }

    fn call(&mut self, index: usize, function: Option<CalledFunction>) {
        let Some(function) = function.filter(|_| index < TOOLS) else { return };
        if self.tool_calls.len() <= index {
            self.tool_calls.resize(index + 1, ToolCall::default());
        }
        let call = &mut self.tool_calls[index];
        call.name.push_str(function.name.as_deref().unwrap_or_default());
        call.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
    }

    /// Completes the reply. If the reply was streamed and the server reported no token count, the number of pieces is
    /// used.
    ///
    /// # Errors
    /// Returns an error if the reply is empty.
    pub fn finish(mut self, is_stream: bool) -> Result<Reply, ChatError> {
        let is_cut = self.is_cut || self.is_full();
        if self.text.len() > self.most {
            let end = (0..=self.most).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            self.text.truncate(end);
        }
        let refusal = match self.refusal.is_empty() {
            false => Some(self.refusal),
            true => self.is_filtered.then(|| "its filter let nothing through".to_owned()),
        };
        let text = terrapin_reply::answer(&self.text).into_owned();
        if text.is_empty() && refusal.is_none() && self.tool_calls.is_empty() {
            let is_thinking = self.is_thinking || !self.text.trim().is_empty();
            let message = match (is_cut, is_thinking) {
                (true, true) => "its reply was cut off while it was thinking: allow more tokens, or turn thinking off",
                (true, false) => "its reply was cut off before it said anything",
                (false, _) => "its reply is empty",
            };
            return Err(ChatError::new(ChatErrorKind::Broken, message));
        }
        let mut tokens = self.reported.tokens;
        if tokens.completion.is_none() && is_stream {
            tokens = TokenCounts { completion: Some(self.pieces), is_estimate: true, ..tokens };
        }
        Ok(Reply {
            text,
            tool_calls: self.tool_calls,
            refusal,
            is_cut,
            tokens,
            timing: ReplyTiming { cached: self.reported.cached, ..ReplyTiming::default() },
            server: self.reported.server,
            is_llama_cpp: self.reported.is_llama_cpp,
        })
    }
}

/// Returns the message in an error, on one line and of bounded length.
pub fn message_of(error: &serde_json::Value) -> String {
    let text = error.as_str().or_else(|| error["message"].as_str()).or_else(|| error["error"]["message"].as_str());
    let text = text.map_or_else(|| error.to_string(), str::to_owned);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(pieces: &[&str]) -> ServerReports {
        let mut builder = ReplyBuilder::new(1000);
        for piece in pieces {
            builder.take(piece.as_bytes()).unwrap();
        }
        builder.reported
    }

    /// The last chunks of llama.cpp b11669, with and without `stream_options.include_usage`.
    #[test]
    fn reports_of_llama_cpp_are_read() {
        let timings = r#""timings": {"cache_n": 30, "prompt_n": 1, "prompt_ms": 34.684, "predicted_n": 8}"#;
        let usage = r#""usage": {"completion_tokens": 8, "prompt_tokens": 31, "total_tokens": 39, "prompt_tokens_details": {"cached_tokens": 30}}"#;
        for piece in [
            format!(r#"{{"model": "/srv/a.gguf", "system_fingerprint": "b11669-Debian", {timings}}}"#),
            format!(r#"{{"model": "/srv/a.gguf", "system_fingerprint": "b11669-Debian", {usage}, {timings}}}"#),
        ] {
            let found = reported(&[&piece]);
            assert_eq!(
                (found.tokens, found.cached, found.is_llama_cpp),
                (TokenCounts { prompt: Some(31), completion: Some(8), is_estimate: false }, Some(30), true)
            );
            assert_eq!(found.server.model.as_deref(), Some("a.gguf"));
            assert_eq!(found.server.fingerprint.as_deref(), Some("b11669-Debian"));
        }
    }

    #[test]
    fn reports_of_other_forms_are_ignored() {
        for piece in [
            "{}",
            r#"{"usage": null, "timings": null, "model": null}"#,
            r#"{"usage": [], "timings": 7, "model": {"a": 1}, "system_fingerprint": 3}"#,
            r#"{"usage": {"prompt_tokens": -1, "completion_tokens": "many"}}"#,
        ] {
            let found = reported(&[piece]);
            assert!(found.tokens.is_empty() && found.cached.is_none() && found.server.is_empty(), "{piece}");
        }
    }

    fn reply(pieces: &[&str]) -> Result<Reply, ChatError> {
        let mut builder = ReplyBuilder::new(20);
        pieces.iter().try_for_each(|piece| builder.take(piece.as_bytes()))?;
        builder.finish(false)
    }

    #[test]
    fn lists_of_any_length_are_read_and_64_entries_kept() {
        let many = |entry: &str| format!("[{}{entry}]", format!("{entry},").repeat(1_000));
        let choice = r#"{"message": {"content": "a"}}"#;
        assert_eq!(reply(&[&format!("{{\"choices\": {}}}", many(choice))]).unwrap().text, "a");
        let parts = format!("{{\"choices\": [{{\"message\": {{\"content\": {}}}}}]}}", many(r#"{"text": "b"}"#));
        let parts = reply(&[&parts]).unwrap();
        assert_eq!((parts.text.as_str(), parts.is_cut), ("b".repeat(20).as_str(), true));
        let calls = format!("{{\"choices\": [{{\"message\": {{\"tool_calls\": {}}}}}]}}", many(r#"{"function": {}}"#));
        assert_eq!(reply(&[&calls]).unwrap().tool_calls.len(), TOOLS);
        let error = reply(&[&format!("{{\"error\": {}}}", many("{}"))]).unwrap_err();
        assert_eq!((error.kind, error.message.contains("too long")), (ChatErrorKind::Fault, false));
        let error = reply(&[&format!("{{\"error\": {}}}", many(r#"{"message": "x"}"#))]).unwrap_err();
        assert!(error.message.contains("too long"), "{}", error.message);
    }

    #[test]
    fn pieces_and_objects_give_the_same() {
        let whole = reply(&[
            r#"{"choices": [{"message": {"role": "assistant", "content": "node;out;"}, "finish_reason": "stop"}]}"#,
        ]);
        let parts = reply(&[r#"{"choices": [{"message": {"content": [{"type": "text", "text": "node;out;"}]}}]}"#]);
        let pieces = reply(&[
            r#"{"choices": [{"delta": {"role": "assistant", "content": ""}}]}"#,
            r#"{"choices": [{"delta": {"content": "node;"}, "finish_reason": null}]}"#,
            r#"{"choices": [{"delta": {"content": "out;"}}]}"#,
            r#"{"choices": [], "usage": {}}"#,
        ]);
        let expected = Reply { text: "node;out;".to_owned(), ..Reply::default() };
        assert_eq!((whole, parts, pieces), (Ok(expected.clone()), Ok(expected.clone()), Ok(expected)));
    }

    #[test]
    fn thoughts_tools_refusals_and_errors_are_read() {
        let thought = reply(&[r#"{"choices": [{"message": {"content": "<think>hm</think> a"}}]}"#]).unwrap();
        assert_eq!(thought.text, "a");
        let cut = reply(&[r#"{"choices": [{"message": {"content": "0123456789012345678é"}}]}"#]).unwrap();
        assert_eq!((cut.text.as_str(), cut.is_cut), ("0123456789012345678", true));
        assert!(reply(&[r#"{"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}"#]).unwrap().is_cut);
        let call = reply(&[
            r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "query", "arguments": "{\"q"}}]}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "\": 1}"}}]}}]}"#,
        ]);
        let tool = ToolCall { name: "query".to_owned(), arguments: r#"{"q": 1}"#.to_owned() };
        assert_eq!(call.unwrap().tool_calls, [tool]);
        let refused = reply(&[r#"{"choices": [{"message": {"content": null, "refusal": "no"}}]}"#]).unwrap();
        assert_eq!(refused.refusal.as_deref(), Some("no"));
        assert!(
            reply(&[r#"{"choices": [{"message": {"content": null}, "finish_reason": "content_filter"}]}"#])
                .unwrap()
                .refusal
                .is_some()
        );
        for (wrong, kind) in [
            ("", ChatErrorKind::Broken),
            ("[1", ChatErrorKind::Broken),
            (r#"{"choices": []}"#, ChatErrorKind::Broken),
            (r#"{"choices": [{"message": {"content": "<think>for ever"}}]}"#, ChatErrorKind::Broken),
            (r#"{"error": {"message": "overloaded"}}"#, ChatErrorKind::Fault),
            // LM Studio.
            (
                r#"{"error": {"message": "The number of tokens to keep from the initial prompt is greater than the context length."}}"#,
                ChatErrorKind::TooLong,
            ),
        ] {
            assert_eq!(reply(&[wrong]).unwrap_err().kind, kind, "{wrong}");
        }
    }
}
