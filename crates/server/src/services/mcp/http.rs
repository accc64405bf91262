//! Messages of the Model Context Protocol over streamable HTTP. Each message is a request of its own. The only state of
//! a session is the list of its running calls.
//!
//! The threads that serve connections parse nothing. A job in the search lane decompresses a message, reads its method
//! without building a tree, and answers everything except calls. A call goes on as text to the query lane. Its tree is
//! built on the job's thread and counted in the job's account, and the body keeps its memory reservation as long as the
//! tree lives.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header, request, response};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::calls::{CallName, Calls, RunningCall, no_slot};
use super::message::{self, id_key};
use super::{CANCELLED, CallBounds, McpServer};
use crate::App;
use crate::accept::{self, AcceptHeader};
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::{self, Job, Lane};
use crate::json::{JSON, JsonWording};
use crate::outcome::Outcome;
use crate::rejected::Rejected;
use crate::reply::Reply;
use crate::service::{self, Wording};
use terrapin_budget::{self as budget, Budget};

/// Maximum length of a message in bytes, also after decompression. The arguments of every tool fit into it.
pub const LONGEST: usize = 64 << 10;
/// How long an answer may take besides the call itself. Answers are complete at once; a stream that does not end must
/// not hold a slot.
const SETTLE: Duration = Duration::from_secs(5);
/// The name in the log of messages that call no tool.
const NAME: &str = "mcp";
/// The header with the session, which separates the calls of different clients so that one can be cancelled.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The SDK's service, and the running calls.
#[derive(Clone)]
pub struct McpService {
    sdk: StreamableHttpService<McpServer, NeverSessionManager>,
    calls: Arc<Calls>,
}

/// Creates the service. `Host` and `Origin` are checked before a message gets here, for all routes that need it.
pub fn service(app: &Arc<App>) -> McpService {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST)
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let weak = Arc::downgrade(app);
    let server = move || {
        let app = weak.upgrade().ok_or_else(|| std::io::Error::other("the server has ended"))?;
        Ok(McpServer { app, caller: None })
    };
    let sdk = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    McpService { sdk, calls: Arc::default() }
}

/// The parameters of `notifications/cancelled`.
#[derive(Deserialize)]
struct CancelledParams<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
}

/// A message as text.
struct McpMessage {
    parts: request::Parts,
    text: Bytes,
    /// Keeps the reservation for the text's bytes.
    body: Received,
}

/// A message whose method is known.
enum SortedMessage {
    /// It needs a query slot. The second field is its id, as JSON.
    Call(Box<McpMessage>, Option<String>),
    /// It is already answered.
    Answered { answer: Box<Response>, begins_session: bool, cancels: Option<String> },
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned)
}

/// Answers a message.
pub async fn mcp(
    State(app): State<Arc<App>>,
    Extension(service): Extension<McpService>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    mut parts: request::Parts,
    body: Received,
) -> Reply {
    // The SDK wants both media types named, though all answers here are JSON.
    if accept::text(&parts.headers).is_none_or(|text| AcceptHeader::of(&text).quality(JSON) > 0) {
        parts.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    }
    let session = session(&parts.headers);
    let (sender, mut sorted) = oneshot::channel();
    let sorting = service.clone();
    let work = move |job: Job| match job.within(|| sorting.sort(parts, body)) {
        Ok(Ok(message)) => {
            let _ = sender.send(message);
            job.tell(().into_response());
        }
        Ok(Err(why)) => job.refuse(JsonWording.reject(&why)),
        Err(stop) => service::halt(job, &JsonWording, &stop),
    };
    let reply = service::run(&app, &context, Lane::Search, &JsonWording, work).await;
    match sorted.try_recv() {
        Ok(SortedMessage::Answered { answer, begins_session, cancels }) => {
            let mut answer = *answer;
            if answer.status().is_success() {
                if let Some(call) = session.zip(cancels) {
                    service.calls.cancel(&call);
                }
                if begins_session && let Ok(session) = HeaderValue::from_str(&Uuid::new_v4().to_string()) {
                    answer.headers_mut().insert(SESSION, session);
                }
            }
            job::from_snapshot(&app, answer).into()
        }
        Ok(SortedMessage::Call(message, id)) => call(&app, &context, service, *message, session, id).await,
        Err(_) => reply,
    }
}

/// Runs a call in a query slot, until it ends or is cancelled.
async fn call(
    app: &Arc<App>,
    context: &Arc<HttpRequestContext>,
    service: McpService,
    message: McpMessage,
    session: Option<String>,
    id: Option<String>,
) -> Reply {
    let name: Option<CallName> = session.zip(id.clone());
    let running = RunningCall::new(&service.calls, name);
    let work = move |job: Job| service.call(job, message);
    let done = tokio::select! {
        done = job::run(app, context, Lane::Query, work) => done,
        // Returning drops the job, which cancels the work.
        () = running.cancelled() => return job::from_snapshot(app, failed(id, CANCELLED)).into(),
    };
    match done {
        Ok(Some(Reply::Other(answer))) => job::from_snapshot(app, *answer).into(),
        Ok(Some(answer)) => answer,
        other => job::from_snapshot(app, failed(id, no_slot(&other))).into(),
    }
}

