//! The options for a language model. Without an address, no model is used, and no data leaves the machine.

use std::path::PathBuf;
use std::time::Duration;

use terrapin_chat::{
    ApiKey, ChatClient, Endpoint, Extra, GrammarField, LanguageModel, Patience, Reply, ReplyProgress, Request,
    ServerCapabilities,
};

use super::CommandError;
use crate::ask::{AskSettings, Asker, Constraint, MENTION_TOKENS, MENTIONS, Prompts, QUERY, TEXT, TEXT_TOKENS};

/// The environment variable with the API key, for users without a key file. There is no option for the key, because
/// other users can see command lines.
const KEY: &str = "TERRAPIN_MODEL_KEY";
/// The environment variable with the API key of an embedding model at another server.
const EMBEDDING_KEY: &str = "TERRAPIN_EMBEDDING_KEY";

/// A language model and its limits
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    /// Address of a language model: the root of an API with OpenAI's chat completions, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", env = "TERRAPIN_MODEL_URL")]
    model_url: Option<String>,
    /// Name of the model there
    #[arg(long, value_name = "NAME", env = "TERRAPIN_MODEL_NAME")]
    model_name: Option<String>,
    /// File with the API key [default: the variable TERRAPIN_MODEL_KEY, or no key]
    #[arg(long, value_name = "FILE", env = "TERRAPIN_MODEL_KEY_FILE")]
    model_key_file: Option<PathBuf>,
    /// Timeout of one reply in seconds, retries included
    #[arg(long, value_name = "SECONDS", default_value_t = 120, env = "TERRAPIN_MODEL_TIME",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    model_time: u64,
    /// Maximum tokens of one reply
    #[arg(long, value_name = "N", default_value_t = 4096, env = "TERRAPIN_MODEL_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    model_tokens: u32,
    /// Maximum tokens of the reply that lists the names and things in the question; a longer one is replaced by a guess
    #[arg(long, value_name = "N", default_value_t = MENTION_TOKENS, env = "TERRAPIN_MODEL_MENTION_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    model_mention_tokens: u32,
    /// Maximum tokens of the answer as text; a longer one is replaced by the number of results
    #[arg(long, value_name = "N", default_value_t = TEXT_TOKENS, env = "TERRAPIN_MODEL_TEXT_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    model_text_tokens: u32,
    /// JSON file with an object of further fields for requests, such as seed, grammar and cache_prompt; its field
    /// `steps` has fields for single steps: mentions, query, text
    #[arg(long, value_name = "FILE", env = "TERRAPIN_MODEL_EXTRA")]
    model_extra: Option<PathBuf>,
    /// Request whole replies: for servers that do not stream
    #[arg(long)]
    model_whole: bool,
    /// Folder of prompts that replace those built in: system.md, mentions.md, query.md, repair.md, answer.md,
    /// overpassql.md, sparql.md, elements.md
    #[arg(long, value_name = "DIR", env = "TERRAPIN_PROMPTS")]
    prompts: Option<PathBuf>,
    /// Grammar that replies with a query follow: that of the language, with the names of the snapshot, or with those for
    /// the question. The server must be llama.cpp's or vLLM
    #[arg(long, value_name = "NAMES", value_parser = constraint, env = "TERRAPIN_CONSTRAIN")]
    constrain: Option<Constraint>,
    /// Maximum repairs of a query that fails or has no results: 0 to 3
    #[arg(long, value_name = "N", default_value_t = 2, env = "TERRAPIN_REPAIRS",
          value_parser = clap::value_parser!(u8).range(0..=3))]
    repairs: u8,
}

