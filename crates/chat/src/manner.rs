//! How a request is put: servers and models differ in what they take, and say so when they are asked.

use serde_json::json;

use crate::{Endpoint, Error, Kind, Message, Role};

/// How a request is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// The most tokens are `max_completion_tokens`, no longer `max_tokens`.
    has_new_name: bool,
    /// There is no `temperature`.
    is_without_temperature: bool,
    /// The reply is to come in one piece.
    is_whole: bool,
    /// What holds for the whole conversation stands before the first message.
    is_without_system: bool,
}

impl Manner {
    /// What is tried first.
    pub fn of(endpoint: &Endpoint) -> Manner {
        Manner {
            has_new_name: false,
            is_without_temperature: false,
            is_whole: !endpoint.stream,
            is_without_system: false,
        }
    }

    /// Another one where the server says what it does not take of this one.
    pub fn without(self, error: &Error) -> Option<Manner> {
        if error.kind != Kind::Refused {
            return None;
        }
        let text = error.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let other = Manner {
            has_new_name: self.has_new_name || says(&["max_completion_tokens", "max_tokens"]),
            is_without_temperature: self.is_without_temperature || says(&["temperature"]),
            is_whole: self.is_whole || says(&["stream"]),
            is_without_system: self.is_without_system || says(&["system role", "role system", "roles must alternate"]),
        };
        (other != self).then_some(other)
    }

    /// A request.
    pub fn body(self, endpoint: &Endpoint, messages: &[Message]) -> String {
        let mut messages = messages.to_vec();
        if self.is_without_system && messages.len() > 1 && messages[0].role == Role::System {
            let system = messages.remove(0).content;
            messages[0].content.insert_str(0, &format!("{system}\n\n"));
        }
        let mut body = json!({ "model": endpoint.model, "messages": messages, "stream": !self.is_whole });
        let name = if self.has_new_name { "max_completion_tokens" } else { "max_tokens" };
        body[name] = endpoint.tokens.into();
        if !self.is_without_temperature {
            body["temperature"] = 0.into();
        }
        body.to_string()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_a_server_does_not_take_is_left_out() {
        let endpoint = Endpoint::new("http://127.0.0.1:1/v1", "m").unwrap();
        let messages = [Message::new(Role::System, "Be short."), Message::new(Role::User, "Hello.")];
        let body = |manner: Manner| serde_json::from_str::<Value>(&manner.body(&endpoint, &messages)).unwrap();
        let first = Manner::of(&endpoint);
        let asked = body(first);
        assert_eq!(
            (&asked["max_tokens"], &asked["temperature"], &asked["stream"]),
            (&4096.into(), &0.into(), &true.into())
        );
        let mut manner = first;
        for said in [
            "Unsupported parameter: 'max_tokens' ... Use 'max_completion_tokens' instead.",
            "'temperature' does not support 0 with this model.",
            "Your organization must be verified to stream this model.",
            "System role not supported",
        ] {
            let error = Error::new(Kind::Refused, said);
            let other = manner.without(&error).unwrap();
            assert_ne!(manner, other, "{said}");
            // It is not tried twice.
            assert_eq!(other.without(&error), None, "{said}");
            manner = other;
        }
        let asked = body(manner);
        assert!(asked["max_tokens"].is_null() && asked["temperature"].is_null(), "{asked}");
        assert_eq!((&asked["max_completion_tokens"], &asked["stream"]), (&4096.into(), &false.into()));
        assert_eq!(asked["messages"].as_array().unwrap().len(), 1);
        assert_eq!(asked["messages"][0]["content"], "Be short.\n\nHello.");
        assert_eq!(first.without(&Error::new(Kind::Busy, "temperature")), None);
        assert_eq!(first.without(&Error::new(Kind::Refused, "no")), None);
    }
}
