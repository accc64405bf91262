//! The options for in-context examples and for the prompt of a model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use terrapin_chat::{EmbeddingClient, Endpoint};

use super::CommandError;
use super::model::ModelArgs;
use crate::ask::examples::{self, EmbeddingCache, Example, ExampleSelector, MOST_SHOTS, SHOTS, SelectionMethod};
use crate::ask::{AskBaseline, AskSettings, Asker, PromptTemplate};
use crate::eval::about::ExampleSettings;

/// The file of embeddings in a run's folder.
const EMBEDDINGS: &str = "embeddings.jsonl";

/// In-context examples, and the prompt
#[derive(Debug, clap::Args)]
pub struct ExampleArgs {
    /// Examples for the model, as pairs of a question and its query: a file in any format of `terrapin eval jsonl`, or
    /// a folder of OverpassNL, of which the split train is read. A question is never its own example
    #[arg(long, value_name = "FILE|FOLDER")]
    examples: Option<PathBuf>,
    /// Number of examples for a question
    #[arg(long, value_name = "N", default_value_t = SHOTS, value_parser = shots)]
    shots: usize,
    /// Selection of examples for a question: random, or the nearest questions by bleu, bm25, or by an embedding model at
    /// embedding:URL, the root of an API with OpenAI's embeddings
    #[arg(long, value_name = "METHOD", default_value = "bm25", value_parser = Select::parse)]
    select: Select,
    /// Seed of the random selection
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Name of the embedding model, if its server needs one
    #[arg(long, value_name = "NAME")]
    embedding_model: Option<String>,
    /// Prompt for a query: default, or one of a published evaluation, which has no candidates and no repairs:
    /// overpassnl-5shot, instruct-to-sparql
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = template)]
    prompt: PromptTemplate,
}

/// The value of `--select`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Select {
    Random,
    Bleu,
    Bm25,
    Embedding(String),
}

impl Select {
    fn parse(text: &str) -> Result<Select, String> {
        match (text, text.strip_prefix("embedding:")) {
            ("random", _) => Ok(Select::Random),
            ("bleu", _) => Ok(Select::Bleu),
            ("bm25", _) => Ok(Select::Bm25),
            (_, Some(url)) => {
                Endpoint::new(url, "").map_err(|error| error.to_string())?;
                Ok(Select::Embedding(url.to_owned()))
            }
            _ => Err("expected random, bleu, bm25 or embedding:URL".to_owned()),
        }
    }
}

fn shots(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count <= MOST_SHOTS);
    count.ok_or_else(|| format!("expected a number from 0 to {MOST_SHOTS}"))
}

fn template(name: &str) -> Result<PromptTemplate, String> {
    match PromptTemplate::named(name) {
        Some(PromptTemplate::OverpassNlRefine) => {
            Err("this prompt needs queries to improve: use `terrapin eval refine`".to_owned())
        }
        Some(template) => Ok(template),
        None => Err("expected default, overpassnl-5shot or instruct-to-sparql".to_owned()),
    }
}

/// Examples that were read, with their settings for the record of a run.
pub struct ReadExamples<'a> {
    examples: Vec<Example>,
    args: &'a ExampleArgs,
    /// The settings.
    pub settings: ExampleSettings,
}

impl ExampleArgs {
    /// Returns whether examples are configured.
    pub fn is_given(&self) -> bool {
        self.examples.is_some()
    }

    /// Returns the prompt.
    pub fn template(&self) -> PromptTemplate {
        self.prompt
    }