/// The limits and further fields of requests, as recorded by a run.
pub struct RequestLimits {
    /// Timeout of one reply in seconds.
    pub seconds: u64,
    /// Maximum tokens of a reply, for each step.
    pub tokens: [(&'static str, u32); 3],
    /// The object of `--model-extra`.
    pub extra: Option<serde_json::Value>,
}

impl ModelArgs {
    /// Returns whether a model is configured.
    pub fn is_given(&self) -> bool {
        self.model_url.is_some()
    }

    /// Returns the timeout of one reply in seconds.
    pub fn seconds(&self) -> u64 {
        self.model_time
    }

    /// Returns the key for another endpoint: that of the model if both are at the same server, else that of the variable
    /// for embeddings. A server never gets the key of another.
    pub fn key_for(&self, endpoint: &Endpoint) -> Result<Option<ApiKey>, CommandError> {
        let own = self.model_url.as_deref().and_then(|url| Endpoint::new(url, "").ok());
        if own.is_some_and(|own| own.is_at_server_of(endpoint)) {
            return self.key();
        }
        let key = std::env::var(EMBEDDING_KEY).ok().filter(|key| !key.is_empty()).map(|key| ApiKey::new(&key));
        key.transpose().map_err(|error| CommandError::input("model-key", error))
    }

    fn key(&self) -> Result<Option<ApiKey>, CommandError> {
        let key = match &self.model_key_file {
            Some(path) => Some(ApiKey::read(path)),
            None => std::env::var(KEY).ok().filter(|key| !key.is_empty()).map(|key| ApiKey::new(&key)),
        };
        key.transpose().map_err(|error| CommandError::input("model-key", error))
    }

    /// Returns the name of the model.
    pub fn name(&self) -> Option<&str> {
        self.model_name.as_deref()
    }

    /// Returns the limits and further fields of requests.
    pub fn limits(&self) -> Result<RequestLimits, CommandError> {
        let most = |tokens: u32| tokens.min(self.model_tokens);
        let tokens = [
            (MENTIONS, most(self.model_mention_tokens)),
            (QUERY, self.model_tokens),
            (TEXT, most(self.model_text_tokens)),
        ];
        Ok(RequestLimits { seconds: self.model_time, tokens, extra: self.extra()?.to_value() })
    }

    fn extra(&self) -> Result<Extra, CommandError> {
        let Some(path) = &self.model_extra else { return Ok(Extra::default()) };
        let extra = Extra::read(path, &[MENTIONS, QUERY, TEXT]).map_err(|error| {
            CommandError::input("model-extra", format!("--model-extra {}: {error}", path.display()))
        })?;
        let own = extra.fields(QUERY).find(|(name, _)| GrammarField::NAMES.contains(&name.as_str()));
        match own {
            Some((name, _)) if self.constrain.is_some() => {
                Err(CommandError::usage(format!("--constrain sets the grammar: remove `{name}` from --model-extra")))
            }
            _ => Ok(extra),
        }
    }

    /// Returns the configured model with its settings, if there is one. Sends no request yet.
    pub fn asker(&self) -> Result<Option<Asker>, CommandError> {
        let Some(url) = &self.model_url else {
            if self.model_name.is_some() || self.model_key_file.is_some() {
                return Err(CommandError::usage("a model without an address: also pass --model-url"));
            }
            return Ok(None);
        };
        let Some(name) = &self.model_name else {
            return Err(CommandError::usage("a model without a name: also pass --model-name"));
        };
        let endpoint =
            Endpoint::new(url, name).map_err(|error| CommandError::usage(format!("--model-url: {error}")))?;
        let endpoint = Endpoint {
            key: self.key()?,
            stream: !self.model_whole,
            time: Duration::from_secs(self.model_time),
            tokens: self.model_tokens,
            extra: self.extra()?,
            ..endpoint
        };
        let prompts = self.prompts.as_deref().map(Prompts::read).transpose();
        let prompts = prompts.map_err(|message| CommandError::input("prompts", message))?.unwrap_or_default();
        let client = ChatClient::new(endpoint).map_err(|error| CommandError::system("model", error))?;
        let settings = AskSettings {
            prompts,
            repairs: self.repairs,
            mention_tokens: self.model_mention_tokens.min(self.model_tokens),
            text_tokens: self.model_text_tokens.min(self.model_tokens),
            query_tokens: self.model_tokens,
            constraint: self.constrain,
            ..AskSettings::default()
        };
        Ok(Some(Asker { model: Box::new(client), settings }))
    }

    /// Returns the configured model, or an error without one.
    pub fn needed(&self) -> Result<Asker, CommandError> {
        let none = "no model: pass --model-url and --model-name; without these nothing is sent anywhere";
        self.asker()?.ok_or_else(|| CommandError::usage(none))
    }
}

fn constraint(name: &str) -> Result<Constraint, String> {
    let found = Constraint::ALL.into_iter().find(|constraint| constraint.name() == name);
    found.ok_or_else(|| "expected language, snapshot or question".to_owned())
}

/// A model that reports the progress of its replies.
pub struct ReportingModel<'a> {
    /// The model.
    pub model: &'a dyn LanguageModel,
    /// Called with a text some 20 times a second while a reply is pending.
    pub report: &'a (dyn Fn(&str) + Sync),
}

impl LanguageModel for ReportingModel<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<Reply, terrapin_chat::ChatError> {
        let progress = |progress: ReplyProgress| (self.report)(&waiting(request.step, progress));
        self.model.reply(&Request { progress: Some(&progress), ..*request }, patience)
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.model.capabilities()
    }
}

/// Returns the state of a reply for people.
fn waiting(step: &str, progress: ReplyProgress) -> String {
    let seconds = progress.elapsed.as_secs();
    match progress.pieces {
        0 => format!("waiting for the model ({step}): {seconds} s"),
        pieces => format!("the model replies ({step}): {seconds} s, about {pieces} tokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_reply_is_shown() {
        let shown = |pieces| waiting("query", ReplyProgress { pieces, elapsed: Duration::from_millis(12_900) });
        assert_eq!(shown(0), "waiting for the model (query): 12 s");
        assert_eq!(shown(300), "the model replies (query): 12 s, about 300 tokens");
    }
}
