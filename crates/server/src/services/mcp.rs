//! The tools of `agents` by the Model Context Protocol. `http.rs` takes the messages of `/mcp`, `pipe.rs` those on
//! standard input, `message.rs` checks their form, and `calls.rs` keeps the calls that may be cancelled. A tool runs
//! like the work of any other service: behind the gate, on a thread of its own, within the time and memory of a query.
//! It stops when the client leaves or cancels the call.

mod calls;
mod http;
mod message;
mod pipe;

use calls::no_slot;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use axum::Extension;
use axum::http::{HeaderMap, request};
use axum::response::IntoResponse;
use axum::routing::on;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{self, Job, Lane};
use crate::json::JSON;
use crate::outcome::Outcome;
use crate::tokens::Bearer;
use terrapin_assist::agents::resources::{RESOURCES, Resource as Readable};
use terrapin_assist::agents::{self, Definition, TOOLS, Trouble};
use terrapin_budget::Limits;
use terrapin_engine::Engine;

use crate::body::LongestBody;
use crate::route::{Access, Route, json_body};
pub use http::{LONGEST, mcp, service};

/// The route of the Model Context Protocol.
pub const ROUTES: &[Route] =
    &[Route::post("/mcp", "Tools for agents by the Model Context Protocol", |app, methods| {
        on(methods, mcp).layer((Extension(service(app)), Extension(LongestBody(LONGEST))))
    })
    .details("Streamable HTTP: each message of JSON-RPC 2.0 is a POST.")
    .reads(&[json_body(|| {
        json!({
            "type": "object",
            "required": ["jsonrpc", "method"],
            "properties": { "jsonrpc": { "const": "2.0" }, "method": { "type": "string" } },
        })
    })])
    .answers(&["application/json", "text/event-stream"])
    .statuses_too(&[202, 404, 406, 422])
    .access(Access::Query)
    .guarded()];

const INSTRUCTIONS: &str = "\
One immutable snapshot of OpenStreetMap, and of a part of Wikidata where it has triples: the same query always has \
the same answer. For a question about places: search_tags for the tags of a thing, geocode for the area of a name, \
then query_overpass. For facts: search_entities for identifiers, then query_sparql. check_query tells why a query \
fails or finds nothing. Answers have the first results, the number of all, and next_cursor for more.";

/// Answers messages from standard input on standard output, until the input ends.
///
/// # Errors
/// Returns an error if the client does not speak the protocol.
pub async fn over_stdio(app: Arc<App>) -> Result<(), String> {
    let context = Arc::new(HttpRequestContext::new(&HeaderMap::new(), IpAddr::from([127, 0, 0, 1]), Bearer::Anyone));
    let server = McpServer { app, caller: Some(context) };
    let service = match server.serve(pipe::StdioTransport::new()).await {
        Ok(service) => service,
        // The client left before it sent a message.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    service.waiting().await.map(|_| ()).map_err(|error| error.to_string())
}

/// The bounds of the job that reads a message and runs its call, and how the call ended.
struct CallBounds {
    limits: Limits,
    ended: OnceLock<(&'static str, Outcome)>,
}

impl CallBounds {
    fn new(limits: Limits) -> CallBounds {
        CallBounds { limits, ended: OnceLock::new() }
    }

    /// Runs `work`, which has the name `what` in the log.
    fn run<T>(
        &self,
        app: &App,
        what: &'static str,
        work: impl FnOnce(&Engine, &Limits) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let result = work(&app.engine, &self.limits);
        let _ = self.ended.set((what, outcome(&result)));
        result
    }

    /// Returns the name of the call and its outcome, or `None` if no tool ran.
    fn ended(&self) -> Option<(&'static str, Outcome)> {
        self.ended.get().copied()
    }
}

/// Returns how a call ended, and logs a fault of the program.
fn outcome<T>(result: &Result<T, Trouble>) -> Outcome {
    match result {
        Ok(_) => Outcome::Done,
        Err(Trouble { exceeded: Some(exceeded), .. }) => Outcome::from(*exceeded),
        Err(trouble @ Trouble { is_fault: true, .. }) => {
            tracing::error!(%trouble, "a tool failed");
            Outcome::Failed
        }
        Err(_) => Outcome::Refused,
    }
}

/// The handler to which the SDK passes parsed messages.
#[derive(Clone)]
pub struct McpServer {
    app: Arc<App>,
    /// The client at the other end of a pipe; `None` for messages over HTTP, which bring their own [`CallBounds`].
    caller: Option<Arc<HttpRequestContext>>,
}

impl McpServer {
    /// Runs `work` within the bounds of a query: over HTTP on this thread, which is the job's, over a pipe in a job of
    /// its own.
    async fn run<T: Send + 'static>(
        &self,
        request: &RequestContext<RoleServer>,
        what: &'static str,
        work: impl FnOnce(&Engine, &Limits) -> Result<T, Trouble> + Send + 'static,
    ) -> Result<T, Trouble> {
        let parts = request.extensions.get::<request::Parts>();
        if let Some(bounds) = parts.and_then(|parts| parts.extensions.get::<Arc<CallBounds>>()) {
            return bounds.run(&self.app, what, work);
        }
        // A call that the scan of the message did not see has no slot.
        let Some(context) = &self.caller else { return Err(away("the message has its method twice")) };
        let (sender, given) = oneshot::channel();
        let task = move |job: Job| {
            let (time, memory) = (job.app().settings.max_time, job.memory());
            let (run, sink) = job.begin(time, memory, JSON);
            let result = work(&run.app().engine, run.limits());
            let outcome = outcome(&result);
            let _ = sender.send(result);
            if outcome == Outcome::Done {
                run.answered(sink, what, 1);
            } else {
                run.refused(sink, what, outcome, ().into_response());
            }
        };
        let ended = tokio::select! {
            ended = job::run(&self.app, context, Lane::Query, task) => ended,
            // Returning drops the job, which cancels the work.
            () = request.ct.cancelled() => return Err(away(CANCELLED)),
        };
        match given.await {
            Ok(result) => result,
            Err(_) => Err(away(no_slot(&ended))),
        }
    }
}

/// The error message of a cancelled call.
const CANCELLED: &str = "it was cancelled";

fn away(message: &str) -> Trouble {
    Trouble { message: message.to_owned(), hint: None, exceeded: None, is_fault: false }
}

/// Returns a tool's description in the protocol's types. All tools are read-only.
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

impl ServerHandler for McpServer {
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
        let has_triples = self.app.engine.triples().is_some();
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
            let message = format!("unknown tool {:?}; known tools: {}", asked.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = Value::Object(asked.arguments.unwrap_or_default());
        let work = move |engine: &Engine, limits: &Limits| definition.call(engine, arguments, limits);
        let result = match self.run(&context, definition.name, work).await {
            Ok(given) => CallToolResult::structured(given),
            // The model reads this error and may call the tool again with other arguments.
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
            let message = format!("unknown resource {:?}; known resources: {}", asked.uri, uris.join(", "));
            return Err(ErrorData::resource_not_found(message, None));
        };
        let work = move |engine: &Engine, limits: &Limits| readable.read(engine, limits);
        match self.run(&context, "resource", work).await {
            Ok(text) => {
                let contents = ResourceContents::text(text, readable.uri).with_mime_type(readable.media_type);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Err(trouble) => Err(ErrorData::internal_error(trouble.to_string(), None)),
        }
    }
}
