//! Runs a server over the town in its own process, and sends requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

/// The maximum memory that the server may have used, in KiB.
const MEMORY: u64 = 1 << 20;
/// The maximum time of an answer.
const PATIENCE: Duration = Duration::from_secs(15);

struct FuzzServer {
    child: Mutex<Child>,
    id: u32,
    address: SocketAddr,
    /// The panic messages in the server's log.
    panics: &'static Mutex<String>,
}

static SERVER: OnceLock<FuzzServer> = OnceLock::new();

fn program() -> std::path::PathBuf {
    std::env::var_os("TERRAPIN_PROGRAM")
        .or_else(|| option_env!("CARGO_BIN_EXE_terrapin").map(Into::into))
        .expect("TERRAPIN_PROGRAM says where the program is")
        .into()
}

fn server() -> &'static FuzzServer {
    SERVER.get_or_init(|| {
        let mut child = Command::new(program())
            .arg("serve")
            .arg(super::town::opened().path())
            .args(["--bind", "127.0.0.1:0", "--json", "--max-time", "5", "--max-memory", "64MiB", "--max-queries", "2"])
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a server");
        // The parent process must end the server if this process is killed.
        println!("helper {}", child.id());
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("its address");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
        let address = ready["url"].as_str().and_then(|url| url.strip_prefix("http://")).expect("a URL");
        let panics: &'static Mutex<String> = Box::leak(Box::default());
        let errors = BufReader::new(child.stderr.take().expect("its errors"));
        std::thread::spawn(move || {
            let mut follows = 0;
            for line in errors.lines().map_while(Result::ok) {
                if line.contains("panicked at") || line.contains("overflowed its stack") {
                    follows = 3;
                }
                if follows > 0 {
                    follows -= 1;
                    *panics.lock().expect("no panic here") += &format!("{line}\n");
                }
            }
        });
        let id = child.id();
        FuzzServer { child: Mutex::new(child), id, address: address.parse().expect("an address"), panics }
    })
}

/// Ends the server if it is running.
pub fn end() {
    if let Some(server) = SERVER.get() {
        let mut child = server.child.lock().unwrap_or_else(|e| e.into_inner());
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Sends a request and reads the whole answer. Returns its status.
pub fn ask(method: &str, target: &str, content_type: &str, body: &[u8]) -> u16 {
    let server = server();
    let mut stream = TcpStream::connect(server.address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: fuzz\r\nConnection: close\r\n{content_type}Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut request = head.into_bytes();
    request.extend_from_slice(body);
    // A server that rejects a body early need not read it.
    let _ = stream.write_all(&request);
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    let panics = server.panics.lock().expect("no panic here").clone();
    assert!(panics.is_empty(), "{panics}");
    let status = answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let status: u16 = status.unwrap_or_else(|| panic!("no answer: {read:?}, {:?}", String::from_utf8_lossy(&answer)));
    assert!(status != 500, "{}", String::from_utf8_lossy(&answer));
    if let Some(most) = peak(server.id) {
        assert!(most < MEMORY, "the server has taken {most} KiB");
    }
    status
}

/// Returns the maximum memory that a process has used, in KiB; available on Linux only.
fn peak(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
