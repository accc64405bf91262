//! Questions in plain language: a model writes queries, the snapshot answers them. What a question mentions is looked up with
//! the snapshot's own search, so that the model has real identifiers and tags; what is wrong with its query goes back to it.
//! May use the tools of agents and what is below them; knows nothing of commands and of HTTP.
//!
//! ```text
//! prompts.rs       what is said to the model
//! mentions.rs      what a question mentions, as the model tells it
//! candidates.rs    what the data has of that
//! written.rs       the queries in a reply
//! run.rs           a query's answer, or what is wrong with it; sparql.rs keeps solutions, map.rs finds their places
//! conversation.rs  one thing after the other
//! ```

mod candidates;
mod conversation;
mod map;
mod mentions;
mod prompts;
mod run;
mod sparql;
mod written;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terrapin_chat::{Kind, Model};

use crate::budget::Exceeded;
use crate::eval::language::Language;

pub use conversation::ask;
pub use mentions::Mentions;
pub use prompts::Prompts;
pub use written::{Query, Written, read as queries};

/// Repairs that may be asked for at most.
pub const MOST_REPAIRS: u8 = 3;
/// Letters of a question, and of what is said beside it.
pub const LONGEST: usize = 8 << 10;

/// Who is asked, and how.
pub struct Asker {
    /// The model.
    pub model: Box<dyn Model + Send>,
    /// How.
    pub settings: Settings,
}

/// How questions are answered.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What is said to the model.
    pub prompts: Prompts,
    /// How often a query that fails or finds nothing goes back, at most [`MOST_REPAIRS`] times.
    pub repairs: u8,
    /// Whether what the question mentions is looked up.
    pub search: bool,
    /// Whether the answer is said in words, by the model.
    pub words: bool,
    /// The only language that queries may have, if there is one.
    pub only: Option<Language>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { prompts: Prompts::default(), repairs: 2, search: true, words: true, only: None }
    }
}

/// A question, and what of the way to its answer is given already: each of these makes all that comes before it unnecessary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// In plain language.
    pub question: String,
    /// What else there is to know: what is meant, what counts, what to show.
    #[serde(default)]
    pub context: String,
    /// What it mentions.
    pub mentions: Option<Mentions>,
    /// What the data has of that, a line each.
    pub candidates: Option<String>,
    /// What is said to the model to have a query.
    pub prompt: Option<String>,
    /// The queries.
    pub queries: Option<Vec<Query>>,
}

/// Something that was done on the way to an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub enum Step {
    /// The model said what the question mentions.
    Mentions {
        /// What.
        mentions: Mentions,
        /// What was wrong with how it said that.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The data was searched for it.
    Candidates {
        /// What was found, a line each.
        candidates: String,
    },
    /// The model was asked for a query.
    Prompt {
        /// In these words.
        prompt: String,
    },
    /// It replied.
    Reply {
        /// What.
        reply: String,
        /// Whether there would have been more.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
    },
    /// A query is to be run.
    Query(Query),
    /// It gave something.
    Result {
        /// In this language.
        language: Lang,
        /// How many elements or rows.
        total: u64,
        /// How many features for a map.
        features: u64,
    },
    /// It did not; this went back to the model, if it was asked again.
    Feedback {
        /// In these words.
        feedback: String,
    },
    /// The model said the answer.
    Text {
        /// In these words.
        text: String,
    },
}

impl Step {
    /// What it is called.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Mentions { .. } => "mentions",
            Step::Candidates { .. } => "candidates",
            Step::Prompt { .. } => "prompt",
            Step::Reply { .. } => "reply",
            Step::Query(_) => "query",
            Step::Result { .. } => "result",
            Step::Feedback { .. } => "feedback",
            Step::Text { .. } => "text",
        }
    }
}

/// A language, as programs know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// OverpassQL.
    Overpassql,
    /// SPARQL.
    Sparql,
}

impl Lang {
    /// Its name between fences, and for programs.
    pub fn name(self) -> &'static str {
        match self {
            Lang::Overpassql => "overpassql",
            Lang::Sparql => "sparql",
        }
    }
}

impl From<Language> for Lang {
    fn from(language: Language) -> Lang {
        match language {
            Language::OverpassQl => Lang::Overpassql,
            Language::Sparql => Lang::Sparql,
        }
    }
}

/// What a query gave.
#[derive(Debug, Serialize)]
pub struct Ran {
    /// The query.
    #[serde(flatten)]
    pub query: Query,
    /// How many elements or rows it gave.
    pub total: u64,
    /// The columns of the rows.
    pub columns: Vec<String>,
    /// The first rows: a text for each column, nothing where there is none.
    pub rows: Vec<Vec<Option<String>>>,
    /// How many features there are for a map; the answer has the first of them.
    pub features: u64,
    #[serde(skip)]
    shapes: Vec<Box<RawValue>>,
}

/// An answer.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// In words.
    pub text: String,
    /// Whether it is something to be seen on a map.
    pub map: bool,
    /// What the last queries gave.
    pub results: Vec<Ran>,
    /// On the map; nothing where the question needs none.
    pub features: Option<Features>,
    /// What is wrong with the last query, where there is no answer.
    pub problem: Option<String>,
    /// How often a query went back.
    pub repairs: u8,
    /// What was done.
    pub steps: Vec<Step>,
}

/// Features of GeoJSON.
#[derive(Debug, Serialize)]
pub struct Features {
    /// `FeatureCollection`.
    pub r#type: &'static str,
    /// The features.
    pub features: Vec<Box<RawValue>>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The question is none.
    Question(String),
    /// The model did not reply.
    Model(terrapin_chat::Error),
    /// A bound was reached.
    Exceeded(Exceeded),
    /// A fault of the program or of the file.
    Fault(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Question(message) | Failure::Fault(message) => f.write_str(message),
            Failure::Model(error) => match advice(error.kind) {
                Some(advice) => write!(f, "{error}\n{advice}"),
                None => error.fmt(f),
            },
            Failure::Exceeded(exceeded) => exceeded.fmt(f),
        }
    }
}

/// What whoever named the model can do.
fn advice(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Unauthorized => {
            Some("its key is missing or wrong: put it into a file for --model-key-file, or into TERRAPIN_MODEL_KEY")
        }
        Kind::NotFound => Some(
            "is --model-url the root of the protocol, which often ends in /v1, and --model-name one of those that /models \
             there lists?",
        ),
        Kind::TooLong => Some("give fewer --model-tokens, or a model with more room: prompts have some 3,000 tokens"),
        Kind::Late => Some("a larger --model-time lets it take longer"),
        _ => None,
    }
}

impl From<terrapin_chat::Error> for Failure {
    fn from(error: terrapin_chat::Error) -> Failure {
        Failure::Model(error)
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Failure {
        Failure::Exceeded(exceeded)
    }
}
