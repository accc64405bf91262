//! The outer form of messages: JSON-RPC 2.0 as the Model Context Protocol uses it, without batches and with parameters
//! by name. Checks run without building a tree. Texts that fail are answered here, because the SDK drops them or
//! answers them with a status of HTTP alone.

use std::borrow::Cow;

use axum::http::StatusCode;
use rmcp::model::InitializeRequestParams;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Longest id of a call that can be cancelled, in bytes of JSON.
const LONGEST_ID: usize = 256;

/// The members of a message that decide where it goes, as slices of the text.
pub struct RoutedMessage<'a> {
    /// The method of a request or a notification; empty for a response.
    pub method: Cow<'a, str>,
    /// The id of a request or a response.
    pub id: Option<&'a RawValue>,
    pub params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct McpEnvelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Reads a member that is present. Without this, `null` would read like an absent member, and a request with the id
/// `null` like a notification.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The parameters of `tools/call`.
#[derive(Deserialize)]
struct CallParams<'a> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The parameters of `resources/read`.
#[derive(Deserialize)]
struct ReadParams<'a> {
    #[serde(borrow, rename = "uri")]
    _uri: Cow<'a, str>,
}

/// An error object of JSON-RPC, for a text that is not a valid message.
#[derive(Debug, PartialEq)]
pub struct MessageError {
    code: i32,
    message: String,
    /// The id of the text, or `null` if it has no valid one.
    id: Value,
}

impl MessageError {
    /// Returns the error for a text that is not JSON.
    fn parse(error: &serde_json::Error) -> MessageError {
        MessageError {
            code: -32700,
            message: format!("parse error: the message is not JSON: {error}"),
            id: Value::Null,
        }
    }

    /// Returns the error for JSON that is not a valid message.
    pub fn invalid_request(why: &str, id: Option<&RawValue>) -> MessageError {
        MessageError { code: -32600, message: format!("invalid request: {why}"), id: answerable(id) }
    }

    /// Returns the error for parameters that do not match the method.
    pub fn invalid_params(method: &str, why: &str, id: Option<&RawValue>) -> MessageError {
        MessageError { code: -32602, message: format!("invalid params of {method}: {why}"), id: answerable(id) }
    }

    /// Returns whether the error concerns a notification, which JSON-RPC never answers.
    pub fn is_of_notification(&self) -> bool {
        self.code == -32602 && self.id.is_null()
    }

    /// Returns the HTTP status: 200 for the answer to a request, 400 for a text that is not a valid one.
    pub fn status(&self) -> StatusCode {
        if self.code == -32602 && !self.id.is_null() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    }

    /// Returns the answer as one line of JSON.
    pub fn to_json(&self) -> String {
        json!({"jsonrpc": "2.0", "id": self.id, "error": {"code": self.code, "message": self.message}}).to_string()
    }
}

fn answerable(id: Option<&RawValue>) -> Value {
    id.and_then(parse_id).unwrap_or_default()
}

/// Returns an id, or `None` if it is neither a string nor a whole number, or too long.
fn parse_id(raw: &RawValue) -> Option<Value> {
    let id: Value = serde_json::from_str(Some(raw.get()).filter(|text| text.len() <= LONGEST_ID)?).ok()?;
    (id.is_string() || id.is_i64() || id.is_u64()).then_some(id)
}

/// Returns an id as JSON without escapes, so that two spellings of it are equal; `None` if no call can have it.
pub fn id_key(raw: &RawValue) -> Option<String> {
    parse_id(raw).map(|id| id.to_string())
}

/// Checks the form of a message, and the parameters of methods that need some.
///
/// # Errors
/// Returns an error if the text is not JSON (-32700), is not a message (-32600), or has wrong parameters (-32602).
pub fn check(text: &[u8]) -> Result<RoutedMessage<'_>, MessageError> {
    let raw: &RawValue = serde_json::from_slice(text).map_err(|error| MessageError::parse(&error))?;
    let invalid = |why: &str, id| Err(MessageError::invalid_request(why, id));
    match raw.get().bytes().next() {
        Some(b'{') => {}
        Some(b'[') => return invalid("batches are not part of the protocol: send one message", None),
        _ => return invalid("a message is an object", None),
    }
    let envelope: McpEnvelope<'_> = match serde_json::from_str(raw.get()) {
        Ok(envelope) => envelope,
        Err(error) => return invalid(&error.to_string(), None),
    };
    let McpEnvelope { jsonrpc, method, id, params, result, error } = envelope;
    if jsonrpc.as_deref() != Some("2.0") {
        return invalid("jsonrpc must be \"2.0\"", id);
    }
    if id.is_some_and(|id| parse_id(id).is_none()) {
        return invalid("id must be a string or a whole number of at most 256 bytes", None);
    }
    let Some(method) = method else {
        let is_response = id.is_some() && (result.is_some() || error.is_some());
        return match is_response {
            true => Ok(RoutedMessage { method: Cow::Borrowed(""), id, params }),
            false => invalid("method is missing", id),
        };
    };
    if let Some(why) = params_error(&method, params) {
        return Err(MessageError::invalid_params(&method, &why, id));
    }
    Ok(RoutedMessage { method, id, params })
}

/// Returns the error in the parameters of a method, if any.
fn params_error(method: &str, params: Option<&RawValue>) -> Option<String> {
    let is_object = |raw: &RawValue| raw.get().starts_with('{');
    let text = match params {
        Some(params) if is_object(params) => params.get(),
        Some(_) => return Some("params must be an object".to_owned()),
        None => "{}",
    };
    let read = match method {
        "tools/call" => match serde_json::from_str::<CallParams<'_>>(text) {
            Ok(call) if call.arguments.is_none_or(|arguments| is_object(arguments) || arguments.get() == "null") => {
                Ok(())
            }
            Ok(_) => return Some("arguments must be an object".to_owned()),
            Err(error) => Err(error),
        },
        "resources/read" => serde_json::from_str::<ReadParams<'_>>(text).map(|_| ()),
        "initialize" => serde_json::from_str::<InitializeRequestParams>(text).map(|_| ()),
        _ => Ok(()),
    };
    read.err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks codes and examples of JSON-RPC 2.0 (sections 4, 5.1 and 7), and the restrictions of the Model Context
    /// Protocol (2025-06-18): no batches, ids that are not null, parameters by name.
    #[test]
    fn errors_are_those_of_json_rpc() {
        for (text, code, id) in [
            (r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, -32700, Value::Null),
            (
                r#"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method""#,
                -32700,
                Value::Null,
            ),
            ("", -32700, Value::Null),
            ("{}x", -32700, Value::Null),
            (r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, -32600, Value::Null),
            ("[]", -32600, Value::Null),
            ("[1]", -32600, Value::Null),
            ("1", -32600, Value::Null),
            ("null", -32600, Value::Null),
            ("{}", -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600, json!(1)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, json!(1)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#, -32600, Value::Null),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, -32602, json!(1)),
            (r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#, -32602, json!("a")),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1}}"#, -32602, json!(1)),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
                -32602,
                json!(1),
            ),
            (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, -32602, json!(1)),
            (r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#, -32602, json!(1)),
        ] {
            let error = check(text.as_bytes()).err().unwrap_or_else(|| panic!("{text}"));
            assert_eq!((error.code, &error.id), (code, &id), "{text}: {}", error.message);
        }
        assert_eq!(check(b"\xff").err().map(|error| error.code), Some(-32700));
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"a","arguments":{},"_meta":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"no/such/method","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert!(check(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
