//! One thing after the other: mentions, candidates, a prompt, a query, its answer or what is wrong with it, words.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;

use terrapin_chat::{Kind, Message, Model, Patience, Reply, Role};

use super::prompts::Prompt;
use super::run::{Came, run};
use super::written::{Written, read};
use super::{
    Answer, Failure, Features, LONGEST, Lang, MOST_REPAIRS, Mentions, Query, Question, Ran, Settings, Step, candidates,
};
use crate::agents::World;
use crate::base::untrusted;
use crate::budget::{Exceeded, Limits};

/// Rows that a model is shown of a result, and letters of all results.
const SHOWN: usize = 20;
const LETTERS: usize = 6000;

/// Answers a question within these limits. `tell` gets each step when it is done.
///
/// # Errors
/// The question is none, the model does not reply, a bound was reached, or there is a fault. A query that cannot be repaired
/// is no error: the answer says so.
pub fn ask(
    world: World<'_>,
    model: &dyn Model,
    settings: &Settings,
    question: &Question,
    limits: &Limits,
    tell: &mut dyn FnMut(&Step),
) -> Result<Answer, Failure> {
    check(question)?;
    let languages = languages(world, settings)?;
    let mut asking = Asking { world, model, settings, question, limits, languages, steps: Vec::new(), tell };
    match &question.queries {
        // What a person wrote is run as it is.
        Some(queries) => {
            let (queries, is_for_map) = (queries.clone(), true);
            let came = asking.run_all(&queries, is_for_map)?;
            asking.finish(came, is_for_map, 0)
        }
        None => asking.converse(),
    }
}

fn check(question: &Question) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::Question(message));
    // What was made here comes back, and is longer than what people write.
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

/// The languages that a query may have.
fn languages(world: World<'_>, settings: &Settings) -> Result<Vec<Lang>, Failure> {
    let mut there = Vec::new();
    if world.manifest.counts.nodes > 0 {
        there.push(Lang::Overpassql);
    }
    // Elements are asked in both.
    if world.triples.is_some() || world.manifest.counts.nodes > 0 {
        there.push(Lang::Sparql);
    }
    if let Some(only) = settings.only.map(Lang::from) {
        there.retain(|language| *language == only);
    }
    if there.is_empty() {
        return Err(Failure::Question("the snapshot has nothing that such a query could be asked of".to_owned()));
    }
    Ok(there)
}

struct Asking<'a> {
    world: World<'a>,
    model: &'a dyn Model,
    settings: &'a Settings,
    question: &'a Question,
    limits: &'a Limits,
    languages: Vec<Lang>,
    steps: Vec<Step>,
    tell: &'a mut dyn FnMut(&Step),
}

/// What came of all queries of a reply.
struct All {
    ran: Vec<Ran>,
    feedback: Option<String>,
    /// Whether any did not run.
    is_wrong: bool,
}

