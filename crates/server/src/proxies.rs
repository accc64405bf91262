//! Determines a request's client address: the peer of its connection, or, if that is a trusted proxy, the address that
//! the proxy reports.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client. `X-Forwarded-For` is trusted only as far as trusted proxies wrote it: read from
/// its end, the result is the first address that is not a trusted proxy's.
pub fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let mut client = peer.to_canonical();
    if trusted.is_empty() || !is_trusted(&client) {
        return client;
    }
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    for hop in hops {
        // An invalid address was not written by a trusted proxy. The last trusted proxy counts as the client.
        let Some(address) = std::str::from_utf8(hop).ok().and_then(|text| parse(text.trim())) else { break };
        client = address;
        if !is_trusted(&client) {
            break;
        }
    }
    client
}

/// Parses an address, optionally with a port, as some proxies write it.
fn parse(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_trusted_proxies_wrote_is_believed() {
        let trusted: Vec<IpNet> = ["10.0.0.0/8", "::1/128"].map(|net| net.parse().unwrap()).to_vec();
        let cases: [(&str, &[&str], &str); 11] = [
            ("192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("::1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["6.6.6.6, 198.51.100.7, 10.9.9.9"], "198.51.100.7"),
            ("10.0.0.1", &["6.6.6.6", "198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
            ("10.0.0.1", &["198.51.100.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["nonsense, 10.2.2.2"], "10.2.2.2"),
        ];
        for (peer, lines, client) in cases {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().unwrap());
            }
            let found = address(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{peer} {lines:?}");
        }
    }
}
