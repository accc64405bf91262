//! `terrapin grammar`: writes a grammar for constrained decoding.

use std::path::PathBuf;

use super::{CommandError, open, stdout};
use crate::budget::Limits;
use crate::eval::language::QueryLanguage;
use terrapin_assist::grammar::{GrammarLimits, NameSource, query_grammar};
use terrapin_grammar::GrammarFormat;

/// Write a grammar of OverpassQL or SPARQL for constrained decoding
///
/// A language model that follows the grammar writes no syntax errors. With --snapshot, it also uses only keys, values
/// and areas of the snapshot, or in SPARQL only its properties; with --question, only tags, items and properties that
/// match the question's words.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin grammar > overpassql.gbnf
  terrapin grammar --lang sparql > sparql.gbnf
  terrapin grammar --format lark --snapshot malta.terrapin > malta.lark
  terrapin grammar --snapshot malta.terrapin --question 'fast food that is vegan' > question.gbnf")]
pub struct GrammarArgs {
    /// Language of the grammar: overpassql, with Overpass Turbo's shortcuts, or sparql
    #[arg(long, value_name = "LANGUAGE", default_value = "overpassql")]
    lang: QueryLanguage,
    /// Format of the grammar: gbnf, for llama.cpp, XGrammar and vLLM, or lark, for llguidance
    #[arg(long, value_name = "FORMAT", default_value = "gbnf")]
    format: GrammarFormat,
    /// Snapshot whose keys, values and areas, or properties, are allowed
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Question whose tags, or items and properties, are allowed
    #[arg(long, value_name = "TEXT", requires = "snapshot")]
    question: Option<String>,
    /// Maximum number of keys; with --question, of tags and of keys
    #[arg(long, value_name = "N", default_value_t = 200)]
    keys: u16,
    /// Maximum number of values of a key; a key with more values takes any value
    #[arg(long, value_name = "N", default_value_t = 200)]
    values: u16,
    /// Maximum number of areas
    #[arg(long, value_name = "N", default_value_t = 500)]
    areas: u16,
}

/// Runs the command.
pub fn run(args: &GrammarArgs) -> Result<(), CommandError> {
    let engine = args.snapshot.as_deref().map(open::engine).transpose()?;
    let source = match (&engine, &args.question) {
        (None, _) => NameSource::Language,
        (Some(engine), None) => NameSource::Snapshot(engine),
        (Some(engine), Some(question)) => NameSource::Question(engine, question),
    };
    let limits = GrammarLimits { keys: args.keys.into(), values: args.values.into(), areas: args.areas.into() };
    let grammar = query_grammar(args.lang, source, &limits, &Limits::default())
        .map_err(|failure| CommandError::refused("grammar", format!("cannot list the areas: {failure}")))?;
    if let Some(engine) = &engine {
        engine.fail_if_damaged().map_err(open::error)?;
    }
    if args.question.is_some() && !["known-key", "item", "property-id"].iter().any(|rule| grammar.has_rule(rule)) {
        let message = "no name of the snapshot matches a word of the question";
        return Err(CommandError::refused("no-names", message));
    }
    stdout::print(&grammar.render(args.format))
}