impl Asking<'_> {
    fn step(&mut self, step: Step) {
        (self.tell)(&step);
        self.steps.push(step);
    }

    /// The model's reply, while anybody waits for it.
    fn reply(&self, messages: &[Message]) -> Result<Reply, Failure> {
        if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Failure::Model(terrapin_chat::Error::new(Kind::Late, "there is no time left to ask it")));
        }
        let patience = Patience { deadline: self.limits.deadline, cancelled: &self.limits.cancelled };
        Ok(self.model.reply(messages, patience)?)
    }

    fn context(&self) -> String {
        match self.question.context.trim() {
            "" => String::new(),
            context => format!("What is to be known besides: {context}"),
        }
    }

    fn system(&self) -> Message {
        let data = data(self.world);
        Message::new(Role::System, self.settings.prompts.fill(Prompt::System, &[("data", &data)]))
    }

    /// What the question mentions: given, told by the model, or guessed where what it tells cannot be read.
    fn mentions(&mut self) -> Result<Mentions, Failure> {
        if let Some(mentions) = &self.question.mentions {
            return Ok(mentions.clone().bounded());
        }
        let values = [("question", self.question.question.as_str()), ("context", &self.context())];
        let asked = Message::new(Role::User, self.settings.prompts.fill(Prompt::Mentions, &values));
        let reply = self.reply(&[self.system(), asked]);
        let (mentions, note) = match reply.map(|reply| Mentions::read(&reply.text)) {
            Ok(Ok(mentions)) => (mentions, None),
            Ok(Err(note)) => (Mentions::guessed(&self.question.question), Some(note)),
            // A reply that cannot be read is as good as one that says nothing.
            Err(Failure::Model(error)) if error.kind == Kind::Broken => {
                (Mentions::guessed(&self.question.question), Some(error.message))
            }
            Err(failure) => return Err(failure),
        };
        self.step(Step::Mentions { mentions: mentions.clone(), note });
        Ok(mentions)
    }

    /// The prompt that asks for a query.
    fn prompt(&mut self) -> Result<String, Failure> {
        if let Some(prompt) = &self.question.prompt {
            return Ok(prompt.clone());
        }
        let found = match &self.question.candidates {
            Some(candidates) => candidates.clone(),
            None if !self.settings.search => "Nothing was looked up.".to_owned(),
            None => {
                let mentions = self.mentions()?;
                let candidates = candidates::found(self.world, &mentions, self.limits)?;
                let candidates = if candidates.is_empty() { "Nothing was found.".to_owned() } else { candidates };
                self.step(Step::Candidates { candidates: candidates.clone() });
                candidates
            }
        };
        let (has_elements, has_triples) = (self.world.manifest.counts.nodes > 0, self.world.triples.is_some());
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
            ("candidates", &found),
            ("languages", &names),
            ("sheets", &sheets),
            ("fences", &fences),
        ];
        let prompt = self.settings.prompts.fill(Prompt::Query, &values);
        self.step(Step::Prompt { prompt: prompt.clone() });
        Ok(prompt)
    }

    /// Has the model write queries until one gives something.
    fn converse(mut self) -> Result<Answer, Failure> {
        let prompt = self.prompt()?;
        let mut messages = vec![self.system(), Message::new(Role::User, prompt)];
        let most = self.settings.repairs.min(MOST_REPAIRS);
        let mut repairs = 0;
        let mut before: Option<(Vec<Query>, All)> = None;
        loop {
            let (said, written) = match self.reply(&messages) {
                Ok(reply) => {
                    self.step(Step::Reply { reply: shown(&reply), cut: reply.is_cut });
                    (shown(&reply), read(&reply, self.settings.only))
                }
                Err(Failure::Model(error)) if error.kind == Kind::Broken => {
                    (String::new(), Written::Nothing(format!("Your reply could not be read: {}", error.message)))
                }
                Err(failure) => return Err(failure),
            };
            let mut written_before = None;
            let (came, is_for_map) = match written {
                Written::Words(text) => return Ok(self.words_alone(text, repairs)),
                Written::Nothing(feedback) => {
                    (All { ran: Vec::new(), feedback: Some(feedback), is_wrong: true }, false)
                }
                Written::Queries(queries, is_for_map) => match before.take() {
                    // It stands by a query that finds nothing: so there is nothing.
                    Some((same, came)) if same == queries && !came.is_wrong => {
                        return self.finish(came, is_for_map, repairs);
                    }
                    _ => {
                        let came = self.run_all(&queries, is_for_map)?;
                        written_before = Some(queries);
                        (came, is_for_map)
                    }
                },
            };
            if repairs == most || came.feedback.is_none() {
                return self.finish(came, is_for_map, repairs);
            }
            let feedback = came.feedback.clone().unwrap_or_default();
            before = written_before.map(|queries| (queries, came));
            let values = [("feedback", feedback.as_str()), ("question", &self.question.question)];
            let repair = self.settings.prompts.fill(Prompt::Repair, &values);
            // A message without words is none to some servers.
            messages.push(Message::new(Role::Assistant, if said.is_empty() { "..." } else { &said }));
            messages.push(Message::new(Role::User, repair));
            repairs += 1;
        }
    }

    /// Runs queries. Something is wrong where one fails, or where none gives anything.
    fn run_all(&mut self, queries: &[Query], is_for_map: bool) -> Result<All, Failure> {
        let (mut ran, mut feedback, mut is_wrong, mut gave) = (Vec::new(), Vec::new(), false, false);
        for query in queries {
            if self.limits.cancelled.load(Ordering::Relaxed) {
                return Err(Exceeded::Cancelled.into());
            }
            self.step(Step::Query(query.clone()));
            let Came { ran: given, feedback: said } = run(self.world, query, is_for_map, self.limits)?;
            is_wrong |= given.is_none();
            gave |= said.is_none();
            if let Some(said) = said {
                self.step(Step::Feedback { feedback: said.clone() });
                feedback.push(said);
            }
            if let Some(given) = given {
                let (language, total, features) = (given.query.language, given.total, given.features);
                self.step(Step::Result { language, total, features });
                ran.push(given);
            }
        }
        let feedback = (is_wrong || !gave).then(|| feedback.join("\n"));
        Ok(All { ran, feedback, is_wrong })
    }

    fn words_alone(self, text: String, repairs: u8) -> Answer {
        Answer { text, map: false, results: Vec::new(), features: None, problem: None, repairs, steps: self.steps }
    }

    fn finish(mut self, came: All, is_for_map: bool, repairs: u8) -> Result<Answer, Failure> {
        let All { ran: mut results, feedback, .. } = came;
        if results.is_empty() {
            let problem = feedback.unwrap_or_default();
            let text = "No query that answers this was found.".to_owned();
            return Ok(Answer {
                text,
                map: false,
                results,
                features: None,
                problem: Some(problem),
                repairs,
                steps: self.steps,
            });
        }
        let text = self.words(&results)?;
        let shapes: Vec<_> = results.iter_mut().flat_map(|ran| std::mem::take(&mut ran.shapes)).collect();
        let map = is_for_map && !shapes.is_empty();
        let features = map.then_some(Features { r#type: "FeatureCollection", features: shapes });
        Ok(Answer { text, map, results, features, problem: None, repairs, steps: self.steps })
    }

    /// The answer in words: the model's, or what can be said without it.
    fn words(&mut self, results: &[Ran]) -> Result<String, Failure> {
        if !self.settings.words {
            return Ok(plain(results));
        }
        let told = told(results);
        let values = [("question", self.question.question.as_str()), ("context", &self.context()), ("results", &told)];
        let asked = Message::new(Role::User, self.settings.prompts.fill(Prompt::Answer, &values));
        let text = match self.reply(&[self.system(), asked]) {
            Ok(reply) if !reply.text.is_empty() => reply.text,
            Ok(_) => plain(results),
            Err(Failure::Model(error)) if error.kind != Kind::Cancelled => {
                format!("{} (No words for it: {error}.)", plain(results))
            }
            Err(failure) => return Err(failure),
        };
        self.step(Step::Text { text: text.clone() });
        Ok(text)
    }
}

/// What a reply says, tools that it calls among that.
fn shown(reply: &Reply) -> String {
    let mut text = reply.text.clone();
    for call in &reply.tool_calls {
        let _ = write!(text, "\n[calls {} {}]", call.name, call.arguments);
    }
    text.trim().to_owned()
}

/// What the snapshot has.
fn data(world: World<'_>) -> String {
    let manifest = world.manifest;
    let mut out = String::new();
    let counts = &manifest.counts;
    if counts.nodes > 0 {
        let _ = write!(
            out,
            "- OpenStreetMap: {} nodes, {} ways, {} relations",
            counts.nodes, counts.ways, counts.relations
        );
        if let Ok(time) = jiff::Timestamp::from_second(manifest.data_timestamp) {
            let _ = write!(out, ", as of {time}");
        }
        if let Some(sides) = manifest.bounding_box {
            let [south, west, north, east] = sides.map(|side| f64::from(side) / 1e7);
            let _ = write!(out, ", between {south},{west} and {north},{east} (latitude,longitude)");
        }
        out.push('\n');
    }
    if let Some(triples) = &manifest.triples {
        let _ = writeln!(out, "- a part of Wikidata: {} triples", triples.triples);
    }
    out.trim_end().to_owned()
}

/// Results as a model is shown them.
fn told(results: &[Ran]) -> String {
    let mut out = String::new();
    for ran in results {
        let shown = ran.rows.len().min(SHOWN);
        let columns = ran.columns.iter().map(|column| untrusted::line(column)).collect::<Vec<_>>().join(" | ");
        let first =
            if ran.total > shown as u64 { format!(", of which the first {shown} follow") } else { String::new() };
        let _ = writeln!(out, "{}\n\nrows: {}{first}; columns: {columns}", ran.query.query, ran.total);
        for row in ran.rows.iter().take(SHOWN) {
            let cells: Vec<Cow<'_, str>> =
                row.iter().map(|cell| untrusted::line(cell.as_deref().unwrap_or_default())).collect();
            let _ = writeln!(out, "{}", cells.join(" | "));
        }
        out.push('\n');
    }
    match out.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}...", &out[..end]),
        None => out.trim_end().to_owned(),
    }
}

/// Results in words, without a model.
fn plain(results: &[Ran]) -> String {
    let one = |ran: &Ran| match (&ran.rows[..], ran.query.language) {
        ([row], Lang::Sparql) if row.len() == 1 => row[0].clone().unwrap_or_default(),
        ([row], Lang::Overpassql) if row.first().is_some_and(|kind| kind.as_deref() == Some("count")) => {
            let total = ran.columns.iter().position(|column| column == "total");
            total.and_then(|at| row.get(at).cloned().flatten()).unwrap_or_default()
        }
        (_, language) => {
            let what = if language == Lang::Sparql { "row" } else { "element" };
            if ran.total == 1 { format!("1 {what}") } else { format!("{} {what}s", ran.total) }
        }
    };
    results.iter().map(|ran| one(ran) + ".").collect::<Vec<_>>().join(" ")
}
