//! The loop of a question: mentions, candidates, examples, prompt, query, result or repair, text.

mod refine;
mod shots;

use std::cell::OnceCell;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;

use terrapin_chat::{ChatErrorKind, ChatMessage, LanguageModel, MessageRole, Patience, Reply, Request};
use terrapin_engine::Engine;

use super::candidates::{self, Candidates};
use super::examples::Example;
use super::mentions::examples;
use super::prompts::Prompt;
use super::run::{RunOutcome, run};
use super::templates;
use super::words::{self, plain};
use super::written::{ReplyContent, fenced, is_complete, read};
use super::{
    AskBaseline, AskFailure, AskSettings, AskStep, AskedQueryResult, FeatureCollection, LONGEST, Lang, MENTIONS,
    MOST_REPAIRS, Mentions, ModelQuery, QUERY, QuestionAnswer, StepCost, TEXT, UserQuestion,
};
use terrapin_budget::{ExceededLimit, Limits};
use terrapin_eval::language::QueryLanguage;

/// The part of the remaining time that the list of mentions may take: the query needs the rest, and there is a
/// fallback.
const MENTIONS_SHARE: u32 = 3;

/// Answers a question within these limits. `tell` gets each step when it is done.
///
/// # Errors
/// Returns an error if the question is invalid, the model does not reply, a limit was reached, or the snapshot is
/// damaged. If a query cannot be repaired, that is part of the answer and not an error.
pub fn ask(
    engine: &Engine,
    model: &dyn LanguageModel,
    settings: &AskSettings,
    question: &UserQuestion,
    limits: &Limits,
    tell: &mut dyn FnMut(&AskStep),
) -> Result<QuestionAnswer, AskFailure> {
    let answer = || answer(engine, model, settings, question, limits, tell);
    engine.checked(answer).map_err(AskFailure::Damaged)?
}

fn answer(
    engine: &Engine,
    model: &dyn LanguageModel,
    settings: &AskSettings,
    question: &UserQuestion,
    limits: &Limits,
    tell: &mut dyn FnMut(&AskStep),
) -> Result<QuestionAnswer, AskFailure> {
    check(question)?;
    let languages = languages(engine, settings)?;
    let mut conversation = Conversation {
        engine,
        model,
        settings,
        question,
        limits,
        languages,
        missing: Vec::new(),
        is_guess: false,
        steps: Vec::new(),
        grammar: OnceCell::new(),
        tell,
    };
    match (&question.queries, &question.hypothesis) {
        // Queries of a person are run unchanged.
        (Some(queries), _) => {
            let (queries, is_for_map) = (queries.clone(), settings.map);
            let outcome = conversation.run_all(&queries, is_for_map)?;
            conversation.finish(outcome, is_for_map, 0)
        }
        (None, Some(hypothesis)) => conversation.refine(hypothesis),
        (None, None) => match settings.baseline {
            Some(AskBaseline::Nearest) => conversation.copy_nearest(),
            Some(AskBaseline::Words) => conversation.use_words(),
            None => conversation.converse(),
        },
    }
}

fn check(question: &UserQuestion) -> Result<(), AskFailure> {
    let wrong = |message: String| Err(AskFailure::Question(message));
    // Candidates and prompts of earlier answers are longer than questions.
    let texts = [
        ("question", Some(&question.question), LONGEST),
        ("context", Some(&question.context), LONGEST),
        ("candidates", question.candidates.as_ref(), 16 * LONGEST),
        ("prompt", question.prompt.as_ref(), 16 * LONGEST),
    ];
    for (name, text, longest) in texts {
        if text.is_some_and(|text| text.len() > longest) {
            return wrong(format!("{name}: longer than {longest} bytes"));
        }
    }
    if question.question.trim().is_empty() {
        return wrong("there is no question".to_owned());
    }
    match &question.queries {
        Some(queries) if queries.is_empty() || queries.len() > 2 => wrong("queries: expected one or two".to_owned()),
        _ => Ok(()),
    }
}

