//! Properties of random queries: texts of the grammars for constrained decoding parse, and keep their tree when they are
//! formatted.
//!
//! By default a few hundred samples of each; `TERRAPIN_SAMPLES=10000` is another number.

use terrapin::overpass::syntax::grammar::{GrammarNames, overpass_grammar, sample_settings};
use terrapin::overpass::{parse, turbo};
use terrapin::sparql::syntax::grammar as sparql;

use super::fmt::{FormatCount, overpass_tree, sparql_tree};

fn count() -> u64 {
    std::env::var("TERRAPIN_SAMPLES").map_or(300, |count| count.parse().expect("TERRAPIN_SAMPLES is a number"))
}

/// Runs a check of texts on a thread with the stack of those that handle queries.
fn with_stack(check: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(check).expect("a thread");
    thread.join().expect("no panic");
}

#[test]
fn samples_of_overpassql_are_parsed() {
    let grammar = overpass_grammar(&GrammarNames::default());
    let mut refused = Vec::new();
    for seed in 0..count() {
        let text = grammar.sample(seed, &sample_settings());
        let plain = turbo::with_stand_ins(&text).unwrap_or_else(|error| panic!("sample {seed}: {error}\n{text}"));
        if let Err(failure) = parse(&plain) {
            refused.push(format!("sample {seed}: {failure}\n{text}"));
        }
    }
    println!("{} samples, {} refused", count(), refused.len());
    let shown: Vec<&str> = refused.iter().take(5).map(String::as_str).collect();
    assert!(refused.is_empty(), "{} of {}:\n{}", refused.len(), count(), shown.join("\n\n"));
}

#[test]
fn formatted_samples_keep_their_tree() {
    with_stack(|| {
        let [mut ql, mut rq] = [FormatCount::default(), FormatCount::default()];
        let (overpass, queries) = (overpass_grammar(&GrammarNames::default()), sparql::sparql_grammar(&<_>::default()));
        for seed in 0..count() {
            let text = overpass.sample(seed, &sample_settings());
            ql.add(&text, overpass_tree, |text| terrapin_format::overpass(text).ok());
            let text = queries.sample(seed, &sparql::sample_settings());
            rq.add(&text, sparql_tree, |text| terrapin_format::sparql(text).ok());
        }
        ql.passes("OverpassQL");
        rq.passes("SPARQL");
    });
}
