//! `terrapin health`: checks a running server, for images without a shell or an HTTP client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use axum::http::Uri;

use super::{CommandError, stdout};

/// The maximum number of bytes read of an answer. Its first line contains the status.
const LOOKED_AT: usize = 4096;

/// Check that a running server answers with status 200; exit status 1 if not
///
/// For health checks of containers without a shell or an HTTP client.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin health
  terrapin health http://127.0.0.1:8080/healthz --timeout 1")]
pub struct HealthArgs {
    /// URL to request [default: /healthz at the address of --bind]
    url: Option<String>,
    /// Address where the server listens, for the default URL; 0.0.0.0 and [::] mean the loopback address
    #[arg(long, default_value = "127.0.0.1:8080", env = "TERRAPIN_BIND")]
    bind: SocketAddr,
    /// Timeout in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// Print the result or the error as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &HealthArgs) -> Result<(), CommandError> {
    let url = args.url.clone().unwrap_or_else(|| format!("http://{}/healthz", reachable(args.bind)));
    let (host, path) = parts(&url)?;
    let (status, text) = ask(&host, &path, Duration::from_secs(args.timeout))
        .map_err(|e| CommandError::refused("unreachable", format!("{url}: {e}")))?;
    if status != 200 {
        return Err(CommandError::refused("unhealthy", format!("{url}: status {status}: {text}")));
    }
    if args.json {
        stdout::print_json(&serde_json::json!({"url": url, "status": status}))
    } else {
        stdout::print(&format!("{text}\n"))
    }
}

/// Returns an address that reaches a server listening at `bind`.
fn reachable(mut bind: SocketAddr) -> SocketAddr {
    if bind.ip().is_unspecified() {
        bind.set_ip(match bind {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    bind
}

/// Splits a URL into host with port, and path with query.
fn parts(url: &str) -> Result<(String, String), CommandError> {
    let wrong = |what: &str| CommandError::usage(format!("`{url}`: {what}: expected http://HOST[:PORT][/PATH]"));
    let uri: Uri = url.parse().map_err(|_| wrong("not a URL"))?;
    if uri.scheme_str() != Some("http") {
        return Err(wrong("only http is supported"));
    }
    let (Some(host), path) = (uri.host(), uri.path_and_query().map_or("/", |p| p.as_str())) else {
        return Err(wrong("no host"));
    };
    Ok((format!("{host}:{}", uri.port_u16().unwrap_or(80)), path.to_owned()))
}

/// Returns the status and the first line of the body of a GET request, all within `timeout`.
fn ask(host: &str, path: &str, timeout: Duration) -> Result<(u16, String), String> {
    let end = Instant::now() + timeout;
    let left = || {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(format!("no answer within {} s", timeout.as_secs())) } else { Ok(left) }
    };
    let late = |e: std::io::Error| match left() {
        Ok(_) => e.to_string(),
        Err(late) => late,
    };
    let address = host.to_socket_addrs().map_err(|e| e.to_string())?.next().ok_or("the host has no address")?;
    let mut stream = TcpStream::connect_timeout(&address, left()?).map_err(late)?;
    stream.set_write_timeout(Some(left()?)).map_err(|e| e.to_string())?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: terrapin-health\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(late)?;
    let mut answer = Vec::new();
    let mut piece = [0; 1024];
    while answer.len() < LOOKED_AT {
        stream.set_read_timeout(Some(left()?)).map_err(|e| e.to_string())?;
        match stream.read(&mut piece).map_err(late)? {
            0 => break,
            n => answer.extend_from_slice(&piece[..n]),
        }
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|code| code.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).lines().next().unwrap_or_default();
    status.map(|status| (status, body.to_owned())).ok_or_else(|| "not an HTTP server".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_address_is_asked_where_a_server_listens_everywhere() {
        let asked = |bind: &str| reachable(bind.parse().unwrap()).to_string();
        assert_eq!(asked("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(asked("[::]:80"), "[::1]:80");
        assert_eq!(asked("10.1.2.3:80"), "10.1.2.3:80");
    }

    #[test]
    fn urls_are_taken_apart() {
        let parts = |url: &str| parts(url).ok();
        let some = |host: &str, path: &str| Some((host.to_owned(), path.to_owned()));
        assert_eq!(parts("http://localhost"), some("localhost:80", "/"));
        assert_eq!(parts("http://[::1]:8080/readyz?x=1"), some("[::1]:8080", "/readyz?x=1"));
        for wrong in ["https://localhost/", "localhost:8080", "/healthz", "", "http://", "http://a b/"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }
}
