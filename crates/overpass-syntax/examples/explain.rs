//! Checks and rewrites a query: prints its errors with their positions, or its XML form and the kinds of its statements.
//!
//! ```sh
//! cargo run --example explain -- 'node[amenity=cafe](35.8,14.4,36.0,14.6);out;'
//! ```

use std::process::ExitCode;

use terrapin_overpass_syntax::convert::{ConversionForm, convert};
use terrapin_overpass_syntax::parse;

fn main() -> ExitCode {
    let query =
        std::env::args().nth(1).unwrap_or_else(|| "[out:json];node[amenity=cafe](35.8,14.4,36.0,14.6);out;".to_owned());
    match parse(&query) {
        Ok(script) => {
            println!("timeout {} s, {} statements", script.settings.timeout, script.statements.len());
            if let Ok(xml) = convert(&query, ConversionForm::Xml) {
                println!("{}", xml.text);
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            for problem in &failure.diagnostics {
                eprintln!("line {}: {}", problem.line, problem.message);
            }
            if let Some(help) = failure.help() {
                eprintln!("help: {help}");
            }
            ExitCode::FAILURE
        }
    }
}
