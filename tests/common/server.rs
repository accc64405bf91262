//! `terrapin serve` over the town or another snapshot, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::Town;

/// A running server. If it uses a town of its own, that is removed with it.
pub struct TestServer {
    pub child: Child,
    pub address: SocketAddr,
    /// Address of `/metrics`, if it is a separate one.
    pub metrics: Option<SocketAddr>,
    town: Option<Town>,
}

impl TestServer {
    /// Starts a server over the town.
    pub fn start(options: &[&str]) -> Self {
        TestServer::over(Town::new(), options)
    }

    /// Starts a server over this town.
    pub fn over(town: Town, options: &[&str]) -> Self {
        let mut server = TestServer::of(&town.snapshot(), options);
        server.town = Some(town);
        server
    }

    /// Starts a server over this snapshot.
    pub fn of(snapshot: &Path, options: &[&str]) -> Self {
        let mut command = TestServer::command(snapshot);
        command.args(options).stderr(Stdio::null());
        TestServer::launch(command)
    }

    /// Returns the command for [`Server::launch`].
    pub fn command(snapshot: &Path) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
        command.arg("serve").arg(snapshot).args(["--bind", "127.0.0.1:0", "--json"]);
        command
    }

    /// Starts a server with this command, which needs the option `--json`.
    pub fn launch(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = |name| Some(ready[name].as_str()?.strip_prefix("http://").unwrap().parse().unwrap());
        TestServer { child, address: address("url").unwrap(), metrics: address("metrics"), town: None }
    }

    /// Sends a request to the separate address of the metrics.
    pub fn ask_metrics(&self, method: &str, path: &str) -> HttpAnswer {
        HttpAnswer::to(TcpStream::connect(self.metrics.unwrap()).unwrap(), method, path, "", "")
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends a request and reads the whole answer.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> HttpAnswer {
        HttpAnswer::to(self.connect(), method, path, headers, body)
    }

    pub fn query(&self, text: &str) -> HttpAnswer {
        self.ask("POST", "/api/interpreter", FORM, &format!("data={}", encoded(text)))
    }

    /// Writes these bytes and leaves the connection open.
    pub fn send(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        stream
    }

    /// Sends a query without reading the answer.
    pub fn leave_unread(&self, query: &str) -> TcpStream {
        let length = query.len();
        let head = format!("POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n");
        self.send(&[head.as_bytes(), query.as_bytes()].concat())
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.ask("GET", path, "", "")
    }

    pub fn signal(&self, name: &str) {
        assert!(super::signal(name, self.child.id()));
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

pub fn encoded(text: &str) -> String {
    text.bytes().map(|b| format!("%{b:02X}")).collect()
}

/// A response of the server.
pub struct HttpAnswer {
    pub status: u16,
    /// In lower case.
    pub headers: String,
    pub body: Vec<u8>,
}

impl HttpAnswer {
    fn to(mut stream: TcpStream, method: &str, path: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
        )
        .unwrap();
        // The server may reject a long body before reading all of it.
        let _ = stream.write_all(body.as_bytes());
        HttpAnswer::read(stream)
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    pub fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that rejects a long body closes the connection before reading all of it; its response is still
        // valid.
        let _ = stream.read_to_end(&mut bytes);
        HttpAnswer::parse(bytes)
    }

    /// Parses all received bytes.
    pub fn parse(mut bytes: Vec<u8>) -> Self {
        let split = bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
        let headers = String::from_utf8(bytes[..split].to_vec()).unwrap().to_ascii_lowercase();
        let mut body = bytes.split_off(split + 4);
        if headers.contains("transfer-encoding: chunked") {
            body = unchunk(&body);
        }
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        HttpAnswer { status, headers, body }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn ids(&self) -> Vec<i64> {
        let answer: Value = serde_json::from_slice(&self.body).unwrap();
        answer["elements"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect()
    }
}

fn unchunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let end = bytes.windows(2).position(|w| w == b"\r\n").expect("a chunk's size");
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&bytes[end + 2..end + 2 + size]);
        bytes = &bytes[end + 4 + size..];
    }
}
