//! What is known of a request from its head to its answer's last byte: which one it is, who asks, and what it took.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::client::ClientKey;
use crate::quota::{Admission, Wait, Work};
use crate::tokens::Bearer;

/// The header that names a request, in it and in its answer.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters that a name may have which a request brings.
const LONGEST_ID: usize = 128;

/// A request.
pub struct Context {
    /// Its name: the one it came with, else one made here.
    pub id: HeaderValue,
    /// Where it comes from.
    pub address: IpAddr,
    /// Who asks.
    pub client: ClientKey,
    /// Whose token it has.
    pub bearer: Bearer,
    /// Units of work that its queries took, once they ended.
    pub work: Arc<AtomicU64>,
    digest: OnceLock<String>,
    admission: OnceLock<Admission>,
}

impl Context {
    /// A request from `address`, whose token is `bearer`'s.
    pub fn new(headers: &HeaderMap, address: IpAddr, bearer: Bearer) -> Self {
        let client = match &bearer {
            Bearer::Known { name, .. } => ClientKey(Arc::clone(name)),
            _ => ClientKey::of_address(address),
        };
        let (work, digest, admission) = (Arc::default(), OnceLock::new(), OnceLock::new());
        Context { id: id(headers), address, client, bearer, work, digest, admission }
    }

    /// Its name as text.
    pub fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// Notes the query that it brings, which the log tells at level debug only.
    pub fn set_query(&self, text: &str) {
        let digest = Sha256::digest(text);
        let short = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        if self.digest.set(short).is_ok() {
            tracing::debug!(target: "access", request_id = self.id(), digest = self.digest(), query = text, "query");
        }
    }

    /// The first 16 digits of the SHA-256 of its query.
    pub fn digest(&self) -> Option<&str> {
        self.digest.get().map(String::as_str)
    }

    /// Notes that its client's quota let it in: it counts as long as this request.
    pub fn set_admission(&self, admission: Admission) {
        let _ = self.admission.set(admission);
    }

    /// A thread works at it, until what this returns is dropped.
    pub fn working(&self) -> Option<Work> {
        self.admission.get().map(Admission::work)
    }

    /// Its thread waits for somebody else, until what this returns is dropped.
    pub fn waiting(&self) -> Option<Wait> {
        self.admission.get().map(Admission::wait)
    }

    /// Units of work that its queries took so far.
    pub fn work_done(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// Whether it may stop everybody's queries.
    pub fn is_admin(&self) -> bool {
        matches!(self.bearer, Bearer::Known { admin: true, .. })
    }
}

/// The name that a request brings where it is fit for a log, else a new one.
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
        let context = Context::new(&HeaderMap::new(), [192, 0, 2, 1].into(), Bearer::Anyone);
        context.set_query("node(1);out;");
        // printf %s 'node(1);out;' | sha256sum | cut -c1-16
        assert_eq!(context.digest(), Some("2405ffd019259c1a"));
    }
}