/// Returns the languages that a query may have.
fn languages(engine: &Engine, settings: &AskSettings) -> Result<Vec<Lang>, AskFailure> {
    let mut languages = Vec::new();
    if engine.manifest().counts.nodes > 0 {
        languages.push(Lang::Overpassql);
    }
    // SPARQL is also for elements of OpenStreetMap.
    if engine.triples().is_some() || engine.manifest().counts.nodes > 0 {
        languages.push(Lang::Sparql);
    }
    for only in [settings.only.map(Lang::from), settings.template.language()].into_iter().flatten() {
        languages.retain(|language| *language == only);
    }
    if languages.is_empty() {
        return Err(AskFailure::Question("the snapshot has no data for queries in this language".to_owned()));
    }
    Ok(languages)
}

struct Conversation<'a> {
    engine: &'a Engine,
    model: &'a dyn LanguageModel,
    settings: &'a AskSettings,
    question: &'a UserQuestion,
    limits: &'a Limits,
    languages: Vec<Lang>,
    /// Places that the snapshot does not contain, and whether they were guessed.
    missing: Vec<String>,
    is_guess: bool,
    steps: Vec<AskStep>,
    /// The grammar of replies with a query, made for the first one.
    grammar: OnceCell<String>,
    tell: &'a mut dyn FnMut(&AskStep),
}

/// The outcome of all queries of a reply.
struct QueryOutcomes {
    results: Vec<AskedQueryResult>,
    feedback: Option<String>,
    /// Whether a query failed.
    is_wrong: bool,
}

