//! `terrapin grammar`: writes a grammar for constrained decoding.

use std::path::PathBuf;

use super::{CommandError, open, stdout};
use crate::overpass::syntax::grammar::{GrammarNames, OverpassGrammar};
use terrapin_assist::grammar::{GrammarLimits, names};

/// Write a grammar of OverpassQL for constrained decoding
///
/// A language model that follows the grammar writes no syntax errors. With --snapshot, it also uses only keys, values
/// and areas of the snapshot; with --question, only those that match the question's words.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin grammar > overpassql.gbnf
  terrapin grammar --format lark --snapshot malta.terrapin > malta.lark
  terrapin grammar --snapshot malta.terrapin --question 'fast food that is vegan' > question.gbnf")]
pub struct GrammarArgs {
    /// Language of the grammar
    #[arg(long, value_enum, default_value_t = GrammarLanguage::Overpassql)]
    lang: GrammarLanguage,
    /// Format of the grammar
    #[arg(long, value_enum, default_value_t = GrammarFormat::Gbnf)]
    format: GrammarFormat,
    /// Snapshot whose keys, values and areas are allowed
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Question whose tags are allowed
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

/// The languages with a grammar.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum GrammarLanguage {
    /// OverpassQL with Overpass Turbo's shortcuts
    Overpassql,
}

/// The formats of grammars.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum GrammarFormat {
    /// GBNF, for llama.cpp, XGrammar and vLLM
    Gbnf,
    /// Lark's format, for llguidance
    Lark,
}

/// Runs the command.
pub fn run(args: &GrammarArgs) -> Result<(), CommandError> {
    let names = match &args.snapshot {
        None => GrammarNames::default(),
        Some(path) => {
            let engine = open::engine(path)?;
            let limits = GrammarLimits { keys: args.keys.into(), values: args.values.into(), areas: args.areas.into() };
            let found = names(&engine, args.question.as_deref(), limits)
                .map_err(|failure| CommandError::refused("grammar", format!("cannot list the areas: {failure}")))?;
            engine.fail_if_damaged().map_err(open::error)?;
            found
        }
    };
    let GrammarLanguage::Overpassql = args.lang;
    if args.question.is_some() && names.tags.is_empty() {
        return Err(CommandError::refused("no-tags", "no tag of the snapshot matches a word of the question"));
    }
    let grammar = OverpassGrammar::new(&names);
    stdout::print(&match args.format {
        GrammarFormat::Gbnf => grammar.gbnf(),
        GrammarFormat::Lark => grammar.lark(),
    })
}
