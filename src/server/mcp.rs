//! `/mcp`: the tools of `agents` by the Model Context Protocol, over streamable HTTP or over a pipe. Each message is a
//! request of its own: of a session nothing is kept but which calls run. A tool runs as any other service's work does,
//! behind the gate, on a thread of its own, within a query's time and memory, and stops when the client goes away or
//! cancels it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, request};
use axum::response::{IntoResponse, Response};
use http_body_util::Full;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

use super::App;
use super::body::{Received, Unreadable};
use super::context::Context;
use super::gate::Refusal;
use super::job::{self, Given, Job, Lane};
use super::json::{JSON, Json};
use super::outcome::Outcome;
use super::service::{self, Refused};
use super::tokens::Bearer;
use crate::agents::resources::{RESOURCES, Resource as Readable};
use crate::agents::{self, Definition, TOOLS, Trouble, World};
use crate::budget::Limits;

const INSTRUCTIONS: &str = "\
One immutable snapshot of OpenStreetMap, and of a part of Wikidata where it has triples: the same question has the same \
answer every day. For a question about places: search_tags for the tags of a thing, geocode for the area of a name, then \
query_overpass. For facts: search_entities for identifiers, then query_sparql. check_query tells why a query fails or finds \
nothing. Answers have the first results, the number of all, and next_cursor for more.";

/// The header by which the calls of one client are told from those of others, to cancel one: nothing else is kept by it.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The service, as the SDK has it, and the calls that run.
#[derive(Clone)]
pub struct Service {
    sdk: StreamableHttpService<Server, NeverSessionManager>,
    calls: Arc<Calls>,
}

/// The calls that run and may be cancelled: by session and by the number that the client gave them.
#[derive(Default)]
struct Calls(Mutex<HashMap<Call, Arc<Notify>>>);

type Call = (String, String);

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Call, Arc<Notify>>> {
        // Every change is made in one go.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, call: &Call) {
        if let Some(told) = self.lock().get(call) {
            told.notify_one();
        }
    }
}

/// A call while it runs.
struct Listed {
    calls: Arc<Calls>,
    call: Option<Call>,
    told: Arc<Notify>,
}

impl Listed {
    /// Lists it, if the client can name it.
    fn new(calls: &Arc<Calls>, call: Option<Call>) -> Listed {
        let told = Arc::new(Notify::new());
        if let Some(call) = &call {
            calls.lock().insert(call.clone(), Arc::clone(&told));
        }
        Listed { calls: Arc::clone(calls), call, told }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(call) = &self.call {
            self.calls.lock().remove(call);
        }
    }
}

fn session(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION).and_then(|session| session.to_str().ok()).map(str::to_owned)
}

/// What of a message has to be known beside the SDK.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    params: Option<Value>,
}

