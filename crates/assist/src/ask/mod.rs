//! Questions in plain language: a model writes queries, the snapshot answers them. The mentions of a question are
//! searched for in the snapshot, so that the model sees real identifiers and tags. A wrong query goes back to the model
//! with its errors. May use the tools of agents and the crates below; does not know commands or HTTP.
//!
//! ```text
//! prompts.rs       the prompts; templates.rs has those of published evaluations by name
//! examples/        in-context examples, and the methods that select them
//! mentions.rs      places, things, names and properties in a question
//! candidates.rs    tags, places and items of the snapshot for them
//! written.rs       the queries in a reply; constraint.rs has the grammar that such replies follow
//! run.rs           runs a query; sparql.rs keeps solutions, map.rs finds their geometries
//! words.rs         texts about the snapshot and about results
//! nearest.rs       the baseline without a model: the nearest example's query, moved to the place of the question
//! conversation.rs  the loop over these steps; conversation/refine.rs starts with a known query, and
//!                  conversation/shots.rs has the examples of a prompt
//! ```

mod candidates;
mod constraint;
mod conversation;
pub mod examples;
mod features;
mod map;
mod mentions;
mod nearest;
mod prompts;
mod run;
mod sparql;
mod templates;
mod words;
mod written;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use terrapin_chat::{
    ChatError, ChatErrorKind, ChatService, LanguageModel, Patience, Reply, ReplyTiming, Request, ServerIdentity,
    TokenCounts,
};

use terrapin_budget::ExceededLimit;
use terrapin_eval::language::QueryLanguage;
pub use terrapin_lint::ContainmentOffer;

use examples::ExampleSelector;

pub use constraint::Constraint;
pub use conversation::ask;
pub use mentions::Mentions;
pub use prompts::Prompts;
pub use templates::PromptTemplate;
pub use written::{ModelQuery, ReplyContent, is_complete, read as queries};

/// Maximum number of repairs.
pub const MOST_REPAIRS: u8 = 3;
/// Maximum bytes of a question, and of its context.
pub const LONGEST: usize = 8 << 10;
/// Default maximum tokens of the list of mentions; a list of 24 has some 200.
pub const MENTION_TOKENS: u32 = 512;
/// Default maximum tokens of the answer as text; three sentences have some 100.
pub const TEXT_TOKENS: u32 = 512;

/// Default maximum tokens of a reply with a query.
pub const QUERY_TOKENS: u32 = 4096;

/// The names of the steps for which a model gets a request.
pub const MENTIONS: &str = "mentions";
/// The request for a query, or for a better one.
pub const QUERY: &str = "query";
/// The request for the answer as text.
pub const TEXT: &str = "text";

/// A model with the settings for questions to it.
pub struct Asker {
    /// The model.
    pub model: Box<dyn LanguageModel + Send>,
    /// The settings.
    pub settings: AskSettings,
}

/// The name of the baseline that copies the query of the nearest example.
pub const NEAREST: &str = "nearest";

/// A baseline without a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskBaseline {
    /// The query of the nearest example, moved to the place of the question.
    Nearest,
    /// The query of [`crate::words`].
    Words,
}

impl AskBaseline {
    /// Returns the baseline with a name.
    pub fn named(name: &str) -> Option<AskBaseline> {
        [AskBaseline::Nearest, AskBaseline::Words].into_iter().find(|baseline| baseline.name() == name)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            AskBaseline::Nearest => NEAREST,
            AskBaseline::Words => crate::words::WORDS,
        }
    }
}

/// Replaces the model if there is none.
pub struct NoModel;

/// Replaces the model of a baseline, under its name.
impl LanguageModel for AskBaseline {
    fn name(&self) -> &str {
        (*self).name()
    }

    fn reply(&self, _: &Request<'_>, _: Patience<'_>) -> Result<Reply, ChatError> {
        Err(ChatError::new(ChatErrorKind::Unreachable, "the baseline has no model"))
    }
}

impl LanguageModel for NoModel {
    fn name(&self) -> &str {
        NEAREST
    }

    fn reply(&self, _: &Request<'_>, _: Patience<'_>) -> Result<Reply, ChatError> {
        Err(ChatError::new(ChatErrorKind::Unreachable, "the baseline has no model"))
    }
}

/// Settings for answering questions.
#[derive(Debug, Clone)]
pub struct AskSettings {
    /// The prompts.
    pub prompts: Prompts,
    /// Maximum number of times that a query that fails or finds nothing goes back to the model; at most
    /// [`MOST_REPAIRS`].
    pub repairs: u8,
    /// Whether the mentions of the question are searched for.
    pub search: bool,
    /// Whether the model writes the answer as text.
    pub words: bool,
    /// Whether an answer may be for a map. If it may not, results without positions are not repaired.
    pub map: bool,
    /// The only language of queries, if there is one.
    pub only: Option<QueryLanguage>,
    /// Maximum tokens of the list of mentions.
    pub mention_tokens: u32,
    /// Maximum tokens of the answer as text.
    pub text_tokens: u32,
    /// Maximum tokens of a reply with a query.
    pub query_tokens: u32,
    /// The grammar that replies with a query follow.
    pub constraint: Option<Constraint>,
    /// The prompt for a query.
    pub template: PromptTemplate,
    /// The examples in prompts.
    pub examples: Option<Arc<ExampleSelector>>,
    /// The baseline that answers instead of a model.
    pub baseline: Option<AskBaseline>,
}

