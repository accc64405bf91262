//! An entry of the table of routes, which is in `services/mod.rs`. The router, `/openapi.json`, `/llms.txt`, the list at
//! `/services` and the reference of the HTTP interface are built from the table.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::routing::{MethodFilter, MethodRouter};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::App;
pub use crate::json::JSON;
use crate::json::JsonWording;
use crate::service::Wording;

/// A route: path, methods, parameters, media types, access and handler.
pub struct Route {
    /// The path, with parameters in braces, as the router has it.
    pub path: &'static str,
    /// The path in documents, if it differs: a parameter with an ending, which the router cannot match.
    pub documented_path: Option<&'static str>,
    /// Other paths of the same service, which clients of its model know.
    pub aliases: &'static [&'static str],
    /// The methods.
    pub methods: Methods,
    /// One line for lists.
    pub summary: &'static str,
    /// More sentences for documents; empty if the summary says everything.
    pub details: &'static str,
    /// The parameters of the path and of the query string, in groups that routes share.
    pub parameters: &'static [&'static [Parameter]],
    /// The media types of a request's body.
    pub bodies: &'static [Media],
    /// The media types of an answer.
    pub answers: &'static [&'static str],
    /// Statuses besides those that [`Route::statuses`] derives.
    pub more_statuses: &'static [u16],
    /// Access control.
    pub access: Access,
    /// Whether it changes something or costs money, so that pages of other sites may not use it.
    pub is_guarded: bool,
    /// Whether it exists only if a language model is configured.
    pub needs_model: bool,
    /// Whether it exists only if a queue is annotated.
    pub needs_annotation: bool,
    /// Whether it needs triples: documents leave it out if the snapshot has none.
    pub needs_triples: bool,
    /// Whether documents leave it out: pages of the browser.
    pub is_hidden: bool,
    /// The path of another document that describes the paths below this one; `/openapi.json` has these.
    pub described_at: Option<&'static str>,
    /// The form and texts of errors.
    pub wording: &'static dyn Wording,
    /// Returns the handler of the methods.
    pub handler: Handler,
    /// Returns the handler at the address of operators, without access control; `None` if the route is not there.
    pub operator_handler: Option<Handler>,
}

/// A function that returns the handler of a route for its methods.
pub type Handler = fn(&Arc<App>, MethodFilter) -> MethodRouter<Arc<App>>;

/// The table of routes.
pub struct Routes {
    groups: &'static [&'static [Route]],
    by_path: HashMap<&'static str, &'static Route>,
}

impl Routes {
    /// Makes the table of groups, one for each service.
    pub fn new(groups: &'static [&'static [Route]]) -> Routes {
        let all = groups.iter().copied().flatten();
        Routes { groups, by_path: all.flat_map(|route| route.paths().map(move |path| (path, route))).collect() }
    }

    /// Returns the routes in order.
    pub fn all(&self) -> impl Iterator<Item = &'static Route> + use<> {
        self.groups.iter().copied().flatten()
    }

    /// Returns the entry that a request matched.
    pub fn of(&self, request: &Request) -> Option<&'static Route> {
        self.by_path.get(request.extensions().get::<MatchedPath>()?.as_str()).copied()
    }

    /// Returns the form and texts of errors for a request.
    pub fn wording(&self, request: &Request) -> &'static dyn Wording {
        self.of(request).map_or(&JsonWording, |route| route.wording)
    }
}

/// The methods of a route. `GET` includes `HEAD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Methods {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// Both.
    GetAndPost,
}

/// Access control of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// All clients. The files are already compressed.
    Page,
    /// All clients: probes.
    Probe,
    /// Clients with a token, if the server has tokens.
    Client,
    /// Clients with a token, if the server has tokens, within their quota: services that run queries.
    Query,
    /// Clients with a token, if the server has tokens; a browser gets the page instead.
    Browser,
    /// All clients, if operators have no address of their own. Otherwise it is at that address only.
    Operator,
}

/// A parameter of the path or of the query string.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Where it is.
    pub place: ParameterLocation,
    /// Whether a request without it is refused.
    pub is_required: bool,
    /// Its values.
    pub schema: Schema,
    /// Its meaning.
    pub text: &'static str,
}

