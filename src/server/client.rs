//! Who a request comes from, as far as it matters to how clients share the server.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

/// What clients are told apart by: the same for all requests of one client. The connection's address puts one into each
/// request's extensions; a layer that knows better, by a proxy's header or by a token, replaces it there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(pub Arc<str>);

impl ClientKey {
    /// The client at an address. Of an IPv6 address only the first 64 bits count, which is what one subscriber gets; one
    /// that stands for an IPv4 address is that address.
    pub fn of_address(address: IpAddr) -> Self {
        ClientKey(match address.to_canonical() {
            IpAddr::V4(address) => address.to_string().into(),
            IpAddr::V6(address) => {
                let network = Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64));
                format!("{network}/64").into()
            }
        })
    }
}

impl<S: Sync> FromRequestParts<S> for ClientKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<ClientKey>().cloned().unwrap_or_else(|| ClientKey("unknown".into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_its_address_or_its_network() {
        let key = |address: &str| ClientKey::of_address(address.parse().expect("an address"));
        assert_eq!(&*key("192.0.2.7").0, "192.0.2.7");
        assert_eq!(key("::ffff:192.0.2.7"), key("192.0.2.7"));
        assert_eq!(key("2001:db8:1:2:3::4"), key("2001:db8:1:2:ffff::"));
        assert_ne!(key("2001:db8:1:2::"), key("2001:db8:1:3::"));
    }
}