impl Conversation<'_> {
    fn step(&mut self, step: AskStep) {
        (self.tell)(&step);
        self.steps.push(step);
    }

    /// Sends a request within the time of the question.
    fn send(&self, request: &Request<'_>) -> Result<Reply, AskFailure> {
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(AskFailure::Model(terrapin_chat::ChatError::new(
                ChatErrorKind::Late,
                "no time is left to ask it",
            )));
        }
        Ok(self.model.reply(request, self.patience())?)
    }

    fn patience(&self) -> Patience<'_> {
        Patience { deadline: self.limits.deadline, cancelled: &self.limits.cancelled }
    }

    fn context(&self) -> String {
        match self.question.context.trim() {
            "" => String::new(),
            context => format!("What is to be known besides: {context}"),
        }
    }

    fn system(&self) -> ChatMessage {
        let data = words::snapshot(self.engine);
        ChatMessage::new(MessageRole::System, self.settings.prompts.fill(Prompt::System, &[("data", &data)]))
    }

    /// Returns the mentions of the question: given, listed by the model, or guessed if its reply is late, cut off,
    /// empty or unreadable.
    fn mentions(&mut self) -> Result<Mentions, AskFailure> {
        if let Some(mentions) = &self.question.mentions {
            return Ok(mentions.clone().bounded());
        }
        let question = self.question.question.as_str();
        let values = [("question", question), ("context", &self.context())];
        let messages =
            [self.system(), ChatMessage::new(MessageRole::User, self.settings.prompts.fill(Prompt::Mentions, &values))];
        let time = self.limits.deadline.map(|end| end.saturating_duration_since(Instant::now()) / MENTIONS_SHARE);
        let request = Request {
            tokens: Some(self.settings.mention_tokens),
            time,
            is_complete: Some(&Mentions::is_complete),
            ..Request::new(MENTIONS, &messages)
        };
        let examples = examples(self.settings.prompts.text(Prompt::Mentions));
        let about = format!("{question} {}", self.question.context);
        let (mentions, cost) = match self.send(&request) {
            Ok(reply) => {
                let mentions = Mentions::read(&reply.text).and_then(|read| read.without_examples(&examples, &about));
                let mentions = match mentions {
                    Err(_) if reply.is_cut => {
                        let tokens = self.settings.mention_tokens;
                        Err(format!("the reply was cut off after {tokens} tokens"))
                    }
                    mentions => mentions,
                };
                (mentions, StepCost::new(&reply))
            }
            Err(AskFailure::Model(error)) if is_of_reply(error.kind) => {
                (Err(error.stable_message()), StepCost::default())
            }
            Err(failure) => return Err(failure),
        };
        let (mentions, note) = match mentions {
            Ok(mentions) => (mentions, None),
            Err(note) => {
                self.is_guess = true;
                (Mentions::guess(question), Some(note))
            }
        };
        self.step(AskStep::Mentions { mentions: mentions.clone(), note, cost });
        Ok(mentions)
    }

    /// Returns the prompt for a query.
    fn prompt(&mut self) -> Result<String, AskFailure> {
        if let Some(prompt) = &self.question.prompt {
            return Ok(prompt.clone());
        }
        let candidates = match &self.question.candidates {
            Some(candidates) => candidates.clone(),
            None if !self.settings.search => "Nothing was looked up.".to_owned(),
            None => {
                let mentions = self.mentions()?;
                let Candidates { lines, missing } = candidates::find(self.engine, &mentions, self.limits)?;
                let candidates = if lines.is_empty() { "Nothing was found.".to_owned() } else { lines };
                self.missing.clone_from(&missing);
                self.step(AskStep::Candidates { candidates: candidates.clone(), missing });
                candidates
            }
        };
        let (has_elements, has_triples) = (self.engine.manifest().counts.nodes > 0, self.engine.triples().is_some());
        let name = |language: &Lang| match (language, has_elements, has_triples) {
            (Lang::Overpassql, ..) => "OverpassQL, to find elements of OpenStreetMap by tag and place",
            (Lang::Sparql, true, true) => {
                "SPARQL, for items of Wikidata, and to sort, group or measure elements or to join them with items"
            }
            (Lang::Sparql, true, false) => "SPARQL, to sort, group or measure elements of OpenStreetMap",
            (Lang::Sparql, false, _) => "SPARQL, for items of Wikidata",
        };
        let sheets = self.languages.iter().flat_map(|language| match language {
            Lang::Overpassql => vec![Prompt::OverpassQl],
            Lang::Sparql => [(has_triples, Prompt::Sparql), (has_elements, Prompt::Elements)]
                .into_iter()
                .filter_map(|(is_there, sheet)| is_there.then_some(sheet))
                .collect(),
        });
        let sheets = sheets.map(|sheet| self.settings.prompts.fill(sheet, &[])).collect::<Vec<_>>().join("\n\n");
        let names = self.languages.iter().map(name).collect::<Vec<_>>().join("; and ");
        let fences =
            self.languages.iter().map(|language| format!("```{}", language.name())).collect::<Vec<_>>().join(" or ");
        let values = [
            ("question", self.question.question.as_str()),
            ("context", &self.context()),
            ("candidates", &candidates),
            ("languages", &names),
            ("sheets", &sheets),
            ("fences", &fences),
        ];
        let prompt = self.settings.prompts.fill(Prompt::Query, &values);
        self.step(AskStep::Prompt { prompt: prompt.clone() });
        Ok(prompt)
    }

    /// Returns the only language of queries, if there is one.
    fn only(&self) -> Option<QueryLanguage> {
        match &self.languages[..] {
            [Lang::Overpassql] => Some(QueryLanguage::OverpassQl),
            [Lang::Sparql] => Some(QueryLanguage::Sparql),
            _ => None,
        }
    }

    /// Returns the messages that ask for a query; `prompt` is that of our own template.
    fn messages(&self, prompt: Option<&str>, examples: &[Example]) -> Vec<ChatMessage> {
        let Some(prompt) = prompt else {
            return self.settings.template.messages(&self.settings.prompts, &self.question.question, examples);
        };
        let mut messages = vec![self.system()];
        messages.extend(templates::turns(examples));
        messages.push(ChatMessage::new(MessageRole::User, prompt));
        messages
    }

    /// Lets the model write queries until one has a result.
    fn converse(mut self) -> Result<QuestionAnswer, AskFailure> {
        let prompt = if self.is_published() { None } else { Some(self.prompt()?) };
        let build = |own: &Self, examples: &[Example]| own.messages(prompt.as_deref(), examples);
        let (mut messages, first) = self.first_reply(&build)?;
        let mut written = Some(first);
        let most = self.settings.repairs.min(MOST_REPAIRS);
        let mut repairs = 0;
        let mut before: Option<(Vec<ModelQuery>, QueryOutcomes)> = None;
        loop {
            let written = match written.take() {
                Some(first) => first,
                None => self.written(&messages)?,
            };
            let mut written_before = None;
            let (outcome, is_for_map, shown) = match written {
                ReplyContent::Words(text) => return Ok(self.words_alone(text, repairs)),
                ReplyContent::Nothing(feedback) => {
                    let outcome = QueryOutcomes { results: Vec::new(), feedback: Some(feedback), is_wrong: true };
                    (outcome, false, "...".to_owned())
                }
                ReplyContent::Queries(queries, is_for_map) => match before.take() {
                    // If a model repeats a query that found nothing, the empty result is the answer.
                    Some((same, outcome)) if same == queries && !outcome.is_wrong => {
                        return self.finish(outcome, is_for_map, repairs);
                    }
                    _ => {
                        let is_for_map = is_for_map && self.settings.map;
                        let outcome = self.run_all(&queries, is_for_map)?;
                        let shown = fenced(&queries, is_for_map);
                        written_before = Some(queries);
                        (outcome, is_for_map, shown)
                    }
                },
            };
            if repairs == most || outcome.feedback.is_none() {
                return self.finish(outcome, is_for_map, repairs);
            }
            let feedback = outcome.feedback.clone().unwrap_or_default();
            before = written_before.map(|queries| (queries, outcome));
            let values = [("feedback", feedback.as_str()), ("question", &self.question.question)];
            let repair = self.settings.prompts.fill(Prompt::Repair, &values);
            // Only the query of a reply goes back to the model, since the prose could fill a small context. Some
            // servers reject empty messages.
            messages.push(ChatMessage::new(MessageRole::Assistant, shown));
            messages.push(ChatMessage::new(MessageRole::User, repair));
            repairs += 1;
        }
    }

    /// Returns the grammar for a reply with a query, if replies are constrained.
    fn grammar(&self) -> Result<Option<&str>, AskFailure> {
        let Some(constraint) = self.settings.constraint else { return Ok(None) };
        if let Some(grammar) = self.grammar.get() {
            return Ok(Some(grammar));
        }
        if self.model.capabilities().grammar.is_none() {
            let message = "--constrain needs a server that takes a grammar, and this one reports neither llama.cpp nor \
                           vLLM at /props and /models: leave out --constrain, or set the server's own field by \
                           --model-extra";
            return Err(AskFailure::Question(message.to_owned()));
        }
        let (question, is_fenced) = (&self.question.question, !self.is_published());
        let grammar = constraint.grammar(self.engine, question, &self.languages, is_fenced, self.limits)?;
        Ok(Some(self.grammar.get_or_init(|| grammar)))
    }

    /// Returns the queries of the model's next reply.
    fn written(&mut self, messages: &[ChatMessage]) -> Result<ReplyContent, AskFailure> {
        let languages = self.languages.clone();
        // A model that continues the text of a published prompt makes up a further example after its query.
        let is_published = self.is_published();
        let has_next = |text: &str| is_published && templates::without_next_input(text).len() < text.len();
        let is_complete = |text: &str| is_complete(text, &languages) || has_next(text);
        let grammar = self.grammar()?;
        let request = Request { grammar, is_complete: Some(&is_complete), ..Request::new(QUERY, messages) };
        match self.send(&request) {
            Ok(mut reply) => {
                self.step(AskStep::Reply { reply: shown(&reply), cut: reply.is_cut, cost: StepCost::new(&reply) });
                if has_next(&reply.text) {
                    reply.text.truncate(templates::without_next_input(&reply.text).len());
                    reply.is_cut = false;
                }
                let only = if is_published { self.only() } else { self.settings.only };
                Ok(read(&reply, only))
            }
            Err(AskFailure::Model(error)) if error.kind == ChatErrorKind::Broken => {
                Ok(ReplyContent::Nothing(format!("Your reply could not be read: {}", error.message)))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Runs queries. The outcome has feedback if a query fails, or if no query has a result.
    fn run_all(&mut self, queries: &[ModelQuery], is_for_map: bool) -> Result<QueryOutcomes, AskFailure> {
        let (mut results, mut feedback, mut is_wrong, mut has_result) = (Vec::new(), Vec::new(), false, false);
        for query in queries {
            if self.limits.cancelled.load(Ordering::Relaxed) {
                return Err(ExceededLimit::Cancelled.into());
            }
            self.step(AskStep::Query(query.clone()));
            let RunOutcome { result, feedback: own } =
                run(self.engine, query, self.question.bbox.as_deref(), is_for_map, self.limits)?;
            is_wrong |= result.is_none();
            has_result |= own.is_none();
            if let Some(own) = own {
                self.step(AskStep::Feedback { feedback: own.clone() });
                feedback.push(own);
            }
            if let Some(result) = result {
                let (language, total, features) = (result.query.language, result.total, result.features);
                self.step(AskStep::Result { language, total, features });
                results.push(result);
            }
        }
        let feedback = (is_wrong || !has_result).then(|| feedback.join("\n"));
        Ok(QueryOutcomes { results, feedback, is_wrong })
    }

    fn words_alone(self, text: String, repairs: u8) -> QuestionAnswer {
        let text = self.with_missing(text, false);
        let missing = self.missing;
        let steps = self.steps;
        QuestionAnswer { text, map: false, results: Vec::new(), features: None, missing, problem: None, repairs, steps }
    }

    fn finish(mut self, outcome: QueryOutcomes, is_for_map: bool, repairs: u8) -> Result<QuestionAnswer, AskFailure> {
        let QueryOutcomes { mut results, feedback, .. } = outcome;
        if results.is_empty() {
            let problem = Some(feedback.unwrap_or_default());
            let text = self.with_missing("No query that answers this was found.".to_owned(), false);
            let (missing, steps) = (self.missing, self.steps);
            return Ok(QuestionAnswer { text, map: false, results, features: None, missing, problem, repairs, steps });
        }
        let text = self.text(&results)?;
        let text = self.with_missing(text, feedback.is_none());
        let shapes: Vec<_> = results.iter_mut().flat_map(|result| std::mem::take(&mut result.shapes)).collect();
        let map = is_for_map && !shapes.is_empty();
        let features = map.then_some(FeatureCollection { r#type: "FeatureCollection", features: shapes });
        let (missing, steps) = (self.missing, self.steps);
        Ok(QuestionAnswer { text, map, results, features, missing, problem: None, repairs, steps })
    }

    /// Adds the places that the snapshot does not contain. Guessed names may not be places; they are only added if
    /// nothing was found.
    fn with_missing(&self, text: String, is_found: bool) -> String {
        let missing = words::missing(&self.missing);
        if missing.is_empty() || self.is_guess && is_found || text.contains(&missing) {
            return text;
        }
        format!("{} {missing}", text.trim_end())
    }

    /// Returns the answer as text: the model's, or a plain one if its reply is late, cut off, empty or unreadable.
    fn text(&mut self, results: &[AskedQueryResult]) -> Result<String, AskFailure> {
        if !self.settings.words {
            return Ok(plain(results));
        }
        let shown = words::results(results);
        let values = [("question", self.question.question.as_str()), ("context", &self.context()), ("results", &shown)];
        let messages =
            [self.system(), ChatMessage::new(MessageRole::User, self.settings.prompts.fill(Prompt::Answer, &values))];
        let request = Request { tokens: Some(self.settings.text_tokens), ..Request::new(TEXT, &messages) };
        let (text, note, cost) = match self.send(&request) {
            Ok(reply) if reply.is_cut => {
                let note = format!("the reply was cut off after {} tokens", self.settings.text_tokens);
                (plain(results), Some(note), StepCost::new(&reply))
            }
            Ok(reply) if reply.text.is_empty() => {
                (plain(results), Some("the reply is empty".to_owned()), StepCost::new(&reply))
            }
            Ok(reply) => (reply.text.clone(), None, StepCost::new(&reply)),
            Err(AskFailure::Model(error)) if error.kind != ChatErrorKind::Cancelled => {
                (plain(results), Some(error.stable_message()), StepCost::default())
            }
            Err(failure) => return Err(failure),
        };
        self.step(AskStep::Text { text: text.clone(), note, cost });
        Ok(text)
    }
}

/// Returns whether a failure concerns one reply, not the server: the step can do without it.
fn is_of_reply(kind: ChatErrorKind) -> bool {
    matches!(kind, ChatErrorKind::Broken | ChatErrorKind::Late)
}

/// Returns the text of a reply, with its tool calls.
fn shown(reply: &Reply) -> String {
    let mut text = reply.text.clone();
    for call in &reply.tool_calls {
        let _ = write!(text, "\n[calls {} {}]", call.name, call.arguments);
    }
    text.trim().to_owned()
}
