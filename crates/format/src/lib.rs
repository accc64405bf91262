//! Formatters of query texts, one per language. A formatter changes white space only (SPARQL: also the case of
//! keywords), and keeps all comments. Its output has the same tokens as its input, therefore the same syntax tree, and
//! formatting it again changes nothing. The crate does not know any data; it does not check whether a text is valid.
//!
//! ```
//! let text = "[out:json];node [ amenity=cafe ] (area.a)  ; // cafes\n(._;>;);out   body;";
//! let formatted = terrapin_format::overpass(text)?;
//! assert_eq!(formatted, "[out:json];\nnode[amenity=cafe](area.a); // cafes\n(._; >;);\nout body;\n");
//!
//! let text = "select ?x where{?x wdt:P31/wdt:P279* wd:Q5;wdt:P1 1. filter(?x>1&&!?y)}limit 3";
//! let formatted = terrapin_format::sparql(text)?;
//! assert_eq!(
//!     formatted,
//!     "SELECT ?x WHERE {\n  ?x wdt:P31/wdt:P279* wd:Q5 ;\n    wdt:P1 1 .\n  FILTER(?x > 1 && !?y)\n}\nLIMIT 3\n"
//! );
//! # Ok::<(), terrapin_format::FormatError>(())
//! ```

mod lines;
mod overpass;
mod sparql;
mod xml;

use terrapin_overpass_syntax::OverpassFailure;
use terrapin_overpass_syntax::convert::{ConversionForm, Converted, convert};

pub use overpass::format as overpass;
pub use sparql::format as sparql;

/// Converts a query in either form to QL, and formats it.
///
/// # Errors
/// Returns an error if no part of the query can be converted.
pub fn to_ql(text: &str) -> Result<Converted, OverpassFailure> {
    let converted = convert(text, ConversionForm::Compact)?;
    // The converter writes QL that can be split into tokens.
    let formatted = overpass(&converted.text).map(|formatted| formatted.trim_end().to_owned());
    Ok(Converted { text: formatted.unwrap_or(converted.text), ..converted })
}

/// A text that cannot be formatted. A valid query always can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// A string, a comment or a shortcut has no end, or a character starts no token.
    #[error("the text at byte {0} is no token")]
    Token(usize),
    /// The output would have other tokens than the input.
    #[error("the formatter would change the query at byte {0}; this is a defect of the formatter")]
    Changed(usize),
}
