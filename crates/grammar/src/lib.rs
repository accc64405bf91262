//! Grammars for constrained decoding: rules as trees, parsed from a notation like GBNF, and written as GBNF for llama.cpp
//! or in Lark's format for llguidance. To test grammars, the crate checks whether a grammar accepts a text, and samples
//! texts. It does not know query languages. Engines for language models have matchers of their own.
//!
//! ```
//! use terrapin_grammar::{DecodingGrammar, GrammarFormat, SampleSettings};
//!
//! let grammar = DecodingGrammar::parse("root ::= 'ASK' \" \" [a-c]{1,3}");
//! assert!(grammar.accepts("ask abc") && !grammar.accepts("ask d"));
//! let gbnf = "root ::= word-ask \" \" [a-c]{1,3}\nword-ask ::= [Aa] [Ss] [Kk]\n";
//! assert_eq!(grammar.render(GrammarFormat::Gbnf), gbnf);
//! assert!(grammar.render(GrammarFormat::Lark).contains("start: \"ASK\"i \" \" /[a-c]{1,3}/\n"));
//! assert!(grammar.accepts(&grammar.sample(7, &SampleSettings::default())));
//! ```

mod expression;
mod matcher;
mod render;
mod rules;
mod sample;

pub use expression::{DecodingGrammar, GrammarExpression};
pub use render::GrammarFormat;
pub use sample::SampleSettings;
