//! Where a model is, and how it is asked.

use std::time::Duration;

use url::Url;

use crate::Key;

/// Letters from which on a value in an address may be a key: versions are shorter.
const SECRET: usize = 12;
/// The path that a request goes to, below the address that people are given.
const COMPLETIONS: &str = "chat/completions";

/// Where a model is, and how it is asked.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The address of the protocol's root (`https://api.openai.com/v1`, `http://127.0.0.1:8080/v1`) or of the completions below it.
    pub url: Url,
    /// Its name there.
    pub model: String,
    /// The key, where one is needed.
    pub key: Option<Key>,
    /// Whether replies come in pieces: one that never ends is noticed earlier.
    pub stream: bool,
    /// How long one reply may take, what is tried again included.
    pub time: Duration,
    /// Tokens that a reply may have, as the server counts them.
    pub tokens: u32,
    /// Bytes of text that a reply may have; what comes then is cut off.
    pub bytes: usize,
}

/// Why an address is none.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It cannot be read.
    #[error("no address of a model: {0}")]
    Address(#[from] url::ParseError),
    /// It is of something else.
    #[error("the address of a model begins with http:// or https://")]
    Scheme,
    /// It has a password.
    #[error("the address of a model has no user and no password in it: give the key in a file or the environment")]
    Secret,
}

impl Endpoint {
    /// A model at an address, without a key, in pieces, within two minutes, 4,096 tokens and 64 KiB.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(address: &str, model: &str) -> Result<Endpoint, Unfit> {
        let url = Url::parse(address.trim())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Unfit::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Unfit::Secret);
        }
        Ok(Endpoint {
            url,
            model: model.to_owned(),
            key: None,
            stream: true,
            time: Duration::from_secs(120),
            tokens: 4096,
            bytes: 64 << 10,
        })
    }

    /// Where requests go.
    pub fn completions(&self) -> Url {
        let mut url = self.url.clone();
        let path = url.path().trim_end_matches('/');
        if !path.ends_with(COMPLETIONS) {
            let path = format!("{path}/{COMPLETIONS}");
            url.set_path(&path);
        }
        url
    }

    /// The address as it may be shown: some servers take keys behind the question mark.
    pub fn shown(&self) -> String {
        let mut url = self.completions();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// What nobody is to be told: the key, and what stands behind the address's question mark.
    pub fn keys(&self) -> Vec<Key> {
        let values = self.url.query_pairs().filter(|(_, value)| value.len() >= SECRET);
        let raw = self.url.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let raw = raw.map(|(_, value)| value).filter(|value| value.len() >= SECRET);
        let all = values.filter_map(|(_, value)| Key::new(&value).ok()).chain(raw.filter_map(|raw| Key::new(raw).ok()));
        self.key.clone().into_iter().chain(all).collect()
    }

    /// Whether it is this machine's.
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
            assert_eq!(endpoint.is_local(), !address.contains("example"));
            assert!(!endpoint.shown().contains('?'));
        }
        for wrong in ["", "a.example/v1", "file:///v1", "http://ann:secret@a.example/v1"] {
            let error = Endpoint::new(wrong, "m").unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
