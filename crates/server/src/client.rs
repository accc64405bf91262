//! Identifies clients, to share the server fairly among them.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// The identity of a client, equal for all its requests: the name of its token, or else its address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(pub Arc<str>);

impl ClientKey {
    /// Returns the client at an address. Only the first 64 bits of an IPv6 address count, since one subscriber gets a
    /// network of that size. An IPv4-mapped address counts as the IPv4 address.
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
