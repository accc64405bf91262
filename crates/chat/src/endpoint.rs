//! The address of a model, and limits of requests to it.

use std::time::Duration;

use url::Url;

use crate::{ApiKey, Extra};

/// Minimum length of a value in the query string that is treated as a key: API versions are shorter.
const SECRET: usize = 12;
/// The path of completions below the root of the API.
const COMPLETIONS: &str = "chat/completions";

/// A model at an address.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The root of the API (`https://api.openai.com/v1`, `http://127.0.0.1:8080/v1`), or the completions below it.
    pub url: Url,
    /// Name of the model there.
    pub model: String,
    /// The key, if the server needs one.
    pub key: Option<ApiKey>,
    /// Whether replies are streamed, so that an endless one is noticed early.
    pub stream: bool,
    /// Maximum time for one reply, retries included.
    pub time: Duration,
    /// Maximum tokens of a reply, as the server counts them.
    pub tokens: u32,
    /// Maximum bytes of a reply's text; the rest is cut off.
    pub bytes: usize,
    /// Further fields of requests.
    pub extra: Extra,
}

/// An address that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The address is not a URL.
    #[error("not an address of a model: {0}")]
    Address(#[from] url::ParseError),
    /// The scheme is neither `http` nor `https`.
    #[error("the address of a model begins with http:// or https://")]
    Scheme,
    /// The address contains a user or a password.
    #[error("the address of a model has no user and no password in it: give the key in a file or the environment")]
    Secret,
}

impl Endpoint {
    /// Creates an endpoint without a key. Replies are streamed, in at most 120 seconds, 4,096 tokens and 64 KiB.
    ///
    /// # Errors
    /// Returns an error if the address cannot be used.
    pub fn new(address: &str, model: &str) -> Result<Endpoint, EndpointError> {
        let url = Url::parse(address.trim())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(EndpointError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(EndpointError::Secret);
        }
        Ok(Endpoint {
            url,
            model: model.to_owned(),
            key: None,
            stream: true,
            time: Duration::from_secs(120),
            tokens: 4096,
            bytes: 64 << 10,
            extra: Extra::default(),
        })
    }

    /// Returns the address of completions.
    pub fn completions(&self) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        if !path.ends_with(COMPLETIONS) {
            let path = format!("{path}/{COMPLETIONS}");
            url.set_path(&path);
        }
        url
    }

    /// Returns the address of embeddings, next to that of completions.
    pub fn embeddings(&self) -> Url {
        let mut url = self.completions();
        let root = url.path().trim_end_matches(COMPLETIONS).trim_end_matches('/');
        let path = if root.ends_with("/embeddings") { root.to_owned() } else { format!("{root}/embeddings") };
        url.set_path(&path);
        url
    }

    /// Returns whether another endpoint is at the same server: the same scheme, host and port.
    pub fn is_at_server_of(&self, other: &Endpoint) -> bool {
        self.url.origin() == other.url.origin()
    }

    /// Returns the address of llama.cpp's properties, next to the root of the API.
    pub fn properties(&self) -> Url {
        let mut url = self.completions();
        let root = url.path().trim_end_matches(COMPLETIONS).trim_end_matches('/');
        let path = format!("{}/props", root.strip_suffix("/v1").unwrap_or(root));
        url.set_path(&path);
        url
    }

    /// Returns the address of the list of models, next to that of completions.
    pub fn models(&self) -> Url {
        let mut url = self.completions();
        let path = format!("{}models", url.path().trim_end_matches(COMPLETIONS));
        url.set_path(&path);
        url
    }

    /// Returns the address for messages, without the query string, which may contain keys.
    pub fn shown(&self) -> String {
        let mut url = self.completions();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// Returns all secrets: the key, and long values of the query string.
    pub fn keys(&self) -> Vec<ApiKey> {
        let values = self.url.query_pairs().filter(|(_, value)| value.len() >= SECRET);
        let raw = self.url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let raw = raw.map(|(_, value)| value).filter(|value| value.len() >= SECRET);
        let all =
            values.filter_map(|(_, value)| ApiKey::new(&value).ok()).chain(raw.filter_map(|raw| ApiKey::new(raw).ok()));
        self.key.clone().into_iter().chain(all).collect()
    }

    /// Returns whether the server runs on this machine.
    pub fn is_local(&self) -> bool {
        match self.url.host() {
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_completions() {
        for (address, leads_to) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions"),
            ("http://[::1]:1", "http://[::1]:1/chat/completions"),
            (
                "https://a.example/v1/chat/completions?api-version=1",
                "https://a.example/v1/chat/completions?api-version=1",
            ),
        ] {
            let endpoint = Endpoint::new(address, "m").unwrap();
            assert_eq!(endpoint.completions().as_str(), leads_to);
            assert_eq!(endpoint.properties().path(), "/props");
            let models = if address.contains("/v1") { "/v1/models" } else { "/models" };
            assert_eq!(endpoint.models().path(), models);
            let embeddings = if address.contains("/v1") { "/v1/embeddings" } else { "/embeddings" };
            assert_eq!(endpoint.embeddings().path(), embeddings);
            assert_eq!(endpoint.is_local(), !address.contains("example"));
            assert!(!endpoint.shown().contains('?'));
        }
        let at = |address: &str| Endpoint::new(address, "m").unwrap();
        assert_eq!(at("http://a.example/v1/embeddings").embeddings().path(), "/v1/embeddings");
        assert!(at("https://a.example/v1").is_at_server_of(&at("https://a.example:443/v2")));
        assert!(!at("https://a.example/v1").is_at_server_of(&at("https://b.example/v1")));
        assert!(!at("https://a.example/v1").is_at_server_of(&at("http://a.example/v1")));
        for wrong in ["", "a.example/v1", "file:///v1", "http://ann:secret@a.example/v1"] {
            let error = Endpoint::new(wrong, "m").unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
