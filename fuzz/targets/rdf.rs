//! Triples: the input is parsed as N-Quads, as Turtle, and in its detected format.

use terrapin_loaders::LoaderError;
use terrapin_loaders::rdf::{RdfOptions, TriplesFormat, read};

pub const WORDS: &[&str] = &[
    "<http://a/s>",
    "<http://a/p>",
    "\"x\"",
    "\"x\"@en-GB",
    "^^<http://www.w3.org/2001/XMLSchema#decimal>",
    "_:b1",
    " .\n",
    "@prefix a: <http://a/> .",
    "a:b",
    "[ a:p a:o ]",
    "( 1 2.5 1e3 true )",
    ";",
    ",",
    "\"\"\"",
    "'''",
    "\\u00e9",
    "\\U0010FFFF",
    "\\n",
    "#",
    "@base <http://a/> .",
    "PREFIX",
    "BASE",
    "<<",
    ">>",
    "{",
    "}",
    "\u{feff}",
    "<\\u0020>",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        super::town::TRIPLES,
        "@prefix ex: <http://example.org/> .\n@base <http://example.org/b/> .\nex:s a ex:T ; ex:p \"a\"@en , '''b\nc'''^^ex:d , 1 , -2.5 , 1e6 , true , [ ex:q ( 1 _:x <r> ) ] .\n[] ex:p [] .\n",
        "<http://a/s> <http://a/p> \"\\u00e9\\n\" <http://a/g> . # comment\n\n_:a <http://a/p> _:b .\r\n<http://a/%20> <http://a/p> \"x\"^^<http://a/d> .",
    ])
}

pub fn check(input: &[u8]) {
    let path = super::town::file("input", input);
    for format in [Some(TriplesFormat::Lines), Some(TriplesFormat::Turtle), None] {
        for skip_bad in [false, true] {
            let options = RdfOptions { format, skip_bad, memory: 8 << 20, ..RdfOptions::default() };
            match read::<LoaderError>(&path, &options, |_, _| Ok(())) {
                Ok(summary) => summary.errors.iter().for_each(|error| drop(error.to_string())),
                Err(error) => drop(error.to_string()),
            }
        }
    }
    // Small inputs are also loaded: parsed triples can be stored.
    if input.len() < 4096 && input.len().is_multiple_of(8) {
        let options = terrapin::load::LoadOptions {
            rdf: vec![path.clone()],
            memory: 32 << 20,
            ..terrapin::load::LoadOptions::new(path.with_extension("terrapin"))
        };
        if let Err(error) = terrapin::load::load(&options, &terrapin::load::Quiet) {
            let _ = error.to_string();
        } else {
            terrapin::snapshot::verify(&options.out).expect("what was loaded is whole");
        }
    }
}
