//! Token counts, time and the identity of the server, as reported by the server.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// Maximum size in bytes of a report; a longer one is ignored.
const REPORT: usize = 8 << 10;
/// Maximum length in characters of a name; the rest is cut off.
const NAME: usize = 200;

/// Token counts of one exchange, by the server's tokenizer. They depend on the request and the model only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TokenCounts {
    /// Number of tokens in the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
    /// Number of tokens in the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// Whether `completion` is the number of received pieces, because the server reported no count.
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

/// The costs of a reply that differ between equal requests: they depend on the machine and on earlier requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ReplyTiming {
    /// Seconds from the request to the end of the reply, retries included, to the millisecond.
    pub seconds: f64,
    /// Number of prompt tokens in the server's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

impl ReplyTiming {
    /// Sets the time.
    pub fn set_time(&mut self, time: Duration) {
        self.seconds = (time.as_secs_f64() * 1e3).round() / 1e3;
    }
}

/// The identity of the server and model, as reported.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerIdentity {
    /// Name of the model in the reply, such as `gpt-4o-2024-08-06`; a path is reduced to its file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `system_fingerprint` of the reply: the build of llama.cpp, the configuration at OpenAI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Context length in tokens; reported by llama.cpp only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

impl ServerIdentity {
    /// Returns whether the server reported neither a model nor a fingerprint.
    pub fn is_empty(&self) -> bool {
        self.model.is_none() && self.fingerprint.is_none()
    }
}

/// The reports in a reply or in a piece of a stream.
pub struct PieceReports {
    pub model: Option<String>,
    pub system_fingerprint: Option<String>,
    pub usage: Option<Usage>,
    pub timings: Option<Timings>,
}

/// `usage` of OpenAI's protocol.
#[derive(Deserialize)]
pub struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

/// `timings` of llama.cpp's server. `prompt_n` excludes the cached tokens.
#[derive(Deserialize)]
pub struct Timings {
    cache_n: Option<u64>,
    prompt_n: Option<u64>,
    predicted_n: Option<u64>,
}

/// Parses an optional report; one of another type is ignored, because the reply is useful without it.
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
    Ok(raw.filter(|raw| raw.get().len() <= REPORT).and_then(|raw| serde_json::from_str(raw.get()).ok()))
}

/// The reports of a whole reply. Later pieces of a stream replace earlier ones.
#[derive(Debug, Default)]
pub struct ServerReports {
    /// Tokens.
    pub tokens: TokenCounts,
    /// Tokens of the prompt from the server's cache.
    pub cached: Option<u64>,
    /// The server.
    pub server: ServerIdentity,
    /// Whether the server is llama.cpp's.
    pub is_llama_cpp: bool,
}

impl ServerReports {
    /// Takes the reports of a piece.
    pub fn take(&mut self, reports: PieceReports) {
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

    #[test]
    fn names_of_models_have_no_folders() {
        assert_eq!(model_name("Qwen/Qwen2.5-Coder-7B"), "Qwen/Qwen2.5-Coder-7B");
        assert_eq!(model_name("C:\\models\\a.gguf"), "a.gguf");
    }

    #[test]
    fn sums_of_tokens_are_bounded() {
        let mut sum = TokenCounts { prompt: Some(u64::MAX), ..TokenCounts::default() };
        sum.add(&TokenCounts { prompt: Some(1), completion: Some(2), is_estimate: true });
        assert_eq!(sum, TokenCounts { prompt: Some(u64::MAX), completion: Some(2), is_estimate: true });
    }
}
