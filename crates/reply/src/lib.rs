//! Extraction of the query from a language model's reply. The rules are in `docs/reference/replies.md`, with a case for
//! each form in `cases.jsonl`. The crate works on text only; it does not know engines, parsers or protocols.
//!
//! ```text
//! language.rs   the language that a text begins like
//! answer.rs     the answer in a reply: no thoughts, no special tokens
//! fences.rs     blocks of code in Markdown; inline.rs is code within a line
//! json.rs       queries in JSON: objects, tool calls, texts in quotes
//! scan.rs       where a query ends; prose.rs finds one among sentences
//! found.rs      all of it, in order of precedence
//! ```

mod answer;
mod fences;
mod found;
mod inline;
mod json;
pub mod language;
mod prose;
mod scan;

pub use answer::answer;
pub use fences::closed_blocks;
pub use found::{ReplyQuery, queries, query};
pub use json::is_quoted;
