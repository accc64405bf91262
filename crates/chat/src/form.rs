//! The form of a request. Servers and models accept different fields, and name the rejected one in an error.

use serde_json::json;

use crate::{ChatError, ChatErrorKind, Endpoint, GrammarField, MessageRole, Request};

/// The form of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestForm {
    /// Whether the token limit is named `max_completion_tokens` instead of `max_tokens`.
    has_new_name: bool,
    /// Whether `temperature` is left out: some models accept its default only.
    is_without_temperature: bool,
    /// Whether the reply is requested as a whole instead of as a stream of events.
    is_whole: bool,
    /// Whether `stream_options`, which request the token counts, are left out.
    is_without_usage: bool,
    /// Whether the system message is prepended to the first message: some models have no such role.
    is_without_system: bool,
}

impl RequestForm {
    /// Returns the form to try first.
    pub fn new(endpoint: &Endpoint) -> RequestForm {
        RequestForm { is_whole: !endpoint.stream, ..RequestForm::default() }
    }

    /// Returns the form without the field that an error rejects, or `None` if the form stays the same.
    pub fn without(self, error: &ChatError) -> Option<RequestForm> {
        if error.kind != ChatErrorKind::Refused {
            return None;
        }
        let text = error.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let refuses_usage = says(&["stream_options", "include_usage"]) && !self.is_without_usage;
        let other = RequestForm {
            has_new_name: self.has_new_name || says(&["max_completion_tokens", "max_tokens"]),
            is_without_temperature: self.is_without_temperature || says(&["temperature"]),
            is_without_usage: self.is_without_usage || refuses_usage,
            is_whole: self.is_whole || !refuses_usage && says(&["stream"]),
            is_without_system: self.is_without_system || says(&["system role", "role system", "roles must alternate"]),
        };
        (other != self).then_some(other)
    }

    /// Returns the body of a request with at most `tokens` tokens in the reply. `field` is how the server takes the
    /// grammar of the request.
    pub fn body(self, endpoint: &Endpoint, request: &Request<'_>, tokens: u32, field: Option<GrammarField>) -> String {
        let mut messages = request.messages.to_vec();
        if self.is_without_system && messages.len() > 1 && messages[0].role == MessageRole::System {
            let system = messages.remove(0).content;
            messages[0].content.insert_str(0, &format!("{system}\n\n"));
        }
        let mut body = json!({ "model": endpoint.model, "messages": messages, "stream": !self.is_whole });
        if !self.is_whole && !self.is_without_usage {
            body["stream_options"] = json!({ "include_usage": true });
        }
        let name = if self.has_new_name { "max_completion_tokens" } else { "max_tokens" };
        body[name] = tokens.into();
        if !self.is_without_temperature {
            body["temperature"] = 0.into();
        }
        if let (Some(field), Some(grammar)) = (field, request.grammar) {
            field.add(grammar, &mut body);
        }
        for (name, value) in endpoint.extra.fields(request.step) {
            body[name.as_str()] = value.clone();
        }
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{ChatMessage, Extra};

    #[test]
    fn refused_fields_are_left_out() {
        let endpoint = Endpoint::new("http://127.0.0.1:1/v1", "m").unwrap();
        let messages =
            [ChatMessage::new(MessageRole::System, "Be short."), ChatMessage::new(MessageRole::User, "Hello.")];
        let request = Request::new("query", &messages);
        let body =
            |form: RequestForm| serde_json::from_str::<Value>(&form.body(&endpoint, &request, 4096, None)).unwrap();
        let first = RequestForm::new(&endpoint);
        let asked = body(first);
        assert_eq!(
            (&asked["max_tokens"], &asked["temperature"], &asked["stream"], &asked["stream_options"]["include_usage"]),
            (&4096.into(), &0.into(), &true.into(), &true.into())
        );
        let mut form = first;
        for said in [
            "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.",
            "'temperature' does not support 0 with this model.",
            "Unrecognized request argument supplied: stream_options",
            "Your organization must be verified to stream this model.",
            "System role not supported",
        ] {
            let error = ChatError::new(ChatErrorKind::Refused, said);
            let other = form.without(&error).unwrap();
            assert_ne!(form, other, "{said}");
            let is_of_options = said.contains("stream_options");
            assert_eq!(body(other)["stream"] == false, !is_of_options && other.is_whole, "{said}");
            if !is_of_options {
                assert_eq!(other.without(&error), None, "{said}");
            }
            form = other;
        }
        let asked = body(form);
        assert!(asked["max_tokens"].is_null() && asked["temperature"].is_null(), "{asked}");
        assert!(asked["stream_options"].is_null(), "{asked}");
        assert_eq!((&asked["max_completion_tokens"], &asked["stream"]), (&4096.into(), &false.into()));
        assert_eq!(asked["messages"].as_array().unwrap().len(), 1);
        assert_eq!(asked["messages"][0]["content"], "Be short.\n\nHello.");
        assert_eq!(first.without(&ChatError::new(ChatErrorKind::Busy, "temperature")), None);
        assert_eq!(first.without(&ChatError::new(ChatErrorKind::Refused, "no")), None);
    }

    #[test]
    fn fields_of_the_user_are_merged() {
        let mut endpoint = Endpoint::new("http://127.0.0.1:1/v1", "m").unwrap();
        let text = r#"{"seed": 7, "temperature": 0.8, "steps": {"query": {"grammar": "root ::= [a]"}}}"#;
        endpoint.extra = Extra::parse(text, &["query", "text"]).unwrap();
        for (step, grammar) in [("query", Value::from("root ::= [a]")), ("text", Value::Null)] {
            let body = RequestForm::new(&endpoint).body(&endpoint, &Request::new(step, &[]), 1, None);
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((&body["seed"], &body["temperature"]), (&7.into(), &0.8.into()), "{step}");
            assert_eq!(body["grammar"], grammar, "{step}");
        }
    }
}