    /// Reads the examples, if there are any.
    pub fn read(&self) -> Result<Option<ReadExamples<'_>>, CommandError> {
        let Some(path) = &self.examples else { return Ok(None) };
        let examples = examples::read(path).map_err(|error| CommandError::input("examples", error))?;
        let (select, seed, embeddings) = match &self.select {
            Select::Random => ("random", Some(self.seed), None),
            Select::Bleu => ("bleu", None, None),
            Select::Bm25 => ("bm25", None, None),
            Select::Embedding(url) => ("embedding", None, Some(self.embedding_identity(&self.endpoint(url)?))),
        };
        let settings = ExampleSettings {
            sha256: examples::digest(&examples),
            count: examples.len(),
            shots: self.shots,
            select: select.to_owned(),
            seed,
            embeddings,
        };
        Ok(Some(ReadExamples { examples, args: self, settings }))
    }

    /// Sets the prompt of questions. A published prompt has no candidates and no repairs.
    pub fn apply(&self, settings: &mut AskSettings) {
        settings.template = self.prompt;
        if self.prompt != PromptTemplate::Default {
            settings.search = false;
            settings.repairs = 0;
        }
    }

    fn endpoint(&self, url: &str) -> Result<Endpoint, CommandError> {
        let endpoint = Endpoint::new(url, self.embedding_model.as_deref().unwrap_or_default());
        endpoint.map_err(|error| CommandError::usage(format!("--select embedding: {error}")))
    }

    /// Returns name and address of the embedding model, without the query string, which may have a key.
    fn embedding_identity(&self, endpoint: &Endpoint) -> String {
        let mut shown = endpoint.embeddings();
        shown.set_query(None);
        match endpoint.model.as_str() {
            "" => shown.to_string(),
            name => format!("{name} at {shown}"),
        }
    }
}

impl ReadExamples<'_> {
    /// Creates the selector. Embeddings are cached in the folder of the run, if there is one.
    pub fn into_selector(self, model: &ModelArgs, run: Option<&Path>) -> Result<Arc<ExampleSelector>, CommandError> {
        let method = match &self.args.select {
            Select::Random => SelectionMethod::Random(self.args.seed),
            Select::Bleu => SelectionMethod::Bleu,
            Select::Bm25 => SelectionMethod::Bm25,
            Select::Embedding(url) => {
                let mut endpoint = self.args.endpoint(url)?;
                endpoint.key = model.key_for(&endpoint)?;
                endpoint.time = Duration::from_secs(model.seconds());
                let cache = match run {
                    Some(folder) => open_cache(folder, &self.args.embedding_identity(&endpoint))?,
                    None => EmbeddingCache::default(),
                };
                let client = EmbeddingClient::new(endpoint).map_err(|error| CommandError::system("model", error))?;
                SelectionMethod::Embedding(Box::new(client), cache)
            }
        };
        Ok(Arc::new(ExampleSelector::new(self.examples, method, self.args.shots)))
    }
}

fn open_cache(folder: &Path, model: &str) -> Result<EmbeddingCache, CommandError> {
    let path = folder.join(EMBEDDINGS);
    let failed = |error: std::io::Error| CommandError::system("output", format!("{}: {error}", path.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    EmbeddingCache::open(&path, model).map_err(failed)
}

/// Returns the baseline without a model; a configured model gets no request.
///
/// # Errors
/// Returns an error if the baseline `nearest` has no examples, or if a prompt was chosen.
pub fn baseline(baseline: AskBaseline, examples: &ExampleArgs) -> Result<Asker, CommandError> {
    if examples.examples.is_none() && baseline == AskBaseline::Nearest {
        return Err(CommandError::usage("--model nearest needs the questions to choose from: pass --examples"));
    }
    if examples.prompt != PromptTemplate::Default {
        return Err(CommandError::usage(format!("--model {} has no prompt: leave out --prompt", baseline.name())));
    }
    let settings =
        AskSettings { baseline: Some(baseline), search: false, words: false, repairs: 0, ..AskSettings::default() };
    Ok(Asker { model: Box::new(baseline), settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_parsed() {
        assert_eq!(Select::parse("bleu"), Ok(Select::Bleu));
        let url = "http://127.0.0.1:8080/v1";
        assert_eq!(Select::parse(&format!("embedding:{url}")), Ok(Select::Embedding(url.to_owned())));
        assert!(Select::parse("embedding:file:///v1").is_err() && Select::parse("bleu2").is_err());
        assert_eq!((shots("0"), shots("100"), shots("101").is_err()), (Ok(0), Ok(100), true));
        assert!(template("overpassnl-refine").is_err_and(|error| error.contains("eval refine")));
    }
}
