//! `GET /text2sparql`: translates a question to a SPARQL query with the interface of the TEXT2SPARQL challenge
//! (<https://text2sparql.aksw.org/>), so that its client can evaluate a snapshot with a language model.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::routing::on;
use serde::Serialize;

use super::ask::{UncountedModel, refuse};
use crate::App;
use crate::context::HttpRequestContext;
use crate::form;
use crate::job::{Job, Lane};
use crate::json::{JSON, JsonWording};
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, required};
use crate::service::{self, Wording};
use terrapin_assist::ask::{AskFailure, AskSettings, Lang, UserQuestion, ask, last_query};
use terrapin_engine::Stop;
use terrapin_eval::language::QueryLanguage;

/// The route.
pub const ROUTES: &[Route] = &[Route {
    needs_model: true,
    ..Route::get(
        "/text2sparql",
        "Translate a question to SPARQL with a language model, as the TEXT2SPARQL challenge asks for it",
        |_, methods| on(methods, text2sparql),
    )
    .details(
        "The answer is an object with `dataset`, `question` and `query`. A request without one of the parameters, and a \
         question for which the model writes no query, have status 422.",
    )
    .takes(&[&[
        required("dataset", Schema::Text, "The data to query: an identifier of `--dataset`; any, if the server has none"),
        required("question", Schema::Text, "The question in plain language"),
    ]])
    .access(Access::Query)
    .statuses_too(&[404, 422, 502])
    .guarded()
}];

/// The service's name in the log.
const NAME: &str = "text2sparql";

/// The answer, as the challenge defines it.
#[derive(Serialize)]
struct Translation<'a> {
    dataset: &'a str,
    question: &'a str,
    query: &'a str,
}

/// The parameters of a request.
struct Parameters {
    dataset: String,
    question: String,
}

/// Translates `?dataset=...&question=...`.
pub async fn text2sparql(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(query): RawQuery,
) -> Reply {
    let refuse = |status, message: &str| {
        app.metrics.refused(Outcome::Refused);
        Reply::from(JsonWording.refusal(status, message))
    };
    if app.asker.is_none() {
        return refuse(StatusCode::NOT_FOUND, "no language model is configured: start the server with --model-url");
    }
    let parameters = match Parameters::of(query.as_deref().unwrap_or_default()) {
        Ok(parameters) => parameters,
        Err((status, message)) => return refuse(status, &message),
    };
    let datasets = &app.settings.datasets;
    if !datasets.is_empty() && !datasets.contains(&parameters.dataset) {
        let message = format!("unknown dataset: this server has {}", datasets.join(", "));
        return refuse(StatusCode::NOT_FOUND, &message);
    }
    service::run(&app, &context, Lane::Ask, &JsonWording, move |job: Job| work(job, &parameters)).await
}

impl Parameters {
    /// Parses a query string. Of a repeated parameter the last value counts.
    fn of(query: &str) -> Result<Parameters, (StatusCode, String)> {
        let (mut dataset, mut question) = (None, None);
        for (name, value) in form::pairs(query.as_bytes()) {
            let slot = match name {
                b"dataset" => &mut dataset,
                b"question" => &mut question,
                _ => continue,
            };
            let text = form::decoded(value).map_err(|_| {
                let name = String::from_utf8_lossy(name);
                (StatusCode::BAD_REQUEST, format!("`{name}` is not UTF-8"))
            })?;
            *slot = Some(text);
        }
        let missing = |name: &str| (StatusCode::UNPROCESSABLE_ENTITY, format!("the parameter `{name}` is missing"));
        let dataset = dataset.ok_or_else(|| missing("dataset"))?;
        let question = question.filter(|text| !text.trim().is_empty()).ok_or_else(|| missing("question"))?;
        Ok(Parameters { dataset, question })
    }
}

fn work(job: Job, Parameters { dataset, question }: &Parameters) {
    job.context().set_query(question);
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, JSON);
    let Some(asker) = &run.app().asker else { return };
    let model = UncountedModel { model: &*asker.model, context: run.context() };
    let settings =
        AskSettings { only: Some(QueryLanguage::Sparql), words: false, map: false, ..asker.settings.clone() };
    let asked = UserQuestion { question: question.clone(), ..UserQuestion::default() };
    match ask(&run.app().engine, &model, &settings, &asked, run.limits(), &mut |_| {}) {
        Ok(answer) => match last_query(&answer.steps, Lang::Sparql) {
            Some(query) => {
                let written = serde_json::to_writer(&mut sink, &Translation { dataset, question, query });
                match written {
                    Ok(()) => run.answered(sink, NAME, 1),
                    Err(_) => service::fail(run, sink, &JsonWording, NAME, service::disconnected()),
                }
            }
            None => {
                let message = format!("the model wrote no query: {}", answer.text);
                let instead = JsonWording.refusal(StatusCode::UNPROCESSABLE_ENTITY, &message);
                run.refused(sink, NAME, Outcome::Refused, instead);
            }
        },
        Err(AskFailure::Damaged(damage)) => {
            let failed = service::stopped(&JsonWording, Stop::Damaged(damage));
            service::fail(run, sink, &JsonWording, NAME, failed);
        }
        Err(failure) => refuse(run, sink, &failure, false, NAME),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_of_the_challenge() {
        let read =
            Parameters::of("dataset=https%3A%2F%2Ftext2sparql.aksw.org%2F2025%2Fcorporate%2F&question=Who+is+it%3F");
        let Ok(Parameters { dataset, question }) = read else { panic!("not read") };
        let expected = ("https://text2sparql.aksw.org/2025/corporate/", "Who is it?");
        assert_eq!((dataset.as_str(), question.as_str()), expected);
        // The reference implementation has status 422 for missing parameters.
        for query in ["", "dataset=a", "question=b", "dataset=a&question=+"] {
            assert!(Parameters::of(query).is_err_and(|(status, _)| status == 422), "{query}");
        }
        assert!(Parameters::of("dataset=%ff&question=b").is_err_and(|(status, _)| status == 400));
    }
}
