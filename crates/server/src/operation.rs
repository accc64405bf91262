//! Parts of an operation in OpenAPI, for the description of all services and for that of Wikibase's REST API.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::route::{Parameter, ParameterLocation, Schema};

/// Returns the identifier of an operation: its method and path.
pub fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(method.to_owned(), |id, word| id + "_" + word)
}

/// Returns the description of a parameter.
pub fn parameter(parameter: &Parameter) -> Value {
    let place = match parameter.place {
        ParameterLocation::Path => "path",
        ParameterLocation::Query => "query",
    };
    let mut described = json!({
        "name": parameter.name,
        "in": place,
        "required": parameter.is_required,
        "description": parameter.text,
        "schema": parameter.schema.to_json(),
    });
    if !parameter.is_required && !matches!(parameter.schema, Schema::Iri) {
        described["allowEmptyValue"] = json!(true);
    }
    described
}

/// Returns the access that operations need by default: a token, if the server has tokens.
pub fn security(has_tokens: bool) -> Value {
    if has_tokens { json!([{ "token": [] }]) } else { json!([]) }
}

/// Returns the ways to authenticate that [`security`] names.
pub fn security_schemes() -> Value {
    json!({ "token": { "type": "http", "scheme": "bearer" } })
}

/// Returns the meaning of a status.
pub fn reason(status: u16) -> &'static str {
    match status {
        202 => "Accepted: the message needs no answer",
        302 => "The answer is at `Location`, as `[out:custom]` sets it",
        303 => "The answer is at `Location`",
        304 => "Not modified",
        308 => "The entity is at `Location`",
        400 => "The request is wrong; the text says where",
        401 => "A token is missing or unknown",
        403 => "Not allowed",
        404 => "Not in this snapshot",
        406 => "No format that the client accepts",
        408 => "The body took too long",
        413 => "The body is too large",
        415 => "The media type is not supported",
        422 => "The message is not valid",
        429 => "Too many requests: retry after `Retry-After` seconds",
        500 => "A fault of the server, or a limit of the query",
        502 => "The language model's server failed",
        503 => "Stopped, or no slot was free: retry later",
        504 => "The timeout was reached",
        other => {
            StatusCode::from_u16(other).ok().and_then(|status| status.canonical_reason()).unwrap_or("Another status")
        }
    }
}