/// Where a parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterLocation {
    /// In the path.
    Path,
    /// In the query string.
    Query,
}

/// The documented values of a parameter; a service may accept more, as its model does. An empty value is the same as
/// none, except for required parameters and IRIs.
#[derive(Debug, Clone, Copy)]
pub enum Schema {
    /// Any text.
    Text,
    /// Text that a regular expression of ECMA 262 matches.
    Pattern(&'static str),
    /// One of these.
    OneOf(&'static [&'static str]),
    /// An integer from the first to the second, and the default if there is one.
    Integer(i64, i64, Option<i64>),
    /// A number from the first to the second.
    Number(f64, f64),
    /// A finite number.
    AnyNumber,
    /// An absolute IRI.
    Iri,
}

/// A media type of a request's body.
#[derive(Debug, Clone, Copy)]
pub struct Media {
    /// Its name.
    pub name: &'static str,
    /// Returns its JSON Schema.
    pub schema: fn() -> Value,
}

/// Describes a parameter of the query string.
pub const fn query(name: &'static str, schema: Schema, text: &'static str) -> Parameter {
    Parameter { name, place: ParameterLocation::Query, is_required: false, schema, text }
}

/// Describes a parameter of the query string without which a request is refused.
pub const fn required(name: &'static str, schema: Schema, text: &'static str) -> Parameter {
    Parameter { is_required: true, ..query(name, schema, text) }
}

/// Describes a parameter of the path.
pub const fn path(name: &'static str, schema: Schema, text: &'static str) -> Parameter {
    Parameter { name, place: ParameterLocation::Path, is_required: true, schema, text }
}

/// Describes a body that is text.
pub const fn text_body(name: &'static str) -> Media {
    Media { name, schema: || json!({ "type": "string" }) }
}

/// Describes a form with the parameters of the query string.
pub const fn form_body(schema: fn() -> Value) -> Media {
    Media { name: "application/x-www-form-urlencoded", schema }
}

/// Describes a JSON body.
pub const fn json_body(schema: fn() -> Value) -> Media {
    Media { name: "application/json", schema }
}

/// A timeout in seconds, at least a millisecond.
pub const TIMEOUT: Schema = Schema::Number(0.001, 1e9);

