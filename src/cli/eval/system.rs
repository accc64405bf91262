//! The options for a system that is asked over HTTP instead of a language model.

use std::path::Path;
use std::time::Duration;

use terrapin_chat::{ApiKey, Endpoint, SystemClient};

use super::super::CommandError;
use crate::eval::about::SystemSettings;
use crate::eval::input::published;

/// The environment variable with the key of the system.
const KEY: &str = "TERRAPIN_SYSTEM_KEY";
/// The name of a system in a run, if the user gives none.
pub const SYSTEM: &str = "system";

/// A system over HTTP
#[derive(Debug, clap::Args)]
pub struct SystemArgs {
    /// Address of a system to ask instead of a model, with the interface of the TEXT2SPARQL challenge: GET
    /// URL?dataset=...&question=... returns a JSON object with `query`
    #[arg(long, value_name = "URL", conflicts_with_all = ["model_url", "examples"])]
    system: Option<String>,
    /// Identifier of the data in requests to the system [default: `dataset.id` of a file of TEXT2SPARQL]
    #[arg(long, value_name = "IRI", requires = "system")]
    system_dataset: Option<String>,
}

/// A system with its settings for the record of a run.
pub struct AskedSystem {
    /// The client.
    pub client: SystemClient,
    /// The settings.
    pub settings: SystemSettings,
}

impl SystemArgs {
    /// Returns the system for the questions of a file, if there is one. Sends no request yet. `timeout` is that of a
    /// question in seconds.
    pub fn of(&self, questions: &Path, timeout: u64) -> Result<Option<AskedSystem>, CommandError> {
        let Some(url) = &self.system else { return Ok(None) };
        let endpoint = Endpoint::new(url, "").map_err(|error| CommandError::usage(format!("--system: {error}")))?;
        let dataset = match &self.system_dataset {
            Some(dataset) => dataset.clone(),
            None => published::dataset(questions).map_err(super::unread)?.ok_or_else(|| {
                CommandError::usage(format!("{}: names no dataset: pass --system-dataset", questions.display()))
            })?,
        };
        let key = std::env::var(KEY).ok().filter(|key| !key.is_empty()).map(|key| ApiKey::new(&key)).transpose();
        let key = key.map_err(|error| CommandError::input("system-key", error))?;
        let endpoint = Endpoint { key, time: Duration::from_secs(timeout), ..endpoint };
        let client = SystemClient::new(endpoint, &dataset).map_err(|error| CommandError::system("system", error))?;
        let settings = SystemSettings { url: client.shown(), dataset };
        Ok(Some(AskedSystem { client, settings }))
    }
}
