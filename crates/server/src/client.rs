//! Who a request comes from, as far as it matters to how clients share the server.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// What clients are told apart by: the same for all requests of one client: the name of its token, else its
/// address.
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
