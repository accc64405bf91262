//! `terrapin convert`: writes a query in another form of the language, or in another dialect.

use std::path::PathBuf;

use super::CommandError;
use super::query::{SparqlDialect, text_of};
use super::stdout::print;
use crate::overpass::OverpassFailure;
use crate::overpass::convert::{self, ConversionForm};
use crate::sparql::{Dialect, translate};

/// Convert a query between QL and the XML form, or between dialects of SPARQL
///
/// Reads QL and XML. If the query has errors, its readable part is converted and the errors go to standard error.
/// Fewer checks run than before an execution. With --to wdqs, qlever or standard, reads SPARQL: a query that needs no
/// change gets declarations for its prefixes, any other is written anew without its comments. A construct that the
/// other dialect cannot express is an error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin convert 'node[amenity=cafe];out;'
  terrapin convert --to ql -f cafes.xml
  terrapin convert --to qlever -f cities.sparql
  echo '<query type=\"node\"><id-query type=\"node\" ref=\"1\"/></query>' | terrapin convert --to compact -")]
pub struct ConvertArgs {
    /// The query; `-` reads it from standard input
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    query: Option<String>,
    /// Read the query from a file
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// Output form, or dialect of SPARQL
    #[arg(long, value_enum, default_value_t = To::Xml)]
    to: To,
    /// Dialect of the SPARQL query to convert [default: auto]
    #[arg(long, value_enum, ignore_case = true)]
    from: Option<SparqlDialect>,
    /// Language that replaces [AUTO_LANGUAGE] in SPARQL [default: en]
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
    /// Print errors as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum To {
    /// The XML form
    Xml,
    /// QL over several lines, in the layout of `terrapin fmt`
    Ql,
    /// QL on one line
    Compact,
    /// SPARQL in the dialect of the Wikidata Query Service
    Wdqs,
    /// SPARQL in the dialect of QLever
    Qlever,
    /// SPARQL 1.1
    Standard,
}

/// Translates a query in SPARQL.
fn convert_sparql(args: &ConvertArgs, to: Dialect, text: String, origin: String) -> Result<(), CommandError> {
    let from = args.from.unwrap_or(SparqlDialect::Auto);
    match translate(&text, from.into(), to, args.language.as_deref().unwrap_or("en")) {
        Ok(translation) if translation.is_rewritten => {
            print(&terrapin_format::sparql(&translation.text).unwrap_or(translation.text))
        }
        Ok(translation) => print(&(translation.text.trim_end().to_owned() + "\n")),
        Err(error) => Err(CommandError::Query { text, origin, problems: vec![error.erase()] }),
    }
}

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Result<(), CommandError> {
    let (text, origin) = text_of(args.query.as_deref(), args.file.as_deref())?;
    let to = match args.to {
        To::Xml => |text: &str| convert::convert(text, ConversionForm::Xml),
        To::Ql => |text: &str| terrapin_format::to_ql(text),
        To::Compact => |text: &str| convert::convert(text, ConversionForm::Compact),
        To::Wdqs => return convert_sparql(args, Dialect::Wdqs, text, origin),
        To::Qlever => return convert_sparql(args, Dialect::Qlever, text, origin),
        To::Standard => return convert_sparql(args, Dialect::Standard, text, origin),
    };
    if args.from.is_some() || args.language.is_some() {
        return Err(CommandError::usage("--from and --language are for SPARQL: use --to wdqs, qlever or standard"));
    }
    let refused = |failure: OverpassFailure| CommandError::Query {
        problems: failure.erase(),
        text: text.clone(),
        origin: origin.clone(),
    };
    let converted = to(&text).map_err(refused)?;
    print(&(converted.text + "\n"))?;
    match converted.problems {
        Some(failure) => Err(refused(failure)),
        None => Ok(()),
    }
}
