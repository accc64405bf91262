//! A scripted language model: a server on loopback with chat completions.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The answer to a request.
pub enum Act {
    /// These words, streamed or whole as the request wants it.
    Say(String),
    /// This object, also if the request wants a stream.
    Whole(Value),
    /// These bytes of a body of this type.
    Bytes(&'static str, Vec<u8>),
    /// A status, additional headers, and a body.
    Status(u16, &'static str, Value),
    /// None: the connection stays open until the client closes it.
    Silence,
    /// Words that never end.
    Endless,
    /// These words, streamed, and then words that never end.
    RunOn(String),
    /// A word every 20 milliseconds, without an end.
    Trickle,
    /// These bytes of a response, head included, and then the end of the connection.
    Raw(Vec<u8>),
    /// The first bytes of a response, head included, and then the second ones after each pause, without an end.
    Repeat(Vec<u8>, Vec<u8>, Duration),
}

impl Act {
    pub fn say(words: &str) -> Act {
        Act::Say(words.to_owned())
    }
}

/// A received request.
#[derive(Clone)]
pub struct ModelRequest {
    /// Its head.
    pub head: String,
    pub body: Value,
}

impl ModelRequest {
    /// Returns the last message.
    pub fn last(&self) -> &str {
        self.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap()
    }
}

/// The server. It ends with the process.
pub struct TestModel {
    pub url: String,
    asked: Arc<Mutex<Vec<ModelRequest>>>,
    left: Arc<Mutex<usize>>,
    reports: ServerReports,
}

/// The bodies of the answers to requests for `/props` and `/v1/models`; by default they have status 404. These requests
/// are not recorded.
type ServerReports = Arc<Mutex<HashMap<String, Value>>>;

impl TestModel {
    /// Starts a server that answers each request by the script, which gets the request and its number, from 0.
    pub fn start(script: impl Fn(&ModelRequest, usize) -> Act + Send + Sync + 'static) -> TestModel {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (asked, left): (Arc<Mutex<Vec<ModelRequest>>>, Arc<Mutex<usize>>) = Default::default();
        let script = Arc::new(script);
        let reports = ServerReports::default();
        let model =
            TestModel { url, asked: Arc::clone(&asked), left: Arc::clone(&left), reports: Arc::clone(&reports) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, left, script) = (Arc::clone(&asked), Arc::clone(&left), Arc::clone(&script));
                let reports = Arc::clone(&reports);
                thread::spawn(move || {
                    // A client may close the connection early.
                    let _ = serve(stream, &asked, &left, &reports, &*script);
                });
            }
        });
        model
    }

    /// Starts a server that answers with these words in turn, then always with the last.
    pub fn saying(words: &[&str]) -> TestModel {
        let words: Vec<String> = words.iter().map(|words| (*words).to_owned()).collect();
        TestModel::start(move |_, number| Act::Say(words[number.min(words.len() - 1)].clone()))
    }

    /// Lets the server answer GET requests to a path.
    pub fn report(self, path: &str, body: Value) -> TestModel {
        self.reports.lock().unwrap().insert(path.to_owned(), body);
        self
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until at least `count` connections were closed before the end of the answer.
    pub fn wait_until_left(&self, count: usize) {
        for _ in 0..600 {
            if *self.left.lock().unwrap() >= count {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the client did not close the connection");
    }

    /// Returns the options for this model.
    pub fn options(&self) -> [&str; 4] {
        ["--model-url", &self.url, "--model-name", "scripted"]
    }
}

fn serve(
    mut stream: TcpStream,
    asked: &Mutex<Vec<ModelRequest>>,
    left: &Mutex<usize>,
    reports: &Mutex<HashMap<String, Value>>,
    script: &(dyn Fn(&ModelRequest, usize) -> Act + Send + Sync),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let length =
            head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let path = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
        if let Some(path) = path.filter(|path| path.ends_with("/props") || path.ends_with("/models")) {
            let report = reports.lock().unwrap().get(path).cloned();
            let (status, body) = report.map_or((404, json!({})), |body| (200, body));
            send(&mut stream, status, "application/json", "", body.to_string().as_bytes())?;
            continue;
        }
        let request = ModelRequest { head, body: serde_json::from_slice(&body).unwrap_or_default() };
        let number = {
            let mut asked = asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        match script(&request, number) {
            Act::Say(words) if request.body["stream"] == true => {
                let mut text = format!(": begins\n\n{}", pieces(&words));
                text.push_str(
                    "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n",
                );
                send(&mut stream, 200, "text/event-stream", "", text.as_bytes())?;
            }
            Act::Say(words) => {
                let whole =
                    json!({"choices": [{"message": {"role": "assistant", "content": words}, "finish_reason": "stop"}]});
                send(&mut stream, 200, "application/json", "", whole.to_string().as_bytes())?;
            }
            Act::Whole(body) => send(&mut stream, 200, "application/json", "", body.to_string().as_bytes())?,
            Act::Bytes(media_type, bytes) => send(&mut stream, 200, media_type, "", &bytes)?,
            Act::Status(status, headers, body) => {
                send(&mut stream, status, "application/json", headers, body.to_string().as_bytes())?;
            }
            Act::Silence => {
                let _ = reader.read(&mut [0]);
                *left.lock().unwrap() += 1;
                return Ok(());
            }
            act @ (Act::Endless | Act::RunOn(_) | Act::Trickle) => {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")?;
                let pause = if matches!(act, Act::Trickle) { Duration::from_millis(20) } else { Duration::ZERO };
                if let Act::RunOn(words) = act {
                    stream.write_all(pieces(&words).as_bytes())?;
                }
                while stream.write_all(pieces("and so ").as_bytes()).is_ok() {
                    thread::sleep(pause);
                }
                *left.lock().unwrap() += 1;
                return Ok(());
            }
            Act::Raw(bytes) => return stream.write_all(&bytes),
            Act::Repeat(first, piece, pause) => {
                stream.write_all(&first)?;
                while stream.write_all(&piece).is_ok() {
                    thread::sleep(pause);
                }
                *left.lock().unwrap() += 1;
                return Ok(());
            }
        }
    }
}

/// Returns words as events of seven letters.
pub fn pieces(words: &str) -> String {
    let letters: Vec<char> = words.chars().collect();
    let piece =
        |letters: &[char]| json!({"choices": [{"index": 0, "delta": {"content": letters.iter().collect::<String>()}}]});
    letters.chunks(7).map(|letters| format!("data: {}\n\n", piece(letters))).collect()
}

fn send(stream: &mut TcpStream, status: u16, media_type: &str, headers: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    write!(stream, "HTTP/1.1 {status} X\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n{headers}\r\n")?;
    stream.write_all(body)
}