/// The names under which the server may be spoken to, besides those of this machine: a page of another site must not reach a
/// server here by a name of its own.
pub fn service(app: &Arc<App>) -> Service {
    let settings = &app.settings;
    let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
    if !settings.bind.ip().is_unspecified() {
        hosts.push(match settings.bind.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
    }
    hosts.extend(settings.mcp_hosts.iter().cloned());
    let origins: Vec<String> = hosts
        .iter()
        .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{}", any_port(host))))
        .collect();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(settings.max_body)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let (weak, calls) = (Arc::downgrade(app), Arc::<Calls>::default());
    let shared = Arc::clone(&calls);
    let server = move || {
        let app = weak.upgrade().ok_or_else(|| std::io::Error::other("the server has ended"))?;
        Ok(Server { app, context: None, calls: Arc::clone(&shared) })
    };
    let sdk = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    Service { sdk, calls }
}

/// A host that has a port stays; the others have any.
fn any_port(host: &str) -> String {
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    if after.contains(':') { host.to_owned() } else { format!("{host}:*") }
}

/// Answers a message.
pub async fn mcp(
    State(app): State<Arc<App>>,
    Extension(service): Extension<Service>,
    parts: request::Parts,
    body: Result<Received, Unreadable>,
) -> Result<Response, Refused> {
    let body = service::body(&app, &Json, body)?;
    let text = match body.decoded() {
        Ok(text) => text.into_owned(),
        Err(why) => return Err(service::unreadable(&Json, &why).into()),
    };
    drop(body);
    let message: Option<Message<'_>> = serde_json::from_slice(&text).ok();
    let is_first = message.as_ref().is_some_and(|message| message.method == "initialize");
    let number =
        message.filter(|message| message.method == "notifications/cancelled").and_then(|message| message.params);
    let cancelled = session(&parts.headers).zip(number.map(|params| params["requestId"].to_string()));
    let answer = service.sdk.handle(Request::from_parts(parts, Full::new(Bytes::from(text)))).await;
    if let Some(call) = cancelled.filter(|_| answer.status().is_success()) {
        service.calls.cancel(&call);
    }
    let mut answer = answer.map(Body::new).into_response();
    if is_first
        && answer.status().is_success()
        && let Ok(session) = HeaderValue::from_str(&Uuid::new_v4().to_string())
    {
        answer.headers_mut().insert(SESSION, session);
    }
    Ok(job::from_snapshot(&app, answer))
}

/// Answers the messages that come from standard input on standard output, until there are no more.
///
/// # Errors
/// The other side does not speak the protocol.
pub async fn over_stdio(app: Arc<App>) -> Result<(), String> {
    let context = Arc::new(Context::new(&HeaderMap::new(), IpAddr::from([127, 0, 0, 1]), Bearer::Anyone));
    let server = Server { app, context: Some(context), calls: Arc::default() };
    let service = match server.serve(rmcp::transport::stdio()).await {
        Ok(service) => service,
        // The other side left before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    service.waiting().await.map(|_| ()).map_err(|error| error.to_string())
}

/// What the SDK hands messages to.
#[derive(Clone)]
pub struct Server {
    app: Arc<App>,
    /// Who asks, where it is always the same one.
    context: Option<Arc<Context>>,
    calls: Arc<Calls>,
}

impl Server {
    fn context(&self, request: &RequestContext<RoleServer>) -> Option<Arc<Context>> {
        let of_request = || request.extensions.get::<request::Parts>()?.extensions.get::<Arc<Context>>().cloned();
        self.context.clone().or_else(of_request)
    }

    /// Runs `work` as a service's, and gives what it gives.
    async fn run<T: Send + 'static>(
        &self,
        request: &RequestContext<RoleServer>,
        what: &'static str,
        work: impl FnOnce(World<'_>, &Limits) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let Some(context) = self.context(request) else { return Err(away("it is not known who asks")) };
        let parts = request.extensions.get::<request::Parts>();
        let number = serde_json::to_value(&request.id).map(|number| number.to_string()).ok();
        let listed = Listed::new(&self.calls, parts.and_then(|parts| session(&parts.headers)).zip(number));
        let (sender, given) = oneshot::channel();
        let task = move |job: Job| {
            let (time, memory) = (job.app().settings.max_time, job.memory());
            let (run, sink) = job.begin(time, memory, JSON);
            let result = work(run.app().world(), run.limits());
            let outcome = match &result {
                Ok(_) => Outcome::Answered,
                Err(Trouble { exceeded: Some(exceeded), .. }) => Outcome::from(*exceeded),
                Err(Trouble { is_fault: true, .. }) => Outcome::Broken,
                Err(_) => Outcome::Refused,
            };
            if let (Outcome::Broken, Err(trouble)) = (outcome, &result) {
                tracing::error!(%trouble, "a tool failed");
            }
            let _ = sender.send(result);
            if outcome == Outcome::Answered {
                run.answered(sink, what, 1);
            } else {
                run.refused(sink, what, outcome, ().into_response());
            }
        };
        let ended = tokio::select! {
            ended = job::run(&self.app, &context, Lane::Query, task) => ended,
            // Leaving it here stops the work.
            () = request.ct.cancelled() => return Err(away("it was cancelled")),
            () = listed.told.notified() => return Err(away("it was cancelled")),
        };
        match (ended, given.await) {
            (_, Ok(result)) => result,
            (Given::Away(Refusal::Full), _) => Err(away("too many wait already: call it again in some seconds")),
            (Given::Away(Refusal::TooLong), _) => Err(away("no slot came free in time: call it again in some seconds")),
            (Given::Away(Refusal::Closed), _) => Err(away("the server is going down")),
            _ => Err(away("it could not be done: see the server's log")),
        }
    }
}

fn away(message: &str) -> Trouble {
    Trouble { message: message.to_owned(), hint: None, exceeded: None, is_fault: false }
}

/// A tool in the protocol's words. All of them only read.
fn tool(definition: &Definition) -> Tool {
    let annotations = ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false));
    let mut tool = Tool::new(definition.name, definition.description, definition.input());
    tool.title = Some(definition.title.to_owned());
    tool.output_schema = Some(Arc::new(definition.output()));
    tool.annotations = Some(annotations);
    tool
}

fn resource(readable: &Readable) -> Resource {
    Resource::new(readable.uri, readable.name)
        .with_description(readable.description)
        .with_mime_type(readable.media_type)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("terrapin", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let has_triples = self.app.sparql.is_some();
        let offered = TOOLS.iter().filter(|definition| has_triples || !definition.needs_triples);
        Ok(ListToolsResult::with_all_items(offered.map(tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        agents::find(name).map(tool)
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(definition) = agents::find(&asked.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|definition| definition.name).collect();
            let message = format!("there is no tool {:?}; there are {}", asked.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(asked.arguments.unwrap_or_default());
        let work = move |world: World<'_>, limits: &Limits| definition.call(world, arguments, limits);
        let result = match self.run(&context, definition.name, work).await {
            Ok(given) => CallToolResult::structured(given),
            // For the model, which may call it again with other arguments.
            Err(trouble) => CallToolResult::error(vec![ContentBlock::text(trouble.to_string())]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(RESOURCES.iter().map(resource).collect()))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(readable) = RESOURCES.iter().find(|readable| readable.uri == asked.uri) else {
            let uris: Vec<&str> = RESOURCES.iter().map(|readable| readable.uri).collect();
            let message = format!("there is no resource {:?}; there are {}", asked.uri, uris.join(", "));
            return Err(ErrorData::resource_not_found(message, None));
        };
        let work = move |world: World<'_>, limits: &Limits| readable.read(world, limits);
        match self.run(&context, "resource", work).await {
            Ok(text) => {
                let contents = ResourceContents::text(text, readable.uri).with_mime_type(readable.media_type);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Err(trouble) => Err(ErrorData::internal_error(trouble.to_string(), None)),
        }
    }
}
