//! In-context examples: pairs of a question and its query that a model sees before a new question. One file for each
//! method that selects them. Does not know prompts or conversations.
//!
//! ```text
//! read.rs       the examples of a file
//! remember.rs   corrections of users, kept as examples
//! random.rs     a random selection by a seed
//! bleu.rs       the nearest questions by sentence BLEU
//! bm25.rs       the nearest questions by BM25
//! embedding.rs  the nearest questions by a model's embeddings; cache.rs keeps these in a file
//! ```

mod bleu;
mod bm25;
mod cache;
mod embedding;
mod random;
mod read;
mod remember;

use std::fmt;

use serde::Serialize;
use terrapin_chat::{ChatError, EmbeddingModel, Patience};
use terrapin_eval::language::QueryLanguage;

pub use cache::EmbeddingCache;
pub use read::{digest, read};
pub use remember::{Correction, remember};

/// Default number of examples.
pub const SHOTS: usize = 5;
/// Maximum number of examples.
pub const MOST_SHOTS: usize = 100;

/// A pair of a question and its query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Its id, or its line in its file.
    pub id: String,
    /// The question.
    pub question: String,
    /// The query.
    pub query: String,
    /// The language of the query.
    #[serde(skip)]
    pub language: QueryLanguage,
    /// A wrong or right query of another system for the question, for prompts with hypotheses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypothesis: Option<String>,
}

/// The method that selects examples for a question.
pub enum SelectionMethod {
    /// A random selection: each question has its own, which depends on the seed and the question only.
    Random(u64),
    /// The highest sentence BLEU of the example's question, with the new question as the reference.
    Bleu,
    /// The highest BM25 of the example's question.
    Bm25,
    /// The highest cosine similarity of embeddings.
    Embedding(Box<dyn EmbeddingModel + Send>, EmbeddingCache),
}

/// Scores all examples for a question; higher is nearer.
trait ExampleScorer: Send + Sync {
    /// Returns a score for each example, in their order.
    fn scores(&self, question: &str, patience: Patience<'_>) -> Result<Vec<f64>, ChatError>;

    /// Prepares the scores of these questions and of the examples, in this order.
    fn prepare(&self, _questions: &[&str], _patience: Patience<'_>) -> Result<(), ChatError> {
        Ok(())
    }
}

/// Examples, and the method that selects some of them for a question.
pub struct ExampleSelector {
    examples: Vec<Example>,
    /// The comparable forms of the examples' questions.
    forms: Vec<String>,
    shots: usize,
    scorer: Box<dyn ExampleScorer>,
}

impl fmt::Debug for ExampleSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExampleSelector")
            .field("examples", &self.examples.len())
            .field("shots", &self.shots)
            .finish_non_exhaustive()
    }
}

impl ExampleSelector {
    /// Creates a selector of at most `shots` examples for a question.
    pub fn new(examples: Vec<Example>, method: SelectionMethod, shots: usize) -> ExampleSelector {
        let questions: Vec<&str> = examples.iter().map(|example| example.question.as_str()).collect();
        let scorer: Box<dyn ExampleScorer> = match method {
            SelectionMethod::Random(seed) => Box::new(random::RandomScorer::new(seed, questions.len())),
            SelectionMethod::Bleu => Box::new(bleu::BleuScorer::new(&questions)),
            SelectionMethod::Bm25 => Box::new(bm25::Bm25Scorer::new(&questions)),
            SelectionMethod::Embedding(model, cache) => {
                Box::new(embedding::EmbeddingScorer::new(&questions, model, cache))
            }
        };
        let forms = questions.iter().map(|question| form(question)).collect();
        ExampleSelector { examples, forms, shots: shots.min(MOST_SHOTS), scorer }
    }

    /// Prepares the selection for these questions. An embedding model then gets its requests in this order, which does
    /// not depend on threads, and none later.
    ///
    /// # Errors
    /// Returns an error if the embedding model does not reply.
    pub fn prepare(&self, questions: &[&str], patience: Patience<'_>) -> Result<(), ChatError> {
        self.scorer.prepare(questions, patience)
    }