/// Returns a timeout of `seconds`, or `None` if [`TIMEOUT`] does not allow it.
pub fn timeout(seconds: f64) -> Option<Duration> {
    (0.001..=1e9).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

/// The media type of lines for people.
pub const TEXT: &str = "text/plain";

impl Route {
    const fn new(methods: Methods, path: &'static str, summary: &'static str, handler: Handler) -> Route {
        Route {
            path,
            documented_path: None,
            aliases: &[],
            methods,
            summary,
            details: "",
            parameters: &[],
            bodies: &[],
            answers: &[JSON],
            more_statuses: &[],
            access: Access::Client,
            is_guarded: false,
            needs_model: false,
            needs_annotation: false,
            needs_triples: false,
            is_hidden: false,
            described_at: None,
            wording: &JsonWording,
            handler,
            operator_handler: None,
        }
    }

    /// Creates a route for `GET`. Defaults: access `Client`, an answer in JSON, errors in JSON.
    pub const fn get(path: &'static str, summary: &'static str, handler: Handler) -> Route {
        Route::new(Methods::Get, path, summary, handler)
    }

    /// Creates a route for `POST`, with the same defaults.
    pub const fn post(path: &'static str, summary: &'static str, handler: Handler) -> Route {
        Route::new(Methods::Post, path, summary, handler)
    }

    /// Creates a route for `GET` and `POST`, with the same defaults.
    pub const fn get_and_post(path: &'static str, summary: &'static str, handler: Handler) -> Route {
        Route::new(Methods::GetAndPost, path, summary, handler)
    }

    /// Sets the access control.
    pub const fn access(self, access: Access) -> Route {
        Route { access, ..self }
    }

    /// Sets the parameters.
    pub const fn takes(self, parameters: &'static [&'static [Parameter]]) -> Route {
        Route { parameters, ..self }
    }

    /// Sets the media types of bodies.
    pub const fn reads(self, bodies: &'static [Media]) -> Route {
        Route { bodies, ..self }
    }

    /// Sets the media types of answers.
    pub const fn answers(self, answers: &'static [&'static str]) -> Route {
        Route { answers, ..self }
    }

    /// Sets the form and texts of errors.
    pub const fn worded(self, wording: &'static dyn Wording) -> Route {
        Route { wording, ..self }
    }

    /// Sets other paths.
    pub const fn aliases(self, aliases: &'static [&'static str]) -> Route {
        Route { aliases, ..self }
    }

    /// Sets further sentences.
    pub const fn details(self, details: &'static str) -> Route {
        Route { details, ..self }
    }

    /// Adds statuses.
    pub const fn statuses_too(self, more_statuses: &'static [u16]) -> Route {
        Route { more_statuses, ..self }
    }

    /// Refuses pages of other sites.
    pub const fn guarded(self) -> Route {
        Route { is_guarded: true, ..self }
    }

    /// Serves it also at the address of operators, with this handler.
    pub const fn for_operators(self, handler: Handler) -> Route {
        Route { operator_handler: Some(handler), ..self }
    }

    /// Leaves it out of documents of a snapshot without triples.
    pub const fn of_triples(self) -> Route {
        Route { needs_triples: true, ..self }
    }

    /// Sets the document that describes the paths below this one.
    pub const fn described_at(self, path: &'static str) -> Route {
        Route { described_at: Some(path), ..self }
    }

    /// Leaves it out of documents.
    pub const fn hidden(self) -> Route {
        Route { is_hidden: true, ..self }
    }

    /// Returns the path that documents show.
    pub fn shown_path(&self) -> &'static str {
        self.documented_path.unwrap_or(self.path)
    }

    /// Returns all paths.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.path).chain(self.aliases.iter().copied())
    }

    /// Returns all parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters.iter().copied().flatten()
    }

    /// Returns the statuses besides 200: those that follow from parameters, bodies and access, and the route's own.
    pub fn statuses(&self, has_tokens: bool) -> Vec<u16> {
        let mut statuses = self.more_statuses.to_vec();
        if self.parameters.iter().any(|group| !group.is_empty()) || !self.bodies.is_empty() {
            statuses.push(400);
        }
        if self.parameters().any(|parameter| parameter.place == ParameterLocation::Path) {
            statuses.push(404);
        }
        if !self.bodies.is_empty() {
            statuses.extend([408, 413, 415]);
        }
        if self.is_guarded {
            statuses.push(403);
        }
        if has_tokens && !matches!(self.access, Access::Page | Access::Probe | Access::Operator) {
            statuses.push(401);
        }
        if self.access == Access::Query {
            statuses.extend([429, 500, 503, 504]);
        }
        statuses.sort_unstable();
        statuses.dedup();
        statuses
    }
}

impl Methods {
    /// Returns the filter of the router.
    pub fn filter(self) -> MethodFilter {
        match self {
            Methods::Get => MethodFilter::GET,
            Methods::Post => MethodFilter::POST,
            Methods::GetAndPost => MethodFilter::GET.or(MethodFilter::POST),
        }
    }

    /// Returns the methods in lower case.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Methods::Get => &["get"],
            Methods::Post => &["post"],
            Methods::GetAndPost => &["get", "post"],
        }
    }
}

impl Schema {
    /// Returns the JSON Schema.
    pub fn to_json(self) -> Value {
        match self {
            Schema::Text => json!({ "type": "string" }),
            Schema::Pattern(pattern) => json!({ "type": "string", "pattern": pattern }),
            Schema::OneOf(values) => json!({ "type": "string", "enum": values }),
            Schema::Integer(least, most, default) => {
                let mut schema = json!({ "type": "integer" });
                if least > i64::MIN {
                    schema["minimum"] = json!(least);
                }
                if most < i64::MAX {
                    schema["maximum"] = json!(most);
                }
                if let Some(default) = default {
                    schema["default"] = json!(default);
                }
                schema
            }
            Schema::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
            Schema::AnyNumber => json!({ "type": "number" }),
            Schema::Iri => json!({ "type": "string", "format": "iri" }),
        }
    }
}

/// Returns the JSON Schema of a request's body, with all its parts inline.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
