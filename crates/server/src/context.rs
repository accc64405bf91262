//! The data of a request that is kept until the last byte of its response: its ID, its client, and the work it took.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::client::ClientKey;
use crate::quota::{Admission, Wait, Work};
use crate::tokens::Bearer;

/// The header with a request's ID, in the request and in its response.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a request ID sent by a client, in characters.
const LONGEST_ID: usize = 128;

/// The context of a request.
pub struct HttpRequestContext {
    /// Its ID: the one that the client sent, or else a generated one.
    pub id: HeaderValue,
    /// The client's address.
    pub address: IpAddr,
    /// The client that sent it.
    pub client: ClientKey,
    /// The result of the token check.
    pub bearer: Bearer,
    /// Units of work of its queries, added when they end.
    pub work: Arc<AtomicU64>,
    digest: OnceLock<String>,
    admission: OnceLock<Admission>,
}

impl HttpRequestContext {
    /// Creates the context of a request from `address`. `bearer` is the result of its token check.
    pub fn new(headers: &HeaderMap, address: IpAddr, bearer: Bearer) -> Self {
        let client = match &bearer {
            Bearer::Known { name, .. } => ClientKey(Arc::clone(name)),
            _ => ClientKey::of_address(address),
        };
        let (work, digest, admission) = (Arc::default(), OnceLock::new(), OnceLock::new());
        HttpRequestContext { id: id(headers), address, client, bearer, work, digest, admission }
    }

    /// Returns the request ID as text.
    pub fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// Records the request's query. The log contains its text at level debug only.
    pub fn set_query(&self, text: &str) {
        let digest = Sha256::digest(text);
        let short = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        if self.digest.set(short).is_ok() {
            tracing::debug!(target: "access", request_id = self.id(), digest = self.digest(), query = text, "query");
        }
    }

    /// Returns the first 16 hexadecimal digits of the query's SHA-256.
    pub fn digest(&self) -> Option<&str> {
        self.digest.get().map(String::as_str)
    }

    /// Records that the client's quota admitted the request, for as long as the request exists.
    pub fn set_admission(&self, admission: Admission) {
        let _ = self.admission.set(admission);
    }

    /// Records that a thread works on the request, until the returned value is dropped.
    pub fn working(&self) -> Option<Work> {
        self.admission.get().map(Admission::work)
    }

    /// Records that the request's thread waits for another host, until the returned value is dropped.
    pub fn waiting(&self) -> Option<Wait> {
        self.admission.get().map(Admission::wait)
    }

    /// Returns the units of work of the queries that ended so far.
    pub fn work_done(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// Returns whether the client may stop the queries of all clients.
    pub fn is_admin(&self) -> bool {
        matches!(self.bearer, Bearer::Known { admin: true, .. })
    }
}

/// Returns the client's request ID if it is safe to log, or else a new one.
fn id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:/+=@".contains(b);
    let is_sane = |id: &&HeaderValue| (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(is_plain);
    headers.get(REQUEST_ID).filter(is_sane).cloned().unwrap_or_else(|| {
        let mut buffer = Uuid::encode_buffer();
        let id = Uuid::new_v4().hyphenated().encode_lower(&mut buffer);
        HeaderValue::from_str(id).unwrap_or_else(|_| HeaderValue::from_static("-"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_over_where_it_is_sane() {
        let id = |text: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_bytes(text).unwrap());
            super::id(&headers)
        };
        assert_eq!(id(b"4bf92f35-77b3/4da6"), "4bf92f35-77b3/4da6");
        for wrong in [&b""[..], b"a b", b"a\tb", b"a\"b", "\u{e9}".as_bytes(), &[b'a'; 129]] {
            assert_eq!(id(wrong).len(), 36, "{wrong:?}");
        }
        assert_ne!(super::id(&HeaderMap::new()), super::id(&HeaderMap::new()));
    }

    #[test]
    fn a_query_is_called_by_the_beginning_of_its_sha256() {
        let context = HttpRequestContext::new(&HeaderMap::new(), [192, 0, 2, 1].into(), Bearer::Anyone);
        context.set_query("node(1);out;");
        // printf %s 'node(1);out;' | sha256sum | cut -c1-16
        assert_eq!(context.digest(), Some("2405ffd019259c1a"));
    }
}
