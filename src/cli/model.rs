//! The options that say which language model is asked, and how. Without an address none is, and nothing leaves the machine.

use std::path::PathBuf;
use std::time::Duration;

use terrapin_chat::{Client, Endpoint, Key};

use super::Error;
use crate::ask::{Asker, Prompts, Settings};

/// The variable that has the key, for who has no file for it. No option has it: others see command lines.
const KEY: &str = "TERRAPIN_MODEL_KEY";

/// Which model is asked, and how
#[derive(Debug, clap::Args)]
pub struct ModelArgs {
    /// Where a language model is: the root of what speaks the protocol of OpenAI's chat completions, such as
    /// http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", env = "TERRAPIN_MODEL_URL")]
    model_url: Option<String>,
    /// Its name there
    #[arg(long, value_name = "NAME", env = "TERRAPIN_MODEL_NAME")]
    model_name: Option<String>,
    /// A file with the key that the model wants [default: the variable TERRAPIN_MODEL_KEY, or no key]
    #[arg(long, value_name = "FILE", env = "TERRAPIN_MODEL_KEY_FILE")]
    model_key_file: Option<PathBuf>,
    /// Seconds that one reply of the model may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, env = "TERRAPIN_MODEL_TIME",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    model_time: u64,
    /// Tokens that one reply may have
    #[arg(long, value_name = "N", default_value_t = 4096, env = "TERRAPIN_MODEL_TOKENS",
          value_parser = clap::value_parser!(u32).range(1..))]
    model_tokens: u32,
    /// Have replies in one piece: for servers that do not stream
    #[arg(long)]
    model_whole: bool,
    /// A folder of prompts that replace those built in: system.md, mentions.md, query.md, repair.md, answer.md, overpassql.md,
    /// sparql.md, elements.md
    #[arg(long, value_name = "DIR", env = "TERRAPIN_PROMPTS")]
    prompts: Option<PathBuf>,
    /// How often a query that fails or finds nothing goes back to the model, with what is wrong with it: 0 to 3
    #[arg(long, value_name = "N", default_value_t = 2, env = "TERRAPIN_REPAIRS",
          value_parser = clap::value_parser!(u8).range(0..=3))]
    repairs: u8,
}

impl ModelArgs {
    /// Whether a model is named.
    pub fn is_given(&self) -> bool {
        self.model_url.is_some()
    }

    /// What the model is called there.
    pub fn name(&self) -> Option<&str> {
        self.model_name.as_deref()
    }

    /// What answers questions, where a model is named. Nothing is sent yet.
    pub fn asker(&self) -> Result<Option<Asker>, Error> {
        let Some(url) = &self.model_url else {
            if self.model_name.is_some() || self.model_key_file.is_some() {
                return Err(Error::usage("a model without an address: give --model-url, too"));
            }
            return Ok(None);
        };
        let Some(name) = &self.model_name else {
            return Err(Error::usage("which model is asked: give --model-name, too"));
        };
        let endpoint = Endpoint::new(url, name).map_err(|error| Error::usage(format!("--model-url: {error}")))?;
        let key = match &self.model_key_file {
            Some(path) => Some(Key::read(path)),
            None => std::env::var(KEY).ok().filter(|key| !key.is_empty()).map(|key| Key::new(&key)),
        };
        let key = key.transpose().map_err(|error| Error::input("model-key", error))?;
        let endpoint = Endpoint {
            key,
            stream: !self.model_whole,
            time: Duration::from_secs(self.model_time),
            tokens: self.model_tokens,
            ..endpoint
        };
        let prompts = self.prompts.as_deref().map(Prompts::read).transpose();
        let prompts = prompts.map_err(|message| Error::input("prompts", message))?.unwrap_or_default();
        let client = Client::new(endpoint).map_err(|error| Error::system("model", error))?;
        let settings = Settings { prompts, repairs: self.repairs, ..Settings::default() };
        Ok(Some(Asker { model: Box::new(client), settings }))
    }

    /// The same where there has to be one.
    pub fn needed(&self) -> Result<Asker, Error> {
        let none =
            "no model: say by --model-url and --model-name which one is asked; without these nothing is sent anywhere";
        self.asker()?.ok_or_else(|| Error::usage(none))
    }
}
