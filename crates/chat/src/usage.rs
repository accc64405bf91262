//! Tokens, time and the identity of the server, as far as a server reports them.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Bytes of a report that are read; a longer one is ignored.
const REPORT: usize = 8 << 10;
/// Characters of a name that are kept.
const NAME: usize = 200;

/// Tokens of one exchange, as the server counts them. They depend on the request and the model alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenCounts {
    /// Tokens of the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
    /// Tokens of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// Whether `completion` is the number of pieces that were read, because the server reported no count.
    #[serde(rename = "estimate", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
}

impl TokenCounts {
    /// Returns whether no count is known.
    pub fn is_empty(&self) -> bool {
        self.prompt.is_none() && self.completion.is_none()
    }

    /// Adds the counts of another exchange.
    pub fn add(&mut self, other: &TokenCounts) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        self.prompt = sum(self.prompt, other.prompt);
        self.completion = sum(self.completion, other.completion);
        self.is_estimate |= other.is_estimate;
    }
}

/// The part of a reply's cost that differs between two equal requests: it depends on the machine and on earlier requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ReplyTiming {
    /// Seconds from the request to the end of the reply, retries included, to the millisecond.
    pub seconds: f64,
    /// Tokens of the prompt that the server had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

impl ReplyTiming {
    /// Sets the time.
    pub fn set_time(&mut self, time: Duration) {
        self.seconds = (time.as_secs_f64() * 1e3).round() / 1e3;
    }
}

/// What replied, as far as the server reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// Name of the model in the reply, such as `gpt-4o-2024-08-06`. Of a file's path only the file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `system_fingerprint` of the reply: the build of llama.cpp, the configuration at OpenAI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Context length in tokens. Known of llama.cpp only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

impl ServerIdentity {
    /// Returns whether the server reported nothing.
    pub fn is_empty(&self) -> bool {
        self.model.is_none() && self.fingerprint.is_none()
    }
}

/// The reports of a reply or of a piece of one.
#[derive(Deserialize)]
pub struct Reports {
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    system_fingerprint: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<Usage>,
    #[serde(default, deserialize_with = "lenient")]
    timings: Option<Timings>,
}

/// `usage` of OpenAI's protocol.
#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

/// `timings` of llama.cpp's server. `prompt_n` is without the cached tokens.
#[derive(Deserialize)]
struct Timings {
    cache_n: Option<u64>,
    prompt_n: Option<u64>,
    predicted_n: Option<u64>,
}

/// Reads a report of any form: one of another type is ignored, because a reply is of use without it.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
    Ok(raw.filter(|raw| raw.get().len() <= REPORT).and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

/// The reports of a whole reply. Later pieces of a stream replace earlier ones.
#[derive(Debug, Default)]
pub struct Reported {
    /// Tokens.
    pub tokens: TokenCounts,
    /// Tokens of the prompt from the server's cache.
    pub cached: Option<u64>,
    /// The server.
    pub server: ServerIdentity,
    /// Whether the server is llama.cpp's.
    pub is_llama_cpp: bool,
}

impl Reported {
    /// Takes the reports of a piece.
    pub fn take(&mut self, reports: Reports) {
        if let Some(model) = reports.model.filter(|name| !name.is_empty()) {
            self.server.model = Some(model_name(&model));
        }
        if let Some(fingerprint) = reports.system_fingerprint.filter(|text| !text.is_empty()) {
            self.server.fingerprint = Some(fingerprint.chars().take(NAME).collect());
        }
        if let Some(timings) = reports.timings {
            self.is_llama_cpp = true;
            self.cached = timings.cache_n.or(self.cached);
            let prompt = timings.prompt_n.map(|own| own.saturating_add(timings.cache_n.unwrap_or(0)));
            self.tokens.prompt = prompt.or(self.tokens.prompt);
            self.tokens.completion = timings.predicted_n.or(self.tokens.completion);
        }
        if let Some(usage) = reports.usage {
            self.cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).or(self.cached);
            self.tokens.prompt = usage.prompt_tokens.or(self.tokens.prompt);
            self.tokens.completion = usage.completion_tokens.or(self.tokens.completion);
        }
    }
}

/// Returns the name of a model without the folders of the server's machine.
fn model_name(name: &str) -> String {
    let is_path = name.starts_with('/') || name.contains('\\');
    let name = if is_path { name.rsplit(['/', '\\']).next().unwrap_or_default() } else { name };
    name.chars().take(NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(pieces: &[&str]) -> Reported {
        let mut reported = Reported::default();
        for piece in pieces {
            reported.take(serde_json::from_str(piece).unwrap());
        }
        reported
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
        assert_eq!(model_name("Qwen/Qwen2.5-Coder-7B"), "Qwen/Qwen2.5-Coder-7B");
        assert_eq!(model_name("C:\\models\\a.gguf"), "a.gguf");
        let mut sum = TokenCounts { prompt: Some(u64::MAX), ..TokenCounts::default() };
        sum.add(&TokenCounts { prompt: Some(1), completion: Some(2), is_estimate: true });
        assert_eq!(sum, TokenCounts { prompt: Some(u64::MAX), completion: Some(2), is_estimate: true });
    }
}
