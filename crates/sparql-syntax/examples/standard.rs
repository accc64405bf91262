//! Detects the dialect of a query and prints the extensions of SPARQL 1.1 that it uses, or its error.
//!
//! ```sh
//! cargo run --example standard -- 'SELECT ?city { ?city wdt:P31/wdt:P279* wd:Q515 } LIMIT 3'
//! ```

use std::process::ExitCode;

use terrapin_sparql_syntax::{detect, parse};

fn main() -> ExitCode {
    let query = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "SELECT ?city { ?city wdt:P31/wdt:P279* wd:Q515 } LIMIT 3".to_owned());
    let detected = detect(&query);
    println!("dialect: {:?} ({})", detected.dialect, detected.reason);
    match parse(&query, detected.dialect) {
        Ok(parsed) => {
            println!("extensions: {:?}", parsed.extensions);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("line {}, column {}: {}", error.line, error.column, error.message);
            ExitCode::FAILURE
        }
    }
}