impl Default for AskSettings {
    fn default() -> AskSettings {
        AskSettings {
            prompts: Prompts::default(),
            repairs: 2,
            search: true,
            words: true,
            map: true,
            only: None,
            mention_tokens: MENTION_TOKENS,
            text_tokens: TEXT_TOKENS,
            query_tokens: QUERY_TOKENS,
            constraint: None,
            template: PromptTemplate::Default,
            examples: None,
            baseline: None,
        }
    }
}

/// A question, optionally with the result of a step: that step and those before it are skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserQuestion {
    /// The question in plain language.
    pub question: String,
    /// Context: definitions, criteria, and properties to show.
    #[serde(default)]
    pub context: String,
    /// Its mentions.
    pub mentions: Option<Mentions>,
    /// The candidates for them, a line each.
    pub candidates: Option<String>,
    /// The prompt for a query.
    pub prompt: Option<String>,
    /// The queries.
    pub queries: Option<Vec<ModelQuery>>,
    /// The bounding box for `{{bbox}}` of queries: `south,west,north,east`.
    #[serde(skip)]
    pub bbox: Option<String>,
    /// A query of another system, which the model improves.
    #[serde(skip)]
    pub hypothesis: Option<Hypothesis>,
}

/// A query of another system for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hypothesis {
    /// The query.
    pub query: ModelQuery,
    /// Whether the model sees the error or the first results of the query.
    pub has_feedback: bool,
    /// Whether only a query that fails goes to the model.
    pub is_only_for_errors: bool,
}

/// A step on the way to an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "step", rename_all = "lowercase")]
pub enum AskStep {
    /// The mentions of the question.
    Mentions {
        /// The mentions.
        mentions: Mentions,
        /// Why they were guessed, if they were.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The cost of the reply.
        #[serde(flatten)]
        cost: StepCost,
    },
    /// The candidates for the mentions.
    Candidates {
        /// A line each.
        candidates: String,
        /// Places that the snapshot does not contain.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        missing: Vec<String>,
    },
    /// The examples in the prompt.
    Examples {
        /// Their ids, in the order of the prompt.
        ids: Vec<String>,
    },
    /// The prompt for a query.
    Prompt {
        /// Its text.
        prompt: String,
    },
    /// A reply to it.
    Reply {
        /// Its text.
        reply: String,
        /// Whether a limit ended it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        cut: bool,
        /// The cost of the reply.
        #[serde(flatten)]
        cost: StepCost,
    },
    /// A query that is to be run.
    Query(ModelQuery),
    /// Its result.
    Result {
        /// The language.
        language: Lang,
        /// Number of elements or rows.
        total: u64,
        /// Number of features for a map.
        features: u64,
    },
    /// Feedback on a query or its result. It goes back to the model if a repair is left.
    Feedback {
        /// The text.
        feedback: String,
    },
    /// The answer.
    Text {
        /// The text.
        text: String,
        /// Why it is not the model's, if it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The cost of the reply.
        #[serde(flatten)]
        cost: StepCost,
    },
}

/// The cost of a step with a request to the model, as far as the server reports it; empty if there was no reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StepCost {
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCounts>,
    /// Time, and tokens from the server's cache. Not serialized: both differ between equal runs.
    #[serde(skip)]
    pub timing: Option<ReplyTiming>,
    /// The server. Not serialized: runs record it once a question.
    #[serde(skip)]
    pub server: Option<ServerIdentity>,
}

impl StepCost {
    /// Returns the cost of a reply.
    pub fn new(reply: &Reply) -> StepCost {
        StepCost {
            tokens: Some(reply.tokens).filter(|tokens| !tokens.is_empty()),
            timing: Some(reply.timing),
            server: Some(reply.server.clone()).filter(|server| !server.is_empty()),
        }
    }
}

impl AskStep {
    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            AskStep::Mentions { .. } => MENTIONS,
            AskStep::Candidates { .. } => "candidates",
            AskStep::Examples { .. } => "examples",
            AskStep::Prompt { .. } => "prompt",
            AskStep::Reply { .. } => "reply",
            AskStep::Query(_) => QUERY,
            AskStep::Result { .. } => "result",
            AskStep::Feedback { .. } => "feedback",
            AskStep::Text { .. } => TEXT,
        }
    }

    /// Returns the cost of the reply; `None` for steps without a request to the model.
    pub fn cost(&self) -> Option<&StepCost> {
        match self {
            AskStep::Mentions { cost, .. } | AskStep::Reply { cost, .. } | AskStep::Text { cost, .. } => Some(cost),
            _ => None,
        }
    }
}