/// Returns the answer to a call without a result. The model reads it and may repeat the call.
fn failed(id: Option<String>, message: &str) -> Response {
    let id = id.and_then(|id| serde_json::from_str::<Value>(&id).ok());
    let result = json!({"content": [{"type": "text", "text": message}], "isError": true});
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    ([(header::CONTENT_TYPE, JSON)], answer.to_string()).into_response()
}

impl McpService {
    /// Decompresses a message, and answers it unless it is a call.
    fn sort(&self, parts: request::Parts, body: Received) -> Result<SortedMessage, Rejected> {
        let text = body.text()?;
        let (mut begins_session, mut cancels) = (false, None);
        // The SDK rejects other HTTP methods before it reads a body.
        if parts.method == Method::POST {
            let message = match message::check(&text) {
                Ok(message) => message,
                Err(error) => {
                    let answer = (error.status(), [(header::CONTENT_TYPE, JSON)], error.to_json()).into_response();
                    return Ok(SortedMessage::Answered { answer: Box::new(answer), begins_session, cancels });
                }
            };
            match &*message.method {
                "tools/call" | "resources/read" => {
                    let id = message.id.and_then(id_key);
                    return Ok(SortedMessage::Call(Box::new(McpMessage { parts, text, body }), id));
                }
                "initialize" => begins_session = true,
                "notifications/cancelled" => {
                    let params = message.params.and_then(|params| serde_json::from_str(params.get()).ok());
                    cancels = params.and_then(|params: CancelledParams<'_>| id_key(params.request_id));
                }
                _ => {}
            }
        }
        let answer = self.answer(McpMessage { parts, text, body }, SETTLE).into_response();
        Ok(SortedMessage::Answered { answer: Box::new(answer), begins_session, cancels })
    }

    /// Runs a call on the thread of its job.
    fn call(&self, job: Job, mut message: McpMessage) {
        let (time, memory) = (job.app().settings.max_time, job.memory());
        let (run, mut sink) = job.begin(time, memory, JSON);
        let bounds = Arc::new(CallBounds::new(run.limits().clone()));
        message.parts.extensions.insert(Arc::clone(&bounds));
        let left = run.limits().deadline.map_or(time, |deadline| deadline.saturating_duration_since(Instant::now()));
        // The tools check for damage.
        let budget = Arc::new(Budget::new(run.limits()));
        let answered = budget::watched(&budget, || self.answer(message, left.saturating_add(SETTLE)));
        let (what, outcome) = bounds.ended().unwrap_or((NAME, Outcome::Refused));
        let answer = match answered {
            Ok(answer) => answer,
            Err(stopped) => {
                let failed = service::stopped(&McpWording, stopped.into());
                return service::fail(run, sink, &McpWording, what, failed);
            }
        };
        if outcome != Outcome::Done || answer.head.status != StatusCode::OK {
            return run.refused(sink, what, outcome, answer.into_response());
        }
        match sink.write_all(&answer.bytes) {
            Ok(()) => run.answered(sink, what, 1),
            Err(_) => service::fail(run, sink, &McpWording, what, service::disconnected()),
        }
    }

    /// Lets the SDK answer a message on this thread, within `time`. The SDK's own tasks also run on this thread, so
    /// that their allocations are counted for this job.
    fn answer(&self, message: McpMessage, time: Duration) -> MessageAnswer {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                tracing::error!(%error, "no runtime for a message");
                return MessageAnswer::unsettled(StatusCode::INTERNAL_SERVER_ERROR, JsonWording.broken());
            }
        };
        let McpMessage { parts, text, body } = message;
        let answer = async {
            let (head, bytes) = self.sdk.handle(Request::from_parts(parts, Full::new(text))).await.into_parts();
            let Ok(bytes) = bytes.collect().await;
            MessageAnswer { head, bytes: bytes.to_bytes() }
        };
        let answer = runtime.block_on(async { tokio::time::timeout(time, answer).await });
        drop(body);
        answer.unwrap_or_else(|_| {
            let message = "this server has no event streams: send each message by POST";
            MessageAnswer::unsettled(StatusCode::NOT_IMPLEMENTED, message)
        })
    }
}

/// The error format of messages that have no answer of the protocol.
struct McpWording;

impl Wording for McpWording {
    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        JsonWording.refusal(status, message)
    }

    fn panicked(&self) -> &'static str {
        self.broken()
    }
}

/// The complete answer to a message, in memory.
struct MessageAnswer {
    head: response::Parts,
    bytes: Bytes,
}

impl MessageAnswer {
    /// Returns an answer of this server that replaces the SDK's.
    fn unsettled(status: StatusCode, message: &str) -> MessageAnswer {
        let bytes = Bytes::from(json!({"error": message}).to_string());
        let mut response = Response::new(());
        *response.status_mut() = status;
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        MessageAnswer { head: response.into_parts().0, bytes }
    }

    fn into_response(self) -> Response {
        Response::from_parts(self.head, Body::from(self.bytes))
    }
}
