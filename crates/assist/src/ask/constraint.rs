//! The grammar that a reply with a query follows. Its queries have no optional white space and no comments.

use std::sync::atomic::Ordering;
use std::time::Instant;

use terrapin_budget::{ExceededLimit, Limits};
use terrapin_chat::{ChatError, ChatErrorKind};
use terrapin_engine::Engine;
use terrapin_grammar::{DecodingGrammar, GrammarExpression, GrammarFormat};
use terrapin_overpass::OverpassFailure;

use super::{AskFailure, Lang};
use crate::grammar::{GrammarLimits, NameSource, query_grammar};

/// The names that a grammar for replies has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// Any names.
    Language,
    /// Those of the snapshot.
    Snapshot,
    /// Those for the question.
    Question,
}

impl Constraint {
    /// All of them.
    pub const ALL: [Constraint; 3] = [Constraint::Language, Constraint::Snapshot, Constraint::Question];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Constraint::Language => "language",
            Constraint::Snapshot => "snapshot",
            Constraint::Question => "question",
        }
    }

    /// Returns the grammar in GBNF for replies with a query in one of the languages. `is_fenced`: the query is in a fence,
    /// after the line on the map, as our own prompt requires; otherwise it is the whole reply.
    ///
    /// # Errors
    /// Returns an error if the names of the snapshot cannot be listed within the limits.
    pub fn grammar(
        self,
        engine: &Engine,
        question: &str,
        languages: &[Lang],
        is_fenced: bool,
        limits: &Limits,
    ) -> Result<String, AskFailure> {
        let names = match self {
            Constraint::Language => NameSource::Language,
            Constraint::Snapshot => NameSource::Snapshot(engine),
            Constraint::Question => NameSource::Question(engine, question),
        };
        let mut reply = DecodingGrammar::default();
        // The first rule is the root.
        reply.set("root", GrammarExpression::literal(""));
        let mut queries = Vec::new();
        for language in languages {
            let mut grammar = query_grammar((*language).into(), names, &GrammarLimits::default(), limits)
                .map_err(|failure| unlisted(&failure, limits))?;
            // Without optional white space, since llama.cpp follows all ways to read it: a reply would take minutes.
            grammar.set("ws", GrammarExpression::literal(""));
            grammar.set("sp", GrammarExpression::literal(" "));
            grammar.set("tail", GrammarExpression::literal(""));
            let query = reply.embed(language.name(), grammar);
            queries.push(match is_fenced {
                true => GrammarExpression::Sequence(vec![
                    GrammarExpression::literal(format!("```{}\n", language.name())),
                    query,
                    GrammarExpression::literal("\n```"),
                ]),
                false => query,
            });
        }
        let query = GrammarExpression::choice(queries);
        let root = match is_fenced {
            true => {
                let map = GrammarExpression::choice(["map: yes\n", "map: no\n"].map(GrammarExpression::literal));
                GrammarExpression::Sequence(vec![map, query])
            }
            false => query,
        };
        reply.set("root", root);
        Ok(reply.render(GrammarFormat::Gbnf))
    }
}

/// Returns the failure of a list of areas. If no time is left, the model is not asked.
fn unlisted(failure: &OverpassFailure, limits: &Limits) -> AskFailure {
    if limits.cancelled.load(Ordering::Relaxed) {
        return ExceededLimit::Cancelled.into();
    }
    if !failure.is_fault() && limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
        return ChatError::new(ChatErrorKind::Late, "no time is left to ask it").into();
    }
    AskFailure::Fault(format!("cannot list the areas: {failure}"))
}