/// Returns the last query of a language in the steps of a question.
pub fn last_query(steps: &[AskStep], language: Lang) -> Option<&str> {
    steps.iter().rev().find_map(|step| match step {
        AskStep::Query(query) if query.language == language => Some(query.query.as_str()),
        _ => None,
    })
}

/// A query language, with the names that programs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// OverpassQL.
    Overpassql,
    /// SPARQL.
    Sparql,
}

impl Lang {
    /// Returns its name, as between fences.
    pub fn name(self) -> &'static str {
        match self {
            Lang::Overpassql => "overpassql",
            Lang::Sparql => "sparql",
        }
    }
}

impl From<Lang> for QueryLanguage {
    fn from(language: Lang) -> QueryLanguage {
        match language {
            Lang::Overpassql => QueryLanguage::OverpassQl,
            Lang::Sparql => QueryLanguage::Sparql,
        }
    }
}

impl From<QueryLanguage> for Lang {
    fn from(language: QueryLanguage) -> Lang {
        match language {
            QueryLanguage::OverpassQl => Lang::Overpassql,
            QueryLanguage::Sparql => Lang::Sparql,
        }
    }
}

/// The result of a query.
#[derive(Debug, Serialize)]
pub struct AskedQueryResult {
    /// The query.
    #[serde(flatten)]
    pub query: ModelQuery,
    /// Number of elements or rows.
    pub total: u64,
    /// The columns of the rows.
    pub columns: Vec<String>,
    /// The first rows: a text for each column, `None` for a missing value.
    pub rows: Vec<Vec<Option<String>>>,
    /// Number of features for a map; the answer has the first of them.
    pub features: u64,
    /// Whether the query has a chain of `wdt:P131` to a place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_chain: bool,
    /// Containment by geometry, if it finds more items than the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentOffer>,
    #[serde(skip)]
    shapes: Vec<Box<RawValue>>,
}

/// An answer.
#[derive(Debug, Serialize)]
pub struct QuestionAnswer {
    /// The answer as text.
    pub text: String,
    /// Whether it is for a map.
    pub map: bool,
    /// The results of the last queries.
    pub results: Vec<AskedQueryResult>,
    /// The features for the map; `None` if the answer is not for a map.
    pub features: Option<FeatureCollection>,
    /// Places of the question that the snapshot does not contain.
    pub missing: Vec<String>,
    /// The feedback on the last query, if there is no answer.
    pub problem: Option<String>,
    /// Number of repairs.
    pub repairs: u8,
    /// The steps.
    pub steps: Vec<AskStep>,
}

/// Features of GeoJSON.
#[derive(Debug, Serialize)]
pub struct FeatureCollection {
    /// `FeatureCollection`.
    pub r#type: &'static str,
    /// The features.
    pub features: Vec<Box<RawValue>>,
}

/// The reason why a question has no answer.
#[derive(Debug)]
pub enum AskFailure {
    /// The question is invalid.
    Question(String),
    /// The model did not reply.
    Model(ChatError),
    /// A limit was reached.
    Exceeded(ExceededLimit),
    /// Damaged data were read.
    Damaged(terrapin_snapshot::Error),
    /// The program is faulty, or a query read damaged data.
    Fault(String),
}

impl std::fmt::Display for AskFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AskFailure::Question(message) | AskFailure::Fault(message) => f.write_str(message),
            AskFailure::Model(error) => match advice(error) {
                Some(advice) => write!(f, "{error}\n{advice}"),
                None => error.fmt(f),
            },
            AskFailure::Exceeded(exceeded) => exceeded.fmt(f),
            AskFailure::Damaged(damage) => damage.fmt(f),
        }
    }
}

/// Returns advice for the user who configured the model; none for a system, which has other options.
fn advice(error: &ChatError) -> Option<&'static str> {
    match error.kind {
        _ if error.service == ChatService::System => None,
        ChatErrorKind::Unauthorized => {
            Some("its key is missing or wrong: put it into a file for --model-key-file, or into TERRAPIN_MODEL_KEY")
        }
        ChatErrorKind::NotFound => Some(
            "is --model-url the root of the protocol, which often ends in /v1, and --model-name one of those that /models \
             there lists?",
        ),
        ChatErrorKind::TooLong => Some(
            "give fewer --model-tokens, or a longer context to the server: prompts have up to 3,500 tokens, and the reply \
             needs room behind them",
        ),
        ChatErrorKind::Late => Some(
            "a larger --model-time lets it take longer; a smaller --model-tokens cuts off a reply that repeats itself, so \
             that it is repaired",
        ),
        _ => None,
    }
}

impl From<ChatError> for AskFailure {
    fn from(error: ChatError) -> AskFailure {
        AskFailure::Model(error)
    }
}

impl From<ExceededLimit> for AskFailure {
    fn from(exceeded: ExceededLimit) -> AskFailure {
        AskFailure::Exceeded(exceeded)
    }
}