    /// Returns the examples for a question, the nearest first; of equally near ones, the first of the file comes first.
    /// An example with the text of the question is never selected. With `only`, all have queries in this language.
    ///
    /// # Errors
    /// Returns an error if the embedding model does not reply.
    pub fn select(
        &self,
        question: &str,
        only: Option<QueryLanguage>,
        patience: Patience<'_>,
    ) -> Result<Vec<&Example>, ChatError> {
        self.nearest(question, only, self.shots, patience)
    }

    /// Returns the nearest example for a question, also if the number of examples in prompts is 0.
    ///
    /// # Errors
    /// Returns an error if the embedding model does not reply.
    pub fn select_one(
        &self,
        question: &str,
        only: Option<QueryLanguage>,
        patience: Patience<'_>,
    ) -> Result<Option<&Example>, ChatError> {
        Ok(self.nearest(question, only, 1, patience)?.pop())
    }

    fn nearest(
        &self,
        question: &str,
        only: Option<QueryLanguage>,
        count: usize,
        patience: Patience<'_>,
    ) -> Result<Vec<&Example>, ChatError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let (own, scores) = (form(question), self.scorer.scores(question, patience)?);
        let mut ranked: Vec<(f64, &Example)> = (scores.into_iter().zip(&self.examples).zip(&self.forms))
            .filter(|((_, example), form)| **form != own && only.is_none_or(|only| example.language == only))
            .map(|(ranked, _)| ranked)
            .collect();
        // The sort is stable.
        ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        ranked.truncate(count);
        Ok(ranked.into_iter().map(|(_, example)| example).collect())
    }
}

/// Returns the form of a question in which equal questions are equal: lower case, single spaces, no signs at its end.
fn form(question: &str) -> String {
    let words = question.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['.', '?', '!', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    /// The questions of the tests of the scorers.
    pub const QUESTIONS: [&str; 4] =
        ["cafes in Malta", "All cafes and all bars in Sliema", "Bus stops in Gozo", "Railway stations in Sverige"];

    /// Patience without an end.
    pub fn patience() -> Patience<'static> {
        static CANCELLED: AtomicBool = AtomicBool::new(false);
        Patience { deadline: None, cancelled: &CANCELLED }
    }

    /// Examples with these questions.
    fn examples() -> Vec<Example> {
        let example = |(index, question): (usize, &&str)| Example {
            id: (index + 1).to_string(),
            question: (*question).to_owned(),
            query: "out;".to_owned(),
            language: if index == 3 { QueryLanguage::Sparql } else { QueryLanguage::OverpassQl },
            hypothesis: None,
        };
        QUESTIONS.iter().enumerate().map(example).collect()
    }

    fn ids(method: SelectionMethod, shots: usize, question: &str, only: Option<QueryLanguage>) -> Vec<String> {
        let selector = ExampleSelector::new(examples(), method, shots);
        let selected = selector.select(question, only, patience()).unwrap();
        selected.into_iter().map(|example| example.id.clone()).collect()
    }

    #[test]
    fn the_nearest_examples_come_first() {
        // The scores are those of the scorers' tests, which come from published programs.
        let bleu = |shots, question: &str, only| ids(SelectionMethod::Bleu, shots, question, only);
        assert_eq!(bleu(5, "Bus stops in Malta", None), ["3", "1", "4", "2"]);
        assert_eq!(bleu(2, "Bus stops in Malta", None), ["3", "1"]);
        assert_eq!(bleu(5, "Bus stops in Malta", Some(QueryLanguage::OverpassQl)), ["3", "1", "2"]);
        assert_eq!(ids(SelectionMethod::Bm25, 5, "Cafes in Gozo", None), ["3", "1", "2", "4"]);
        assert!(bleu(0, "Bus stops in Malta", None).is_empty());
        // Equally far examples keep their order.
        assert_eq!(bleu(5, "Weiher", None), ["1", "2", "3", "4"]);
    }

    #[test]
    fn a_question_is_not_its_own_example() {
        for question in ["Bus stops in Gozo", " bus  stops in gozo?"] {
            for method in [SelectionMethod::Bleu, SelectionMethod::Bm25, SelectionMethod::Random(7)] {
                let ids = ids(method, 5, question, None);
                assert!(ids.len() == 3 && !ids.contains(&"3".to_owned()), "{question}: {ids:?}");
            }
        }
    }
}
