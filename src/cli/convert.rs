//! `terrapin convert`: writes a query in another form of the language.

use std::path::PathBuf;

use super::CommandError;
use super::query::text_of;
use super::stdout::print;
use crate::overpass::OverpassFailure;
use crate::overpass::convert::{self, ConversionForm};

/// Convert a query between QL and the XML form
///
/// Reads QL and XML. If the query has errors, its readable part is converted and the errors go to standard error.
/// Fewer checks run than before an execution.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin convert 'node[amenity=cafe];out;'
  terrapin convert --to ql -f cafes.xml
  echo '<query type=\"node\"><id-query type=\"node\" ref=\"1\"/></query>' | terrapin convert --to compact -")]
pub struct ConvertArgs {
    /// The query; `-` reads it from standard input
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    query: Option<String>,
    /// Read the query from a file
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// Output form
    #[arg(long, value_enum, default_value_t = To::Xml)]
    to: To,
    /// Print errors as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum To {
    /// The XML form
    Xml,
    /// QL over several lines
    Ql,
    /// QL on one line
    Compact,
}

/// Runs the command.
pub fn run(args: &ConvertArgs) -> Result<(), CommandError> {
    let (text, origin) = text_of(args.query.as_deref(), args.file.as_deref())?;
    let form = match args.to {
        To::Xml => ConversionForm::Xml,
        To::Ql => ConversionForm::Pretty,
        To::Compact => ConversionForm::Compact,
    };
    let refused = |failure: OverpassFailure| CommandError::Query {
        problems: failure.erase(),
        text: text.clone(),
        origin: origin.clone(),
    };
    let converted = convert::convert(&text, form).map_err(refused)?;
    print(&(converted.text + "\n"))?;
    match converted.problems {
        Some(failure) => Err(refused(failure)),
        None => Ok(()),
    }
}
