//! Answers that start with a known query: a hypothesis that the model improves, or the query of the nearest example.

use super::super::examples::Example;
use super::super::nearest::moved;
use super::super::templates::{has_positions, refinement};
use super::super::words::sample;
use super::super::written::ReplyContent;
use super::super::{AskFailure, AskStep, Hypothesis, Lang, ModelQuery, QuestionAnswer};
use super::{Conversation, QueryOutcomes};
use terrapin_engine::Stop;

use crate::words::{WordsOptions, WordsOutput, understand};

impl Conversation<'_> {
    /// Lets the model improve a hypothesis, once. A reply without a query keeps it.
    pub(super) fn refine(mut self, hypothesis: &Hypothesis) -> Result<QuestionAnswer, AskFailure> {
        let queries = [hypothesis.query.clone()];
        let mut before = None;
        if hypothesis.has_feedback || hypothesis.is_only_for_errors {
            let outcome = self.run_hypothesis(&queries)?;
            if hypothesis.is_only_for_errors && !outcome.is_wrong {
                return self.finish(outcome, false, 0);
            }
            before = Some(outcome);
        } else {
            self.step(AskStep::Query(hypothesis.query.clone()));
        }
        let feedback = before.as_ref().filter(|_| hypothesis.has_feedback).map(feedback);
        let build = |own: &Self, examples: &[Example]| {
            let (prompts, question) = (&own.settings.prompts, &own.question.question);
            refinement(prompts, question, examples, &hypothesis.query.query, feedback.as_deref())
        };
        let (_, written) = self.first_reply(&build)?;
        match (written, before) {
            (ReplyContent::Queries(better, _), Some(outcome)) if better == queries => self.finish(outcome, false, 0),
            (ReplyContent::Queries(better, _), _) => {
                let outcome = self.run_all(&better, false)?;
                self.finish(outcome, false, 0)
            }
            (_, Some(outcome)) => self.finish(outcome, false, 0),
            (_, None) => {
                let outcome = self.run_hypothesis(&queries)?;
                self.finish(outcome, false, 0)
            }
        }
    }

    fn run_hypothesis(&mut self, queries: &[ModelQuery; 1]) -> Result<QueryOutcomes, AskFailure> {
        if queries[0].query.trim().is_empty() {
            let feedback = "there is no query".to_owned();
            self.step(AskStep::Query(queries[0].clone()));
            self.step(AskStep::Feedback { feedback: feedback.clone() });
            return Ok(QueryOutcomes { results: Vec::new(), feedback: Some(feedback), is_wrong: true });
        }
        self.run_all(queries, false)
    }

    /// Answers with the query of the nearest example, with the place of the question put in.
    pub(super) fn copy_nearest(mut self) -> Result<QuestionAnswer, AskFailure> {
        let missing = |message: &str| AskFailure::Question(message.to_owned());
        let Some(selector) = self.settings.examples.clone() else {
            return Err(missing("the baseline needs examples"));
        };
        let question = self.question.question.as_str();
        let nearest = selector.select_one(question, self.only(), self.patience())?;
        let nearest = nearest.ok_or_else(|| missing("there is no example in this language"))?;
        self.step(AskStep::Examples { ids: vec![nearest.id.clone()] });
        let query = moved(self.engine, nearest, question, self.limits);
        let query = ModelQuery { language: nearest.language.into(), query };
        let is_for_map = has_positions(&query);
        let outcome = self.run_all(&[query], is_for_map)?;
        self.finish(outcome, is_for_map, 0)
    }

    /// Answers with the query that the words of the question stand for.
    pub(super) fn use_words(mut self) -> Result<QuestionAnswer, AskFailure> {
        let bbox = self.question.bbox.as_deref().and_then(|text| text.parse().ok());
        // Published queries return the members of ways and relations also.
        let options = WordsOptions { bbox, output: WordsOutput::Members, ..WordsOptions::default() };
        let question = self.question.question.as_str();
        let understood = self.engine.run(self.limits, || understand(self.engine, question, &options));
        let understood = understood.map_err(|stop| match stop {
            Stop::Exceeded(exceeded) => exceeded.into(),
            Stop::Damaged(damage) => AskFailure::Damaged(damage),
            stop @ Stop::Panicked(_) => AskFailure::Fault(stop.to_string()),
        })?;
        let understood = understood.map_err(AskFailure::Question)?;
        let only = self.only().map(Lang::from);
        let query = understood
            .queries
            .into_iter()
            .map(|query| ModelQuery {
                language: if query.language == "sparql" { Lang::Sparql } else { Lang::Overpassql },
                query: query.query,
            })
            .find(|query| only.is_none_or(|only| only == query.language));
        let Some(query) = query else {
            return Ok(self.words_alone("no words of the question were understood".to_owned(), 0));
        };
        let is_for_map = has_positions(&query);
        let outcome = self.run_all(&[query], is_for_map)?;
        self.finish(outcome, is_for_map, 0)
    }
}

/// Returns the feedback on a hypothesis, as in OverpassNL's prompt: its error, "No results found" or its first results.
fn feedback(outcome: &QueryOutcomes) -> String {
    let own = outcome.feedback.as_deref().unwrap_or_default().trim();
    match (outcome.is_wrong, &outcome.results[..]) {
        (true, _) | (false, []) => own.to_owned(),
        (false, _) if !own.is_empty() => format!("No results found\n{own}"),
        (false, [result, ..]) => sample(result),
    }
}
